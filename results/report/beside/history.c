/* history.c - results of many days, sorted into series, each candidate held against the first of its level; and shown. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "footprint/base/words.h"
#include "results/measure/base/lives.h"
#include "results/report/beside/beside.h"

#define PART_MAX 64u /* bytes: three parts and the ending stay far below NAME_MAX */

/* ---- names ------------------------------------------------------------------------------------ */

/* Its name, where the user gave one ($MALLAB_MACHINE), else its processor and how many there are: machines that are alike are one
 * then. The caller's to free. */
static char *machine_name(const struct res_machine *machine)
{
    if (machine->name != NULL && *machine->name != '\0')
        return res_strdup(machine->name);
    return res_printf("%s, %.0f CPUs", machine->cpu != NULL ? machine->cpu : "unknown processor",
                      fmax(machine->cpus, 0));
}

/* A text in parentheses, as the (R) of processors, is left out. */
static char *fit_for_name(const char *text, const char *otherwise)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+";
    RES_FREED char *fit = res_calloc(PART_MAX + 1, 1);
    size_t length = 0;
    for (; *text != '\0' && length < PART_MAX; text++) {
        const char *close = *text == '(' ? strchr(text, ')') : NULL;
        if (close != NULL)
            text = close;
        else if (strchr(allowed, *text) != NULL)
            fit[length++] = *text;
        else if (length > 0 && fit[length - 1] != '-') /* first, it would be taken for an option */
            fit[length++] = '-';
    }
    while (length > 0 && fit[length - 1] == '-')
        fit[--length] = '\0';
    return res_strdup(length > 0 ? fit : otherwise);
}

char *res_history_name(const struct res_result *result, unsigned number)
{
    const char *first = result->workload_count > 0 ? result->workloads[0].name : "";
    const time_t seconds = (time_t)(result->created_unix_ns / 1000000000);
    char date[32] = "nodate", more[24] = "", again[16] = "";
    struct tm parts;
    if (gmtime_r(&seconds, &parts) != NULL)
        (void)strftime(date, sizeof date, "%Y%m%dT%H%M%SZ", &parts);
    if (result->workload_count > 1)
        snprintf(more, sizeof more, "+%zu", result->workload_count - 1);
    if (number > 1)
        snprintf(again, sizeof again, "-%u", number);
    RES_FREED char *plain = res_strdup(first);
    if (fp_has_ending(plain, ".wl"))
        plain[strlen(plain) - strlen(".wl")] = '\0';
    RES_FREED char *workload = fit_for_name(plain, "workload");
    RES_FREED char *called = machine_name(&result->machine), *machine = fit_for_name(called, "machine");
    return res_printf("%s%s.%s.%s%s.json", workload, more, machine, date, again);
}

/* ---- rows ------------------------------------------------------------------------------------ */

#define RATIO(prefix, of)                                                                                    \
    RES_RATIO_ROWS(prefix, figures.of.ratio, figures.of.interval.low, figures.of.interval.high, NULL, NULL)
#define MOVE(prefix, of)                                                                                     \
    RES_ROW(LENT, prefix "_moved", of.word, NULL), RES_ROW(NUMBER, prefix "_change", of.change, NULL),       \
        RES_ROW(NUMBER, prefix "_resolves", of.resolves, NULL)

#define OWNER struct res_history_point
static const struct res_field POINT_FIELDS[] = {
    RES_ROW(TEXT, "workload", workload, NULL),
    RES_ROW_AS(LENT, OMITTED, "host", host, NULL),
    RES_ROW(LENT, "workload_digest", workload_digest, NULL),
    RES_ROW(TEXT, "machine", machine, NULL),
    RES_ROW(LENT, "baseline", baseline, NULL),
    RES_ROW(LENT, "candidate", candidate, NULL),
    RES_ROW(TRUTH, "is_baseline", is_baseline, NULL),
    RES_ROW(TEXT, "file", file, NULL),
    RES_ROW(COUNT, "created_unix_ns", created_unix_ns, NULL),
    RES_ROW(LENT, "mallab_version", mallab_version, NULL),
    RES_ROW(LENT, "baseline_version", baseline_version, NULL),
    RES_ROW_AS(LENT, OMITTED, "label", label, NULL),
    RES_ROW_AS(LENT, OMITTED, "commit", commit, NULL),
    RES_ROW(LENT, "version", version, NULL),
    RES_ROW(TRUTH, "failed", failed, NULL),
    RES_ROW(COUNT, "rounds", rounds, NULL),
    RES_ROW(NUMBER, "steady_ns_per_op", figures.steady_ns_per_op, NULL),
    RATIO("", time),
    RES_ROW(NUMBER, "resident_peak_bytes", figures.peak_bytes, NULL),
    RES_ROW(NUMBER, "resident_mean_bytes", figures.mean_bytes, NULL),
    RATIO("resident_peak_", peak),
    MOVE("time", time),
    MOVE("peak", peak),
    RES_ROW(TEXTS, "changed", changed, NULL),
};
static const struct res_described POINT = RES_DESCRIBE_WHOLLY("a point", POINT_FIELDS);
#undef OWNER

