/* recordings_json.h - several recordings of a validation as JSON. Keys: docs/results.md. */
#ifndef MALLAB_RESULTS_MEASURE_VALIDATE_RECORDINGS_JSON_H
#define MALLAB_RESULTS_MEASURE_VALIDATE_RECORDINGS_JSON_H

#include <jansson.h>

#include "results/measure/validate/validation.h"

/* res_recordings_add_to - put into `validation` how many recordings predict, and what each was.
 * first  the workload of the first. */
void res_recordings_add_to(json_t *about, const struct res_validation *validation,
                           const struct res_workload *first);

/* res_recordings_predicted - of one candidate (place): `predicted.recordings`. The caller's. */
json_t *res_recordings_predicted(const struct res_validation *validation,
                                 const struct res_validation_figures *figures, size_t place);

#endif
