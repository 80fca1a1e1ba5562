/* outcome_latency.h - the latency pass, as told. After the last op only. clock: its rate is known. */
#ifndef MALLAB_REPLAY_OUTCOME_OUTCOME_LATENCY_H
#define MALLAB_REPLAY_OUTCOME_OUTCOME_LATENCY_H

#include <jansson.h>

#include "replay/clock/ticks.h"
#include "replay/exec/latency_pass.h"

json_t *rep_latency_json(const struct rep_latency *latency, const struct rep_clock *clock);

#endif
