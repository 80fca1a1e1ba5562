/* presence.h - how long a thread was off its processor in a stretch of its code, and why.
 *
 *   preempted   it could have gone on, and other work had the processor: nothing of the allocator's
 *   blocked     it waited for something, a lock or a page of a file, if only once in the stretch: then
 *               what else it was kept from is not told apart, and all of it stays in the stretch's time
 *
 * From the thread's own processor clock beside the wall's, and its voluntary switches. Time that the
 * kernel works for the thread, page faults above all, is on both clocks. */
#ifndef MALLAB_REPLAY_CLOCK_PRESENCE_H
#define MALLAB_REPLAY_CLOCK_PRESENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/clock/ticks.h"

struct rep_absence {
    uint64_t span_ticks; /* of all stretches */
    uint64_t preempted_ns, blocked_ns;
};

/* A stretch under way. */
struct rep_presence {
    uint64_t ticks, wall_ns, cpu_ns;
    long waits;
};

/* rep_presence_begin / rep_presence_end - around a stretch, by the thread itself: four calls of the kernel, about
 * a microsecond, none of it within. */
struct rep_presence rep_presence_begin(const struct rep_clock *clock);
void rep_presence_end(const struct rep_clock *clock, const struct rep_presence *begun,
                      struct rep_absence *absence);

/* rep_absence_preempted_ns - the part of it that fell into so many ticks of the stretches. */
uint64_t rep_absence_preempted_ns(const struct rep_absence *absence, uint64_t ticks);

/* rep_absence_add - what is told of a stretch of so much time on both clocks.
 * waited   whether the thread waited for something meanwhile. */
void rep_absence_add(struct rep_absence *absence, uint64_t wall_ns, uint64_t cpu_ns, bool waited);

#endif
