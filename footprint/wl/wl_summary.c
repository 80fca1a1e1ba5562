/* wl_summary.c - the end of a workload: notes, its summary, and the footer that finds it. */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "footprint/base/bytes.h"
#include "footprint/wl/wl_writer.h"

/* Most threads that are alive in one window: a sweep over starts and ends. */
static enum fp_status count_threads_at_once(struct wl_writer *writer)
{
    const uint64_t windows = writer->summary.windows;
    int32_t *change = calloc((size_t)windows + 1, sizeof *change);
    int32_t alive = 0;
    if (change == NULL)
        return wl_writer_fail(writer, FP_ERR_MEMORY, "no memory for the summary");
    for (uint32_t i = 0; i < writer->summary.thread_count; i++) {
        const struct wl_thread *thread = &writer->threads[i].facts;
        if (thread->ops == 0)
            continue;
        change[thread->first_window]++;
        if (thread->exited)
            change[thread->last_window + 1]--;
    }
    for (uint64_t window = 0; window < windows; window++) {
        alive += change[window];
        if ((uint32_t)alive > writer->summary.threads_at_once_max)
            writer->summary.threads_at_once_max = (uint32_t)alive;
    }
    free(change);
    return FP_OK;
}

enum fp_status wl_writer_note(struct wl_writer *writer, const char *key, const char *value)
{
    const struct fp_meta meta = {key, value};
    struct bytes text = {0};
    enum fp_status status = meta_encode(&meta, 1, &text);
    if (status == FP_OK &&
        (writer->meta_count >= META_COUNT_MAX || writer->meta_bytes + text.size > META_BYTES_MAX))
        status = FP_ERR_LIMIT;
    if (status == FP_OK && !bytes_reserve(&writer->notes, writer->notes.size + text.size))
        status = FP_ERR_MEMORY;
    if (status == FP_OK) {
        memcpy(writer->notes.at + writer->notes.size, text.at, text.size);
        writer->notes.size += text.size;
        writer->meta_count++;
        writer->meta_bytes += text.size;
    }
    bytes_release(&text);
    return status == FP_OK ? FP_OK : wl_writer_fail(writer, status, "meta data cannot be stored");
}

void wl_footer_make(uint64_t offset, uint8_t footer[WORKLOAD_FOOTER_BYTES])
{
    memcpy(footer, WORKLOAD_FOOTER_MAGIC, 8);
    put_u64(footer + 8, offset);
    put_u64(footer + 16, XXH64(footer, 16, 0));
}

enum fp_status wl_summary_put(struct wl_writer *writer)
{
    const struct wl_summary *summary = &writer->summary;
    const uint64_t offset = writer->file.bytes;
    struct block_header header = {.type = BLOCK_SUMMARY, .count = summary->thread_count};
    uint8_t footer[WORKLOAD_FOOTER_BYTES];
    uint8_t facts[(14 + FP_CALL_COUNT) * VARINT_BYTES_MAX];
    uint8_t *threads = NULL;
    uint8_t *at = facts;
    uint8_t *thread_at;
    enum fp_status status = count_threads_at_once(writer);
    if (status != FP_OK)
        return status;
    if (summary->thread_count > summary->ops + WL_THREADS_IDLE)
        return wl_writer_fail(writer, FP_ERR_LIMIT,
                              "more threads than ops, and 65,536 besides, are more than the format allows");
    const uint64_t numbers[] = {
        summary->ops,
        summary->windows,
        summary->duration_ns,
        summary->requested_bytes,
        summary->live_bytes_peak,
        summary->live_objects_peak,
        summary->live_bytes_end,
        summary->live_objects_end,
        summary->largest_size,
        summary->id_max,
        summary->window_ops_max,
        summary->thread_count,
        summary->threads_at_once_max,
        FP_CALL_COUNT,
    };
    threads = malloc(((size_t)summary->thread_count * 5 + 1) * VARINT_BYTES_MAX);
    thread_at = threads;
    if (threads == NULL)
        return wl_writer_fail(writer, FP_ERR_MEMORY, "no memory for the summary");
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        at = put_varint(at, numbers[i]);
    for (int i = 0; i < FP_CALL_COUNT; i++)
        at = put_varint(at, summary->ops_by_call[i]);
    for (uint32_t i = 0; i < summary->thread_count; i++) {
        const struct wl_thread *thread = &writer->threads[i].facts;
        thread_at = put_varint(thread_at, thread->thread_id);
        thread_at = put_varint(thread_at, (thread->is_main ? 1u : 0u) | (thread->exited ? 2u : 0u));
        thread_at = put_varint(thread_at, thread->ops);
        thread_at = put_varint(thread_at, thread->first_window);
        thread_at = put_varint(thread_at, thread->last_window);
    }
    status = block_pack(&header,
                        (const struct column[]){{facts, (size_t)(at - facts)},
                                                {threads, (size_t)(thread_at - threads)},
                                                {writer->notes.at, writer->notes.size}},
                        SUMMARY_COLUMNS, writer->context, writer->level, &writer->packed);
    free(threads);
    if (status != FP_OK)
        return wl_writer_fail(writer, status, "cannot pack the summary");
    status = wl_file_append(&writer->file, writer->packed.at, writer->packed.size);
    wl_footer_make(offset, footer);
    return status == FP_OK ? wl_file_append(&writer->file, footer, sizeof footer) : status;
}
