/* notes_passes.c - below the table: latency, system calls, binding, what disturbed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/words.h"
#include "results/report/grid/cells.h"
#include "results/report/grid/lines.h"
#include "results/report/notes/notes.h"

#define CALLS_SHOWN 4u /* of those made most; the JSON has all */

/* The latency object of a candidate; NULL when there is none with figures. */
static const json_t *latency_of(const json_t *entry)
{
    const json_t *latency = json_object_get(entry, "latency");
    return json_is_array(json_object_get(latency, "by_call")) ? latency : NULL;
}

static const json_t *group_named(const json_t *latency, const char *call)
{
    size_t index;
    json_t *group;
    json_array_foreach(json_object_get(latency, "by_call"), index, group)
    {
        const char *name = json_string_value(json_object_get(group, "call"));
        if (name != NULL && strcmp(name, call) == 0)
            return group;
    }
    return NULL;
}

/* "malloc: glibc 12.1, jemalloc 9.80" */
static void add_call_line(struct res_text *text, const json_t *candidates, const char *call)
{
    struct res_text words = {0};
    const char *comma = "";
    size_t index;
    json_t *candidate;
    char *plain = res_text_plain(call);
    res_text_printf(&words, "%s: ", plain);
    free(plain);
    json_array_foreach(candidates, index, candidate)
    {
        const json_t *group = group_named(latency_of(candidate), call);
        char *name = res_cell_plain(candidate, "name", "?");
        const char *ns = RES_NS(res_cell_number(group, "typical_ns"));
        res_text_printf(&words, "%s%s %s", comma, name, ns);
        comma = ", ";
        free(name);
    }
    res_lines_add(text, "ns a call", words.text);
    free(words.text);
}

/* "jemalloc -12.1% [-20.3 -3.2] faster" */
static void add_percentile(struct res_text *words, const json_t *entry, const char *name, const char *prefix,
                           const char *verdict_of)
{
    const json_t *latency = json_object_get(entry, "latency");
    char key[32];
    snprintf(key, sizeof key, "%s_ratio", prefix);
    const char *percent = RES_PERCENT(res_cell_number(latency, key));
    snprintf(key, sizeof key, "%s_ratio_low", prefix);
    const double low = res_cell_number(latency, key);
    snprintf(key, sizeof key, "%s_ratio_high", prefix);
    const char *interval = RES_INTERVAL(low, res_cell_number(latency, key));
    char *verdict = verdict_of != NULL ? res_cell_plain(latency, verdict_of, "-") : res_strdup("");
    res_text_printf(words, "%s %s%s%s%s%s", name, percent, *interval != '\0' ? " " : "", interval,
                    *verdict != '\0' ? " " : "", verdict);
    free(verdict);
}

/* Percentiles against the baseline's, and the baseline's own noise. Results of before have no ratios, and no such line. */
static void add_percentile_line(struct res_text *text, const json_t *workload, const char *label,
                                const char *prefix, const char *verdict_key)
{
    const json_t *candidates = json_object_get(workload, "candidates");
    struct res_text words = {0};
    size_t index;
    json_t *candidate;
    char *baseline = res_cell_plain(json_array_get(candidates, 0), "name", "?");
    json_array_foreach(candidates, index, candidate)
    {
        if (!json_is_string(json_object_get(json_object_get(candidate, "latency"), verdict_key)))
            continue;
        char *name = res_cell_plain(candidate, "name", "?");
        res_text_printf(&words, "%s", words.text != NULL ? ", " : "");
        add_percentile(&words, candidate, name, prefix, verdict_key);
        free(name);
    }
    if (words.text != NULL) {
        res_text_printf(&words, "; ");
        char *itself = res_printf("%s against itself", baseline);
        add_percentile(&words, json_object_get(workload, "control"), itself, prefix, NULL);
        free(itself);
        res_lines_add(text, label, words.text);
    }
    free(words.text);
    free(baseline);
}

/* The calls made most often, of the first candidate that has figures: all made the same ones. */
static void add_call_lines(struct res_text *text, const json_t *candidates, const json_t *latency)
{
    const json_t *groups = json_object_get(latency, "by_call");
    double last_count = INFINITY;
    size_t last_place = 0;
    for (size_t shown = 0; shown < CALLS_SHOWN; shown++) {
        const json_t *most = NULL;
        size_t index, place = 0;
        json_t *group;
        json_array_foreach(groups, index, group)
        {
            const double count = res_cell_number(group, "count");
            const bool is_next = count < last_count || (count == last_count && index > last_place);
            if (!is_next || (most != NULL && count <= res_cell_number(most, "count")))
                continue;
            most = group;
            place = index;
        }
        const char *call = json_string_value(json_object_get(most, "call"));
        if (call == NULL)
            break;
        last_count = res_cell_number(most, "count");
        last_place = place;
        add_call_line(text, candidates, call);
    }
}

