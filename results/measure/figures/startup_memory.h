/* startup_memory.h - what an allocator holds in all: with what it had before the first call, which no figure of resident memory has in it. */
#ifndef MALLAB_RESULTS_MEASURE_FIGURES_STARTUP_MEMORY_H
#define MALLAB_RESULTS_MEASURE_FIGURES_STARTUP_MEMORY_H

#include <stdbool.h>

struct res_held {
    double bytes;       /* resident, as measured: less start_bytes */
    double start_bytes; /* before the first call; NAN: not known */
};

/* res_held_outweighed - whether less resident memory than the baseline's is no less in all, since it held more from the start: such a saving is no
 * advice. False where a start is not known: comparisons with NAN are false. */
static inline bool res_held_outweighed(struct res_held own, struct res_held baseline)
{
    return own.bytes + own.start_bytes >= baseline.bytes + baseline.start_bytes;
}

#endif
