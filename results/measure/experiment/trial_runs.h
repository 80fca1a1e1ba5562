/* trial_runs.h - what a trial keeps of its runs: those of one digest, with samples that they share kept once. */
#ifndef MALLAB_RESULTS_MEASURE_EXPERIMENT_TRIAL_RUNS_H
#define MALLAB_RESULTS_MEASURE_EXPERIMENT_TRIAL_RUNS_H

#include <stddef.h>

#include "results/measure/run/trial.h"

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

#endif
