/* slots_confirmed.c - the words of slots about the program itself: what its runs showed, and what would decide. */
#include <stdlib.h>
#include <string.h>

#include "footprint/base/words.h"
#include "results/measure/confirm/confirming.h"
#include "results/report/notes/notes.h"

/* ---- what its runs showed -------------------------------------------------------------------- */

/* Tells whether the note stands with the only workload; of several, and of a program that was not replayed, it stands with all of the result. */
static bool is_told_here(const struct res_about *about)
{
    const struct res_result *result = about->result;
    return result->confirmation != NULL &&
           about->workload == (result->workload_count == 1 ? &result->workloads[0] : NULL);
}

/* NULL: nothing is told here. */
static const struct res_confirmed *control_of(const struct res_about *about)
{
    for (size_t i = 0; is_told_here(about) && i < about->result->confirmed_count; i++)
        if (about->result->confirmed[i].is_control)
            return &about->result->confirmed[i];
    return NULL;
}

static const struct res_confirmed *sound_control(const struct res_about *about)
{
    const struct res_confirmed *control = control_of(about);
    return control != NULL && control->failed == NULL ? control : NULL;
}

bool res_each_confirmed(struct res_about *about)
{
    const struct res_result *result = about->result;
    while (about->at < result->confirmed_count && result->confirmed[about->at].is_control)
        about->at++;
    if (sound_control(about) == NULL || about->at >= result->confirmed_count)
        return false;
    about->one = &result->confirmed[about->at];
    return true;
}

SLOT_WORD(not_confirmed, about->workload != NULL ? about->result->asked.not_confirmed : NULL)
SLOT_WORD(control_run_failed, control_of(about) != NULL ? control_of(about)->failed : NULL)
SLOT_WORD(one, about->one->candidate)
SLOT_WORD(one_failed, about->one->failed)

static bool is_shown(int verdict)
{
    return verdict == RES_LESS || verdict == RES_MORE;
}

/* "51 % more time (39-64)", "0.8 % less memory" */
static void add_change(struct res_text *words, const struct res_confirmed_figure *figure, const char *what,
                       bool with_range)
{
    const double sign = figure->ratio < 1 ? -100 : 100, percent = sign * (figure->ratio - 1);
    const double low = sign * (figure->interval.low - 1), high = sign * (figure->interval.high - 1);
    say("%.*f %% %s%s%s", percent < 9.95, percent, figure->ratio < 1 ? "less" : "more",
        what != NULL ? " " : "", what != NULL ? what : "");
    if (with_range && round(fmin(low, high)) < round(fmax(low, high)))
        say(" (%.0f-%.0f)", fmax(fmin(low, high), 0), fmax(low, high));
}

/* The least difference that its runs would have shown; NAN: there are too few to know. */
static double resolution_of(const struct res_confirmed *one, const struct res_confirmed *control)
{
    const struct res_interval own = one->time.interval, noise = control->time.interval;
    if (!isfinite(noise.high - noise.low))
        return NAN;
    const double strays = fmax((noise.high - noise.low) / 2, fabs(control->time.ratio - 1));
    return isfinite(own.high - own.low) ? fmax((own.high - own.low) / 2, strays) : NAN;
}

static bool is_open(const struct res_confirmed *one)
{
    return !one->is_control && one->failed == NULL && !is_shown(one->time_verdict);
}

/* "3 pairs ran, 8 are needed": as many as were asked for, until Ctrl-C, or in time. */
static void add_few(const struct res_about *about, struct res_text *words, uint64_t pairs)
{
    const struct res_confirmation *ran = about->result->confirmation;
    const bool late = ran->budget_ns > 0 && !ran->stopped &&
                      (ran->pairs_asked == 0 || pairs < ran->pairs_asked);
    say("%s pair%s ran%s, %u are needed", pairs == 0 ? "no" : FP_GROUPED(pairs), pairs < 2 ? "" : "s",
        late ? " in time" : "", RES_ROUNDS_FOR_VERDICT);
}

SLOT(few_pairs)
{
    if (is_open(about->one) && about->one->runs < RES_ROUNDS_FOR_VERDICT)
        add_few(about, words, about->one->runs);
}
SLOT(one_time)
{
    if (about->one->failed == NULL && is_shown(about->one->time_verdict))
        add_change(words, &about->one->time, "time", true);
}
SLOT(one_resolves)
{
    const double resolution = resolution_of(about->one, control_of(about));
    if (is_open(about->one) && about->one->runs >= RES_ROUNDS_FOR_VERDICT && isfinite(resolution))
        say("%.*f %%", resolution < 0.00995, 100 * resolution);
}

