/* clock.h - time that passes. */
#ifndef MALLAB_FOOTPRINT_BASE_CLOCK_H
#define MALLAB_FOOTPRINT_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* fp_now_ns - CLOCK_MONOTONIC. Async-signal-safe. */
static inline uint64_t fp_now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail for this clock */
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

#endif
