/* wl_writer.c - gather ops into windows: ids, waits, times; the begin of the file. */
#include "footprint/fp/site_model.h"
#include "footprint/wl/workload.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "footprint/base/arrays.h"
#include "footprint/base/bytes.h"
#include "footprint/base/memory_bound.h"
#include "footprint/wl/wl_writer.h"

#define WINDOW_OPS_DEFAULT 8192u
#define ZSTD_LEVEL_DEFAULT 1 /* level 3 costs half as much again and saves 1 % */

enum fp_status wl_writer_fail(struct wl_writer *writer, enum fp_status status, const char *what)
{
    (void)wl_pack_wait(writer->pack); /* the file and its error are that thread's till then */
    writer->file.error = fp_error_make(status, 0, writer->file.bytes, what);
    return status;
}

enum fp_status wl_put_block(struct wl_writer *writer, struct block_header *header,
                            const struct column *columns, unsigned column_count, const char *what)
{
    const enum fp_status status = block_pack(header, columns, column_count, writer->context, writer->level,
                                             &writer->packed);
    if (status == FP_OK)
        return wl_file_append(&writer->file, writer->packed.at, writer->packed.size);
    writer->file.error = fp_error_make(status, 0, writer->file.bytes, what);
    return status;
}

/* New items are not cleared: of an id that was never used nobody asks. */
static bool grow_array(void *array, size_t bytes)
{
    void *grown = realloc(*(void **)array, bytes);
    if (grown != NULL)
        *(void **)array = grown;
    return grown != NULL;
}

bool wl_put_more_ids(struct wl_writer *writer, uint32_t count)
{
    struct ids *ids = &writer->ids;
    const size_t each = sizeof *ids->next + sizeof *writer->last_op;
    const size_t old = ids->next != NULL ? (size_t)ids->capacity + 1 : 0;
    size_t capacity = old + old / 2 + 1024;
    if (capacity < (size_t)ids->used + count + 1)
        capacity = (size_t)ids->used + count + 1;
    if (capacity > WL_IDS_MAX)
        capacity = WL_IDS_MAX;
    if (capacity <= old || !fp_memory_change(writer->id_bytes, capacity * each))
        return false;
    writer->id_bytes = capacity * each;
    if (!grow_array(&ids->next, capacity * sizeof *ids->next) ||
        !grow_array(&writer->last_op, capacity * sizeof *writer->last_op))
        return false;
    ids->capacity = (uint32_t)(capacity - 1);
    return true;
}

static bool allocate_buffers(struct wl_writer *writer)
{
    const size_t ops = writer->window_ops;
    const size_t room[WINDOW_COLUMNS] = {
        [WINDOW_FACTS] = 5 * VARINT_BYTES_MAX,
        [WINDOW_SHAPES] = ops * SHAPE_BYTES_MAX,
        [WINDOW_SHAPE_LOW] = ops,
        [WINDOW_SHAPE_HIGH] = ops,
        [WINDOW_RUNS] = ops * 7,
        [WINDOW_IDS] = ops * 3,
        [WINDOW_LITERALS] = ops * 5,
        [WINDOW_WAITS] = ops * 6,
        [WINDOW_TIMES] = (ops / WL_TIME_STRIDE + 1) * VARINT_BYTES_MAX + ops * WL_NOTED_BYTES_MAX,
        [WINDOW_SITES] = writer->sites.stacks != NULL ? ops * SITE_BYTES_MOST + RANGE_TAIL_BYTES : 0,
    };
    for (int i = 0; i < WINDOW_COLUMNS; i++)
        if (!bytes_reserve(&writer->columns[i], room[i] + VARINT_BYTES_MAX))
            return false;
    writer->op_threads = malloc(ops * sizeof *writer->op_threads);
    writer->waits = malloc(ops * sizeof *writer->waits);
    writer->times = malloc((ops / WL_TIME_STRIDE + 1) * sizeof *writer->times);
    writer->noted = malloc(ops * sizeof *writer->noted);
    writer->shapes = malloc(WINDOW_SHAPES_MAX * sizeof *writer->shapes);
    if (writer->sites.stacks != NULL) {
        writer->op_sites = malloc(ops * sizeof *writer->op_sites);
        writer->site_model = calloc(1, sizeof *writer->site_model);
        if (writer->op_sites == NULL || writer->site_model == NULL)
            return false;
        site_model_begin(writer->site_model);
    }
    writer->shape_table = calloc(SHAPE_TABLE_SLOTS, sizeof *writer->shape_table);
    writer->context = ZSTD_createCCtx();
    return wl_put_more_ids(writer, 1) && writer->op_threads != NULL && writer->waits != NULL &&
           writer->times != NULL && writer->noted != NULL && writer->shapes != NULL &&
           writer->shape_table != NULL && writer->context != NULL;
}

