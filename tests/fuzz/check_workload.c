/* check_workload.c - what a workload reader hands out keeps workload.h's promises, and survives writing. */
#include <stdlib.h>
#include <string.h>

#include "footprint/wl/workload.h"
#include "fuzz/target.h"
#include "unit/site_module.h"

/* By id of the file that is read. */
struct object {
    bool live;
    uint32_t written_id;
    uint64_t bytes;
};

struct copying {
    struct wl_reader *reader;
    struct wl_writer *writer;
    const struct wl_summary *summary;
    struct object *objects;
    struct fp_stacks stacks;
    uint64_t ops, live_objects, end_ns;
    bool complete; /* read to FP_END */
};

/* The shape from which the writer makes the op. */
static struct fp_shape shape_of(const struct wl_op *op)
{
    struct fp_shape shape = {op->call, op->size, 0};
    if (fp_call_extra_of(op->call) == FP_EXTRA_COUNT)
        shape.extra = op->count;
    if (fp_call_extra_of(op->call) == FP_EXTRA_ALIGNMENT)
        shape.extra = UINT64_C(1) << (op->align_log2 & ~WL_OP_FRESH);
    return shape;
}

static bool allocates(const struct wl_op *op)
{
    return fp_call_kind_of(op->call) == FP_KIND_ALLOCATE || (op->align_log2 & WL_OP_FRESH) != 0;
}

static void copy_op(struct copying *copying, uint32_t thread, const struct wl_op *op, uint32_t site,
                    uint64_t time_ns)
{
    const struct fp_shape shape = shape_of(op);
    const uint64_t bytes = fp_shape_bytes(&shape);
    struct object *object = &copying->objects[op->id];
    FUZZ_CHECK(site == 0 || (site < wl_reader_info(copying->reader)->site_end &&
                             fp_call_kind_of(op->call) != FP_KIND_RELEASE));
    if (site != 0)
        wl_writer_site(copying->writer, site);
    FUZZ_CHECK(op->id <= copying->summary->id_max && op->call < FP_CALL_COUNT && bytes < UINT64_C(1) << 48);
    if (allocates(op)) {
        FUZZ_CHECK(op->id != 0 && !object->live);
        FUZZ_CHECK(wl_writer_allocate(copying->writer, thread, &shape, time_ns, &object->written_id) ==
                   FP_OK);
        object->live = true;
        object->bytes = bytes;
        copying->live_objects++;
    } else if (fp_call_kind_of(op->call) == FP_KIND_RESIZE) {
        FUZZ_CHECK(op->id != 0 && object->live);
        FUZZ_CHECK(wl_writer_resize(copying->writer, thread, &shape, time_ns, object->written_id,
                                    object->bytes) == FP_OK);
        object->bytes = bytes;
    } else {
        FUZZ_CHECK(fp_call_kind_of(op->call) == FP_KIND_RELEASE && object->live == (op->id != 0));
        FUZZ_CHECK(wl_writer_release(copying->writer, thread, &shape, time_ns, object->written_id,
                                     object->bytes) == FP_OK);
        copying->live_objects -= op->id != 0;
        object->live = false;
        object->bytes = 0;
    }
    FUZZ_CHECK(op->id == 0 || object->written_id == op->id);
    if (op->id == 0)
        *object = (struct object){0};
}

static void check_window_rules(const struct copying *copying, const struct wl_window *window)
{
    uint32_t last_wait = 0;
    uint64_t time_ns = window->facts.start_ns;
    FUZZ_CHECK(window->op_count >= 1 && window->op_count <= copying->summary->window_ops_max);
    FUZZ_CHECK(window->facts.first_op == copying->ops && window->facts.start_ns >= copying->end_ns);
    FUZZ_CHECK(window->facts.end_ns >= window->facts.start_ns);
    FUZZ_CHECK(window->facts.end_ns <= copying->summary->duration_ns);
    FUZZ_CHECK(window->facts.live_bytes <= window->facts.live_bytes_peak);
    FUZZ_CHECK(window->time_count == (window->op_count + WL_TIME_STRIDE - 1) / WL_TIME_STRIDE);
    for (uint32_t i = 0; i < window->wait_count; i++) {
        FUZZ_CHECK(window->waits[i].op < window->op_count && window->waits[i].op >= last_wait);
        FUZZ_CHECK(window->waits[i].on < window->waits[i].op);
        last_wait = window->waits[i].op;
    }
    for (uint32_t i = 0; i < window->time_count; i++) {
        FUZZ_CHECK(window->times_ns[i] >= time_ns && window->times_ns[i] <= window->facts.end_ns);
        time_ns = window->times_ns[i];
    }
    for (uint32_t i = 0; i < window->noted_count; i++) {
        const struct wl_noted *noted = &window->noted[i];
        FUZZ_CHECK(noted->op < window->op_count && noted->op % WL_TIME_STRIDE != 0);
        FUZZ_CHECK(i == 0 || (noted->op > noted[-1].op && noted->time_ns >= noted[-1].time_ns));
        FUZZ_CHECK(noted->time_ns >= window->times_ns[noted->op / WL_TIME_STRIDE]);
    }
    FUZZ_CHECK(window->op_count == 0 || wl_window_time(window, window->op_count - 1) <= window->facts.end_ns);
}

