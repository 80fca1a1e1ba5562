/* meta.h - meta data of a file: keys with values, stored as text, one "key=value\n" an entry. */
#ifndef MALLAB_FOOTPRINT_BASE_META_H
#define MALLAB_FOOTPRINT_BASE_META_H

#include <stdbool.h>
#include <stddef.h>

#include "footprint/base/status.h"

#define META_COUNT_MAX 96u
#define META_BYTES_MAX 65536u

struct bytes; /* bytes.h */

/* One key and its value, both UTF-8 without NUL or newline. Keys in use: docs/format.md, "Meta". */
struct fp_meta {
    const char *key;
    const char *value;
};

/* meta_encode - replace out by the text.
 * Returns FP_OK; FP_ERR_LIMIT: too many or too long; FP_ERR_ARGUMENT: a key or value that the text cannot hold;
 * FP_ERR_MEMORY. */
enum fp_status meta_encode(const struct fp_meta *meta, size_t count, struct bytes *out);

/* meta_parse - take text apart in place, which changes it; it must end in "\n".
 * ret_meta  has room for META_COUNT_MAX entries, which point into text.
 * Returns   false when it is not of that form. */
bool meta_parse(char *text, size_t size, struct fp_meta *ret_meta, size_t *ret_count);

/* meta_find - the value of a key, NULL where there is none. */
const char *meta_find(const struct fp_meta *meta, size_t count, const char *key);

#endif
