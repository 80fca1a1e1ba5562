/* result_history.c - points of results, sorted into series, each held against the first of its level. */
#include "results/report/history/result_history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/measure/base/json_values.h"
#include "results/measure/base/support.h"
#include "results/measure/base/values.h"
#include "results/measure/statistics/statistics.h"
#include "results/report/grid/cells.h"

/* ---- gathering ------------------------------------------------------------------------------ */

/* Strings go through here: names of files that anybody wrote end up in terminals and tables. */
static json_t *plain(const json_t *object, const char *key, const char *otherwise)
{
    char *text = res_cell_plain(object, key, otherwise);
    json_t *string = json_string(text);
    free(text);
    return string;
}

static json_t *number(const json_t *object, const char *key)
{
    return res_value_number(res_cell_number(object, key));
}

static json_t *machine_text(const json_t *result)
{
    const json_t *machine = json_object_get(result, "machine");
    char *cpu = res_cell_plain(machine, "cpu", "?"), *kernel = res_cell_plain(machine, "kernel", "?");
    char *text = res_printf("%s, %lld CPUs, Linux %s", cpu,
                            (long long)json_integer_value(json_object_get(machine, "cpus")), kernel);
    json_t *string = json_string(text);
    free(cpu);
    free(kernel);
    free(text);
    return string;
}

