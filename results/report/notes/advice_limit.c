/* advice_limit.c - see advice_limit.h. */
#include "results/report/notes/advice_limit.h"

#include <stdlib.h>

#include "footprint/base/words.h"
#include "results/measure/base/support.h"
#include "results/measure/figures/memory_limit.h"
#include "results/report/grid/cells.h"

/* "glibc, jemalloc and mimalloc". died: those that did, else those that did not fail. */
static char *names_of(const json_t *candidates, bool died, size_t *ret_count)
{
    struct res_text text = {0};
    size_t count = 0, listed = 0;
    for (int pass = 0; pass < 2; pass++) {
        size_t index;
        json_t *candidate;
        json_array_foreach(candidates, index, candidate)
        {
            const bool wanted = died ? res_failure_is_death(json_object_get(candidate, "failure"))
                                     : !json_is_string(json_object_get(candidate, "failed"));
            if (!wanted)
                continue;
            if (pass == 0) {
                count++;
                continue;
            }
            char *name = res_cell_plain(candidate, "name", "?");
            res_text_printf(&text, "%s%s", listed == 0 ? "" : listed + 1 == count ? " and " : ", ", name);
            listed++;
            free(name);
        }
    }
    *ret_count = count;
    return text.text;
}

char *res_advice_limit(const json_t *result, const json_t *workload)
{
    const json_t *candidates = json_object_get(workload, "candidates");
    const double limit = res_cell_number(result, "limit_bytes");
    size_t dead_count, left_count;
    char bytes[32], *words = NULL;
    if (!(limit > 0))
        return NULL;
    char *dead = names_of(candidates, true, &dead_count), *left = names_of(candidates, false, &left_count);
    (void)fp_text_bytes(limit, bytes);
    if (dead_count > 0 && left_count == 0)
        words = res_printf("No candidate survives the limit of %s: raise --limit", bytes);
    else if (dead_count > 0)
        words = res_printf("%s%s survive%s the limit of %s, %s do%s not", left_count == 1 ? "Only " : "",
                           left, left_count == 1 ? "s" : "", bytes, dead, dead_count == 1 ? "es" : "");
    free(dead);
    free(left);
    return words;
}
