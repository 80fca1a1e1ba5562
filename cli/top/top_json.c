/* top_json.c - a frame of `mallab top` as one JSON object. */
#include "cli/top/top_json.h"

#include <stdlib.h>

#include "cli/base/json_bounds.h"
#include "record/recording_words.h"

#define LISTED_MOST 100 /* threads, processes: a line is to stay readable by simple means */

static json_t *rate(const struct cli_top_moment *moment, uint64_t now, uint64_t before)
{
    return json_real(cli_top_per_second(moment, now, before));
}

static json_t *calls_array(const struct conv_view *view, const struct cli_top_moment *moment)
{
    json_t *array = json_array();
    for (unsigned call = 1; call < FP_CALL_COUNT; call++) {
        const uint64_t count = view->sum.events_by_call[call];
        if (count == 0)
            continue;
        json_t *object = json_object();
        cli_json_set(object, "call", fp_call_name(call));
        cli_json_set(object, "count", count);
        cli_json_set(object, "per_s", rate(moment, count, view->sum_before.events_by_call[call]));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *sizes_array(const struct conv_view *view, const struct cli_top_moment *moment)
{
    const struct conv_live_sum *live = &view->sum.live;
    json_t *array = json_array();
    for (unsigned i = 0; i < CONV_SIZE_CLASSES; i++) {
        const uint64_t count = view->sum.class_allocations[i];
        if (count == 0 && live->class_objects[i] == 0)
            continue;
        json_t *object = cli_json_size_class(i);
        cli_json_set(object, "live_objects", live->class_objects[i]);
        cli_json_set(object, "live_bytes", live->class_bytes[i]);
        cli_json_set(object, "left_objects", view->left.class_objects[i]);
        cli_json_set(object, "left_bytes", view->left.class_bytes[i]);
        cli_json_set(object, "allocations", count);
        cli_json_set(object, "allocations_per_s", rate(moment, count, view->sum_before.class_allocations[i]));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *threads_array(const struct conv_view *view, const struct cli_top_moment *moment)
{
    struct cli_top_thread *threads = res_calloc(LISTED_MOST, sizeof *threads);
    const size_t count = cli_top_threads(view, threads, LISTED_MOST);
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++) {
        const struct conv_view_process *process = threads[i].process;
        const struct conv_tally_lane *lane = &process->tally.lanes[threads[i].lane];
        json_t *object = json_object();
        cli_json_set(object, "pid", process->process_id);
        cli_json_set(object, "lane", threads[i].lane);
        cli_json_set(object, "thread_id", cli_json_known(lane->thread_id));
        cli_json_set(object, "running", json_boolean(conv_view_is_running(view, process) && !lane->exited));
        cli_json_set(object, "events", lane->events);
        cli_json_set(object, "events_per_s", rate(moment, lane->events, lane->events_before));
        json_array_append_new(array, object);
    }
    free(threads);
    return array;
}

static json_t *process_object(const struct conv_view *view, const struct conv_view_process *process,
                              const struct cli_top_moment *moment)
{
    const struct conv_tally *tally = &process->tally;
    const bool ended = tally->ended;
    json_t *object = json_object();
    cli_json_set(object, "pid", process->process_id);
    cli_json_set(object, "parent_pid", process->parent_process_id);
    cli_json_set(object, "name", process->name);
    cli_json_set(object, "running", conv_view_is_running(view, process));
    cli_json_set(object, "threads", tally->threads);
    cli_json_set(object, "events", tally->events);
    cli_json_set(object, "events_per_s", rate(moment, tally->events, tally->events_before));
    cli_json_set(object, "live_bytes", cli_json_number(ended ? 0 : tally->balance.bytes));
    cli_json_set(object, "live_objects", cli_json_number(ended ? 0 : tally->balance.objects));
    cli_json_set(object, "left_bytes", cli_json_number(ended ? tally->balance.bytes : 0));
    cli_json_set(object, "left_objects", cli_json_number(ended ? tally->balance.objects : 0));
    return object;
}

static json_t *processes_array(const struct conv_view *view, const struct cli_top_moment *moment)
{
    const struct conv_view_process **processes = res_calloc(LISTED_MOST, sizeof(*processes));
    const size_t count = cli_top_processes(view, processes, LISTED_MOST);
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, process_object(view, processes[i], moment));
    free(processes);
    return array;
}

/* Only the collector knows these: they are null while it has not told. */
static void set_told(json_t *object, const struct conv_view *view, const struct cli_top_moment *moment)
{
    const struct conv_view_status *status = &view->status;
    const bool goes_on = conv_view_goes_on(view), silent = goes_on && moment->is_silent;
    char *inexact = cli_top_inexact(view);
    json_t *ring = json_null();
    if (status->ring_told && !silent) {
        ring = json_object();
        cli_json_set(ring, "chunks", status->ring_chunks);
        cli_json_set(ring, "chunks_used", status->ring_chunks_used);
        cli_json_set(ring, "chunks_most", status->ring_chunks_most);
        cli_json_set(ring, "chunk_bytes", status->ring_chunk_bytes);
    }
    cli_json_set(object, "ring", ring);
    cli_json_set(object, "stalls", status->told && !silent ? cli_json_number(status->stalls) : json_null());
    cli_json_set(object, "stall_ns",
                 status->told && !silent ? cli_json_number(status->stall_ns) : json_null());
    cli_json_set(object, "answered", goes_on && moment->was_asked ? json_boolean(!silent) : json_null());
    cli_json_set(object, "lost_known",
                 json_boolean(conv_view_knows_losses(view) && !silent && (!goes_on || status->told)));
    cli_json_set(object, "live_inexact_why", inexact != NULL ? cli_json_text(inexact) : json_null());
    cli_json_set(object, "stopped_why",
                 status->stop_words != NULL ? cli_json_text(status->stop_words) : json_null());
    free(inexact);
}

static void set_numbers(json_t *object, const struct conv_view *view, const struct cli_top_moment *moment)
{
    const struct cli_top_numbers sums = cli_top_count(view);
    const struct conv_live_sum *live = &view->sum.live;
    const struct {
        const char *key;
        uint64_t value;
    } numbers[] = {
        {"time_unix_ns", moment->time_unix_ns},
        {"start_unix_ns", view->status.start_unix_ns},
        {"duration_ns", moment->duration_ns},
        {"interval_ns", moment->interval_ns},
        {"processes", view->process_count},
        {"processes_running", sums.processes_running},
        {"threads", sums.threads},
        {"threads_running", sums.threads_running},
        {"bytes", view->bytes},
        {"live_bytes", live->bytes},
        {"live_objects", live->objects},
        {"live_peak_bytes", live->bytes_peak},
        {"live_peak_objects", live->objects_peak},
        {"left_bytes", view->left.bytes},
        {"left_objects", view->left.objects},
        {"events", view->sum.events},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        cli_json_set(object, numbers[i].key, numbers[i].value);
    cli_json_set(object, "events_per_s", rate(moment, view->sum.events, view->sum_before.events));
    cli_json_set(
        object, "bytes_per_event",
        json_real(view->sum.events > 0 ? (double)view->bytes_written / (double)view->sum.events : 0.0));
}

static json_t *lost_object(const struct conv_view *view)
{
    uint64_t lost[FP_LOSS_COUNT];
    json_t *object = json_object();
    (void)conv_view_lost(view, lost); /* the sum is the reader's to make */
    for (unsigned cause = 0; cause < FP_LOSS_COUNT; cause++)
        cli_json_set(object, fp_loss_name(cause), lost[cause]);
    return object;
}

json_t *cli_top_json(const struct conv_view *view, const struct cli_top_moment *moment)
{
    json_t *object = json_object();
    cli_json_set(object, "schema", "mallab-top/1");
    cli_json_set(object, "mallab_version", MALLAB_VERSION);
    cli_json_set(object, "directory", view->directory);
    cli_json_set(object, "program", cli_top_program(view));
    cli_json_set(object, "state", cli_top_state(view));
    cli_json_set(object, "unfinished_why", view->status.why);
    cli_json_set(object, "complete", view->recording.complete);
    cli_json_set(object, "incomplete_why", view->recording.incomplete_why);
    cli_json_set(object, "not_recorded", rec_unrecorded_of(view->recording.json));
    cli_json_set(object, "ended", moment->is_last);
    cli_json_set(object, "collector_pid", cli_json_known(view->status.collector_pid));
    set_numbers(object, view, moment);
    set_told(object, view, moment);
    cli_json_set(object, "lost", lost_object(view));
    cli_json_set(object, "calls", calls_array(view, moment));
    cli_json_set(object, "sizes", sizes_array(view, moment));
    cli_json_set(object, "thread_list", threads_array(view, moment));
    cli_json_set(object, "process_list", processes_array(view, moment));
    return object;
}
