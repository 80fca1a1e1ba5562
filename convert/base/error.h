/* error.h - what went wrong, with the file at fault, and the words for it. */
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

/* conv_no_remedy - what an error says is enough: no remedy is put behind it. Returns its status. */
enum fp_status conv_no_remedy(struct conv_error *error);

#endif
