/* top_frame.c - which threads and processes did most, sums over all of them, and the state of a recording in words. */
#include "cli/top/top_frame.h"

#include "convert/recording/recording.h"
#include "convert/recording/unfinished.h"

/* ---- the busiest ----------------------------------------------------------------------------- */

static uint64_t gain(const struct conv_tally_lane *lane)
{
    return lane->events - lane->events_before;
}

static const struct conv_tally_lane *lane_of(const struct cli_top_thread *thread)
{
    return &thread->process->tally.lanes[thread->lane];
}

static bool is_busier(const struct cli_top_thread *a, const struct cli_top_thread *b)
{
    const struct conv_tally_lane *one = lane_of(a), *two = lane_of(b);
    return gain(one) != gain(two) ? gain(one) > gain(two) : one->events > two->events;
}

/* Few are shown, so each is put in its place among the best so far. */
static size_t place_thread(struct cli_top_thread *best, size_t count, size_t most,
                           struct cli_top_thread thread)
{
    size_t at = count < most ? count : most;
    while (at > 0 && is_busier(&thread, &best[at - 1])) {
        if (at < most)
            best[at] = best[at - 1];
        at--;
    }
    if (at < most)
        best[at] = thread;
    return count < most ? count + 1 : most;
}

size_t cli_top_threads(const struct conv_view *view, struct cli_top_thread *ret_threads, size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < view->process_count; i++) {
        const struct conv_view_process *process = view->processes[i];
        for (uint32_t lane = 0; lane < process->tally.lane_count; lane++)
            if (process->tally.lanes[lane].seen)
                count = place_thread(ret_threads, count, most, (struct cli_top_thread){process, lane});
    }
    return count;
}

static bool goes_before(const struct conv_view *view, const struct conv_view_process *a,
                        const struct conv_view_process *b)
{
    const uint64_t one = a->tally.events - a->tally.events_before;
    const uint64_t two = b->tally.events - b->tally.events_before;
    const bool runs = conv_view_is_running(view, a);
    if (runs != conv_view_is_running(view, b))
        return runs;
    return one != two ? one > two : a->tally.events > b->tally.events;
}

size_t cli_top_processes(const struct conv_view *view, const struct conv_view_process **ret_processes,
                         size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < view->process_count; i++) {
        size_t at = count;
        while (at > 0 && goes_before(view, view->processes[i], ret_processes[at - 1])) {
            if (at < most)
                ret_processes[at] = ret_processes[at - 1];
            at--;
        }
        if (at < most)
            ret_processes[at] = view->processes[i];
        count += count < most;
    }
    return count;
}

const char *cli_top_program(const struct conv_view *view)
{
    const struct conv_view_process *most = NULL;
    for (size_t i = 0; i < view->process_count; i++)
        if (most == NULL || view->processes[i]->tally.events > most->tally.events)
            most = view->processes[i];
    return most != NULL ? most->name : "";
}

struct cli_top_numbers cli_top_count(const struct conv_view *view)
{
    struct cli_top_numbers numbers = {0};
    for (size_t i = 0; i < view->process_count; i++) {
        const struct conv_view_process *process = view->processes[i];
        const bool runs = conv_view_is_running(view, process);
        numbers.processes_running += runs;
        numbers.threads += process->tally.threads;
        if (runs)
            numbers.threads_running += process->tally.threads - process->tally.threads_exited;
    }
    return numbers;
}

/* ---- words ------------------------------------------------------------------------------------ */

const char *cli_top_state(const struct conv_view *view)
{
    return view->status.paused ? "paused" : conv_recording_state_name(view->status.state);
}

double cli_top_per_second(const struct cli_top_moment *moment, uint64_t now, uint64_t before)
{
    return now > before ? (double)(now - before) * 1e9 / (double)moment->interval_ns : 0.0;
}

char *cli_top_inexact(const struct conv_view *view)
{
    const struct conv_view_process *late = NULL;
    for (size_t i = 0; i < view->process_count && late == NULL; i++)
        late = view->processes[i]->first_window != 0 ? view->processes[i] : NULL;
    if (late != NULL)
        return res_printf("what was made before window %u is not known: its file is gone",
                          late->first_window);
    if (view->status.pauses > 0)
        return res_printf("what was made and released in %s is not known",
                          view->status.pauses == 1 ? "a pause" : "pauses");
    return NULL;
}
