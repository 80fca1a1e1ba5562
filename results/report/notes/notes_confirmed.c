/* notes_confirmed.c - what the program itself showed, and what was withdrawn for it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/words.h"
#include "results/measure/base/figure_words.h"
#include "results/measure/confirm/confirming.h"
#include "results/measure/figures/verdict.h"
#include "results/measure/statistics/statistics.h"
#include "results/report/notes/notes.h"
#include "results/report/notes/noting.h"

/* ---- words ----------------------------------------------------------------------------------- */

/* A unit for all times of a sentence: that of the largest. */
struct time_unit {
    const char *name;
    double ns;
};

static struct time_unit unit_of(double ns)
{
    return ns >= 1e9   ? (struct time_unit){"s", 1e9}
           : ns >= 1e6 ? (struct time_unit){"ms", 1e6}
                       : (struct time_unit){"us", 1e3};
}

/* Three digits, as far as they are before the point or right behind it. */
static int digits_of(double number)
{
    return fabs(number) < 9.995 ? 2 : fabs(number) < 99.95 ? 1 : 0;
}

/* "mimalloc -99 ms (-119 to -65) of 409 ms" */
static void say_time(struct res_noting *to, const struct res_confirmed *one)
{
    const struct res_confirmed_figure *time = &one->time;
    const double baseline = time->baseline_median;
    const struct time_unit unit = unit_of(baseline);
    const double changed = baseline * (time->ratio - 1) / unit.ns,
                 low = baseline * (time->interval.low - 1) / unit.ns,
                 high = baseline * (time->interval.high - 1) / unit.ns, whole = baseline / unit.ns;
    const int digits = digits_of(changed);
    say(to, "%+.*f %s (%+.*f to %+.*f) of %.*f %s", digits, changed, unit.name, digits, low, digits, high,
        digits_of(whole), whole, unit.name);
}

/* What its runs would have shown. */
static double resolution_of(const struct res_confirmed *one, const struct res_confirmed *control)
{
    const struct res_interval own = one->time.interval, noise = control->time.interval;
    const double strays = fmax((noise.high - noise.low) / 2, fabs(control->time.ratio - 1));
    return fmax((own.high - own.low) / 2, strays);
}

static const struct res_confirmed *control_of(const struct res_result *result)
{
    for (size_t i = 0; i < result->confirmed_count; i++)
        if (result->confirmed[i].is_control)
            return &result->confirmed[i];
    return NULL;
}

static void say_too_few(struct res_noting *to, const struct res_confirmed *one)
{
    const struct res_result *result = to->result;
    const double run_ns = result->confirmation != NULL ? result->confirmation->run_ns : NAN;
    uint64_t runs = 2 * result->confirmed_count * RES_ROUNDS_FOR_VERDICT +
                    result->confirmed_count * RES_ROUNDS_FOR_MEMORY;
    say(to, "time not shown: %s of %u pairs of runs that a verdict takes",
        one->runs == 0 ? "none" : FP_GROUPED(one->runs), RES_ROUNDS_FOR_VERDICT);
    if (isfinite(run_ns))
        say(to, " (%s runs, about %s)", FP_GROUPED(runs), RES_DURATION((double)runs * run_ns));
}

static void say_peak(struct res_noting *to, const struct res_confirmed *one)
{
    const struct res_bytes_unit unit = res_bytes_unit_of(fmax(one->peak_bytes, one->peak.baseline_median));
    if (isfinite(one->peak_bytes))
        say(to, "; %s for %s %s", RES_IN_UNIT(one->peak_bytes, unit),
            RES_IN_UNIT(one->peak.baseline_median, unit), unit.name);
}

/* Where the program shows the contrary of what its replays do; verdict.c then names somebody else, or nobody. */
static void say_withdrawn(struct res_noting *to, const struct res_confirmed *one)
{
    const struct res_result_entry *replayed = to->workload != NULL
                                                  ? res_result_entry_named(to->workload, one->candidate)
                                                  : NULL;
    if (replayed == NULL || replayed->failed != NULL)
        return;
    const bool time = replayed->figures.time.verdict == RES_LESS && one->time_verdict == RES_MORE,
               peak = (replayed->figures.peak.verdict == RES_LESS ||
                       res_rest_saved(to->workload, replayed) > 0) &&
                      one->peak_verdict == RES_MORE;
    if (time || peak)
        say(to, ": no longer advised for the %s that its replays save",
            time && peak ? "time and memory"
            : time       ? "time"
                         : "memory");
}

static void say_one(struct res_noting *to, const struct res_confirmed *one,
                    const struct res_confirmed *control)
{
    say(to, "%s ", one->candidate);
    if (one->failed != NULL) {
        say(to, "failed: %s", one->failed);
        return;
    }
    if (one->time_verdict == RES_LESS || one->time_verdict == RES_MORE)
        say_time(to, one);
    else if (one->time_verdict == RES_SAME)
        say(to, "time not shown: its runs resolve %.*f %%", resolution_of(one, control) < 0.00995,
            100 * resolution_of(one, control));
    else
        say_too_few(to, one);
    say_peak(to, one);
    say_withdrawn(to, one);
}

