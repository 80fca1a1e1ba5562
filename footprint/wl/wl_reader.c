/* wl_reader.c - an open workload: its description, and its windows, one after the other. */
#include <stdlib.h>
#include <sys/mman.h>

#include "footprint/base/bytes.h"
#include "footprint/base/memory_bound.h"
#include "footprint/wl/wl_reader.h"

const struct wl_reader_info *wl_reader_info(const struct wl_reader *reader)
{
    return &reader->info;
}

const struct wl_summary *wl_reader_summary(const struct wl_reader *reader)
{
    return &reader->info.summary;
}

const char *wl_reader_meta(const struct wl_reader *reader, const char *key)
{
    return meta_find(reader->meta, reader->info.meta_count, key);
}

uint64_t wl_reader_meta_number(const struct wl_reader *reader, const char *key)
{
    const char *value = wl_reader_meta(reader, key);
    return value != NULL ? strtoull(value, NULL, 10) : 0;
}

static void enter_room(struct wl_decoder *decoder, const struct window_room *room)
{
    decoder->ops = room->ops;
    decoder->runs = room->runs;
    decoder->waits = room->waits;
    decoder->times_ns = room->times_ns;
    decoder->noted = room->noted;
    decoder->sites = room->sites;
}

/* Tells whether an op may have a share: one that gives an object its size. */
static bool may_have_share(const struct wl_op *op)
{
    const enum fp_call_kind kind = fp_call_kind_of(op->call);
    return kind == FP_KIND_ALLOCATE || kind == FP_KIND_RESIZE;
}

/* The shares of a window's ops. */
static bool take_touched(struct wl_reader *reader, struct wl_window *window)
{
    const uint64_t first = window->facts.first_op;
    size_t next = reader->next_touched;
    window->touched = reader->touched + next;
    for (; next < reader->info.touched_count && reader->touched[next].op - first < window->op_count; next++)
        if (!may_have_share(&window->ops[reader->touched[next].op - first]))
            return false;
    window->touched_count = (uint32_t)(next - reader->next_touched);
    reader->next_touched = next;
    return true;
}

enum fp_status wl_scan_block(const uint8_t *file, size_t offset, size_t end, struct block_header *ret_header,
                             struct fp_error *error)
{
    const char *what = NULL;
    enum fp_status status;
    if (end - offset < BLOCK_HEADER_BYTES)
        return wl_fail(error, FP_ERR_CORRUPT, offset, "no block begins here");
    status = block_header_parse(file + offset, ret_header, &what);
    if (status != FP_OK)
        return wl_fail(error, status, offset, what);
    if (ret_header->payload_bytes > end - offset - BLOCK_HEADER_BYTES)
        return wl_fail(error, FP_ERR_CORRUPT, offset, "a block reaches into the next part");
    return FP_OK;
}

enum fp_status wl_arena_unpack(struct wl_reader *reader, size_t offset, const struct block_header *header,
                               unsigned column_count, struct column *ret_columns)
{
    const char *what = NULL;
    size_t within = 0;
    const enum fp_status status = block_unpack(header, reader->frame.file + offset + BLOCK_HEADER_BYTES,
                                               column_count, reader->context, reader->scratch,
                                               reader->scratch_bytes, ret_columns, &within, &what);
    if (status != FP_OK)
        return wl_fail(&reader->error, status, offset + BLOCK_HEADER_BYTES + within, what);
    return FP_OK;
}

enum fp_status wl_reader_check(struct wl_reader *reader)
{
    const size_t end = reader->frame.file_bytes - WORKLOAD_FOOTER_BYTES;
    size_t at = reader->frame.first_window;
    struct block_header header;
    while (at < end) {
        const enum fp_status status = wl_scan_block(reader->frame.file, at, end, &header, &reader->error);
        if (status != FP_OK)
            return status;
        at += BLOCK_HEADER_BYTES;
        if (!block_payload_is_whole(&header, reader->frame.file + at))
            return wl_fail(&reader->error, FP_ERR_CHECKSUM, at, "checksum of a block differs");
        at += header.payload_bytes;
    }
    return FP_OK;
}