/* Ends a window where it ended, the last one with the file where it did: so ids and facts are those of the file that is read. */
static void copy_window(struct copying *copying, const struct wl_window *window, uint64_t number)
{
    uint32_t op = 0, noted = 0, touched = 0;
    check_window_rules(copying, window);
    for (uint32_t run = 0; run < window->run_count; run++) {
        const uint32_t thread = window->runs[run].thread;
        FUZZ_CHECK(thread < copying->summary->thread_count && window->runs[run].op_count > 0);
        FUZZ_CHECK(window->runs[run].op_count <= window->op_count - op);
        FUZZ_CHECK(number >= copying->summary->threads[thread].first_window &&
                   number <= copying->summary->threads[thread].last_window);
        for (uint32_t i = 0; i < window->runs[run].op_count; i++, op++) {
            if (noted < window->noted_count && window->noted[noted].op == op) {
                wl_writer_note_time(copying->writer);
                noted++;
            }
            copy_op(copying, thread, &window->ops[op], window->sites != NULL ? window->sites[op] : 0,
                    wl_window_time(window, op));
            if (touched < window->touched_count && window->touched[touched].op == copying->ops + op)
                FUZZ_CHECK(wl_writer_touched(copying->writer, copying->objects[window->ops[op].id].written_id,
                                             window->touched[touched++].share) == FP_OK);
        }
    }
    FUZZ_CHECK(op == window->op_count && window->facts.live_objects == copying->live_objects);
    FUZZ_CHECK(noted == window->noted_count && touched == window->touched_count);
    if (number + 1 < copying->summary->windows ||
        copying->summary->duration_ns - window->facts.end_ns >= FP_TIME_UNIT_NS)
        FUZZ_CHECK(wl_writer_cut(copying->writer) == FP_OK);
    copying->ops += op;
    copying->end_ns = window->facts.end_ns;
}

/* Entries that a conversion counts stand behind the windows, the others before them. */
static void begin_copy(struct copying *copying, const char *path)
{
    const struct wl_reader_info *info = wl_reader_info(copying->reader);
    const uint32_t most = copying->summary->window_ops_max;
    struct wl_writer_options options = {.window_ops = most < WL_WINDOW_OPS_MAX ? most + 1 : most,
                                        .zstd_level = 1};
    size_t begun = 0;
    while (begun < info->meta_count && strncmp(info->meta[begun].key, "irregular_", 10) != 0)
        begun++;
    if (copying->stacks.sites.node_end > 0)
        options.sites = &copying->stacks.sites;
    FUZZ_CHECK(wl_writer_create(path, false, &options, info->meta, begun, NULL, &copying->writer) == FP_OK);
    for (; begun < info->meta_count; begun++)
        FUZZ_CHECK(wl_writer_note(copying->writer, info->meta[begun].key, info->meta[begun].value) == FP_OK);
}

static void read_all(struct copying *copying, const char *path)
{
    const struct wl_summary *summary = copying->summary;
    struct wl_window window;
    uint64_t windows = 0;
    enum fp_status status;
    copying->objects = calloc((size_t)summary->id_max + 1, sizeof *copying->objects);
    FUZZ_CHECK(copying->objects != NULL);
    begin_copy(copying, path);
    for (uint32_t i = 0; i < summary->thread_count; i++) {
        uint32_t thread;
        FUZZ_CHECK(wl_writer_thread(copying->writer, summary->threads[i].thread_id,
                                    summary->threads[i].is_main, &thread) == FP_OK);
        FUZZ_CHECK(thread == i);
        if (summary->threads[i].exited)
            wl_writer_thread_exit(copying->writer, i);
    }
    while ((status = wl_reader_next(copying->reader, &window)) == FP_OK)
        copy_window(copying, &window, windows++);
    copying->complete = status == FP_END;
    if (copying->complete) {
        FUZZ_CHECK(copying->ops == summary->ops && windows == summary->windows);
        FUZZ_CHECK(copying->live_objects == summary->live_objects_end);
    } else {
        const struct fp_error *error = wl_reader_error(copying->reader);
        FUZZ_CHECK(status == FP_ERR_CORRUPT || status == FP_ERR_CHECKSUM);
        FUZZ_CHECK(error->status == status && error->what != NULL);
    }
}

