/* removed.h - what each candidate saves without some call sites: `removals` of a workload. results/measure/figures/removal.h makes them; NAN is
 * not known. */
#ifndef MALLAB_RESULTS_MEASURE_RESULT_REMOVED_H
#define MALLAB_RESULTS_MEASURE_RESULT_REMOVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "results/measure/base/fields.h"

struct res_removed {
    char *name, *failed;
    double with_bytes, without_bytes, saved_bytes, spread_bytes;                  /* resident at the peak */
    double held_bytes;                                                            /* by those sites then */
    double with_ns, without_ns, saved_ns, saved_low_ns, saved_high_ns, spread_ns; /* in all calls */
    double ns_per_allocation, of_calls, of_process;
    bool peak_shown, time_shown;
};

struct res_removal {
    char *words;            /* names by which the sites were chosen, or the site */
    char *time_unavailable; /* NULL: it was measured */
    char *held_unavailable; /* likewise */
    uint64_t allocations;   /* and resizes, of those sites */
    uint64_t ops;           /* fewer without them, frees among them */
    double live_peak_bytes; /* without them */
    struct res_removed *candidates;
    size_t candidate_count;
};

extern const struct res_described RES_REMOVAL, RES_REMOVED;

#endif
