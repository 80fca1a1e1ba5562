/* wl_open.c - open a workload: learn how much memory it needs, map that at once, and fill it with all but the windows.
 * The decompressor lives in the mapping too (ZSTD_initStaticDCtx, zstd.h, "static allocation"). */
#define ZSTD_STATIC_LINKING_ONLY
#include <string.h>
#include <sys/mman.h>

#include "footprint/base/bytes.h"
#include "footprint/base/memory_bound.h"
#include "footprint/wl/wl_reader.h"
#include "footprint/wl/wl_touched.h"

/* ---- the arena ------------------------------------------------------------------------------- */

static void *carve(uintptr_t *at, size_t bytes)
{
    const uintptr_t start = *at;
    *at += (bytes + 63) & ~(uintptr_t)63;
    return (void *)start;
}

/* Give everything its place in a mapping that begins at base; with base NULL only the size is learned.
 * ret      its pointers into the arena are set, and nothing else.
 * Returns  bytes. */
static size_t lay_out(uint8_t *base, const struct wl_opening *opening, uint32_t id_max, struct wl_reader *ret)
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

/* ---- opening --------------------------------------------------------------------------------- */

/* The summary decides how much memory the reader needs, so it is unpacked once in a small mapping of its own,
 * bounded by the thread count that the block header states and the payload's own size. */
static enum fp_status read_summary(struct wl_opening *opening, struct wl_summary *ret_summary)
{
    const struct block_header *header = &opening->summary_header;
    struct wl_reader small = {0};
    const size_t bytes = lay_out(NULL, opening, 0, &small);
    uint8_t *arena;
    struct column columns[SUMMARY_COLUMNS];
    enum fp_status status;
    arena = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (arena == MAP_FAILED)
        return wl_fail(&opening->error, FP_ERR_MEMORY, 0, "no memory for the summary");
    (void)lay_out(arena, opening, 0, &small);
    small.file = opening->file;
    status = wl_arena_unpack(&small, opening->summary_at, header, SUMMARY_COLUMNS, columns);
    if (status != FP_OK)
        opening->error = small.error;
    else if (!wl_summary_numbers(opening, &columns[0], ret_summary) ||
             !wl_summary_threads(ret_summary, NULL, &columns[1]))
        status = wl_fail(&opening->error, FP_ERR_CORRUPT, opening->summary_at, "the summary is damaged");
    (void)munmap(arena, bytes); /* cannot fail for a whole mapping */
    return status;
}

/* Meta text comes in two parts: what was known at the beginning, and notes of the end. */
static enum fp_status add_meta_text(struct wl_reader *reader, size_t offset, const struct column *column,
                                    size_t *bytes)
{
    if (column->size > META_BYTES_MAX - *bytes)
        return wl_fail(&reader->error, FP_ERR_CORRUPT, offset, "meta data is too long");
    /* Without this check the last entry of one part could go on in the next. */
    if (column->size > 0 && column->bytes[column->size - 1] != '\n')
        return wl_fail(&reader->error, FP_ERR_CORRUPT, offset, "meta data is not of the form key=value");
    memcpy(reader->meta_text + *bytes, column->bytes, column->size);
    *bytes += column->size;
    return FP_OK;
}

static enum fp_status read_touched(struct wl_reader *reader, const struct wl_opening *opening)
{
    uint64_t first = 0;
    size_t at = opening->windows_end;
    while (at < opening->summary_at) {
        struct column columns[TOUCHED_COLUMNS];
        struct block_header header;
        enum fp_status status = wl_scan_block(reader->file, at, opening->summary_at, &header, &reader->error);
        if (status == FP_OK && header.count > opening->touched_count - reader->touched_count)
            status = wl_fail(&reader->error, FP_ERR_CORRUPT, at, "the file changed while it was read");
        if (status == FP_OK)
            status = wl_arena_unpack(reader, at, &header, TOUCHED_COLUMNS, columns);
        if (status != FP_OK)
            return status;
        if (!wl_touched_decode(&header, columns, first, reader->summary.ops,
                               reader->touched + reader->touched_count))
            return wl_fail(&reader->error, FP_ERR_CORRUPT, at + BLOCK_HEADER_BYTES,
                           "the shares of objects are damaged");
        reader->touched_count += header.count;
        first = reader->touched[reader->touched_count - 1].op + 1;
        at += BLOCK_HEADER_BYTES + header.payload_bytes;
    }
    return FP_OK;
}