/* The change of the program's time that a candidate's replay told, as a confirmation would tell it; NAN: it told none. */
static struct res_confirmed_figure replayed(const struct res_about *about)
{
    const struct res_result_workload *workload = about->workload;
    const struct res_result_entry *entry = res_result_entry_named(workload, about->one->candidate);
    const double share = res_part_of_time(about->result, workload),
                 least = share * workload->share_time_low / workload->share_time,
                 most = share * workload->share_time_high / workload->share_time;
    if (entry == NULL || entry->failed != NULL || workload->no_trust_time != NULL ||
        workload->processes > 1 || !isfinite(share))
        return (struct res_confirmed_figure){.ratio = NAN, .interval = {NAN, NAN}};
    const struct res_difference *time = &entry->figures.with_starts;
    const double low = time->interval.low - 1, high = time->interval.high - 1;
    return (struct res_confirmed_figure){
        .ratio = 1 + share * (time->ratio - 1),
        .interval = {1 + low * (low < 0 ? most : least), 1 + high * (high < 0 ? least : most)},
    };
}

/* Tells whether the program shows another change than the calls alone, beyond the ranges of both. */
static bool is_beyond_calls(const struct res_about *about)
{
    const struct res_confirmed *one = about->one;
    const struct res_interval calls = replayed(about).interval;
    const double apart = fmax(one->time.interval.low - calls.high, calls.low - one->time.interval.high);
    return isfinite(calls.low) && apart > RES_SAVING_WORTH;
}

SLOT(one_time_alike)
{
    if (!is_beyond_calls(about))
        say_one_time(about, words);
}
SLOT(calls_alone)
{
    const struct res_confirmed_figure calls = replayed(about);
    if (is_beyond_calls(about))
        add_change(words, &calls, NULL, false);
}

static void add_looks(struct res_text *words, uint64_t looks)
{
    say("%s%s", looks == 1 ? "once" : FP_GROUPED(looks), looks == 1 ? "" : " times");
}

/* "41.7 % more memory"; "62.6 MB instead of 64.8 (looked at once)" */
SLOT(one_peak)
{
    const struct res_confirmed *one = about->one;
    const struct res_bytes_unit unit = res_bytes_unit_of(fmax(one->peak_bytes, one->peak.baseline_median));
    if (is_shown(one->peak_verdict) && isfinite(one->peak.ratio)) {
        add_change(words, &one->peak, "memory", false);
    } else if (one->peak.own_count >= RES_ROUNDS_FOR_VERDICT) {
        say("the same memory");
    } else if (isfinite(one->peak_bytes)) {
        say("%s %s instead of %s (looked at ", RES_IN_UNIT(one->peak_bytes, unit), unit.name,
            RES_IN_UNIT(one->peak.baseline_median, unit));
        add_looks(words, one->peak.own_count);
        say(")");
    }
}

/* The fewest pairs that a candidate ran, or looks that it had at its memory. */
static uint64_t least_of(const struct res_about *about, bool looks)
{
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < about->result->confirmed_count; i++) {
        const struct res_confirmed *one = &about->result->confirmed[i];
        const uint64_t own = looks ? one->peak.own_count : one->runs;
        if (!one->is_control && one->failed == NULL && own < least)
            least = own;
    }
    return least == UINT64_MAX ? 0 : least;
}

SLOT_DO(least_pairs, add_few(about, words, least_of(about, false)))
SLOT(least_looks)
{
    if (least_of(about, false) < RES_ROUNDS_FOR_VERDICT) {
        add_few(about, words, least_of(about, false));
    } else {
        say("it was looked at ");
        add_looks(words, least_of(about, true));
        say(", it takes %u", RES_ROUNDS_FOR_VERDICT);
    }
}

/* Adds the candidate of an answer that the program shows to take more. */
static void add_refuted(const struct res_about *about, struct res_text *words, bool memory)
{
    const struct res_confirmed *one = res_confirmed_named(
        about->result->confirmed, about->result->confirmed_count, about->answer->candidate);
    const double percent = one != NULL ? 100 * ((memory ? &one->peak : &one->time)->ratio - 1) : NAN;
    if (percent > 0)
        say("%.*f %%", percent < 9.95, percent);
}

SLOT_DO(refuted_time, add_refuted(about, words, false))
SLOT_DO(refuted_peak, add_refuted(about, words, true))

/* "all three take" */
SLOT(all_worse)
{
    static const char *const ALL[] = {"", "the other takes", "both take", "all three take", "all four take"};
    size_t count = 0;
    for (size_t i = 0; i < about->result->confirmed_count; i++)
        count += !about->result->confirmed[i].is_control && about->result->confirmed[i].failed == NULL;
    if (!res_parts_differ(about))
        say("%s", count < sizeof ALL / sizeof ALL[0] ? ALL[count] : "all others take");
}

bool res_parts_differ(const struct res_about *about)
{
    const struct res_program_verdict *verdict = about->result->verdict;
    return verdict == NULL || verdict->time.kind != RES_ANSWER_ALL_WORSE ||
           verdict->peak.kind != RES_ANSWER_ALL_WORSE;
}

static const char *timed_by(const struct res_about *about)
{
    static const char *const BY[] = {"hyperfine", "wait4(2)", "/proc and wait4(2)"};
    return BY[about->result->confirmation->timed_by];
}

