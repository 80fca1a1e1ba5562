/* wl_open.c - open a workload: walk its header, its footer and the header of every block between them; learn how much
 * memory it needs, map that at once, and fill it with all but the windows. No malloc.
 * The decompressor lives in the mapping too (ZSTD_initStaticDCtx, zstd.h, "static allocation"). */
#define ZSTD_STATIC_LINKING_ONLY
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "footprint/base/bytes.h"
#include "footprint/base/memory_bound.h"
#include "footprint/fp/site_model.h"
#include "footprint/wl/wl_reader.h"

/* Facts that an open learns before it can lay out the arena. */
struct wl_opening {
    struct wl_frame frame;
    size_t touched_count;
    uint32_t touched_block_max;
    struct block_header meta_header, summary_header;
    size_t meta_at;
    uint64_t ops, windows;
    uint32_t window_ops_max;
    uint32_t site_end; /* 0: the workload has no sites */
    bool modules_seen, wants_sites;
    struct fp_error error;
};

/* ---- the frame -------------------------------------------------------------------------------- */

static enum fp_status map_file(struct wl_opening *opening, const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat stat = {0};
    void *file = NULL;
    enum fp_status status = FP_OK;
    if (fd < 0) {
        opening->error = fp_error_make(FP_ERR_OPEN, errno, 0, "cannot open");
        return FP_ERR_OPEN;
    }
    if (fstat(fd, &stat) != 0 || S_ISDIR(stat.st_mode)) {
        opening->error = fp_error_make(FP_ERR_READ, S_ISDIR(stat.st_mode) ? EISDIR : errno, 0, "cannot read");
        status = FP_ERR_READ;
    } else if (!S_ISREG(stat.st_mode)) {
        status = wl_fail(&opening->error, FP_ERR_READ, 0,
                         "not a regular file: save the pipe to a file first");
    } else if (stat.st_size < 8) {
        status = wl_fail(&opening->error, FP_ERR_FOREIGN, 0, "not a mallab workload");
    } else {
        file = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (file == MAP_FAILED) {
            opening->error = fp_error_make(FP_ERR_READ, errno, 0, "cannot map");
            status = FP_ERR_READ;
        }
    }
    (void)close(fd); /* only read from; the mapping stays */
    if (status == FP_OK) {
        opening->frame.file = file;
        opening->frame.file_bytes = (size_t)stat.st_size;
        fp_memory_input(opening->frame.file_bytes);
    }
    return status;
}

static enum fp_status check_header(struct wl_opening *opening)
{
    if (opening->frame.file_bytes < FILE_HEADER_BYTES + WORKLOAD_FOOTER_BYTES) {
        if (memcmp(opening->frame.file, "MALLABWL", 8) == 0)
            return wl_fail(&opening->error, FP_ERR_TRUNCATED, opening->frame.file_bytes,
                           "the file ends before its summary");
        return wl_fail(&opening->error, FP_ERR_FOREIGN, 0, "not a mallab workload");
    }
    if (file_header_check(opening->frame.file, "MALLABWL", WL_VERSION, &opening->error) != FP_OK)
        return opening->error.status;
    if (get_u32(opening->frame.file + 16) != FP_TIME_UNIT_NS ||
        get_u32(opening->frame.file + 20) != WL_TIME_STRIDE)
        return wl_fail(&opening->error, FP_ERR_CORRUPT, 16, "units are not those of this version");
    return FP_OK;
}

static enum fp_status find_summary(struct wl_opening *opening)
{
    const size_t at = opening->frame.file_bytes - WORKLOAD_FOOTER_BYTES;
    const uint8_t *footer = opening->frame.file + at;
    const uint64_t offset = get_u64(footer + 8);
    if (memcmp(footer, WORKLOAD_FOOTER_MAGIC, 8) != 0 || get_u64(footer + 16) != XXH64(footer, 16, 0))
        return wl_fail(&opening->error, FP_ERR_TRUNCATED, at, "the file ends before its summary");
    if (offset < FILE_HEADER_BYTES || offset > at)
        return wl_fail(&opening->error, FP_ERR_CORRUPT, at + 8, "the footer points outside the file");
    opening->frame.summary_at = (size_t)offset;
    return FP_OK;
}

