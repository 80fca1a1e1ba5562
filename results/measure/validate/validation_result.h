/* validation_result.h - reality put beside the replays, in their result.
 *
 * The result is that of `ab --confirm` with two members more: `validation`, how the real runs were made, how the bars were met
 * and what became of the advice, and `validated`, reality beside prediction. So all readers of results take it. */
#ifndef MALLAB_RESULTS_MEASURE_VALIDATE_VALIDATION_RESULT_H
#define MALLAB_RESULTS_MEASURE_VALIDATE_VALIDATION_RESULT_H

#include "results/measure/experiment/experiment.h"
#include "results/measure/result/result.h"
#include "results/measure/validate/reality.h"

/* res_validation_fill - set both members.
 * trial   the only one of the experiment that replayed what was recorded.
 * result  has the verdict of the replays alone; then res_confirm_run put into it what reality's runner showed. */
void res_validation_fill(const struct res_reality *reality, const struct res_trial *trial, uint64_t seed,
                         struct res_result *result);

/* res_validation_figures - one candidate's memory, real and predicted.
 * trial  of the same candidates, in the same order.
 * place  < reality->options.candidate_count
 * ret    filled anew; dropped with res_described_release. */
void res_validation_figures(const struct res_reality *reality, const struct res_trial *trial, size_t place,
                            uint64_t seed, struct res_validated_candidate *ret);

#endif