static enum fp_status build(struct wl_opening *opening, const struct wl_summary *summary,
                            struct wl_reader **ret_reader)
{
    struct wl_reader draft = {0};
    const size_t bytes = lay_out(NULL, opening, summary->id_max, &draft);
    size_t meta_bytes = 0;
    struct wl_reader *reader;
    struct column columns[SUMMARY_COLUMNS];
    enum fp_status status;
    uint8_t *arena = MAP_FAILED;
    /* The arena is touched at once, so one beyond the machine would end in the kernel killing the process. A few
     * small headers can claim that many ids; that they are really used shows only when all ops are decoded. */
    if (!fp_memory_take(bytes))
        return wl_fail(&opening->error, FP_ERR_LIMIT, 0,
                       "its ids and threads take more memory than --max-memory SIZE (" FP_MEMORY_VARIABLE
                       ", in bytes) allows, which is half of what there is, or 1 GiB and 2,000 times its "
                       "size, unless it is set");
    arena = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (arena == MAP_FAILED) {
        fp_memory_give(bytes);
        return wl_fail(&opening->error, FP_ERR_MEMORY, 0, "no memory for its ids");
    }
    reader = (struct wl_reader *)(void *)arena;
    (void)lay_out(arena, opening, summary->id_max, &draft);
    *reader = draft;
    reader->arena_bytes = bytes;
    reader->file = opening->file;
    reader->file_bytes = opening->file_bytes;
    reader->first_window = opening->first_window;
    reader->windows_end = opening->windows_end;
    reader->summary_at = opening->summary_at;
    reader->digest = opening->digest;
    reader->summary = *summary;
    reader->summary.threads = reader->threads;
    reader->decoder.summary = &reader->summary;
    status = wl_arena_unpack(reader, opening->meta_at, &opening->meta_header, 1, columns);
    if (status == FP_OK)
        status = add_meta_text(reader, opening->meta_at, &columns[0], &meta_bytes);
    for (size_t i = 0; i < meta_bytes; i++)
        reader->meta_first += reader->meta_text[i] == '\n';
    if (status == FP_OK)
        status = wl_arena_unpack(reader, opening->summary_at, &opening->summary_header, SUMMARY_COLUMNS,
                                 columns);
    if (status == FP_OK && !wl_summary_threads(&reader->summary, reader->threads, &columns[1]))
        status = wl_fail(&reader->error, FP_ERR_CORRUPT, opening->summary_at, "the summary is damaged");
    if (status == FP_OK)
        status = add_meta_text(reader, opening->summary_at, &columns[2], &meta_bytes);
    if (status == FP_OK)
        status = read_touched(reader, opening);
    if (status == FP_OK && !meta_parse(reader->meta_text, meta_bytes, reader->meta, &reader->meta_count))
        status = wl_fail(&reader->error, FP_ERR_CORRUPT, opening->meta_at,
                         "meta data is not of the form key=value");
    if (status != FP_OK) {
        opening->error = reader->error;
        (void)munmap(arena, bytes); /* cannot fail for a whole mapping */
        fp_memory_give(bytes);
        return status;
    }
    wl_reader_rewind(reader);
    *ret_reader = reader;
    return FP_OK;
}

enum fp_status wl_reader_open(const char *path, struct fp_error *ret_error, struct wl_reader **ret_reader)
{
    struct wl_opening opening = {0};
    struct wl_summary summary;
    enum fp_status status = wl_scan(&opening, path);
    if (status == FP_OK)
        status = read_summary(&opening, &summary);
    if (status == FP_OK)
        status = build(&opening, &summary, ret_reader);
    if (status != FP_OK) {
        if (opening.file != NULL)
            (void)munmap((void *)(uintptr_t)opening.file, opening.file_bytes); /* cannot fail */
        (void)fp_error_tell(opening.error, ret_error);
    }
    return status;
}