static enum fp_status write_head(struct wl_writer *writer, const struct fp_meta *meta, size_t meta_count)
{
    uint8_t header[FILE_HEADER_BYTES] = {0};
    struct block_header block = {.type = BLOCK_META};
    struct bytes text = {0};
    enum fp_status status = meta_encode(meta, meta_count, &text);
    put_u32(header + 16, FP_TIME_UNIT_NS);
    put_u32(header + 20, WL_TIME_STRIDE);
    file_header_seal(header, "MALLABWL", WL_VERSION);
    writer->meta_count = meta_count;
    writer->meta_bytes = text.size;
    if (status != FP_OK)
        (void)wl_writer_fail(writer, status, "meta data cannot be stored");
    else if ((status = wl_file_append(&writer->file, header, sizeof header)) == FP_OK)
        status = wl_put_block(writer, &block, &(struct column){text.at, text.size}, 1,
                              "meta data cannot be stored");
    bytes_release(&text);
    return status;
}

void wl_writer_abandon(struct wl_writer *writer)
{
    if (writer == NULL)
        return;
    wl_pack_stop(writer->pack);
    for (int i = 0; i < WINDOW_COLUMNS; i++)
        bytes_release(&writer->columns[i]);
    bytes_release(&writer->packed);
    bytes_release(&writer->notes);
    ZSTD_freeCCtx(writer->context);
    free(writer->op_threads);
    free(writer->waits);
    free(writer->times);
    free(writer->shapes);
    free(writer->op_sites);
    free(writer->site_model);
    wl_sites_end(&writer->sites);
    free(writer->shape_table);
    free(writer->threads);
    free(writer->ids.next);
    free(writer->ids.threads);
    free(writer->ids.touched);
    free(writer->last_op);
    fp_memory_give(writer->id_bytes);
    free(writer->touched);
    free(writer->noted);
    wl_file_abandon(&writer->file);
    free(writer);
}

enum fp_status wl_writer_create(const char *path, bool overwrite, const struct wl_writer_options *options,
                                const struct fp_meta *meta, size_t meta_count, struct fp_error *ret_error,
                                struct wl_writer **ret_writer)
{
    struct wl_writer *writer = calloc(1, sizeof *writer);
    enum fp_status status;
    if (writer == NULL)
        return fp_error_tell(fp_error_make(FP_ERR_MEMORY, 0, 0, "no memory for a writer"), ret_error);
    writer->window_ops = options->window_ops != 0 ? options->window_ops : WINDOW_OPS_DEFAULT;
    writer->level = options->zstd_level != 0 ? options->zstd_level : ZSTD_LEVEL_DEFAULT;
    writer->pause_ns = options->pause_ns > 0 ? options->pause_ns : UINT64_MAX;
    writer->file.fd = -1;
    writer->ready_thread = WL_NO_THREAD;
    if (writer->window_ops > WL_WINDOW_OPS_MAX) {
        status = wl_writer_fail(writer, FP_ERR_ARGUMENT, "windows of more ops than the format allows");
    } else if (!wl_sites_begin(&writer->sites, options->sites, options->program) ||
               !allocate_buffers(writer)) {
        status = wl_writer_fail(writer, FP_ERR_MEMORY, "no memory for a window");
    } else if (options->descriptor > 0) {
        wl_file_adopt(&writer->file, options->descriptor);
        status = FP_OK;
    } else {
        status = wl_file_create(&writer->file, path, overwrite);
    }
    if (status == FP_OK)
        status = write_head(writer, meta, meta_count);
    if (status != FP_OK) {
        (void)fp_error_tell(writer->file.error, ret_error);
        wl_writer_abandon(writer);
        return status;
    }
    if (!options->in_place)
        writer->pack = wl_pack_start(writer);
    *ret_writer = writer;
    return FP_OK;
}

