/* tune_words.c - sentences on a search. */
#include "results/report/table/tune_words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/words.h"
#include "results/measure/base/shell_line.h"
#include "results/measure/figures/pareto.h"
#include "results/measure/figures/startup_memory.h"
#include "results/measure/statistics/statistics.h"
#include "results/report/grid/cells.h"
#include "results/report/notes/advice.h"
#include "results/report/notes/advice_rounds.h"

#define OVER_WORTH_TELLING_NS 1000000000LL

static long long count_of(const json_t *object, const char *key)
{
    return (long long)json_integer_value(json_object_get(object, key));
}

static const char *word_of(const json_t *object, const char *key)
{
    const char *word = json_string_value(json_object_get(object, key));
    return word != NULL ? word : "?";
}

static enum res_verdict verdict_of(const json_t *row, const char *figure)
{
    return res_verdict_from(word_of(json_object_get(row, figure), "verdict"));
}

/* ---- advice --------------------------------------------------------------------------------- */

/* Resident memory that it holds before the first call, which no other figure has in it; NAN: not known. */
static double start_of(const json_t *result, const char *name)
{
    const json_t *workload = json_array_get(json_object_get(result, "workloads"), 0);
    size_t index;
    json_t *candidate;
    json_array_foreach(json_object_get(workload, "candidates"), index, candidate)
    {
        if (strcmp(word_of(candidate, "name"), name) == 0)
            return res_cell_number(json_object_get(candidate, "resident"), "start_bytes");
    }
    return NAN;
}

static bool is_outweighed(const json_t *result, const json_t *row)
{
    const json_t *memory = json_object_get(row, "memory");
    const double bytes = res_cell_number(memory, "bytes");
    const struct res_held own = {bytes, start_of(result, word_of(row, "name"))};
    const struct res_held standard = {
        bytes / res_cell_number(memory, "ratio"),
        start_of(result, word_of(json_object_get(result, "tune"), "default")),
    };
    return res_held_outweighed(own, standard);
}

char *res_tune_preload(const json_t *row)
{
    const char *library = json_string_value(json_object_get(row, "library"));
    struct res_text words = {0};
    if (library == NULL)
        return res_strdup("");
    res_shell_variable(&words, "LD_PRELOAD", library);
    char *plain = res_text_plain(words.text);
    free(words.text);
    return plain;
}

bool res_tune_is_bounded(const json_t *row)
{
    const enum res_verdict verdict = verdict_of(row, "time");
    return json_is_true(json_object_get(row, "is_default")) || verdict == RES_FASTER ||
           verdict == RES_SLOWER ||
           res_cell_number(json_object_get(row, "time"), "ratio_high") <= 1 + RES_PARETO_MARGIN;
}

/* bounded: among those whose time is known to be, or not to be. */
static const json_t *best_by(const json_t *result, const char *figure, bool bounded)
{
    const bool memory = strcmp(figure, "memory") == 0;
    const json_t *best = NULL;
    size_t index;
    json_t *row;
    json_array_foreach(json_object_get(json_object_get(result, "tune"), "front"), index, row)
    {
        if (verdict_of(row, figure) == RES_FASTER && res_tune_is_bounded(row) == bounded &&
            !(memory && is_outweighed(result, row)) &&
            (best == NULL || res_cell_number(json_object_get(row, figure), "ratio") <
                                 res_cell_number(json_object_get(best, figure), "ratio")))
            best = row;
    }
    return best;
}

static void add_share(struct res_text *text, const json_t *row, const char *figure)
{
    const json_t *object = json_object_get(row, figure);
    const double percent = fabs(res_cell_number(object, "ratio") - 1) * 100;
    res_text_printf(text, percent < 9.95 ? "%.1f %% " : "%.0f %% ", percent);
    res_text_printf(text, "%s", res_cell_number(object, "ratio") < 1 ? "less" : "more");
}

/* "Same" in loud noise is not seen rather than not there: then the range is told. */
static void add_figure(struct res_text *text, const json_t *row, const char *figure, const char *words)
{
    const json_t *object = json_object_get(row, figure);
    const double low = res_cell_number(object, "ratio_low"), high = res_cell_number(object, "ratio_high");
    const enum res_verdict verdict = verdict_of(row, figure);
    const bool same = verdict == RES_SAME && fmax(1 - low, high - 1) <= RES_LARGE_NOISE;
    if (verdict != RES_FASTER && verdict != RES_SLOWER && !same) {
        res_text_printf(text, "%s not known (%+.0f to %+.0f %%)", words, (low - 1) * 100, (high - 1) * 100);
        return;
    }
    if (same)
        res_text_printf(text, "the same");
    else
        add_share(text, row, figure);
    res_text_printf(text, " %s", words);
}