#define OWNER struct res_history
static const struct res_field HISTORY_FIELDS[] = {
    RES_HEAD_ROWS,
    RES_ROW(COUNT, "results", results, NULL),
    RES_LIST(LIST, PLAIN, "left_out", left_out, left_out_count, &RES_FLEET_LEFT, NULL),
    RES_LIST(LIST, PLAIN, "points", points, point_count, &POINT, NULL),
};
const struct res_described RES_HISTORY = RES_DESCRIBE_WHOLLY("a history", HISTORY_FIELDS);
#undef OWNER

/* ---- gathering ------------------------------------------------------------------------------ */

static struct res_history_point point_of(const char *file, const struct res_result *result,
                                         const struct res_result_workload *workload,
                                         const struct res_result_entry *entry)
{
    const struct res_result_entry *base = res_result_entry_named(workload, result->baseline);
    return (struct res_history_point){
        .result = result,
        .of = workload,
        .entry = entry,
        .workload = res_strdup(workload->name),
        .host = workload->label,
        .workload_digest = res_workload_key(workload) != NULL ? res_workload_key(workload) : workload->name,
        .machine = machine_name(&result->machine),
        .baseline = result->baseline,
        .candidate = entry->name,
        .is_baseline = strcmp(entry->name, result->baseline) == 0,
        .file = res_text_plain(file),
        .created_unix_ns = result->created_unix_ns,
        .mallab_version = result->mallab_version != NULL ? result->mallab_version : "?",
        .baseline_version = base != NULL && base->version != NULL ? base->version : "-",
        .label = result->label,
        .commit = result->commit,
        .version = entry->version != NULL ? entry->version : "-",
        .failed = entry->failed != NULL,
        .rounds = workload->rounds,
        .figures = entry->figures,
        .time = {NULL, NAN, NAN},
        .peak = {NULL, NAN, NAN},
        .changed = {.known = true},
    };
}

void res_history_add(struct res_history *history, const char *file, const struct res_result *result)
{
    history->results++;
    for (size_t i = 0; i < result->workload_count; i++) {
        const struct res_result_workload *workload = &result->workloads[i];
        history->points = res_realloc(history->points, history->point_count + workload->candidate_count + 1,
                                      sizeof *history->points);
        for (size_t k = 0; k < workload->candidate_count; k++)
            history->points[history->point_count++] = point_of(file, result, workload,
                                                               &workload->candidates[k]);
    }
}

void res_history_leave_out(struct res_history *history, const char *file, const char *why)
{
    history->left_out = res_realloc(history->left_out, history->left_out_count + 1,
                                    sizeof *history->left_out);
    history->left_out[history->left_out_count++] = (struct res_fleet_left){res_text_plain(file),
                                                                           res_text_plain(why)};
}

/* ---- one candidate -------------------------------------------------------------------------- */

/* One thread of a workload that has one is what it always was. */
static bool is_one_thread(const struct res_history_point *point)
{
    return point->result->one_thread && point->of->threads > 1;
}

static bool limits_differ(const struct res_result *one, const struct res_result *other)
{
    return !res_described_same(&RES_RESULT, one, other, "limit_bytes") ||
           !res_described_same(&RES_RESULT, one, other, "limit_by");
}

static bool is_other_library(const struct res_result_entry *then, const struct res_result_entry *now)
{
    RES_FREED char *change = then != NULL && now != NULL ? res_library_change(then, now) : NULL;
    return change != NULL;
}

