/* recorded_program.c - the program that was recorded: its usage as a whole, whether it rests, how far it is to be trusted. */
#include <stdlib.h>
#include <string.h>

#include "footprint/base/words.h"
#include "results/measure/figures/figures.h"

#define APART        1.2    /* a replay that has more than so much of the process' is not like it */
#define APART_FAULTS 1000.0 /* and by so many: less is the harness' own touching */
#define APART_BYTES  4e6    /* likewise: the peak of a process is seen now and then only */
#define LACKING      0.01 /* of the calls: with more lost, what the process used is not of the others alone */
#define IDLE_LESS    0.9  /* of the baseline's least; less is no difference worth a word */
#define CPU_RUNS     3u   /* runs of the program that say more than its one recording */
#define TORN_DOWN    0.1  /* live at the end over live at the peak */
/* The least pause without a call: so long, and such a part of the recorded time. On a machine that is shared a run may stand still for less. */
#define IDLE_NS     1e9
#define IDLE_PART   0.1
#define WAITS_PART  0.5 /* of the time that it ran: CPU time of one that waits for others */
#define BRIEF_SHARE 0.2 /* of all calls, by threads of which chance decides how many overlap */

const struct res_result_entry *res_baseline_of(const struct res_result_workload *workload)
{
    return workload->candidate_count > 0 && workload->candidates[0].failed == NULL ? &workload->candidates[0]
                                                                                   : NULL;
}

/* ---- single figures -------------------------------------------------------------------------- */

double res_calls_ns(const struct res_result_workload *workload, const struct res_result_entry *entry)
{
    const double ops = (double)workload->ops - (double)workload->inherited_ops;
    return entry->figures.steady_ns_per_op * ops;
}

const struct res_result_entry *res_recorded_entry(const struct res_result_workload *workload)
{
    const char *name = workload->runs_on != NULL ? workload->runs_on->name : NULL;
    const struct res_result_entry *entry = name != NULL ? res_result_entry_named(workload, name)
                                                        : &workload->candidates[0];
    return entry != NULL && entry->failed == NULL ? entry : NULL;
}

/* The number of images that begin under a candidate and make the calls that were replayed: the calls of others are not known either. */
static double images_of(const struct res_result_workload *workload)
{
    const double share = (double)workload->processes * workload->events_share;
    return workload->live == RES_LIVE_FROM_MIDDLE
               ? 0
               : fmax(fmax(share, (double)workload->group_processes), 1); /* NAN counts for nothing */
}

/* A linked library takes this in each start: it is there under any other, too. */
static double linked_start_ns(const struct res_result_workload *workload,
                              const struct res_result_entry *entry)
{
    const struct res_result_entry *linked = res_linked_entry(workload);
    double least = NAN;
    for (size_t i = 0; i < workload->candidate_count; i++)
        least = fmin(least, workload->candidates[i].start.cpu_ns);
    return linked != NULL && linked != entry && linked->start.cpu_ns > least ? linked->start.cpu_ns - least
                                                                             : 0;
}

double res_starts_more_ns(const struct res_result_workload *workload, const struct res_result_entry *entry)
{
    const double more = entry->start.more_cpu_ns + linked_start_ns(workload, entry) -
                        linked_start_ns(workload, &workload->candidates[0]);
    return isfinite(more) && entry != workload->candidates ? more * images_of(workload) : 0;
}

/* The share of calls that are not replayed, of those that were made; INFINITY: nobody knows how many. */
static double lacking(const struct res_result_workload *workload, uint64_t removed)
{
    const double calls = (double)workload->lost_calls + (double)workload->left_out_calls + (double)removed;
    return workload->complete ? 0 : workload->lost_known ? calls / (calls + (double)workload->ops) : INFINITY;
}

const struct res_process *res_whole_process(const struct res_result_workload *workload)
{
    return lacking(workload, workload->removed_calls) > LACKING ? NULL : workload->process;
}

/* The one reading of its recording. */
static double recorded_cpu_ns(const struct res_result_workload *workload)
{
    const struct res_process *process = res_whole_process(workload);
    const double cpu = process != NULL ? process->cpu_user_ns + process->cpu_system_ns : NAN;
    return cpu >= 1 ? cpu : NAN;
}

/* The control's, which is the baseline; NULL: too few ran, or they have other processes in them. A confirmation is of the first
 * workload. */
static const struct res_confirmed_figure *baseline_runs(const struct res_result *result,
                                                        const struct res_result_workload *workload)
{
    for (size_t i = 0; i < result->confirmed_count; i++) {
        const struct res_confirmed *one = &result->confirmed[i];
        if (one->is_control && one->failed == NULL && one->time.baseline_count >= CPU_RUNS &&
            one->time.baseline_median >= 1 && workload == result->workloads && workload->processes <= 1)
            return &one->time;
    }
    return NULL;
}

