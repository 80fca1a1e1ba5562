/* wl_put.h - append ops to a workload in a loop of one's own.
 *
 * What wl_writer_allocate and its like (workload.h) do for one op, in the pieces that it consists of, for whoever has
 * many ops of one thread and can spare most of the checks: convert/ops/pair_fast.c. The rules:
 *
 *   ready    wl_put_ready(writer, thread) has returned FP_OK, and since then no op of another thread and no flush came
 *   shape    an index that wl_put_shape gave, of the present dictionary (writer->dictionary)
 *   time     wl_put_time before each op; writer->now_ns is the last op's when the window is flushed
 *   room     before each allocation wl_put_room_for_ids; op_count below window_ops: when it is reached,
 *            wl_window_flush, and ready anew
 *   counts   wl_put_calls and wl_put_request, at the latest before wl_writer_finish
 *   objects  ids named are live, and their bytes are what they were given */
#ifndef MALLAB_FOOTPRINT_WL_WL_PUT_H
#define MALLAB_FOOTPRINT_WL_WL_PUT_H

#include "footprint/base/bytes.h"
#include "footprint/wl/wl_writer.h"

/* wl_put_ready - what the first op of a window, of a thread after another's, or after a failure needs besides.
 * now_ns is that op's. Returns FP_OK; FP_ERR_ARGUMENT (no such thread), or what broke the writer. */
enum fp_status wl_put_ready(struct wl_writer *writer, uint32_t thread);

/* wl_put_wait - note that the op about to be put must wait for op `on` of the window, unless that is known. */
void wl_put_wait(struct wl_writer *writer, uint32_t thread, uint32_t on);

/* wl_put_more_ids - room for so many ids that were never used. False: no memory, or beyond the format's limit. */
bool wl_put_more_ids(struct wl_writer *writer, uint32_t count);

static inline bool wl_put_room_for_ids(struct wl_writer *writer, uint32_t count)
{
    return likely(writer->ids.capacity - writer->ids.used >= count) || wl_put_more_ids(writer, count);
}

/* wl_put_shape - the index of a shape in the dictionary, which it joins when it is new.
 * call      with SHAPE_FRESH for a realloc of NULL.
 * Returns   false for a shape that the format cannot hold. */
static inline bool wl_put_shape(struct wl_writer *writer, unsigned call, uint64_t size, uint64_t extra,
                                uint16_t *ret_index)
{
    const uint64_t key = call | extra << 8;
    struct shape_recent *recent =
        &writer->recent[((size ^ key << 40) * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - SHAPE_RECENT_BITS)];
    if (likely(recent->key == key && recent->size == size && extra < SHAPE_RECENT_EXTRA_MAX)) {
        *ret_index = recent->index;
        return true;
    }
    if (!wl_put_shape_slow(writer, call, size, extra, ret_index))
        return false;
    if (extra < SHAPE_RECENT_EXTRA_MAX)
        *recent = (struct shape_recent){size, key, *ret_index};
    return true;
}

/* wl_put_site - the next op, one that gives an object its size, is of that site, as the caller of the writer numbers it. */
static inline void wl_put_site(struct wl_writer *writer, uint32_t site)
{
    if (unlikely(writer->op_sites != NULL))
        writer->op_sites[writer->op_count] = wl_sites_number(&writer->sites, site);
}

/* wl_put_wants_time - whether the next op is one whose time is stored. */
static inline bool wl_put_wants_time(const struct wl_writer *writer)
{
    return writer->op_count % WL_TIME_STRIDE == 0;
}

static inline void wl_put_time(struct wl_writer *writer, uint64_t now_ns)
{
    if (wl_put_wants_time(writer))
        writer->times[writer->op_count / WL_TIME_STRIDE] = now_ns;
}

/* wl_put_pause - where a pause ends with the next op, note the times of both ends of it. Called when the op's time is
 * writer->now_ns, and its thread is ready.
 * before_ns  time of the op before. */
static inline void wl_put_pause(struct wl_writer *writer, uint64_t before_ns)
{
    if (unlikely(writer->now_ns - before_ns >= writer->pause_ns))
        wl_times_note_pause(writer, before_ns);
}

/* wl_put_calls - count so many ops of a call. */
static inline void wl_put_calls(struct wl_writer *writer, unsigned call, uint64_t count)
{
    writer->summary.ops_by_call[call] += count;
}

