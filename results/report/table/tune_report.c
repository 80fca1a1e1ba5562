/* tune_report.c - a search for people and for documents: sentences on it, its rows, and what to paste. */
#include "results/report/table/tune_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/words.h"
#include "results/measure/base/shell_line.h"
#include "results/measure/figures/pareto.h"
#include "results/measure/result/tuned.h"
#include "results/measure/statistics/statistics.h"
#include "results/report/grid/cells.h"
#include "results/report/grid/lines.h"
#include "results/report/notes/more_rounds.h"
#include "results/report/notes/notes.h"
#include "results/report/table/table.h"

#define OVER_WORTH_TELLING_NS 1e9

/* ---- advice --------------------------------------------------------------------------------- */

/* Resident memory that it holds before the first call, which no other figure has in it; NAN: not known. */
static double start_of(const struct res_result *result, const char *name)
{
    const struct res_result_entry *entry = result->workload_count > 0
                                               ? res_result_entry_named(&result->workloads[0], name)
                                               : NULL;
    return entry != NULL ? entry->figures.start_bytes : NAN;
}

static bool is_outweighed(const struct res_result *result, const struct res_tuned_row *row)
{
    const struct res_held own = {row->memory.value, start_of(result, row->name)};
    const struct res_held standard = {
        row->memory.value / row->memory.difference.ratio,
        start_of(result, result->tune->standard),
    };
    return res_held_outweighed(own, standard);
}

/* preload_words - "LD_PRELOAD=..." of a row's library, as a shell takes it and fit for a terminal; "" where it has none.
 * The caller's to free. */
static char *preload_words(const struct res_tuned_row *row)
{
    struct res_text words = {0};
    if (row->library == NULL)
        return res_strdup("");
    res_shell_variable(&words, "LD_PRELOAD", row->library);
    char *plain = res_text_plain(words.text);
    free(words.text);
    return plain;
}

bool res_tune_is_bounded(const struct res_tuned_row *row)
{
    const struct res_difference *time = &row->time.difference;
    return row->is_default || time->verdict == RES_LESS || time->verdict == RES_MORE ||
           time->interval.high <= 1 + RES_PARETO_MARGIN;
}

static const struct res_difference *figure_of(const struct res_tuned_row *row, bool memory)
{
    return memory ? &row->memory.difference : &row->time.difference;
}

/* bounded: among those whose time is known to be, or not to be. */
static const struct res_tuned_row *best_by(const struct res_result *result, bool memory, bool bounded)
{
    const struct res_tuned_row *best = NULL;
    for (size_t i = 0; i < result->tune->front_count; i++) {
        const struct res_tuned_row *row = &result->tune->front[i];
        if (figure_of(row, memory)->verdict == RES_LESS && res_tune_is_bounded(row) == bounded &&
            !(memory && is_outweighed(result, row)) &&
            (best == NULL || figure_of(row, memory)->ratio < figure_of(best, memory)->ratio))
            best = row;
    }
    return best;
}

static void add_share(struct res_text *text, double ratio)
{
    const double percent = fabs(ratio - 1) * 100;
    res_text_printf(text, percent < 9.95 ? "%.1f %% " : "%.0f %% ", percent);
    res_text_printf(text, "%s", ratio < 1 ? "less" : "more");
}

/* "Same" in loud noise is not seen rather than not there: then the range is told. */
static void add_figure(struct res_text *text, const struct res_difference *figure, const char *words)
{
    const double low = figure->interval.low, high = figure->interval.high;
    const bool same = figure->verdict == RES_SAME && fmax(1 - low, high - 1) <= RES_LARGE_NOISE;
    if (figure->verdict != RES_LESS && figure->verdict != RES_MORE && !same) {
        res_text_printf(text, "%s not known (%+.0f to %+.0f %%)", words, (low - 1) * 100, (high - 1) * 100);
        return;
    }
    if (same)
        res_text_printf(text, "the same");
    else
        add_share(text, figure->ratio);
    res_text_printf(text, " %s", words);
}

