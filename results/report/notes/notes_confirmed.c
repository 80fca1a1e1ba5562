/* notes_confirmed.c - what the program itself showed, and what was withdrawn for it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/words.h"
#include "results/measure/base/figure_words.h"
#include "results/measure/base/shell_line.h"
#include "results/measure/confirm/confirming.h"
#include "results/measure/figures/held.h"
#include "results/measure/figures/verdict.h"
#include "results/measure/statistics/statistics.h"
#include "results/report/notes/notes.h"
#include "results/report/notes/noting.h"

#define OPEN_MAX 16u /* candidates that a command names */

/* ---- words ----------------------------------------------------------------------------------- */

/* "51.2 % more": the number that the table has, in words. */
static void say_percent(struct res_noting *to, double ratio)
{
    const double percent = 100 * fabs(ratio - 1);
    say(to, "%.*f %% %s", percent < 99.95, percent, ratio < 1 ? "less" : "more");
}

static bool is_shown(int verdict)
{
    return verdict == RES_LESS || verdict == RES_MORE;
}

/* "169 ms instead of 114 ms (51.2 % more, 39.1 to 64.4)": medians of the table, and the ratio of the pairs. */
static void say_time(struct res_noting *to, const struct res_confirmed *one,
                     const struct res_confirmed *control)
{
    const struct res_confirmed_figure *time = &one->time;
    const double own_ns = time->own_count > 0 ? res_median(time->own, time->own_count) : NAN,
                 sign = time->ratio < 1 ? -100 : 100, low = sign * (time->interval.low - 1),
                 high = sign * (time->interval.high - 1);
    const bool both = isfinite(own_ns) && isfinite(control->time.baseline_median);
    if (both)
        say(to, "%s instead of %s (", RES_DURATION(own_ns), RES_DURATION(control->time.baseline_median));
    say_percent(to, time->ratio);
    if (isfinite(low) && isfinite(high))
        say(to, ", %.1f to %.1f", fmin(low, high), fmax(low, high));
    say(to, "%s", both ? ")" : "");
}

/* What its runs would have shown; NAN: there are too few to know. */
static double resolution_of(const struct res_confirmed *one, const struct res_confirmed *control)
{
    const struct res_interval own = one->time.interval, noise = control->time.interval;
    if (!isfinite(noise.high - noise.low))
        return NAN;
    const double strays = fmax((noise.high - noise.low) / 2, fabs(control->time.ratio - 1));
    return isfinite(own.high - own.low) ? fmax((own.high - own.low) / 2, strays) : NAN;
}

static const struct res_confirmed *control_of(const struct res_result *result)
{
    for (size_t i = 0; i < result->confirmed_count; i++)
        if (result->confirmed[i].is_control)
            return &result->confirmed[i];
    return NULL;
}

static void say_resolution(struct res_noting *to, double resolution)
{
    say(to, "its runs resolve %.*f %%", resolution < 0.00995, 100 * resolution);
}

static void say_not_shown(struct res_noting *to, const struct res_confirmed *one,
                          const struct res_confirmed *control)
{
    const double resolution = resolution_of(one, control);
    const bool few = one->runs < RES_ROUNDS_FOR_VERDICT, known = isfinite(resolution);
    say(to, "not shown%s", few || known ? " (" : "");
    if (few)
        say(to, "%s of %u pairs of runs that a verdict takes%s",
            one->runs == 0 ? "none" : FP_GROUPED(one->runs), RES_ROUNDS_FOR_VERDICT, known ? ", " : "");
    if (known)
        say_resolution(to, resolution);
    say(to, "%s", few || known ? ")" : "");
}

/* "; memory 18.7 MB instead of 13.2 (41.7 % more)" */
static void say_peak(struct res_noting *to, const struct res_confirmed *one)
{
    const struct res_result *result = to->result;
    const double baseline = res_confirmed_baseline_bytes(result->confirmed, result->confirmed_count);
    const struct res_bytes_unit unit = res_bytes_unit_of(fmax(one->peak_bytes, baseline));
    if (!isfinite(one->peak_bytes))
        return;
    say(to, "; memory %s %s instead of %s (", RES_IN_UNIT(one->peak_bytes, unit), unit.name,
        RES_IN_UNIT(baseline, unit));
    if (is_shown(one->peak_verdict) && isfinite(one->peak.ratio))
        say_percent(to, one->peak.ratio);
    else
        say(to, "no difference shown");
    say(to, ")");
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
    if (one->failed != NULL) {
        say(to, "%s failed: %s", one->candidate, one->failed);
        return;
    }
    say(to, "%s: time ", one->candidate);
    if (is_shown(one->time_verdict))
        say_time(to, one, control);
    else
        say_not_shown(to, one, control);
    say_peak(to, one);
    say_withdrawn(to, one);
}

