/* confirming.h - run the program itself, in pairs, and say what it shows of time and of memory.
 *
 *   pair     a run of a candidate and one of the baseline, neighbours in time; which one goes first alternates
 *   round    a pair of each candidate and one of the baseline beside itself, in an order drawn from the seed
 *   control  the latter: by what it differs from itself the program's noise is known
 *   look     a run of the baseline and of each candidate for their peaks of memory, before the first round and in each: the control's
 *            pairs are the baseline's looks of two neighbouring rounds. Runs of a service tell both, and need none but the first
 *
 * Neighbouring runs see the same state of the machine, which changes slower than a program runs; the swapped order takes
 * from the ratio what the first run leaves behind for the second. Ratios are summed up by a trimmed mean
 * (statistics.h, res_trimmed_logarithm).
 * How a run is made is the runner's: a command (below), a service (confirm_service.c). */
#ifndef MALLAB_RESULTS_MEASURE_CONFIRM_CONFIRMING_H
#define MALLAB_RESULTS_MEASURE_CONFIRM_CONFIRMING_H

#include "results/measure/experiment/timed.h"
#include "results/measure/result/result.h"

#define RES_CONFIRM_BUDGET_NS UINT64_C(60000000000) /* where nobody says */
#define RES_CONFIRM_PAIRS_MAX 100u /* where only time ends it: more resolve what nobody acts on */

/* The figures of one run; NAN: it told none. */
struct res_confirm_run {
    double time_ns, wall_ns, peak_bytes;
    unsigned runs; /* of the program, that this took */
};

/* The purpose of a run. */
enum res_confirm_what { RES_CONFIRM_TIME, RES_CONFIRM_PEAK };

struct res_confirm_runner {
    /* ret_reason: one line, the caller's to free, on RES_REAL_FAILED. */
    enum res_real_state (*run)(void *context, const struct res_candidate *candidate,
                               enum res_confirm_what what, struct res_confirm_run *ret, char **ret_reason);
    void *context;
    bool tells_both; /* each run tells time and peak */
};

struct res_confirm_options {
    const struct res_candidate *const *candidates; /* resolved and found; the first is the baseline */
    size_t candidate_count;                        /* > 0 */
    struct res_confirm_runner runner;
    uint64_t pairs;     /* of each candidate; 0: RES_CONFIRM_PAIRS_MAX */
    uint64_t budget_ns; /* no pair is begun that would end later, as far as can be foreseen; 0: any time */
    uint64_t run_ns;    /* what one run takes; 0: not known before the first */
    bool first_ones;    /* where time is too short for all, the first get a verdict, and the others no pair */
    uint64_t seed;
    volatile sig_atomic_t *stop;
    void (*progress)(void *context, const char *what, const char *candidate, uint64_t elapsed_ns,
                     uint64_t budget_ns);
    void *context;
};

/* res_confirm_run - run it, and put what it shows into a result, whose confirmation is replaced: `confirmation` and
 * `confirmed`, the candidates in their order without the baseline, then the control. What was stopped or failed is kept as
 * far as pairs are whole; what words there are of the command is the caller's to add. The verdicts are made of that, too. */
void res_confirm_run(const struct res_confirm_options *options, struct res_result *result);

/* res_confirm_runs - how often the program would run at most for so many pairs of so many candidates beside the baseline, looks at
 * memory included. */
uint64_t res_confirm_runs(size_t candidates, uint64_t pairs);

/* res_confirm_pairs - how many pairs a time would hold, within the least that a verdict takes and RES_CONFIRM_PAIRS_MAX.
 * run_ns  of one run, > 0. */
uint64_t res_confirm_pairs(size_t candidates, uint64_t run_ns, uint64_t budget_ns);

/* res_confirm_judge - the figures and verdicts of samples that are there.
 * control  NULL: one is the control itself, which differs from the baseline by noise alone. */
void res_confirm_judge(struct res_confirmed *one, const struct res_confirmed *control);

/* ---- confirming.c: a command as what is confirmed: timed by hyperfine where it is there (timed.h), its peak of memory from runs
 * that are watched (sampled.h).
 *
 * It has no input, its output is thrown away. A run that ends with another exit code than is expected has failed, and so has
 * one whose processes ran without the candidate's library. */

