/* result_history.c - points of results, sorted into series, each held against the first of its level. */
#include "results/report/beside/result_history.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "footprint/base/support.h"
#include "footprint/base/words.h"
#include "results/measure/base/names_apart.h"
#include "results/measure/figures/verdict.h"

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

/* What is in parentheses, as the (R) of processors, is left out. */
static char *fit_for_name(const char *text, const char *otherwise)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+";
    char *fit = res_calloc(PART_MAX + 1, 1);
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
    if (length > 0)
        return fit;
    free(fit);
    return res_strdup(otherwise);
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
    char *plain = res_strdup(first);
    if (fp_has_ending(plain, ".wl"))
        plain[strlen(plain) - strlen(".wl")] = '\0';
    char *workload = fit_for_name(plain, "workload");
    char *called = machine_name(&result->machine), *machine = fit_for_name(called, "machine");
    char *name = res_printf("%s%s.%s.%s%s.json", workload, more, machine, date, again);
    free(plain);
    free(called);
    free(workload);
    free(machine);
    return name;
}

/* ---- rows ------------------------------------------------------------------------------------ */

#define RATIO(prefix, member)                                                                                \
    RES_RATIO_ROWS(prefix, member.ratio, member.interval.low, member.interval.high, NULL, NULL)

#define OWNER struct res_history_point
static const struct res_field POINT_FIELDS[] = {
    RES_ROW_AS(TEXT, OMITTED, "workload", workload, NULL),
    RES_ROW_AS(TEXT, OMITTED, "host", host, NULL),
    RES_ROW_AS(TEXT, OMITTED, "machine", machine, NULL),
    RES_ROW_AS(TEXT, OMITTED, "baseline", baseline, NULL),
    RES_ROW_AS(TEXT, OMITTED, "candidate", candidate, NULL),
    RES_ROW(TEXT, "file", file, NULL),
    RES_ROW(COUNT, "created_unix_ns", created_unix_ns, NULL),
    RES_ROW(TEXT, "mallab_version", mallab_version, NULL),
    RES_ROW(TEXT, "workload_digest", workload_digest, NULL),
    RES_ROW(TEXT, "machine_text", machine_text, NULL),
    RES_ROW(TEXT, "baseline_version", baseline_version, NULL),
    RES_ROW(NUMBER, "limit_bytes", limit_bytes, NULL),
    RES_ROW(TEXT, "limit_by", limit_by, NULL),
    RES_ROW(TRUTH, "one_thread", one_thread, NULL),
    RES_ROW_AS(TEXT, OMITTED, "label", label, NULL),
    RES_ROW_AS(TEXT, OMITTED, "commit", commit, NULL),
    RES_ROW(TEXT, "version", version, NULL),
    RES_ROW_AS(TEXT, OMITTED, "library", library, NULL),
    RES_ROW_AS(TEXT, OMITTED, "build_id", build.id, NULL),
    RES_ROW_AS(TEXT, OMITTED, "build_digest", build.digest, NULL),
    RES_ROW_AS(TEXT, OMITTED, "baseline_build_id", baseline_build.id, NULL),
    RES_ROW_AS(TEXT, OMITTED, "baseline_build_digest", baseline_build.digest, NULL),
    RES_ROW_AS(TEXT, OMITTED, "other_build", other_build, NULL),
    RES_ROW(TEXT, "settings", settings, NULL),
    RES_ROW(TRUTH, "failed", failed, NULL),
    RES_ROW(NUMBER, "rounds", rounds, NULL),
    RES_ROW(NUMBER, "steady_ns_per_op", steady_ns_per_op, NULL),
    RATIO("", time),
    RATIO("control_", control_time),
    RES_ROW(NUMBER, "resident_peak_bytes", peak_bytes, NULL),
    RES_ROW(NUMBER, "resident_mean_bytes", mean_bytes, NULL),
    RATIO("resident_peak_", peak),
    RES_ROW(NUMBER, "resident_rounds", resident_rounds, NULL),
    RATIO("control_peak_", control_peak),
    RES_ROW(LENT, "time_moved", time_moved, NULL),
    RES_ROW(NUMBER, "time_change", time_change, NULL),
    RES_ROW(NUMBER, "time_resolves", time_resolves, NULL),
    RES_ROW(LENT, "peak_moved", peak_moved, NULL),
    RES_ROW(NUMBER, "peak_change", peak_change, NULL),
    RES_ROW(NUMBER, "peak_resolves", peak_resolves, NULL),
    RES_ROW(TEXTS, "changed", changed, NULL),
};
const struct res_described RES_HISTORY_POINT = RES_DESCRIBE_WHOLLY("a point", POINT_FIELDS);
#undef OWNER

