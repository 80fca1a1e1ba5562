/* append_block.h - append a block of marks to a footprint, as made up by a test. The recorder itself has records (columns.h). */
#ifndef MALLAB_TESTS_APPEND_BLOCK_H
#define MALLAB_TESTS_APPEND_BLOCK_H

#include <stdlib.h>
#include <string.h>

#include "footprint/fp/columns.h"

/* append_block - results as of fp_writer_columns. The block must keep the rules at struct fp_block: nothing checks it. */
static inline enum fp_status append_block(struct fp_writer *writer, const struct fp_block *block)
{
    static struct fp_columns columns; /* made when first used, for the process's life */
    if (columns.memory == NULL && !fp_columns_init(&columns))
        abort();
    fp_columns_clear(&columns);
    columns_put_base(&columns, block->base_epoch);
    for (uint32_t i = 0; i < block->mark_count; i++) {
        columns_put_epoch(&columns, block->base_epoch + block->marks[i].epoch);
        struct columns_put put = columns_put_at(&columns);
        columns_put_mark(&put, block->marks[i].address, block->marks[i].shape);
        columns_put_done(&columns, &put);
    }
    memcpy(columns.memory->shapes, block->shapes, block->shape_count * sizeof *block->shapes);
    if (block->stamp_count > 0)
        memcpy(columns.memory->stamps, block->stamps, block->stamp_count * sizeof *block->stamps);
    columns.sited = block->sites != NULL;
    for (uint32_t i = 0; columns.sited && i < block->mark_count; i++)
        columns.memory->sites[i] = block->sites[i];
    columns.shape_count = block->shape_count;
    columns.stamp_count = block->stamp_count;
    return fp_writer_columns(writer, &columns, block->lane, block->sequence);
}

#endif