SLOT(confirm_runs)
{
    const struct res_confirmation *ran = about->result->confirmation;
    if (control_of(about) != NULL) {
        add_looks(words, ran->runs);
        say(" in %s%s", RES_DURATION(fmax(ran->elapsed_ns, 0)), ran->stopped ? ", when it was stopped" : "");
    }
}
SLOT_WORD(timed_by, timed_by(about))
SLOT(control_range)
{
    const struct res_confirmed_figure *time = &control_of(about)->time;
    if (isfinite(time->interval.low))
        say("%s %s", RES_PERCENT(time->ratio), RES_INTERVAL(time->interval.low, time->interval.high));
}

/* ---- commands to run ------------------------------------------------------------------------- */

/* A recording that lasted longer is of a service. */
#define COMMAND_MOST_NS 600e9

static bool is_service(const struct res_result *result, double run_ns)
{
    const struct res_asked *asked = &result->asked;
    bool is_service = run_ns > COMMAND_MOST_NS;
    for (size_t i = 0; i < result->workload_count; i++) /* Ctrl-C ends who computes, too */
        is_service = is_service || (asked->cut != NULL ? res_waits(&result->workloads[i])
                                                       : res_is_service(&result->workloads[i]));
    return is_service;
}

/* Adds the share of the program that follows. */
static void add_program(struct res_text *words, const struct res_result *result, double run_ns)
{
    const struct res_asked *asked = &result->asked;
    if (is_service(result, run_ns)) {
        say(" --start");
        res_shell_word(words, asked->command != NULL ? asked->command : "LINE");
        say(" --load LINE");
    } else {
        say(" -- %s", asked->command != NULL ? asked->command : "COMMAND");
    }
}

/* "mallab confirm -a glibc,mimalloc -- make" */
static void add_command(struct res_text *words, const struct res_result *result, const char *const *names,
                        size_t count, double run_ns)
{
    struct res_text all = {0};
    res_text_printf(&all, "%s", result->baseline);
    for (size_t i = 0; i < count; i++)
        res_text_printf(&all, ",%s", names[i]);
    say("mallab confirm");
    if (strcmp(result->baseline, "glibc") != 0) {
        say(" -b");
        res_shell_word(words, result->baseline);
    }
    say(" -a");
    res_shell_word(words, all.text);
    free(all.text);
    add_program(words, result, run_ns);
}

/* ---- what would have been seen --------------------------------------------------------------- */

#define NOISY 0.2

/* It counts only candidates without a verdict on time. */
SLOT(pairs_resolve)
{
    const struct res_confirmed *control = sound_control(about);
    double resolution = 0;
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; control != NULL && i < about->result->confirmed_count; i++) {
        const struct res_confirmed *one = &about->result->confirmed[i];
        const double own = resolution_of(one, control);
        if (!is_open(one))
            continue;
        least = one->runs < least ? one->runs : least;
        resolution = isnan(own) ? NAN : resolution + fmax(own - resolution, 0);
    }
    if (least < RES_ROUNDS_FOR_VERDICT) {
        say("unknown: ");
        add_few(about, words, least);
    } else if (least < UINT64_MAX && isfinite(resolution)) {
        say("%shanges of time above %.*f %% would show in %s pairs",
            resolution < NOISY ? "c" : "too noisy: only c", resolution < 0.00995, 100 * resolution,
            FP_GROUPED(least));
    }
}

/* ---- what would confirm ---------------------------------------------------------------------- */

static double run_ns_of(const struct res_about *about)
{
    const struct res_result_workload *workload = about->workload;
    return about->result->asked.run_ns > 0                              ? about->result->asked.run_ns
           : workload->process != NULL && workload->process->ran_ns > 0 ? workload->process->ran_ns
                                                                        : (double)workload->duration_ns;
}

/* A run takes more than the time and the waits of one process. */
SLOT(confirm_how)
{
    const struct res_result_entry *entries[RES_TRIED_MAX];
    const size_t count = res_notes_tried(about->workload, entries);
    const double ran_ns = run_ns_of(about);
    if (count == 0 || !(ran_ns > 0))
        return;
    const uint64_t runs = res_confirm_runs(count,
                                           res_confirm_pairs(count, (uint64_t)ran_ns, RES_CONFIRM_BUDGET_NS));
    if (is_service(about->result, ran_ns))
        say("runs the service itself");
    else if (about->result->asked.cut != NULL)
        say("runs it to its end each time");
    else if (about->result->asked.run_ns > 0 ||
             (about->workload->processes <= 1 && !res_waits(about->workload)))
        say("%s runs of it, %s", FP_GROUPED(runs), RES_DURATION((double)runs * ran_ns));
    else
        say("runs it in pairs");
}

SLOT(confirm_command)
{
    const struct res_result_entry *entries[RES_TRIED_MAX];
    const char *names[RES_TRIED_MAX];
    const size_t count = res_notes_tried(about->workload, entries);
    const double ran_ns = run_ns_of(about);
    for (size_t i = 0; i < count; i++)
        names[i] = entries[i]->name;
    if (about->result->confirmation == NULL && count > 0 && ran_ns > 0 && ran_ns < 1e15)
        add_command(words, about->result, names, count, ran_ns);
}
