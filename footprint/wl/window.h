/* window.h - what writer and reader of workloads share: columns, shapes as ops, the history of ids.
 *
 * Private to footprint/. docs/format.md, "Window block", is the specification. */
#ifndef MALLAB_FOOTPRINT_WL_WINDOW_H
#define MALLAB_FOOTPRINT_WL_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "footprint/base/blockio.h"
#include "footprint/wl/workload.h"

#define likely(condition)   __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)

enum window_column {
    WINDOW_FACTS = 0,
    WINDOW_SHAPES,
    WINDOW_SHAPE_LOW,
    WINDOW_SHAPE_HIGH,
    WINDOW_RUNS,
    WINDOW_IDS,
    WINDOW_LITERALS,
    WINDOW_WAITS,
    WINDOW_TIMES,
    WINDOW_COLUMNS_PLAIN,                /* that every window has */
    WINDOW_SITES = WINDOW_COLUMNS_PLAIN, /* by op, where ops have sites */
    WINDOW_COLUMNS,
};

#define SUMMARY_COLUMNS 3u /* numbers, threads, notes: docs/format.md, "Summary and footer" */

#define TOUCHED_COLUMNS   2u
#define TOUCHED_BLOCK_MAX 65536u /* shares of a block */

/* wl_touched_scratch_bytes - what the columns of a block of so many shares can hold at the most. */
static inline size_t wl_touched_scratch_bytes(uint32_t count)
{
    return (size_t)count * (VARINT_BYTES_MAX + 1);
}

/* Header flag: the dictionary of shapes begins anew with this window. */
#define WINDOW_FLAG_RESET 1u

#define WINDOW_SHAPES_MAX  65536u
#define WINDOW_HISTORY     131072u /* ids of the newest ops, to which the column of ids refers */
#define WINDOW_WAITERS_MAX 64u     /* threads of a window that may leave out waits that follow from others */
#define WINDOW_SIZE_MAX    (UINT64_C(1) << 48)

/* Codes of the column of ids: 0 a literal follows, 1 NULL, d + 1 the id of the op d ops ago. */
enum { ID_LITERAL = 0, ID_NULL = 1 };

/* Bit of a stored shape's call byte: a realloc of NULL. */
#define SHAPE_FRESH 0x80u

/* Footer of a workload: magic, u64 offset of the summary block, u64 XXH64 of these 16 bytes. */
#define WORKLOAD_FOOTER_BYTES 24u
#define WORKLOAD_FOOTER_MAGIC "MALLABWE"

/* wl_footer_make - the footer for a summary block at offset. */
void wl_footer_make(uint64_t offset, uint8_t footer[WORKLOAD_FOOTER_BYTES]);

/* shape_normalise - make a shape fit struct wl_op: alignment to a power of two (0 to 1), a large count folded
 * into the size. Shapes of one op have one normal form. Returns false where size or product reach WINDOW_SIZE_MAX or the call is none. */
bool shape_normalise(struct fp_shape *shape);

/* shape_to_op - the op of a normalised shape, id 0. fresh: a realloc of NULL. Returns false when
 * the shape is not normalised: this is how the reader checks what a file says. */
bool shape_to_op(const struct fp_shape *shape, bool fresh, struct wl_op *ret_op);

/* window_scratch_bytes - most bytes that the columns of a window of op_count ops can hold. */
size_t window_scratch_bytes(uint32_t op_count);

#endif
