/* top_frame.c - a frame of `mallab top`: what a recording is doing, as text and as JSON. */
#include "cli/top/top_frame.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/json_bounds.h"
#include "convert/recording/recording.h"
#include "convert/recording/unfinished.h"
#include "footprint/base/support.h"
#include "footprint/base/words.h"
#include "record/recording_words.h"
#include "results/report/grid/grid.h"

#define RATE_MOST   1e18
#define LISTED_MOST 100 /* threads and processes: a line of JSON is to stay readable by simple means */

/* At most RATE_MOST, which counts of a damaged file may be beyond, and which a uint64_t holds. */
static double per_second(const struct cli_top_moment *moment, uint64_t now, uint64_t before)
{
    return now > before ? fmin((double)(now - before) * 1e9 / (double)moment->interval_ns, RATE_MOST) : 0.0;
}

static double bytes_per_event(const struct conv_view *view)
{
    return view->sum.events > 0 ? (double)view->bytes_written / (double)view->sum.events : 0.0;
}

/* ---- processes and threads -------------------------------------------------------------------- */

/* A process or one of its threads, with what it is sorted by: first the weight, then events. */
struct ranked {
    const struct conv_view_process *process;
    const struct conv_tally_lane *lane; /* NULL: all of the process */
    uint64_t weight, events;
};

static int compare_ranked(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    if (a->weight != b->weight)
        return a->weight < b->weight ? 1 : -1;
    return (a->events < b->events) - (a->events > b->events);
}

/* ret_list: the caller's to free. Returns how many of them there are to be listed. */
static size_t sort_processes(const struct conv_view *view, enum cli_top_sort sort, struct ranked **ret_list)
{
    struct ranked *list = res_calloc(view->process_count + 1, sizeof *list);
    for (size_t i = 0; i < view->process_count; i++) {
        const struct conv_view_process *process = view->processes[i];
        const struct conv_tally *tally = &process->tally;
        list[i] = (struct ranked){.process = process, .events = tally->events};
        if (sort == CLI_TOP_BY_RATE)
            list[i].weight = tally->events - tally->events_before +
                             (conv_view_is_running(view, process) ? UINT64_MAX / 2 : 0);
        else if (sort == CLI_TOP_BY_LIVE && !tally->ended)
            list[i].weight = tally->balance.bytes;
    }
    qsort(list, view->process_count, sizeof *list, compare_ranked);
    *ret_list = list;
    return view->process_count < LISTED_MOST ? view->process_count : LISTED_MOST;
}

struct sums {
    const char *program; /* of the process with most events; "" when unknown */
    uint64_t processes_running, threads, threads_running;
};

static struct sums sum_up(const struct conv_view *view)
{
    struct sums sums = {.program = ""};
    uint64_t most = 0;
    for (size_t i = 0; i < view->process_count; i++) {
        const struct conv_view_process *process = view->processes[i];
        const bool runs = conv_view_is_running(view, process);
        if (i == 0 || process->tally.events > most) {
            sums.program = process->name;
            most = process->tally.events;
        }
        sums.processes_running += runs;
        sums.threads += process->tally.threads;
        sums.threads_running += runs ? process->tally.threads - process->tally.threads_exited : 0;
    }
    return sums;
}

/* Why what is live is not exactly known; NULL when it is. The caller's to free. */
static char *inexact_words(const struct conv_view *view)
{
    for (size_t i = 0; i < view->process_count; i++)
        if (view->processes[i]->first_window != 0)
            return res_printf("what was made before window %u is not known: its file is gone",
                              view->processes[i]->first_window);
    if (view->status.pauses == 0 && view->status.attached)
        return res_printf("what was made before the recording began is not known");
    if (view->status.pauses == 0)
        return NULL;
    return res_printf("what was made and released in %s is not known",
                      view->status.pauses == 1 ? "a pause" : "pauses");
}

/* ---- text: facts ------------------------------------------------------------------------------- */

static const char *state_of(const struct conv_view *view)
{
    return view->status.paused ? "paused" : conv_recording_state_name(view->status.state);
}

