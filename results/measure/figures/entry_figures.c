/* entry_figures.c - what follows from the runs of an entry. */
#include "results/measure/figures/entry_figures.h"

#include <math.h>
#include <stdlib.h>

#include "results/measure/base/support.h"
#include "results/measure/base/values.h"
#include "results/measure/figures/pareto.h"
#include "results/measure/statistics/statistics.h"
#include "results/report/grid/cells.h"

double res_entry_faults(const json_t *entry)
{
    /* What ran before it failed is compared with nothing: a failed one has no other figure either. */
    const json_t *runs = json_is_string(json_object_get(entry, "failed")) ? NULL
                                                                          : json_object_get(entry, "runs");
    double *samples = res_calloc(json_array_size(runs) + 1, sizeof *samples);
    size_t index, count = 0;
    json_t *run;
    json_array_foreach(runs, index, run)
    {
        const double faults = res_cell_number(run, "faults_minor");
        if (isfinite(faults))
            samples[count++] = faults;
    }
    const double median = count > 0 ? res_median(samples, count) : NAN;
    free(samples);
    return median;
}

double res_entry_blow_up(const json_t *workload, const json_t *entry)
{
    const double live = res_cell_number(workload, "live_peak_bytes");
    const double peak = res_cell_number(json_object_get(entry, "resident"), "peak_bytes");
    return live > 0 && isfinite(peak) ? peak / live : NAN;
}

void res_entry_figures_add(json_t *workload)
{
    json_t *pareto = res_pareto(workload);
    size_t index;
    json_t *candidate;
    json_array_foreach(json_object_get(workload, "candidates"), index, candidate)
    {
        json_object_set_new(candidate, "faults_minor", res_value_number(res_entry_faults(candidate)));
        json_object_set_new(candidate, "blow_up", res_value_number(res_entry_blow_up(workload, candidate)));
        json_object_set(candidate, "beaten_by", json_array_get(pareto, index));
    }
    json_decref(pareto);
}

static void complete_entry(const struct res_result_workload *workload, struct res_result_entry *entry)
{
    if (!isfinite(entry->blow_up))
        entry->blow_up = res_entry_blow_up(workload->json, entry->json);
    if (!isfinite(entry->faults_minor))
        entry->faults_minor = res_entry_faults(entry->json);
}

static void complete_beaten(struct res_result_workload *workload)
{
    json_t *pareto = res_pareto(workload->json);
    for (size_t i = 0; i < workload->candidate_count; i++) {
        const json_t *names = json_array_get(pareto, i);
        struct res_texts *texts = &workload->candidates[i].beaten_by;
        for (size_t k = 0; k < texts->count; k++)
            free(texts->items[k]);
        free(texts->items);
        texts->count = 0;
        texts->known = json_is_array(names);
        texts->items = res_calloc(json_array_size(names), sizeof *texts->items);
        for (size_t k = 0; k < json_array_size(names); k++)
            texts->items[texts->count++] = res_text_plain(json_string_value(json_array_get(names, k)));
    }
    json_decref(pareto);
}

void res_entry_figures_complete(struct res_result *result)
{
    for (size_t i = 0; i < result->workload_count; i++) {
        struct res_result_workload *workload = &result->workloads[i];
        for (size_t k = 0; k < workload->candidate_count; k++)
            complete_entry(workload, &workload->candidates[k]);
        complete_entry(workload, &workload->control);
        complete_beaten(workload);
    }
}
