/* site_cost.h - what each call site of a workload holds of resident memory under each candidate, measured by replays behind an
 * experiment's rounds.
 *
 *   peak   the moment at which most is live in the workload, to the op; what it inherited is live before. Of one process of several, the
 *          moment at which most is live of all of them
 *   held   then, by a site: its objects' shares of the pages that they lie on (replay/meters/held_pages.h). What is resident
 *          beyond is the allocator's own
 *
 * Sites are those of `sites`, in its order (convert/sites/sites.h), and one behind them, of objects of no known site. One
 * thread at a time. Want of memory ends the program. Time is told by leaving sites out: results/measure/figures/removal.h. */
#ifndef MALLAB_SITES_COST_SITE_COST_H
#define MALLAB_SITES_COST_SITE_COST_H

#include "convert/sites/sites.h"
#include "results/measure/experiment/experiment.h"

enum { SITE_HELD_RUNS = 2 };

/* Of one candidate. Arrays are by number in `sites`. */
struct site_cost_entry {
    char *failed;                                      /* one line; NULL: it did not, and all else is there */
    double *held, *run_held[SITE_HELD_RUNS];           /* bytes; the mean of the runs, and each */
    double resident_bytes, pages_bytes, swapped_bytes; /* at the peak, means of the runs */
};

struct site_costs {
    char *unavailable;               /* one line; NULL: it is all there */
    bool absent;                     /* the process had not begun, or had ended: there is nothing */
    uint64_t peak_op, peak_bytes;    /* most is live after so many ops */
    double *live;                    /* bytes of each site, at the peak */
    struct site_cost_entry *entries; /* the experiment's candidates */
    size_t entry_count;
};

/* What is replayed: the trial's workload, or one of its processes. */
struct site_cost_workload {
    const char *path;
    uint64_t moment_ns; /* in its time; SITE_AT_PEAK: its own peak */
};
#define SITE_AT_PEAK UINT64_MAX

/* site_cost_measure - replay a workload of a trial, SITE_HELD_RUNS times under each candidate.
 * sites     of the same file.
 * ret_costs always filled; end it with site_cost_release. */
void site_cost_measure(const struct res_experiment *experiment, const struct res_trial *trial,
                       const struct site_cost_workload *workload, const struct conv_sites *sites,
                       struct site_costs *ret_costs);
void site_cost_release(struct site_costs *costs);

#endif