static void add_title(struct res_text *out, const struct conv_view *view, const struct cli_top_moment *moment,
                      const struct sums *sums)
{
    char duration[32], interval[32];
    const char *ran = conv_view_goes_on(view) ? "running" : "ran on";
    char *program = res_text_plain(sums->program), *state = res_strdup(state_of(view));
    for (char *at = state; (at = strchr(at, '_')) != NULL;)
        *at = ' ';
    res_text_printf(out, "%.30s: %s, %s; rates are %s%s\n", *program != '\0' ? program : "nothing", state,
                    res_text_duration((double)moment->duration_ns, duration),
                    moment->is_first ? "since the start" : "of the last ",
                    moment->is_first ? "" : res_text_duration((double)moment->interval_ns, interval));
    res_text_printf(out, "%-12s%s %s, %s in all; threads %s %s, %s have called\n", "processes",
                    FP_GROUPED(sums->processes_running), ran, FP_GROUPED(view->process_count),
                    FP_GROUPED(sums->threads_running), ran, FP_GROUPED(sums->threads));
    free(program);
    free(state);
}

static void add_note(struct res_text *out, const char *before, const char *words)
{
    char *plain = res_text_plain(words);
    res_text_printf(out, "%-12s%s%s\n", "note", before, plain);
    free(plain);
}

static void add_notes(struct res_text *out, const struct conv_view *view, const struct cli_top_moment *moment)
{
    const struct conv_view_status *status = &view->status;
    char span[32];
    json_t *unrecorded = rec_unrecorded_of(view->recording.json);
    const size_t programs = json_array_size(unrecorded);
    char *words = programs > 0 ? rec_unrecorded_words(json_array_get(unrecorded, 0)) : NULL;
    char *inexact = inexact_words(view);
    if (status->why[0] != '\0' && status->state != CONV_RECORDING_GOING_ON)
        add_note(out, "", status->why);
    if (status->state == CONV_RECORDING_ENDED_EARLY &&
        conv_unfinished_is_left(&view->recording, view->directory))
        add_note(out, "", "the rest is left in shared memory: 'mallab convert' and 'ab' write it");
    if (status->stalls > 0)
        res_text_printf(out, "%-12sit waited for the collector %s times, %s in all\n", "note",
                        FP_GROUPED(status->stalls), res_text_duration((double)status->stall_ns, span));
    if (moment->is_silent && conv_view_goes_on(view))
        res_text_printf(out, "%-12sthe collector (%u) does not answer: this is what it has written so far\n",
                        "note", status->collector_pid);
    if (status->stop_words != NULL)
        add_note(out, "not all is recorded any more: ", status->stop_words);
    if (programs > 0)
        add_note(out, programs > 1 ? "'mallab info' names more; not recorded: " : "not recorded: ", words);
    else if (view->recording.incomplete_why != NULL && status->state == CONV_RECORDING_FINISHED)
        add_note(out, "the recording is not whole: ", view->recording.incomplete_why);
    if (inexact != NULL)
        add_note(out, "live is inexact: ", inexact);
    if (view->foreign > 0)
        res_text_printf(out, "%-12sleft out: %zu files *.fp that are no footprints\n", "note", view->foreign);
    json_decref(unrecorded);
    free(words);
    free(inexact);
}

static void add_calls(struct res_text *out, const struct conv_view *view, const struct cli_top_moment *moment)
{
    const char *comma = "";
    res_text_printf(out, "%-12s%s, %s/s\n", "calls", FP_GROUPED(view->sum.events),
                    FP_GROUPED(per_second(moment, view->sum.events, view->sum_before.events)));
    if (view->sum.events == 0)
        return;
    res_text_printf(out, "%-12s", "");
    for (unsigned call = 1; call < FP_CALL_COUNT; call++) {
        if (view->sum.events_by_call[call] == 0)
            continue;
        res_text_printf(out, "%s%s %s", comma, fp_call_name(call),
                        FP_GROUPED(view->sum.events_by_call[call]));
        comma = ", ";
    }
    res_text_add(out, "\n", 1);
}

