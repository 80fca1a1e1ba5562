/* passes.h - runs besides the rounds: latency, system calls and placement. They watch, which takes time, so nothing of them
 * enters the time or memory figures, and the rounds know nothing of them.
 *
 *   latency pass   `replay --latency`: each candidate and the floor once a pass, shuffled, several passes
 *   syscalls pass  `replay --syscalls`: each candidate and the floor once
 *   placement pass `replay --placement`: each candidate once; the floor has no objects
 *
 * A run that fails here leaves the candidate's other figures as they are; its figures are "unavailable" with a reason. */
#ifndef MALLAB_RESULTS_MEASURE_EXPERIMENT_PASSES_H
#define MALLAB_RESULTS_MEASURE_EXPERIMENT_PASSES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "results/measure/run/trial.h"

#define RES_LATENCY_PASSES 3u /* enough for a median */

struct res_random;

/* How a run is made; the experiment's part. Returns the run's JSON, borrowed until the next call, or NULL with
 * ret_reason set (the caller's to free) or, when the experiment was stopped, not set. */
struct res_passes_runner {
    const json_t *(*run)(void *context, struct res_entry *entry, const char *option, char **ret_reason);
    void *context;
};

/* res_passes_latency - passes latency passes of the entries that have not failed, the control among them: what it differs by is the noise of a
 *   percentile.
 * res_passes_syscalls - one syscalls pass of the same, the control left out.
 * res_passes_placement - one placement pass of the same, the floor left out.
 * All return false when the experiment was stopped; what is not whole then is dropped. */
bool res_passes_latency(struct res_trial *trial, unsigned passes, struct res_random *random,
                        const struct res_passes_runner *runner);
bool res_passes_syscalls(struct res_trial *trial, const struct res_passes_runner *runner);
bool res_passes_placement(struct res_trial *trial, const struct res_passes_runner *runner);

void res_passes_release(struct res_passes *passes);

#endif
