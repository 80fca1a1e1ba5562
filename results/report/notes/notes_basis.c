/* notes_basis.c - what figures rest on: noise, rounds, how steady the machine was, and the machine itself. */
#include <math.h>
#include <string.h>

#include "footprint/base/words.h"
#include "results/measure/base/figure_words.h"
#include "results/measure/statistics/statistics.h"
#include "results/report/notes/noting.h"

#define UNSTEADY    0.2  /* typical deviation over the median */
#define DRIFT_LEAST 0.02 /* less is not worth a word */

void res_note_noise(struct res_noting *noting)
{
    const struct res_result_entry *control = &noting->workload->control;
    const struct res_difference *time = &control->figures.time;
    const char *baseline = noting->result->baseline;
    if (control->failed != NULL) { /* other notes say why */
        res_note_say(noting, "not known: %s, which is held against itself for it, failed", baseline);
        return;
    }
    const char *interval = RES_INTERVAL(time->interval.low, time->interval.high);
    res_note_say(noting,
                 "%s against itself: time %s%s%s, peak %s%s; a change counts whose range leaves out 0 and "
                 "whose median lies beyond this",
                 baseline,
                 isfinite(time->ratio) ? RES_PERCENT(time->ratio)
                                       : "not known (the harness' own time hides it)",
                 interval[0] != '\0' ? " " : "", interval, RES_PERCENT(control->figures.peak.ratio),
                 time->verdict >= RES_FASTER ? " (more than chance: this machine was not quiet)" : "");
}

/* ---- what ended the rounds ------------------------------------------------------------------- */

/* ": the widest interval of time is 3.1 %", where it is known. */
static void say_width(struct res_noting *noting, const char *still)
{
    if (isfinite(noting->workload->stopped_width))
        res_note_say(noting, ": the widest interval of time is%s %.2g %%", still,
                     100 * noting->workload->stopped_width);
}

static void say_interrupted(struct res_noting *noting)
{
    const struct res_result_workload *workload = noting->workload;
    if (isfinite(workload->stopped_until_width)) {
        res_note_say(noting, ", stopped before --until %.3g%% was reached",
                     100 * workload->stopped_until_width);
        say_width(noting, " still");
    } else if (isfinite(workload->stopped_time_budget_ns)) {
        res_note_say(noting, ", stopped %s into the time budget of %s",
                     RES_DURATION(fmax(workload->stopped_elapsed_ns, 0)),
                     RES_DURATION(fmax(workload->stopped_time_budget_ns, 0)));
    } else {
        res_note_say(noting, ", stopped before the %llu asked for",
                     (unsigned long long)workload->stopped_rounds_max);
    }
}

static void say_budget(struct res_noting *noting)
{
    const struct res_result_workload *workload = noting->workload;
    const double budget_ns = fmax(workload->stopped_time_budget_ns, 0);
    const bool too_short = workload->stopped_elapsed_ns > budget_ns &&
                           workload->rounds <= RES_ROUNDS_FOR_VERDICT;
    res_note_say(noting,
                 too_short
                     ? ", the fewest of which there is a verdict: the time budget of %s was spent before"
                     : ", ended by the time budget of %s",
                 RES_DURATION(budget_ns));
    say_width(noting, "");
}

static void say_ended(struct res_noting *noting)
{
    const struct res_result_workload *workload = noting->workload;
    const char *by = workload->stopped_by != NULL ? workload->stopped_by : "";
    if (strcmp(by, "interrupt") == 0) {
        say_interrupted(noting);
    } else if (strcmp(by, "time_budget") == 0) {
        say_budget(noting);
    } else if (strcmp(by, "until") == 0) {
        res_note_say(noting, ", ended by --until %.3g%%", 100 * workload->stopped_until_width);
        say_width(noting, "");
    } else if (strcmp(by, "rounds_max") == 0) {
        res_note_say(noting, ", no more are made (-n)");
        say_width(noting, " still");
    }
}

