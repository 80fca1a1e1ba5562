/* slots_confirmed.c - the words of slots about the program itself: what its runs showed, and what would decide. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/words.h"
#include "results/measure/base/figure_words.h"
#include "results/measure/base/shell_line.h"
#include "results/measure/confirm/confirming.h"
#include "results/measure/figures/metric.h"
#include "results/measure/statistics/statistics.h"
#include "results/report/notes/notes.h"
#include "results/report/notes/sentences.h"

#define OPEN_MAX 16u /* candidates that a command names */

/* ---- what its runs showed -------------------------------------------------------------------- */

/* With the only workload; of several, and of a program that was not replayed, with all of the result. */
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

/* "51.2 % more": the number that the table has, in words. */
static void add_percent(struct res_text *words, double ratio)
{
    const double percent = 100 * fabs(ratio - 1);
    say("%.*f %% %s", percent < 99.95, percent, ratio < 1 ? "less" : "more");
}

static bool is_shown(int verdict)
{
    return verdict == RES_LESS || verdict == RES_MORE;
}

/* "169 ms instead of 114 ms (51.2 % more, 39.1 to 64.4)": medians of the table, and the ratio of the pairs. */
static void add_time(struct res_text *words, const struct res_confirmed *one,
                     const struct res_confirmed *control)
{
    const struct res_confirmed_figure *time = &one->time;
    const double own_ns = time->own_count > 0 ? res_median(time->own, time->own_count) : NAN,
                 sign = time->ratio < 1 ? -100 : 100, low = sign * (time->interval.low - 1),
                 high = sign * (time->interval.high - 1);
    const bool both = isfinite(own_ns) && isfinite(control->time.baseline_median);
    if (both)
        say("%s instead of %s (", RES_DURATION(own_ns), RES_DURATION(control->time.baseline_median));
    add_percent(words, time->ratio);
    if (isfinite(low) && isfinite(high))
        say(", %.1f to %.1f", fmin(low, high), fmax(low, high));
    say("%s", both ? ")" : "");
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

static void add_resolution(struct res_text *words, double resolution)
{
    say("%.*f %%", resolution < 0.00995, 100 * resolution);
}

/* "not shown (3 of 8 pairs of runs that a verdict takes, its runs resolve 4 %)" */
static void add_not_shown(struct res_text *words, const struct res_confirmed *one,
                          const struct res_confirmed *control)
{
    const double resolution = resolution_of(one, control);
    const bool few = one->runs < RES_ROUNDS_FOR_VERDICT, known = isfinite(resolution);
    say("not shown%s", few || known ? " (" : "");
    if (few)
        say("%s of %u pairs of runs that a verdict takes%s", one->runs == 0 ? "none" : FP_GROUPED(one->runs),
            RES_ROUNDS_FOR_VERDICT, known ? ", " : "");
    if (known) {
        say("its runs resolve ");
        add_resolution(words, resolution);
    }
    say("%s", few || known ? ")" : "");
}

SLOT(one_time)
{
    if (about->one->failed == NULL)
        (is_shown(about->one->time_verdict) ? add_time : add_not_shown)(words, about->one, control_of(about));
}

/* "18.7 MB instead of 13.2 (41.7 % more)" */
SLOT(one_peak)
{
    const struct res_confirmed *one = about->one;
    const double baseline = res_confirmed_baseline_bytes(about->result->confirmed,
                                                         about->result->confirmed_count);
    const struct res_bytes_unit unit = res_bytes_unit_of(fmax(one->peak_bytes, baseline));
    if (!isfinite(one->peak_bytes))
        return;
    say("%s %s instead of %s (", RES_IN_UNIT(one->peak_bytes, unit), unit.name, RES_IN_UNIT(baseline, unit));
    if (is_shown(one->peak_verdict) && isfinite(one->peak.ratio))
        add_percent(words, one->peak.ratio);
    else
        say("no difference shown");
    say(")");
}

/* Of the candidate that an answer names. */
SLOT(resolution)
{
    const struct res_confirmed *one = res_confirmed_named(
        about->result->confirmed, about->result->confirmed_count, about->answer->candidate);
    const struct res_confirmed *control = control_of(about);
    const double resolution = one != NULL && control != NULL ? resolution_of(one, control) : NAN;
    if (isfinite(resolution))
        add_resolution(words, resolution);
}

static const char *timed_by(const struct res_about *about)
{
    static const char *const BY[] = {"hyperfine", "wait4(2)", "/proc and wait4(2)"};
    return BY[about->result->confirmation->timed_by];
}

SLOT(confirm_runs)
{
    const struct res_confirmation *about_runs = about->result->confirmation;
    if (control_of(about) != NULL)
        say("%s time%s in %s%s", FP_GROUPED(about_runs->runs), about_runs->runs == 1 ? "" : "s",
            RES_DURATION(fmax(about_runs->elapsed_ns, 0)),
            about_runs->stopped ? ", when it was stopped" : "");
}
SLOT_WORD(timed_by, timed_by(about))
SLOT(control_range)
{
    const struct res_confirmed_figure *time = &control_of(about)->time;
    if (isfinite(time->interval.low))
        say("%s %s", RES_PERCENT(time->ratio), RES_INTERVAL(time->interval.low, time->interval.high));
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

/* What of the program follows. Of a service that ran, its lines are not named: a file is from anywhere, and names nothing to paste. */
static void add_program(struct res_text *words, const struct res_result *result, double run_ns)
{
    const struct res_asked *asked = &result->asked;
    const struct res_confirmation *ran = result->confirmation;
    if (asked->service != NULL) {
        say(" %s", asked->service);
    } else if (ran != NULL && ran->start != NULL) {
        say(" --start LINE%s --load LINE%s", ran->ready != NULL ? " --ready LINE" : "",
            ran->stop != NULL ? " --stop LINE" : "");
    } else if (is_service(result, run_ns)) {
        say(" --start");
        res_shell_word(words, asked->command != NULL ? asked->command : "LINE");
        say(" --load LINE");
    } else {
        say(" -- %s", asked->command != NULL ? asked->command : "COMMAND");
    }
}

/* "mallab confirm -n 20 -a glibc,mimalloc -- make". pairs 0: as many as its time holds. Nothing where a name is none that can be
 * pasted. */
static void add_command(struct res_text *words, const struct res_result *result, const char *const *names,
                        size_t count, uint64_t pairs, double run_ns)
{
    bool plain = is_plain(result->baseline);
    for (size_t i = 0; i < count; i++)
        plain = plain && is_plain(names[i]);
    if (!plain)
        return;
    say("mallab confirm");
    if (pairs > 0)
        say(" -n %llu", (unsigned long long)pairs);
    if (strcmp(result->baseline, "glibc") != 0)
        say(" -b %s", result->baseline);
    say(" -a %s", result->baseline);
    for (size_t i = 0; i < count; i++)
        say(",%s", names[i]);
    add_program(words, result, run_ns);
}

/* ---- what would decide ----------------------------------------------------------------------- */

#define PATIENCE_NS 900e9 /* a longer time is not advised but for the least that a verdict takes */
#define PAIRS_MAX   1000u /* of -n */

/* Those of which no verdict on time is there, or one that its runs could not have told from nothing; and what would decide of them. */
struct open {
    const char *names[OPEN_MAX];
    size_t count;
    bool too_few;
    double spread; /* of one pair, of the widest (resolved_by); NAN: not known */
    uint64_t pairs;
    double resolution; /* of so many; NAN: not known */
};

/* What so many pairs resolve that are spread by 1: Student's range of what a trimmed mean keeps of them. */
static double resolved_by(uint64_t pairs)
{
    const uint64_t kept = pairs - 2 * (pairs / 5);
    return kept > 1 ? res_student_quantile((size_t)kept - 1) / sqrt((double)pairs) : NAN;
}

static void find_open(const struct res_result *result, const struct res_confirmed *control, struct open *open)
{
    for (size_t i = 0; i < result->confirmed_count && open->count < OPEN_MAX; i++) {
        const struct res_confirmed *one = &result->confirmed[i];
        if (one->is_control || one->failed != NULL || is_shown(one->time_verdict))
            continue;
        const double spread = resolution_of(one, control) / resolved_by(one->runs);
        open->names[open->count++] = one->candidate;
        open->too_few = open->too_few || one->runs < RES_ROUNDS_FOR_VERDICT;
        open->spread = isnan(spread) || isnan(open->spread) ? NAN : fmax(open->spread, spread);
    }
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

/* That a user could want, the least there is time for. */
static const double WIDTHS[] = {0.02, 0.05, 0.1};
#define WIDTH_COUNT (sizeof WIDTHS / sizeof WIDTHS[0])

/* Without names: nothing is to be decided, or not said here. */
static struct open open_of(const struct res_about *about)
{
    const struct res_confirmed *control = sound_control(about);
    struct open open = {.count = 0, .resolution = NAN};
    const double run_ns = control != NULL ? about->result->confirmation->run_ns : NAN;
    if (!(run_ns > 0) || !(run_ns < 1e15))
        return open;
    find_open(about->result, control, &open);
    for (size_t i = 0;
         i < WIDTH_COUNT && (open.pairs == 0 || open.resolution > WIDTHS[i - 1]) && open.count > 0; i++) {
        open.pairs = pairs_for(&open, WIDTHS[i], run_ns);
        open.resolution = open.spread * resolved_by(open.pairs);
    }
    return open;
}

bool res_is_hopeless(const struct res_about *about)
{
    const struct open open = open_of(about);
    return open.count > 0 && open.resolution > WIDTHS[WIDTH_COUNT - 1];
}

/* Not where those that ran did as well. */
bool res_is_decidable(const struct res_about *about)
{
    const struct open open = open_of(about);
    return open.count > 0 && !res_is_hopeless(about) &&
           (open.too_few || (double)open.pairs > 1.25 * (double)sound_control(about)->runs);
}

static uint64_t runs_of(const struct res_about *about)
{
    const struct open open = open_of(about);
    return res_confirm_runs(open.count, open.pairs);
}

SLOT_IF(decide_runs, true, "%s", FP_GROUPED(runs_of(about)))
SLOT_IF(decide_time, true, "%s", RES_DURATION((double)runs_of(about) * about->result->confirmation->run_ns))
SLOT(decide_resolution)
{
    const struct open open = open_of(about);
    if (res_is_hopeless(about))
        say("%.0f %%", 100 * open.resolution);
    else if (open.resolution > 0)
        add_resolution(words, open.resolution);
}
SLOT(decide_command)
{
    const struct open open = open_of(about);
    add_command(words, about->result, open.names, open.count, open.pairs,
                about->result->confirmation->run_ns);
}

/* ---- whom it reaches ------------------------------------------------------------------------- */

static uint64_t compared_of(const struct res_about *about)
{
    return about->workload->group_processes > 0 ? about->workload->group_processes : 1;
}

/* What is preloaded into a command is in all that it starts, and the figures may be of one process. */
SLOT(processes)
{
    const struct res_result_entry *entries[RES_TRIED_MAX];
    if (about->workload->processes > compared_of(about) && res_notes_tried(about->workload, entries) > 0)
        say("%s", FP_GROUPED(about->workload->processes));
}
SLOT_IF(compared, true, "%s %s", FP_GROUPED(compared_of(about)), compared_of(about) == 1 ? "is" : "are")

/* "jemalloc 120 us and 1.2 MB, mimalloc 80 us" */
SLOT(start_costs)
{
    const struct res_result_entry *entries[RES_TRIED_MAX];
    const size_t count = res_notes_tried(about->workload, entries);
    const char *comma = "";
    for (size_t i = 0; i < count; i++) {
        const double more_ns = entries[i]->start.more_cpu_ns,
                     more_bytes = res_held_start(entries[i]) - res_held_start(res_baseline_entry(about));
        if (!isfinite(more_ns) || !(more_ns > 0))
            continue;
        say("%s%s %s%s%s", comma, entries[i]->name, RES_DURATION(more_ns), more_bytes > 0 ? " and " : "",
            more_bytes > 0 ? FP_BYTES(more_bytes) : "");
        comma = ", ";
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

bool res_confirm_service(const struct res_about *about)
{
    return is_service(about->result, run_ns_of(about));
}

bool res_confirm_cut(const struct res_about *about)
{
    return !res_confirm_service(about) && about->result->asked.cut != NULL;
}

bool res_confirm_timed(const struct res_about *about)
{
    return !res_confirm_service(about) && about->result->asked.cut == NULL;
}

SLOT_WORD(or_service, about->result->asked.command == NULL && res_may_be_service(about->workload)
                          ? "a service: --start LINE --load LINE"
                          : NULL)

/* What one process took, and waited, is not what a run takes. */
SLOT(confirm_pairs)
{
    const struct res_result_entry *entries[RES_TRIED_MAX];
    const size_t count = res_notes_tried(about->workload, entries);
    const double ran_ns = run_ns_of(about);
    if (count == 0 || !(ran_ns > 0))
        return;
    const uint64_t runs = res_confirm_runs(count,
                                           res_confirm_pairs(count, (uint64_t)ran_ns, RES_CONFIRM_BUDGET_NS));
    if (about->result->asked.run_ns > 0 || (about->workload->processes <= 1 && !res_waits(about->workload)))
        say("%s runs of it, %s", FP_GROUPED(runs), RES_DURATION((double)runs * ran_ns));
    else
        say("in pairs");
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
        add_command(words, about->result, names, count, 0, ran_ns);
}
