/* outcome.h - what a run is told as: text for people, one JSON object for programs.
 *
 * Made after the last measurement, because both need malloc. */
#ifndef MALLAB_REPLAY_OUTCOME_H
#define MALLAB_REPLAY_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

#include "footprint/workload.h"
#include "replay/account.h"
#include "replay/meters.h"
#include "replay/proof.h"
#include "replay/threads.h"

struct rep_outcome {
    const char *candidate;
    const char *binary;   /* the allocator this program is linked for */
    const char *workload; /* path as given */
    uint64_t workload_digest;
    const struct wl_summary *summary;
    const struct rep_proof *proof;
    const struct rep_meters *meters;
    const struct rep_clock *clock; /* its rate is known */
    const struct rep_exec_totals *totals;
    uint64_t substituted; /* calls.h */
    const char *touch;
    bool serial;
    unsigned processors;
    unsigned idle_ms;      /* 0: no idling, and no idle figure */
    const char *idle_with; /* "calls" or "nothing" */
    const struct rep_account *account;
};

/* rep_outcome_text / rep_outcome_json - print to standard output.
 * Return    false when it could not be written, or memory ran out. */
bool rep_outcome_text(const struct rep_outcome *outcome);
bool rep_outcome_json(const struct rep_outcome *outcome);

#endif
