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

#include "results/measure/result/result.h"

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

/* ---- result_making.c: the result (result.h) of an experiment: figures of its samples, and every sample. */

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

/* ---- trial_runs.c: what a trial keeps of its runs: those of one digest, with samples that they share kept once. */

/* res_trial_entries - how many a trial has: candidates, control, and the floor where there is one. */
size_t res_trial_entries(const struct res_options *options);

/* res_trial_begin - a trial without runs; options and workload are borrowed until res_trial_release. */
void res_trial_begin(struct res_trial *ret_trial, const struct res_options *options,
                     const struct res_workload *workload);
void res_trial_release(struct res_trial *trial);

/* res_entry_fail - it is out. reason: one line, taken. */
void res_entry_fail(struct res_entry *entry, char *reason);

/* res_trial_learn - from the warm-up's runs, one for each entry, what is the same in all later ones. */
void res_trial_learn(struct res_trial *trial, struct res_run *runs);

enum res_keep { RES_KEEP_NOTHING, RES_KEEP_TIME, RES_KEEP_MEMORY };

/* res_trial_keep - a pass is finished: its runs become the entries', or are released.
 * order  in which the entries ran
 * runs   by entry; without JSON where there was none */
void res_trial_keep(struct res_trial *trial, const size_t *order, struct res_run *runs, enum res_keep what);

/* res_digest_agreed - the digest that most entries' warm-ups showed; the earlier one of two equally frequent.
 * digests  NULL for those that did not run. Returns one of them, or NULL. */
const char *res_digest_agreed(const char *const *digests, size_t count);

/* ---- trial_runs.c: what is looked at behind the rounds (experiment.h has the words): latency. */

struct res_random;

#define RES_LATENCY_PASSES 3u /* enough for a median */
#define RES_NO_TIME_WHY    "no time was left (--time-budget)"

/* The maker of a pass's runs. Returns the run's JSON, borrowed until the next call, or NULL with
 * ret_reason set (the caller's to free) or, when the experiment was stopped, not set. */
struct res_passes_runner {
    const json_t *(*run)(void *context, struct res_entry *entry, char **ret_reason);
    void *context;
};

/* res_passes_latency - passes latency passes of the entries that have not failed, the control among them: what it differs by is the noise of a
 *   percentile.
 * Returns false when the experiment was stopped; what is not whole then is dropped. */
bool res_passes_latency(struct res_trial *trial, unsigned passes, struct res_random *random,
                        const struct res_passes_runner *runner);

/* res_passes_leave_out_latency - say of the passes that were asked for why there are none. */
void res_passes_leave_out_latency(struct res_trial *trial, const struct res_options *options,
                                  const char *why);

void res_passes_release(struct res_passes *passes);

/* ---- start_costs.c: what a process pays for its allocator before it has called it: true(1), started under each candidate as
 * a program would be, interleaved. Every process image pays it, so a make of 500 compilers pays it 500 times.
 *
 * Loading, relocating and initialising the library is in it, and the pages that this touches: processor time as the kernel
 * counts it. What replays measure begins behind all that. */

/* res_start_costs - start it options->starts times under each, round by round, but for RES_STARTS_NS in all at most.
 * cxx_library  true(1) has libstdc++ loaded, too: what an allocator needs of it is no cost to a program that has it.
 * ret_costs  one for each candidate; all unknown where true(1) is not there, or ends otherwise under it. */
void res_start_costs(const struct res_options *options, bool cxx_library, struct res_start_cost *ret_costs);

/* res_start_costs_of - the medians of what was taken; rounds of both belong together. For tests.
 * cpu_ns  of each start. base: the baseline's, in the same rounds. */
struct res_start_samples {
    double *cpu_ns;
    size_t count;
};
struct res_start_cost res_start_costs_of(const struct res_start_samples *own,
                                         const struct res_start_samples *base);

/* ---- halving.c: the few of many candidates that are worth measuring well: successive halving.
 *   stage    one experiment of a few rounds over the candidates that are left, the baseline among them; what fails in it is out
 *   score    of a candidate in a stage: its time and its peak over the baseline's, 1 being as much; NAN: not known
 *   keep     the better half goes on to a stage of twice as many rounds. Half of those are the best in time, half the best in
 *            peak memory, since nobody says yet which one the program wants
 *
 * The best of a hundred tries looks better than it is: scores choose and are thrown away, and who is left is measured afresh.
 * Source  K. Jamieson, A. Talwalkar, "Non-stochastic best arm identification and hyperparameter optimization", AISTATS (2016). */

struct res_halving {
    const struct res_options
        *options; /* of a stage but for rounds, seed and time; the baseline stands first; of one workload */
    size_t left;  /* how many are wanted beside the baseline, > 0 */
    uint64_t budget_ns; /* for all stages, each the same part of it; a stage makes one round at least */
    /* Called after a stage, with the options' context. failed: why, of each candidate, the baseline first; NULL: it did not. May be NULL. */
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

/* ---- trial_runs.c: how long an experiment goes on: a number of rounds, until the intervals are narrow, or until its time is spent.
 *   width   of an interval of a ratio: its high end less its low end, as a share of the ratio
 *
 * Rounds are added until a difference of the size asked for is either shown or excluded: until each width is no more than that, so that one as large
 * is some four errors from 1; or the whole interval lies beyond twice that on one side. Else the width alone counts, whatever the interval holds. To stop as soon as a verdict falls would let noise choose its
 * moment: with a look after each round, a fair coin would be called unfair in far more than 5 % of the cases. The width says nothing about
 * where the interval lies; `scripts/bench verdict` shows that false verdicts stay below 5 % (docs/notes/statistics.md). */

#define RES_UNTIL_ROUNDS_LEAST                                                                               \
    16u /* for --resolve: where half of the rounds are disturbed, the test of 8 can call nothing different (steady.c) */
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

/* The time that the rounds of a workload will take: `least` of them in least_ns, and most_ns if they go on. */
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
