/* wl_shapes.c - the dictionary of shapes of a workload being written. */
#include <string.h>

#include "footprint/wl/wl_put.h"

/* Neighbouring sizes of one call lie in neighbouring slots: a program's usual sizes then share a few cache lines. */
static uint32_t shape_slot(unsigned call, uint64_t size, uint64_t extra)
{
    const uint64_t high = (size >> 12) ^ extra << 20;
    const uint64_t slot = (size & 4095) / 8 + (size & 7) * 6151 + call * 521 +
                          (high * UINT64_C(0x9e3779b97f4a7c15) >> 40);
    return (uint32_t)slot & (SHAPE_TABLE_SLOTS - 1);
}

/* Looked for as the caller gives it, then normalised: so no shape stands in the dictionary twice, and ops alone, without
 * their callers' words, lead to the same bytes. */
bool wl_put_shape_slow(struct wl_writer *writer, unsigned call, uint64_t size, uint64_t extra,
                       uint16_t *ret_index)
{
    struct fp_shape normal = {(uint8_t)(call & ~SHAPE_FRESH), size, extra};
    uint32_t slot = shape_slot(call, size, extra);
    uint32_t entry;
    while ((entry = writer->shape_table[slot]) != 0) {
        const struct fp_shape *known = &writer->shapes[entry - 1];
        if (known->size == size && known->extra == extra && known->call == call) {
            *ret_index = (uint16_t)(entry - 1);
            return true;
        }
        slot = (slot + 1) & (SHAPE_TABLE_SLOTS - 1);
    }
    if (!shape_normalise(&normal))
        return false;
    if (normal.size != size || normal.extra != extra)
        return wl_put_shape_slow(writer, call, normal.size, normal.extra,
                                 ret_index); /* normal: no third time */
    normal.call = (uint8_t)call;
    /* Room is certain: a window begins with a new dictionary when it might overflow this one. */
    writer->shapes[writer->shape_count++] = normal;
    *ret_index = (uint16_t)(writer->shape_count - 1);
    writer->shape_table[slot] = writer->shape_count;
    return true;
}

void wl_shapes_reset(struct wl_writer *writer)
{
    memset(writer->shape_table, 0, sizeof *writer->shape_table * SHAPE_TABLE_SLOTS);
    memset(writer->recent, 0, sizeof writer->recent);
    writer->shape_count = 0;
    writer->dictionary++;
}
