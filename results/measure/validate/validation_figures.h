/* validation_figures.h - what the real runs and the replays of one candidate come to. */
#ifndef MALLAB_RESULTS_MEASURE_VALIDATE_VALIDATION_FIGURES_H
#define MALLAB_RESULTS_MEASURE_VALIDATE_VALIDATION_FIGURES_H

#include "results/measure/validate/validation.h"

/* res_validation_figures - one candidate's, against the replays of what was recorded: all but names
 * and runs.
 * trial  of the first recording: the same candidates, in the same order.
 * place  < options.candidate_count
 * ret    filled anew; dropped with res_described_release. */
void res_validation_figures(const struct res_validation *validation, const struct res_trial *trial,
                            size_t place, uint64_t seed, struct res_validated_candidate *ret);

#endif