/* " (about 2 % of the program)" of what differs, where the program's CPU time is known and to be relied on. */
static void add_program_share(struct res_text *text, const struct res_result *result,
                              const struct res_difference *time)
{
    const struct res_result_workload *workload = result->workload_count > 0 ? &result->workloads[0] : NULL;
    if (workload == NULL || !isfinite(workload->share_time) || workload->no_trust_time != NULL ||
        (time->verdict != RES_LESS && time->verdict != RES_MORE))
        return;
    res_text_printf(text, " (");
    res_notes_add_time_share(text, workload, fabs(time->ratio - 1) * workload->share_time);
    res_text_printf(text, " of the program)");
}

static void add_choice(struct res_text *text, const struct res_tuned_row *row,
                       const struct res_result *result)
{
    const struct res_tuned *tune = result->tune;
    res_text_printf(text, "%s: ", row->name);
    add_figure(text, &row->time.difference, "time in allocator calls");
    add_program_share(text, result, &row->time.difference);
    char *memory = res_printf("%s memory", res_tuned_memory(tune));
    res_text_printf(text, ", ");
    add_figure(text, &row->memory.difference, memory);
    free(memory);
}

/* The default against itself. */
static struct res_interval noise_of(const struct res_result *result)
{
    return result->workload_count > 0 ? result->workloads[0].control.figures.time.interval
                                      : (struct res_interval){NAN, NAN};
}

static void add_doubt(struct res_text *text, const struct res_result *result)
{
    const struct res_interval noise = noise_of(result);
    if (noise.high - 1 > RES_LARGE_NOISE || 1 - noise.low > RES_LARGE_NOISE)
        res_text_printf(
            text,
            "; the noise is large (%+.0f to %+.0f %% of time) and hides what is smaller: repeat it on a "
            "quieter machine",
            (noise.low - 1) * 100, (noise.high - 1) * 100);
    if (result->tune->counts[RES_TUNE_UNTRIED] > 0)
        res_text_printf(text, "; a longer --budget would try the rest");
}

/* Who saves memory at a price that was not seen, and what would show it. */
static void add_unbounded(struct res_text *text, const struct res_result *result,
                          const struct res_tuned_row *row)
{
    const struct res_interval *time = &row->time.difference.interval;
    const struct res_more_rounds more = result->workload_count > 0 ? res_more_rounds(&result->workloads[0])
                                                                   : (struct res_more_rounds){.width = NAN};
    char *remedy = res_more_rounds_words(&more);
    res_text_printf(text, "%s: ", row->name);
    add_share(text, row->memory.difference.ratio);
    res_text_printf(text,
                    " %s memory, but its time is not known (%+.0f to %+.0f %%), which may be a slow-down: "
                    "nothing to deploy before 'mallab ab -a %s,%s' has told, ",
                    res_tuned_memory(result->tune), (time->low - 1) * 100, (time->high - 1) * 100,
                    result->tune->standard, row->name);
    res_text_printf(text, more.until > 0 || isnan(more.width) ? "with %s" : "on a quieter machine: %s",
                    remedy);
    free(remedy);
}

char *res_tune_advice(const struct res_result *result)
{
    const struct res_tuned *tune = result->tune;
    const struct res_tuned_row *fastest = best_by(result, false, true);
    const struct res_tuned_row *smallest = best_by(result, true, true);
    const struct res_tuned_row *unbounded = best_by(result, true, false);
    struct res_text text = {0};
    if (!tune->confirmed) {
        res_text_printf(
            &text,
            "None: stopped before enough fresh rounds; what is shown did best so far, and the best "
            "of many tries looks better than it is. Hold it against the default with 'mallab ab -a "
            "%s,NAME'",
            tune->standard);
    } else if (fastest == NULL && smallest == NULL && unbounded != NULL) {
        res_text_printf(&text, "None yet. ");
        add_unbounded(&text, result, unbounded);
    } else if (fastest == NULL && smallest == NULL) {
        res_text_printf(
            &text, "Stay with %s as it is: no setting tried beats it beyond the noise in time or %s memory",
            tune->standard, res_tuned_memory(tune));
        add_doubt(&text, result);
    } else {
        const struct res_tuned_row *first = fastest != NULL ? fastest : smallest;
        const bool dearer = figure_of(first, fastest != NULL)->verdict == RES_MORE;
        res_text_printf(&text, !dearer           ? "Try "
                               : fastest != NULL ? "Where time matters more than memory try "
                                                 : "Where memory matters more than time try ");
        add_choice(&text, first, result);
        if (smallest != NULL && smallest != first) {
            res_text_printf(&text, "; or for memory ");
            add_choice(&text, smallest, result);
        }
        if (unbounded != NULL) {
            res_text_printf(&text, "; ");
            add_unbounded(&text, result, unbounded);
        }
        add_doubt(&text, result);
    }
    res_text_printf(&text, ".");
    return text.text;
}

