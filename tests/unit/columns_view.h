/* columns_view.h - a block under construction as marks, by way of the reader's code: what its columns say is what a footprint
 * would. Stamps are shown as they were given, not in the units of a file. */
#ifndef MALLAB_TESTS_COLUMNS_VIEW_H
#define MALLAB_TESTS_COLUMNS_VIEW_H

#include "footprint/fp/columns.h"
#include "unit/harness.h"

/* columns_view - valid until the next one. Nothing is in it when the block has no marks. */
static inline struct fp_block columns_view(struct fp_columns *columns)
{
    static struct fp_block_buffer buffer;
    struct fp_block block = {0};
    struct block_header header;
    struct column ready[MARKS_COLUMNS_MOST];
    const char *what = "";
    if (columns->mark_count > 0) {
        static struct site_model model;
        site_model_begin(&model);
        columns_finish(columns, &model, 0, 0, &header, ready);
        site_model_begin(&model);
        CHECK_U64(marks_decode(&header, ready, &model, &buffer, &block, &what), FP_OK);
    }
    CHECK_U64(block.stamp_count, columns->mark_count > 0 ? columns->stamp_count : 0);
    block.stamps = columns->memory->stamps;
    block.stamp_count = columns->stamp_count;
    return block;
}

#endif
