/* usage_block.h - a usage as the columns of a block, and back. Private to footprint/. docs/format.md, "Usage block". */
#ifndef MALLAB_FOOTPRINT_FP_USAGE_BLOCK_H
#define MALLAB_FOOTPRINT_FP_USAGE_BLOCK_H

#include "footprint/base/blockio.h"
#include "footprint/fp/usage.h"

enum usage_column { USAGE_TEXT = 0, USAGE_SERIES, USAGE_COLUMNS };

#define USAGE_NUMBERS_A_POINT   4u
#define USAGE_SERIES_BYTES_MAX  (FP_USAGE_POINTS_MAX * USAGE_NUMBERS_A_POINT * VARINT_BYTES_MAX)
#define USAGE_SCRATCH_BYTES_MAX (65536u + USAGE_SERIES_BYTES_MAX)

/* usage_encode - header and columns of a block.
 * text, series  receive the columns' bytes (replaced), which must outlive them.
 * Returns       FP_OK, FP_ERR_MEMORY, FP_ERR_LIMIT. */
enum fp_status usage_encode(const struct fp_usage *usage, struct bytes *text, struct bytes *series,
                            struct block_header *ret_header, struct column ret_columns[USAGE_COLUMNS]);

/* usage_decode - check and read one; the text is changed in place.
 * ret_usage  set on FP_OK only; fp_usage_release ends it.
 * Returns    FP_OK; FP_ERR_CORRUPT with *ret_what; FP_ERR_MEMORY. */
enum fp_status usage_decode(const struct block_header *header, char *text, size_t text_size,
                            const struct column *series, struct fp_usage *ret_usage, const char **ret_what);

#endif
