/* error.h - an error, with the file at fault and its words. */
#ifndef MALLAB_CONVERT_BASE_ERROR_H
#define MALLAB_CONVERT_BASE_ERROR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "footprint/base/status.h"

#define CONV_PATH_BYTES 4096u

/* One failure. It has its own storage, valid as long as the struct. */
struct conv_error {
    struct fp_error cause;      /* cause.what may point into `what` */
    bool output;                /* path is the output, not the input */
    bool salvageable;           /* a trace of which the rest converts with options.salvage */
    bool takes_salvage;         /* the verb at hand has --salvage itself: set by who tells it */
    uint64_t line;              /* of a text input, from 1; 0: not about a line */
    char path[CONV_PATH_BYTES]; /* the file at fault, not always the one the caller named */
    char what[256];
};

/* conv_error_text - one line for stderr, without program name: file, cause, line or offset, remedy.
 * Returns ret_text, terminated when size > 0. */
char *conv_error_text(const struct conv_error *error, char *ret_text, size_t size);

/* conv_error_exit_code - 3 when the input is unreadable, damaged or too new, 2 for options that make no sense,
 * else 1 (exit codes of the command line). */
int conv_error_exit_code(const struct conv_error *error);

/* conv_path_name - what stands behind a path's last slash. */
static inline const char *conv_path_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* conv_fail - fill an error. Returns status. conv_fail_with: from libfootprint's. */
enum fp_status conv_fail(struct conv_error *error, const char *path, enum fp_status status, int sys_errno,
                         uint64_t offset, const char *format, ...) __attribute__((format(printf, 6, 7)));
enum fp_status conv_fail_with(struct conv_error *error, const char *path, const struct fp_error *cause);

/* conv_fail_memory - FP_ERR_MEMORY: there is no memory for `what`. */
enum fp_status conv_fail_memory(struct conv_error *error, const char *path, const char *what);

/* conv_no_remedy - what an error says is enough: no remedy is put behind it. Returns its status.
 * CONV_FOREIGN - such an error of a file of another kind, in printf's words. */
enum fp_status conv_no_remedy(struct conv_error *error);
#define CONV_FOREIGN(error, path, ...)                                                                       \
    ((void)conv_fail(error, path, FP_ERR_FOREIGN, 0, 0, __VA_ARGS__), conv_no_remedy(error))

/* ---- how much a file may ask of a conversion before it is refused ------------------------------------
 *
 * All bounds of this room on files that somebody else may have made; docs/importing.md has the table. A refused file gets
 * FP_ERR_LIMIT with a message that names the bound and the way around it; nobody gets another bound by writing another
 * file. What a format's grammar bounds (ids, lines) is with its format. */

/* Layers of compression that are taken off. */
#define CONV_LAYERS_MAX 1

/* Bytes that a packed trace may unpack to: so many times what was read of it, and so many besides. Traces in text pack 10
 * to 50 times, the emptiest loops several hundred times; gzip cannot do more than 1,032. */
#define CONV_UNPACKED_RATIO_MAX  UINT64_C(1000)
#define CONV_UNPACKED_FREE_BYTES (UINT64_C(64) << 20)

/* Bytes that are unpacked into a temporary file (glibc-wl, which is read in many places at once). */
#define CONV_SPOOL_BYTES_MAX (UINT64_C(64) << 30)

/* conv_bound_told - at the end of a reading: a lack of memory that is our own bound (footprint/base/memory_bound.h) becomes
 * FP_ERR_LIMIT, with error filled. Returns the status, or FP_ERR_LIMIT. */
enum fp_status conv_bound_told(enum fp_status status, const char *path, struct conv_error *error);

/* conv_descriptors_raise - raise the soft limit of open files to the hard one until conv_descriptors_lower was called as often; where
 * that is not allowed nothing changes. Each window of a process is a footprint that stays open. The soft limit protects programs
 * that use select(), which converting does not; it is put back, since children inherit it. */
void conv_descriptors_raise(void);
void conv_descriptors_lower(void);

/* conv_descriptors_failed - word that a footprint could not be opened for want of descriptors. Returns FP_ERR_LIMIT. */
enum fp_status conv_descriptors_failed(const char *path, struct conv_error *error);

/* conv_reserve_counted - room for `wanted` items, of what grows with the content of a file: counted against the bound of memory
 * (footprint/base/memory_bound.h); who frees it gives back capacity times item_bytes. */
bool conv_reserve_counted(void **items, size_t *capacity, size_t wanted, size_t item_bytes);

#define CONV_RESERVE_COUNTED(items, capacity, wanted)                                                        \
    conv_reserve_counted((void **)&(items), &(capacity), wanted, sizeof *(items))

#endif
