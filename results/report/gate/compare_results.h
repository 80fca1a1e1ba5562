/* compare_results.h - two results of the same workloads: the same candidates then and now.
 *
 *   partner     the workload of the earlier result with the same digest (of the ops executed), recorded on the same host
 *   comparable  a difference that forbids comparing: other workloads, another machine; others are only told
 *   comparison  what is written as JSON, schema RES_COMPARE_SCHEMA (keys in docs/notes/gate.md), and shown. Its texts are those of
 *               the two results, which must stay
 *
 * Runs of two experiments belong to no pairs: how they are held against each other, and what the machine did in between, is bridge.h. */
#ifndef MALLAB_RESULTS_REPORT_GATE_COMPARE_RESULTS_H
#define MALLAB_RESULTS_REPORT_GATE_COMPARE_RESULTS_H

#include <jansson.h>
#include <stdbool.h>

#include "results/measure/figures/metric.h"
#include "results/measure/result/result.h"
#include "results/report/gate/bridge.h"
#include "results/report/grid/lines.h"

#define RES_COMPARE_SCHEMA "mallab-compare/1"

/* res_compare_partner - the workload of `earlier` that is the same as `workload` of `result`; by digest and the host's label,
 * where both have one, and where none fits by name, for callers that allow it (res_compare_workloads_problem). NULL: none. Borrowed. */
const struct res_result_workload *res_compare_partner(const struct res_result *earlier,
                                                      const struct res_result *result,
                                                      const struct res_result_workload *workload);

/* res_compare_workloads_problem - why the workloads cannot be compared: no digest of one is in the other. NULL when they can.
 * res_compare_machine_problem - likewise when processor, their number or architecture differ.
 * One line, the caller's to free. */
char *res_compare_workloads_problem(const struct res_result *earlier, const struct res_result *result);
char *res_compare_machine_problem(const struct res_result *earlier, const struct res_result *result);

/* res_compare_control_noise - what the baseline and its control in the same experiment differ by, around 1. */
struct res_interval res_compare_control_noise(const struct res_result_workload *workload,
                                              const char *baseline, enum res_metric metric);

/* One metric of a candidate, then (old) and now (new). */
struct res_compared_metric {
    enum res_metric which;
    const char *metric, *unit;
    const char *figure; /* what old and new are: "steady", whose ratio is compared, or "median" */
    double old, new;
    double plain_ratio;
    int bridge; /* enum res_bridge */
    double bridge_ratio;
    bool is_yardstick;
    double ratio;
    struct res_interval interval, noise;
    double resolves; /* the least change that would have been shown, a share; NAN: none */
    uint64_t rounds_old, rounds_new;
    const char *verdict;
};

struct res_compared_candidate {
    const char *name, *version_old, *version_new, *failed_old, *failed_new;
    bool settings_differ;
    struct res_compared_metric *metrics;
    size_t metric_count;
};

struct res_compared_workload {
    const char *name;
    bool same_workload;
    struct res_compared_candidate *candidates;
    size_t candidate_count;
    struct res_texts only_old, only_new; /* names of candidates */
};

/* A setting of the experiment or a part of the machine that differs; values as JSON in one line. */
struct res_compared_difference {
    const char *what, *key;
    char *old, *new;
};

struct res_compare {
    const char *schema, *mallab_version, *baseline;
    struct res_texts changed_libraries; /* a line each: before any figure */
    struct res_compared_difference *differences;
    size_t difference_count;
    struct res_compared_workload *workloads;
    size_t workload_count;
    struct res_texts workloads_only_old, workloads_only_new;
};

/* The rows; release with res_described_release. */
extern const struct res_described RES_COMPARE;

/* res_compare_libraries - which libraries are not those of the earlier result, a line each, or that it does not say: of the candidates
 * that both have, and the C library that all of them call. */
struct res_texts res_compare_libraries(const struct res_result *earlier, const struct res_result *result);

/* res_compare_results - hold one against the other. */
void res_compare_results(const struct res_result *earlier, const struct res_result *result,
                         struct res_compare *ret_comparison);

/* res_compare_document - the same for people. style NULL: Markdown. The caller's to free. */
char *res_compare_document(const struct res_compare *comparison, const struct res_style *style);

#endif