enum fp_status wl_writer_thread(struct wl_writer *writer, uint32_t thread_id, bool is_main,
                                uint32_t *ret_thread)
{
    const uint32_t thread = writer->summary.thread_count;
    if (thread >= WL_THREADS_MAX)
        return wl_writer_fail(writer, FP_ERR_LIMIT, "more threads than the format allows");
    if (!FP_GROW(writer->threads, writer->threads_capacity, (size_t)thread + 1) ||
        !FP_GROW(writer->ids.threads, writer->ids_capacity, (size_t)thread + 1) ||
        !FP_GROW(writer->ids.touched, writer->ids_touched_capacity, (size_t)thread + 1))
        return wl_writer_fail(writer, FP_ERR_MEMORY, "no memory for a thread");
    writer->threads[thread] = (struct thread_state){.facts = {.thread_id = thread_id, .is_main = is_main}};
    writer->summary.thread_count++;
    *ret_thread = thread;
    return FP_OK;
}

void wl_writer_thread_exit(struct wl_writer *writer, uint32_t thread)
{
    if (thread < writer->summary.thread_count)
        writer->threads[thread].facts.exited = true;
}

static void begin_window(struct wl_writer *writer)
{
    writer->op_count = 0;
    writer->wait_count = 0;
    writer->local_count = 0;
    writer->noted_count = 0;
    writer->start_ns = writer->now_ns;
    writer->live_peak = writer->live_bytes;
    writer->shapes_reset = writer->shape_count + writer->window_ops > WINDOW_SHAPES_MAX;
    if (writer->shapes_reset)
        wl_shapes_reset(writer);
    writer->shapes_before = writer->shape_count;
}

/* ---- adding ops ---------------------------------------------------------------------------- */

/* Note that the op about to be added must wait for op `on` of the window, unless that is known. */
void wl_put_wait(struct wl_writer *writer, uint32_t thread, uint32_t on)
{
    const uint32_t other = writer->op_threads[on];
    const uint32_t waiter_local = writer->threads[thread].local;
    const uint32_t other_local = writer->threads[other].local;
    if (other == thread)
        return;
    if (waiter_local < WINDOW_WAITERS_MAX && other_local < WINDOW_WAITERS_MAX) {
        uint32_t *known = &writer->known[waiter_local][other_local];
        if (*known > on)
            return;
        *known = on + 1;
    }
    writer->waits[writer->wait_count++] = (struct wl_wait){writer->op_count, on};
}

enum fp_status wl_put_ready(struct wl_writer *writer, uint32_t thread)
{
    const uint32_t window = (uint32_t)writer->summary.windows + 1;
    struct thread_state *state;
    if (writer->broken != FP_OK)
        return writer->broken;
    if (thread >= writer->summary.thread_count)
        return wl_writer_fail(writer, FP_ERR_ARGUMENT, "an op of a thread that was not announced");
    wl_writer_end_run(writer);
    state = &writer->threads[thread];
    if (writer->op_count == 0)
        begin_window(writer);
    if (state->local_window != window) {
        state->local_window = window;
        state->local = writer->local_count++;
        if (state->local < WINDOW_WAITERS_MAX) {
            memset(writer->known[state->local], 0, sizeof writer->known[0]);
            for (uint32_t i = 0; i < WINDOW_WAITERS_MAX; i++)
                writer->known[i][state->local] = 0;
        }
        if (state->facts.ops == 0)
            state->facts.first_window = writer->summary.windows;
    }
    writer->ready_thread = thread;
    writer->run_begin = writer->op_count;
    return FP_OK;
}

void wl_writer_note_time(struct wl_writer *writer)
{
    writer->note_next = true;
}

void wl_writer_site(struct wl_writer *writer, uint32_t site)
{
    writer->next_site = site;
}

static __attribute__((noinline, cold)) void note_next(struct wl_writer *writer)
{
    wl_times_note(writer, writer->op_count, writer->now_ns);
    writer->note_next = false;
}

