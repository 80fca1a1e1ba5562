/* clock_account.h - what became of the clock in a run, and whether its memory figures predict the program's. */
#ifndef MALLAB_REPLAY_OUTCOME_CLOCK_ACCOUNT_H
#define MALLAB_REPLAY_OUTCOME_CLOCK_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/clock/recorded.h"
#include "replay/exec/pace.h"

struct rep_account {
    bool recorded;                          /* the allocator was told recorded time */
    double speed;                           /* 0: max */
    uint64_t behind_most_ns, behind_end_ns; /* pace.h; 0 without a pace */
    bool has_time;                          /* the workload has recorded time */
    struct rep_asks asks;
    unsigned threads; /* of the allocator's own, at the end */
    unsigned unseen;  /* of them, those that never slept by what the replay serves */
    unsigned lost;    /* times that the recorded clock went on without one of them */
};

/* rep_account_take - before the outcome is printed.
 * threads  of the process, the calling one and those of the allocator's own: workers have ended. */
void rep_account_take(struct rep_account *account, const struct rep_pace *pace, bool has_time,
                      unsigned threads);

/* rep_account_doubt - why resident memory of this run predicts nothing, in one line; NULL: it does. An allocator that
 * never asks for the time has the same memory on every clock. */
const char *rep_account_doubt(const struct rep_account *account);

#endif