/* wl_put_live - what is live now, and was at the most. */
static inline void wl_put_live(const struct wl_writer *writer, uint64_t *ret_bytes, uint64_t *ret_bytes_peak,
                               uint64_t *ret_objects, uint64_t *ret_objects_peak)
{
    const uint64_t before = writer->summary.live_bytes_peak; /* of the windows that are written */
    *ret_bytes = writer->live_bytes;
    *ret_bytes_peak = writer->live_peak > before ? writer->live_peak : before;
    *ret_objects = writer->live_objects;
    *ret_objects_peak = writer->summary.live_objects_peak;
}

/* wl_put_request - count so many allocations or resizes of a shape. */
static inline void wl_put_request(struct wl_writer *writer, const struct fp_shape *shape, uint64_t count)
{
    struct wl_summary *summary = &writer->summary;
    const uint64_t bytes = fp_shape_bytes(shape);
    uint64_t all;
    if (__builtin_mul_overflow(bytes, count, &all) ||
        __builtin_add_overflow(summary->requested_bytes, all, &summary->requested_bytes))
        summary->requested_bytes = UINT64_MAX;
    if (bytes > summary->largest_size)
        summary->largest_size = bytes;
}

/* ---- private: what the ops below have in common ----------------------------------------------- */

static inline void put_op(struct wl_writer *writer, uint32_t thread, uint16_t shape, uint32_t id)
{
    const uint32_t op = writer->op_count;
    writer->op_threads[op] = thread;
    writer->columns[WINDOW_SHAPE_LOW].at[op] = (uint8_t)shape;
    writer->columns[WINDOW_SHAPE_HIGH].at[op] = (uint8_t)(shape >> 8);
    writer->last_op[id] = (uint32_t)writer->summary.ops; /* of id 0 nobody asks */
    writer->summary.ops++;
    writer->op_count = op + 1;
}

/* Name an existing object in the columns, and wait for whoever touched it last. */
static inline void put_reference(struct wl_writer *writer, uint32_t thread, uint32_t id)
{
    struct bytes *ids = &writer->columns[WINDOW_IDS];
    const uint32_t distance = (uint32_t)writer->summary.ops - writer->last_op[id];
    if (likely(distance < WINDOW_HISTORY)) {
        ids->size = (size_t)(put_short_varint(ids->at + ids->size, distance + 1) - ids->at);
        if (writer->local_count > 1 && distance <= writer->op_count)
            wl_put_wait(writer, thread, writer->op_count - distance);
    } else {
        struct bytes *literals = &writer->columns[WINDOW_LITERALS];
        const int64_t delta = (int64_t)id - (int64_t)writer->last_literal;
        ids->at[ids->size++] = ID_LITERAL;
        literals->size = (size_t)(put_varint(literals->at + literals->size, zigzag(delta)) - literals->at);
        writer->last_literal = id;
    }
}

static inline void put_more_bytes(struct wl_writer *writer, uint64_t bytes)
{
    writer->live_bytes += bytes;
    if (writer->live_bytes > writer->live_peak)
        writer->live_peak = writer->live_bytes;
}

/* ---- ops --------------------------------------------------------------------------------------- */

/* wl_put_allocate - returns the object's id. */
static inline uint32_t wl_put_allocate(struct wl_writer *writer, uint32_t thread, uint16_t shape,
                                       uint64_t bytes)
{
    const uint32_t id = ids_take(&writer->ids, thread);
    put_more_bytes(writer, bytes);
    if (++writer->live_objects > writer->summary.live_objects_peak)
        writer->summary.live_objects_peak = writer->live_objects;
    put_op(writer, thread, shape, id);
    return id;
}

static inline void wl_put_resize(struct wl_writer *writer, uint32_t thread, uint16_t shape, uint32_t id,
                                 uint64_t old_bytes, uint64_t bytes)
{
    put_reference(writer, thread, id);
    writer->live_bytes -= old_bytes;
    put_more_bytes(writer, bytes);
    put_op(writer, thread, shape, id);
}

static inline void wl_put_release(struct wl_writer *writer, uint32_t thread, uint16_t shape, uint32_t id,
                                  uint64_t bytes)
{
    put_reference(writer, thread, id);
    ids_give(&writer->ids, thread, id);
    writer->live_bytes -= bytes;
    writer->live_objects--;
    put_op(writer, thread, shape, id);
}

static inline void wl_put_release_of_null(struct wl_writer *writer, uint32_t thread, uint16_t shape)
{
    struct bytes *ids = &writer->columns[WINDOW_IDS];
    ids->at[ids->size++] = ID_NULL;
    put_op(writer, thread, shape, 0);
}

#endif