/* ---- commands to run ------------------------------------------------------------------------- */

/* A name that a shell takes as it is: a result is a file from anywhere. */
static bool is_plain(const char *name)
{
    return name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+=:/@%-")] ==
           '\0';
}

/* A recording that lasted longer is of a service. */
#define COMMAND_MOST_NS 600e9

static bool is_service(const struct res_result *result, double run_ns)
{
    const struct res_asked *asked = &result->asked;
    bool is_service = asked->service != NULL || run_ns > COMMAND_MOST_NS;
    for (size_t i = 0; i < result->workload_count; i++) /* Ctrl-C ends who computes, too */
        is_service = is_service || (asked->cut != NULL ? res_waits(&result->workloads[i])
                                                       : res_is_service(&result->workloads[i]));
    return is_service;
}

/* What the service's own runs took, without its lines: a file is from anywhere, and names nothing to paste. */
static void add_service(struct res_text *line, const struct res_confirmation *about)
{
    res_text_printf(line, " --start LINE%s --load LINE%s", about->ready != NULL ? " --ready LINE" : "",
                    about->stop != NULL ? " --stop LINE" : "");
}

/* "mallab confirm -n 20 -a glibc,mimalloc -- make". pairs 0: as many as its time holds. The caller's to free; NULL where a name is
 * none that can be pasted. */
static char *confirm_command(const struct res_result *result, const char *const *names, size_t count,
                             uint64_t pairs, double run_ns)
{
    const struct res_asked *asked = &result->asked;
    struct res_text line = {0};
    bool plain = is_plain(result->baseline);
    for (size_t i = 0; i < count; i++)
        plain = plain && is_plain(names[i]);
    if (!plain)
        return NULL;
    res_text_printf(&line, "mallab confirm");
    if (pairs > 0)
        res_text_printf(&line, " -n %llu", (unsigned long long)pairs);
    if (strcmp(result->baseline, "glibc") != 0)
        res_text_printf(&line, " -b %s", result->baseline);
    res_text_printf(&line, " -a %s", result->baseline);
    for (size_t i = 0; i < count; i++)
        res_text_printf(&line, ",%s", names[i]);
    if (asked->service != NULL) {
        res_text_printf(&line, " %s", asked->service);
    } else if (result->confirmation != NULL && result->confirmation->start != NULL) {
        add_service(&line, result->confirmation);
    } else if (is_service(result, run_ns)) {
        res_text_printf(&line, " --start");
        res_shell_word(&line, asked->command != NULL ? asked->command : "LINE");
        res_text_printf(&line, " --load LINE");
    } else {
        res_text_printf(&line, " -- %s", asked->command != NULL ? asked->command : "COMMAND");
    }
    return line.text;
}

static void say_runs(struct res_noting *to, size_t count, uint64_t pairs, double run_ns)
{
    const uint64_t runs = res_confirm_runs(count, pairs);
    say(to, "%s runs of it, %s", FP_GROUPED(runs), RES_DURATION((double)runs * run_ns));
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
    if (result->asked.not_confirmed != NULL && to->workload != NULL)
        say(to, "not confirmed: %s", result->asked.not_confirmed);
    if (!is_told_here(to) || control == NULL)
        return;
    const bool is_alone = result->workload_count == 0;
    if (control->failed != NULL) {
        say(to, "%s%s failed: %s", is_alone ? "" : "not confirmed: ", control->candidate, control->failed);
        return;
    }
    for (size_t i = 0; i < result->confirmed_count; i++) {
        const struct res_confirmed *one = &result->confirmed[i];
        if (one->is_control)
            continue;
        say(to, "%s", i == 0 && !is_alone ? "in the program itself: " : "");
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
    say(to, "the program ran %s time%s in %s%s; user and system time by %s", FP_GROUPED(about->runs),
        about->runs == 1 ? "" : "s", RES_DURATION(fmax(about->elapsed_ns, 0)),
        about->stopped ? ", when it was stopped" : "", BY[about->timed_by]);
    if (isfinite(control->time.interval.low))
        say(to, "; %s against itself %s %s", control->candidate, RES_PERCENT(control->time.ratio),
            RES_INTERVAL(control->time.interval.low, control->time.interval.high));
}

#define DIFFERS_BY 1.1 /* the most over the least peak of runs that do the same; less is scheduling */

/* One recording cannot know. The recorded run counts where it is of what ran again: one process, on the baseline. */
static void note_differs(struct res_noting *to)
{
    const struct res_result_workload *workload = to->workload;
    const struct res_confirmed_figure *runs = to->result->confirmed_count > 1 ? &to->result->confirmed[0].peak
                                                                              : NULL;
    if (!is_told_here(to) || runs == NULL || runs->baseline_count == 0)
        return;
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < runs->baseline_count; i++) {
        least = fmin(least, runs->baseline[i]);
        most = fmax(most, runs->baseline[i]);
    }
    if (workload != NULL && workload->processes <= 1 && res_whole_process(workload) != NULL &&
        workload->runs_on != NULL && workload->runs_on->name != NULL &&
        strcmp(workload->runs_on->name, to->result->baseline) == 0 && workload->process->rss_peak_bytes > 0) {
        least = fmin(least, workload->process->rss_peak_bytes);
        most = fmax(most, workload->process->rss_peak_bytes);
    }
    const struct res_bytes_unit unit = res_bytes_unit_of(most);
    if (most > DIFFERS_BY * least && most - least > RES_LITTLE_BYTES)
        say(to, "the program's memory differs from run to run by %.0f %% (peaks of %s to %s %s under %s)",
            100 * (most / least - 1), RES_IN_UNIT(least, unit), RES_IN_UNIT(most, unit), unit.name,
            to->result->baseline);
}

