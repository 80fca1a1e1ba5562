/* recordings_report.h - several recordings of a validation as JSON, and that JSON for people. Keys: docs/results.md. */
#ifndef MALLAB_RESULTS_REPORT_TABLE_RECORDINGS_REPORT_H
#define MALLAB_RESULTS_REPORT_TABLE_RECORDINGS_REPORT_H

#include <jansson.h>

#include "results/measure/base/support.h"
#include "results/measure/validate/validation.h"

/* res_recordings_add_to - put into `validation` how many recordings predict, and what each was.
 * first  the workload of the first. */
void res_recordings_add_to(json_t *about, const struct res_validation *validation,
                           const struct res_workload *first);

/* res_recordings_predicted - of one candidate (place): `predicted.recordings`. The caller's. */
json_t *res_recordings_predicted(const struct res_validation *validation,
                                 const struct res_validation_figures *figures, size_t place);

/* res_recordings_text - of how many recordings predictions are the median, and how far these are from each other. Nothing where
 * only one was asked for, and for results of earlier versions.
 * about       `validation` of the result; candidates: of the same. */
void res_recordings_text(struct res_text *text, const json_t *about, const json_t *candidates);

/* res_samples_spread - how far the samples of an array's objects under one key are from each other, as a share of the least.
 * Returns  NAN with fewer than two that are known, or where the least is not above 0. */
double res_samples_spread(const json_t *samples, const char *key);

/* res_levels_set - peak, mean and end of one part ("total", "heap") into an object. */
void res_levels_set(json_t *object, const char *part, const struct res_levels *levels);

#endif
