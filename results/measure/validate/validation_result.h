/* validation_result.h - a validation put into the result of its replays.
 *
 * Its result is an experiment's with two members more: `validation`, how the real runs were made
 * and how the bars were met, and `validated`, reality beside prediction. So `mallab report` and all
 * other readers of results take it. */
#ifndef MALLAB_RESULTS_MEASURE_VALIDATE_VALIDATION_RESULT_H
#define MALLAB_RESULTS_MEASURE_VALIDATE_VALIDATION_RESULT_H

#include "results/measure/result/result.h"
#include "results/measure/validate/validation.h"

/* res_validation_fill - set both members.
 * trial  the only one of the experiment that replayed what was recorded. */
void res_validation_fill(const struct res_validation *validation, const struct res_trial *trial,
                         uint64_t seed, struct res_result *result);

/* res_validation_figures - one candidate's, against the replays of what was recorded: all but names
 * and runs.
 * trial  of the first recording: the same candidates, in the same order.
 * place  < options.candidate_count
 * ret    filled anew; dropped with res_described_release. */
void res_validation_figures(const struct res_validation *validation, const struct res_trial *trial,
                            size_t place, uint64_t seed, struct res_validated_candidate *ret);

#endif
