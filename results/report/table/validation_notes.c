/* validation_notes.c - below the tables: what their figures are of, and what disturbed or failed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/report/grid/cells.h"
#include "results/report/grid/lines.h"
#include "results/report/notes/notes.h"
#include "results/report/table/recordings_report.h"
#include "results/report/table/validation_lines.h"

/* "8 rounds", "1 round, stopped before the 8 asked for" */
static char *rounds_words(const json_t *result, const json_t *about)
{
    const json_int_t rounds = json_integer_value(json_object_get(about, "rounds"));
    const json_int_t asked = json_integer_value(json_object_get(result, "rounds_asked"));
    char *stopped = json_is_true(json_object_get(about, "stopped")) && rounds < asked
                        ? res_printf(", stopped before the %lld asked for", (long long)asked)
                        : res_strdup("");
    char *words = res_printf("%lld round%s%s", (long long)rounds, rounds == 1 ? "" : "s", stopped);
    free(stopped);
    return words;
}

void res_validation_notes(struct res_text *text, const json_t *result, const json_t *about)
{
    char *rounds = rounds_words(result, about);
    char *process = res_cell_plain(about, "process", "?"), *by = res_cell_plain(about, "timed_by", "?");
    const char *of = json_string_value(json_object_get(about, "time_of"));
    const char *heap = json_string_value(json_object_get(about, "heap_told_by"));
    const double alike = res_cell_number(about, "processes_alike");
    char *time = of != NULL && strcmp(of, "process") == 0
                     ? res_printf("user and system of '%s' alone, one of several processes; %s", process,
                                  rounds)
                     : res_printf("user and system of the whole command, by %s; %s", by, rounds);
    res_lines_add(text, "time", time);
    free(time);
    if (alike > 1) {
        char *words = res_printf(
            "%.0f go by the name '%s': predicted is the one with most calls when it was recorded, "
            "compared the one with the most memory of each real run; if these are two, the errors "
            "are not the prediction's",
            alike, process);
        res_lines_add(text, "processes", words);
        free(words);
    }
    if (heap != NULL && strcmp(heap, "name") == 0)
        res_text_printf(text,
                        "heap        with what the program maps itself: libmallab-apart.so is not there\n");
    free(rounds);
    free(process);
    free(by);
}

/* A line of what was gathered, which is freed; none where nothing was. */
static void add_names(struct res_text *text, const char *key, const char *before, struct res_text *names,
                      const char *behind)
{
    if (names->length == 0)
        return;
    char *line = res_printf("%s%s%s", before, names->text, behind);
    res_lines_add(text, key, line);
    free(line);
    free(names->text);
}

void res_validation_small(struct res_text *text, const json_t *candidates)
{
    struct res_text words = {0};
    size_t index;
    json_t *candidate;
    json_array_foreach(candidates, index, candidate)
    {
        if (!json_is_true(json_object_get(json_object_get(candidate, "error"), "heap_is_small")))
            continue;
        char *name = res_cell_plain(candidate, "name", "?");
        res_text_printf(&words, "%s%s", words.length > 0 ? ", " : "", name);
        free(name);
    }
    add_names(text, "heap", "below 256 KiB, and so too small to judge: ", &words,
              ". A tenth of that is six pages, and what counts as heap is not told so finely");
}

void res_validation_disturbed(struct res_text *text, const json_t *candidates)
{
    struct res_text words = {0};
    size_t index;
    json_t *candidate;
    json_array_foreach(candidates, index, candidate)
    {
        const double by = res_cell_number(json_object_get(candidate, "real"), "disturbed_by");
        if (!(fabs(by) > 0))
            continue;
        char *name = res_cell_plain(candidate, "name", "?");
        res_text_printf(&words, "%s%s %s", words.length > 0 ? ", " : "", name, RES_PERCENT(by + 1));
        free(name);
    }
    add_names(text, "mappings", "reading them changed what the program held at its peak: ", &words,
              "; the heap's real figures there are of runs without, less what is not heap in runs with");
}

/* No prediction can be nearer to reality than reality is to itself. Means are over wall time, which other work moves. */
void res_validation_spread(struct res_text *text, const json_t *candidates)
{
    double mean = NAN, end = NAN;
    size_t index;
    json_t *candidate;
    json_array_foreach(candidates, index, candidate)
    {
        const json_t *runs = json_object_get(json_object_get(candidate, "real"), "mapped_runs");
        mean = fmax(mean, res_samples_spread(runs, "heap_mean_bytes")); /* of a NAN and a number the number */
        end = fmax(end, res_samples_spread(runs, "heap_end_bytes"));
    }
    if (!isfinite(mean) || !isfinite(end))
        return;
    char *words = res_printf(
        "real runs of one candidate differ by up to %.1f %% in the heap's mean, %.1f %% at its end",
        100 * mean, 100 * end);
    res_lines_add(text, "spread", words);
    free(words);
}

void res_validation_failures(struct res_text *text, const json_t *candidates)
{
    size_t index;
    json_t *candidate;
    json_array_foreach(candidates, index, candidate)
    {
        if (!json_is_string(json_object_get(candidate, "failed")))
            continue;
        char *name = res_cell_plain(candidate, "name", "?"), *why = res_cell_plain(candidate, "failed", "?");
        char *words = res_printf("%s: %s", name, why);
        res_lines_add(text, "failed", words);
        free(words);
        free(name);
        free(why);
    }
}
