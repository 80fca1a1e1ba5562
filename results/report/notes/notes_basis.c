/* notes_basis.c - what figures rest on: noise, rounds, and how the machine drifted. */
#include <math.h>
#include <string.h>

#include "footprint/base/words.h"
#include "results/measure/base/figure_words.h"
#include "results/measure/statistics/statistics.h"
#include "results/report/notes/noting.h"

#define DRIFT_LEAST 0.02 /* less is not worth a word */

static void note_noise(struct res_noting *to)
{
    const struct res_result_entry *control = &to->workload->control;
    const struct res_difference *time = &control->figures.time;
    const char *baseline = to->result->baseline;
    if (control->failed != NULL) { /* other notes say why */
        say(to, "not known: %s, which is held against itself for it, failed", baseline);
        return;
    }
    const char *interval = RES_INTERVAL(time->interval.low, time->interval.high);
    say(to, "%s against itself: time %s%s%s, peak %s%s", baseline,
        isfinite(time->ratio) ? RES_PERCENT(time->ratio) : "not known (the harness' own time hides it)",
        interval[0] != '\0' ? " " : "", interval, RES_PERCENT(control->figures.peak.ratio),
        time->verdict >= RES_LESS ? " (more than chance: this machine was not quiet)" : "");
}

/* ---- what ended the rounds ------------------------------------------------------------------- */

/* ": the widest interval of time is 3.1 %", where it is known. */
static void say_width(struct res_noting *to, const char *still)
{
    if (isfinite(to->workload->stopped_width))
        say(to, ": the widest interval of time is%s %.2g %%", still, 100 * to->workload->stopped_width);
}

static void say_interrupted(struct res_noting *to)
{
    const struct res_result_workload *workload = to->workload;
    if (isfinite(workload->stopped_until_width)) {
        say(to, ", stopped before --until %.3g%% was reached", 100 * workload->stopped_until_width);
        say_width(to, " still");
    } else if (isfinite(workload->stopped_time_budget_ns)) {
        say(to, ", stopped %s into the time budget of %s",
            RES_DURATION(fmax(workload->stopped_elapsed_ns, 0)),
            RES_DURATION(fmax(workload->stopped_time_budget_ns, 0)));
    } else {
        say(to, ", stopped before the %llu asked for", (unsigned long long)workload->stopped_rounds_max);
    }
}

static void say_budget(struct res_noting *to)
{
    const struct res_result_workload *workload = to->workload;
    const double budget_ns = fmax(workload->stopped_time_budget_ns, 0);
    const bool too_short = workload->stopped_elapsed_ns > budget_ns &&
                           workload->rounds <= RES_ROUNDS_FOR_VERDICT;
    say(to,
        too_short ? ", the fewest of which there is a verdict: the time budget of %s was spent before"
                  : ", ended by the time budget of %s",
        RES_DURATION(budget_ns));
    say_width(to, "");
}

static void say_ended(struct res_noting *to)
{
    const struct res_result_workload *workload = to->workload;
    const char *by = workload->stopped_by != NULL ? workload->stopped_by : "";
    if (strcmp(by, "interrupt") == 0) {
        say_interrupted(to);
    } else if (strcmp(by, "time_budget") == 0) {
        say_budget(to);
    } else if (strcmp(by, "until") == 0) {
        say(to, ", ended by --until %.3g%%", 100 * workload->stopped_until_width);
        say_width(to, "");
    } else if (strcmp(by, "rounds_max") == 0) {
        say(to, ", no more are made (-n)");
        say_width(to, " still");
    }
}

/* Ctrl-C ended the experiment, and not by what ended the rounds of this workload. */
static void say_stopped(struct res_noting *to)
{
    const struct res_result *result = to->result;
    const struct res_result_workload *workload = to->workload;
    if (workload->stopped_by == NULL) {
        if (result->rounds_asked > 0)
            say(to, ", stopped before the %llu asked for", (unsigned long long)result->rounds_asked);
        return;
    }
    const bool is_last = workload == &result->workloads[result->workload_count - 1];
    if (is_last && strcmp(workload->stopped_by, "interrupt") != 0)
        say(to, ", stopped in the %s", "passes behind them");
}

static void note_basis(struct res_noting *to)
{
    const struct res_result_workload *workload = to->workload;
    const struct res_result_entry *floor = workload->floor;
    say(to, "%s round%s in an order shuffled by seed %llu", FP_GROUPED(workload->rounds),
        workload->rounds == 1 ? "" : "s", (unsigned long long)to->result->seed);
    say_ended(to);
    if (to->result->stopped)
        say_stopped(to);
    if (floor == NULL || floor->failed != NULL) {
        say(to, "; the harness' own time is still in the figures (%s)",
            floor != NULL ? floor->failed : "mallab-replay-none is not there");
        return;
    }
    say(to, "; the harness' own %s ns per op are subtracted", RES_NS(floor->figures.steady_ns_per_op));
}

static void note_drift(struct res_noting *to)
{
    const double share = to->workload->drift_share;
    if (to->workload->drift_significant && fabs(share) >= DRIFT_LEAST)
        say(to,
            "the machine became %.0f %% %s from the first round to the last: 'mallab doctor' says what "
            "disturbs it",
            fabs(share) * 100, share > 0 ? "slower" : "faster");
}

const struct res_note_row RES_BASIS_ROWS[] = {
    {"noise", RES_NOTE_INFO, RES_TOLD_DETAILS, .make = note_noise},
    {"basis", RES_NOTE_INFO, RES_TOLD_DETAILS, .make = note_basis},
    {"drift", RES_NOTE_WARNING, RES_TOLD_DETAILS, .make = note_drift},
    {0},
};