/* Tells what is other than at the point before. */
static void add_changes(struct res_history_point *now, const struct res_history_point *before)
{
    static const char *const MACHINE[] = {"cpu", "cpus", "kernel"};
    const char *baseline = now->baseline;
    if (is_other_library(before->entry, now->entry))
        res_texts_add(&now->changed,
                      res_described_same(&RES_RESULT_ENTRY, before->entry, now->entry, "version")
                          ? "build"
                          : "version");
    if (is_other_library(res_result_entry_named(before->of, baseline),
                         res_result_entry_named(now->of, baseline)))
        res_texts_add(&now->changed, "baseline");
    if (!res_described_same(&RES_RESULT, before->result, now->result, "mallab_version"))
        res_texts_add(&now->changed, "mallab");
    for (size_t i = 0; i < sizeof MACHINE / sizeof MACHINE[0]; i++)
        if (!res_described_same(&RES_MACHINE, &before->result->machine, &now->result->machine, MACHINE[i]))
            res_texts_take_once(&now->changed, res_strdup("machine"));
    if (is_one_thread(before) != is_one_thread(now))
        res_texts_add(&now->changed, "threads");
    if (limits_differ(before->result, now->result))
        res_texts_add(&now->changed, "limit");
    if (!res_described_same(&RES_RESULT_ENTRY, before->entry, now->entry, "environment"))
        res_texts_add(&now->changed, "settings");
}

/* Since the first of the level, which a point that moved, or has nothing to be held against, becomes. */
static struct res_history_move move_of(const struct res_history_point **level,
                                       const struct res_history_point *now, enum res_metric metric)
{
    const struct res_history_point *first = *level;
    struct res_history_move move = {NULL, NAN, NAN};
    if (!isfinite(res_metric_value(now->of, now->entry, metric)))
        return move;
    if (first == NULL || is_one_thread(first) != is_one_thread(now) ||
        limits_differ(first->result, now->result)) {
        *level = now;
        return move;
    }
    const struct res_partners partners = {now->result, first->result, now->of, first->of};
    const struct res_finding finding = res_compare_figure(&partners, now->entry, metric);
    const enum res_role role = res_cell_role(finding.word);
    free(finding.reason);
    move.change = finding.estimate.value;
    if (isfinite(finding.resolves))
        move.resolves = fmax(finding.resolves, RES_HISTORY_LEAST);
    if ((role != RES_ROLE_GOOD && role != RES_ROLE_BAD) || fabs(move.change - 1) < RES_HISTORY_LEAST)
        return move;
    move.word = finding.word;
    *level = now;
    return move;
}

/* ---- all of them ---------------------------------------------------------------------------- */

/* Orders by the workload, whatever it was called, and date. */
static int by_workload(const void *left, const void *right)
{
    const struct res_history_point *one = left, *other = right;
    const uint64_t dates[] = {one->created_unix_ns, other->created_unix_ns};
    const int order = res_key_compare(one->host, one->workload_digest, other->host, other->workload_digest);
    return order != 0 ? order : (dates[0] > dates[1]) - (dates[0] < dates[1]);
}

/* Orders series for people, by what they read, names of workloads being their own by then. */
static int compare_series(const struct res_history_point *one, const struct res_history_point *other)
{
    int order = strcmp(one->workload, other->workload);
    if (order == 0)
        order = res_key_compare(one->host, one->workload_digest, other->host, other->workload_digest);
    if (order == 0)
        order = strcmp(one->machine, other->machine);
    return order != 0 ? order : strcmp(one->baseline, other->baseline);
}

/* The baseline first. */
static int compare_candidates(const struct res_history_point *one, const struct res_history_point *other)
{
    int order = compare_series(one, other);
    if (order == 0)
        order = (int)other->is_baseline - (int)one->is_baseline;
    return order != 0 ? order : strcmp(one->candidate, other->candidate);
}

/* In a candidate by date, and file, so that equal dates have one order. */
static int by_place(const void *left, const void *right)
{
    const struct res_history_point *one = left, *other = right;
    int order = compare_candidates(one, other);
    if (order == 0)
        order = by_workload(one, other);
    return order != 0 ? order : strcmp(one->file, other->file);
}

size_t res_history_end(const struct res_history *history, size_t first, bool of_series)
{
    const struct res_history_point *points = history->points;
    size_t end = first;
    while (end < history->point_count &&
           (of_series ? compare_series : compare_candidates)(&points[first], &points[end]) == 0)
        end++;
    return end;
}