/* ---- the lines below ------------------------------------------------------------------------ */

static char *marks_words(const struct res_tuned *tune)
{
    if (!tune->confirmed)
        return res_strdup("not confirmed: figures and ranges are of the search, without verdicts");
    return res_printf(
        "on the front: nothing here is shown to beat it on time and %s memory together. Rows without it "
        "are beaten, or no better than the default beyond the noise",
        res_tuned_memory(tune));
}

char *res_tune_tried(const struct res_tuned *tune)
{
    static const struct {
        enum res_tune_state state;
        const char *words;
    } DROPS[] = {
        {RES_TUNE_DOMINATED, "beaten on time and memory together"},
        {RES_TUNE_OUTRANKED, "outranked by others"},
        {RES_TUNE_SIMPLIFIED, "no better than a part of their settings"},
        {RES_TUNE_FAILED, "gave no figures"},
        {RES_TUNE_UNTRIED, "not tried for want of time"},
    };
    struct res_text text = {0};
    size_t combined = 0, tried = 0;
    for (size_t i = 0; i < tune->point_count; i++) {
        const struct res_tuned_point *point = &tune->points[i];
        tried += point->state != RES_TUNE_UNTRIED;
        combined += point->state != RES_TUNE_UNTRIED && point->settings.count > 1;
    }
    res_text_printf(&text, "%s settings and combinations (%s combined) in %s runs", FP_GROUPED(tried),
                    FP_GROUPED(combined), FP_GROUPED(tune->runs));
    for (size_t i = 0; i < sizeof DROPS / sizeof DROPS[0]; i++) {
        if (tune->counts[DROPS[i].state] > 0)
            res_text_printf(&text, "; %s %s", FP_GROUPED(tune->counts[DROPS[i].state]), DROPS[i].words);
    }
    res_text_printf(&text, "; %" PRIu64 " confirmed", tune->confirmed ? tune->counts[RES_TUNE_FINALIST] : 0);
    return text.text;
}

char *res_tune_basis(const struct res_result *result)
{
    const struct res_tuned *tune = result->tune;
    const struct res_interval noise = noise_of(result);
    char budget[32], search[32], confirmation[32];
    struct res_text text = {0};
    if (tune->confirmation_rounds > 0) {
        res_text_printf(&text,
                        "%" PRIu64 " fresh rounds, %" PRIu64 " for memory, none of the search among them; ",
                        tune->confirmation_rounds,
                        result->workload_count > 0 ? result->workloads[0].control.resident_rounds : 0);
        if (isfinite(noise.low) && isfinite(noise.high))
            res_text_printf(&text, "%s against itself: time %+.1f to %+.1f %%; ", tune->standard,
                            (noise.low - 1) * 100, (noise.high - 1) * 100);
        res_text_printf(
            &text,
            "a verdict takes p < %.2g, so that all together are wrong in 5 %% at most, and %.0f %% "
            "of difference; ",
            tune->p_needed, 100 * tune->least_difference);
    }
    res_text_printf(&text, "seed %" PRIu64 "; %s of search and %s of confirmation, budget %s", tune->seed,
                    res_text_duration((double)tune->search_ns, search),
                    res_text_duration((double)tune->confirmation_ns, confirmation),
                    res_text_duration((double)tune->budget_ns, budget));
    /* A file may say what no sum of integers holds. */
    const double over_ns = (double)tune->search_ns + (double)tune->confirmation_ns - (double)tune->budget_ns;
    if (tune->confirmation_rounds > 0 && over_ns > OVER_WORTH_TELLING_NS)
        res_text_printf(
            &text, ", passed by %s: a confirmation is not cut short, and its runs took longer than reckoned",
            res_text_duration(over_ns, budget));
    return text.text;
}

/* ---- rows ----------------------------------------------------------------------------------- */

