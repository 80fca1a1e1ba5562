/* marks.h - a block of marks as columns, and back. Private to footprint/.
 *
 * docs/format.md, "Marks block", specifies the columns. Addresses are told as the number of marks
 * since the same address was last named in the block: allocators hand out again what was freed, and
 * programs free what they allocated, so most distances are small and repeat. */
#ifndef MALLAB_FOOTPRINT_FP_MARKS_H
#define MALLAB_FOOTPRINT_FP_MARKS_H

#include "footprint/base/blockio.h"
#include "footprint/fp/columns.h"
#include "footprint/fp/footprint.h"

enum marks_column {
    MARKS_SHAPES = 0,
    MARKS_SHAPE_LOW,
    MARKS_SHAPE_HIGH,
    MARKS_ADDRESS,
    MARKS_LITERAL,
    MARKS_EPOCH,
    MARKS_STAMP_GAP,
    MARKS_STAMP_TIME,
    MARKS_COLUMNS,               /* that every block has */
    MARKS_SITES = MARKS_COLUMNS, /* where allocations have sites */
    MARKS_COLUMNS_MOST,
};

/* Flags of a block's header; bits 0-2 hold the shift by which all literals of the block were divided. */
#define MARKS_FLAG_SHIFT     7u
#define MARKS_FLAG_CONTINUES 16u /* the model of sites goes on from the same lane's block before */
#define MARKS_CHAIN_MOST     64u /* blocks that go on from each other */

struct site_model;

/* marks_column_count - the columns of a block by its header, MARKS_COLUMNS or, with sites, one more. */
static inline unsigned marks_column_count(const struct block_header *header)
{
    return header->column_count == MARKS_COLUMNS_MOST ? MARKS_COLUMNS_MOST : MARKS_COLUMNS;
}

/* marks_scratch_bytes - most bytes that the columns of a block of count marks can hold. */
size_t marks_scratch_bytes(uint32_t count);

/* marks_decode - turn columns, marks_column_count of them, into marks, checking everything that struct fp_block promises.
 * model     of the sites, where there are some: it stands behind the block before, or has been begun anew. NULL: what it would
 *           have to know is lost, and so are the sites.
 * Returns   FP_OK; FP_ERR_CORRUPT with *ret_what; FP_ERR_MEMORY. */
enum fp_status marks_decode(const struct block_header *header,
                            const struct column columns[MARKS_COLUMNS_MOST], struct site_model *model,
                            struct fp_block_buffer *buffer, struct fp_block *ret_block,
                            const char **ret_what);

#endif