static int compare_words(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* The variables of a candidate as NAME=VALUE, sorted: a result of another mallab may have them in another order. */
static json_t *settings_text(const json_t *entry)
{
    json_t *environment = json_object_get(entry, "environment");
    char **words = res_calloc(json_object_size(environment) + 1, sizeof *words);
    struct res_text text = {0};
    size_t count = 0;
    const char *name;
    json_t *value;
    json_object_foreach(environment, name, value)
    {
        if (json_is_string(value))
            words[count++] = res_printf("%s=%s", name, json_string_value(value));
    }
    qsort(words, count, sizeof *words, compare_words);
    for (size_t i = 0; i < count; i++) {
        res_text_printf(&text, "%s%s", i > 0 ? " " : "", words[i]);
        free(words[i]);
    }
    char *plain_text = res_text_plain(text.text != NULL ? text.text : "");
    json_t *string = json_string(plain_text);
    free(plain_text);
    free(text.text);
    free(words);
    return string;
}

static void copy_numbers(json_t *point, const json_t *object, const char *const *keys, const char *prefix)
{
    for (size_t i = 0; keys[i] != NULL; i++) {
        char *name = res_printf("%s%s", prefix, keys[i]);
        json_object_set_new(point, name, number(object, keys[i]));
        free(name);
    }
}

/* One thread of a workload that has one is what it always was. */
static bool on_one_thread(const json_t *result, const json_t *workload)
{
    return json_is_true(json_object_get(result, "one_thread")) &&
           json_integer_value(json_object_get(workload, "threads")) > 1;
}

static json_t *point_of(const char *file, const json_t *result, const json_t *workload, const json_t *entry)
{
    static const char *const times[] = {"quiet_ns_per_op", "typical_ns_per_op", "quiet_ratio", "ratio",
                                        "ratio_low",       "ratio_high",        NULL};
    static const char *const ratios[] = {"ratio", "ratio_low", "ratio_high", NULL};
    static const char *const sizes[] = {"peak_bytes",      "mean_bytes", "peak_ratio", "peak_ratio_low",
                                        "peak_ratio_high", "rounds",     NULL};
    static const char *const peaks[] = {"peak_ratio", "peak_ratio_low", "peak_ratio_high", NULL};
    const json_t *control = json_object_get(workload, "control");
    const json_t *baseline = json_array_get(json_object_get(workload, "candidates"), 0);
    json_t *point = json_object();
    char *plain_file = res_text_plain(file), *machine = res_history_machine(result);
    json_object_set_new(point, "file", json_string(plain_file));
    json_object_set_new(point, "created_unix_ns",
                        json_integer(json_integer_value(json_object_get(result, "created_unix_ns"))));
    json_object_set_new(point, "mallab_version", plain(result, "mallab_version", "?"));
    json_object_set_new(point, "workload", plain(workload, "name", "?"));
    json_object_set_new(point, "workload_digest", plain(workload, "file_digest", "?"));
    json_object_set_new(point, "machine", json_string(machine));
    json_object_set_new(point, "machine_text", machine_text(result));
    json_object_set_new(point, "baseline", plain(result, "baseline", "?"));
    json_object_set_new(point, "baseline_version", plain(baseline, "version", "-"));
    json_object_set_new(point, "touch", plain(result, "touch", "page"));
    json_object_set_new(point, "limit_bytes", number(result, "limit_bytes"));
    if (json_is_number(json_object_get(result, "limit_bytes"))) /* results of before knew one way only */
        json_object_set_new(point, "limit_by", plain(result, "limit_by", "RLIMIT_DATA"));
    else
        json_object_set_new(point, "limit_by", json_null());
    json_object_set_new(point, "one_thread", json_boolean(on_one_thread(result, workload)));
    json_object_set_new(point, "candidate", plain(entry, "name", "?"));
    json_object_set_new(point, "version", plain(entry, "version", "-"));
    json_object_set_new(point, "settings", settings_text(entry));
    json_object_set_new(point, "failed", json_boolean(json_is_string(json_object_get(entry, "failed"))));
    json_object_set_new(point, "rounds", number(workload, "rounds"));
    copy_numbers(point, json_object_get(entry, "time"), times, "");
    copy_numbers(point, json_object_get(control, "time"), ratios, "control_");
    copy_numbers(point, json_object_get(entry, "resident"), sizes, "resident_");
    copy_numbers(point, json_object_get(control, "resident"), peaks, "control_");
    free(plain_file);
    free(machine);
    return point;
}

void res_history_add(struct res_history *history, const char *file, const struct res_result *typed_result)
{
    const json_t *result = typed_result->json;
    size_t index, place;
    json_t *workload, *entry;
    if (history->points == NULL)
        history->points = json_array();
    history->results++;
    json_array_foreach(json_object_get(result, "workloads"), index, workload)
    {
        json_array_foreach(json_object_get(workload, "candidates"), place, entry)
        {
            json_array_append_new(history->points, point_of(file, result, workload, entry));
        }
    }
}

/* ---- moving --------------------------------------------------------------------------------- */

/* A ratio with its interval and that of its control, as logarithms. */
struct figure {
    double ratio, low, high, noise;
    double quiet, rounds;
};

static struct figure figure_of(const json_t *point, bool memory)
{
    const double control_low = log(
        res_cell_number(point, memory ? "control_peak_ratio_low" : "control_ratio_low"));
    const double control_high = log(
        res_cell_number(point, memory ? "control_peak_ratio_high" : "control_ratio_high"));
    return (struct figure){
        .ratio = log(res_cell_number(point, memory ? "resident_peak_ratio" : "ratio")),
        .low = log(res_cell_number(point, memory ? "resident_peak_ratio_low" : "ratio_low")),
        .high = log(res_cell_number(point, memory ? "resident_peak_ratio_high" : "ratio_high")),
        .noise = fmax(fabs(control_low), fabs(control_high)), /* NAN where there is no control */
        .quiet = memory ? NAN : log(res_cell_number(point, "quiet_ratio")),
        .rounds = res_cell_number(point, memory ? "resident_rounds" : "rounds"),
    };
}

/* The quotient of a point's ratio and its level's, and the verdict on it. */
static enum res_verdict judge(const json_t *first, const json_t *point, bool memory, double *ret_change)
{
    const struct figure then = figure_of(first, memory), now = figure_of(point, memory);
    const double change = now.ratio - then.ratio;
    const double noise = fmax(hypot(then.noise, now.noise), log1p(RES_HISTORY_LEAST));
    const double rounds = fmin(then.rounds, now.rounds);
    const struct res_comparison comparison = {
        .ratio = exp(change),
        .interval = {.low = exp(change - hypot(now.ratio - now.low, then.high - then.ratio)),
                     .high = exp(change + hypot(now.high - now.ratio, then.ratio - then.low))},
        .quiet_ratio = exp(now.quiet - then.quiet),
        .rounds = rounds > 0 && rounds < 1e6 ? (size_t)rounds : 0,
        .rounds_needed = memory ? RES_ROUNDS_FOR_MEMORY : RES_ROUNDS_FOR_VERDICT,
        .has_control = true,
        .control = {.low = exp(-noise), .high = exp(noise)},
    };
    *ret_change = exp(change);
    return isnan(hypot(then.noise, now.noise)) ? RES_UNDECIDED : res_judge(&comparison);
}

static bool differs(const json_t *one, const json_t *other, const char *key)
{
    return !json_equal(json_object_get(one, key), json_object_get(other, key));
}

static bool begins_anew(const json_t *first, const json_t *point)
{
    return differs(first, point, "workload_digest") || differs(first, point, "touch") ||
           differs(first, point, "one_thread") || differs(first, point, "limit_bytes") ||
           differs(first, point, "limit_by");
}

/* What is other than at the point before, which may explain a move. */
static void add_changes(json_t *point, const json_t *before)
{
    static const struct {
        const char *key, *word;
    } kinds[] = {
        {"workload_digest", "workload"}, {"version", "version"},      {"baseline_version", "baseline"},
        {"mallab_version", "mallab"},    {"machine_text", "machine"}, {"touch", "touch"},
        {"one_thread", "threads"},       {"limit_bytes", "limit"},    {"limit_by", "limit"},
        {"settings", "settings"},
    };
    json_t *changes = json_array();
    for (size_t i = 0; before != NULL && i < sizeof kinds / sizeof kinds[0]; i++) {
        const bool again = i > 0 && strcmp(kinds[i].word, kinds[i - 1].word) == 0 &&
                           differs(before, point, kinds[i - 1].key);
        if (differs(before, point, kinds[i].key) && !again)
            json_array_append_new(changes, json_string(kinds[i].word));
    }
    json_object_set_new(point, "changed", changes);
}

static void add_move(json_t *point, const char *name, enum res_verdict verdict, double change, bool memory)
{
    const bool moved = verdict == RES_FASTER || verdict == RES_SLOWER;
    const char *word = memory ? res_verdict_memory_name(verdict) : res_verdict_name(verdict);
    char *key = res_printf("%s_moved", name), *change_key = res_printf("%s_change", name);
    json_object_set_new(point, key, moved ? json_string(word) : json_null());
    json_object_set_new(point, change_key, res_json_number(change));
    free(key);
    free(change_key);
}

/* points: of one candidate of a series, in the order of their dates. */
static void mark_moves(json_t *points)
{
    const json_t *before = NULL, *levels[2] = {NULL, NULL};
    size_t index;
    json_t *point;
    json_array_foreach(points, index, point)
    {
        for (int memory = 0; memory < 2; memory++) {
            double change = NAN;
            enum res_verdict verdict = RES_UNDECIDED;
            const bool known = isfinite(figure_of(point, memory).ratio);
            const bool anew = levels[memory] == NULL || begins_anew(levels[memory], point);
            if (known && !anew)
                verdict = judge(levels[memory], point, memory, &change);
            if (known && (anew || verdict == RES_FASTER || verdict == RES_SLOWER))
                levels[memory] = point;
            add_move(point, memory ? "peak" : "time", verdict, change, memory);
        }
        add_changes(point, before);
        before = point;
    }
}

/* ---- sorting -------------------------------------------------------------------------------- */

static int compare_strings(const json_t *one, const json_t *other, const char *key)
{
    return strcmp(json_string_value(json_object_get(one, key)),
                  json_string_value(json_object_get(other, key)));
}

static bool is_baseline(const json_t *point)
{
    return strcmp(json_string_value(json_object_get(point, "candidate")),
                  json_string_value(json_object_get(point, "baseline"))) == 0;
}

/* By series, the baseline first among the candidates, date, and file, so that equal dates have one order. */
static int compare_points(const void *left, const void *right)
{
    const json_t *one = *(json_t *const *)left, *other = *(json_t *const *)right;
    static const char *const keys[] = {"workload", "machine", "baseline"};
    int order = 0;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0] && order == 0; i++)
        order = compare_strings(one, other, keys[i]);
    if (order == 0)
        order = (int)is_baseline(other) - (int)is_baseline(one);
    if (order == 0)
        order = compare_strings(one, other, "candidate");
    const json_int_t then = json_integer_value(json_object_get(one, "created_unix_ns"));
    const json_int_t now = json_integer_value(json_object_get(other, "created_unix_ns"));
    if (order == 0)
        order = (then > now) - (then < now);
    return order != 0 ? order : compare_strings(one, other, "file");
}

