/* experiment.h - workloads x candidates x rounds: run them so that only the allocator differs, keep every sample.
 *
 *   entry     one column of an experiment: a candidate, the control, or the floor
 *   control   the baseline a second time in every round (A/A): what it differs by is noise
 *   floor     `none`, the replay without an allocator: the harness' own time, subtracted from all
 *   warm-up   one run of each entry before the first round, not counted: the first touch of memory that a virtual
 *             machine never used costs five times a later one, and files come into the page cache. The waste is
 *             split in it. Where there are memory passes it is the first of them
 *   check     where asked for, a run of each candidate before its warm-up that looks whether it keeps its promises
 *   round     every entry once, in an order drawn from the seed
 *   memory    another pass at the end of each of the first rounds: every entry but the floor once more, told recorded time
 *             (replay's --clock), because what an allocator gives back follows the clock. Resident figures are of it, times
 *             never are. Memory repeats better than time, so few rounds do. Workloads without recorded time have no such
 *             pass: their resident figures are of the runs that are timed. Of programs of one thread two such runs go on at a time
 *
 *   pass      behind the rounds, where asked for: runs that watch, which takes time, so nothing of them enters time or memory.
 *             Latency: each candidate, the control and the floor several times, shuffled. A run that fails here leaves the candidate's other figures as they are; its figures are
 *             "unavailable" with a reason
 *
 * One workload after the other. An entry that fails (it does not start, crashes, its proof fails, it executed other
 * ops than the others) is out for that workload, with the reason; the others go on.
 * Source: DESIGN.md, section 5. */
#ifndef MALLAB_RESULTS_MEASURE_EXPERIMENT_EXPERIMENT_H
#define MALLAB_RESULTS_MEASURE_EXPERIMENT_EXPERIMENT_H

#include <jansson.h>

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "results/measure/run/trial.h"

struct res_experiment {
    struct res_options options; /* as given: its pointers stay borrowed */
    struct res_trial *trials;   /* one for each workload begun */
    size_t trial_count;
    bool stopped; /* by options.stop: rounds not finished are dropped */
};

/* res_experiment_run - run it all.
 * options         borrowed until res_experiment_release.
 * ret_experiment  always filled. */
void res_experiment_run(const struct res_options *options, struct res_experiment *ret_experiment);

/* res_experiment_more_runs - how many replays of a workload there are beside its rounds and their warm-up: for memory, checks, single
 * calls. */
size_t res_experiment_more_runs(const struct res_options *options, const struct res_workload *workload);
void res_experiment_release(struct res_experiment *experiment);

#endif