#define OWNER struct res_history_candidate
static const struct res_field CANDIDATE_FIELDS[] = {
    RES_ROW(TEXT, "name", name, NULL),
    RES_ROW(TRUTH, "is_baseline", is_baseline, NULL),
    RES_LIST(LIST, PLAIN, "points", points, point_count, &RES_HISTORY_POINT, NULL),
};
static const struct res_described CANDIDATE = RES_DESCRIBE_WHOLLY("a candidate", CANDIDATE_FIELDS);
#undef OWNER

#define OWNER struct res_history_series
static const struct res_field SERIES_FIELDS[] = {
    RES_ROW(TEXT, "workload", workload, NULL),
    RES_ROW_AS(TEXT, OMITTED, "host", host, NULL),
    RES_ROW(TEXT, "workload_digest", workload_digest, NULL),
    RES_ROW(TEXT, "machine", machine, NULL),
    RES_ROW(TEXT, "machine_text", machine_text, NULL),
    RES_ROW(TEXT, "baseline", baseline, NULL),
    RES_LIST(LIST, PLAIN, "candidates", candidates, candidate_count, &CANDIDATE, NULL),
};
static const struct res_described SERIES = RES_DESCRIBE_WHOLLY("a series", SERIES_FIELDS);
#undef OWNER

#define OWNER struct res_history_left_out
static const struct res_field LEFT_OUT_FIELDS[] = {
    RES_ROW(TEXT, "file", file, NULL),
    RES_ROW(TEXT, "why", why, NULL),
};
static const struct res_described LEFT_OUT = RES_DESCRIBE_WHOLLY("a file", LEFT_OUT_FIELDS);
#undef OWNER

#define OWNER struct res_history
static const struct res_field HISTORY_FIELDS[] = {
    RES_HEAD_ROWS,
    RES_ROW(COUNT, "results", results, NULL),
    RES_LIST(LIST, PLAIN, "left_out", left_out, left_out_count, &LEFT_OUT, NULL),
    RES_LIST(LIST, PLAIN, "series", series, series_count, &SERIES, NULL),
};
const struct res_described RES_HISTORY = RES_DESCRIBE_WHOLLY("a history", HISTORY_FIELDS);
#undef OWNER

/* ---- gathering ------------------------------------------------------------------------------ */

static char *copy_of(const char *words, const char *otherwise)
{
    return res_strdup(words != NULL ? words : otherwise);
}

static char *machine_text(const struct res_machine *machine)
{
    return res_printf("%s, %.0f CPUs, Linux %s", machine->cpu != NULL ? machine->cpu : "?",
                      fmax(machine->cpus, 0), machine->kernel != NULL ? machine->kernel : "?");
}