struct row {
    const struct res_tuned_row *row;
    bool is_front;
};

struct rows {
    struct row *items; /* in the order in which they are printed */
    size_t count;
};

/* The default first, then by time. */
static int by_time(const void *left, const void *right)
{
    const struct res_tuned_row *a = ((const struct row *)left)->row, *b = ((const struct row *)right)->row;
    const double x = a->time.difference.ratio, y = b->time.difference.ratio;
    return a->is_default != b->is_default ? (int)b->is_default - (int)a->is_default : (x > y) - (x < y);
}

static struct rows rows_of(const struct res_tuned *tune)
{
    struct rows rows = {.items = res_calloc(tune->front_count + tune->beaten_count + 1, sizeof *rows.items)};
    for (size_t i = 0; i < tune->front_count; i++)
        rows.items[rows.count++] = (struct row){&tune->front[i], true};
    for (size_t i = 0; i < tune->beaten_count; i++)
        rows.items[rows.count++] = (struct row){&tune->beaten[i], false};
    qsort(rows.items, rows.count, sizeof *rows.items, by_time);
    return rows;
}

/* ---- the table ------------------------------------------------------------------------------ */

static void add_difference(struct res_grid *grid, const struct res_difference *figure, bool is_default,
                           bool memory)
{
    const char *word = memory ? RES_MEMORY_VERDICTS[figure->verdict] : RES_TIME_VERDICTS[figure->verdict];
    if (is_default) {
        res_grid_add(grid, NULL);
        res_grid_add(grid, NULL);
        res_grid_add(grid, "default");
        return;
    }
    res_grid_add(grid, RES_PERCENT(figure->ratio));
    res_grid_add(grid, RES_INTERVAL(figure->interval.low, figure->interval.high));
    res_grid_add(grid, figure->verdict == RES_UNDECIDED ? "?"
                       : figure->verdict == RES_SAME
                           ? res_verdict_shown(RES_SAME, figure->interval.low, figure->interval.high)
                           : word);
    res_grid_role(grid, res_cell_role_large(word, figure->ratio));
}

