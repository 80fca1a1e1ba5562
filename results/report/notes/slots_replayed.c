/* slots_replayed.c - the words of slots about replays: what was replayed, rounds, noise, single calls, the machine. */
#include <stdlib.h>
#include <string.h>

#include "footprint/base/words.h"
#include "results/report/notes/notes.h"

#define FEW_OPS 20000 /* an allocator's first calls take some 100 us: here 5 ns of each */
#define NOISY   0.2   /* what a run could show at least; more is told as noise */
/* The number of objects freed unseen from which they are a part of the program, and no accident: each of php's extensions makes some. */
#define UNSEEN 5

void res_name_list(struct res_text *words, const char *name, size_t at, size_t count)
{
    say("%s%s", at == 0 ? "" : at + 1 == count ? " and " : ", ", name);
}

/* ---- what is replayed ------------------------------------------------------------------------ */

static const char *cut_of(const struct res_about *about)
{
    return about->workload == about->result->workloads ? about->result->asked.cut : NULL;
}

SLOT_WORD(baseline, about->result->baseline)
SLOT_WORD(entry, about->entry->name)
SLOT_WORD(failed, about->entry->failed)
SLOT_WORD(cut, cut_of(about))
SLOT_WORD(cut_alone, about->workload->complete ? cut_of(about) : NULL)
SLOT_IF(incomplete, !about->workload->complete, "%s",
        about->workload->incomplete_why != NULL ? about->workload->incomplete_why : "not known why")
SLOT_IF(removed, about->workload->removed_calls > 0, "%s", FP_GROUPED(about->workload->removed_calls))
SLOT_IF(left_out, about->workload->left_out_calls > 0, "%s", FP_GROUPED(about->workload->left_out_calls))

SLOT(lost)
{
    const struct res_result_workload *workload = about->workload;
    const char *why = workload->incomplete_why;
    if (workload->lost_calls > 0 && (why == NULL || strstr(why, "lost") == NULL))
        say("%s%s", workload->lost_known ? "" : "at least ", FP_GROUPED(workload->lost_calls));
    else if (workload->lost_calls == 0 && !workload->lost_known)
        say("an unknown number of");
}

SLOT(few_calls)
{
    const struct res_result_workload *workload = about->workload;
    const uint64_t made_before = workload->inherited_ops < workload->ops ? workload->inherited_ops
                                                                         : workload->ops;
    const uint64_t calls = workload->ops - made_before;
    if (calls < FEW_OPS)
        say("%s call%s", FP_GROUPED(calls), calls == 1 ? " is" : "s are");
}

static bool is_deepbound(const struct res_result_workload *workload)
{
    return workload->runs_on != NULL && workload->runs_on->how != NULL &&
           strcmp(workload->runs_on->how, "deepbind") == 0;
}

bool res_is_past_preloads(const struct res_result_workload *workload)
{
    return (workload->complete && res_count_told(workload->unseen_frees) >= UNSEEN) || is_deepbound(workload);
}

SLOT_IF(unseen, res_is_past_preloads(about->workload), "%s",
        is_deepbound(about->workload) ? "some libraries'" : FP_GROUPED(about->workload->unseen_frees))

/* Settings of which nothing tells whether the allocator heeded them: a row may be that of its default. */
SLOT(unproven)
{
    json_t *settings = about->entry->run_count > 0 ? about->entry->runs[0].settings : NULL, *setting;
    const char *key, *comma = "";
    json_object_foreach(settings, key, setting)
    {
        const char *from = json_string_value(json_object_get(setting, "from"));
        if (from == NULL || strcmp(from, "nobody") != 0)
            continue;
        char *plain = res_text_plain(key);
        say("%s%s", comma, plain);
        free(plain);
        comma = ", ";
    }
}

/* ---- growth ---------------------------------------------------------------------------------- */

/* Growth of the program as it ran; bytes 0: it is not shown. */
static struct res_growth grew(const struct res_about *about)
{
    const struct res_process *process = res_whole_process(about->workload);
    return process != NULL && process->growth.bytes > 0 ? process->growth : (struct res_growth){0, 0, 0};
}

SLOT_IF(grew, grew(about).bytes > 0, "%.3g", grew(about).bytes / 1e6)
SLOT_IF(grew_range, grew(about).bytes > 0, "%.3g to %.3g", grew(about).low / 1e6, grew(about).high / 1e6)

/* It looks at all candidates: one that grows is enough, or the program. */
SLOT(growing)
{
    const struct res_result_workload *workload = about->workload;
    const char *comma = "";
    double most = grew(about).bytes;
    for (size_t i = 0; i < workload->candidate_count; i++)
        most = fmax(most, workload->candidates[i].figures.growth.bytes);
    for (size_t i = 0; i < workload->candidate_count && most > 0; i++) {
        const double bytes = workload->candidates[i].figures.growth.bytes;
        if (isfinite(bytes))
            say("%s%s %.3g", comma, workload->candidates[i].name, bytes / 1e6);
        comma = ", ";
    }
}