/* The same places and ends, by whatever numbers. */
static bool is_same_stack(const struct fp_sites *a, uint32_t site_a, const struct fp_sites *b,
                          uint32_t site_b)
{
    for (; site_a >= FP_SITE_FIRST && site_b >= FP_SITE_FIRST;
         site_a = fp_site_node_at(a, site_a).parent, site_b = fp_site_node_at(b, site_b).parent) {
        const struct fp_site_node one = fp_site_node_at(a, site_a), other = fp_site_node_at(b, site_b);
        const struct fp_module *of_one = fp_site_module(a, &one), *of_other = fp_site_module(b, &other);
        FUZZ_CHECK(one.address != 0 && other.address != 0);
        if ((of_one == NULL) != (of_other == NULL) ||
            (of_one != NULL && (one.address != other.address || strcmp(of_one->path, of_other->path) != 0)))
            return false;
    }
    return site_a == site_b || (site_a >= FP_CUT_COUNT && site_a < FP_SITE_FIRST && site_b == FP_CUT_LOST);
}

static void read_stacks(struct copying *copying)
{
    const enum fp_status status = wl_reader_stacks(copying->reader, &copying->stacks);
    if (status == FP_OK) {
        FUZZ_CHECK(copying->stacks.sites.node_end == wl_reader_info(copying->reader)->site_end);
        return;
    }
    FUZZ_CHECK(status == FP_ERR_CORRUPT || status == FP_ERR_CHECKSUM);
    FUZZ_CHECK(wl_reader_error(copying->reader)->status == status);
}

static void check_same_window(const struct copying *copying, const struct wl_window *a,
                              const struct wl_window *b, const struct fp_sites *written)
{
    FUZZ_CHECK(a->op_count == b->op_count && a->run_count == b->run_count);
    FUZZ_CHECK(a->noted_count == b->noted_count && a->touched_count == b->touched_count);
    for (uint32_t i = 0; i < a->run_count; i++)
        FUZZ_CHECK(a->runs[i].thread == b->runs[i].thread && a->runs[i].op_count == b->runs[i].op_count);
    for (uint32_t i = 0; i < a->op_count; i++) {
        const struct wl_op *one = &a->ops[i], *other = &b->ops[i];
        FUZZ_CHECK(one->call == other->call && one->id == other->id && one->size == other->size &&
                   one->count == other->count && one->align_log2 == other->align_log2);
        FUZZ_CHECK(copying->stacks.sites.node_end == 0 ||
                   is_same_stack(&copying->stacks.sites, a->sites != NULL ? a->sites[i] : 0, written,
                                 b->sites != NULL ? b->sites[i] : 0));
    }
    for (uint32_t i = 0; i < a->time_count; i++)
        FUZZ_CHECK(a->times_ns[i] == b->times_ns[i]);
    for (uint32_t i = 0; i < a->noted_count; i++)
        FUZZ_CHECK(a->noted[i].op == b->noted[i].op && a->noted[i].time_ns == b->noted[i].time_ns);
    for (uint32_t i = 0; i < a->touched_count; i++)
        FUZZ_CHECK(a->touched[i].op == b->touched[i].op && a->touched[i].share == b->touched[i].share);
}

static void compare(const struct copying *copying, const char *path)
{
    struct wl_reader *again;
    struct wl_window first, second;
    struct fp_stacks stacks;
    FUZZ_CHECK(wl_reader_open_sites(path, NULL, &again) == FP_OK);
    FUZZ_CHECK(wl_reader_stacks(again, &stacks) == FP_OK);
    FUZZ_CHECK(wl_reader_summary(again)->ops == copying->ops);
    FUZZ_CHECK(wl_reader_summary(again)->thread_count == copying->summary->thread_count);
    wl_reader_rewind(copying->reader);
    while (wl_reader_next(copying->reader, &first) == FP_OK) {
        FUZZ_CHECK(wl_reader_next(again, &second) == FP_OK);
        check_same_window(copying, &first, &second, &stacks.sites);
    }
    FUZZ_CHECK(wl_reader_next(again, &second) == FP_END);
    fp_stacks_release(&stacks);
    wl_reader_close(again);
}

const char *check_workload(const uint8_t *bytes, size_t size)
{
    struct copying copying = {0};
    struct fp_error error = {0};
    const char *path = fuzz_output();
    enum fp_status status = wl_reader_open_sites(fuzz_input(bytes, size), &error, &copying.reader);
    if (status != FP_OK) {
        FUZZ_CHECK(copying.reader == NULL && error.status == status && error.what != NULL);
        FUZZ_CHECK(error.offset <= size);
        return NULL;
    }
    copying.summary = wl_reader_summary(copying.reader);
    read_stacks(&copying);
    read_all(&copying, path);
    if (copying.complete) {
        FUZZ_CHECK(wl_writer_finish(copying.writer, copying.summary->duration_ns, NULL, NULL, NULL) == FP_OK);
        compare(&copying, path);
    } else {
        wl_writer_abandon(copying.writer);
    }
    free(copying.objects);
    fp_stacks_release(&copying.stacks);
    wl_reader_close(copying.reader);
    return copying.complete ? path : NULL;
}