/* ---- notes ----------------------------------------------------------------------------------- */

/* With the only workload; of several, and of a program that was not replayed, with all of the result. */
static bool is_told_here(const struct res_noting *to)
{
    const struct res_result *result = to->result;
    return result->confirmation != NULL &&
           to->workload == (result->workload_count == 1 ? &result->workloads[0] : NULL);
}

static void note_shown(struct res_noting *to)
{
    const struct res_result *result = to->result;
    const struct res_confirmed *control = control_of(result);
    if (!is_told_here(to) || control == NULL)
        return;
    if (control->failed != NULL) {
        say(to, "not in the program itself: %s failed: %s", control->candidate, control->failed);
        return;
    }
    for (size_t i = 0; i < result->confirmed_count; i++) {
        const struct res_confirmed *one = &result->confirmed[i];
        if (one->is_control)
            continue;
        say(to, "%s", i == 0 ? "in the program itself: " : "");
        say_one(to, one, control);
        res_note_end(to);
    }
}

static void note_runs(struct res_noting *to)
{
    static const char *const BY[] = {"hyperfine", "wait4(2)", "/proc and wait4(2)"};
    const struct res_confirmation *about = to->result->confirmation;
    const struct res_confirmed *control = control_of(to->result);
    if (!is_told_here(to) || control == NULL)
        return;
    say(to, "the program ran %s times in %s%s; user and system time by %s", FP_GROUPED(about->runs),
        RES_DURATION(fmax(about->elapsed_ns, 0)), about->stopped ? ", when it was stopped" : "",
        BY[about->timed_by]);
    if (isfinite(control->time.interval.low))
        say(to, "; %s against itself %s %s", control->candidate, RES_PERCENT(control->time.ratio),
            RES_INTERVAL(control->time.interval.low, control->time.interval.high));
}

/* Of a program that was not replayed it is the only line on how sure that is. */
static void note_runs_alone(struct res_noting *to)
{
    if (to->workload == NULL)
        note_runs(to);
}

static void note_runs_beside(struct res_noting *to)
{
    if (to->workload != NULL)
        note_runs(to);
}

const struct res_note_row RES_CONFIRMED_ROWS[] = {
    {"shown", RES_NOTE_ADVICE, RES_TOLD_ALWAYS, .make = note_shown},
    {"runs", RES_NOTE_INFO, RES_TOLD_ALWAYS, .make = note_runs_alone},
    {"runs", RES_NOTE_INFO, RES_TOLD_DETAILS, .make = note_runs_beside},
    {0},
};

/* ---- what would confirm ---------------------------------------------------------------------- */

/* A name that a shell takes as it is: a result is a file from anywhere. */
static bool is_plain(const char *name)
{
    return name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+=:/@%-")] ==
           '\0';
}

/* A recording that lasted longer is of a service. */
#define COMMAND_MOST_NS 600e9

static void note_confirm(struct res_noting *to)
{
    const struct res_result *result = to->result;
    const struct res_result_workload *workload = to->workload;
    const struct res_result_entry *entries[RES_TRIED_MAX];
    const size_t count = res_notes_tried(result, workload, entries);
    const double ran_ns = workload->process != NULL && workload->process->ran_ns > 0
                              ? workload->process->ran_ns
                              : (double)workload->duration_ns;
    bool plain = is_plain(result->baseline);
    uint64_t runs;
    for (size_t i = 0; i < count; i++)
        plain = plain && is_plain(entries[i]->name);
    if (result->confirmation != NULL || count == 0 || !plain || !(ran_ns > 0) || !(ran_ns < 1e15))
        return;
    const uint64_t elapsed_ns = res_confirm_estimate(count, (uint64_t)ran_ns, RES_CONFIRM_BUDGET_NS, &runs);
    say(to, "'mallab confirm ");
    if (strcmp(result->baseline, "glibc") != 0)
        say(to, "-b %s ", result->baseline);
    say(to, "-a %s", result->baseline);
    for (size_t i = 0; i < count; i++)
        say(to, ",%s", entries[i]->name);
    if (ran_ns > COMMAND_MOST_NS)
        say(to, " --start LINE --load LINE' runs the service itself");
    else
        say(to, " -- CMD', %s runs of it, %s", FP_GROUPED(runs), RES_DURATION((double)elapsed_ns));
}

const struct res_note_row RES_CONFIRM_ROWS[] = {
    {"confirm", RES_NOTE_INFO, RES_TOLD_ALWAYS, .make = note_confirm},
    {0},
};