static bool is_same(const json_t *one, const json_t *other, const char *const *keys)
{
    for (size_t i = 0; keys[i] != NULL; i++) {
        if (differs(one, other, keys[i]))
            return false;
    }
    return true;
}

/* Takes sorted points apart into arrays of those that agree in keys. */
static json_t *parts_of(json_t *const *points, size_t count, const char *const *keys)
{
    json_t *parts = json_array();
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || !is_same(points[i - 1], points[i], keys))
            json_array_append_new(parts, json_array());
        json_array_append(json_array_get(parts, json_array_size(parts) - 1), points[i]);
    }
    return parts;
}

/* What all points of a candidate share is told once. */
static json_t *candidate_object(json_t *points)
{
    static const char *const shared[] = {"workload", "machine", "baseline", "candidate"};
    json_t *object = json_object();
    json_t *point;
    size_t index;
    mark_moves(points);
    json_object_set(object, "name", json_object_get(json_array_get(points, 0), "candidate"));
    json_object_set_new(object, "is_baseline", json_boolean(is_baseline(json_array_get(points, 0))));
    json_array_foreach(points, index, point)
    {
        for (size_t i = 0; i < sizeof shared / sizeof shared[0]; i++)
            json_object_del(point, shared[i]);
    }
    json_object_set(object, "points", points);
    return object;
}