/* A workload is called as in its newest result, with its host's label or its digest where others are called so too. */
static void name_workloads(struct res_history *history)
{
    const size_t count = history->point_count;
    RES_FREED struct res_named *named = res_calloc(count + 1, sizeof *named);
    for (size_t i = count; i-- > 0;) {
        struct res_history_point *one = &history->points[i], *newer = one + 1;
        if (i + 1 < count &&
            res_key_compare(one->host, one->workload_digest, newer->host, newer->workload_digest) == 0) {
            free(one->workload);
            one->workload = res_strdup(newer->workload);
        }
        named[i] = (struct res_named){&one->workload, one->host, one->workload_digest};
    }
    res_names_apart(named, count);
}

void res_history_finish(struct res_history *history)
{
    history->schema = RES_HISTORY_SCHEMA;
    history->mallab_version = MALLAB_VERSION;
    if (history->point_count == 0)
        return;
    qsort(history->points, history->point_count, sizeof *history->points, by_workload);
    name_workloads(history);
    qsort(history->points, history->point_count, sizeof *history->points, by_place);
    for (size_t first = 0, end; first < history->point_count; first = end) {
        const struct res_history_point *time = NULL, *peak = NULL;
        end = res_history_end(history, first, false);
        for (size_t i = first; i < end; i++) {
            struct res_history_point *now = &history->points[i];
            now->time = move_of(&time, now, RES_METRIC_TIME);
            now->peak = move_of(&peak, now, RES_METRIC_RSS_PEAK);
            if (i > first)
                add_changes(now, now - 1);
        }
    }
}

/* ---- for people ------------------------------------------------------------------------------ */

/* A narrow terminal never does without the range: a change without it says nothing. */
static const struct res_column COLUMNS[] = {
    {.heading = "date, UTC", .gap = 2},
    {.heading = "of", .gap = 2, .expendable = 4},
    {.heading = "mallab", .gap = 2, .expendable = 1},
    {.heading = "version", .gap = 2, .expendable = 3},
    {.heading = "ns/op", .right = true, .gap = 2},
    {.heading = "change", .right = true, .gap = 2},
    {.heading = "95 % range", .right = true, .gap = 2},
    {.heading = "moved", .gap = 2},
    {.heading = "peak", .right = true, .gap = 2},
    {.heading = "mean", .right = true, .gap = 2, .expendable = 2},
    {.heading = "peak change", .right = true, .gap = 2},
    {.heading = "peak moved", .gap = 2},
    {.heading = "changed", .gap = 2},
};

static const char *date_of(const struct res_history_point *point, char *room)
{
    const time_t seconds = (time_t)(point->created_unix_ns / 1000000000);
    struct tm parts;
    if (gmtime_r(&seconds, &parts) == NULL || strftime(room, RES_WORDS, "%Y-%m-%d %H:%M", &parts) == 0)
        (void)strcpy(room, "?");
    return room;
}

static char *megabytes(double bytes)
{
    return bytes >= 0 ? res_printf(bytes < 10e6 ? "%.2f" : "%.1f", bytes / 1e6) : res_strdup("-");
}

static const char *percent(double ratio, char *room)
{
    return isfinite(ratio) ? res_percent_words(ratio, room) : "";
}

static char *changes_of(const struct res_history_point *point)
{
    struct res_text words = {0};
    for (size_t i = 0; i < point->changed.count; i++)
        res_text_printf(&words, "%s%s", i > 0 ? ", " : "", point->changed.items[i]);
    if (point->failed)
        res_text_printf(&words, "%sfailed", words.length > 0 ? ", " : "");
    return words.text != NULL ? words.text : res_strdup("");
}

/* The name of what was measured: the user's, else the commit, shortened as git does. */
static char *measured_of(const struct res_history_point *point)
{
    if (point->label != NULL || point->commit == NULL)
        return res_strdup(point->label != NULL ? point->label : "");
    const size_t length = strcspn(point->commit, "-");
    return res_printf("%.*s%s", length < 9 ? (int)length : 9, point->commit, point->commit + length);
}

static void add_moved(struct res_grid *grid, const char *word)
{
    res_grid_add(grid, word);
    res_grid_role(grid, res_cell_role(word != NULL ? word : ""));
}

