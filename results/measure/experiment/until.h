/* until.h - how long an experiment goes on: a number of rounds, until the intervals are narrow, or until its time is spent.
 *
 *   width   of an interval of a ratio: its high end less its low end, as a share of the ratio
 *
 * Rounds are added until a difference of the size asked for is either shown or excluded: until each width is no more than that, so that one as large
 * is some four errors from 1; or the whole interval lies beyond twice that on one side. Else the width alone counts, whatever the interval holds. To stop as soon as a verdict falls would let noise choose its
 * moment: with a look after each round, a fair coin would be called unfair in far more than 5 % of the cases. The width says nothing about
 * where the interval lies; `scripts/bench verdict` shows that false verdicts stay below 5 % (docs/notes/statistics.md). */
#ifndef MALLAB_RESULTS_MEASURE_EXPERIMENT_UNTIL_H
#define MALLAB_RESULTS_MEASURE_EXPERIMENT_UNTIL_H

#include <stdbool.h>
#include <stdint.h>

#include "results/measure/experiment/experiment.h"
#include "results/measure/statistics/statistics.h"

#define RES_UNTIL_ROUNDS_LEAST                                                                               \
    16u /* for --resolve: where half of the rounds are disturbed, the test of 8 can call nothing different (steady.h) */
#define RES_UNTIL_ROUNDS_MAX 1000u /* where -n does not say */

/* res_trial_time - the ratio of an entry's time to the baseline's as it is so far: what the result will say (figures.h), without a verdict. */
struct res_estimate res_trial_time(const struct res_trial *trial, const struct res_entry *entry);

/* res_until_width - the widest interval of time against the baseline of the candidates that have not failed; of the control where the baseline is
 * alone. NAN when there is none. */
double res_until_width(const struct res_trial *trial);

/* res_until_ended - whether the trial's rounds are enough, looked at when a round is finished.
 * share_ns   of the time budget, this workload's; 0: none
 * elapsed_ns since this workload was begun
 * next_ns    what one more round would take, and what has to follow
 * Sets trial->ended when they are: never before RES_ROUNDS_FOR_VERDICT rounds (or options->rounds_least), for the width with RES_UNTIL_ROUNDS_LEAST at
 * first and then when an eighth more rounds are there, because looking takes time too. */
bool res_until_ended(struct res_trial *trial, const struct res_options *options, uint64_t share_ns,
                     uint64_t elapsed_ns, uint64_t next_ns);

/* What the rounds of a workload will take: `least` of them in least_ns, and most_ns if they go on. */
struct res_until_plan {
    unsigned least;
    double least_ns, most_ns;
};

/* res_until_plan - what is to be expected once the warm-up told how long a round takes.
 * share_ns  of the time budget, this workload's; 0: none. Fewer rounds than RES_ROUNDS_FOR_VERDICT (or options->rounds_least) are not
 *           made, whatever it is. */
struct res_until_plan res_until_plan(const struct res_options *options, uint64_t share_ns, double round_ns);

/* res_ended_name - "rounds", "until", "time_budget", "rounds_max" or "interrupt". */
const char *res_ended_name(enum res_ended ended);

#endif
