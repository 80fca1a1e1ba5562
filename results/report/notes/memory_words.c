/* memory_words.c - shares of what is resident. */
#include "results/report/notes/memory_words.h"

#include <math.h>
#include <stdlib.h>

#include "footprint/base/words.h"
#include "results/measure/base/support.h"
#include "results/report/grid/cells.h"

/* Results of former versions have counts below 0, which were no figures (replay/meters/waste.h): with what they made of the rest. */
static double known(const json_t *sample, const char *key)
{
    const double bytes = res_cell_number(sample, key);
    return bytes >= 0 ? bytes : NAN;
}

static double rest_of(const json_t *sample)
{
    const double cached = res_cell_number(sample, "cached_bytes");
    const double metadata = res_cell_number(sample, "metadata_bytes");
    return res_cell_number(sample, "rest_bytes") + (cached < 0 ? cached : 0) + (metadata < 0 ? metadata : 0);
}

/* Of what is cached, only what is in memory concerns: where the counts add up to more than is resident, the rest of
 * memory is all that of it can be. */
static void add_cached(struct res_text *text, const json_t *sample)
{
    const double resident = res_cell_number(sample, "resident_bytes");
    const double cached = known(sample, "cached_bytes");
    const double rest = rest_of(sample);
    if (!isfinite(cached) || !(resident > 0))
        return;
    res_text_printf(text, ", cached %s%.0f %%", rest < 0 ? "at most " : "",
                    100 * fmax(rest < 0 ? cached + rest : cached, 0) / resident);
}

static void add_share(struct res_text *text, const char *word, const json_t *sample, double bytes)
{
    const double resident = res_cell_number(sample, "resident_bytes");
    if (isfinite(bytes) && resident > 0)
        res_text_printf(text, ", %s %.0f %%", word, 100 * bytes / resident);
}

/* It is looked where all threads rest, which is not at the peak itself: both live figures are told. */
static char *moment_of(const json_t *workload)
{
    const json_t *candidate = json_array_get(json_object_get(workload, "candidates"), 0);
    const json_t *sample = json_object_get(json_object_get(candidate, "waste"), "peak");
    const double live = res_cell_number(sample, "live_bytes");
    const double peak = res_cell_number(workload, "live_peak_bytes");
    char then[32], highest[32];
    if (!isfinite(live) || !isfinite(peak))
        return res_strdup("resident near the live peak, as the allocators tell: ");
    return res_printf("resident near the live peak, where all threads rest (%s live then, %s at the "
                      "peak), as the allocators tell: ",
                      fp_text_bytes(live, then), fp_text_bytes(peak, highest));
}

char *res_waste_words(const json_t *workload)
{
    struct res_text text = {0};
    size_t index;
    json_t *candidate;
    char *moment = moment_of(workload);
    json_array_foreach(json_object_get(workload, "candidates"), index, candidate)
    {
        const json_t *sample = json_object_get(json_object_get(candidate, "waste"), "peak");
        const double resident = res_cell_number(sample, "resident_bytes");
        char bytes[32];
        if (!(resident > 0))
            continue;
        char *name = res_cell_plain(candidate, "name", "?");
        res_text_printf(&text, "%s%s %s: live %.0f %%", text.text != NULL ? "; " : moment, name,
                        fp_text_bytes(resident, bytes),
                        100 * res_cell_number(sample, "live_bytes") / resident);
        add_share(&text, "rounding", sample, known(sample, "rounding_bytes"));
        add_cached(&text, sample);
        add_share(&text, "metadata", sample, known(sample, "metadata_bytes"));
        if (rest_of(sample) >= 0)
            add_share(&text, "rest", sample, rest_of(sample));
        if (res_cell_number(sample, "huge_page_bytes") > 0)
            add_share(&text, "in huge pages", sample, res_cell_number(sample, "huge_page_bytes"));
        free(name);
    }
    free(moment);
    return text.text;
}