/* Begin an op: the window, the thread's place in it, the time, the shape. */
static inline enum fp_status begin_op(struct wl_writer *writer, uint32_t thread, const struct fp_shape *shape,
                                      bool fresh, uint64_t time_ns, uint16_t *ret_shape)
{
    const uint64_t before_ns = writer->now_ns;
    if (time_ns > before_ns)
        writer->now_ns = time_ns;
    if (unlikely(thread != writer->ready_thread)) {
        const enum fp_status status = wl_put_ready(writer, thread);
        if (status != FP_OK)
            return status;
    }
    wl_put_pause(writer, before_ns);
    if (unlikely(writer->note_next))
        note_next(writer);
    wl_put_time(writer, writer->now_ns);
    /* The shape is read field by field: callers have just stored it so, and a copy would wait for the stores. */
    if (unlikely(!wl_put_shape(writer, shape->call | (fresh ? SHAPE_FRESH : 0), shape->size, shape->extra,
                               ret_shape)))
        return wl_writer_fail(writer, FP_ERR_LIMIT, "a size or alignment beyond the format's limit of 2^48");
    wl_put_site(writer, writer->next_site);
    writer->next_site = 0;
    return FP_OK;
}

static inline enum fp_status end_op(struct wl_writer *writer, unsigned call)
{
    writer->summary.ops_by_call[call]++;
    return likely(writer->op_count < writer->window_ops) ? FP_OK : wl_window_flush(writer);
}

void wl_writer_age(struct wl_writer *writer)
{
    const uint32_t now = (uint32_t)writer->summary.ops;
    for (uint32_t id = 1; id <= writer->ids.used; id++)
        if (now - writer->last_op[id] > WL_AGE_MAX)
            writer->last_op[id] = now - WL_AGE_MAX;
    writer->aged_at = writer->summary.ops;
}

enum fp_status wl_writer_allocate(struct wl_writer *writer, uint32_t thread, const struct fp_shape *shape,
                                  uint64_t time_ns, uint32_t *ret_id)
{
    const enum fp_call_kind kind = fp_call_kind_of(shape->call);
    uint16_t index;
    enum fp_status status;
    if (unlikely(kind != FP_KIND_ALLOCATE && kind != FP_KIND_RESIZE))
        return wl_writer_fail(writer, FP_ERR_ARGUMENT, "not an allocation");
    if (!wl_put_room_for_ids(writer, 1))
        return wl_writer_fail(writer, FP_ERR_MEMORY, "no memory for more live objects");
    status = begin_op(writer, thread, shape, kind == FP_KIND_RESIZE, time_ns, &index);
    if (status != FP_OK)
        return status;
    wl_put_request(writer, shape, 1);
    *ret_id = wl_put_allocate(writer, thread, index, fp_shape_bytes(shape));
    return end_op(writer, shape->call);
}

enum fp_status wl_writer_resize(struct wl_writer *writer, uint32_t thread, const struct fp_shape *shape,
                                uint64_t time_ns, uint32_t id, uint64_t old_bytes)
{
    uint16_t index;
    enum fp_status status;
    if (fp_call_kind_of(shape->call) != FP_KIND_RESIZE || !ids_is_live(&writer->ids, id) ||
        old_bytes > writer->live_bytes)
        return wl_writer_fail(writer, FP_ERR_ARGUMENT, "not a resize of a live object");
    status = begin_op(writer, thread, shape, false, time_ns, &index);
    if (status != FP_OK)
        return status;
    wl_put_request(writer, shape, 1);
    wl_put_resize(writer, thread, index, id, old_bytes, fp_shape_bytes(shape));
    return end_op(writer, shape->call);
}

enum fp_status wl_writer_release(struct wl_writer *writer, uint32_t thread, const struct fp_shape *shape,
                                 uint64_t time_ns, uint32_t id, uint64_t bytes)
{
    uint16_t index;
    enum fp_status status;
    if (unlikely(fp_call_kind_of(shape->call) != FP_KIND_RELEASE ||
                 (id != 0 && !ids_is_live(&writer->ids, id)) || bytes > writer->live_bytes))
        return wl_writer_fail(writer, FP_ERR_ARGUMENT, "not a release of a live object");
    status = begin_op(writer, thread, shape, false, time_ns, &index);
    if (status != FP_OK)
        return status;
    if (unlikely(id == 0))
        wl_put_release_of_null(writer, thread, index);
    else
        wl_put_release(writer, thread, index, id, bytes);
    return end_op(writer, shape->call);
}

enum fp_status wl_writer_cut(struct wl_writer *writer)
{
    if (writer->broken != FP_OK || writer->op_count == 0)
        return writer->broken;
    return wl_window_flush(writer);
}

const struct fp_error *wl_writer_error(const struct wl_writer *writer)
{
    (void)wl_pack_wait(writer->pack); /* it may be about to write there */
    return &writer->file.error;
}