static void chain_digest(struct wl_opening *opening, const struct block_header *header)
{
    const uint64_t chain[2] = {htole64(opening->frame.digest), htole64(header->payload_hash)};
    opening->frame.digest = XXH64(chain, sizeof chain, 0);
}

/* Blocks of shares follow the windows, and each is full but the last: so their number is bounded as their shares are. */
static bool scan_touched(struct wl_opening *opening, const struct block_header *header)
{
    if (header->count == 0 || header->count > TOUCHED_BLOCK_MAX ||
        opening->touched_count % TOUCHED_BLOCK_MAX != 0 ||
        header->sequence != opening->touched_count / TOUCHED_BLOCK_MAX ||
        header->count > WL_TOUCHED_MAX - opening->touched_count ||
        header->count > opening->ops - opening->touched_count)
        return false;
    opening->touched_count += header->count;
    if (header->count > opening->touched_block_max)
        opening->touched_block_max = header->count;
    return true;
}

/* Blocks of nodes follow, each full but the last, then one of modules. */
static bool scan_sites(struct wl_opening *opening, const struct block_header *header)
{
    const uint32_t before = opening->site_end - FP_SITE_FIRST;
    if (opening->site_end == 0 || opening->modules_seen || header->count == 0)
        return false;
    if (header->type == BLOCK_MODULES) {
        opening->modules_seen = true;
        return before > 0 && header->count <= FP_MODULES_MAX;
    }
    if (before % FP_SITES_BLOCK_MAX != 0 || header->base != opening->site_end ||
        header->count > FP_SITES_BLOCK_MAX || header->count > FP_SITES_MAX - opening->site_end)
        return false;
    opening->site_end += header->count;
    return true;
}

/* Tells whether the block stands behind the windows, and is as it should be there. */
static bool scan_tail(struct wl_opening *opening, const struct block_header *header, size_t at,
                      bool *ret_fits)
{
    const bool is_sites = header->type == BLOCK_SITES || header->type == BLOCK_MODULES;
    if (!is_sites && header->type != BLOCK_TOUCHED)
        return false;
    *ret_fits = is_sites ? scan_sites(opening, header)
                         : opening->frame.sites_at == 0 && scan_touched(opening, header);
    if (is_sites && opening->frame.sites_at == 0)
        opening->frame.sites_at = at;
    return true;
}

/* Walk all block headers: the windows follow each other without gaps, and their sizes and checksums are known
 * before anything is decoded. */
