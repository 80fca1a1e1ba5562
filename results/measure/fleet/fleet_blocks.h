/* fleet_blocks.h - cells as a fleet keeps them until it is finished: fleet.h takes them, fleet.c joins them to hosts. */
#ifndef MALLAB_RESULTS_MEASURE_FLEET_FLEET_BLOCKS_H
#define MALLAB_RESULTS_MEASURE_FLEET_FLEET_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "results/measure/fleet/fleet.h"
#include "results/measure/statistics/statistics.h"

/* One candidate: ratios are of the time in malloc and of the heap. */
struct res_fleet_side {
    char *failed;
    struct res_logarithm time, peak; /* value NAN: there is none; error NAN: too few rounds for an interval */
    double files;                    /* bytes of files in memory beyond the baseline's */
    double mean_bytes;
};

struct res_fleet_block {
    char *label, *digest, *workload, *program, *machine, *no_trust_time, *no_trust_memory;
    uint64_t number;
    double share;                 /* NAN: not given */
    double calls_ns, cpu_ns;      /* of the baseline in malloc; of the process, NAN: not known */
    double heap_bytes, rss_bytes; /* likewise at the peak */
    struct res_fleet_side *sides; /* by candidate */
};

struct res_fleet_input {
    char **candidates;
    size_t candidate_count;
    int weights;
    bool all_hosts;
    struct res_fleet_block **blocks; /* by label, digest and number */
    size_t count, capacity;
};

/* res_block_knows - whether it says how much memory, or CPU time, the process took. */
bool res_block_knows(const struct res_fleet_block *block, bool memory);

/* res_block_whole_bytes - of the process at its peak: no less than its heap. */
double res_block_whole_bytes(const struct res_fleet_block *block);

/* res_block_figure - a candidate's change of what the host's figures are of (enum res_fleet_of). The baseline's is exact. */
struct res_logarithm res_block_figure(const struct res_fleet_block *block, size_t candidate, bool memory,
                                      int of);

#endif
