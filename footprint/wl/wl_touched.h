/* wl_touched.h - blocks of a workload that say how much of large objects was in memory (docs/format.md, "Touched block").
 *
 * Private to footprint/. They stand between the last window and the summary: what was in memory of an
 * object is known when it goes, long after the window of its allocation has been written. */
#ifndef MALLAB_FOOTPRINT_WL_WL_TOUCHED_H
#define MALLAB_FOOTPRINT_WL_WL_TOUCHED_H

#include "footprint/base/blockio.h"
#include "footprint/base/bytes.h"
#include "footprint/wl/wl_writer.h"

#define TOUCHED_COLUMNS   2u
#define TOUCHED_BLOCK_MAX 65536u /* shares of a block */

/* wl_touched_put - settle what was told, and append the blocks. Returns FP_OK; FP_ERR_WRITE, FP_ERR_MEMORY. */
enum fp_status wl_touched_put(struct wl_writer *writer);

/* wl_touched_scratch_bytes - what the columns of a block of so many shares can hold at the most. */
static inline size_t wl_touched_scratch_bytes(uint32_t count)
{
    return (size_t)count * (VARINT_BYTES_MAX + 1);
}

/* wl_touched_decode - the shares of a block.
 * first      the least op that may come.
 * op_count   of the workload: ops are below it.
 * ret        header->count of them.
 * Returns    whether everything is as docs/format.md has it. */
bool wl_touched_decode(const struct block_header *header, const struct column columns[TOUCHED_COLUMNS],
                       uint64_t first, uint64_t op_count, struct wl_touched *ret);

/* wl_touched_fits - whether an op of a window may have a share: one that gives an object its size. */
bool wl_touched_fits(const struct wl_op *op);

#endif