enum fp_status wl_reader_next(struct wl_reader *reader, struct wl_window *ret_window)
{
    struct column columns[WINDOW_COLUMNS];
    struct block_header header;
    struct wl_window window;
    const char *what = NULL;
    const size_t at = reader->at;
    enum fp_status status;
    if (at == reader->frame.windows_end)
        return FP_END;
    reader->info.window_at = at;
    reader->info.refused = reader->decoder.refused = 0;
    status = wl_scan_block(reader->frame.file, at, reader->frame.windows_end, &header, &reader->error);
    if (status != FP_OK)
        return status;
    /* The scan at open saw the same, but the mapping shows what the file holds now. */
    if (header.type != BLOCK_WINDOW || header.count == 0 ||
        header.count > reader->info.summary.window_ops_max || header.sequence != reader->next_window ||
        header.base != reader->next_op)
        return wl_fail(&reader->error, FP_ERR_CORRUPT, at, "a window is out of order");
    status = wl_arena_unpack(reader, at, &header,
                             reader->decoder.site_end != 0 ? WINDOW_COLUMNS : WINDOW_COLUMNS_PLAIN, columns);
    if (status != FP_OK)
        return status;
    enter_room(&reader->decoder, &reader->rooms[reader->next_window % 2]);
    status = wl_decode_window(&reader->decoder, &header, columns, &window, &what);
    reader->info.refused = reader->decoder.refused;
    if (status != FP_OK)
        return wl_fail(&reader->error, status, at + BLOCK_HEADER_BYTES, what);
    if (header.sequence + 1 == reader->info.summary.windows &&
        (window.facts.live_bytes != reader->info.summary.live_bytes_end ||
         window.facts.live_objects != reader->info.summary.live_objects_end))
        return wl_fail(&reader->error, FP_ERR_CORRUPT, at,
                       "what is live at the end is not what the summary says");
    if (!take_touched(reader, &window))
        return wl_fail(&reader->error, FP_ERR_CORRUPT, at,
                       "a share is told of an op that gives no object its size");
    reader->at = at + BLOCK_HEADER_BYTES + header.payload_bytes;
    reader->next_window++;
    reader->next_op += header.count;
    *ret_window = window;
    return FP_OK;
}

uint64_t wl_reader_highest_live(struct wl_reader *reader)
{
    const unsigned count = reader->decoder.site_end != 0 ? WINDOW_COLUMNS : WINDOW_COLUMNS_PLAIN;
    struct column columns[WINDOW_COLUMNS];
    struct block_header header;
    uint64_t highest = 0;
    for (size_t at = reader->frame.first_window; at < reader->frame.windows_end;
         at += BLOCK_HEADER_BYTES + header.payload_bytes) {
        if (wl_scan_block(reader->frame.file, at, reader->frame.windows_end, &header, &reader->error) !=
                FP_OK ||
            wl_arena_unpack(reader, at, &header, count, columns) != FP_OK)
            break;
        struct cursor facts = column_cursor(&columns[WINDOW_FACTS]);
        (void)get_varint(&facts); /* its length */
        const uint64_t live_bytes = get_varint(&facts);
        highest = live_bytes > highest ? live_bytes : highest;
    }
    return highest;
}

void wl_reader_rewind(struct wl_reader *reader)
{
    reader->at = reader->frame.first_window;
    reader->next_window = 0;
    reader->next_op = 0;
    reader->next_touched = 0;
    wl_decode_reset(&reader->decoder);
}

const struct fp_error *wl_reader_error(const struct wl_reader *reader)
{
    return &reader->error;
}

void wl_reader_close(struct wl_reader *reader)
{
    if (reader == NULL)
        return;
    /* None of these can fail for a whole mapping. */
    (void)munmap((void *)(uintptr_t)reader->frame.file, reader->frame.file_bytes);
    if (reader->id_bytes > 0)
        (void)munmap(reader->decoder.ids.next, reader->id_bytes);
    fp_memory_give(reader->id_bytes + reader->arena_bytes);
    (void)munmap(reader, reader->arena_bytes);
}

/* ---- times between those that are told --------------------------------------------------------------- */

/* The first noted op behind `op`. */
static uint32_t noted_behind(const struct wl_window *window, uint32_t op)
{
    uint32_t low = 0, high = window->noted_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (window->noted[middle].op <= op)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t wl_window_time(const struct wl_window *window, uint32_t op)
{
    const uint32_t stride = op / WL_TIME_STRIDE, behind = noted_behind(window, op);
    const bool is_last = stride + 1 >= window->time_count;
    struct wl_noted from = {stride * WL_TIME_STRIDE, window->times_ns[stride]};
    struct wl_noted to = {is_last ? window->op_count : (stride + 1) * WL_TIME_STRIDE,
                          is_last ? window->facts.end_ns : window->times_ns[stride + 1]};
    if (behind > 0 && window->noted[behind - 1].op >= from.op)
        from = window->noted[behind - 1];
    if (behind < window->noted_count && window->noted[behind].op < to.op)
        to = window->noted[behind];
    if (to.time_ns <= from.time_ns)
        return from.time_ns;
    const uint64_t span_ns = to.time_ns - from.time_ns;
    const uint32_t past = op - from.op, width = to.op - from.op;
    return from.time_ns + span_ns / width * past + span_ns % width * past / width;
}
