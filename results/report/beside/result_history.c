/* result_history.c - results, sorted into series, each candidate held against the first of its level. */

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

#define OWNER struct res_history_candidate
static const struct res_field CANDIDATE_FIELDS[] = {
    RES_ROW(LENT, "name", name, NULL),
    RES_ROW(TRUTH, "is_baseline", is_baseline, NULL),
    RES_LIST(LIST, PLAIN, "points", points, point_count, &POINT, NULL),
};
static const struct res_described CANDIDATE = RES_DESCRIBE_WHOLLY("a candidate", CANDIDATE_FIELDS);
#undef OWNER

#define OWNER struct res_history_series
static const struct res_field SERIES_FIELDS[] = {
    RES_ROW(TEXT, "workload", workload, NULL),
    RES_ROW_AS(LENT, OMITTED, "host", host, NULL),
    RES_ROW(LENT, "workload_digest", workload_digest, NULL),
    RES_ROW(TEXT, "machine", machine, NULL),
    RES_ROW(LENT, "baseline", baseline, NULL),
    RES_LIST(LIST, PLAIN, "candidates", candidates, candidate_count, &CANDIDATE, NULL),
};
static const struct res_described SERIES = RES_DESCRIBE_WHOLLY("a series", SERIES_FIELDS);
#undef OWNER

#define OWNER struct res_history
static const struct res_field HISTORY_FIELDS[] = {
    RES_HEAD_ROWS,
    RES_ROW(COUNT, "results", results, NULL),
    RES_LIST(LIST, PLAIN, "left_out", left_out, left_out_count, &RES_FLEET_LEFT, NULL),
    RES_LIST(LIST, PLAIN, "series", series, series_count, &SERIES, NULL),
};
const struct res_described RES_HISTORY = RES_DESCRIBE_WHOLLY("a history", HISTORY_FIELDS);
#undef OWNER

/* ---- gathering ------------------------------------------------------------------------------ */

/* A workload of a result. */
struct res_history_source {
    char *file, *machine;
    const struct res_result *result;
    const struct res_result_workload *workload;
    const char *digest;
};

