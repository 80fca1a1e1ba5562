/* tune_result.h - a search as a result: an experiment's (its confirmation, with every sample; without workloads where there is
 * none) with one member more, `tune` (tuned.h). So all readers of results take it. */
#ifndef MALLAB_RESULTS_MEASURE_TUNE_TUNE_RESULT_H
#define MALLAB_RESULTS_MEASURE_TUNE_TUNE_RESULT_H

#include "results/measure/experiment/result_making.h"
#include "results/measure/tune/replays.h"

/* res_tune_result - the whole. Release with res_result_release.
 * search   ended confirmed or stopped.
 * missing  as in res_result_of_experiment. */
void res_tune_result(const struct res_tune_search *search, struct res_tune_replays *replays,
                     const struct res_missing *missing, size_t missing_count, struct res_result *ret_result);

#endif
