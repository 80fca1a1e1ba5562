/* validation_report.h - a validation as JSON, and that JSON for people.
 *
 * Its result is an experiment's (result_json.h: the replays, with every sample) with two keys more: `validation`, how the real runs
 * were made and how the bars were met, and `candidates`, reality beside prediction. So `mallab report` and all other readers
 * of results take it, and a table made from it carries its fidelity. Keys: docs/results.md. */
#ifndef MALLAB_RESULTS_REPORT_TABLE_VALIDATION_REPORT_H
#define MALLAB_RESULTS_REPORT_TABLE_VALIDATION_REPORT_H

#include "results/measure/result/result.h"
#include "results/measure/validate/validation.h"
#include "results/report/table/table.h"

/* res_validation_add - put both keys into the JSON of the experiment that replayed what was recorded.
 * result  of res_json_experiment; trial: its only one. */
void res_validation_add(json_t *result, const struct res_validation *validation,
                        const struct res_trial *trial, uint64_t seed);

/* res_validation_check - whether the two keys of a result can be shown. NULL: they can, or are not there; else the defect. */
const char *res_validation_check(const json_t *result);

/* res_validation_text - table, bars and a line in words; the caller's to free. NULL: the result holds no validation. */
char *res_validation_text(const struct res_result *result, const struct res_style *style);

#endif