struct res_cpu res_process_cpu(const struct res_result *result, const struct res_result_workload *workload)
{
    const struct res_confirmed_figure *runs = baseline_runs(result, workload);
    struct res_cpu cpu = {recorded_cpu_ns(workload), NAN, NAN};
    if (runs == NULL || isnan(cpu.ns))
        return cpu;
    cpu.ns = runs->baseline_median;
    for (size_t i = 0; i < runs->baseline_count; i++) {
        cpu.least_ns = fmin(cpu.least_ns, runs->baseline[i]); /* NAN counts for nothing */
        cpu.most_ns = fmax(cpu.most_ns, runs->baseline[i]);
    }
    return cpu;
}

double res_baseline_cpu_ns(const struct res_result *result, const struct res_result_workload *workload)
{
    const struct res_result_entry *recorded = res_recorded_entry(workload),
                                  *baseline = res_baseline_of(workload);
    return recorded == NULL || baseline == NULL ? NAN
           : recorded == baseline               ? res_process_cpu(result, workload).ns
                                  : res_process_cpu(result, workload).ns + res_calls_ns(workload, baseline) -
                                        res_calls_ns(workload, recorded);
}

/* The part of the program that the baseline's time in calls is. NAN: not known. */
double res_part_of_time(const struct res_result *result, const struct res_result_workload *workload)
{
    return res_calls_ns(workload, &workload->candidates[0]) / res_baseline_cpu_ns(result, workload);
}

double res_rss_peak_of(const struct res_result_workload *workload)
{
    const struct res_process *process = res_whole_process(workload);
    return process != NULL && process->rss_peak_bytes >= 1 ? process->rss_peak_bytes : NAN;
}

/* Its peak as it would be on the baseline. */
double res_baseline_rss_bytes(const struct res_result_workload *workload)
{
    const struct res_result_entry *recorded = res_recorded_entry(workload),
                                  *baseline = res_baseline_of(workload);
    return recorded == NULL || baseline == NULL ? NAN
           : recorded == baseline
               ? res_rss_peak_of(workload)
               : res_rss_peak_of(workload) + baseline->figures.peak_bytes - recorded->figures.peak_bytes;
}

bool res_is_little_memory(const struct res_result_workload *workload, double bytes)
{
    return fabs(bytes) < RES_LITTLE_BYTES && !(fabs(bytes) >= RES_SAVING_WORTH * res_rss_peak_of(workload));
}

/* ---- at rest --------------------------------------------------------------------------------- */

struct pause {
    double ns, live_bytes; /* NAN: not known */
};

/* The longest time between the ends of two windows of calls, or behind the last, and what was live then. */
static struct pause longest_pause(const struct res_result_workload *workload)
{
    const json_t *times = json_object_get(workload->samples, "time_ns");
    const json_t *live = json_object_get(workload->samples, "live_bytes");
    const size_t count = json_array_size(times);
    struct pause longest = {NAN, NAN};
    double before_ns = 0, before_bytes = 0;
    for (size_t i = 0; i <= count && count > 0; i++) {
        const double now_ns = i < count ? json_number_value(json_array_get(times, i))
                                        : (double)workload->duration_ns;
        if (!(now_ns - before_ns <= longest.ns))
            longest = (struct pause){now_ns - before_ns, before_bytes};
        before_ns = now_ns;
        before_bytes = i < json_array_size(live) ? json_number_value(json_array_get(live, i)) : NAN;
    }
    return longest;
}

static bool is_little(const struct res_result_workload *workload, double live_bytes)
{
    return live_bytes >= 0 && workload->live_peak_bytes > 0 &&
           live_bytes < TORN_DOWN * (double)workload->live_peak_bytes;
}

/* Tells whether its recording ends with little of what was live at its peak. */
static bool is_torn_down(const struct res_result_workload *workload)
{
    const struct res_result_entry *first = &workload->candidates[0];
    return is_little(workload, first->run_count > 0 ? first->runs[0].live_end_bytes : NAN);
}

static bool pauses(const struct res_result_workload *workload, const struct pause *pause)
{
    return pause->ns >= fmax(IDLE_NS, IDLE_PART * (double)workload->duration_ns);
}

bool res_is_service(const struct res_result_workload *workload)
{
    const char *ended = workload->process != NULL ? workload->process->ended : NULL;
    return ended != NULL && (strncmp(ended, "signal", 6) == 0 || strcmp(ended, "running") == 0);
}

static bool computes_little(const struct res_result_workload *workload)
{
    const struct res_process *process = workload->process;
    return process != NULL && process->cpu_user_ns + process->cpu_system_ns < WAITS_PART * process->ran_ns;
}

bool res_waits(const struct res_result_workload *workload)
{
    const struct pause pause = longest_pause(workload);
    return pauses(workload, &pause) || computes_little(workload);
}

/* A program that exits has rested if it paused with what it still holds at its end, or waited, and held as little then. */
bool res_rests(const struct res_result_workload *workload)
{
    const struct pause pause = longest_pause(workload);
    if (res_is_service(workload))
        return true;
    return pauses(workload, &pause) &&
           (is_little(workload, pause.live_bytes) ? computes_little(workload) : !is_torn_down(workload));
}

struct extremes {
    double least, most;
};