static void grid_begin(struct res_grid *grid, const struct res_tuned *tune, struct res_bytes_unit unit)
{
    const char *name = tune->standard, *memory = res_tuned_memory(tune);
    char *words[] = {res_printf("time against %s", name), res_printf("%s, %s", memory, unit.name),
                     res_printf("resident %s, %s", memory, unit.name),
                     res_printf("resident %s against %s", memory, name)};
    const struct res_column columns[] = {
        {.heading = "  settings", .alone = "settings", .own_line = true},
        {.heading = "change", .group = words[0], .alone = words[0], .right = true, .gap = 2},
        {.heading = "95 % range", .group = words[0], .gap = 1},
        {.heading = "verdict", .group = words[0], .gap = 1},
        {.heading = words[1], .alone = words[2], .right = true, .gap = 2},
        {.heading = "change", .group = words[3], .alone = words[3], .right = true, .gap = 2},
        {.heading = "95 % range", .group = words[3], .gap = 1},
        {.heading = "verdict", .group = words[3], .gap = 1},
    };
    res_grid_begin(grid, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        free(words[i]);
}

static void fill(struct res_grid *grid, const struct res_tuned *tune, const struct rows *rows)
{
    double largest = 0;
    for (size_t i = 0; i < rows->count; i++)
        largest = fmax(largest, rows->items[i].row->memory.value);
    const struct res_bytes_unit unit = res_bytes_unit_of(largest);
    grid_begin(grid, tune, unit);
    for (size_t i = 0; i < rows->count; i++) {
        const struct res_tuned_row *row = rows->items[i].row;
        const char mark = !tune->confirmed ? '?' : rows->items[i].is_front ? '*' : ' ';
        res_grid_own(grid, res_printf("%c %s", mark, row->name));
        add_difference(grid, &row->time.difference, row->is_default, false);
        res_grid_add(grid, RES_IN_UNIT(row->memory.value, unit));
        add_difference(grid, &row->memory.difference, row->is_default, true);
    }
}

/* ---- around it ------------------------------------------------------------------------------ */

/* In Markdown no mark counts in a block of code, and what begins a line of it is the name of a variable. */
static void add_paste(struct res_text *text, const struct res_tuned_row *row, bool markdown, bool is_first)
{
    char *library = preload_words(row);
    char *line = res_printf("%s%s%s", library, *library != '\0' && *row->paste != '\0' ? " " : "",
                            row->paste);
    if (markdown) {
        res_text_printf(text, "To paste, ");
        res_markdown_add(text, row->name);
        res_text_printf(text, ":\n\n```sh\n%s\n```\n\n", line);
    } else {
        res_text_printf(text, "%s  %s:\n    %s\n", is_first ? "to paste\n" : "", row->name, line);
    }
    free(line);
    free(library);
}

/* Of what was not confirmed nothing: what did best in noise is nothing to set. */
static void add_pastes(struct res_text *text, const struct res_tuned *tune, const struct rows *rows,
                       bool markdown)
{
    bool any = false;
    for (size_t i = 0; i < rows->count && tune->confirmed; i++) {
        const struct res_tuned_row *row = rows->items[i].row;
        if (!rows->items[i].is_front || !res_tune_is_bounded(row) ||
            (*row->paste == '\0' && row->library == NULL))
            continue;
        add_paste(text, row, markdown, !any);
        any = true;
    }
    if (any && !markdown)
        res_text_printf(text, "\n");
}

static void add_failed(struct res_text *text, const struct res_tuned *tune)
{
    size_t told = 0;
    for (size_t i = 0; i < tune->point_count; i++) {
        const struct res_tuned_point *point = &tune->points[i];
        if (point->failed == NULL || told++ >= 3)
            continue;
        char *words = res_printf("%s: %s", point->name != NULL ? point->name : "?", point->failed);
        const bool hung = strncmp(point->failed, RES_NO_ANSWER, strlen(RES_NO_ANSWER)) == 0;
        res_lines_add(text, hung ? "no answer" : "failed", words);
        free(words);
    }
    if (told > 3) {
        char *words = res_printf("and %zu more; their reasons are in the JSON", told - 3);
        res_lines_add(text, "", words);
        free(words);
    }
}

static void add_words(struct res_text *text, bool markdown, const char *label, char *words)
{
    if (markdown) {
        res_text_printf(text, "- ");
        res_markdown_add(text, label);
        res_text_printf(text, ": ");
        res_markdown_add(text, words);
        res_text_printf(text, "\n");
    } else {
        char *plain = res_text_plain(words);
        res_lines_add(text, label, plain);
        free(plain);
    }
    free(words);
}

static void add_heading(struct res_text *text, const struct res_result_workload *workload, bool markdown)
{
    if (!markdown) {
        res_notes_head(text, workload);
        return;
    }
    res_text_printf(text, "### Settings for ");
    res_markdown_add(text, workload->name);
    res_text_printf(text, "\n\n");
}

char *res_tune_text(const struct res_result *result, const struct res_style *style)
{
    const struct res_tuned *tune = result->tune;
    const bool markdown = style == NULL;
    struct res_text text = {0};
    struct res_grid grid;
    if (tune == NULL)
        return NULL;
    /* Where nothing was confirmed the result has no workload. */
    const struct res_result_workload *workload = result->workload_count > 0 ? &result->workloads[0]
                                                                            : &tune->workload;
    const struct rows rows = rows_of(tune);
    add_heading(&text, workload, markdown);
    fill(&grid, tune, &rows);
    if (markdown)
        res_grid_markdown(&grid, &text);
    else
        res_grid_text(&grid, style, &text);
    res_text_printf(&text, "\n");
    add_pastes(&text, tune, &rows, markdown);
    add_words(&text, markdown, "advice", res_tune_advice(result));
    if (res_notes_live(workload->live) != NULL)
        add_words(&text, markdown, "live", res_strdup(res_notes_live(workload->live)));
    add_words(&text, markdown, tune->confirmed ? "*" : "?", marks_words(tune));
    add_words(&text, markdown, "tried", res_tune_tried(tune));
    add_words(&text, markdown, "basis", res_tune_basis(result));
    if (!markdown) {
        add_failed(&text, tune);
        res_notes_text(&text, result->notes, result->note_count, true, "disturbed");
    }
    res_grid_release(&grid);
    free(rows.items);
    return text.text;
}
