/* hyperfine_export.c - whole processes as hyperfine exports them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/measure/experiment/hyperfine_runs.h"
#include "results/measure/statistics/statistics.h"

#define NS_PER_S 1e9

/* Of a sample, as hyperfine has it: over count - 1. */
static json_t *deviation_of(const double *values, size_t count, double mean)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (values[i] - mean) * (values[i] - mean);
    return count > 1 ? json_real(sqrt(sum / (double)(count - 1))) : json_null();
}

static json_t *exit_codes_of(const struct res_whole_process *whole)
{
    json_t *array = json_array();
    for (size_t i = 0; i < whole->exit_count; i++)
        json_array_append_new(array, json_integer((json_int_t)whole->exit_codes[i]));
    return array;
}

/* Keys and their order are hyperfine's. */
static json_t *result_of(const struct res_result_entry *entry, const char *workload, bool alone)
{
    const struct res_whole_process *whole = entry->whole_process;
    const size_t count = whole->wall_count;
    double *times = res_calloc(count, sizeof *times);
    json_t *array = json_array(), *object = json_object();
    double sum = 0, least = INFINITY, most = 0;
    for (size_t i = 0; i < count; i++) {
        times[i] = (double)whole->wall_ns[i] / NS_PER_S;
        sum += times[i];
        least = fmin(least, times[i]);
        most = fmax(most, times[i]);
        json_array_append_new(array, json_real(times[i]));
    }
    char *command = alone ? res_strdup(entry->name) : res_printf("%s %s", entry->name, workload);
    json_object_set_new(object, "command", json_string(command));
    json_object_set_new(object, "mean", json_real(sum / (double)count));
    json_object_set_new(object, "stddev", deviation_of(times, count, sum / (double)count));
    json_object_set_new(object, "median", json_real(res_median(times, count)));
    json_object_set_new(object, "user", json_real(whole->user_ns_mean / NS_PER_S));
    json_object_set_new(object, "system", json_real(whole->system_ns_mean / NS_PER_S));
    json_object_set_new(object, "min", json_real(least));
    json_object_set_new(object, "max", json_real(most));
    json_object_set_new(object, "times", array);
    json_object_set_new(object, "exit_codes", exit_codes_of(whole));
    json_object_set_new(object, "parameters",
                        json_pack("{s:s, s:s}", "candidate", entry->name, "workload", workload));
    free(command);
    free(times);
    return object;
}

static void add(json_t *results, const struct res_result *result, const struct res_result_workload *workload,
                const struct res_result_entry *entry)
{
    if (entry != NULL && entry->whole_process != NULL && entry->whole_process->wall_count > 0)
        json_array_append_new(results, result_of(entry, workload->name, result->workload_count == 1));
}

json_t *res_whole_export(const struct res_result *result)
{
    json_t *results = json_array();
    for (size_t i = 0; i < result->workload_count; i++) {
        const struct res_result_workload *workload = &result->workloads[i];
        for (size_t k = 0; k < workload->candidate_count; k++)
            add(results, result, workload, &workload->candidates[k]);
        add(results, result, workload, workload->floor);
    }
    if (json_array_size(results) > 0)
        return json_pack("{s:o}", "results", results);
    json_decref(results);
    return NULL;
}