/* Both peaks are maxima, each of its own moment. */
static void add_memory(struct res_text *out, const struct conv_view *view,
                       const struct cli_top_moment *moment)
{
    char forecast[REC_FORECAST_BYTES] = "";
    const struct conv_live_sum *live = &view->sum.live;
    res_text_printf(out, "%-12s%s in %s objects; peaks %s, %s objects\n", "live", FP_BYTES(live->bytes),
                    FP_GROUPED(live->objects), FP_BYTES(live->bytes_peak), FP_GROUPED(live->objects_peak));
    if (view->left.objects > 0)
        res_text_printf(out, "%-12s%s in %s objects, live when their processes ended\n", "left",
                        FP_BYTES(view->left.bytes), FP_GROUPED(view->left.objects));
    if (view->bytes == view->bytes_written) /* else old windows go, and the disk holds what --keep says */
        (void)rec_forecast(view->bytes, moment->duration_ns, forecast);
    res_text_printf(out, "%-12s%s, %.2f B a call%s\n", "on disk", FP_BYTES(view->bytes),
                    bytes_per_event(view), forecast);
}

static void add_lost(struct res_text *out, const struct conv_view *view, const struct cli_top_moment *moment)
{
    uint64_t lost[FP_LOSS_COUNT];
    const bool any = conv_view_lost(view, lost) > 0;
    const char *comma = "", *rest = any ? "" : "none";
    if (!conv_view_knows_losses(view))
        rest = any ? ", and more that nobody counted" : "not known: what was not written was not counted";
    else if (conv_view_goes_on(view) && (moment->is_silent || !view->status.told))
        rest = any ? ", and what is not told" : "not told";
    res_text_printf(out, "%-12s", "lost");
    for (unsigned cause = 0; cause < FP_LOSS_COUNT; cause++) {
        if (lost[cause] == 0)
            continue;
        res_text_printf(out, "%s%s %s", comma, fp_loss_name(cause), FP_GROUPED(lost[cause]));
        comma = ", ";
    }
    res_text_printf(out, "%s%s\n", any ? " calls" : "", rest);
}

static void add_processes(struct res_text *out, const struct conv_view *view,
                          const struct cli_top_moment *moment, enum cli_top_sort sort)
{
    static const char *const HEADINGS[] = {"process, by rate", "process, by calls", "process, by live"};
    const struct res_column columns[] = {
        {.heading = HEADINGS[sort]},
        {.heading = "pid", .right = true, .gap = 2},
        {.heading = "live", .right = true, .gap = 2, .least = 8},
        {.heading = "calls/s", .right = true, .gap = 2, .least = 9},
        {.heading = "calls", .right = true, .gap = 2, .least = 9},
        {.heading = "threads", .right = true, .gap = 2},
    };
    const struct res_style style = {0};
    struct res_grid grid;
    struct ranked *list;
    const size_t rows = sort_processes(view, sort, &list);
    res_grid_begin(&grid, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < rows; i++) {
        const struct conv_tally *tally = &list[i].process->tally;
        res_grid_own(&grid, res_printf("%.20s", list[i].process->name));
        res_grid_own(&grid, res_printf("%u", list[i].process->process_id));
        res_grid_add(&grid, tally->ended ? "ended" : FP_BYTES(tally->balance.bytes));
        res_grid_add(&grid, FP_GROUPED(per_second(moment, tally->events, tally->events_before)));
        res_grid_add(&grid, FP_GROUPED(tally->events));
        res_grid_add(&grid, FP_GROUPED(tally->threads));
    }
    res_text_add(out, "\n", rows > 0);
    if (rows > 0)
        res_grid_text(&grid, &style, out);
    res_grid_release(&grid);
    free(list);
}

char *cli_top_text(const struct conv_view *view, const struct cli_top_moment *moment, enum cli_top_sort sort)
{
    const struct sums sums = sum_up(view);
    struct res_text out = {0};
    add_title(&out, view, moment, &sums);
    add_notes(&out, view, moment);
    add_calls(&out, view, moment);
    add_memory(&out, view, moment);
    add_lost(&out, view, moment);
    add_processes(&out, view, moment, sort);
    return out.text;
}

/* ---- JSON --------------------------------------------------------------------------------------- */

