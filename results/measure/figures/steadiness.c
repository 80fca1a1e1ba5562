/* steadiness.c - drift and outliers of an experiment. */
#include "results/measure/figures/steadiness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/measure/statistics/statistics.h"

#define DRIFT_SIGMAS 3.0

/* Slopes between pairs of rounds: their median is Sen's estimate, the balance of their signs Mann's statistic. Few hundred thousand for
 * 1000 rounds. */
struct res_drift res_drift_of(const double *paces, size_t count)
{
    struct res_drift drift = {.share = NAN};
    size_t pairs = 0;
    double signs = 0;
    if (count < 4)
        return drift;
    double *slopes = res_calloc(count * (count - 1) / 2, sizeof *slopes);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = i + 1; k < count; k++) {
            signs += (paces[k] > paces[i]) - (paces[k] < paces[i]);
            slopes[pairs++] = (paces[k] - paces[i]) / (double)(k - i);
        }
    }
    const double n = (double)count;
    drift.share = res_median(slopes, pairs) * (n - 1);
    drift.significant = fabs(signs) > DRIFT_SIGMAS * sqrt(n * (n - 1) * (2 * n + 5) / 18);
    free(slopes);
    return drift;
}

size_t res_outliers_of(const double *samples, size_t count, size_t *ret_worst)
{
    const double median = count > 0 ? res_median(samples, count) : NAN;
    const double bound = count > 0
                             ? fmax(RES_OUTLIER_DEVIATIONS * 1.4826 * res_median_deviation(samples, count),
                                    RES_OUTLIER_LEAST * fabs(median))
                             : 0;
    size_t outliers = 0;
    double furthest = 0;
    for (size_t i = 0; i < count; i++) {
        const double distance = fabs(samples[i] - median);
        outliers += distance > bound;
        if (distance > bound && distance > furthest) {
            furthest = distance;
            *ret_worst = i;
        }
    }
    return outliers;
}

/* ---- of a trial ----------------------------------------------------------------------------- */

/* Whole-run times of an entry; NULL when it failed or has not run every round. */
static double *times_of(const struct res_trial *trial, const struct res_entry *entry)
{
    if (entry->failed != NULL || entry->run_count != trial->rounds || entry->run_count == 0)
        return NULL;
    double *times = res_calloc(entry->run_count, sizeof *times);
    bool usable = true;
    for (size_t i = 0; i < entry->run_count; i++) {
        times[i] = entry->runs[i].ns_per_op;
        usable = usable && isfinite(times[i]) && times[i] > 0;
    }
    if (usable)
        return times;
    free(times);
    return NULL;
}

static struct res_drift drift_of(const struct res_trial *trial, double *const *times)
{
    double *paces = res_calloc(trial->rounds, sizeof *paces);
    double *shares = res_calloc(trial->entry_count, sizeof *shares);
    size_t entries = 0;
    for (size_t round = 0; round < trial->rounds; round++) {
        entries = 0;
        for (size_t i = 0; i < trial->entry_count; i++)
            if (times[i] != NULL)
                shares[entries++] = times[i][round] / res_median(times[i], trial->rounds) - 1;
        paces[round] = entries > 0 ? res_median(shares, entries) : 0;
    }
    const struct res_drift drift = entries > 0 ? res_drift_of(paces, trial->rounds)
                                               : (struct res_drift){.share = NAN};
    free(paces);
    free(shares);
    return drift;
}

static void fill_outliers(const struct res_trial *trial, double *const *times,
                          struct res_result_workload *ret_workload)
{
    const struct res_entry *worst = NULL;
    double worst_times = 1;
    size_t worst_place = 0;
    for (size_t i = 0; i < trial->entry_count; i++) {
        size_t place = 0;
        if (times[i] == NULL)
            continue;
        const size_t found = res_outliers_of(times[i], trial->rounds, &place);
        const double ratio = times[i][place] / res_median(times[i], trial->rounds);
        ret_workload->outlier_runs += trial->rounds;
        ret_workload->outlier_count += found;
        if (found == 0 || fabs(log(ratio)) <= fabs(log(worst_times)))
            continue;
        worst = &trial->entries[i];
        worst_times = ratio;
        worst_place = place;
    }
    if (worst == NULL)
        return;
    ret_workload->outlier_worst = res_calloc(1, sizeof *ret_workload->outlier_worst);
    *ret_workload->outlier_worst = (struct res_outlier){.name = res_text_plain(worst->candidate->name),
                                                        .control = worst->is_control,
                                                        .round = worst_place + 1,
                                                        .times_median = worst_times};
}

void res_steadiness_fill(const struct res_trial *trial, struct res_result_workload *ret_workload)
{
    double **times = res_calloc(trial->entry_count, sizeof *times);
    for (size_t i = 0; i < trial->entry_count; i++)
        times[i] = times_of(trial, &trial->entries[i]);
    const struct res_drift drift = drift_of(trial, times);
    ret_workload->drift_share = drift.share;
    ret_workload->drift_significant = drift.significant;
    fill_outliers(trial, times, ret_workload);
    for (size_t i = 0; i < trial->entry_count; i++)
        free(times[i]);
    free(times);
}