struct res_confirm_command {
    const char *path;       /* of the program; arguments: argv */
    char *const *arguments; /* borrowed, like all */
    const char *directory;  /* for what runs leave behind */
    const char *hyperfine;  /* its path; NULL: wait4(2) */
    const char
        *group;    /* a name, whose processes' peak is what they hold together; NULL: the largest counts */
    int exit_code; /* that is expected; 128 + signal, or RES_ANY_CODE */
    uint64_t timeout_ns; /* of one run; 0: none */
    volatile sig_atomic_t *stop;
};

/* res_confirm_command_as_it_is - one run of it without any candidate: that it ends as is expected, and what it runs on.
 * output       a descriptor for its stdout
 * libraries    paths, NULL behind
 * ret_library  the first of them that its largest process had loaded, NULL: none; filled on RES_REAL_OK
 * ret_reason   one line, the caller's to free, on RES_REAL_FAILED. */
enum res_real_state res_confirm_command_as_it_is(const struct res_confirm_command *command, int output,
                                                 const char *const *libraries, const char **ret_library,
                                                 char **ret_reason);

/* res_confirm_command_runner - runs of it; command is borrowed as long as the runner is used. */
struct res_confirm_runner res_confirm_command_runner(struct res_confirm_command *command);

/* ---- confirm_service.c: a service as what is confirmed: each run starts it, loads it, reads what it took and stops it.
 *   start  what starts it: it runs under the candidate, in a process group of its own
 *   ready  tried again and again until it succeeds; without one the load itself is, from when the tree first rests
 *   load   what gives it work; neither this nor ready nor stop run under the candidate
 *   stop   what ends it; without one its processes get SIGTERM, and SIGKILL where they do not end by it
 *   tree   all processes that the start has led to, also those that were left by their parents: mallab adopts them
 *          meanwhile (PR_SET_CHILD_SUBREAPER)
 *
 * Each of the four is a line for sh(1). A run's time is the processor time of the tree from start to end: what wait4(2) tells of
 * those that were waited for, or what /proc told of all when the load ended, if that is more. Its peak of memory is VmHWM, the
 * sum over the tree that is there together, at its most: looks are every 50 ms under load, and one when that ended. Files and
 * shared memory count once, as much as the process has that has most. Only processes that came of the start are ended,
 * and one that runs as another user cannot be: that fails the run, and no other is begun. */

#define RES_CONFIRM_LOAD_NS                                                                                  \
    UINT64_C(600000000000) /* the first load, where nobody says how long one may take */
#define RES_CONFIRM_PATIENCE_NS UINT64_C(30000000000) /* until it is ready, and until SIGTERM has ended it */

struct res_confirm_service {
    const char *start, *load; /* borrowed, like all */
    const char *stop, *ready; /* NULL: none */
    const char *directory;    /* for what runs leave behind */
    uint64_t
        timeout_ns; /* of each of the four, and of getting ready; 0: RES_CONFIRM_PATIENCE_NS to get ready, a
                            load as res_confirm_load_patience_ns has it */
    uint64_t loaded_ns; /* what the first load took; 0: none has ended well yet. The runner's */
    char *left; /* what of it is left running, as we may not end it; NULL: nothing is. The caller's to free */
    volatile sig_atomic_t *stopped;
};

/* res_confirm_load_patience_ns - what a load may take before it counts as hung: what was asked for, else ten times the first one, at
 * least a minute. */
uint64_t res_confirm_load_patience_ns(const struct res_confirm_service *service);

/* res_confirm_service_as_it_is - one run of it without any candidate, load and end included. Otherwise as res_confirm_command_as_it_is. */
enum res_real_state res_confirm_service_as_it_is(struct res_confirm_service *service,
                                                 const char *const *libraries, const char **ret_library,
                                                 char **ret_reason);

/* res_confirm_service_runner - runs of it; service is borrowed, and changed, as long as the runner is used. */
struct res_confirm_runner res_confirm_service_runner(struct res_confirm_service *service);

#endif
