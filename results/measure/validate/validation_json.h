/* validation_json.h - a validation as JSON.
 *
 * Its result is an experiment's (result_json.h: the replays, with every sample) with two keys more: `validation`, how the real runs
 * were made and how the bars were met, and `candidates`, reality beside prediction. So `mallab report` and all other readers
 * of results take it, and a table made from it carries its fidelity. Keys: docs/results.md. */
#ifndef MALLAB_RESULTS_MEASURE_VALIDATE_VALIDATION_JSON_H
#define MALLAB_RESULTS_MEASURE_VALIDATE_VALIDATION_JSON_H

#include <jansson.h>

#include "results/measure/experiment/experiment.h"
#include "results/measure/validate/validation.h"

/* res_validation_add - put both keys into the `rest` of the result of the experiment that replayed what was recorded.
 * trial  its only one. */
void res_validation_add(json_t *result, const struct res_validation *validation,
                        const struct res_trial *trial, uint64_t seed);

/* res_validation_check - whether the two keys of a result can be shown. NULL: they can, or are not there; else the defect. */
const char *res_validation_check(const json_t *result);

/* res_levels_set - peak, mean and end of one part ("total", "heap") into an object. */
void res_levels_set(json_t *object, const char *part, const struct res_levels *levels);

#endif