void res_history_add(struct res_history *history, const char *file, const struct res_result *result)
{
    const size_t count = history->source_count;
    history->results++;
    history->sources = res_realloc(history->sources, count + result->workload_count + 1,
                                   sizeof *history->sources);
    for (size_t i = 0; i < result->workload_count; i++) {
        const struct res_result_workload *workload = &result->workloads[i];
        const char *digest = workload->file_digest != NULL ? workload->file_digest : workload->name;
        history->sources[history->source_count++] = (struct res_history_source){
            res_text_plain(file), machine_name(&result->machine), result, workload, digest};
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
static bool is_one_thread(const struct res_history_source *source)
{
    return source->result->one_thread && source->workload->threads > 1;
}

static bool limits_differ(const struct res_result *one, const struct res_result *other)
{
    return !res_described_same(&RES_RESULT, one, other, "limit_bytes") ||
           !res_described_same(&RES_RESULT, one, other, "limit_by");
}

static bool begins_anew(const struct res_history_source *first, const struct res_history_source *source)
{
    return is_one_thread(first) != is_one_thread(source) || limits_differ(first->result, source->result);
}

static const struct res_result_entry *baseline_of(const struct res_history_source *source)
{
    return res_result_entry_named(source->workload, source->result->baseline);
}

static bool is_other_library(const struct res_result_entry *then, const struct res_result_entry *now)
{
    RES_FREED char *change = res_library_change(then, now);
    return change != NULL;
}

/* Tells what is other than at the point before. */
static void add_changes(struct res_history_point *point, const struct res_history_source *before,
                        const struct res_history_source *now, const char *name)
{
    static const char *const MACHINE[] = {"cpu", "cpus", "kernel"};
    const struct res_result_entry *base = baseline_of(before), *base_now = baseline_of(now);
    const struct res_result_entry *entry = res_result_entry_named(before->workload, name);
    const struct res_result_entry *entry_now = res_result_entry_named(now->workload, name);
    if (is_other_library(entry, entry_now))
        res_texts_add(&point->changed, res_described_same(&RES_RESULT_ENTRY, entry, entry_now, "version")
                                           ? "build"
                                           : "version");
    if (base != NULL && base_now != NULL && is_other_library(base, base_now))
        res_texts_add(&point->changed, "baseline");
    if (!res_described_same(&RES_RESULT, before->result, now->result, "mallab_version"))
        res_texts_add(&point->changed, "mallab");
    for (size_t i = 0; i < sizeof MACHINE / sizeof MACHINE[0]; i++)
        if (!res_described_same(&RES_MACHINE, &before->result->machine, &now->result->machine, MACHINE[i]))
            res_texts_take_once(&point->changed, res_strdup("machine"));
    if (is_one_thread(before) != is_one_thread(now))
        res_texts_add(&point->changed, "threads");
    if (limits_differ(before->result, now->result))
        res_texts_add(&point->changed, "limit");
    if (!res_described_same(&RES_RESULT_ENTRY, entry, entry_now, "environment"))
        res_texts_add(&point->changed, "settings");
}

/* Since the first of the level, which a point that moved, or has nothing to be held against, becomes. */
static struct res_history_move move_of(const struct res_history_source **level,
                                       const struct res_history_source *now,
                                       const struct res_result_entry *entry, enum res_metric metric)
{
    struct res_history_move move = {NULL, NAN, NAN};
    if (!isfinite(res_metric_value(now->workload, entry, metric)))
        return move;
    if (*level == NULL || begins_anew(*level, now)) {
        *level = now;
        return move;
    }
    const struct res_partners partners = {now->result, (*level)->result, now->workload, (*level)->workload};
    const struct res_finding finding = res_compare_figure(&partners, entry, metric);
    move.change = finding.estimate.value;
    if (isfinite(finding.resolves))
        move.resolves = fmax(finding.resolves, RES_HISTORY_LEAST);
    if (res_cell_role(finding.word) != RES_ROLE_GOOD && res_cell_role(finding.word) != RES_ROLE_BAD)
        return move;
    if (fabs(move.change - 1) < RES_HISTORY_LEAST)
        return move;
    move.word = finding.word;
    *level = now;
    return move;
}

static struct res_history_point point_of(const struct res_history_source *source,
                                         const struct res_result_entry *entry)
{
    const struct res_result_entry *base = baseline_of(source);
    return (struct res_history_point){
        .file = res_strdup(source->file),
        .created_unix_ns = source->result->created_unix_ns,
        .mallab_version = source->result->mallab_version != NULL ? source->result->mallab_version : "?",
        .baseline_version = base != NULL && base->version != NULL ? base->version : "-",
        .label = source->result->label,
        .commit = source->result->commit,
        .version = entry->version != NULL ? entry->version : "-",
        .failed = entry->failed != NULL,
        .rounds = source->workload->rounds,
        .figures = entry->figures,
        .changed = {.known = true},
    };
}

/* Sources are in the order of their dates. */
static struct res_history_candidate candidate_of(const struct res_history_source *sources, size_t count,
                                                 const char *name)
{
    const struct res_history_source *before = NULL, *time = NULL, *peak = NULL;
    struct res_history_candidate candidate = {.name = name,
                                              .is_baseline = strcmp(name, sources->result->baseline) == 0,
                                              .points = res_calloc(count, sizeof *candidate.points)};
    for (const struct res_history_source *now = sources; now < sources + count; now++) {
        const struct res_result_entry *entry = res_result_entry_named(now->workload, name);
        if (entry == NULL)
            continue;
        struct res_history_point *point = &candidate.points[candidate.point_count++];
        *point = point_of(now, entry);
        point->time = move_of(&time, now, entry, RES_METRIC_TIME);
        point->peak = move_of(&peak, now, entry, RES_METRIC_RSS_PEAK);
        if (before != NULL)
            add_changes(point, before, now, name);
        before = now;
    }
    return candidate;
}

/* ---- all of them ---------------------------------------------------------------------------- */

static int compare_series(const struct res_history_source *one, const struct res_history_source *other)
{
    int order = res_key_compare(one->workload->label, one->digest, other->workload->label, other->digest);
    if (order == 0)
        order = strcmp(one->machine, other->machine);
    return order != 0 ? order : strcmp(one->result->baseline, other->result->baseline);
}

/* Orders by series, date, and file, so that equal dates have one order. */
static int compare_sources(const void *left, const void *right)
{
    const struct res_history_source *one = left, *other = right;
    const uint64_t dates[] = {one->result->created_unix_ns, other->result->created_unix_ns};
    int order = compare_series(one, other);
    if (order == 0)
        order = (dates[0] > dates[1]) - (dates[0] < dates[1]);
    return order != 0 ? order : strcmp(one->file, other->file);
}

/* The baseline first. */
static int compare_candidates(const void *left, const void *right)
{
    const struct res_history_candidate *one = left, *other = right;
    const int order = (int)other->is_baseline - (int)one->is_baseline;
    return order != 0 ? order : strcmp(one->name, other->name);
}

static void add_candidates(struct res_history_series *series, const struct res_history_source *sources,
                           size_t count, const struct res_result_workload *workload)
{
    for (size_t i = 0; i < workload->candidate_count; i++) {
        const char *name = workload->candidates[i].name;
        bool known = false;
        for (size_t k = 0; k < series->candidate_count && !known; k++)
            known = strcmp(series->candidates[k].name, name) == 0;
        if (known)
            continue;
        series->candidates = res_realloc(series->candidates, series->candidate_count + 1,
                                         sizeof *series->candidates);
        series->candidates[series->candidate_count++] = candidate_of(sources, count, name);
    }
}

static struct res_history_series series_of(const struct res_history_source *sources, size_t count)
{
    struct res_history_series series = {.workload = res_strdup(sources[count - 1].workload->name),
                                        .machine = res_strdup(sources->machine),
                                        .host = sources->workload->label,
                                        .workload_digest = sources->digest,
                                        .baseline = sources->result->baseline};
    for (size_t i = 0; i < count; i++)
        add_candidates(&series, sources, count, sources[i].workload);
    if (series.candidate_count > 1)
        qsort(series.candidates, series.candidate_count, sizeof *series.candidates, compare_candidates);
    return series;
}

/* Orders for people: by what they read. Workloads' names are their own by then. */
static int compare_shown(const void *left, const void *right)
{
    const struct res_history_series *one = left, *other = right;
    int order = strcmp(one->workload, other->workload);
    if (order == 0)
        order = strcmp(one->machine, other->machine);
    return order != 0 ? order : strcmp(one->baseline, other->baseline);
}

static void name_series(struct res_history *history)
{
    RES_FREED struct res_named *named = res_calloc(history->series_count + 1, sizeof *named);
    for (size_t i = 0; i < history->series_count; i++) {
        struct res_history_series *series = &history->series[i];
        named[i] = (struct res_named){&series->workload, series->host, series->workload_digest};
    }
    res_names_apart(named, history->series_count);
    if (history->series_count > 1)
        qsort(history->series, history->series_count, sizeof *history->series, compare_shown);
}

void res_history_finish(struct res_history *history)
{
    struct res_history_source *sources = history->sources;
    const size_t count = history->source_count;
    history->schema = RES_HISTORY_SCHEMA;
    history->mallab_version = MALLAB_VERSION;
    history->series = res_calloc(count + 1, sizeof *history->series);
    if (count > 0)
        qsort(sources, count, sizeof *sources, compare_sources);
    for (size_t first = 0, end = 0; first < count; first = end) {
        while (end < count && compare_series(&sources[first], &sources[end]) == 0)
            end++;
        history->series[history->series_count++] = series_of(&sources[first], end - first);
    }
    name_series(history);
    for (size_t i = 0; i < count; i++) {
        free(sources[i].file);
        free(sources[i].machine);
    }
    free(sources);
    history->sources = NULL;
    history->source_count = 0;
}
