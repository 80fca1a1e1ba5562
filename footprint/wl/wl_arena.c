/* wl_arena.c - the one mapping of a workload's reader: what lies where in it. The decompressor lives there too
 * (ZSTD_initStaticDCtx, zstd.h, "static allocation"). */
#define ZSTD_STATIC_LINKING_ONLY
#include "footprint/base/bytes.h"
#include "footprint/wl/wl_reader.h"
#include "footprint/wl/wl_touched.h"

static void *carve(uintptr_t *at, size_t bytes)
{
    const uintptr_t start = *at;
    *at += (bytes + 63) & ~(uintptr_t)63;
    return (void *)start;
}

size_t wl_arena_lay_out(uint8_t *base, const struct wl_opening *opening, uint32_t id_max,
                        struct wl_reader *ret)
{
    const uint32_t threads = opening->summary_header.count;
    const uint32_t ops = opening->window_ops_max;
    const size_t summary_bytes = ((size_t)threads * 5 + 80) * VARINT_BYTES_MAX + META_BYTES_MAX;
    struct wl_decoder *decoder = &ret->decoder;
    uintptr_t at = (uintptr_t)base;
    size_t context_bytes = ZSTD_estimateDCtxSize();
    size_t scratch = window_scratch_bytes(ops);
    void *context;
    if (scratch < META_BYTES_MAX)
        scratch = META_BYTES_MAX;
    if (scratch < summary_bytes)
        scratch = summary_bytes;
    if (scratch < wl_touched_scratch_bytes(opening->touched_block_max))
        scratch = wl_touched_scratch_bytes(opening->touched_block_max);
    (void)carve(&at, sizeof *ret);
    context = carve(&at, context_bytes);
    ret->scratch = carve(&at, scratch);
    ret->scratch_bytes = scratch;
    ret->meta_text = carve(&at, META_BYTES_MAX);
    ret->threads = carve(&at, threads * sizeof *ret->threads);
    ret->touched = carve(&at, opening->touched_count * sizeof *ret->touched);
    decoder->thread_count = threads;
    decoder->version = opening->version;
    decoder->ids.capacity = id_max;
    decoder->ids.next = carve(&at, ((size_t)id_max + 1) * sizeof *decoder->ids.next);
    decoder->ids.threads = carve(&at, threads * sizeof *decoder->ids.threads);
    decoder->ids.touched = carve(&at, threads * sizeof *decoder->ids.touched);
    decoder->touched = carve(&at, ((size_t)id_max + 1) * sizeof *decoder->touched);
    decoder->locals = carve(&at, ops * sizeof *decoder->locals);
    decoder->waits_threads = carve(&at, threads * sizeof *decoder->waits_threads);
    decoder->thread_ops = carve(&at, threads * sizeof *decoder->thread_ops);
    decoder->history = carve(&at, WINDOW_HISTORY * sizeof *decoder->history);
    decoder->shapes = carve(&at, WINDOW_SHAPES_MAX * sizeof *decoder->shapes);
    decoder->kinds = carve(&at, WINDOW_SHAPES_MAX);
    for (unsigned i = 0; i < 2; i++) {
        ret->rooms[i].ops = carve(&at, ops * sizeof *decoder->ops);
        ret->rooms[i].runs = carve(&at, ops * sizeof *decoder->runs);
        ret->rooms[i].waits = carve(&at, ops * sizeof *decoder->waits);
        ret->rooms[i].noted = carve(&at, ops * sizeof *decoder->noted);
        ret->rooms[i].times_ns = carve(&at, (ops / WL_TIME_STRIDE + 1) * sizeof *decoder->times_ns);
    }
    if (base != NULL)
        ret->context = ZSTD_initStaticDCtx(context, context_bytes);
    return (size_t)(at - (uintptr_t)base);
}

enum fp_status wl_arena_unpack(struct wl_reader *reader, size_t offset, const struct block_header *header,
                               unsigned column_count, struct column *ret_columns)
{
    const char *what = NULL;
    size_t within = 0;
    const enum fp_status status = block_unpack(header, reader->file + offset + BLOCK_HEADER_BYTES,
                                               column_count, reader->context, reader->scratch,
                                               reader->scratch_bytes, ret_columns, &within, &what);
    if (status != FP_OK)
        return wl_fail(&reader->error, status, offset + BLOCK_HEADER_BYTES + within, what);
    return FP_OK;
}
