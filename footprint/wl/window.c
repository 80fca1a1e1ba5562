/* window.c - shapes as ops. */
#include "footprint/wl/window.h"

#include "footprint/base/bytes.h"
#include "footprint/fp/site_model.h"

bool shape_normalise(struct fp_shape *shape)
{
    const enum fp_extra extra = fp_call_extra_of(shape->call);
    if (fp_call_kind_of(shape->call) == FP_KIND_NONE || fp_shape_bytes(shape) >= WINDOW_SIZE_MAX)
        return false;
    if (extra == FP_EXTRA_COUNT && shape->extra > UINT16_MAX) {
        shape->size *= shape->extra;
        shape->extra = 1;
    } else if (extra == FP_EXTRA_ALIGNMENT) {
        if (shape->extra >= WINDOW_SIZE_MAX)
            return false;
        if (shape->extra == 0)
            shape->extra = 1; /* asks for nothing more, and is what an op says */
        while ((shape->extra & (shape->extra - 1)) != 0)
            shape->extra += shape->extra & -shape->extra; /* carries upwards: ends at the next power */
    } else if (extra == FP_EXTRA_NONE) {
        shape->extra = 0;
    }
    return true;
}

bool shape_to_op(const struct fp_shape *shape, bool fresh, struct wl_op *ret_op)
{
    const enum fp_extra extra = fp_call_extra_of(shape->call);
    const enum fp_call_kind kind = fp_call_kind_of(shape->call);
    struct wl_op op = {.call = shape->call, .size = shape->size};
    if (kind == FP_KIND_NONE || fp_shape_bytes(shape) >= WINDOW_SIZE_MAX || (fresh && kind != FP_KIND_RESIZE))
        return false;
    if (extra == FP_EXTRA_COUNT) {
        if (shape->extra > UINT16_MAX)
            return false;
        op.count = (uint16_t)shape->extra;
    } else if (extra == FP_EXTRA_ALIGNMENT) {
        if ((shape->extra & (shape->extra - 1)) != 0 || shape->extra >= WINDOW_SIZE_MAX)
            return false;
        op.align_log2 = shape->extra != 0 ? (uint8_t)__builtin_ctzll(shape->extra) : 0;
    } else if (shape->extra != 0) {
        return false;
    }
    if (fresh)
        op.align_log2 |= WL_OP_FRESH;
    *ret_op = op;
    return true;
}

size_t window_scratch_bytes(uint32_t op_count)
{
    /* shape 21 and a site of 16, low and high 2, run 4 + 3, id 3, literal 5, wait 3 + 3, a time of 10 for 16, noted 3 + 10, facts 5 of 10 */
    return (size_t)op_count * (SHAPE_BYTES_MAX + SITE_BYTES_MOST + 2 + 7 + 3 + 5 + 6 + 13) +
           ((size_t)op_count / WL_TIME_STRIDE + 1) * 10 + 5 * VARINT_BYTES_MAX + RANGE_TAIL_BYTES;
}
