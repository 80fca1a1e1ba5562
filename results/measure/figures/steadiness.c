/* steadiness.c - drift and outliers of an experiment. */
#include "results/measure/figures/steadiness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/words.h"
#include "results/measure/base/json_values.h"
#include "results/measure/base/support.h"
#include "results/measure/statistics/statistics.h"
#include "results/report/grid/cells.h"

#define DRIFT_SIGMAS 3.0
#define DRIFT_LEAST  0.02 /* less is not worth a word */

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

static json_t *outliers_object(const struct res_trial *trial, double *const *times)
{
    json_t *worst = json_null();
    double worst_times = 1;
    size_t outliers = 0, runs = 0;
    for (size_t i = 0; i < trial->entry_count; i++) {
        size_t place = 0;
        if (times[i] == NULL)
            continue;
        const size_t found = res_outliers_of(times[i], trial->rounds, &place);
        const double ratio = times[i][place] / res_median(times[i], trial->rounds);
        runs += trial->rounds;
        outliers += found;
        if (found == 0 || fabs(log(ratio)) <= fabs(log(worst_times)))
            continue;
        const struct res_entry *entry = &trial->entries[i];
        char *name = res_text_plain(entry->candidate->name);
        worst_times = ratio;
        json_decref(worst);
        worst = json_pack("{s:s, s:b, s:i, s:f}", "name", name, "control", entry->is_control, "round",
                          (int)place + 1, "times_median", ratio);
        free(name);
    }
    return json_pack("{s:I, s:I, s:o}", "count", (json_int_t)outliers, "runs", (json_int_t)runs, "worst",
                     worst);
}

json_t *res_steadiness(const struct res_trial *trial)
{
    double **times = res_calloc(trial->entry_count, sizeof *times);
    for (size_t i = 0; i < trial->entry_count; i++)
        times[i] = times_of(trial, &trial->entries[i]);
    const struct res_drift drift = drift_of(trial, times);
    json_t *object = json_object();
    json_object_set_new(object, "drift_share", res_json_number(drift.share));
    json_object_set_new(object, "drift_significant", json_boolean(drift.significant));
    json_object_set_new(object, "outliers", outliers_object(trial, times));
    for (size_t i = 0; i < trial->entry_count; i++)
        free(times[i]);
    free(times);
    return object;
}

/* ---- in words ------------------------------------------------------------------------------- */

/* ": the widest interval of time is 3.1 %", where it is known. */
static char *width_words(const json_t *stopped, const char *still)
{
    const double width = 100 * res_cell_number(stopped, "width");
    return isfinite(width) ? res_printf(": the widest interval of time is%s %.2g %%", still, width)
                           : res_strdup("");
}

/* What Ctrl-C cut short. */
static char *interrupt_words(const json_t *stopped)
{
    const double until = 100 * res_cell_number(stopped, "until_width");
    const double budget_ns = res_cell_number(stopped, "time_budget_ns");
    char spent[32], budget[32];
    if (isfinite(until)) {
        char *width = width_words(stopped, " still");
        char *words = res_printf(", stopped before --until %.3g%% was reached%s", until, width);
        free(width);
        return words;
    }
    if (isfinite(budget_ns))
        return res_printf(", stopped %s into the time budget of %s",
                          res_text_duration(fmax(res_cell_number(stopped, "elapsed_ns"), 0), spent),
                          res_text_duration(fmax(budget_ns, 0), budget));
    return res_printf(", stopped before the %lld asked for",
                      (long long)json_integer_value(json_object_get(stopped, "rounds_max")));
}

static char *budget_words(const json_t *workload, const json_t *stopped)
{
    const double budget_ns = fmax(res_cell_number(stopped, "time_budget_ns"), 0);
    const bool too_short = res_cell_number(stopped, "elapsed_ns") > budget_ns &&
                           json_integer_value(json_object_get(workload, "rounds")) <= RES_ROUNDS_FOR_VERDICT;
    char duration[32];
    char *width = width_words(stopped, "");
    char *words =
        too_short
            ? res_printf(", the fewest of which there is a verdict: the time budget of %s was spent before%s",
                         res_text_duration(budget_ns, duration), width)
            : res_printf(", ended by the time budget of %s%s", res_text_duration(budget_ns, duration), width);
    free(width);
    return words;
}

char *res_ended_words(const json_t *workload)
{
    const json_t *stopped = json_object_get(workload, "stopped");
    const char *by = json_string_value(json_object_get(stopped, "by"));
    const double until = 100 * res_cell_number(stopped, "until_width");
    char *words = NULL;
    if (by == NULL)
        return res_strdup("");
    if (strcmp(by, "interrupt") == 0)
        return interrupt_words(stopped);
    if (strcmp(by, "time_budget") == 0)
        return budget_words(workload, stopped);
    if (strcmp(by, "until") == 0) {
        char *width = width_words(stopped, "");
        words = res_printf(", ended by --until %.3g%%%s", until, width);
        free(width);
    } else if (strcmp(by, "rounds_max") == 0) {
        char *width = width_words(stopped, " still");
        words = res_printf(", no more are made (-n)%s", width);
        free(width);
    }
    return words != NULL ? words : res_strdup("");
}

char *res_steadiness_words(const json_t *workload)
{
    const json_t *object = json_object_get(workload, "steadiness");
    const json_t *outliers = json_object_get(object, "outliers"), *worst = json_object_get(outliers, "worst");
    const double share = res_cell_number(object, "drift_share");
    const json_int_t count = json_integer_value(json_object_get(outliers, "count"));
    struct res_text words = {0};
    if (json_is_true(json_object_get(object, "drift_significant")) && fabs(share) >= DRIFT_LEAST)
        res_text_printf(&words, "the machine became %.0f %% %s from the first round to the last",
                        fabs(share) * 100, share > 0 ? "slower" : "faster");
    if (count > 0 && json_is_object(worst)) {
        char *name = res_cell_plain(worst, "name", "?");
        res_text_printf(&words,
                        "%s%s of %s runs are outliers, the furthest %.2g times its median (%s%s, round %lld)",
                        words.text != NULL ? "; " : "", FP_GROUPED((uint64_t)count),
                        FP_GROUPED((uint64_t)json_integer_value(json_object_get(outliers, "runs"))),
                        res_cell_number(worst, "times_median"), name,
                        json_is_true(json_object_get(worst, "control")) ? " as control" : "",
                        (long long)json_integer_value(json_object_get(worst, "round")));
        free(name);
    }
    if (words.text != NULL)
        res_text_printf(&words, ": all are kept and counted");
    return words.text;
}
