/* top_json.c - a frame of `mallab top` as one JSON object. */
#include <stdlib.h>

#include "cli/base/json_bounds.h"
#include "cli/top/top_frame.h"
#include "record/unrecorded.h"

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
        json_object_set_new(object, "call", json_string(fp_call_name(call)));
        json_object_set_new(object, "count", cli_json_number(count));
        json_object_set_new(object, "per_s", rate(moment, count, view->sum_before.events_by_call[call]));
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
        json_object_set_new(object, "live_objects", cli_json_number(live->class_objects[i]));
        json_object_set_new(object, "live_bytes", cli_json_number(live->class_bytes[i]));
        json_object_set_new(object, "left_objects", cli_json_number(view->left.class_objects[i]));
        json_object_set_new(object, "left_bytes", cli_json_number(view->left.class_bytes[i]));
        json_object_set_new(object, "allocations", cli_json_number(count));
        json_object_set_new(object, "allocations_per_s",
                            rate(moment, count, view->sum_before.class_allocations[i]));
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
        json_object_set_new(object, "pid", cli_json_number(process->process_id));
        json_object_set_new(object, "lane", cli_json_number(threads[i].lane));
        json_object_set_new(object, "thread_id",
                            lane->thread_id != 0 ? cli_json_number(lane->thread_id) : json_null());
        json_object_set_new(object, "running",
                            json_boolean(conv_view_is_running(view, process) && !lane->exited));
        json_object_set_new(object, "events", cli_json_number(lane->events));
        json_object_set_new(object, "events_per_s", rate(moment, lane->events, lane->events_before));
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
    json_object_set_new(object, "pid", cli_json_number(process->process_id));
    json_object_set_new(object, "parent_pid", cli_json_number(process->parent_process_id));
    json_object_set_new(object, "name", cli_json_text(process->name));
    json_object_set_new(object, "running", json_boolean(conv_view_is_running(view, process)));
    json_object_set_new(object, "threads", cli_json_number(tally->threads));
    json_object_set_new(object, "events", cli_json_number(tally->events));
    json_object_set_new(object, "events_per_s", rate(moment, tally->events, tally->events_before));
    json_object_set_new(object, "live_bytes", cli_json_number(ended ? 0 : tally->balance.bytes));
    json_object_set_new(object, "live_objects", cli_json_number(ended ? 0 : tally->balance.objects));
    json_object_set_new(object, "left_bytes", cli_json_number(ended ? tally->balance.bytes : 0));
    json_object_set_new(object, "left_objects", cli_json_number(ended ? tally->balance.objects : 0));
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

/* What only the collector knows: null while it has not told. */
static void set_told(json_t *object, const struct conv_view *view, const struct cli_top_moment *moment)
{
    const struct conv_view_status *status = &view->status;
    const bool goes_on = conv_view_goes_on(view), silent = goes_on && moment->is_silent;
    char *inexact = cli_top_inexact(view);
    json_t *ring = json_null();
    if (status->ring_told && !silent) {
        ring = json_object();
        json_object_set_new(ring, "chunks", cli_json_number(status->ring_chunks));
        json_object_set_new(ring, "chunks_used", cli_json_number(status->ring_chunks_used));
        json_object_set_new(ring, "chunks_most", cli_json_number(status->ring_chunks_most));
        json_object_set_new(ring, "chunk_bytes", cli_json_number(status->ring_chunk_bytes));
    }
    json_object_set_new(object, "ring", ring);
    json_object_set_new(object, "stalls",
                        status->told && !silent ? cli_json_number(status->stalls) : json_null());
    json_object_set_new(object, "stall_ns",
                        status->told && !silent ? cli_json_number(status->stall_ns) : json_null());
    json_object_set_new(object, "answered",
                        goes_on && moment->was_asked ? json_boolean(!silent) : json_null());
    json_object_set_new(object, "lost_known",
                        json_boolean(conv_view_knows_losses(view) && !silent && (!goes_on || status->told)));
    json_object_set_new(object, "live_inexact_why", inexact != NULL ? cli_json_text(inexact) : json_null());
    json_object_set_new(object, "stopped_why",
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
        json_object_set_new(object, numbers[i].key, cli_json_number(numbers[i].value));
    json_object_set_new(object, "events_per_s", rate(moment, view->sum.events, view->sum_before.events));
    json_object_set_new(
        object, "bytes_per_event",
        json_real(view->sum.events > 0 ? (double)view->bytes_written / (double)view->sum.events : 0.0));
}

static json_t *lost_object(const struct conv_view *view)
{
    uint64_t lost[FP_LOSS_COUNT];
    json_t *object = json_object();
    (void)conv_view_lost(view, lost); /* the sum is the reader's to make */
    for (unsigned cause = 0; cause < FP_LOSS_COUNT; cause++)
        json_object_set_new(object, fp_loss_name(cause), cli_json_number(lost[cause]));
    return object;
}

json_t *cli_top_json(const struct conv_view *view, const struct cli_top_moment *moment)
{
    json_t *object = json_object();
    json_object_set_new(object, "schema", json_string("mallab-top/1"));
    json_object_set_new(object, "mallab_version", json_string(MALLAB_VERSION));
    json_object_set_new(object, "directory", cli_json_text(view->directory));
    json_object_set_new(object, "program", cli_json_text(cli_top_program(view)));
    json_object_set_new(object, "state", json_string(cli_top_state(view)));
    json_object_set_new(object, "unfinished_why", cli_json_text(view->status.why));
    json_object_set_new(object, "complete", json_boolean(view->recording.complete));
    json_object_set_new(object, "incomplete_why", cli_json_text(view->recording.incomplete_why));
    json_object_set_new(object, "not_recorded", cli_unrecorded_of(view->recording.json));
    json_object_set_new(object, "ended", json_boolean(moment->is_last));
    json_object_set_new(object, "collector_pid",
                        view->status.collector_pid != 0 ? cli_json_number(view->status.collector_pid)
                                                        : json_null());
    set_numbers(object, view, moment);
    set_told(object, view, moment);
    json_object_set_new(object, "lost", lost_object(view));
    json_object_set_new(object, "calls", calls_array(view, moment));
    json_object_set_new(object, "sizes", sizes_array(view, moment));
    json_object_set_new(object, "thread_list", threads_array(view, moment));
    json_object_set_new(object, "process_list", processes_array(view, moment));
    return object;
}
