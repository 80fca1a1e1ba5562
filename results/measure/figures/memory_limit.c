/* memory_limit.c - see memory_limit.h. */
#include "results/measure/figures/memory_limit.h"

#include <stdlib.h>
#include <string.h>

#include "results/measure/base/support.h"

static const char DATA[] = "RLIMIT_DATA";

const char *res_limit_by(const struct res_options *options)
{
    if (options->limit_bytes == 0)
        return NULL;
    return options->group_place == NULL         ? DATA
           : options->group_place->version == 1 ? "cgroup v1"
                                                : "cgroup v2";
}

bool res_failure_is_death(const json_t *failure)
{
    static const char *const CAUSES[] = {"null", "limit", "crash", "oom"};
    const char *cause = json_string_value(json_object_get(failure, "cause"));
    for (size_t i = 0; cause != NULL && i < sizeof CAUSES / sizeof CAUSES[0]; i++) {
        if (strcmp(cause, CAUSES[i]) == 0)
            return true;
    }
    return false;
}

/* ---- of an entry ----------------------------------------------------------------------------- */

struct pressure {
    json_int_t runs, runs_at_limit, count_max, peak_max;
};

static void add_runs(struct pressure *pressure, const struct res_run *runs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const json_t *limit = json_object_get(runs[i].json, "limit");
        const json_int_t times = json_integer_value(json_object_get(limit, "at_limit_count"));
        const json_int_t peak = json_integer_value(json_object_get(limit, "peak_bytes"));
        pressure->runs += json_is_object(limit);
        pressure->runs_at_limit += times > 0;
        pressure->count_max = times > pressure->count_max ? times : pressure->count_max;
        pressure->peak_max = peak > pressure->peak_max ? peak : pressure->peak_max;
    }
}

json_t *res_limit_entry(const struct res_options *options, const struct res_entry *entry)
{
    struct pressure pressure = {0};
    if (options->limit_bytes == 0 || options->group_place == NULL || entry->is_floor)
        return json_null();
    add_runs(&pressure, entry->runs, entry->run_count);
    add_runs(&pressure, entry->memory_runs, entry->memory_count);
    json_t *object = json_object();
    json_object_set_new(object, "runs", json_integer(pressure.runs));
    json_object_set_new(object, "runs_at_limit", json_integer(pressure.runs_at_limit));
    json_object_set_new(object, "at_limit_count_max", json_integer(pressure.count_max));
    json_object_set_new(object, "peak_bytes_max",
                        pressure.peak_max > 0 ? json_integer(pressure.peak_max) : json_null());
    return object;
}
