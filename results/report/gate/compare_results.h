/* compare_results.h - two results of the same workloads: the same candidates then and now.
 *
 *   partner     the workload of the earlier result with the same digest (of the ops executed)
 *   comparable  a difference that forbids comparing: other workloads, another machine; others are only told
 *
 * Runs of two experiments belong to no pairs: how they are held against each other, and what the machine did in between, is bridge.h. */
#ifndef MALLAB_RESULTS_REPORT_GATE_COMPARE_RESULTS_H
#define MALLAB_RESULTS_REPORT_GATE_COMPARE_RESULTS_H

#include <jansson.h>
#include <stdbool.h>

#include "results/measure/result/result.h"

#include "results/measure/figures/metric.h"

#define RES_COMPARE_SCHEMA "mallab-compare/1"

/* res_workload_candidate - the entry of this name; NULL when there is none. Borrowed. */
const json_t *res_workload_candidate(const json_t *workload, const char *name);

/* res_compare_partner - the workload of `earlier` that is the same as `workload` of `result`; by digest, and where no digest
 * fits by name, for callers that allow it (res_compare_workloads_problem). NULL: none. Borrowed. */
const json_t *res_compare_partner(const json_t *earlier, const json_t *result, const json_t *workload);

/* res_compare_workloads_problem - why the workloads cannot be compared: no digest of one is in the other. NULL when they can.
 * res_compare_machine_problem - likewise when processor, their number or architecture differ.
 * One line, the caller's to free. */
char *res_compare_workloads_problem(const json_t *earlier, const json_t *result);
char *res_compare_machine_problem(const json_t *earlier, const json_t *result);

/* res_compare_control_noise - what the baseline and its control in the same experiment differ by, around 1. */
struct res_interval res_compare_control_noise(const json_t *workload, const char *baseline,
                                              enum res_metric metric, uint64_t seed);

/* res_compare_results - the comparison as JSON, schema RES_COMPARE_SCHEMA; keys in docs/gate.md. A new reference.
 * Both results are valid by res_json_check. */
json_t *res_compare_results(const struct res_result *earlier, const struct res_result *result);

/* res_compare_text / _markdown / _csv - the same for people, documents and programs; the caller's to free. */
char *res_compare_text(const json_t *comparison);
char *res_compare_markdown(const json_t *comparison);
char *res_compare_csv(const json_t *comparison);

#endif
