/* hyperfine_export.c - whole processes as hyperfine exports them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/measure/experiment/hyperfine_runs.h"
#include "results/measure/statistics/statistics.h"
#include "results/report/grid/cells.h"

#define NS_PER_S 1e9

static size_t seconds_of(const json_t *array, double **ret_seconds)
{
    const size_t count = json_array_size(array);
    double *seconds = res_calloc(count + 1, sizeof *seconds);
    for (size_t i = 0; i < count; i++)
        seconds[i] = json_number_value(json_array_get(array, i)) / NS_PER_S;
    *ret_seconds = seconds;
    return count;
}

/* Of a sample, as hyperfine has it: over count - 1. */
static json_t *deviation_of(const double *values, size_t count, double mean)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (values[i] - mean) * (values[i] - mean);
    return count > 1 ? json_real(sqrt(sum / (double)(count - 1))) : json_null();
}

/* Keys and their order are hyperfine's. */
static json_t *result_of(const json_t *entry, const char *workload, bool alone)
{
    const json_t *whole = json_object_get(entry, "whole_process");
    const char *name = json_string_value(json_object_get(entry, "name"));
    double *times;
    const size_t count = seconds_of(json_object_get(whole, "wall_ns"), &times);
    json_t *array = json_array(), *object = json_object();
    double sum = 0, least = INFINITY, most = 0;
    for (size_t i = 0; i < count; i++) {
        sum += times[i];
        least = fmin(least, times[i]);
        most = fmax(most, times[i]);
        json_array_append_new(array, json_real(times[i]));
    }
    char *command = alone ? res_strdup(name) : res_printf("%s %s", name, workload);
    json_object_set_new(object, "command", json_string(command));
    json_object_set_new(object, "mean", json_real(sum / (double)count));
    json_object_set_new(object, "stddev", deviation_of(times, count, sum / (double)count));
    json_object_set_new(object, "median", json_real(res_median(times, count)));
    json_object_set_new(object, "user", json_real(res_cell_number(whole, "user_ns_mean") / NS_PER_S));
    json_object_set_new(object, "system", json_real(res_cell_number(whole, "system_ns_mean") / NS_PER_S));
    json_object_set_new(object, "min", json_real(least));
    json_object_set_new(object, "max", json_real(most));
    json_object_set_new(object, "times", array);
    json_object_set(object, "exit_codes", json_object_get(whole, "exit_codes"));
    json_object_set_new(object, "parameters",
                        json_pack("{s:s, s:s}", "candidate", name, "workload", workload));
    free(command);
    free(times);
    return object;
}

static bool was_timed(const json_t *entry)
{
    return json_array_size(json_object_get(json_object_get(entry, "whole_process"), "wall_ns")) > 0;
}

json_t *res_whole_export(const struct res_result *typed_result)
{
    const json_t *result = typed_result->json;
    const json_t *workloads = json_object_get(result, "workloads");
    const bool alone = json_array_size(workloads) == 1;
    json_t *results = json_array();
    size_t index, number;
    json_t *workload, *entry;
    json_array_foreach(workloads, index, workload)
    {
        const char *name = json_string_value(json_object_get(workload, "name"));
        json_array_foreach(json_object_get(workload, "candidates"), number, entry)
        {
            if (was_timed(entry))
                json_array_append_new(results, result_of(entry, name, alone));
        }
        if (was_timed(json_object_get(workload, "floor")))
            json_array_append_new(results, result_of(json_object_get(workload, "floor"), name, alone));
    }
    if (json_array_size(results) > 0)
        return json_pack("{s:o}", "results", results);
    json_decref(results);
    return NULL;
}
