/* pair_fast_plan.h - what a shape of a block comes to, found once for all marks that have it.
 *
 * Private to pair_fast.c: what is to be done, how many bytes it asks for, its index in the workload's dictionary, and how
 * often it came, from which all sums by call and by size follow. */
#ifndef MALLAB_CONVERT_OPS_PAIR_FAST_PLAN_H
#define MALLAB_CONVERT_OPS_PAIR_FAST_PLAN_H

#include <stdint.h>

#include "convert/ops/live_table.h"
#include "footprint/fp/footprint.h"

enum what {
    REST = 0, /* not ours */
    ALLOCATE,
    RELEASE,
    RELEASE_SIZED,
    RESIZE_FROM,
    RESIZE,
    RESIDENT,
};

struct plan {
    uint8_t what;
    uint16_t index, fresh_index;           /* fresh: as a realloc of NULL */
    uint32_t dictionary, fresh_dictionary; /* of which they are indexes; NO_DICTIONARY: not known */
    uint64_t bytes;
    uint64_t count;
};

#define NO_DICTIONARY UINT32_MAX

static inline enum what what_of(const struct fp_shape *shape)
{
    if (fp_shape_bytes(shape) >= CONV_ADDRESS_LIMIT)
        return REST;
    if (shape->call == FP_MARK_RESIZE_FROM)
        return RESIZE_FROM;
    if (shape->call == FP_MARK_RESIDENT)
        return RESIDENT;
    switch (fp_call_kind_of(shape->call)) {
    case FP_KIND_ALLOCATE:
        return ALLOCATE;
    case FP_KIND_RESIZE:
        return RESIZE;
    case FP_KIND_RELEASE:
        return fp_call_tells_size(shape->call) ? RELEASE_SIZED : RELEASE;
    case FP_KIND_NONE:
    default:
        return REST;
    }
}

static inline struct plan plan_of(const struct fp_shape *shape)
{
    return (struct plan){.what = (uint8_t)what_of(shape),
                         .bytes = fp_shape_bytes(shape),
                         .dictionary = NO_DICTIONARY,
                         .fresh_dictionary = NO_DICTIONARY};
}

#endif
