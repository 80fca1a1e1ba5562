/* workload_input.c - ops to events. */
#include "convert/open/workload_input.h"

#include <stdlib.h>
#include <string.h>

#include "convert/open/workload_survey.h"
#include "convert/ops/rewrite.h"
#include "footprint/fp/fp_sites.h"
#include "footprint/wl/workload.h"

#define EVENTS  256u /* of a batch: as others' */
#define AT_ONCE 3u   /* events of an op, at most */

struct workload {
    const char *path;
    struct wl_reader *reader;
    uint64_t inherited;    /* ops at the begin that make what was there before */
    uint32_t next_touched; /* of the window's shares */
    struct conv_event events[EVENTS];
    size_t count;
};

/* An id as an address: aligned, and below the limit. */
static uint64_t address_of(uint32_t id)
{
    return (uint64_t)id << 4;
}

static enum fp_status flush(struct workload *workload, const struct conv_sink *sink)
{
    const size_t count = workload->count;
    workload->count = 0;
    return count > 0 ? sink->events(sink->data, workload->events, count) : FP_OK;
}

static struct conv_event event_of(const struct wl_window *window, uint32_t op, uint32_t lane)
{
    const struct fp_shape shape = conv_op_shape(&window->ops[op]);
    return (struct conv_event){.time_ns = wl_window_time(window, op),
                               .address = address_of(window->ops[op].id),
                               .size = shape.size,
                               .extra = shape.extra,
                               .lane = lane,
                               .call = shape.call,
                               .site = window->sites != NULL ? window->sites[op] : 0};
}

/* What was in memory of an object is told as soon as it has its size, also where that was all: nobody is to guess. */
static void put_share(struct workload *workload, const struct wl_window *window,
                      const struct conv_event *event, uint64_t number)
{
    const struct fp_shape shape = conv_event_shape(event);
    const bool is_told = workload->next_touched < window->touched_count &&
                         window->touched[workload->next_touched].op == number;
    if (event->address == 0 || fp_call_kind_of(event->call) == FP_KIND_RELEASE ||
        fp_shape_bytes(&shape) < FP_MIDDLING_BYTES)
        return;
    workload->events[workload->count++] = (struct conv_event){
        .time_ns = event->time_ns,
        .address = event->address,
        .extra = is_told ? window->touched[workload->next_touched].share : FP_SHARE_WHOLE,
        .lane = event->lane,
        .call = FP_MARK_RESIDENT};
}

/* A resize has its object's mark before it. */
static void put(struct workload *workload, const struct wl_op *op, struct conv_event event)
{
    if (fp_call_kind_of(op->call) == FP_KIND_RESIZE && !conv_op_allocates(op)) {
        event.old_address = event.address;
        workload->events[workload->count++] = (struct conv_event){.time_ns = event.time_ns,
                                                                  .address = event.address,
                                                                  .lane = event.lane,
                                                                  .call = FP_MARK_RESIZE_FROM};
    }
    workload->events[workload->count++] = event;
}

static enum fp_status take(struct workload *workload, const struct conv_sink *sink,
                           const struct wl_window *window, uint32_t op, uint32_t lane)
{
    const struct conv_event event = event_of(window, op, lane);
    const uint64_t number = window->facts.first_op + op;
    enum fp_status status = FP_OK;
    if (number < workload->inherited)
        return sink->inherit(sink->data, &event, 1);
    put(workload, &window->ops[op], event);
    put_share(workload, window, &event, number);
    if (workload->next_touched < window->touched_count &&
        window->touched[workload->next_touched].op == number)
        workload->next_touched++;
    if (workload->count + AT_ONCE > EVENTS)
        status = flush(workload, sink);
    return status;
}

/* Which threads' ends were recorded; when is not known. */
static enum fp_status run_ends(struct workload *workload, const struct conv_sink *sink)
{
    const struct wl_summary *summary = wl_reader_summary(workload->reader);
    enum fp_status status = FP_OK;
    for (uint32_t i = 0; i < summary->thread_count && status == FP_OK; i++) {
        if (!summary->threads[i].exited)
            continue;
        workload->events[workload->count++] = (struct conv_event){
            .time_ns = summary->duration_ns, .lane = i, .call = FP_MARK_THREAD_EXIT};
        if (workload->count + AT_ONCE > EVENTS)
            status = flush(workload, sink);
    }
    return status == FP_OK ? flush(workload, sink) : status;
}

