/* notes_memory.c - words on resident memory below the table. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/words.h"
#include "results/measure/figures/entry_figures.h"
#include "results/report/grid/cells.h"
#include "results/report/grid/lines.h"
#include "results/report/notes/notes.h"
#include "results/report/table/table.h"

#define TORN_DOWN 0.1 /* live at the end over live at the peak; below, figures of the end need a word */

static bool has_recorded_clock(const json_t *workload)
{
    return json_integer_value(json_object_get(workload, "memory_rounds")) > 0;
}

/* Names of candidates whose memory on the machine's clock is not what the program would have had. */
static void add_followers(struct res_text *words, const json_t *workload)
{
    size_t index, listed = 0;
    json_t *candidate;
    json_array_foreach(json_object_get(workload, "candidates"), index, candidate)
    {
        const json_t *resident = json_object_get(candidate, "resident");
        if (!json_is_false(json_object_get(resident, "predicted")))
            continue;
        char *name = res_cell_plain(candidate, "name", "?");
        res_text_printf(
            words, "%s%s",
            listed++ > 0 ? ", " : "; by it these give memory back, and had little time to: ", name);
        free(name);
    }
}

static void add_clock_line(struct res_text *text, const json_t *result, const json_t *workload)
{
    const json_int_t rounds = json_integer_value(json_object_get(workload, "memory_rounds"));
    struct res_text words = {0};
    if (rounds > 0) {
        res_text_printf(
            &words,
            "resident is of %lld more run%s of each, in which recorded time passed for the allocator, as "
            "what it gives back follows the clock; times are of the machine's clock",
            (long long)rounds, rounds == 1 ? "" : "s");
    } else {
        const bool timeless = !(res_cell_number(workload, "duration_ns") > 0);
        const bool asked = json_integer_value(json_object_get(result, "memory_rounds_asked")) > 0;
        res_text_printf(&words, "resident is of the timed runs, on the machine's clock: %s",
                        timeless ? "the workload has no recorded time"
                        : asked  ? "no pass on the recorded one was finished"
                                 : "no pass on the recorded one was asked for");
        add_followers(&words, workload);
    }
    res_lines_add(text, "memory", words.text);
    free(words.text);
}

/* What the rest's own objects added beyond the end, in the first run of the memory pass; NAN: not told. */
static double own_bytes_of(const json_t *candidate)
{
    const json_t *run = json_array_get(json_object_get(candidate, "memory_runs"), 0);
    return res_cell_number(json_object_get(run, "resident"), "idle_own_bytes");
}

void res_notes_idle(struct res_text *text, const json_t *result, const json_t *workload)
{
    const double idle_ms = res_cell_number(result, "memory_idle_ms");
    struct res_text words = {0};
    char duration[32], bytes[32];
    size_t index, listed = 0;
    json_t *candidate;
    if (!(idle_ms > 0) || !has_recorded_clock(workload))
        return;
    res_text_printf(
        &words,
        "resident after %s more, with 0.5 MB in 1,000 objects made and freed every tenth of a second: ",
        res_text_duration(idle_ms * 1e6, duration));
    json_array_foreach(json_object_get(workload, "candidates"), index, candidate)
    {
        const double idle = res_cell_number(json_object_get(candidate, "resident"), "idle_bytes");
        if (!isfinite(idle))
            continue;
        char *name = res_cell_plain(candidate, "name", "?");
        res_text_printf(&words, "%s%s %s", listed++ > 0 ? ", " : "", name, fp_text_bytes(idle, bytes));
        const double own = own_bytes_of(candidate);
        if (own >= 0.5) {
            char own_bytes[32];
            res_text_printf(&words, " (without %s that these objects added)", fp_text_bytes(own, own_bytes));
        }
        free(name);
    }
    if (listed > 0)
        res_lines_add(text, "idle", words.text);
    free(words.text);
}

static const json_t *resident_of(const json_t *workload, const char *name)
{
    size_t index;
    json_t *candidate;
    json_array_foreach(json_object_get(workload, "candidates"), index, candidate)
    {
        const char *own = json_string_value(json_object_get(candidate, "name"));
        if (own != NULL && strcmp(own, name) == 0)
            return json_object_get(candidate, "resident");
    }
    return NULL;
}