static json_t *series_object(const json_t *points)
{
    static const char *const keys[] = {"candidate", NULL};
    const size_t count = json_array_size(points);
    json_t **list = res_calloc(count, sizeof *list);
    json_t *object = json_object(), *candidates = json_array(), *part;
    size_t index;
    for (size_t i = 0; i < count; i++)
        list[i] = json_array_get(points, i);
    json_object_set(object, "workload", json_object_get(list[0], "workload"));
    json_object_set(object, "machine", json_object_get(list[0], "machine"));
    json_object_set(object, "machine_text", json_object_get(list[count - 1], "machine_text"));
    json_object_set(object, "baseline", json_object_get(list[0], "baseline"));
    json_t *parts = parts_of(list, count, keys);
    json_array_foreach(parts, index, part)
    {
        json_array_append_new(candidates, candidate_object(part));
    }
    json_object_set_new(object, "candidates", candidates);
    json_decref(parts);
    free(list);
    return object;
}

json_t *res_history_finish(struct res_history *history, json_t *left_out)
{
    static const char *const keys[] = {"workload", "machine", "baseline", NULL};
    const size_t count = json_array_size(history->points);
    json_t **list = res_calloc(count + 1, sizeof *list);
    json_t *document = json_object(), *series = json_array(), *part;
    size_t index;
    for (size_t i = 0; i < count; i++)
        list[i] = json_array_get(history->points, i);
    qsort(list, count, sizeof *list, compare_points);
    json_t *parts = parts_of(list, count, keys);
    json_array_foreach(parts, index, part)
    {
        json_array_append_new(series, series_object(part));
    }
    json_object_set_new(document, "schema", json_string(RES_HISTORY_SCHEMA));
    json_object_set_new(document, "mallab_version", json_string(MALLAB_VERSION));
    json_object_set_new(document, "results", json_integer((json_int_t)history->results));
    json_object_set_new(document, "left_out", left_out != NULL ? left_out : json_array());
    json_object_set_new(document, "series", series);
    json_decref(parts);
    free(list);
    json_decref(history->points);
    *history = (struct res_history){0};
    return document;
}