static enum fp_status scan_blocks(struct wl_opening *opening)
{
    const size_t end = opening->frame.file_bytes - WORKLOAD_FOOTER_BYTES;
    size_t at = FILE_HEADER_BYTES;
    struct block_header header;
    bool fits;
    enum fp_status status = wl_scan_block(opening->frame.file, at, opening->frame.summary_at, &header,
                                          &opening->error);
    if (status != FP_OK)
        return status;
    if (header.type != BLOCK_META)
        return wl_fail(&opening->error, FP_ERR_CORRUPT, at, "the first block does not hold meta data");
    opening->meta_header = header;
    opening->meta_at = at;
    at += BLOCK_HEADER_BYTES + header.payload_bytes;
    opening->frame.first_window = at;
    opening->frame.windows_end = at;
    while (at < opening->frame.summary_at) {
        status = wl_scan_block(opening->frame.file, at, opening->frame.summary_at, &header, &opening->error);
        if (status != FP_OK)
            return status;
        if (scan_tail(opening, &header, at, &fits)) {
            if (!fits)
                return wl_fail(&opening->error, FP_ERR_CORRUPT, at,
                               header.type == BLOCK_TOUCHED ? "shares of objects are out of order"
                                                            : "call stacks are out of order");
            chain_digest(opening, &header);
            at += BLOCK_HEADER_BYTES + header.payload_bytes;
            continue;
        }
        if (opening->touched_count > 0 || opening->frame.sites_at > 0 || header.type != BLOCK_WINDOW ||
            header.count == 0 || header.count > WL_WINDOW_OPS_MAX || header.sequence != opening->windows ||
            header.base != opening->ops)
            return wl_fail(&opening->error, FP_ERR_CORRUPT, at, "a window is out of order");
        if (opening->windows++ == 0 && header.column_count == WINDOW_COLUMNS)
            opening->site_end = FP_SITE_FIRST;
        opening->ops += header.count;
        if (header.count > opening->window_ops_max)
            opening->window_ops_max = header.count;
        chain_digest(opening, &header);
        at += BLOCK_HEADER_BYTES + header.payload_bytes;
        opening->frame.windows_end = at;
    }
    if (opening->frame.sites_at == 0)
        opening->frame.sites_at = at;
    status = wl_scan_block(opening->frame.file, at, end, &opening->summary_header, &opening->error);
    if (status != FP_OK)
        return status;
    if (opening->summary_header.type != BLOCK_SUMMARY || opening->summary_header.count > WL_THREADS_MAX ||
        at + BLOCK_HEADER_BYTES + opening->summary_header.payload_bytes != end)
        return wl_fail(&opening->error, FP_ERR_CORRUPT, at, "the summary is damaged");
    /* Few made no call that is an op; a small file must not claim memory for a million. */
    if (opening->summary_header.count > opening->ops + WL_THREADS_IDLE)
        return wl_fail(&opening->error, FP_ERR_CORRUPT, at,
                       "it names more threads than it has ops, and 65,536 besides");
    return FP_OK;
}

static enum fp_status scan(struct wl_opening *opening, const char *path)
{
    enum fp_status status = map_file(opening, path);
    if (status == FP_OK)
        status = check_header(opening);
    if (status == FP_OK)
        status = find_summary(opening);
    return status == FP_OK ? scan_blocks(opening) : status;
}

/* ---- the arena ------------------------------------------------------------------------------- */

/* Most bytes that the columns of a window of op_count ops can hold. */
static size_t window_scratch_bytes(uint32_t op_count)
{
    /* shape 21 and a site of 16, low and high 2, run 4 + 3, id 3, literal 5, wait 3 + 3, a time of 10 for 16, noted 3 + 10, facts 5 of 10 */
    return (size_t)op_count * (SHAPE_BYTES_MAX + SITE_BYTES_MOST + 2 + 7 + 3 + 5 + 6 + 13) +
           ((size_t)op_count / WL_TIME_STRIDE + 1) * 10 + 5 * VARINT_BYTES_MAX + RANGE_TAIL_BYTES;
}

static void *carve(uintptr_t *at, size_t bytes)
{
    const uintptr_t start = *at;
    *at += (bytes + 63) & ~(uintptr_t)63;
    return (void *)start;
}

/* Give all that needs no number of ids its place in a mapping that begins at base; with base NULL only the size is learned.
 * ret      its pointers into the arena are set, and nothing else.
 * Returns  bytes. */