char *res_start_words(const json_t *result, const json_t *workload)
{
    const char *baseline = json_string_value(json_object_get(result, "baseline"));
    const json_t *base = baseline != NULL ? resident_of(workload, baseline) : NULL;
    const double start = res_cell_number(base, "start_bytes"), peak = res_cell_number(base, "peak_bytes");
    struct res_text words = {0};
    size_t index, listed = 0;
    json_t *candidate;
    json_array_foreach(json_object_get(workload, "candidates"), index, candidate)
    {
        const json_t *resident = json_object_get(candidate, "resident");
        const double more = res_cell_number(resident, "start_bytes") - start;
        char bytes[32];
        if (!(more > 0 && more >= RES_START_MATTERS * peak))
            continue;
        char *name = res_cell_plain(candidate, "name", "?");
        res_text_printf(&words, "%s%s %s",
                        listed++ > 0 ? ", " : "before their first call these hold more than the baseline: ",
                        name, fp_text_bytes(more, bytes));
        free(name);
    }
    if (listed > 0)
        res_text_printf(&words, ". Resident figures are without it, the program has it too");
    return words.text;
}

void res_notes_start(struct res_text *text, const json_t *result, const json_t *workload)
{
    char *words = res_start_words(result, workload);
    if (words != NULL)
        res_lines_add(text, "at start", words);
    free(words);
}

char *res_end_words(const json_t *workload)
{
    const json_t *entry = json_array_get(json_object_get(workload, "candidates"), 0);
    const json_t *timed = json_array_get(json_object_get(entry, "runs"), 0);
    const double end = res_cell_number(timed, "live_end_bytes");
    const double peak = res_cell_number(workload, "live_peak_bytes");
    char bytes[32], of[32];
    if (!(end >= 0 && peak > 0 && end < TORN_DOWN * peak))
        return NULL;
    return res_printf(
        "it held %s live of %s at its peak, as a program does that has freed all before it exits: "
        "end and idle are of that, and not of a service at rest",
        fp_text_bytes(end, bytes), fp_text_bytes(peak, of));
}

void res_notes_end(struct res_text *text, const json_t *workload)
{
    char *words = res_end_words(workload);
    if (words != NULL)
        res_lines_add(text, "at end", words);
    free(words);
}

void res_notes_unpredicted(struct res_text *text, const json_t *workload)
{
    size_t index;
    json_t *candidate;
    if (!has_recorded_clock(workload))
        return;
    json_array_foreach(json_object_get(workload, "candidates"), index, candidate)
    {
        const json_t *resident = json_object_get(candidate, "resident");
        if (!json_is_string(json_object_get(resident, "not_predicted_why")))
            continue;
        char *name = res_cell_plain(candidate, "name", "?");
        char *why = res_cell_plain(resident, "not_predicted_why", "?");
        char *words = res_printf("memory of %s is not predicted: %s", name, why);
        res_lines_add(text, "unpredicted", words);
        free(words);
        free(why);
        free(name);
    }
}

/* Who sees 0.98x for the first time takes it for a mistake. */
static void add_below_line(struct res_text *text, const json_t *workload)
{
    size_t index;
    json_t *candidate;
    json_array_foreach(json_object_get(workload, "candidates"), index, candidate)
    {
        if (!(res_entry_blow_up(workload, candidate) < 0.995)) /* as it is printed */
            continue;
        res_lines_add(
            text, "below 1x",
            "peak over live is the resident peak over the most bytes that the program held at a time; "
            "it is below 1x where pages of large objects were never written to: nobody holds them");
        break;
    }
}

void res_notes_memory(struct res_text *text, const json_t *result, const json_t *workload, bool details)
{
    if (json_object_get(workload, "memory_rounds") != NULL && (details || !has_recorded_clock(workload)))
        add_clock_line(text, result, workload);
    add_below_line(text, workload);
}

const char *res_live_words(const json_t *workload)
{
    const char *live = json_string_value(
        json_object_get(workload, "live")); /* results of before say nothing */
    if (live == NULL || strcmp(live, "known") == 0)
        return NULL;
    if (strcmp(live, "paused") == 0)
        return "what was made or released in pauses is not known: live bytes and resident memory are not "
               "exact";
    if (strcmp(live, "left_behind") == 0)
        return "what merged processes left behind when they ended stays live: live bytes and resident memory "
               "are upper bounds";
    return "what was live when the recording begins is not known: live bytes and resident memory are lower "
           "bounds";
}
