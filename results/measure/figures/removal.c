/* removal.c - sums of steady times over pairs of trials, and what memory differs by. */
#include "results/measure/figures/removal.h"

#include <math.h>
#include <stdlib.h>

#include "footprint/base/support.h"
#include "results/measure/figures/run_batches.h"
#include "results/measure/figures/verdict.h"

enum { WITH, WITHOUT, BOTH };

/* What is compared: the workload as it is, and without some sites. */
struct pair {
    const struct res_trial *with, *without; /* of the former RES_REMOVAL_WHOLE, the same twice */
    const struct res_result_workload *workloads[BOTH];
};

/* ---- time ------------------------------------------------------------------------------------ */

/* An entry of the trials, or two that are the same allocator, by number. */
struct measured {
    size_t entries[2], count;
};

#define TERMS_MOST ((RES_REMOVAL_WHOLE + 1) * 3)

/* A sum of net times in calls, of one entry. */
struct sum {
    struct measured of;
    struct res_run_batches batches[TERMS_MOST];
    struct res_steady_term terms[TERMS_MOST];
    size_t count;
};

static void add(struct sum *sum, const struct res_trial *trial, double weight)
{
    for (size_t i = 0; i <= sum->of.count; i++, sum->count++) {
        const bool is_floor = i == sum->of.count;
        const struct res_entry *entry = is_floor ? res_trial_floor(trial)
                                                 : &trial->entries[sum->of.entries[i]];
        struct res_run_batches *batches = &sum->batches[sum->count];
        *batches = entry != NULL && entry->failed == NULL ? res_run_batches_of(entry->runs, entry->run_count)
                                                          : (struct res_run_batches){0};
        sum->terms[sum->count] = (struct res_steady_term){
            &batches->batches, is_floor ? -weight : weight / (double)sum->of.count};
    }
}

static struct res_estimate end(struct sum *sum)
{
    const struct res_estimate found = res_steady_sum(sum->terms, sum->count);
    for (size_t i = 0; i < sum->count; i++)
        res_run_batches_release(&sum->batches[i]);
    return found;
}

/* Of the workload as it is, less that without the sites; that of the former alone where without is NULL. */
static struct res_estimate saved_of(const struct res_trial *with, const struct res_trial *without,
                                    struct measured of)
{
    struct sum sum = {.of = of};
    for (size_t i = 0; i < RES_REMOVAL_WHOLE; i++)
        add(&sum, &with[i], 1.0 / RES_REMOVAL_WHOLE);
    if (without != NULL)
        add(&sum, without, -1);
    return end(&sum);
}

/* What leaving out nothing saves. */
static double spread_of_time(const struct res_trial *with, struct measured of)
{
    struct sum sum = {.of = of};
    add(&sum, &with[0], 1);
    add(&sum, &with[1], -1);
    return fabs(end(&sum).value);
}

static bool time_is_shown(const struct res_removed *removed)
{
    const bool leaves_out_0 = removed->saved_low_ns > 0 || removed->saved_high_ns < 0;
    return leaves_out_0 && fabs(removed->saved_ns) > removed->spread_ns;
}

/* Of the process as it was recorded, where all of it was replayed; NAN: not known. */
static double cpu_of(const struct res_result *result, const struct res_result_workload *with)
{
    return with->selection == NULL ? res_process_cpu(result, with).ns : NAN;
}

/* The baseline's control is the baseline. */
static struct measured measured_of(const struct pair *pair, size_t entry)
{
    const size_t control = pair->with->candidate_count;
    const bool is_twice = entry == 0 && pair->with->entries[control].failed == NULL &&
                          pair->without->entries[control].failed == NULL;
    return (struct measured){{entry, control}, is_twice ? 2 : 1};
}