/* Ctrl-C ended the experiment, and not by what ended the rounds of this workload. */
static void say_stopped(struct res_noting *noting)
{
    const struct res_result *result = noting->result;
    const struct res_result_workload *workload = noting->workload;
    if (workload->stopped_by == NULL) {
        res_note_say(noting, ", stopped before the %llu asked for", (unsigned long long)result->rounds_asked);
        return;
    }
    const bool is_last = workload == &result->workloads[result->workload_count - 1];
    if (is_last && strcmp(workload->stopped_by, "interrupt") != 0)
        res_note_say(noting, ", stopped in the %s",
                     result->validation != NULL ? "real runs or further recordings" : "passes behind them");
}

void res_note_basis(struct res_noting *noting)
{
    const struct res_result_workload *workload = noting->workload;
    const struct res_result_entry *floor = workload->floor;
    res_note_say(noting, "%s round%s in an order shuffled by seed %llu", FP_GROUPED(workload->rounds),
                 workload->rounds == 1 ? "" : "s", (unsigned long long)noting->result->seed);
    say_ended(noting);
    if (noting->result->stopped)
        say_stopped(noting);
    if (floor == NULL || floor->failed != NULL) {
        res_note_say(noting, "; the harness' own time is still in the figures (%s)",
                     floor != NULL ? floor->failed : "mallab-replay-none is not there");
        return;
    }
    res_note_say(noting, "; the harness' own %s ns per op (typical %s) are subtracted",
                 RES_NS(floor->figures.quiet_ns_per_op), RES_NS(floor->figures.typical_ns_per_op));
}

/* ---- how steady it was ----------------------------------------------------------------------- */

void res_note_unsteady(struct res_noting *noting)
{
    const char *before = "the runs of ";
    RES_EACH_CANDIDATE(entry, noting->workload)
    {
        const double typical = entry->figures.typical_ns_per_op;
        if (!(typical > 0) || !(entry->figures.typical_deviation > UNSTEADY * typical))
            continue;
        res_note_say(noting, "%s%s", before, entry->name);
        before = ", ";
    }
    if (noting->words.text != NULL)
        res_note_say(noting,
                     " differ by more than %.0f %% from their own median: trust the quiet figure more than "
                     "the typical one",
                     UNSTEADY * 100);
}

void res_note_drift(struct res_noting *noting)
{
    const double share = noting->workload->drift_share;
    if (noting->workload->drift_significant && fabs(share) >= DRIFT_LEAST)
        res_note_say(noting,
                     "the machine became %.0f %% %s from the first round to the last: 'mallab doctor' says "
                     "what disturbs it",
                     fabs(share) * 100, share > 0 ? "slower" : "faster");
}

void res_note_outliers(struct res_noting *noting)
{
    const struct res_result_workload *workload = noting->workload;
    const struct res_outlier *worst = workload->outlier_worst;
    if (workload->outlier_count == 0 || worst == NULL)
        return;
    res_note_say(noting,
                 "%s of %s runs are outliers, the furthest %.2g times its median (%s%s, round %s): all are "
                 "kept and counted",
                 FP_GROUPED(workload->outlier_count), FP_GROUPED(workload->outlier_runs), worst->times_median,
                 worst->name != NULL ? worst->name : "?", worst->control ? " as control" : "",
                 FP_GROUPED(worst->round));
}

/* ---- the machine ----------------------------------------------------------------------------- */

static const char *known(const char *word, const char *otherwise)
{
    return word != NULL ? word : otherwise;
}

void res_note_machine(struct res_noting *noting)
{
    const struct res_machine *machine = &noting->result->machine;
    res_note_say(noting, "%s, %.0f CPUs, %s%s; Linux %s, %s; huge pages %s, governor %s",
                 known(machine->cpu, "unknown processor"), fmax(machine->cpus, 0),
                 FP_BYTES(fmax(machine->memory_bytes, 0)), machine->virtual_machine == 1 ? ", virtual" : "",
                 known(machine->kernel, "?"), known(machine->libc, "libc unknown"),
                 known(machine->transparent_huge_pages, "unknown"), known(machine->governor, "unknown"));
    if (isfinite(machine->load_1_minute))
        res_note_say(noting, ", load %.1f", machine->load_1_minute);
}
