/* advice_idle.c - who gives memory back when the program rests. */
#include "results/report/notes/advice_idle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/words.h"
#include "results/measure/statistics/statistics.h"
#include "results/report/grid/cells.h"
#include "results/report/notes/notes.h"

#define WORTH_SAYING 0.9 /* of the baseline's least */

struct extremes {
    double least, most;
};

/* Over the runs of the memory pass; NAN with fewer than a verdict on memory takes, or where one has no figure. */
static struct extremes idle_of(const json_t *entry)
{
    const json_t *runs = json_object_get(entry, "memory_runs");
    struct extremes found = {INFINITY, -INFINITY};
    size_t index;
    json_t *run;
    if (json_array_size(runs) < RES_ROUNDS_FOR_MEMORY)
        return (struct extremes){NAN, NAN};
    json_array_foreach(runs, index, run)
    {
        const double idle = res_cell_number(json_object_get(run, "resident"), "idle_bytes");
        if (!isfinite(idle))
            return (struct extremes){NAN, NAN};
        found.least = fmin(found.least, idle);
        found.most = fmax(found.most, idle);
    }
    return found;
}

void res_advice_idle(struct res_text *text, const json_t *workload)
{
    const json_t *candidates = json_object_get(workload, "candidates");
    const json_t *baseline = json_array_get(candidates, 0), *best = NULL;
    const struct extremes base = idle_of(baseline);
    double least = base.least * WORTH_SAYING;
    size_t index;
    json_t *candidate;
    json_array_foreach(candidates, index, candidate)
    {
        const json_t *resident = json_object_get(candidate, "resident");
        const double most = idle_of(candidate).most;
        if (index == 0 || json_is_string(json_object_get(candidate, "failed")) ||
            json_is_false(json_object_get(resident, "predicted")) || !(most < least))
            continue;
        best = candidate;
        least = most;
    }
    const json_t *resident = json_object_get(best, "resident");
    const double own = res_cell_number(resident, "idle_bytes");
    const double others = res_cell_number(json_object_get(baseline, "resident"), "idle_bytes");
    const char *name = json_string_value(json_object_get(best, "name"));
    char bytes[2][32];
    if (name == NULL || !isfinite(own) || !isfinite(others) ||
        json_is_false(json_object_get(json_object_get(baseline, "resident"), "predicted")))
        return;
    char *torn_down = res_end_words(workload);
    res_text_printf(text, "; %s %s keeps least: %s, %s %s",
                    torn_down != NULL ? "when all is freed again" : "at rest", name,
                    fp_text_bytes(own, bytes[0]), json_string_value(json_object_get(baseline, "name")),
                    fp_text_bytes(others, bytes[1]));
    free(torn_down);
}
