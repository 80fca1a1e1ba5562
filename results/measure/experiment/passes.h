/* passes.h - what is looked at behind the rounds (experiment.h has the words): latency. */
#ifndef MALLAB_RESULTS_MEASURE_EXPERIMENT_PASSES_H
#define MALLAB_RESULTS_MEASURE_EXPERIMENT_PASSES_H

#include <jansson.h>
#include <stdbool.h>

#include "results/measure/run/trial.h"

struct res_random;

#define RES_LATENCY_PASSES 3u /* enough for a median */
#define RES_NO_TIME_WHY    "no time was left (--time-budget)"

/* How a run of a pass is made. Returns the run's JSON, borrowed until the next call, or NULL with
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

#endif