static int compare_words(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* The variables of a candidate as NAME=VALUE, sorted: a result of another mallab may have them in another order. */
static char *settings_text(const struct res_pairs *environment)
{
    char **words = res_calloc(environment->count + 1, sizeof *words);
    struct res_text text = {0};
    size_t count = 0;
    for (size_t i = 0; i < environment->count; i++) {
        const struct res_pair *one = &environment->items[i];
        if (one->value != NULL)
            words[count++] = res_printf("%s=%s", one->name, one->value);
    }
    qsort(words, count, sizeof *words, compare_words);
    for (size_t i = 0; i < count; i++) {
        res_text_printf(&text, "%s%s", i > 0 ? " " : "", words[i]);
        free(words[i]);
    }
    free(words);
    return text.text != NULL ? text.text : res_strdup("");
}

static struct res_history_point point_of(const char *file, const struct res_result *result,
                                         const struct res_result_workload *workload,
                                         const struct res_result_entry *entry)
{
    const struct res_figures *figures = &entry->figures, *control = &workload->control.figures;
    const bool limited = result->limit_bytes > 0;
    return (struct res_history_point){
        .workload = res_strdup(workload->name),
        .host = res_strdup(workload->label),
        .machine = machine_name(&result->machine),
        .baseline = res_strdup(result->baseline),
        .candidate = res_strdup(entry->name),
        .file = res_text_plain(file),
        .created_unix_ns = result->created_unix_ns,
        .mallab_version = copy_of(result->mallab_version, "?"),
        .workload_digest = copy_of(workload->file_digest, workload->name),
        .machine_text = machine_text(&result->machine),
        .baseline_version = copy_of(workload->candidates[0].version, "-"),
        .limit_bytes = limited ? (double)result->limit_bytes : NAN,
        /* Results of before knew one way only. */
        .limit_by = limited ? copy_of(result->limit_by, "RLIMIT_DATA") : NULL,
        /* One thread of a workload that has one is what it always was. */
        .one_thread = result->one_thread && workload->threads > 1,
        .label = res_strdup(result->label),
        .commit = res_strdup(result->commit),
        .version = copy_of(entry->version, "-"),
        .library = copy_of(entry->library, entry->name),
        .build = res_build_copy(&entry->build),
        .baseline_build = res_build_copy(&workload->candidates[0].build),
        .settings = settings_text(&entry->environment),
        .failed = entry->failed != NULL,
        .rounds = (double)workload->rounds,
        .steady_ns_per_op = figures->steady_ns_per_op,
        .time = figures->time,
        .control_time = control->time,
        .peak_bytes = figures->peak_bytes,
        .mean_bytes = figures->mean_bytes,
        .resident_rounds = entry->resident_rounds > 0 ? (double)entry->resident_rounds : NAN,
        .peak = figures->peak,
        .control_peak = control->peak,
        .time_change = NAN,
        .peak_change = NAN,
        .time_resolves = NAN,
        .peak_resolves = NAN,
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
    history->left_out[history->left_out_count++] = (struct res_history_left_out){res_text_plain(file),
                                                                                 res_text_plain(why)};
}

/* ---- moving --------------------------------------------------------------------------------- */

/* A ratio with its interval and that of its control, as logarithms. */
struct figure {
    double ratio, low, high, noise;
    double rounds;
};

static struct figure figure_of(const struct res_history_point *point, bool memory)
{
    const struct res_difference *own = memory ? &point->peak : &point->time;
    const struct res_interval noise = (memory ? &point->control_peak : &point->control_time)->interval;
    return (struct figure){
        .ratio = log(own->ratio),
        .low = log(own->interval.low),
        .high = log(own->interval.high),
        .noise = fmax(fabs(log(noise.low)), fabs(log(noise.high))), /* NAN where there is no control */
        .rounds = memory ? point->resident_rounds : point->rounds,
    };
}

/* The quotient of a point's ratio and its level's, and the verdict on it. */
static enum res_verdict judge(const struct res_history_point *first, const struct res_history_point *point,
                              bool memory, double *ret_change, double *ret_resolves)
{
    const struct figure then = figure_of(first, memory), now = figure_of(point, memory);
    const double change = now.ratio - then.ratio;
    const double noise = fmax(hypot(then.noise, now.noise), log1p(RES_HISTORY_LEAST));
    const double rounds = fmin(then.rounds, now.rounds);
    const struct res_comparison comparison = {
        .ratio = exp(change),
        .interval = {.low = exp(change - hypot(now.ratio - now.low, then.high - then.ratio)),
                     .high = exp(change + hypot(now.high - now.ratio, then.ratio - then.low))},
        .rounds = rounds > 0 && rounds < 1e6 ? (size_t)rounds : 0,
        .rounds_needed = memory ? RES_ROUNDS_FOR_MEMORY : RES_ROUNDS_FOR_VERDICT,
        .has_control = true,
        .control = {.low = exp(-noise), .high = exp(noise)},
    };
    *ret_change = exp(change);
    if (isnan(hypot(then.noise, now.noise)) || res_judge(&comparison) == RES_UNDECIDED)
        return RES_UNDECIDED;
    *ret_resolves = res_resolves(comparison.ratio, comparison.interval, comparison.control, 0);
    return res_judge(&comparison);
}

static bool differs(const struct res_history_point *one, const struct res_history_point *other,
                    const char *key)
{
    return !res_described_same(&RES_HISTORY_POINT, one, other, key);
}

static bool begins_anew(const struct res_history_point *first, const struct res_history_point *point)
{
    return differs(first, point, "one_thread") ||
           differs(first, point, "limit_bytes") || differs(first, point, "limit_by");
}

static void add_changes(struct res_history_point *point, const struct res_history_point *before)
{
    static const struct {
        const char *key, *word;
    } kinds[] = {
        {"version", "version"},       {"baseline_version", "baseline"},
        {"mallab_version", "mallab"}, {"machine_text", "machine"},
        {"one_thread", "threads"},
        {"limit_bytes", "limit"},     {"limit_by", "limit"},
        {"settings", "settings"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const bool again = i > 0 && strcmp(kinds[i].word, kinds[i - 1].word) == 0 &&
                           differs(before, point, kinds[i - 1].key);
        if (differs(before, point, kinds[i].key) && !again)
            res_texts_add(&point->changed, kinds[i].word);
    }
    point->other_build = res_build_change(point->library, point->version, &before->build, &point->build);
    if (point->other_build != NULL && !differs(before, point, "version"))
        res_texts_add(&point->changed, "build");
    if (res_builds_differ(&before->baseline_build, &point->baseline_build) &&
        !differs(before, point, "baseline_version"))
        res_texts_add(&point->changed, "baseline");
}

static void set_move(struct res_history_point *point, enum res_verdict verdict, double change, bool memory)
{
    const bool moved = verdict == RES_LESS || verdict == RES_MORE;
    const char *word = memory ? RES_MEMORY_VERDICTS[verdict] : RES_TIME_VERDICTS[verdict];
    *(memory ? &point->peak_moved : &point->time_moved) = moved ? word : NULL;
    *(memory ? &point->peak_change : &point->time_change) = change;
}

/* Points of one candidate of a series, in the order of their dates. */
static void mark_moves(struct res_history_point *points, size_t count)
{
    const struct res_history_point *levels[2] = {NULL, NULL};
    for (size_t i = 0; i < count; i++) {
        struct res_history_point *point = &points[i];
        for (int memory = 0; memory < 2; memory++) {
            double change = NAN;
            enum res_verdict verdict = RES_UNDECIDED;
            const bool known = isfinite(figure_of(point, memory).ratio);
            const bool anew = levels[memory] == NULL || begins_anew(levels[memory], point);
            if (known && !anew)
                verdict = judge(levels[memory], point, memory, &change,
                                memory ? &point->peak_resolves : &point->time_resolves);
            if (known && (anew || verdict == RES_LESS || verdict == RES_MORE))
                levels[memory] = point;
            set_move(point, verdict, change, memory);
        }
        if (i > 0)
            add_changes(point, point - 1);
    }
}

/* ---- sorting -------------------------------------------------------------------------------- */

static bool is_baseline(const struct res_history_point *point)
{
    return strcmp(point->candidate, point->baseline) == 0;
}

static int compare_series(const struct res_history_point *one, const struct res_history_point *other)
{
    int order = res_key_compare(one->host, one->workload_digest, other->host, other->workload_digest);
    if (order == 0)
        order = strcmp(one->machine, other->machine);
    return order != 0 ? order : strcmp(one->baseline, other->baseline);
}

static int compare_candidates(const struct res_history_point *one, const struct res_history_point *other)
{
    const int order = (int)is_baseline(other) - (int)is_baseline(one);
    return order != 0 ? order : strcmp(one->candidate, other->candidate);
}

/* By series, the baseline first among the candidates, date, and file, so that equal dates have one order. */
static int compare_points(const void *left, const void *right)
{
    const struct res_history_point *one = left, *other = right;
    int order = compare_series(one, other);
    if (order == 0)
        order = compare_candidates(one, other);
    if (order == 0)
        order = (one->created_unix_ns > other->created_unix_ns) -
                (one->created_unix_ns < other->created_unix_ns);
    return order != 0 ? order : strcmp(one->file, other->file);
}

typedef int compare_fn(const struct res_history_point *one, const struct res_history_point *other);

/* How many of sorted points are as the first of them. */
static size_t alike(const struct res_history_point *points, size_t count, compare_fn *compare)
{
    size_t end = 1;
    while (end < count && compare(&points[0], &points[end]) == 0)
        end++;
    return end;
}

/* What all points of a candidate share is told once. */
static void drop_shared(struct res_history_point *point)
{
    char **const shared[] = {&point->workload, &point->host, &point->machine, &point->baseline,
                             &point->candidate};
    for (size_t i = 0; i < sizeof shared / sizeof shared[0]; i++) {
        free(*shared[i]);
        *shared[i] = NULL;
    }
}

static struct res_history_candidate candidate_of(const struct res_history_point *points, size_t count)
{
    struct res_history_candidate candidate = {
        .name = res_strdup(points[0].candidate),
        .is_baseline = is_baseline(&points[0]),
        .points = res_calloc(count, sizeof *points),
        .point_count = count,
    };
    memcpy(candidate.points, points, count * sizeof *points);
    mark_moves(candidate.points, count);
    for (size_t i = 0; i < count; i++)
        drop_shared(&candidate.points[i]);
    return candidate;
}

static struct res_history_series series_of(const struct res_history_point *points, size_t count)
{
    struct res_history_series series = {
        .workload = res_strdup(points[count - 1].workload),
        .host = res_strdup(points[0].host),
        .workload_digest = res_strdup(points[0].workload_digest),
        .machine = res_strdup(points[0].machine),
        .machine_text = res_strdup(points[count - 1].machine_text),
        .baseline = res_strdup(points[0].baseline),
        .candidates = res_calloc(count, sizeof *series.candidates),
    };
    for (size_t first = 0, part; first < count; first += part) {
        part = alike(points + first, count - first, compare_candidates);
        series.candidates[series.candidate_count++] = candidate_of(points + first, part);
    }
    return series;
}

/* For people: by what they read. */
static int compare_shown(const void *left, const void *right)
{
    const struct res_history_series *one = left, *other = right;
    int order = strcmp(one->workload, other->workload);
    if (order == 0)
        order = strcmp(one->machine, other->machine);
    if (order == 0)
        order = strcmp(one->baseline, other->baseline);
    return order != 0 ? order
                      : res_key_compare(one->host, one->workload_digest, other->host, other->workload_digest);
}

static void name_series(struct res_history *history)
{
    struct res_named *named = res_calloc(history->series_count + 1, sizeof *named);
    for (size_t i = 0; i < history->series_count; i++) {
        struct res_history_series *series = &history->series[i];
        named[i] = (struct res_named){&series->workload, series->host, series->workload_digest};
    }
    res_names_apart(named, history->series_count);
    free(named);
    if (history->series_count > 1)
        qsort(history->series, history->series_count, sizeof *history->series, compare_shown);
}

void res_history_finish(struct res_history *history)
{
    struct res_history_point *points = history->points;
    const size_t count = history->point_count;
    history->schema = RES_HISTORY_SCHEMA;
    history->mallab_version = MALLAB_VERSION;
    history->series = res_calloc(count + 1, sizeof *history->series);
    if (count > 0)
        qsort(points, count, sizeof *points, compare_points);
    for (size_t first = 0, part; first < count; first += part) {
        part = alike(points + first, count - first, compare_series);
        history->series[history->series_count++] = series_of(points + first, part);
    }
    name_series(history);
    free(points);
    history->points = NULL;
    history->point_count = 0;
}