static void fill_time(const struct pair *pair, size_t entry, const struct res_removal *removal, double cpu_ns,
                      struct res_removed *removed)
{
    const struct measured of = measured_of(pair, entry);
    const struct res_estimate saved = saved_of(pair->with, pair->without, of);
    const double allocations = (double)removal->allocations;
    removed->with_ns = saved_of(pair->with, NULL, of).value;
    removed->without_ns = removed->with_ns - saved.value;
    removed->saved_ns = saved.value;
    if (pair->with->rounds >= RES_ROUNDS_FOR_INTERVAL) {
        removed->saved_low_ns = saved.interval.low;
        removed->saved_high_ns = saved.interval.high;
    }
    removed->spread_ns = spread_of_time(pair->with, of);
    removed->ns_per_allocation = allocations > 0 ? saved.value / allocations : NAN;
    removed->of_calls = saved.value / removed->with_ns;
    removed->of_process = saved.value / cpu_ns;
    removed->time_shown = time_is_shown(removed);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static double spread_of_peak(const struct res_result_workload *workload, const struct res_result_entry *entry)
{
    const double control = fabs(workload->control.figures.peak_bytes -
                                workload->candidates[0].figures.peak_bytes);
    const double own = 2 * entry->figures.peak_deviation;
    return isfinite(control) && control > own ? control : own;
}

static void fill_peak(const struct pair *pair, size_t entry, struct res_removed *removed)
{
    const struct res_result_workload *const *both = pair->workloads;
    const struct res_result_entry *with = &both[WITH]->candidates[entry],
                                  *without = &both[WITHOUT]->candidates[entry];
    removed->with_bytes = with->figures.peak_bytes;
    removed->without_bytes = without->figures.peak_bytes;
    removed->saved_bytes = removed->with_bytes - removed->without_bytes;
    removed->spread_bytes = spread_of_peak(both[WITH], with) + spread_of_peak(both[WITHOUT], without);
    removed->peak_shown = fabs(removed->saved_bytes) > removed->spread_bytes;
}

/* ---- both ------------------------------------------------------------------------------------ */

static uint64_t timed_ops(const struct res_result_workload *workload)
{
    return workload->ops > workload->inherited_ops ? workload->ops - workload->inherited_ops : 0;
}

static char *why_no_time(const struct pair *pair)
{
    const struct res_trial *const all[] = {&pair->with[0], &pair->with[1], pair->without};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        const struct res_entry *floor = res_trial_floor(all[i]);
        if (floor == NULL)
            return res_strdup("there is no mallab-replay-none, whose time is to be subtracted");
        if (floor->failed != NULL)
            return res_printf("the replay without an allocator failed: %s", floor->failed);
    }
    return NULL;
}

/* A candidate's failure in any of them; NULL: it did not fail. */
static const char *failure_of(const struct pair *pair, size_t entry)
{
    const char *first = pair->with[0].entries[entry].failed, *second = pair->with[1].entries[entry].failed;
    return first != NULL ? first : second != NULL ? second : pair->without->entries[entry].failed;
}

static void fill(const struct pair *pair, const struct res_removal_of *of, double cpu_ns,
                 struct res_removal *removal)
{
    const bool has_memory = res_trial_has_memory(pair->with) || pair->with->workload->duration_ns == 0;
    const uint64_t with = timed_ops(pair->workloads[WITH]), without = timed_ops(pair->workloads[WITHOUT]);
    res_described_init(&RES_REMOVAL, removal);
    removal->words = res_text_plain(of->words);
    removal->allocations = of->allocations;
    removal->ops = with > without ? with - without : 0;
    removal->live_peak_bytes = (double)pair->workloads[WITHOUT]->live_peak_bytes;
    removal->time_unavailable = why_no_time(pair);
    removal->candidate_count = pair->workloads[WITH]->candidate_count;
    removal->candidates = res_calloc(removal->candidate_count + 1, sizeof *removal->candidates);
    for (size_t i = 0; i < removal->candidate_count; i++) {
        struct res_removed *removed = &removal->candidates[i];
        const char *failed = failure_of(pair, i);
        res_described_init(&RES_REMOVED, removed);
        removed->name = res_strdup(pair->workloads[WITH]->candidates[i].name);
        removed->failed = failed != NULL ? res_text_plain(failed) : NULL;
        if (failed != NULL)
            continue;
        if (has_memory)
            fill_peak(pair, i, removed);
        fill_time(pair, i, removal, cpu_ns, removed);
    }
}

void res_removals_fill(const struct res_trial *trials, const struct res_removal_of *of,
                       struct res_result *result)
{
    struct res_result_workload *with = &result->workloads[0];
    const double cpu_ns = cpu_of(result, with);
    with->removals = res_calloc(result->workload_count, sizeof *with->removals);
    for (size_t i = 1; i < result->workload_count; i++) {
        const struct pair pair = {trials, &trials[i], {with, &result->workloads[i]}};
        if (i >= RES_REMOVAL_WHOLE)
            fill(&pair, &of[i - RES_REMOVAL_WHOLE], cpu_ns, &with->removals[with->removal_count++]);
        res_described_release(&RES_RESULT_WORKLOAD, &result->workloads[i]);
    }
    result->workload_count = 1;
}

/* What is within noise comes last. */
static double rank_of(const struct res_removal *removal)
{
    const struct res_removed *baseline = removal->candidates;
    return removal->candidate_count > 0 && baseline->time_shown ? baseline->saved_ns : -INFINITY;
}

static int most_first(const void *left, const void *right)
{
    const double a = rank_of(left), b = rank_of(right);
    return (a < b) - (a > b);
}

void res_removals_sort(struct res_result_workload *workload)
{
    if (workload->removal_count > 1)
        qsort(workload->removals, workload->removal_count, sizeof *workload->removals, most_first);
}
