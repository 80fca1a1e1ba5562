/* typed.h - results that a test has as JSON, as the struct that the code under test takes. */
#ifndef MALLAB_TESTS_UNIT_TYPED_H
#define MALLAB_TESTS_UNIT_TYPED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/measure/figures/figures.h"
#include "results/measure/result/result.h"
#include "results/report/notes/notes.h"
#include "unit/json.h"

#define TYPED_MOST 4096u

static struct res_result *typed_results[TYPED_MOST];
static size_t typed_count;

static void typed_release(void)
{
    for (size_t i = 0; i < typed_count; i++) {
        res_result_release(typed_results[i]);
        free(typed_results[i]);
    }
    typed_count = 0;
}

static void typed_default(json_t *object, const char *key, json_t *value)
{
    if (json_is_object(object) && json_object_get(object, key) == NULL)
        json_object_set_new(object, key, value);
    else
        json_decref(value);
}

static void typed_complete_entry(json_t *entry)
{
    typed_default(entry, "name", json_string("?"));
    typed_default(entry, "runs", json_array());
}

/* Tests leave out what they are not about: keys that every result has are put in. */
static inline void typed_complete(json_t *result)
{
    static const char *const COUNTS[] = {"ops", "threads", "duration_ns", "live_peak_bytes", "rounds"};
    size_t index, number;
    json_t *workload, *entry;
    typed_default(result, "schema", json_string("mallab-experiment/1"));
    typed_default(result, "baseline", json_string("?"));
    typed_default(result, "rounds", json_integer(0));
    typed_default(result, "seed", json_integer(0));
    typed_default(result, "machine", json_object());
    typed_default(result, "missing", json_array());
    typed_default(result, "workloads", json_array());
    json_array_foreach(json_object_get(result, "workloads"), index, workload)
    {
        typed_default(workload, "name", json_string("?"));
        for (size_t i = 0; i < sizeof COUNTS / sizeof COUNTS[0]; i++)
            typed_default(workload, COUNTS[i], json_integer(0));
        typed_default(workload, "candidates", json_array());
        typed_default(workload, "control", json_object());
        typed_complete_entry(json_object_get(workload, "control"));
        typed_complete_entry(json_object_get(workload, "floor"));
        json_array_foreach(json_object_get(workload, "candidates"), number, entry)
        {
            typed_complete_entry(entry);
        }
    }
}

/* The result that a document holds, with its figures as they stand there, and its notes; freed at the end of the test's program. */
static inline struct res_result *typed(json_t *json)
{
    char *problem = NULL;
    struct res_result *result = calloc(1, sizeof *result);
    if (typed_count == 0)
        atexit(typed_release);
    typed_complete(json);
    if (result == NULL || typed_count == TYPED_MOST || !res_result_read(json, result, &problem)) {
        fprintf(stderr, "no result: %s\n", problem != NULL ? problem : "too many of them");
        abort();
    }
    res_verdicts_fill(result);
    res_notes_fill(result);
    typed_results[typed_count++] = result;
    return result;
}

/* The same of samples, of which the figures are made. */
static inline struct res_result *typed_judged(json_t *json)
{
    struct res_result *result = typed(json);
    res_result_judge(result);
    res_notes_fill(result);
    return result;
}

/* A workload by itself, which is released, in a result made around it, with a baseline. */
static inline const struct res_result_workload *typed_workload(json_t *workload, const char *baseline)
{
    json_auto_t *result = json_pack("{s:s, s:[o]}", "baseline", baseline, "workloads", workload);
    return &typed(result)->workloads[0];
}

/* The words of a workload's first note with a label; NULL: it has none. */
static inline const char *typed_note(const struct res_result_workload *workload, const char *label)
{
    for (size_t i = 0; i < workload->note_count; i++)
        if (strcmp(workload->notes[i].label, label) == 0)
            return workload->notes[i].text;
    return NULL;
}

#endif
