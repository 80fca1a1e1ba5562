/* result_making.h - the result (result.h) of an experiment: figures of its samples, and every sample. */
#ifndef MALLAB_RESULTS_MEASURE_EXPERIMENT_RESULT_MAKING_H
#define MALLAB_RESULTS_MEASURE_EXPERIMENT_RESULT_MAKING_H

#include "results/measure/experiment/experiment.h"
#include "results/measure/result/result.h"

/* A candidate that was asked for, or belongs to the default list, and is not on this machine. Strings borrowed. */
struct res_missing {
    const char *name;
    const char *reason;
};

/* res_result_of_experiment - the whole result, which owns all that is in it. Release with res_result_release.
 * missing  missing_count entries, borrowed; may be NULL when 0. */
void res_result_of_experiment(const struct res_experiment *experiment, const struct res_missing *missing,
                              size_t missing_count, struct res_result *ret_result);

/* res_result_set_complete - `complete` and `incomplete_why`: false where it was stopped, or where one of its workloads comes
 * of a recording that is not whole. */
void res_result_set_complete(struct res_result *result);

#endif