SLOT_IF(leaking, res_baseline_entry(about)->figures.live_growth.bytes > 0, "%s",
        FP_BYTES(res_baseline_entry(about)->figures.live_growth.bytes))

/* ---- rounds ---------------------------------------------------------------------------------- */

static bool is_stopped_by(const struct res_about *about, enum res_ended what)
{
    return about->workload->stopped_by == (int)what;
}

static void add_rounds(struct res_text *words, uint64_t rounds)
{
    say("%s round%s", FP_GROUPED(rounds), rounds == 1 ? "" : "s");
}

SLOT_DO(rounds, add_rounds(words, about->workload->rounds))
SLOT(rounds_few)
{
    if (res_few_rounds(about) && about->workload->rounds >= RES_ROUNDS_FOR_MEMORY)
        add_rounds(words, about->workload->rounds);
}
SLOT_IF(rounds_needed, true, "%u", RES_ROUNDS_FOR_VERDICT)
/* The budget needed includes the warm-up, and the passes for memory. */
SLOT_IF(budget_needed, is_stopped_by(about, RES_ENDED_TIME_BUDGET) && about->workload->rounds > 0, "%.0fs",
        ceil(fmax(about->workload->stopped_elapsed_ns, 0) / (double)(about->workload->rounds + 1) *
             (RES_ROUNDS_FOR_VERDICT + RES_ROUNDS_FOR_MEMORY) / 1e9))
SLOT_DO(memory_rounds, add_rounds(words, res_baseline_entry(about)->resident_rounds))
SLOT_IF(memory_rounds_needed, true, "%u", res_rounds_for_memory(about->workload))
SLOT_IF(seed, true, "%llu", (unsigned long long)about->result->seed)
SLOT_IF(one_thread, about->result->one_thread && about->workload->threads > 1, "%s",
        FP_GROUPED(about->workload->threads))

/* ---- processors, where there are threads to share them ---- */

static double cpus_asked(const struct res_about *about)
{
    return (double)res_count_told(about->result->processors_asked);
}

/* 0: it is not known. */
static double cpus_there(const struct res_about *about)
{
    const struct res_process *process = about->workload->process;
    return process != NULL ? (double)res_count_told(process->machine.affinity) : 0;
}

static bool are_theirs(const struct res_about *about)
{
    return about->workload->threads > 1 && !about->result->one_thread && cpus_asked(about) < 1;
}

SLOT_IF(cpus_asked, cpus_asked(about) > 0, "%.0f", cpus_asked(about))
SLOT_IF(cpus_there, cpus_there(about) > 0, "%.0f", cpus_there(about))
SLOT_IF(cpus_other,
        are_theirs(about) && cpus_there(about) > 0 &&
            fabs(cpus_there(about) - about->result->machine.cpus) > 0,
        "%.0f", cpus_there(about))
SLOT_IF(cpus_unknown, are_theirs(about) && cpus_there(about) < 1 && about->result->machine.cpus > 0, "%.0f",
        about->result->machine.cpus)

static uint64_t asked_of(const struct res_about *about)
{
    return is_stopped_by(about, RES_ENDED_INTERRUPT)                   ? about->workload->stopped_rounds_max
           : about->result->stopped && about->workload->stopped_by < 0 ? about->result->rounds_asked
                                                                       : 0;
}

SLOT(interrupted)
{
    if (asked_of(about) > 0) {
        say("interrupted after ");
        add_rounds(words, about->workload->rounds);
    }
}
SLOT_IF(stopped_asked, asked_of(about) > 0, "%s", FP_GROUPED(asked_of(about)))

SLOT(harness)
{
    const struct res_result_entry *floor = about->workload->floor;
    if (floor == NULL || floor->failed != NULL)
        say("the harness' own time is still in the figures (%s)",
            floor != NULL ? floor->failed : "mallab-replay-none is not there");
    else
        say("the harness' own %s ns per op are subtracted", RES_NS(floor->figures.steady_ns_per_op));
}

/* ---- noise ----------------------------------------------------------------------------------- */

bool res_control_held(const struct res_about *about)
{
    return about->workload->control.failed == NULL;
}

/* A baseline that failed leaves its second run no chance either. */
SLOT_WORD(control_failed, res_baseline_entry(about)->failed == NULL ? about->workload->control.failed : NULL)
/* Noise does not hide a difference that shows all the same. */
static bool is_too_noisy(const struct res_about *about)
{
    const struct res_program_verdict *verdict = about->workload->verdict;
    return about->workload->good_for >= NOISY && verdict != NULL && verdict->time.kind != RES_ANSWER_TAKE &&
           verdict->time.kind != RES_ANSWER_UNDECIDED && verdict->time.kind != RES_ANSWER_ALL_WORSE;
}

SLOT_IF(good_for, about->workload->good_for > 0 && !is_too_noisy(about), "%.*f %%",
        about->workload->good_for < 0.0995, 100 * fmax(about->workload->good_for, 0.001))
SLOT_IF(good_for_much, is_too_noisy(about), "%.0f %%", 100 * about->workload->good_for)