static json_t *calls_array(const struct conv_view *view, const struct cli_top_moment *moment)
{
    json_t *array = json_array();
    for (unsigned call = 1; call < FP_CALL_COUNT; call++) {
        const uint64_t calls = view->sum.events_by_call[call];
        if (calls == 0)
            continue;
        json_array_append_new(
            array, json_pack("{s:s, s:o, s:f}", "call", fp_call_name(call), "count", cli_json_number(calls),
                             "per_s", per_second(moment, calls, view->sum_before.events_by_call[call])));
    }
    return array;
}

static json_t *sizes_array(const struct conv_view *view, const struct cli_top_moment *moment)
{
    const struct conv_live_sum *live = &view->sum.live;
    json_t *array = json_array();
    for (unsigned i = 0; i < CONV_SIZE_CLASSES; i++) {
        const uint64_t allocated = view->sum.class_allocations[i];
        if (allocated == 0 && live->class_objects[i] == 0)
            continue;
        json_t *object = cli_json_size_class(i);
        cli_json_set(object, "live_objects", live->class_objects[i]);
        cli_json_set(object, "live_bytes", live->class_bytes[i]);
        cli_json_set(object, "left_objects", view->left.class_objects[i]);
        cli_json_set(object, "left_bytes", view->left.class_bytes[i]);
        cli_json_set(object, "allocations", allocated);
        cli_json_set(object, "allocations_per_s",
                     per_second(moment, allocated, view->sum_before.class_allocations[i]));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *threads_array(const struct conv_view *view, const struct cli_top_moment *moment)
{
    struct ranked *list = NULL;
    size_t found = 0;
    json_t *array = json_array();
    for (size_t i = 0; i < view->process_count; i++) {
        const struct conv_tally *tally = &view->processes[i]->tally;
        list = res_realloc(list, found + tally->lane_count + 1, sizeof *list);
        for (const struct conv_tally_lane *lane = tally->lanes;
             lane != NULL && lane < tally->lanes + tally->lane_count; lane++)
            if (lane->seen)
                list[found++] = (struct ranked){view->processes[i], lane, lane->events - lane->events_before,
                                                lane->events};
    }
    if (found > 0)
        qsort(list, found, sizeof *list, compare_ranked);
    for (size_t i = 0; i < found && i < LISTED_MOST; i++) {
        const struct conv_view_process *process = list[i].process;
        const struct conv_tally_lane *lane = list[i].lane;
        json_t *object = json_object();
        cli_json_set(object, "pid", process->process_id);
        cli_json_set(object, "lane", (uint64_t)(lane - process->tally.lanes));
        cli_json_set(object, "thread_id", cli_json_known(lane->thread_id));
        cli_json_set(object, "running", json_boolean(conv_view_is_running(view, process) && !lane->exited));
        cli_json_set(object, "events", lane->events);
        cli_json_set(object, "events_per_s", per_second(moment, lane->events, lane->events_before));
        json_array_append_new(array, object);
    }
    free(list);
    return array;
}

static json_t *processes_array(const struct conv_view *view, const struct cli_top_moment *moment,
                               enum cli_top_sort sort)
{
    struct ranked *list;
    json_t *array = json_array();
    const size_t rows = sort_processes(view, sort, &list);
    for (size_t i = 0; i < rows; i++) {
        const struct conv_view_process *process = list[i].process;
        const struct conv_tally *tally = &process->tally;
        const uint64_t bytes = tally->balance.bytes, objects = tally->balance.objects, none = 0;
        json_t *object = json_object();
        cli_json_set(object, "pid", process->process_id);
        cli_json_set(object, "parent_pid", process->parent_process_id);
        cli_json_set(object, "name", process->name);
        cli_json_set(object, "running", conv_view_is_running(view, process));
        cli_json_set(object, "threads", tally->threads);
        cli_json_set(object, "events", tally->events);
        cli_json_set(object, "events_per_s", per_second(moment, tally->events, tally->events_before));
        cli_json_set(object, "live_bytes", tally->ended ? none : bytes);
        cli_json_set(object, "live_objects", tally->ended ? none : objects);
        cli_json_set(object, "left_bytes", tally->ended ? bytes : none);
        cli_json_set(object, "left_objects", tally->ended ? objects : none);
        json_array_append_new(array, object);
    }
    free(list);
    return array;
}

json_t *cli_top_json(const struct conv_view *view, const struct cli_top_moment *moment,
                     enum cli_top_sort sort)
{
    const struct conv_view_status *status = &view->status;
    const struct conv_live_sum *live = &view->sum.live;
    const struct sums sums = sum_up(view);
    const bool goes_on = conv_view_goes_on(view), silent = goes_on && moment->is_silent;
    const bool told = status->told && !silent, knows = conv_view_knows_losses(view);
    char *inexact = inexact_words(view);
    json_t *object = json_object(), *losses = json_object(), *ring = json_null();
    uint64_t lost[FP_LOSS_COUNT];
    (void)conv_view_lost(view, lost); /* the sum is the reader's to make */
    for (unsigned cause = 0; cause < FP_LOSS_COUNT; cause++)
        cli_json_set(losses, fp_loss_name(cause), lost[cause]);
    if (status->ring_told && !silent)
        ring = json_pack("{s:o, s:o, s:o, s:o}", "chunks", cli_json_number(status->ring_chunks),
                         "chunks_used", cli_json_number(status->ring_chunks_used), "chunks_most",
                         cli_json_number(status->ring_chunks_most), "chunk_bytes",
                         cli_json_number(status->ring_chunk_bytes));
    cli_json_set(object, "schema", "mallab-top/1");
    cli_json_set(object, "mallab_version", MALLAB_VERSION);
    cli_json_set(object, "directory", view->directory);
    cli_json_set(object, "program", sums.program);
    cli_json_set(object, "state", state_of(view));
    cli_json_set(object, "unfinished_why", status->why);
    cli_json_set(object, "complete", view->recording.complete);
    cli_json_set(object, "incomplete_why", view->recording.incomplete_why);
    cli_json_set(object, "not_recorded", rec_unrecorded_of(view->recording.json));
    cli_json_set(object, "ended", json_boolean(!goes_on));
    cli_json_set(object, "collector_pid", cli_json_known(status->collector_pid));
    cli_json_set(object, "time_unix_ns", moment->time_unix_ns);
    cli_json_set(object, "start_unix_ns", status->start_unix_ns);
    cli_json_set(object, "duration_ns", moment->duration_ns);
    cli_json_set(object, "interval_ns", moment->interval_ns);
    cli_json_set(object, "processes", (uint64_t)view->process_count);
    cli_json_set(object, "processes_running", sums.processes_running);
    cli_json_set(object, "threads", sums.threads);
    cli_json_set(object, "threads_running", sums.threads_running);
    cli_json_set(object, "bytes", view->bytes);
    cli_json_set(object, "live_bytes", live->bytes);
    cli_json_set(object, "live_objects", live->objects);
    cli_json_set(object, "live_peak_bytes", live->bytes_peak);
    cli_json_set(object, "live_peak_objects", live->objects_peak);
    cli_json_set(object, "left_bytes", view->left.bytes);
    cli_json_set(object, "left_objects", view->left.objects);
    cli_json_set(object, "events", view->sum.events);
    cli_json_set(object, "events_per_s", per_second(moment, view->sum.events, view->sum_before.events));
    cli_json_set(object, "bytes_per_event", bytes_per_event(view));
    cli_json_set(object, "ring", ring);
    cli_json_set(object, "stalls", told ? cli_json_number(status->stalls) : json_null());
    cli_json_set(object, "stall_ns", told ? cli_json_number(status->stall_ns) : json_null());
    cli_json_set(object, "answered", goes_on && moment->was_asked ? json_boolean(!silent) : json_null());
    cli_json_set(object, "lost_known", json_boolean(knows && (!goes_on || told)));
    cli_json_set(object, "live_inexact_why", inexact);
    cli_json_set(object, "stopped_why", status->stop_words);
    cli_json_set(object, "lost", losses);
    cli_json_set(object, "calls", calls_array(view, moment));
    cli_json_set(object, "sizes", sizes_array(view, moment));
    cli_json_set(object, "thread_list", threads_array(view, moment));
    cli_json_set(object, "process_list", processes_array(view, moment, sort));
    free(inexact);
    return object;
}