static void note_verdict(struct res_noting *to)
{
    if (to->result->workload_count == 0)
        note_shown(to);
}

static void note_shown_beside(struct res_noting *to)
{
    if (to->result->workload_count > 0)
        note_shown(to);
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

/* ---- what would decide ----------------------------------------------------------------------- */

#define PATIENCE_NS 900e9 /* a longer time is not advised but for the least that a verdict takes */
#define PAIRS_MAX   1000u /* of -n */

/* Those of which no verdict on time is there, or one that its runs could not have told from nothing. */
struct open {
    const char *names[OPEN_MAX];
    size_t count;
    bool too_few;
    double spread; /* of one pair, of the widest (resolved_by); NAN: not known */
};

/* What so many pairs resolve that are spread by 1: Student's range of what a trimmed mean keeps of them. */
static double resolved_by(uint64_t pairs)
{
    const uint64_t kept = pairs - 2 * (pairs / 5);
    return kept > 1 ? res_student_quantile((size_t)kept - 1) / sqrt((double)pairs) : NAN;
}

static struct open open_of(const struct res_result *result, const struct res_confirmed *control)
{
    struct open open = {.count = 0, .spread = 0};
    for (size_t i = 0; i < result->confirmed_count && open.count < OPEN_MAX; i++) {
        const struct res_confirmed *one = &result->confirmed[i];
        if (one->is_control || one->failed != NULL || is_shown(one->time_verdict))
            continue;
        const double spread = resolution_of(one, control) / resolved_by(one->runs);
        open.names[open.count++] = one->candidate;
        open.too_few = open.too_few || one->runs < RES_ROUNDS_FOR_VERDICT;
        open.spread = isnan(spread) || isnan(open.spread) ? NAN : fmax(open.spread, spread);
    }
    return open;
}

/* How many pairs would resolve such a difference, as far as there is time for them; those of a verdict are always worth it. */
static uint64_t pairs_for(const struct open *open, double width, double run_ns)
{
    uint64_t pairs = RES_ROUNDS_FOR_VERDICT;
    while (pairs < PAIRS_MAX && (double)res_confirm_runs(open->count, pairs + 1) * run_ns <= PATIENCE_NS &&
           open->spread * resolved_by(pairs) > width)
        pairs++;
    return pairs;
}

static void note_decides(struct res_noting *to)
{
    const struct res_result *result = to->result;
    const struct res_confirmed *control = control_of(result);
    if (!is_told_here(to) || control == NULL || control->failed != NULL)
        return;
    const struct open open = open_of(result, control);
    static const double WIDTHS[] = {0.02, 0.05,
                                    0.1}; /* that a user could want, the least there is time for */
    const double run_ns = result->confirmation->run_ns;
    if (open.count == 0 || !(run_ns > 0) || !(run_ns < 1e15))
        return;
    double resolved = NAN;
    uint64_t pairs = 0;
    for (size_t i = 0; i < sizeof WIDTHS / sizeof WIDTHS[0] && (pairs == 0 || resolved > WIDTHS[i - 1]);
         i++) {
        pairs = pairs_for(&open, WIDTHS[i], run_ns);
        resolved = open.spread * resolved_by(pairs);
    }
    if (resolved > WIDTHS[sizeof WIDTHS / sizeof WIDTHS[0] - 1]) {
        say(to,
            "no number of runs: the program's own spread hides what an allocator could do (%s of them "
            "resolve %.0f %%)",
            FP_GROUPED(res_confirm_runs(open.count, pairs)), 100 * resolved);
        return;
    }
    if (!open.too_few && !((double)pairs > 1.25 * (double)control->runs)) /* those that ran did as well */
        return;
    char *command = confirm_command(result, open.names, open.count, pairs, run_ns);
    if (command == NULL)
        return;
    say_runs(to, open.count, pairs, run_ns);
    if (resolved > 0)
        say(to, ", to resolve %.*f %%", resolved < 0.00995, 100 * resolved);
    res_note_end_with(to, command);
}

/* ---- whom it reaches ------------------------------------------------------------------------- */

/* What is preloaded into a command is in all that it starts, and the figures may be of one process. */
static void note_covers(struct res_noting *to)
{
    const struct res_result_workload *workload = to->workload;
    const struct res_result_entry *entries[RES_TRIED_MAX];
    if (workload == NULL)
        return;
    const uint64_t compared = workload->group_processes > 0 ? workload->group_processes : 1;
    const size_t count = workload->processes > compared ? res_notes_tried(to->result, workload, entries) : 0;
    const double baseline_bytes = res_held_start(&workload->candidates[0]);
    if (count > 0)
        say(to, "all %s processes, of which %s %s compared", FP_GROUPED(workload->processes),
            FP_GROUPED(compared), compared == 1 ? "is" : "are");
    for (size_t i = 0; i < count; i++) {
        const double more_ns = entries[i]->start.more_cpu_ns,
                     more_bytes = res_held_start(entries[i]) - baseline_bytes;
        if (isfinite(more_ns) && more_ns > 0)
            say(to, "; each start costs %s %s%s%s more", entries[i]->name, RES_DURATION(more_ns),
                more_bytes > 0 ? " and " : "", more_bytes > 0 ? FP_BYTES(more_bytes) : "");
    }
}

const struct res_note_row RES_CONFIRMED_ROWS[] = {
    {"covers", RES_NOTE_INFO, RES_TOLD_ALWAYS, .make = note_covers},
    {RES_VERDICT_LABEL, RES_NOTE_ADVICE, RES_TOLD_ALWAYS, .make = note_verdict},
    {"shown", RES_NOTE_ADVICE, RES_TOLD_ALWAYS, .make = note_shown_beside},
    {"differs", RES_NOTE_WARNING, RES_TOLD_ALWAYS, .make = note_differs},
    {"decides", RES_NOTE_INFO, RES_TOLD_ALWAYS, .make = note_decides},
    {"runs", RES_NOTE_INFO, RES_TOLD_ALWAYS, .make = note_runs_alone},
    {"runs", RES_NOTE_INFO, RES_TOLD_DETAILS, .make = note_runs_beside},
    {0},
};

/* ---- what would confirm ---------------------------------------------------------------------- */

static void note_confirm(struct res_noting *to)
{
    const struct res_result *result = to->result;
    const struct res_result_workload *workload = to->workload;
    const struct res_result_entry *entries[RES_TRIED_MAX];
    const char *names[RES_TRIED_MAX];
    const size_t count = res_notes_tried(result, workload, entries);
    const struct res_asked *asked = &result->asked;
    const double ran_ns = asked->run_ns > 0 ? asked->run_ns
                          : workload->process != NULL && workload->process->ran_ns > 0
                              ? workload->process->ran_ns
                              : (double)workload->duration_ns;
    for (size_t i = 0; i < count; i++)
        names[i] = entries[i]->name;
    if (result->confirmation != NULL || count == 0 || !(ran_ns > 0) || !(ran_ns < 1e15))
        return;
    char *command = confirm_command(result, names, count, 0, ran_ns);
    if (command == NULL)
        return;
    if (is_service(result, ran_ns))
        say(to, "runs the service itself");
    else if (asked->cut != NULL)
        say(to, "each run to its end");
    else if (asked->run_ns > 0 || (workload->processes <= 1 && !res_waits(workload)))
        say_runs(to, count, res_confirm_pairs(count, (uint64_t)ran_ns, RES_CONFIRM_BUDGET_NS), ran_ns);
    else /* what one process took, and waited, is not what a run takes */
        say(to, "in pairs");
    if (!is_service(result, ran_ns) && asked->command == NULL && res_may_be_service(workload))
        say(to, "; a service: --start LINE --load LINE");
    res_note_end_with(to, command);
}

const struct res_note_row RES_CONFIRM_ROWS[] = {
    {"confirm", RES_NOTE_INFO, RES_TOLD_ALWAYS, .make = note_confirm},
    {0},
};