static size_t lay_out(uint8_t *base, const struct wl_opening *opening, struct wl_reader *ret)
{
    const uint32_t threads = opening->summary_header.count;
    const uint32_t ops = opening->window_ops_max;
    const bool with_sites = opening->wants_sites && opening->site_end > 0;
    const size_t rooms[] = {window_scratch_bytes(ops), wl_touched_scratch_bytes(opening->touched_block_max),
                            ((size_t)threads * 5 + 80) * VARINT_BYTES_MAX + META_BYTES_MAX};
    struct wl_decoder *decoder = &ret->decoder;
    uintptr_t at = (uintptr_t)base;
    const size_t context_bytes = ZSTD_estimateDCtxSize();
    void *context;
    (void)carve(&at, sizeof *ret);
    context = carve(&at, context_bytes);
    for (size_t i = 0; i < sizeof rooms / sizeof rooms[0]; i++)
        if (rooms[i] > ret->scratch_bytes)
            ret->scratch_bytes = rooms[i];
    ret->scratch = carve(&at, ret->scratch_bytes);
    ret->meta_text = carve(&at, META_BYTES_MAX);
    ret->threads = carve(&at, threads * sizeof *ret->threads);
    ret->touched = carve(&at, opening->touched_count * sizeof *ret->touched);
    decoder->thread_count = threads;
    decoder->ids.threads = carve(&at, threads * sizeof *decoder->ids.threads);
    decoder->ids.touched = carve(&at, threads * sizeof *decoder->ids.touched);
    decoder->locals = carve(&at, ops * sizeof *decoder->locals);
    decoder->waits_threads = carve(&at, threads * sizeof *decoder->waits_threads);
    decoder->thread_ops = carve(&at, threads * sizeof *decoder->thread_ops);
    decoder->history = carve(&at, WINDOW_HISTORY * sizeof *decoder->history);
    decoder->shapes = carve(&at, WINDOW_SHAPES_MAX * sizeof *decoder->shapes);
    decoder->kinds = carve(&at, WINDOW_SHAPES_MAX);
    decoder->site_end = opening->site_end;
    if (with_sites) {
        decoder->site_shapes = carve(&at, WINDOW_SHAPES_MAX * sizeof *decoder->site_shapes);
        decoder->site_model = carve(&at, sizeof *decoder->site_model);
    }
    for (unsigned i = 0; i < 2; i++) {
        ret->rooms[i].ops = carve(&at, ops * sizeof *decoder->ops);
        ret->rooms[i].runs = carve(&at, ops * sizeof *decoder->runs);
        ret->rooms[i].waits = carve(&at, ops * sizeof *decoder->waits);
        ret->rooms[i].noted = carve(&at, ops * sizeof *decoder->noted);
        if (with_sites)
            ret->rooms[i].sites = carve(&at, ops * sizeof *decoder->sites);
        ret->rooms[i].times_ns = carve(&at, (ops / WL_TIME_STRIDE + 1) * sizeof *decoder->times_ns);
    }
    if (base != NULL)
        ret->context = ZSTD_initStaticDCtx(context, context_bytes);
    return (size_t)(at - (uintptr_t)base);
}

/* The mapping is touched at once, so one beyond the machine would end in the kernel killing the process. A few small headers can claim
 * that many ids; that they are really used shows only when all ops are decoded. NULL, with the error: none. */
static void *map_arena(struct fp_error *error, size_t bytes)
{
    void *arena;
    if (!fp_memory_take(bytes)) {
        (void)wl_fail(error, FP_ERR_LIMIT, 0,
                      "its ids and threads take more memory than --max-memory SIZE (" FP_MEMORY_VARIABLE
                      ", in bytes) allows, which is half of what there is, or 1 GiB and 2,000 times its "
                      "size, unless it is set");
        return NULL;
    }
    arena = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (arena != MAP_FAILED)
        return arena;
    fp_memory_give(bytes);
    (void)wl_fail(error, FP_ERR_MEMORY, 0, "no memory for its ids");
    return NULL;
}

static enum fp_status map_ids(struct wl_reader *reader)
{
    struct wl_decoder *decoder = &reader->decoder;
    const size_t each = (((size_t)reader->info.summary.id_max + 1) * sizeof(uint32_t) + 63) & ~(size_t)63;
    uint8_t *arena = map_arena(&reader->error, 2 * each);
    if (arena == NULL)
        return reader->error.status;
    reader->id_bytes = 2 * each;
    decoder->ids.capacity = reader->info.summary.id_max;
    decoder->ids.next = (uint32_t *)(void *)arena;
    decoder->touched = (uint32_t *)(void *)(arena + each);
    return FP_OK;
}

