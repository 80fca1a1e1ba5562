/* halving.h - the few of many candidates that are worth measuring well: successive halving.
 *
 *   stage    one experiment of a few rounds over the candidates that are left, the baseline among them; what fails in it is out
 *   score    of a candidate in a stage: its time and its peak over the baseline's, 1 being as much; NAN: not known
 *   keep     the better half goes on to a stage of twice as many rounds. Half of those are the best in time, half the best in
 *            peak memory, since nobody says yet which one the program wants
 *
 * The best of a hundred tries looks better than it is: scores choose and are thrown away, and who is left is measured afresh.
 * Source  K. Jamieson, A. Talwalkar, "Non-stochastic best arm identification and hyperparameter optimization", AISTATS (2016). */
#ifndef MALLAB_RESULTS_MEASURE_EXPERIMENT_HALVING_H
#define MALLAB_RESULTS_MEASURE_EXPERIMENT_HALVING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "results/measure/experiment/experiment.h"

struct res_halving {
    const struct res_options
        *options; /* of a stage but for rounds, seed and time; the baseline stands first; of one workload */
    size_t left;  /* how many are wanted beside the baseline, > 0 */
    uint64_t budget_ns; /* for all stages, each the same part of it; a stage makes one round at least */
    /* After a stage, with the options' context. failed: why, of each candidate, the baseline first; NULL: it did not. May be NULL. */
    void (*told)(void *context, size_t tried, size_t kept, unsigned rounds, const char *const *failed);
};

/* res_halving_run - narrow candidates down, in as many stages as it takes; options->stop ends them before.
 * candidates  *count of them, the baseline first; those that are left come to the front in their order. */
void res_halving_run(const struct res_halving *halving, const struct res_candidate **candidates,
                     size_t *count);

struct res_score {
    double time, peak;
};

/* res_halving_keep - which of count scores go on, into as many places of ret_kept; never one without any figure. Returns how many. */
size_t res_halving_keep(const struct res_score *scores, size_t count, size_t keep, bool *ret_kept);

#endif
