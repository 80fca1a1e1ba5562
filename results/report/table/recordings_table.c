/* recordings_table.c - of several recordings what a reader of their predictions has to know. */
#include <math.h>
#include <stdlib.h>

#include "footprint/base/words.h"
#include "results/report/grid/cells.h"
#include "results/report/grid/lines.h"
#include "results/report/notes/notes.h"
#include "results/report/table/recordings_report.h"

double res_samples_spread(const json_t *samples, const char *key)
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

static const json_t *predictions_of(const json_t *candidate)
{
    return json_object_get(json_object_get(candidate, "predicted"), "recordings");
}

static double widest(const json_t *candidates, const char *key)
{
    double found = NAN;
    size_t index;
    json_t *candidate;
    json_array_foreach(candidates, index, candidate) found = fmax(
        found, res_samples_spread(predictions_of(candidate), key)); /* of a NAN and a number the number */
    return found;
}

static char *widest_words(const json_t *candidates, const char *key)
{
    const double spread = 100 * widest(candidates, key);
    return isfinite(spread) ? res_printf("%.1f %%", spread) : res_strdup("-");
}

static void add_differences(struct res_text *text, const json_t *candidates)
{
    char *peak = widest_words(candidates, "peak_heap_bytes"),
         *mean = widest_words(candidates, "mean_heap_bytes"),
         *end = widest_words(candidates, "end_heap_bytes");
    char *words = res_printf("they differ by up to %s in the heap's peak, %s in its mean, %s at its end",
                             peak, mean, end);
    res_lines_add(text, "", words); /* spreads of thousands of per cent take a second line */
    free(words);
    free(peak);
    free(mean);
    free(end);
}

static json_int_t count_of(const json_t *about, const char *key)
{
    return json_integer_value(json_object_get(about, key));
}

/* By how many calls they differ from the first. */
static void add_calls(struct res_text *text, const json_t *about)
{
    const json_t *first = json_array_get(json_object_get(about, "recording_list"), 0);
    const json_int_t apart = count_of(about, "ops_difference_max"), ops = count_of(first, "ops");
    char differ[FP_TEXT_BYTES], all[FP_TEXT_BYTES];
    if (apart > 0 && ops > 0)
        res_text_printf(text, "            and by up to %s calls from the first, which has %s\n",
                        fp_text_grouped((unsigned long long)apart, differ),
                        fp_text_grouped((unsigned long long)ops, all));
}

/* Those beyond what real runs did (median), and of these such whose recordings' own range meets that of the real runs. */
static void count_beyond(const json_t *candidate, size_t *beyond, size_t *meet)
{
    static const char *const keys[][2] = {{"peak_total", "peak_total_bytes"},
                                          {"peak_heap", "peak_heap_bytes"},
                                          {"mean_heap", "mean_heap_bytes"},
                                          {"end_heap", "end_heap_bytes"}};
    const json_t *ranges = json_object_get(json_object_get(candidate, "real"), "ranges");
    const json_t *errors = json_object_get(json_object_get(candidate, "error"), "beyond_reality");
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const json_t *range = json_object_get(ranges, keys[i][0]);
        double least = INFINITY, most = 0;
        size_t index;
        json_t *one;
        if (!(fabs(res_cell_number(errors, keys[i][0])) > 0))
            continue;
        json_array_foreach(predictions_of(candidate), index, one)
        {
            least = fmin(least, res_cell_number(one, keys[i][1]));
            most = fmax(most, res_cell_number(one, keys[i][1]));
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
        res_text_printf(
            text,
            "            predictions beyond real runs: %zu; of recordings whose range meets theirs: "
            "%zu\n",
            beyond, meet);
}

static void add_left_out(struct res_text *text, const json_t *about)
{
    size_t index;
    json_t *recording;
    json_array_foreach(json_object_get(about, "recording_list"), index, recording)
    {
        if (!json_is_string(json_object_get(recording, "left_out")))
            continue;
        char *why = res_cell_plain(recording, "left_out", "?");
        res_text_printf(text, "            recording %lld was left out: %s\n",
                        (long long)count_of(recording, "number"), why);
        free(why);
    }
}

void res_recordings_text(struct res_text *text, const json_t *about, const json_t *candidates)
{
    const json_int_t used = count_of(about, "recordings"), asked = count_of(about, "recordings_asked");
    const bool stopped = json_is_true(json_object_get(about, "recordings_stopped"));
    char *fewer = used < asked ? res_printf(", %s the %lld asked for", stopped ? "stopped before" : "of",
                                            (long long)asked)
                               : res_strdup("");
    if (used > 1) {
        res_text_printf(text, "recordings  predicted is the median of %lld%s\n", (long long)used, fewer);
        add_differences(text, candidates);
        add_calls(text, about);
        add_beyond(text, candidates);
    } else if (asked > 1) {
        res_text_printf(text, "recordings  predicted is of one alone%s\n", fewer);
    }
    add_left_out(text, about);
    free(fewer);
}