static void add_latency_lines(struct res_text *text, const json_t *workload)
{
    const json_t *candidates = json_object_get(workload, "candidates");
    const json_t *latency = NULL;
    size_t index;
    json_t *candidate;
    json_array_foreach(candidates, index, candidate)
    {
        const json_t *object = json_object_get(candidate, "latency");
        if (latency == NULL)
            latency = latency_of(candidate);
        res_notes_why(text, "latency", candidate, "not measured: ", object, "unavailable");
    }
    if (latency == NULL)
        return;
    const double cost = res_cell_number(json_array_get(json_object_get(latency, "runs"), 0), "clock_cost_ns");
    char *words = res_printf(
        "%lld passes behind the rounds, each call timed alone; %.1f ns that the clock takes are subtracted, "
        "touching new memory is not in it%s",
        (long long)json_integer_value(json_object_get(latency, "passes")), cost,
        json_is_true(json_object_get(latency, "floor_subtracted")) ? ". Means below are less the floor's"
                                                                   : "");
    res_lines_add(text, "latency", words);
    free(words);
    add_percentile_line(text, workload, "p99", "p99", "p99_verdict");
    add_percentile_line(text, workload, "p99.9", "p99_9", "p99_9_verdict");
    add_call_lines(text, candidates, latency);
}

/* "glibc 50: brk 44, mremap 4, mmap 1, munmap 1" */
static void add_system_calls_line(struct res_text *text, const json_t *workload)
{
    struct res_text words = {0};
    size_t index;
    json_t *candidate;
    json_array_foreach(json_object_get(workload, "candidates"), index, candidate)
    {
        json_t *calls = json_object_get(candidate, "system_calls");
        const char *comma = ": ", *kind;
        json_t *count;
        if (!json_is_object(calls))
            continue;
        char *name = res_cell_plain(candidate, "name", "?");
        res_text_printf(&words, "%s%s", words.text != NULL ? "; " : "", name);
        free(name);
        if (json_is_string(json_object_get(calls, "unavailable"))) {
            char *why = res_cell_plain(calls, "unavailable", "?");
            res_text_printf(&words, " unavailable (%s)", why);
            free(why);
            continue;
        }
        res_text_printf(&words, " %s",
                        FP_GROUPED((uint64_t)json_integer_value(json_object_get(calls, "total"))));
        json_object_foreach(calls, kind, count)
        {
            if (strcmp(kind, "total") == 0 || json_integer_value(count) == 0)
                continue;
            char *plain = res_text_plain(kind);
            res_text_printf(&words, "%s%s %s", comma, plain, FP_GROUPED((uint64_t)json_integer_value(count)));
            comma = ", ";
            free(plain);
        }
    }
    if (words.text != NULL)
        res_lines_add(text, "syscalls", words.text);
    free(words.text);
}

/* Only where it is not what it is by default. */
void res_notes_binding(struct res_text *text, const json_t *workload)
{
    const json_t *baseline = json_array_get(json_object_get(workload, "candidates"), 0);
    const json_t *run = json_array_get(json_object_get(baseline, "runs"), 0);
    const json_t *binding = json_object_get(run, "binding");
    const char *pin = json_string_value(json_object_get(binding, "pin"));
    const json_t *nice = json_object_get(binding, "nice");
    const char *threads_as = json_string_value(json_object_get(run, "threads_as"));
    const json_int_t threads = json_integer_value(json_object_get(workload, "threads"));
    struct res_text words = {0};
    if (threads_as != NULL && strcmp(threads_as, "one") == 0 && threads > 1)
        res_text_printf(&words,
                        "the calls of %lld threads on one (--one-thread), which can reverse a verdict",
                        (long long)threads);
    if (pin != NULL && strcmp(pin, "no") != 0) {
        char *plain = res_text_plain(pin);
        res_text_printf(&words, "%sthreads kept to processors: %s", words.text != NULL ? "; " : "", plain);
        free(plain);
    }
    if (json_is_integer(nice)) {
        char *why = res_cell_plain(binding, "nice_refused", "");
        res_text_printf(&words, "%snice %lld%s%s%s", words.text != NULL ? "; " : "",
                        (long long)json_integer_value(nice), why[0] != '\0' ? " refused (" : "", why,
                        why[0] != '\0' ? "): priority as it was" : "");
        free(why);
    }
    if (words.text != NULL)
        res_lines_add(text, "binding", words.text);
    free(words.text);
}

void res_notes_passes(struct res_text *text, const json_t *workload)
{
    add_latency_lines(text, workload);
    add_system_calls_line(text, workload);
    res_notes_placement(text, workload);
    res_notes_counters(text, workload);
}

static bool has_same(const json_t *one, const json_t *other, const char *key)
{
    const char *own = json_string_value(json_object_get(one, key));
    const char *others = json_string_value(json_object_get(other, key));
    return own != NULL && others != NULL && strcmp(own, others) == 0;
}

void res_notes_disturbances(struct res_text *text, const json_t *result)
{
    const json_t *list = json_object_get(result, "disturbances");
    struct res_text words = {0};
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i);
        bool told = false;
        char *seen = res_cell_plain(one, "text", "?");
        /* The same may have been seen before the runs and after: one of them tells it. */
        for (size_t later = i + 1; later < json_array_size(list) && !told; later++)
            told = has_same(one, json_array_get(list, later), "kind");
        if (!told)
            res_text_printf(&words, "%s%s", words.text != NULL ? "; " : "", seen);
        free(seen);
    }
    if (words.text != NULL)
        res_lines_add(text, "disturbed", words.text);
    free(words.text);
}