bool res_few_rounds(const struct res_about *about)
{
    return about->workload->rounds < RES_ROUNDS_FOR_VERDICT;
}

/* The next round size that is out of reach yet: errors shrink as the root of the rounds. NAN: none is. */
static double finer_than(const struct res_result_workload *workload)
{
    static const double SIZES[] = {0.1, 0.05, 0.03, 0.02, 0.01, 0.005};
    for (size_t i = 0; i < sizeof SIZES / sizeof SIZES[0] && workload->stopped_elapsed_ns > 0; i++)
        if (SIZES[i] <= 0.7 * workload->good_for)
            return SIZES[i];
    return NAN;
}

SLOT_IF(finer, isfinite(finer_than(about->workload)), "%.3g%%", 100 * finer_than(about->workload))
SLOT_IF(finer_time, true, "%s",
        RES_DURATION(about->workload->stopped_elapsed_ns *(
            2 * pow(about->workload->good_for / finer_than(about->workload), 2) -
            1))) /* of --decide, for two */

SLOT(noise_time)
{
    const struct res_difference *time = &about->workload->control.figures.time;
    const char *interval = RES_INTERVAL(time->interval.low, time->interval.high);
    say("%s%s%s",
        isfinite(time->ratio) ? RES_PERCENT(time->ratio) : "not known (the harness' own time hides it)",
        interval[0] != '\0' ? " " : "", interval);
}
SLOT_IF(noise_peak, true, "%s", RES_PERCENT(about->workload->control.figures.peak.ratio))
SLOT_IF(noise_large, about->workload->control.figures.time.verdict >= RES_LESS,
        "more than chance: this machine was not quiet")

/* The worst disturbance gets one line, the rest is told with details. */
SLOT(disturbed_by)
{
    static const char *const KINDS[] = {"steal", "others", "host", "pressure", "swapping", "memory"};
    for (size_t kind = 0; kind < sizeof KINDS / sizeof KINDS[0]; kind++) {
        for (size_t i = about->result->disturbance_count; i > 0; i--) {
            const struct res_disturbance *one = &about->result->disturbances[i - 1];
            if (one->kind == NULL || one->text == NULL || strcmp(one->kind, KINDS[kind]) != 0)
                continue;
            say("%s", one->text);
            return;
        }
    }
}

/* ---- things in turn -------------------------------------------------------------------------- */

bool res_each_candidate(struct res_about *about)
{
    const bool is_one = about->at < about->workload->candidate_count;
    about->entry = is_one ? &about->workload->candidates[about->at] : NULL;
    return is_one;
}

bool res_each_disturbance(struct res_about *about)
{
    return about->at < about->result->disturbance_count;
}

bool res_each_missing(struct res_about *about)
{
    return about->at < about->result->missing_count;
}

/* The same may have been seen before the runs and after: the last one tells it. */
SLOT(disturbance)
{
    const struct res_result *result = about->result;
    const struct res_disturbance *one = &result->disturbances[about->at];
    for (size_t later = about->at + 1; later < result->disturbance_count; later++)
        if (one->kind != NULL && result->disturbances[later].kind != NULL &&
            strcmp(one->kind, result->disturbances[later].kind) == 0)
            return;
    if (one->text != NULL)
        say("%s", one->text);
}
SLOT_WORD(remedy, about->result->disturbances[about->at].remedy)

static const char *known(const char *word, const char *otherwise)
{
    return word != NULL ? word : otherwise;
}

SLOT_WORD(missing, known(about->result->missing[about->at].name, "?"))
/* The advice says why. */
SLOT(missing_why)
{
    const char *why = known(about->result->missing[about->at].reason, "?"),
               *what = strstr(why, "apt install ");
    say("%s", what != NULL ? what : why);
}

/* ---- the machine ----------------------------------------------------------------------------- */

SLOT_WORD(cpu, known(about->result->machine.cpu, "unknown processor"))
SLOT_IF(cpus, true, "%.0f", fmax(about->result->machine.cpus, 0))
SLOT_IF(ram, true, "%s", FP_BYTES(fmax(about->result->machine.memory_bytes, 0)))
SLOT_IF(virtual, about->result->machine.virtual_machine == 1, "virtual")
SLOT_WORD(kernel, known(about->result->machine.kernel, "?"))
SLOT_WORD(libc, known(about->result->machine.libc, "libc unknown"))
SLOT_WORD(huge_pages, known(about->result->machine.transparent_huge_pages, "unknown"))
SLOT_WORD(governor, known(about->result->machine.governor, "unknown"))
SLOT_IF(load, isfinite(about->result->machine.load_1_minute), "%.1f", about->result->machine.load_1_minute)

/* ---- single calls ---------------------------------------------------------------------------- */

SLOT_IF(group, about->workload->group_processes > 1, "%s", FP_GROUPED(about->workload->group_processes))
SLOT_WORD(latency_failed, about->entry->latency != NULL ? about->entry->latency->unavailable : NULL)
