/* limits.h - how much a file may ask of a conversion before it is refused.
 *
 * All bounds of this room on files that somebody else may have made; docs/importing.md has the table. A refused file gets
 * FP_ERR_LIMIT with a message that names the bound and the way around it; nobody gets another bound by writing another
 * file. What a format's grammar bounds (ids, lines) is with its format. */
#ifndef MALLAB_CONVERT_BASE_LIMITS_H
#define MALLAB_CONVERT_BASE_LIMITS_H

#include "convert/base/error.h"

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

/* Each window of a process is a footprint that stays open. The soft
 * limit of open files protects programs that use select(), which converting does not; it is put back, since children
 * inherit it.
 *
conv_descriptors_raise - raise the soft limit to the hard one until conv_descriptors_lower was called as often. Where that
 * is not allowed nothing changes. */
void conv_descriptors_raise(void);
void conv_descriptors_lower(void);

/* conv_descriptors_failed - word that a footprint could not be opened for want of descriptors. Returns FP_ERR_LIMIT. */
enum fp_status conv_descriptors_failed(const char *path, struct conv_error *error);

/* conv_reserve_counted - as conv_reserve, of what grows with the content of a file: counted against the bound of memory
 * (footprint/base/memory_bound.h); who frees it gives back capacity times item_bytes. */
bool conv_reserve_counted(void **items, size_t *capacity, size_t wanted, size_t item_bytes);

#define CONV_RESERVE_COUNTED(items, capacity, wanted)                                                        \
    conv_reserve_counted((void **)&(items), &(capacity), wanted, sizeof *(items))

#endif
