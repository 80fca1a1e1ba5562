/* disturbances.h - what of the machine's state or doings disturbs a measurement, looked at once before an experiment
 * and once after it; and what the machine is.
 *
 *   before   what lasts, for `mallab doctor`: a governor other than `performance`, turbo, huge pages for everyone, little free
 *            memory, running on battery. It is the same for all runs of an experiment, so a result is not told
 *   during   what happened meanwhile: time stolen by the hypervisor, processors used by others than our own runs,
 *            threads that waited for one, swapping; the host's slow phases, which the harness' own runs show
 *   after    free memory again
 *
 * Of each, `text` says what was seen, `remedy` what to do about it.
 * What the kernel does not tell (no cpufreq, no PSI) is no disturbance. Thresholds stand in the .c file, each with
 * its reason. */
#ifndef MALLAB_RESULTS_MEASURE_MACHINE_DISTURBANCES_H
#define MALLAB_RESULTS_MEASURE_MACHINE_DISTURBANCES_H

#include <stdint.h>
#include <sys/resource.h>

#include "results/measure/result/result.h"

struct res_disturbances {
    char *root;                   /* before /proc and /sys */
    struct res_disturbance *list; /* found so far; its owner may take it */
    size_t count;
    uint64_t begin_ns;
    struct rusage children;    /* of our ended children at the begin */
    double processor_ticks[3]; /* of /proc/stat at the begin: all, idle, stolen */
    double swapped_pages, pressed_us;
};

/* res_disturbances_begin - look around, and note the counters.
 * root  "" is this machine; a directory holding proc/ and sys/ for tests. */
void res_disturbances_begin(struct res_disturbances *disturbances, const char *root);

/* res_disturbances_end - look again, and add what happened since. Our own children must have been waited for. */
void res_disturbances_end(struct res_disturbances *disturbances);

/* res_disturbances_give - hand to a result, which has its runs, what disturbed them: the host's phases too. */
void res_disturbances_give(struct res_disturbances *disturbances, struct res_result *result);

void res_disturbances_release(struct res_disturbances *disturbances);

/* res_machine_describe - this machine; what cannot be found out is not known. Its name is what the user calls it,
 * $MALLAB_MACHINE: the host's own is left out, because results are made to be published. */
void res_machine_describe(struct res_machine *ret_machine);

#endif
