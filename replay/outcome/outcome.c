/* outcome.c - what both forms of a run's outcome are made of. */
#include "replay/outcome/outcome.h"

#include "replay/outcome/outcome_parts.h"

double rep_outcome_allocator_ns(const struct rep_outcome *outcome)
{
    uint64_t ticks = 0;
    for (uint64_t i = 0; i < outcome->meters->window_count; i++)
        ticks += outcome->meters->ticks[i];
    return rep_clock_ns(outcome->clock, ticks);
}

bool rep_outcome_is_time_pass(const struct rep_outcome *outcome)
{
    return outcome->latency == NULL && outcome->syscalls == NULL && outcome->placement == NULL &&
           outcome->check == NULL && !outcome->account->recorded;
}

const char *rep_outcome_pass(const struct rep_outcome *outcome)
{
    return outcome->check != NULL       ? "check"
           : outcome->latency != NULL   ? "latency"
           : outcome->syscalls != NULL  ? "syscalls"
           : outcome->placement != NULL ? "placement"
           : outcome->account->recorded ? "memory"
                                        : "time";
}

double rep_outcome_ns_per_op(const struct rep_outcome *outcome)
{
    const uint64_t timed = outcome->totals->ops - outcome->totals->untimed_ops;
    return timed > 0 ? rep_outcome_allocator_ns(outcome) / (double)timed : 0;
}