/* Memory at rest, over the runs of the memory pass; NAN with fewer than a verdict on memory takes, or where one has no figure. */
static struct extremes idle_of(const struct res_result_entry *entry)
{
    struct extremes found = {INFINITY, -INFINITY};
    for (size_t i = 0; i < entry->memory_count; i++) {
        const double idle = entry->memory_runs[i].resident_idle_bytes + res_held_start(entry);
        if (!isfinite(idle))
            return (struct extremes){NAN, NAN};
        found.least = fmin(found.least, idle);
        found.most = fmax(found.most, idle);
    }
    return entry->memory_count < RES_ROUNDS_FOR_MEMORY ? (struct extremes){NAN, NAN} : found;
}

double res_rest_saved(const struct res_result_workload *workload, const struct res_result_entry *entry)
{
    const struct res_result_entry *baseline = res_baseline_of(workload);
    if (baseline == NULL || entry->failed != NULL || !entry->predicted || !baseline->predicted ||
        !res_rests(workload))
        return NAN;
    const struct extremes own = idle_of(entry), base = idle_of(baseline);
    const bool differs = own.most < IDLE_LESS * base.least || IDLE_LESS * own.least > base.most;
    return differs ? baseline->figures.idle_bytes - entry->figures.idle_bytes : NAN;
}

/* ---- trust ----------------------------------------------------------------------------------- */

static bool is_apart(double replayed, double process, double by)
{
    return replayed > APART * process && replayed > process + by;
}

/* The share of its time in calls that an entry waited for others' locks, median of its runs; NAN: not known. */
double res_blocked_share(const struct res_result_workload *workload, const struct res_result_entry *entry)
{
    const double ops = (double)workload->ops - (double)workload->inherited_ops;
    RES_FREED double *samples = res_calloc(entry->run_count + 1, sizeof *samples);
    size_t count = 0;
    for (size_t i = 0; workload->threads > 1 && i < entry->run_count; i++)
        if (isfinite(entry->runs[i].blocked_ns / entry->runs[i].ns_per_op))
            samples[count++] = entry->runs[i].blocked_ns / (entry->runs[i].ns_per_op * ops);
    return count > 0 ? res_median(samples, count) : NAN;
}

char *res_doubt_of_calls(const struct res_result_workload *workload)
{
    const double share = lacking(workload, 0); /* windows that are kept have all of theirs */
    return isinf(share)      ? res_strdup("it is not known how many calls were not recorded")
           : share > LACKING ? res_printf("%s of its calls were not recorded", RES_SHARE(share))
                             : NULL;
}

char *res_doubt_of_time(const struct res_result *result, const struct res_result_workload *workload,
                        const struct res_result_entry *recorded)
{
    const double calls = res_calls_ns(workload, recorded), cpu = res_process_cpu(result, workload).ns;
    const struct res_process *process = res_whole_process(workload);
    if (calls > cpu)
        return res_printf("a replay takes %s, the program took %s", RES_DURATION(calls), RES_DURATION(cpu));
    if (process != NULL && is_apart(recorded->faults_minor, process->faults_minor, APART_FAULTS))
        return res_printf("a replay has %s page faults, the program %s", RES_NUMBER(recorded->faults_minor),
                          RES_NUMBER(process->faults_minor));
    if (res_blocked_share(workload, recorded) > RES_BLOCKED_SHARE)
        return res_printf("calls wait for other threads %.0f %% of their time",
                          100 * res_blocked_share(workload, recorded));
    return NULL;
}

/* The same calls touch more or less memory if pages are of another size. */
char *res_doubt_of_pages(const struct res_machine *here, const struct res_process *process)
{
    const char *there = process != NULL ? fp_huge_pages_name(process->machine.huge_pages) : NULL;
    const double page = process != NULL ? (double)res_count_told(process->machine.page_bytes) : 0;
    if (page > 0 && fabs(page - here->page_bytes) > 0)
        return res_printf("it had pages of %s, here are %s", FP_BYTES(page), FP_BYTES(here->page_bytes));
    if (there == NULL || here->transparent_huge_pages == NULL ||
        (strcmp(there, "always") == 0) == (strcmp(here->transparent_huge_pages, "always") == 0))
        return NULL;
    return res_printf("it had huge pages '%s', here is '%s'", there, here->transparent_huge_pages);
}

char *res_doubt_of_memory(const struct res_result_workload *workload, const struct res_result_entry *recorded)
{
    const struct res_process *process = res_whole_process(workload);
    const double peak = recorded != NULL ? recorded->figures.peak_bytes : NAN;
    const double memory = process == NULL                          ? NAN
                          : isfinite(process->rss_anon_peak_bytes) ? process->rss_anon_peak_bytes
                                                                   : process->rss_peak_bytes;
    if (is_apart(peak, memory, APART_BYTES))
        return res_printf("a replay holds %s, the program held %s", FP_BYTES(peak), FP_BYTES(memory));
    if (process != NULL && process->brief_calls > BRIEF_SHARE * (double)workload->ops)
        return res_printf("threads below 10 ms made %.0f %% of the calls",
                          100 * process->brief_calls / (double)workload->ops);
    return NULL;
}
