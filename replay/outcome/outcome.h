/* outcome.h - the report of a run: text for people, one JSON object for programs.
 *
 * Made after the last measurement, because both need malloc. */
#ifndef MALLAB_REPLAY_OUTCOME_OUTCOME_H
#define MALLAB_REPLAY_OUTCOME_OUTCOME_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "footprint/wl/workload.h"
#include "replay/clock/recorded.h"
#include "replay/exec/exec.h"
#include "replay/exec/latency_pass.h"
#include "replay/meters/meters.h"
#include "replay/proof/allocator_proof.h"
#include "replay/proof/settings.h"
#include "replay/system/run_limit.h"

/* The account of the clock in a run. */
struct rep_account {
    bool recorded; /* the allocator was told recorded time */
    bool has_time; /* the workload has recorded time */
    struct rep_asks asks;
    unsigned threads; /* of the allocator's own, at the end */
    unsigned unseen;  /* of them, those that never slept by what the replay serves */
    unsigned lost;    /* times that the recorded clock went on without one of them */
};

struct rep_outcome {
    const char *candidate;
    const char *binary;         /* the allocator this program is linked for */
    const char *workload;       /* path as given */
    const char *incomplete_why; /* what the recording that it is of lacks; NULL: nothing, as far as it says */
    uint64_t workload_digest;
    const struct rep_proof *proof;
    const struct rep_settings *settings;
    const struct rep_meters *meters;
    const struct rep_exec_options *exec; /* of the run; the clock's rate is known */
    const struct rep_exec_totals *totals;
    unsigned told;                 /* processors that the allocator was told of; 0: those that there are */
    uint64_t substituted;          /* calls.h */
    const struct rep_waste *waste; /* NULL: not looked at */
    const struct rep_limit *limit; /* its bytes are 0: there was none */
    unsigned idle_ms;              /* 0: no idling, and no idle figure */
    const struct rep_account *account;
};

/* rep_account_take - before the outcome is printed.
 * threads  of the process, the calling one and those of the allocator's own: workers have ended. */
void rep_account_take(struct rep_account *account, bool recorded, bool has_time, unsigned threads);

/* rep_account_doubt - why resident memory of this run predicts nothing, in one line; NULL: it
 * does. An allocator that never asks for the time has the same memory on every clock. */
const char *rep_account_doubt(const struct rep_account *account);

/* rep_outcome_text / rep_outcome_json - print to standard output: the JSON, or its keys and values a line each.
 * Return    false when it could not be written, or memory ran out. */
bool rep_outcome_text(const struct rep_outcome *outcome);
bool rep_outcome_json(const struct rep_outcome *outcome);

/* ---- for the files of the JSON. Memory may run out anywhere: the object is built on, and not printed, as half an object must
 * not look like a whole one. One object a process. */

/* rep_set / rep_append - take over value, NULL where memory ran out. */
void rep_set(json_t *object, const char *key, json_t *value);
void rep_append(json_t *array, json_t *value);

/* Counts beyond what JSON's signed numbers hold do not occur: 2^63 bytes or nanoseconds. */
#define rep_set_count(object, key, value) rep_set(object, key, json_integer((json_int_t)(value)))
#define rep_set_real(object, key, value)  rep_set(object, key, json_real(value))

/* rep_latency_json - the latency pass, as told: outcome_latency.c. clock: its rate is known. */
json_t *rep_latency_json(const struct rep_latency *latency, const struct rep_clock *clock);

#endif
