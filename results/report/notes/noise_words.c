/* noise_words.c - the control, and runs that differ. */
#include "results/report/notes/noise_words.h"

#include <math.h>
#include <stdlib.h>

#include "results/measure/base/support.h"
#include "results/measure/statistics/statistics.h"
#include "results/report/grid/cells.h"

#define UNSTEADY 0.2 /* typical deviation over the median */

char *res_noise_words(const json_t *result, const json_t *workload)
{
    const json_t *control = json_object_get(workload, "control");
    const json_t *time = json_object_get(control, "time");
    const json_t *resident = json_object_get(control, "resident");
    const double ratio = res_cell_number(time, "ratio");
    char *baseline = res_cell_plain(result, "baseline", "?");
    if (json_is_string(json_object_get(control, "failed"))) { /* why, other lines say */
        char *unknown = res_printf("not known: %s, which is held against itself for it, failed", baseline);
        free(baseline);
        return unknown;
    }
    const char *difference = isfinite(ratio) ? RES_PERCENT(ratio)
                                             : "not known (the harness' own time hides it)";
    const char *interval = RES_INTERVAL(res_cell_number(time, "ratio_low"),
                                        res_cell_number(time, "ratio_high"));
    const char *peak = RES_PERCENT(res_cell_number(resident, "peak_ratio"));
    const char *verdict = json_string_value(json_object_get(time, "verdict"));
    const bool restless = res_verdict_from(verdict) >= RES_FASTER;
    char *words = res_printf("%s against itself: time %s%s%s, peak %s%s; a change counts whose range leaves "
                             "out 0 and whose median "
                             "lies beyond this",
                             baseline, difference, interval[0] != '\0' ? " " : "", interval, peak,
                             restless ? " (more than chance: this machine was not quiet)" : "");
    free(baseline);
    return words;
}

char *res_unsteady_words(const json_t *workload)
{
    struct res_text names = {0};
    char *words = NULL;
    size_t index;
    json_t *candidate;
    json_array_foreach(json_object_get(workload, "candidates"), index, candidate)
    {
        const json_t *time = json_object_get(candidate, "time");
        const double typical = res_cell_number(time, "typical_ns_per_op");
        const double deviation = res_cell_number(time, "typical_ns_per_op_deviation");
        if (!(typical > 0) || !(deviation > UNSTEADY * typical))
            continue;
        char *name = res_cell_plain(candidate, "name", "?");
        res_text_printf(&names, "%s%s", names.text != NULL ? ", " : "", name);
        free(name);
    }
    if (names.text != NULL)
        words = res_printf("the runs of %s differ by more than %.0f %% from their own median: trust the "
                           "quiet figure more than the typical one",
                           names.text, UNSTEADY * 100);
    free(names.text);
    return words;
}
