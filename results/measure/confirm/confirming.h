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
 * How a run is made is the runner's: a command (confirm_command.h), a service (confirm_service.h). */
#ifndef MALLAB_RESULTS_MEASURE_CONFIRM_CONFIRMING_H
#define MALLAB_RESULTS_MEASURE_CONFIRM_CONFIRMING_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "results/measure/candidate/candidates.h"
#include "results/measure/experiment/timed.h"
#include "results/measure/result/result.h"

#define RES_CONFIRM_BUDGET_NS UINT64_C(60000000000) /* where nobody says */
#define RES_CONFIRM_PAIRS_MAX 100u /* where only time ends it: more resolve what nobody acts on */

/* What one run told; NAN: it did not. */
struct res_confirm_run {
    double time_ns, wall_ns, peak_bytes;
    unsigned runs; /* of the program, that this took */
};

/* What a run is wanted for. */
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
    bool
        first_ones; /* where not all have time for a verdict, those that come first have, and the others no pair */
    uint64_t seed;
    volatile sig_atomic_t *stop;
    void (*progress)(void *context, const char *what, const char *candidate, uint64_t elapsed_ns,
                     uint64_t budget_ns);
    void *context;
};

/* res_confirm_run - run it, and put what it shows into a result, whose confirmation is replaced: `confirmation` and
 * `confirmed`, the candidates in their order without the baseline, then the control. What was stopped or failed is kept as
 * far as pairs are whole; what words there are of the command is the caller's to add. */
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

#endif
