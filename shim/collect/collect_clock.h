/* collect_clock.h - which clock the lanes read, and what its readings mean. */
#ifndef MALLAB_SHIM_COLLECT_COLLECT_CLOCK_H
#define MALLAB_SHIM_COLLECT_COLLECT_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "shim/shared/segment.h"

/* Ticks to nanoseconds since recording began: a line through the first anchor and the newest. */
struct collect_clock {
    enum seg_clock kind;
    uint64_t first_ticks, first_ns; /* raw clock, CLOCK_MONOTONIC */
    uint64_t last_ticks, last_ns;
    double ns_per_tick;
    uint64_t start_unix_ns; /* wall clock at first_ns */
};

/* clock_start - choose and calibrate; takes about 2 ms where the TSC is used.
 * clock_anchor - take a new anchor; cheap, once a round.
 * clock_ns - nanoseconds since recording began of a raw reading; 0 for readings before it. */
void clock_start(struct collect_clock *clock, bool no_tsc);
void clock_anchor(struct collect_clock *clock);
uint64_t clock_ns(const struct collect_clock *clock, uint64_t raw);
uint64_t clock_monotonic_ns(void);

/* clock_share - note the newest anchor in the segment, for whoever recovers it when we are killed.
 * clock_resume - the clock of a collector that was killed, up to the last anchor that it shared. */
void clock_share(const struct collect_clock *clock, struct seg_header *segment);
void clock_resume(struct collect_clock *clock, const struct seg_header *segment);

#endif
