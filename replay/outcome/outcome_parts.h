/* outcome_parts.h - the parts of what a run prints that have a file of their own. After the last op only: all of
 * these may call malloc.
 *
 * Functions that return JSON return a new reference, or NULL when memory ran out; keys: docs/results.md. Those that
 * print write aligned lines to standard output. */
#ifndef MALLAB_REPLAY_OUTCOME_OUTCOME_PARTS_H
#define MALLAB_REPLAY_OUTCOME_OUTCOME_PARTS_H

#include <jansson.h>
#include <stdint.h>

#include "replay/clock/ticks.h"
#include "replay/exec/latency_pass.h"
#include "replay/meters/counters.h"
#include "replay/meters/placement.h"
#include "replay/outcome/outcome.h"
#include "replay/system/binding.h"
#include "replay/system/syscalls.h"

/* Of the whole run. Only times of a time pass are the allocator's; its name is that of the JSON's `pass`. */
double rep_outcome_allocator_ns(const struct rep_outcome *outcome);
double rep_outcome_ns_per_op(const struct rep_outcome *outcome);
bool rep_outcome_is_time_pass(const struct rep_outcome *outcome);
const char *rep_outcome_pass(const struct rep_outcome *outcome);

/* clock: its rate is known. */
json_t *rep_latency_json(const struct rep_latency *latency, const struct rep_clock *clock);
void rep_latency_text(const struct rep_latency *latency, const struct rep_clock *clock);

json_t *rep_syscalls_json(const struct rep_syscalls *syscalls);
void rep_syscalls_text(const struct rep_syscalls *syscalls);

json_t *rep_placement_json(const struct rep_placement *placement);
void rep_placement_text(const struct rep_placement *placement);

json_t *rep_counters_json(const struct rep_counters *counters);
void rep_counters_text(const struct rep_counters *counters);

json_t *rep_binding_json(const struct rep_binding *binding);

#endif
