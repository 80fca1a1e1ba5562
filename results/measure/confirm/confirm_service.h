/* confirm_service.h - a service as what is confirmed: each run starts it, loads it, reads what it took and stops it.
 *
 *   start  what starts it: it runs under the candidate, in a process group of its own
 *   ready  tried again and again until it succeeds; without one the load itself is, from when the tree first rests
 *   load   what gives it work; neither this nor ready nor stop run under the candidate
 *   stop   what ends it; without one its processes get SIGTERM, and SIGKILL where they do not end by it
 *   tree   all processes that the start has led to, also those that were left by their parents: mallab adopts them
 *          meanwhile (PR_SET_CHILD_SUBREAPER)
 *
 * Each of the four is a line for sh(1). A run's time is the processor time of the tree from start to end: what wait4(2) tells of
 * those that were waited for, or what /proc told of all when the load ended, if that is more. Its peak of memory is VmHWM, the
 * sum over the tree that is there together, at its most: looks are every 50 ms under load, and one when that ended. Files and
 * shared memory count once, as much as the process has that has most. Only processes that came of the start are ended,
 * and one that runs as another user cannot be: that fails the run, and no other is begun. */
#ifndef MALLAB_RESULTS_MEASURE_CONFIRM_CONFIRM_SERVICE_H
#define MALLAB_RESULTS_MEASURE_CONFIRM_CONFIRM_SERVICE_H

#include "results/measure/confirm/confirming.h"

#define RES_CONFIRM_LOAD_NS                                                                                  \
    UINT64_C(600000000000) /* the first load, where nobody says how long one may take */

#define RES_CONFIRM_PATIENCE_NS                                                                              \
    UINT64_C(30000000000) /* until it is ready, and until it has ended by SIGTERM */

struct res_confirm_service {
    const char *start, *load; /* borrowed, like all */
    const char *stop, *ready; /* NULL: none */
    const char *directory;    /* for what runs leave behind */
    uint64_t
        timeout_ns; /* of each of the four, and of getting ready; 0: RES_CONFIRM_PATIENCE_NS to get ready, a load
                            as res_confirm_load_patience_ns has it */
    uint64_t loaded_ns; /* what the first load took; 0: none has ended well yet. The runner's */
    char *left; /* what of it is left running, as we may not end it; NULL: nothing is. The caller's to free */
    volatile sig_atomic_t *stopped;
};

/* res_confirm_load_patience_ns - what a load may take before it counts as hung: what was asked for, else ten times the first one, at
 * least a minute. */
uint64_t res_confirm_load_patience_ns(const struct res_confirm_service *service);

/* res_confirm_service_runner - runs of it; service is borrowed, and changed, as long as the runner is used. */
struct res_confirm_runner res_confirm_service_runner(struct res_confirm_service *service);

#endif
