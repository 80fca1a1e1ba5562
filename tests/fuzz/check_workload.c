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
    uint32_t window_ops;
    bool uniform;  /* every window but the last is of one size: then ids are those of the writer, too */
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
    if (copying->uniform)
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

static void copy_window(struct copying *copying, const struct wl_window *window, uint64_t number)
{
    uint32_t op = 0;
    check_window_rules(copying, window);
    /* A smaller window ends the sameness of windows for those that follow, a larger one at once. */
    if (copying->ops != number * copying->window_ops || window->op_count > copying->window_ops)
        copying->uniform = false;
    for (uint32_t run = 0; run < window->run_count; run++) {
        const uint32_t thread = window->runs[run].thread;
        FUZZ_CHECK(thread < copying->summary->thread_count && window->runs[run].op_count > 0);
        FUZZ_CHECK(window->runs[run].op_count <= window->op_count - op);
        FUZZ_CHECK(number >= copying->summary->threads[thread].first_window &&
                   number <= copying->summary->threads[thread].last_window);
        for (uint32_t i = 0; i < window->runs[run].op_count; i++, op++)
            copy_op(copying, thread, &window->ops[op], window->sites != NULL ? window->sites[op] : 0,
                    window->times_ns[op / WL_TIME_STRIDE]);
    }
    FUZZ_CHECK(op == window->op_count && window->facts.live_objects == copying->live_objects);
    copying->ops += op;
    copying->end_ns = window->facts.end_ns;
}

static void read_all(struct copying *copying, const char *path)
{
    const struct wl_summary *summary = copying->summary;
    struct wl_writer_options options = {0};
    const struct fp_meta *meta = wl_reader_info(copying->reader)->meta;
    const size_t meta_count = wl_reader_info(copying->reader)->meta_count;
    struct wl_window window;
    uint64_t windows = 0;
    enum fp_status status = wl_reader_next(copying->reader, &window);
    copying->window_ops = status == FP_OK ? window.op_count : 1;
    options.window_ops = copying->window_ops;
    if (copying->stacks.sites.node_end > 0)
        options.sites = &copying->stacks.sites;
    copying->objects = calloc((size_t)summary->id_max + 1, sizeof *copying->objects);
    FUZZ_CHECK(copying->objects != NULL);
    FUZZ_CHECK(wl_writer_create(path, false, &options, meta, meta_count, NULL, &copying->writer) == FP_OK);
    for (uint32_t i = 0; i < summary->thread_count; i++) {
        uint32_t thread;
        FUZZ_CHECK(wl_writer_thread(copying->writer, summary->threads[i].thread_id,
                                    summary->threads[i].is_main, &thread) == FP_OK);
        FUZZ_CHECK(thread == i);
        if (summary->threads[i].exited)
            wl_writer_thread_exit(copying->writer, i);
    }
    for (; status == FP_OK; status = wl_reader_next(copying->reader, &window))
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

/* Hands out ops one by one, whatever the windows. */
struct walk {
    struct wl_reader *reader;
    struct wl_window window;
    uint32_t op, run, in_run;
    uint64_t number;
};

static uint32_t walk_site(const struct walk *walk)
{
    return walk->window.sites != NULL ? walk->window.sites[walk->op - 1] : 0;
}

static const struct wl_op *walk_next(struct walk *walk, uint32_t *ret_thread)
{
    if (walk->op == walk->window.op_count) {
        if (wl_reader_next(walk->reader, &walk->window) != FP_OK)
            return NULL;
        walk->op = 0;
        walk->run = 0;
        walk->in_run = 0;
    }
    if (walk->in_run == walk->window.runs[walk->run].op_count) {
        walk->run++;
        walk->in_run = 0;
    }
    *ret_thread = walk->window.runs[walk->run].thread;
    walk->in_run++;
    walk->number++;
    return &walk->window.ops[walk->op++];
}

static void compare(const struct copying *copying, const char *path)
{
    struct walk first = {.reader = copying->reader};
    struct walk second = {0};
    struct fp_stacks stacks;
    FUZZ_CHECK(wl_reader_open_sites(path, NULL, &second.reader) == FP_OK);
    FUZZ_CHECK(wl_reader_stacks(second.reader, &stacks) == FP_OK);
    FUZZ_CHECK(wl_reader_summary(second.reader)->ops == copying->ops);
    FUZZ_CHECK(wl_reader_summary(second.reader)->thread_count == copying->summary->thread_count);
    wl_reader_rewind(first.reader);
    for (uint64_t i = 0; i < copying->ops; i++) {
        uint32_t threads[2] = {0, 0}; /* gcc does not see that both are set where neither is NULL */
        const struct wl_op *a = walk_next(&first, &threads[0]);
        const struct wl_op *b = walk_next(&second, &threads[1]);
        FUZZ_CHECK(a != NULL && b != NULL && threads[0] == threads[1]);
        FUZZ_CHECK(a->call == b->call && a->size == b->size && a->count == b->count &&
                   a->align_log2 == b->align_log2);
        FUZZ_CHECK((a->id == 0) == (b->id == 0) && (!copying->uniform || a->id == b->id));
        FUZZ_CHECK(
            copying->stacks.sites.node_end == 0 ||
            is_same_stack(&copying->stacks.sites, walk_site(&first), &stacks.sites, walk_site(&second)));
        if (copying->uniform && i % copying->window_ops % WL_TIME_STRIDE == 0) {
            const size_t time = (size_t)(i % copying->window_ops / WL_TIME_STRIDE);
            FUZZ_CHECK(first.window.times_ns[time] == second.window.times_ns[time]);
        }
    }
    fp_stacks_release(&stacks);
    wl_reader_close(second.reader);
}

void check_workload(const uint8_t *bytes, size_t size)
{
    struct copying copying = {.uniform = true};
    struct fp_error error = {0};
    const char *path = fuzz_output();
    enum fp_status status = wl_reader_open_sites(fuzz_input(bytes, size), &error, &copying.reader);
    if (status != FP_OK) {
        FUZZ_CHECK(copying.reader == NULL && error.status == status && error.what != NULL);
        FUZZ_CHECK(error.offset <= size);
        return;
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
}
