/* notes_counters.c - below the table: what the processor counted, per op, less the floor's. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/measure/statistics/statistics.h"
#include "results/report/grid/cells.h"
#include "results/report/grid/lines.h"
#include "results/report/notes/notes.h"

#define RUNS_MAX 1000u /* rounds that there can be */

static const struct {
    const char *name, *words;
    double ops; /* the figure is per so many */
} SHOWN[] = {
    {"instructions", "instructions per op", 1},
    {"cache_misses", "cache misses per 1,000 ops", 1000},
    {"dtlb_load_misses", "data TLB misses per 1,000 ops", 1000},
    {"branch_misses", "mispredicted branches per 1,000 ops", 1000},
};

static const json_t *counter_of(const json_t *run, const char *name)
{
    size_t index;
    json_t *counter;
    json_array_foreach(json_object_get(run, "counters"), index, counter)
    {
        const char *own = json_string_value(json_object_get(counter, "name"));
        if (own != NULL && strcmp(own, name) == 0)
            return counter;
    }
    return NULL;
}

/* Median over the runs; NAN when one lacks it. */
static double median_per_op(const json_t *entry, const char *name)
{
    double samples[RUNS_MAX];
    size_t count = 0, index;
    json_t *run;
    json_array_foreach(json_object_get(entry, "runs"), index, run)
    {
        const double ops = res_cell_number(run, "ops") - res_cell_number(run, "inherited_ops");
        const double value = res_cell_number(counter_of(run, name), "count") / ops;
        if (!isfinite(value) || count == RUNS_MAX)
            return NAN;
        samples[count++] = value;
    }
    return count > 0 ? res_median(samples, count) : NAN;
}

static void add_counter(struct res_text *text, const json_t *workload, size_t which)
{
    struct res_text words = {0};
    const double floor = median_per_op(json_object_get(workload, "floor"), SHOWN[which].name);
    bool any = false;
    size_t index;
    json_t *candidate;
    json_array_foreach(json_object_get(workload, "candidates"), index, candidate)
    {
        const double gross = median_per_op(candidate, SHOWN[which].name);
        const double net = isfinite(floor) ? fmax(gross - floor, 0) : gross;
        char *name = res_cell_plain(candidate, "name", "?");
        const char *value = RES_NS(isfinite(gross) ? net * SHOWN[which].ops : NAN);
        any = any || isfinite(gross);
        res_text_printf(&words, "%s%s %s", words.text != NULL ? ", " : "", name, value);
        free(name);
    }
    if (any) {
        char *line = res_printf("%s%s: %s", SHOWN[which].words, isfinite(floor) ? " above the floor's" : "",
                                words.text);
        res_lines_add(text, "counters", line);
        free(line);
    }
    free(words.text);
}

void res_notes_counters(struct res_text *text, const json_t *workload)
{
    const json_t *baseline = json_array_get(json_object_get(workload, "candidates"), 0);
    const json_t *run = json_array_get(json_object_get(baseline, "runs"), 0);
    const json_t *counter = counter_of(run, SHOWN[0].name);
    if (json_is_string(json_object_get(counter, "unavailable"))) {
        char *why = res_cell_plain(counter, "unavailable", "?");
        char *line = res_printf("the processor's are unavailable: %s", why);
        res_lines_add(text, "counters", line);
        free(line);
        free(why);
        return;
    }
    for (size_t i = 0; i < sizeof SHOWN / sizeof SHOWN[0]; i++)
        add_counter(text, workload, i);
}
