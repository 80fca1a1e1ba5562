/* samples.h - trials made of samples: cut out of a result of many rounds, or drawn from a model of noise.
 *
 * What is judged is the product's own: res_workload_judge on what trial_workload makes of a trial, as `mallab ab` does it. */
#ifndef MALLAB_TESTS_STATISTICS_SAMPLES_H
#define MALLAB_TESTS_STATISTICS_SAMPLES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "results/measure/base/random.h"
#include "results/measure/figures/figures.h"
#include "results/measure/result/result.h"
#include "results/report/beside/beside.h"

#define MEMORY_ROUNDS 3u /* as `mallab ab` takes by default */

/* The runs of one workload; entries are candidates in their order, then the control, then the floor. */
struct trial_entry {
    bool is_floor;
    struct res_run *runs;
    size_t run_count;
    struct res_run *memory_runs;
    size_t memory_count;
};

struct trial {
    struct trial_entry *entries;
    size_t entry_count, candidate_count;
    unsigned rounds, memory_rounds;
};

/* The first workload of a result, with every round. */
struct samples {
    struct trial trial;
    struct res_result result; /* which has the runs */
};

/* samples_load - read a result. Ends the program with a message when it is none. */
void samples_load(const char *path, struct samples *ret_samples);
void samples_release(struct samples *samples);

/* samples_cut - the experiment that rounds `first` to `first` + `count` - 1 are, and memory rounds from `first_memory` on; those may be
 * none. ret_trial borrows from `samples`; its entries are to be freed. */
void samples_cut(const struct samples *samples, size_t first, size_t count, size_t first_memory,
                 struct trial *ret_trial);

/* trial_workload - the trial as a result has it, judged (figures.h). Its runs are the trial's, which must stay.
 * resolve  the difference that was asked for; 0: none */
void trial_workload(const struct trial *trial, double resolve, struct res_result_workload *ret_workload);
void trial_workload_drop(struct res_result_workload *workload);

/* trial_series - time of an entry; of the floor, nothing subtracted. Its batches are the trial's, which must stay. */
struct res_series trial_series(const struct trial *trial, size_t entry);

/* trial_outcome - what `mallab check` says of a candidate's time against a limit, 1.03 being +3 % to the baseline.
 * ret_tails  that the test at the limit alone says; may be NULL */
enum res_outcome trial_outcome(const struct trial *trial, size_t candidate, double limit,
                               struct res_tails *ret_tails);

/* Models of noise, from what batch times were seen to do; docs/notes/statistics.md has the measurements. */
enum model {
    MODEL_QUIET,  /* each batch within a per cent or two */
    MODEL_SPIKES, /* interrupts and other processes: single batches take several times as long */
    MODEL_DRIFT, /* the machine becomes slower by a fifth from the first run to the last, and swings around that */
    MODEL_BIMODAL, /* a neighbour comes and goes: stretches of milliseconds to seconds take half as long again */
    MODEL_BOOST, /* fast for a quarter of the time, in stretches of runs: a candidate may be long in meeting one */
    MODEL_COUNT,
};

const char *model_name(enum model model);

/* model_draw - an experiment of `rounds` rounds: the baseline, a candidate that takes `effect` times its time, the control and the floor, in
 * shuffled order within each round. Whole, with runs of its own: to be released with model_release. */
void model_draw(enum model model, double effect, size_t rounds, struct res_random *random,
                struct trial *ret_trial);
/* model_draw_many - the same with `count` candidates that take effects[i] times the baseline's time, from entry 1 on. */
void model_draw_many(enum model model, const double *effects, size_t count, size_t rounds,
                     struct res_random *random, struct trial *ret_trial);
void model_release(struct trial *trial);

#endif