/* ---- the summary ------------------------------------------------------------------------------ */

/* Tells whether everything is as docs/format.md has it. */
static bool read_threads(struct wl_summary *summary, struct wl_thread *threads, const struct column *column)
{
    struct cursor cursor = column_cursor(column);
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
        threads[i] = thread;
    }
    return cursor_done(&cursor) && ops == summary->ops && mains <= 1;
}

/* The limits that memory depends on are held against what the scan counted. */
static bool read_numbers(const struct wl_opening *opening, const struct column *column,
                         struct wl_summary *ret)
{
    struct cursor cursor = column_cursor(column);
    struct wl_summary summary = {0};
    uint64_t by_call = 0;
    bool fits = true;
#define READ(name)                                                                                           \
    {                                                                                                        \
        const uint64_t number = get_varint(&cursor);                                                         \
        summary.name = number; /* some have 32 bits */                                                       \
        fits &= summary.name == number;                                                                      \
    }
    SUMMARY_NUMBERS(READ)
    const uint64_t calls = get_varint(&cursor);
    if (cursor.bad || !fits || calls > 256)
        return false;
    for (uint64_t i = 0; i < calls; i++) {
        const uint64_t ops = get_varint(&cursor);
        if (ops > summary.ops || (i >= FP_CALL_COUNT && ops > 0))
            return false;
        if (i < FP_CALL_COUNT)
            summary.ops_by_call[i] = ops;
        by_call += ops;
    }
    *ret = summary;
    return cursor_done(&cursor) && summary.ops == opening->ops && summary.windows == opening->windows &&
           summary.window_ops_max == opening->window_ops_max &&
           summary.thread_count == opening->summary_header.count && by_call == summary.ops &&
           summary.id_max <= summary.ops && summary.id_max < WL_IDS_MAX &&
           summary.threads_at_once_max <= summary.thread_count &&
           summary.live_objects_peak <= summary.id_max && summary.largest_size < WINDOW_SIZE_MAX;
}

/* ---- opening --------------------------------------------------------------------------------- */

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

/* The shares of a block: the first op of them is not below `first`, and all are below op_count. Returns whether everything is as
 * docs/format.md has it. */
static bool decode_touched(const struct block_header *header, const struct column columns[TOUCHED_COLUMNS],
                           uint64_t first, uint64_t op_count, struct wl_touched *ret)
{
    struct cursor gaps = column_cursor(&columns[0]);
    uint64_t op = header->base;
    if (columns[1].size != header->count || op < first)
        return false;
    for (uint32_t i = 0; i < header->count; i++) {
        const uint64_t gap = get_varint(&gaps);
        if (op >= op_count || gap >= op_count - op || (gap == 0) != (i == 0))
            return false;
        op += gap;
        ret[i] = (struct wl_touched){op, columns[1].bytes[i]};
    }
    return cursor_done(&gaps);
}

static enum fp_status read_touched(struct wl_reader *reader, const struct wl_opening *opening)
{
    uint64_t first = 0;
    size_t at = opening->frame.windows_end;
    while (at < opening->frame.sites_at) {
        struct column columns[TOUCHED_COLUMNS];
        struct block_header header;
        enum fp_status status = wl_scan_block(reader->frame.file, at, opening->frame.sites_at, &header,
                                              &reader->error);
        if (status == FP_OK && header.count > opening->touched_count - reader->info.touched_count)
            status = wl_fail(&reader->error, FP_ERR_CORRUPT, at, "the file changed while it was read");
        if (status == FP_OK)
            status = wl_arena_unpack(reader, at, &header, TOUCHED_COLUMNS, columns);
        if (status != FP_OK)
            return status;
        if (!decode_touched(&header, columns, first, reader->info.summary.ops,
                            reader->touched + reader->info.touched_count))
            return wl_fail(&reader->error, FP_ERR_CORRUPT, at + BLOCK_HEADER_BYTES,
                           "the shares of objects are damaged");
        reader->info.touched_count += header.count;
        first = reader->touched[reader->info.touched_count - 1].op + 1;
        at += BLOCK_HEADER_BYTES + header.payload_bytes;
    }
    return FP_OK;
}

