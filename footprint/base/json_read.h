/* json_read.h - read a JSON file of ours that anybody may have written.
 *
 * A parsed value takes up to a hundred times the memory of its text ("{},"), so besides the text's length what it will take
 * is estimated and bounded before it is parsed. A library of its own (jansson): libfootprint itself knows no JSON. */
#ifndef MALLAB_FOOTPRINT_BASE_JSON_READ_H
#define MALLAB_FOOTPRINT_BASE_JSON_READ_H

#include <jansson.h>
#include <stdint.h>

#include "footprint/base/status.h"

/* A file may ask for no more than this; docs/format.md, "Bounds". */
struct fp_json_bound {
    uint64_t text_bytes;   /* of the file */
    uint64_t memory_bytes; /* of what it is parsed into, as estimated */
};

/* Recordings, which have a kilobyte for each process; results, which hold a sample for each window of each run: one of 1000 rounds is
 * some 100 MB, in memory ten times that. */
#define FP_JSON_BOUND ((struct fp_json_bound){UINT64_C(256) << 20, UINT64_C(2) << 30})

/* Objects and arrays within each other. Ours have ten levels at most. */
#define FP_JSON_DEPTH_MAX     64u
#define FP_JSON_ELEMENT_BYTES 64u /* of memory that an element of a list takes with its value */

/* fp_json_read - parse what a descriptor holds from its position on: a file or a pipe, compressed by zstd or not, which its first bytes tell.
 * Duplicate keys are refused. FP_JSON_BOUND is of the text, whatever a compressed one takes.
 * fd         borrowed; read to its end, unless refused.
 * ret_root   a new reference, on FP_OK only.
 * ret_error  may be NULL. Its text says what is wrong, its line and position where. FP_ERR_LIMIT: the text names the bound.
 * Returns    FP_OK; FP_ERR_READ with errno set; FP_ERR_LIMIT; FP_ERR_CORRUPT; FP_ERR_MEMORY. */
enum fp_status fp_json_read(int fd, json_t **ret_root, json_error_t *ret_error);

/* fp_json_text / _parse - the two halves of it. ret_text: the caller's to free, also where it could not be read; it may be NULL then. */
enum fp_status fp_json_text(int fd, uint64_t text_max, char **ret_text, size_t *ret_size,
                            json_error_t *ret_error);
enum fp_status fp_json_parse(const char *text, size_t size, const struct fp_json_bound *bound,
                             json_t **ret_root, json_error_t *ret_error);

#endif