static enum fp_status run(void *data, const struct conv_sink *sink, struct conv_survey *survey,
                          struct conv_error *error)
{
    struct workload *workload = data;
    struct wl_window window;
    enum fp_status status;
    (void)survey;
    wl_reader_rewind(workload->reader);
    while ((status = wl_reader_next(workload->reader, &window)) == FP_OK) {
        workload->next_touched = 0;
        for (uint32_t k = 0, op = 0; k < window.run_count && status == FP_OK; k++)
            for (uint32_t i = 0; i < window.runs[k].op_count && status == FP_OK; i++, op++)
                status = take(workload, sink, &window, op, window.runs[k].thread);
        if (status == FP_OK)
            status = flush(workload, sink);
        if (status != FP_OK)
            return status;
    }
    if (status != FP_END)
        return conv_fail_with(error, workload->path, wl_reader_error(workload->reader));
    return run_ends(workload, sink);
}

static void name_lane(void *data, uint32_t lane, uint32_t *ret_thread_id, bool *ret_is_main)
{
    const struct wl_thread *thread = &wl_reader_summary(((struct workload *)data)->reader)->threads[lane];
    *ret_thread_id = thread->thread_id;
    *ret_is_main = thread->is_main;
}

static void conclude(void *data, uint64_t gap_calls, struct conv_survey *survey)
{
    const struct workload *workload = data;
    (void)gap_calls;
    survey->large = (struct conv_large){0}; /* shares that nobody told are among them */
    survey->duration_ns = wl_reader_summary(workload->reader)->duration_ns;
}

static enum fp_status take_stacks(void *data, struct conv_stacks *ret_stacks, struct conv_error *error)
{
    struct workload *workload = data;
    struct wl_stacks stacks;
    bool done;
    *ret_stacks = (struct conv_stacks){
        .executable = strdup(""),
        .sample_bytes = fp_sample_mean(wl_reader_meta(workload->reader, FP_SAMPLE_META))};
    if (wl_reader_stacks(workload->reader, &stacks) != FP_OK)
        return conv_fail_with(error, workload->path, wl_reader_error(workload->reader));
    done = conv_stacks_add(ret_stacks, &stacks.sites) && ret_stacks->executable != NULL;
    wl_stacks_release(&stacks);
    return done ? FP_OK : conv_fail_memory(error, workload->path, "its call stacks");
}

static void close_workload(void *data)
{
    struct workload *workload = data;
    wl_reader_close(workload->reader);
    free(workload);
}

static uint32_t main_thread(const struct wl_summary *summary)
{
    for (uint32_t i = 0; i < summary->thread_count; i++)
        if (summary->threads[i].is_main)
            return i;
    return 0;
}

enum fp_status conv_workload_open(const char *path, struct conv_survey *survey, struct conv_error *ret_error,
                                  struct conv_input *ret_input)
{
    struct workload *workload = calloc(1, sizeof *workload);
    struct fp_error cause = {.status = FP_ERR_MEMORY, .what = "no memory for reading"};
    enum fp_status status;
    if (workload == NULL)
        return conv_fail_memory(ret_error, path, "reading");
    workload->path = path;
    status = wl_reader_open_sites(path, &cause, &workload->reader);
    if (status != FP_OK) {
        free(workload);
        return conv_fail_with(ret_error, path, &cause);
    }
    const struct wl_summary *summary = wl_reader_summary(workload->reader);
    survey->kind = CONV_KIND_WORKLOAD;
    conv_survey_notes(workload->reader, survey);
    workload->inherited = survey->inherited_objects;
    survey->inherited_objects = survey->inherited_bytes = 0; /* they are counted as they come */
    *ret_input = (struct conv_input){
        .data = workload,
        .namer = {.data = workload, .name = name_lane},
        .source = "footprint",
        .progress_total = summary->ops,
        .end_ns = summary->duration_ns,
        .home_lane = main_thread(summary),
        .run = run,
        .conclude = conclude,
        .stacks = wl_reader_site_end(workload->reader) > 0 ? take_stacks : NULL,
        .close = close_workload,
    };
    return FP_OK;
}