/* The summary, which decides how much memory ids need, and the meta data. */
static enum fp_status read_summary(struct wl_reader *reader, const struct wl_opening *opening)
{
    struct wl_reader_info *info = &reader->info;
    const size_t at = reader->frame.summary_at;
    struct column columns[SUMMARY_COLUMNS];
    size_t meta_bytes = 0;
    enum fp_status status = wl_arena_unpack(reader, opening->meta_at, &opening->meta_header, 1, columns);
    if (status == FP_OK)
        status = add_meta_text(reader, opening->meta_at, &columns[0], &meta_bytes);
    for (size_t i = 0; i < meta_bytes; i++)
        info->meta_first += reader->meta_text[i] == '\n';
    if (status == FP_OK)
        status = wl_arena_unpack(reader, at, &opening->summary_header, SUMMARY_COLUMNS, columns);
    if (status == FP_OK && (!read_numbers(opening, &columns[0], &info->summary) ||
                            !read_threads(&info->summary, reader->threads, &columns[1])))
        status = wl_fail(&reader->error, FP_ERR_CORRUPT, at, "the summary is damaged");
    info->summary.threads = reader->threads;
    if (status == FP_OK)
        status = add_meta_text(reader, at, &columns[2], &meta_bytes);
    if (status == FP_OK && !meta_parse(reader->meta_text, meta_bytes, reader->meta, &info->meta_count))
        status = wl_fail(&reader->error, FP_ERR_CORRUPT, opening->meta_at,
                         "meta data is not of the form key=value");
    return status;
}

static struct wl_reader *make_reader(struct wl_opening *opening)
{
    struct wl_reader draft = {0};
    const size_t bytes = lay_out(NULL, opening, &draft);
    struct wl_reader *reader = map_arena(&opening->error, bytes);
    if (reader == NULL)
        return NULL;
    (void)lay_out((uint8_t *)reader, opening, reader);
    reader->arena_bytes = bytes;
    reader->frame = opening->frame;
    reader->info = (struct wl_reader_info){.file = opening->frame.file,
                                           .file_bytes = opening->frame.file_bytes,
                                           .digest = opening->frame.digest,
                                           .site_end = opening->site_end,
                                           .meta = reader->meta,
                                           .touched = reader->touched};
    reader->decoder.summary = &reader->info.summary;
    return reader;
}

static enum fp_status open_workload(const char *path, bool wants_sites, struct fp_error *ret_error,
                                    struct wl_reader **ret_reader)
{
    struct wl_opening opening = {.wants_sites = wants_sites};
    enum fp_status status = scan(&opening, path);
    struct wl_reader *reader = status == FP_OK ? make_reader(&opening) : NULL;
    if (reader == NULL) {
        if (opening.frame.file != NULL)
            (void)munmap((void *)(uintptr_t)opening.frame.file, opening.frame.file_bytes); /* cannot fail */
        return fp_error_tell(opening.error, ret_error);
    }
    status = read_summary(reader, &opening);
    if (status == FP_OK)
        status = map_ids(reader);
    if (status == FP_OK)
        status = read_touched(reader, &opening);
    if (status != FP_OK) {
        (void)fp_error_tell(reader->error, ret_error);
        wl_reader_close(reader);
        return status;
    }
    wl_reader_rewind(reader);
    *ret_reader = reader;
    return FP_OK;
}

enum fp_status wl_reader_open(const char *path, struct fp_error *ret_error, struct wl_reader **ret_reader)
{
    return open_workload(path, false, ret_error, ret_reader);
}

enum fp_status wl_reader_open_sites(const char *path, struct fp_error *ret_error,
                                    struct wl_reader **ret_reader)
{
    return open_workload(path, true, ret_error, ret_reader);
}
