/* memory_limit.c - see memory_limit.h. */
#include "results/measure/figures/memory_limit.h"

#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"

static const char DATA[] = "RLIMIT_DATA";

const char *res_limit_by(const struct res_options *options)
{
    if (options->limit_bytes == 0)
        return NULL;
    return options->group_place == NULL         ? DATA
           : options->group_place->version == 1 ? "cgroup v1"
                                                : "cgroup v2";
}

/* ---- of an entry ----------------------------------------------------------------------------- */

static void add_runs(struct res_limited *limited, const struct res_run *runs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const json_t *limit = json_object_get(runs[i].json, "limit");
        const uint64_t times = (uint64_t)json_integer_value(json_object_get(limit, "at_limit_count"));
        const uint64_t peak = (uint64_t)json_integer_value(json_object_get(limit, "peak_bytes"));
        limited->runs += json_is_object(limit);
        limited->runs_at_limit += times > 0;
        if (times > limited->at_limit_count_max)
            limited->at_limit_count_max = times;
        if (peak > limited->peak_bytes_max)
            limited->peak_bytes_max = peak;
    }
}

struct res_limited *res_limit_entry(const struct res_options *options, const struct res_entry *entry)
{
    if (options->limit_bytes == 0 || options->group_place == NULL || entry->is_floor)
        return NULL;
    struct res_limited *limited = res_calloc(1, sizeof *limited);
    add_runs(limited, entry->runs, entry->run_count);
    add_runs(limited, entry->memory_runs, entry->memory_count);
    return limited;
}