static void add_choice(struct res_text *text, const json_t *row, const json_t *tune)
{
    res_text_printf(text, "%s: ", word_of(row, "name"));
    add_figure(text, row, "time", "time in allocator calls");
    char *memory = res_printf("%s memory", word_of(tune, "memory"));
    res_text_printf(text, ", ");
    add_figure(text, row, "memory", memory);
    free(memory);
}

struct noise {
    double low, high;
};

static struct noise noise_of(const json_t *result)
{
    const json_t *workload = json_array_get(json_object_get(result, "workloads"), 0);
    const json_t *time = json_object_get(json_object_get(workload, "control"), "time");
    return (struct noise){res_cell_number(time, "ratio_low"), res_cell_number(time, "ratio_high")};
}

static void add_doubt(struct res_text *text, const json_t *result)
{
    const struct noise noise = noise_of(result);
    if (noise.high - 1 > RES_LARGE_NOISE || 1 - noise.low > RES_LARGE_NOISE)
        res_text_printf(
            text,
            "; the noise is large (%+.0f to %+.0f %% of time) and hides what is smaller: repeat it on a "
            "quieter machine",
            (noise.low - 1) * 100, (noise.high - 1) * 100);
    if (count_of(json_object_get(json_object_get(result, "tune"), "counts"), "untried") > 0)
        res_text_printf(text, "; a longer --budget would try the rest");
}

/* Who saves memory at a price that was not seen, and what would show it. */
static void add_unbounded(struct res_text *text, const struct res_result *result, const json_t *row)
{
    const json_t *tune = json_object_get(result->json, "tune"), *time = json_object_get(row, "time");
    const struct res_more_rounds more = result->workload_count > 0 ? res_more_rounds(&result->workloads[0])
                                                                   : (struct res_more_rounds){.width = NAN};
    char *remedy = res_more_rounds_words(&more);
    res_text_printf(text, "%s: ", word_of(row, "name"));
    add_share(text, row, "memory");
    res_text_printf(text,
                    " %s memory, but its time is not known (%+.0f to %+.0f %%), which may be a slow-down: "
                    "nothing to deploy before 'mallab ab -a %s,%s' has told, ",
                    word_of(tune, "memory"), (res_cell_number(time, "ratio_low") - 1) * 100,
                    (res_cell_number(time, "ratio_high") - 1) * 100, word_of(tune, "default"),
                    word_of(row, "name"));
    res_text_printf(text, more.until > 0 || isnan(more.width) ? "with %s" : "on a quieter machine: %s",
                    remedy);
    free(remedy);
}

char *res_tune_advice(const struct res_result *typed_result)
{
    const json_t *result = typed_result->json;
    const json_t *tune = json_object_get(result, "tune");
    const json_t *fastest = best_by(result, "time", true), *smallest = best_by(result, "memory", true);
    const json_t *unbounded = best_by(result, "memory", false);
    struct res_text text = {0};
    if (!json_is_true(json_object_get(tune, "confirmed"))) {
        res_text_printf(
            &text,
            "None: stopped before enough fresh rounds; what is shown did best so far, and the best "
            "of many tries looks better than it is. Hold it against the default with 'mallab ab -a "
            "%s,NAME'",
            word_of(tune, "default"));
    } else if (fastest == NULL && smallest == NULL && unbounded != NULL) {
        res_text_printf(&text, "None yet. ");
        add_unbounded(&text, typed_result, unbounded);
    } else if (fastest == NULL && smallest == NULL) {
        res_text_printf(
            &text, "Stay with %s as it is: no setting tried beats it beyond the noise in time or %s memory",
            word_of(tune, "default"), word_of(tune, "memory"));
        add_doubt(&text, result);
    } else {
        const json_t *first = fastest != NULL ? fastest : smallest;
        const bool dearer = verdict_of(first, fastest != NULL ? "memory" : "time") == RES_SLOWER;
        res_text_printf(&text, !dearer           ? "Try "
                               : fastest != NULL ? "Where time matters more than memory try "
                                                 : "Where memory matters more than time try ");
        add_choice(&text, first, tune);
        if (smallest != NULL && smallest != first) {
            res_text_printf(&text, "; or for memory ");
            add_choice(&text, smallest, tune);
        }
        if (unbounded != NULL) {
            res_text_printf(&text, "; ");
            add_unbounded(&text, typed_result, unbounded);
        }
        add_doubt(&text, result);
    }
    res_text_printf(&text, ".");
    return text.text;
}

