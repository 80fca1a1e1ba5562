/* memory_words.c - shares of what is resident. */
#include "results/memory_words.h"

#include <math.h>
#include <stdlib.h>

#include "results/cells.h"
#include "results/support.h"

/* Of what is cached, only what is in memory concerns: where the counts add up to more than is resident, the rest of
 * memory is all that of it can be. */
static void add_cached(struct res_text *text, const json_t *sample)
{
    const double resident = res_cell_number(sample, "resident_bytes");
    const double cached = res_cell_number(sample, "cached_bytes");
    const double rest = res_cell_number(sample, "rest_bytes");
    if (!isfinite(cached) || !(resident > 0))
        return;
    res_text_printf(text, ", cached %s%.0f %%", rest < 0 ? "at most " : "",
                    100 * fmax(rest < 0 ? cached + rest : cached, 0) / resident);
}

static void add_share(struct res_text *text, const char *word, const json_t *sample, const char *key)
{
    const double resident = res_cell_number(sample, "resident_bytes");
    const double bytes = res_cell_number(sample, key);
    if (isfinite(bytes) && resident > 0)
        res_text_printf(text, ", %s %.0f %%", word, 100 * bytes / resident);
}

char *res_waste_words(const json_t *workload)
{
    struct res_text text = {0};
    size_t index;
    json_t *candidate;
    json_array_foreach(json_object_get(workload, "candidates"), index, candidate)
    {
        const json_t *sample = json_object_get(json_object_get(candidate, "waste"), "peak");
        const double resident = res_cell_number(sample, "resident_bytes");
        char bytes[32];
        if (!(resident > 0))
            continue;
        char *name = res_cell_plain(candidate, "name", "?");
        res_text_printf(
            &text, "%s%s %s: live %.0f %%",
            text.text != NULL ? "; " : "resident when live bytes are highest, as the allocators tell: ", name,
            res_text_bytes(resident, bytes), 100 * res_cell_number(sample, "live_bytes") / resident);
        add_share(&text, "rounding", sample, "rounding_bytes");
        add_cached(&text, sample);
        add_share(&text, "metadata", sample, "metadata_bytes");
        if (res_cell_number(sample, "rest_bytes") >= 0)
            add_share(&text, "rest", sample, "rest_bytes");
        if (res_cell_number(sample, "huge_page_bytes") > 0)
            add_share(&text, "in huge pages", sample, "huge_page_bytes");
        free(name);
    }
    return text.text;
}
