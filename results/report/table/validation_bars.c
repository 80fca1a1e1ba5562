/* validation_bars.c - below the tables: which bars are met, and what to decide by. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/measure/validate/fidelity.h"
#include "results/report/grid/cells.h"
#include "results/report/grid/lines.h"
#include "results/report/notes/notes.h"
#include "results/report/table/reality_report.h"
#include "results/report/table/validation_lines.h"

/* Behind a bar, where it is one of memory: how many of its figures lie within what real runs did. */
static void add_within(struct res_text *text, const json_t *within, const char *key)
{
    const json_t *one = json_object_get(within, key);
    const json_int_t checked = json_integer_value(json_object_get(one, "checked"));
    if (checked > 0)
        res_text_printf(text, "; within reality's own range: %lld of %lld",
                        (long long)json_integer_value(json_object_get(one, "met")), (long long)checked);
}

static void add_bar(struct res_text *text, const json_t *about, const char *key, const char *words,
                    const char *none)
{
    const json_t *bars = json_object_get(about, "bars");
    const json_t *bar = json_object_get(bars, key);
    const json_int_t checked = json_integer_value(json_object_get(bar, "checked"));
    const json_int_t met = json_integer_value(json_object_get(bar, "met"));
    if (checked == 0)
        res_text_printf(text, "  %-6s  %s: %s", "-", words, none);
    else
        res_text_printf(text, "  %-6s  %s: %lld of %lld", met == checked ? "met" : "MISSED", words,
                        (long long)met, (long long)checked);
    add_within(text, json_object_get(about, "within_reality"), key);
    res_lines_end(text);
}

static double worst(const json_t *candidates, const char *key)
{
    double found = NAN;
    size_t index;
    json_t *candidate;
    json_array_foreach(candidates, index, candidate)
    {
        const double error = res_cell_number(json_object_get(candidate, "error"), key);
        if (isfinite(error) && !(fabs(error) <= fabs(found)))
            found = error;
    }
    return found;
}

/* Whether a bar of memory was missed by a prediction that was too high. */
static bool is_too_high(const json_t *candidates)
{
    size_t index;
    json_t *candidate;
    json_array_foreach(candidates, index, candidate)
    {
        const json_t *error = json_object_get(candidate, "error");
        const double heap = res_cell_number(error, "peak_heap");
        if (heap > RES_BAR_HEAP || (heap > 0 && res_cell_number(error, "peak_total") > RES_BAR_TOTAL))
            return true;
    }
    return false;
}

/* What a replay cannot know, where it may be why a bar was missed. */
static void add_cause(struct res_text *text, const json_t *result, const json_t *candidates)
{
    const char *touch = json_string_value(json_object_get(result, "touch"));
    if (touch != NULL && strcmp(touch, "page") == 0 && is_too_high(candidates))
        res_lines_add(text, "too high",
                      "maybe by objects below 64 KiB that the program never wrote: a replay writes to all "
                      "their pages; --touch none is the other bound (docs/fidelity.md)");
}

/* By the errors of this very result: peaks by their bars, means by that of the heap. NULL: one of both is not known. */
static const char *believed_words(double total, double heap, double mean)
{
    const bool peaks = fabs(total) <= RES_BAR_TOTAL && !(fabs(heap) > RES_BAR_HEAP);
    const bool means = fabs(mean) <= RES_BAR_HEAP;
    if (!isfinite(total) || !isfinite(mean))
        return NULL;
    return peaks && means ? "Both are within what mallab asks of itself."
           : peaks        ? "Decide by the peaks of this program, not by its means."
           : means        ? "Its means are within 10 %, its peaks beyond their bars."
                          : "Both are beyond their bars: do not decide by them.";
}

static void add_summary(struct res_text *text, const json_t *about, const json_t *candidates)
{
    const double total = worst(candidates, "peak_total"), heap = worst(candidates, "peak_heap"),
                 mean = worst(candidates, "mean_heap");
    char *within = res_reality_words(json_object_get(about, "within_reality"));
    const char *total_words = RES_PERCENT(total + 1), *heap_words = RES_PERCENT(heap + 1),
               *mean_words = RES_PERCENT(mean + 1);
    const char *believed = believed_words(total, heap, mean);
    char *of_heap = isfinite(heap) ? res_printf(", %s in the heap's part; of the heap's means %s", heap_words,
                                                mean_words)
                                   : res_strdup("");
    char *words = res_printf("Of the peaks the prediction furthest off is %s in total%s.%s%s", total_words,
                             of_heap, believed != NULL ? " " : "", believed != NULL ? believed : "");
    res_lines_add(text, "fidelity", words);
    if (within != NULL)
        res_text_printf(
            text, "            Of the figures with a range %s lie within that of the real runs.\n", within);
    free(within);
    free(of_heap);
    free(words);
}

/* Why no bar is judged; NULL: they are. */
static const char *unjudged_words(const json_t *about, const json_t *candidates)
{
    static const char *const keys[] = {"peak_total_bytes", "cpu_ns"};
    size_t index;
    json_t *candidate;
    if (res_cell_number(about, "processes_alike") > 1)
        return "none is judged: several processes go by that name, and whether the one that is predicted is "
               "the one "
               "that is compared cannot be told";
    json_array_foreach(candidates, index, candidate)
    {
        const json_t *real = json_object_get(candidate, "real");
        for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
            if (isfinite(res_cell_number(real, keys[i])))
                return NULL;
    }
    return "none is judged: no real run came through";
}

void res_validation_bars(struct res_text *text, const json_t *result)
{
    const json_t *about = json_object_get(result, "validation"),
                 *candidates = json_object_get(result, "candidates");
    const char *unjudged = unjudged_words(about, candidates);
    if (unjudged != NULL) {
        res_lines_add(text, "bars", unjudged);
        return;
    }
    res_text_printf(text, "bars        what mallab asks of its own predictions\n");
    add_bar(text, about, "peak_total", "peak within 3 % in total", "no figure");
    add_bar(text, about, "peak_heap", "peak within 10 % in the heap's part",
            "no figure, or too small to judge");
    add_bar(text, about, "memory_order", "order of candidates whose real peaks differ by more than 5 %",
            "none differ so much");
    add_bar(text, about, "time_sign", "sign of real time differences",
            "none beyond the noise, or fewer than 8 rounds");
    add_cause(text, result, candidates);
    add_summary(text, about, candidates);
}