static void add_row(struct res_grid *grid, const struct res_history_point *point, bool is_baseline)
{
    const struct res_figures *figures = &point->figures;
    const struct res_interval range = figures->time.interval;
    res_grid_add(grid, date_of(point, RES_WORDS_ROOM));
    res_grid_own(grid, measured_of(point));
    res_grid_add(grid, point->mallab_version);
    res_grid_add(grid, point->version);
    res_grid_add(grid, RES_NS(figures->steady_ns_per_op));
    res_grid_add(grid, is_baseline ? "" : percent(figures->time.ratio, RES_WORDS_ROOM));
    res_grid_add(grid, is_baseline ? "" : RES_INTERVAL(range.low, range.high));
    add_moved(grid, point->time.word);
    res_grid_own(grid, megabytes(figures->peak_bytes));
    res_grid_own(grid, megabytes(figures->mean_bytes));
    res_grid_add(grid, is_baseline ? "" : percent(figures->peak.ratio, RES_WORDS_ROOM));
    add_moved(grid, point->peak.word);
    res_grid_own(grid, changes_of(point));
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* "2026-11-26 22:13: slower by 25.1% in time (changed: version)". Returns whether it did. */
static bool add_move(struct res_document *document, const struct res_history_point *point,
                     const struct res_history_move *move, const char *figure)
{
    if (move->word == NULL)
        return false;
    RES_FREED char *changes = changes_of(point);
    res_document_line(document, "%s: %s by %s in %s%s%s%s", date_of(point, RES_WORDS_ROOM), move->word,
                      RES_PERCENT(move->change) + 1, figure, *changes != '\0' ? " (changed: " : "", changes,
                      *changes != '\0' ? ")" : "");
    return true;
}

/* Moves stand before any figure. Returns how many there are. */
static size_t add_candidate(struct res_document *document, const struct res_history_point *points,
                            size_t count)
{
    struct res_grid grid;
    size_t moves = 0;
    res_document_heading(document, 3, "%s%s", points->candidate, points->is_baseline ? " (baseline)" : "");
    res_grid_begin(&grid, COLUMNS, sizeof COLUMNS / sizeof COLUMNS[0]);
    for (const struct res_history_point *point = points; point < points + count; point++) {
        moves += add_move(document, point, &point->time, "time");
        moves += add_move(document, point, &point->peak, "peak memory");
        add_row(&grid, point, point->is_baseline);
    }
    res_document_table(document, "Figures", &grid);
    res_grid_release(&grid);
    res_document_gap(document);
    return moves;
}

/* Explains the columns that are there, and none that is not. */
static void add_legend(struct res_document *document, const struct res_history *history, size_t moves)
{
    bool any_change = false, any_peak = false, any_other = false;
    for (size_t i = 0; i < history->point_count; i++) {
        const struct res_history_point *one = &history->points[i];
        any_change |= !one->is_baseline && isfinite(one->figures.time.ratio);
        any_peak |= !one->is_baseline && isfinite(one->figures.peak.ratio);
        any_other |= one->changed.count > 0;
    }
    RES_FREED char *moved = moves > 0
                                ? res_printf(" moved: as 'mallab compare' tells (from 1 %% on), against "
                                             "the first result of the level (the last one marked, or "
                                             "the first of all): %zu here.",
                                             moves)
                                : NULL;
    res_document_line(document, "ns per op; memory in MB.%s%s%s%s%s%s",
                      any_change ? " change: of time, to the baseline of the same result" : "",
                      any_change && any_peak ? ", as peak change" : "", any_change ? "." : "",
                      moved != NULL ? moved : "",
                      any_other ? " changed: what is other than in the result before." : "",
                      history->results > 1 ? " Absolute figures of different days do not compare." : "");
}

char *res_history_document(const struct res_history *history, const struct res_style *style)
{
    struct res_document document = {.style = style};
    size_t moves = 0;
    for (size_t first = 0, end, series = 0; first < history->point_count; first = end) {
        const struct res_history_point *point = &history->points[first];
        end = res_history_end(history, first, false);
        if (first == series) {
            res_document_heading(&document, 2, "%s on %s, against %s", point->workload, point->machine,
                                 point->baseline);
            series = res_history_end(history, first, true);
        }
        moves += add_candidate(&document, point, end - first);
    }
    add_legend(&document, history, moves);
    for (size_t i = 0; i < history->left_out_count; i++)
        res_document_line(&document, "left out: %s: %s", history->left_out[i].file, history->left_out[i].why);
    return res_document_end(&document);
}