/* ---- the lines below ------------------------------------------------------------------------ */

char *res_tune_marks(const json_t *tune)
{
    if (!json_is_true(json_object_get(tune, "confirmed")))
        return res_strdup("not confirmed: figures and ranges are of the search, without verdicts");
    return res_printf(
        "on the front: nothing here is shown to beat it on time and %s memory together. Rows without it "
        "are beaten, or no better than the default beyond the noise",
        word_of(tune, "memory"));
}

char *res_tune_tried(const json_t *tune)
{
    const json_t *counts = json_object_get(tune, "counts");
    struct res_text text = {0};
    size_t combined = 0, index;
    json_t *point;
    json_array_foreach(json_object_get(tune, "points"), index, point)
        combined += json_object_size(json_object_get(point, "settings")) > 1 &&
                    strcmp(word_of(point, "state"), "untried") != 0;
    const size_t points = json_array_size(json_object_get(tune, "points"));
    const long long untried = count_of(counts, "untried");
    res_text_printf(&text, "%s settings and combinations (%s combined) in %s runs",
                    FP_GROUPED((uint64_t)(points - untried)), FP_GROUPED(combined),
                    FP_GROUPED((uint64_t)count_of(tune, "runs")));
    const struct {
        const char *key, *words;
    } drops[] = {
        {"dominated", "beaten on time and memory together"},
        {"outranked", "outranked by others"},
        {"simplified", "no better than a part of their settings"},
        {"failed", "failed"},
        {"untried", "not tried for want of time"},
    };
    for (size_t i = 0; i < sizeof drops / sizeof drops[0]; i++) {
        if (count_of(counts, drops[i].key) > 0)
            res_text_printf(&text, "; %s %s", FP_GROUPED((uint64_t)count_of(counts, drops[i].key)),
                            drops[i].words);
    }
    res_text_printf(&text, "; %lld confirmed",
                    json_is_true(json_object_get(tune, "confirmed")) ? count_of(counts, "finalist") : 0LL);
    return text.text;
}

char *res_tune_basis(const struct res_result *typed_result)
{
    const json_t *result = typed_result->json;
    const json_t *tune = json_object_get(result, "tune");
    const json_t *resident = json_object_get(
        json_object_get(json_array_get(json_object_get(result, "workloads"), 0), "control"), "resident");
    const long long rounds = count_of(tune, "confirmation_rounds");
    const struct noise noise = noise_of(result);
    char budget[32], search[32], confirmation[32];
    struct res_text text = {0};
    if (rounds > 0) {
        res_text_printf(&text, "%lld fresh rounds, %lld for memory, none of the search among them; ", rounds,
                        count_of(resident, "rounds"));
        if (isfinite(noise.low) && isfinite(noise.high))
            res_text_printf(&text, "%s against itself: time %+.1f to %+.1f %%; ", word_of(tune, "default"),
                            (noise.low - 1) * 100, (noise.high - 1) * 100);
        res_text_printf(
            &text,
            "a verdict takes p < %.2g, so that all together are wrong in 5 %% at most, and %.0f %% "
            "of difference; ",
            res_cell_number(tune, "p_needed"), 100 * res_cell_number(tune, "least_difference"));
    }
    res_text_printf(&text, "seed %lld; %s of search and %s of confirmation, budget %s",
                    count_of(tune, "seed"), res_text_duration((double)count_of(tune, "search_ns"), search),
                    res_text_duration((double)count_of(tune, "confirmation_ns"), confirmation),
                    res_text_duration((double)count_of(tune, "budget_ns"), budget));
    /* A file may say what no sum of integers holds. */
    const double over_ns = (double)count_of(tune, "search_ns") + (double)count_of(tune, "confirmation_ns") -
                           (double)count_of(tune, "budget_ns");
    if (rounds > 0 && over_ns > OVER_WORTH_TELLING_NS)
        res_text_printf(
            &text, ", passed by %s: a confirmation is not cut short, and its runs took longer than reckoned",
            res_text_duration(over_ns, budget));
    return text.text;
}
