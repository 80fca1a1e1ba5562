/* validation_lines.c - see validation_lines.h. */
#include "results/report/table/validation_lines.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/words.h"
#include "results/measure/validate/fidelity.h"
#include "results/report/grid/cells.h"
#include "results/report/grid/lines.h"

static json_int_t count_of(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

/* How far samples under one key are from each other, as a share of the least; NAN with fewer than two that are known, or where
 * the least is not above 0. */
static double spread_of(const json_t *samples, const char *key)
{
    double least = INFINITY, most = 0;
    size_t index, known = 0;
    json_t *sample;
    json_array_foreach(samples, index, sample)
    {
        const double bytes = res_cell_number(sample, key);
        if (!isfinite(bytes))
            continue;
        least = fmin(least, bytes);
        most = fmax(most, bytes);
        known++;
    }
    return known > 1 && least > 0 ? most / least - 1 : NAN;
}

/* ---- what the figures are of ---------------------------------------------------------------- */

static void add_time(struct res_text *text, const json_t *result, const json_t *about)
{
    const json_int_t rounds = count_of(about, "rounds"), asked = count_of(result, "rounds_asked");
    const bool stopped = json_is_true(json_object_get(about, "stopped")) && rounds < asked;
    const char *of = res_cell_string(about, "time_of", "");
    char of_whom[256], until[64] = "";
    if (strcmp(of, "process") == 0)
        snprintf(of_whom, sizeof of_whom, "'%s' alone, one of several processes",
                 res_cell_string(about, "process", "?"));
    else
        snprintf(of_whom, sizeof of_whom, "the whole command, by %s",
                 res_cell_string(about, "timed_by", "?"));
    if (stopped)
        snprintf(until, sizeof until, ", stopped before the %lld asked for", (long long)asked);
    res_lines_printf(text, "time", "user and system of %s; %lld round%s%s", of_whom, (long long)rounds,
                     rounds == 1 ? "" : "s", until);
}

/* Adds "NAME WORDS" to a list; words: "" for none. */
static void add_name(struct res_text *names, const json_t *candidate, const char *words)
{
    res_text_printf(names, "%s%s%s%s", names->length > 0 ? ", " : "", res_cell_string(candidate, "name", "?"),
                    *words != '\0' ? " " : "", words);
}

static void add_small(struct res_text *text, const json_t *candidates)
{
    struct res_text names = {0};
    size_t index;
    json_t *candidate;
    json_array_foreach(candidates, index, candidate)
    {
        if (json_is_true(json_object_get(json_object_get(candidate, "error"), "heap_is_small")))
            add_name(&names, candidate, "");
    }
    if (names.length > 0)
        res_lines_printf(
            text, "heap",
            "below 256 KiB, and so too small to judge: %s. A tenth of that is six pages, and what "
            "counts as heap is not told so finely",
            names.text);
    free(names.text);
}

static void add_disturbed(struct res_text *text, const json_t *candidates)
{
    struct res_text names = {0};
    size_t index;
    json_t *candidate;
    json_array_foreach(candidates, index, candidate)
    {
        const double by = res_cell_number(json_object_get(candidate, "real"), "disturbed_by");
        if (fabs(by) > 0)
            add_name(&names, candidate, RES_PERCENT(by + 1));
    }
    if (names.length > 0)
        res_lines_printf(
            text, "mappings",
            "reading them changed what the program held at its peak: %s; the heap's real figures "
            "there are of runs without, less what is not heap in runs with",
            names.text);
    free(names.text);
}

/* No prediction can be nearer to reality than reality is to itself. Means are over wall time, which other work moves. */
static void add_spread(struct res_text *text, const json_t *candidates)
{
    double mean = NAN, end = NAN;
    size_t index;
    json_t *candidate;
    json_array_foreach(candidates, index, candidate)
    {
        const json_t *runs = json_object_get(json_object_get(candidate, "real"), "mapped_runs");
        mean = fmax(mean, spread_of(runs, "heap_mean_bytes")); /* of a NAN and a number the number */
        end = fmax(end, spread_of(runs, "heap_end_bytes"));
    }
    if (isfinite(mean) && isfinite(end))
        res_lines_printf(
            text, "spread",
            "real runs of one candidate differ by up to %.1f %% in the heap's mean, %.1f %% at its end",
            100 * mean, 100 * end);
}

void res_validation_notes(struct res_text *text, const json_t *result)
{
    const json_t *about = json_object_get(result, "validation"),
                 *candidates = json_object_get(result, "candidates");
    const double alike = res_cell_number(about, "processes_alike");
    add_time(text, result, about);
    if (alike > 1)
        res_lines_printf(
            text, "processes",
            "%.0f go by the name '%s': predicted is the one with most calls when it was recorded, "
            "compared the one with the most memory of each real run; if these are two, the errors "
            "are not the prediction's",
            alike, res_cell_string(about, "process", "?"));
    if (strcmp(res_cell_string(about, "heap_told_by", ""), "name") == 0)
        res_lines_add(text, "heap", "with what the program maps itself: libmallab-apart.so is not there");
    add_small(text, candidates);
    add_disturbed(text, candidates);
    add_spread(text, candidates);
}

void res_validation_failures(struct res_text *text, const json_t *candidates)
{
    size_t index;
    json_t *candidate;
    json_array_foreach(candidates, index, candidate)
    {
        if (json_is_string(json_object_get(candidate, "failed")))
            res_lines_printf(text, "failed", "%s: %s", res_cell_string(candidate, "name", "?"),
                             res_cell_string(candidate, "failed", "?"));
    }
}

/* ---- recordings ----------------------------------------------------------------------------- */

static const json_t *predictions_of(const json_t *candidate)
{
    return json_object_get(json_object_get(candidate, "predicted"), "recordings");
}

static double widest(const json_t *candidates, const char *key)
{
    double found = NAN;
    size_t index;
    json_t *candidate;
    json_array_foreach(candidates, index, candidate)
        found = fmax(found, spread_of(predictions_of(candidate), key)); /* of a NAN and a number the number */
    return found;
}

static const char *widest_words(const json_t *candidates, const char *key, char *room)
{
    const double spread = 100 * widest(candidates, key);
    snprintf(room, RES_WORDS, isfinite(spread) ? "%.1f %%" : "-", spread);
    return room;
}

static void add_differences(struct res_text *text, const json_t *candidates)
{
    res_lines_printf(text, "", "they differ by up to %s in the heap's peak, %s in its mean, %s at its end",
                     widest_words(candidates, "peak_heap_bytes", RES_WORDS_ROOM),
                     widest_words(candidates, "mean_heap_bytes", RES_WORDS_ROOM),
                     widest_words(candidates, "end_heap_bytes", RES_WORDS_ROOM));
}

/* By how many calls they differ from the first. */
static void add_calls(struct res_text *text, const json_t *about)
{
    const json_t *first = json_array_get(json_object_get(about, "recording_list"), 0);
    const json_int_t apart = count_of(about, "ops_difference_max"), ops = count_of(first, "ops");
    if (apart > 0 && ops > 0)
        res_lines_printf(text, "", "and by up to %s calls from the first, which has %s",
                         FP_GROUPED((uint64_t)apart), FP_GROUPED((uint64_t)ops));
}

/* Memory that is predicted and has a range of real runs, and under which key a recording's sample has it. */
static const struct {
    const char *key, *sample_key;
} RANGED[] = {{"peak_total", "peak_total_bytes"},
              {"peak_heap", "peak_heap_bytes"},
              {"mean_heap", "mean_heap_bytes"},
              {"end_heap", "end_heap_bytes"}};

#define RANGED_COUNT (sizeof RANGED / sizeof RANGED[0])

/* Counts predictions beyond what real runs did (median), and those of them whose recordings' own range meets that of the real
 * runs. */
static void count_beyond(const json_t *candidate, size_t *beyond, size_t *meet)
{
    const json_t *ranges = json_object_get(json_object_get(candidate, "real"), "ranges");
    const json_t *errors = json_object_get(json_object_get(candidate, "error"), "beyond_reality");
    for (size_t i = 0; i < RANGED_COUNT; i++) {
        const json_t *range = json_object_get(ranges, RANGED[i].key);
        double least = INFINITY, most = 0;
        size_t index;
        json_t *one;
        if (!(fabs(res_cell_number(errors, RANGED[i].key)) > 0))
            continue;
        json_array_foreach(predictions_of(candidate), index, one)
        {
            least = fmin(least, res_cell_number(one, RANGED[i].sample_key));
            most = fmax(most, res_cell_number(one, RANGED[i].sample_key));
        }
        (*beyond)++;
        *meet += least <= res_cell_number(range, "high_bytes") && most >= res_cell_number(range, "low_bytes");
    }
}

static void add_beyond(struct res_text *text, const json_t *candidates)
{
    size_t beyond = 0, meet = 0, index;
    json_t *candidate;
    json_array_foreach(candidates, index, candidate) count_beyond(candidate, &beyond, &meet);
    if (beyond > 0)
        res_lines_printf(text, "",
                         "predictions beyond real runs: %zu; of recordings whose range meets theirs: %zu",
                         beyond, meet);
}

static void add_left_out(struct res_text *text, const json_t *about)
{
    size_t index;
    json_t *recording;
    json_array_foreach(json_object_get(about, "recording_list"), index, recording)
    {
        if (json_is_string(json_object_get(recording, "left_out")))
            res_lines_printf(text, "", "recording %lld was left out: %s",
                             (long long)count_of(recording, "number"),
                             res_cell_string(recording, "left_out", "?"));
    }
}

void res_validation_recordings(struct res_text *text, const json_t *about, const json_t *candidates)
{
    const json_int_t used = count_of(about, "recordings"), asked = count_of(about, "recordings_asked");
    const bool stopped = json_is_true(json_object_get(about, "recordings_stopped"));
    char fewer[64] = "";
    if (used < asked)
        snprintf(fewer, sizeof fewer, ", %s the %lld asked for", stopped ? "stopped before" : "of",
                 (long long)asked);
    if (used > 1) {
        res_lines_printf(text, "recordings", "predicted is the median of %lld%s", (long long)used, fewer);
        add_differences(text, candidates);
        add_calls(text, about);
        add_beyond(text, candidates);
    } else if (asked > 1) {
        res_lines_printf(text, "recordings", "predicted is of one alone%s", fewer);
    }
    add_left_out(text, about);
}

/* ---- bars ----------------------------------------------------------------------------------- */

/* Behind a bar, where it is one of memory: how many of its figures lie within what real runs did. */
static void add_within(struct res_text *text, const json_t *within, const char *key)
{
    const json_t *one = json_object_get(within, key);
    const json_int_t checked = count_of(one, "checked");
    if (checked > 0)
        res_text_printf(text, "; within reality's own range: %lld of %lld", (long long)count_of(one, "met"),
                        (long long)checked);
}

static void add_bar(struct res_text *text, const json_t *about, const char *key, const char *words,
                    const char *none)
{
    const json_t *bars = json_object_get(about, "bars");
    const json_t *bar = json_object_get(bars, key);
    const json_int_t checked = count_of(bar, "checked");
    const json_int_t met = count_of(bar, "met");
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

/* How many predictions of these figures lie within what real runs did. */
static void add_met(struct res_text *text, const json_t *within)
{
    json_int_t checked = 0, met = 0;
    for (size_t i = 0; i < RANGED_COUNT; i++) {
        const json_t *one = json_object_get(within, RANGED[i].key);
        checked += count_of(one, "checked");
        met += count_of(one, "met");
    }
    if (checked > 0)
        res_lines_printf(
            text, "",
            "Of the figures with a range %lld of %lld predictions lie within that of the real runs.",
            (long long)met, (long long)checked);
}

static void add_summary(struct res_text *text, const json_t *about, const json_t *candidates)
{
    const double total = worst(candidates, "peak_total"), heap = worst(candidates, "peak_heap"),
                 mean = worst(candidates, "mean_heap");
    const char *believed = believed_words(total, heap, mean);
    char of_heap[256] = "";
    if (isfinite(heap))
        snprintf(of_heap, sizeof of_heap, ", %s in the heap's part; of the heap's means %s",
                 RES_PERCENT(heap + 1), RES_PERCENT(mean + 1));
    res_lines_printf(text, "fidelity", "Of the peaks the prediction furthest off is %s in total%s.%s%s",
                     RES_PERCENT(total + 1), of_heap, believed != NULL ? " " : "",
                     believed != NULL ? believed : "");
    add_met(text, json_object_get(about, "within_reality"));
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
    res_lines_add(text, "bars", "what mallab asks of its own predictions");
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
