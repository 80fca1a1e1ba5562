/* wl_summary_decode.c - the summary of a workload: its numbers and its threads, trusting nothing. */
#include "footprint/base/bytes.h"
#include "footprint/wl/wl_reader.h"

bool wl_summary_threads(struct wl_summary *summary, struct wl_thread *threads, const struct column *column)
{
    struct cursor cursor = {column->bytes, column->bytes + column->size, false};
    uint64_t ops = 0;
    uint32_t mains = 0;
    for (uint32_t i = 0; i < summary->thread_count; i++) {
        struct wl_thread thread = {.thread_id = (uint32_t)get_varint(&cursor)};
        const uint64_t flags = get_varint(&cursor);
        thread.is_main = (flags & 1) != 0;
        thread.exited = (flags & 2) != 0;
        thread.ops = get_varint(&cursor);
        thread.first_window = get_varint(&cursor);
        thread.last_window = get_varint(&cursor);
        if (thread.ops > summary->ops - ops || thread.first_window > thread.last_window ||
            (thread.ops > 0 && thread.last_window >= summary->windows))
            return false;
        ops += thread.ops;
        mains += thread.is_main;
        if (threads != NULL)
            threads[i] = thread;
    }
    return cursor_done(&cursor) && ops == summary->ops && mains <= 1;
}

bool wl_summary_numbers(const struct wl_opening *opening, const struct column *column, struct wl_summary *ret)
{
    struct cursor cursor = {column->bytes, column->bytes + column->size, false};
    struct wl_summary summary = {.ops = get_varint(&cursor)};
    uint64_t id_max, window_ops_max, thread_count, at_once, calls, by_call = 0;
    summary.windows = get_varint(&cursor);
    summary.duration_ns = get_varint(&cursor);
    summary.requested_bytes = get_varint(&cursor);
    summary.live_bytes_peak = get_varint(&cursor);
    summary.live_objects_peak = get_varint(&cursor);
    summary.live_bytes_end = get_varint(&cursor);
    summary.live_objects_end = get_varint(&cursor);
    summary.largest_size = get_varint(&cursor);
    id_max = get_varint(&cursor);
    window_ops_max = get_varint(&cursor);
    thread_count = get_varint(&cursor);
    at_once = get_varint(&cursor);
    calls = get_varint(&cursor);
    if (cursor.bad || calls > 256)
        return false;
    for (uint64_t i = 0; i < calls; i++) {
        const uint64_t ops = get_varint(&cursor);
        if (ops > summary.ops || (i >= FP_CALL_COUNT && ops > 0))
            return false;
        if (i < FP_CALL_COUNT)
            summary.ops_by_call[i] = ops;
        by_call += ops;
    }
    summary.id_max = (uint32_t)id_max;
    summary.window_ops_max = (uint32_t)window_ops_max;
    summary.thread_count = (uint32_t)thread_count;
    summary.threads_at_once_max = (uint32_t)at_once;
    *ret = summary;
    return cursor_done(&cursor) && summary.ops == opening->ops && summary.windows == opening->windows &&
           window_ops_max == opening->window_ops_max && thread_count == opening->summary_header.count &&
           by_call == summary.ops && id_max <= summary.ops && id_max < WL_IDS_MAX &&
           at_once <= thread_count && summary.live_objects_peak <= id_max &&
           summary.largest_size < WINDOW_SIZE_MAX;
}
