/* removal.c - sums of steady times over two trials, and what memory differs by. */
#include "results/measure/figures/removal.h"

#include <math.h>
#include <stdlib.h>

#include "footprint/base/support.h"
#include "results/measure/figures/run_batches.h"
#include "results/measure/figures/verdict.h"

enum { WITH, WITHOUT, BOTH };

/* ---- time ------------------------------------------------------------------------------------ */

/* An entry of the trials, or two that are the same allocator, by number. */
struct measured {
    size_t entries[2], count;
};

static struct res_run_batches timed_of(const struct res_entry *entry)
{
    return entry != NULL && entry->failed == NULL ? res_run_batches_of(entry->runs, entry->run_count)
                                                  : (struct res_run_batches){0};
}

/* Net time in calls: of the workload as it is, less that without the sites where sides is BOTH. */
static struct res_estimate net_of(const struct res_trial *trials, size_t sides, struct measured of)
{
    struct res_run_batches batches[BOTH * 3];
    struct res_steady_term terms[BOTH * 3];
    size_t count = 0;
    for (size_t side = 0; side < sides; side++) {
        const double sign = side == WITH ? 1 : -1;
        for (size_t i = 0; i <= of.count; i++, count++) {
            const bool is_floor = i == of.count;
            batches[count] = timed_of(is_floor ? res_trial_floor(&trials[side])
                                               : &trials[side].entries[of.entries[i]]);
            terms[count] = (struct res_steady_term){&batches[count].batches,
                                                    is_floor ? -sign : sign / (double)of.count};
        }
    }
    const struct res_estimate found = res_steady_sum(terms, count);
    for (size_t i = 0; i < count; i++)
        res_run_batches_release(&batches[i]);
    return found;
}

static struct res_estimate saved_by(const struct res_trial *trials, size_t entry)
{
    return net_of(trials, BOTH, (struct measured){{entry}, 1});
}

/* NAN: there is no control. */
static double spread_of_time(const struct res_trial *trials)
{
    return fabs(saved_by(trials, 0).value - saved_by(trials, trials[WITH].candidate_count).value);
}

static bool time_is_shown(const struct res_removed *removed)
{
    const bool leaves_out_0 = removed->saved_low_ns > 0 || removed->saved_high_ns < 0;
    return leaves_out_0 && fabs(removed->saved_ns) > removed->spread_ns;
}

/* Of the process as it was recorded, where all of it was replayed; NAN: not known. */
static double cpu_of(const struct res_result *result)
{
    const struct res_result_workload *with = &result->workloads[WITH];
    return with->selection == NULL ? res_process_cpu(result, with).ns : NAN;
}

static void fill_time(const struct res_trial *trials, size_t entry, const struct res_result *result,
                      double spread_ns, struct res_removed *removed)
{
    const size_t control = trials[WITH].candidate_count;
    const struct measured of = {{entry, control}, entry == 0 && isfinite(spread_ns) ? 2 : 1};
    const struct res_estimate saved = net_of(trials, BOTH, of);
    const double ops = (double)result->removal->ops;
    removed->with_ns = net_of(trials, 1, of).value;
    removed->without_ns = removed->with_ns - saved.value;
    removed->saved_ns = saved.value;
    if (trials[WITH].rounds >= RES_ROUNDS_FOR_INTERVAL) {
        removed->saved_low_ns = saved.interval.low;
        removed->saved_high_ns = saved.interval.high;
    }
    removed->spread_ns = spread_ns;
    removed->ns_per_op = ops > 0 ? saved.value / ops : NAN;
    removed->of_calls = saved.value / removed->with_ns;
    removed->of_process = saved.value / cpu_of(result);
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

static void fill_peak(const struct res_result *result, size_t entry, struct res_removed *removed)
{
    const struct res_result_workload *both = result->workloads;
    const struct res_result_entry *with = &both[WITH].candidates[entry],
                                  *without = &both[WITHOUT].candidates[entry];
    removed->with_bytes = with->figures.peak_bytes;
    removed->without_bytes = without->figures.peak_bytes;
    removed->saved_bytes = removed->with_bytes - removed->without_bytes;
    removed->spread_bytes = spread_of_peak(&both[WITH], with) + spread_of_peak(&both[WITHOUT], without);
    removed->peak_shown = fabs(removed->saved_bytes) > removed->spread_bytes;
}

/* ---- both ------------------------------------------------------------------------------------ */

static uint64_t timed_ops(const struct res_result_workload *workload)
{
    return workload->ops > workload->inherited_ops ? workload->ops - workload->inherited_ops : 0;
}

static char *why_no_time(const struct res_trial *trials)
{
    for (size_t i = 0; i < BOTH; i++) {
        const struct res_entry *floor = res_trial_floor(&trials[i]);
        if (floor == NULL)
            return res_strdup("there is no mallab-replay-none, whose time is to be subtracted");
        if (floor->failed != NULL)
            return res_printf("the replay without an allocator failed: %s", floor->failed);
    }
    return NULL;
}

void res_removal_fill(const struct res_trial *trials, const char *words, struct res_result *result)
{
    const struct res_result_workload *both = result->workloads;
    const uint64_t with = timed_ops(&both[WITH]), without = timed_ops(&both[WITHOUT]);
    struct res_removal *removal = res_calloc(1, sizeof *removal);
    const double spread_ns = spread_of_time(trials);
    result->removal = removal;
    removal->words = res_text_plain(words);
    removal->ops = with > without ? with - without : 0;
    removal->time_unavailable = why_no_time(trials);
    removal->candidate_count = both[WITH].candidate_count;
    removal->candidates = res_calloc(removal->candidate_count + 1, sizeof *removal->candidates);
    for (size_t i = 0; i < removal->candidate_count; i++) {
        struct res_removed *removed = &removal->candidates[i];
        const struct res_result_entry *one = &both[WITH].candidates[i];
        const char *failed = one->failed != NULL ? one->failed : both[WITHOUT].candidates[i].failed;
        res_described_init(&RES_REMOVED, removed);
        removed->name = res_strdup(one->name);
        removed->failed = res_strdup(failed);
        if (failed != NULL)
            continue;
        fill_peak(result, i, removed);
        fill_time(trials, i, result, spread_ns, removed);
    }
}
