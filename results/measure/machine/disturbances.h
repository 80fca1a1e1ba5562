/* disturbances.h - the machine's state and doings that disturb a measurement, looked at once before an experiment
 * and once after it; and what the machine is.
 *
 *   before   what lasts, for `mallab doctor`: a governor other than `performance`, turbo, huge pages for everyone, little free
 *            memory. It is the same for all runs of an experiment, so a result is not told
 *   during   what happened meanwhile: time stolen by the hypervisor, processors used by others than our own runs,
 *            threads that waited for one, swapping; the host's slow phases, which the harness' own runs show
 *   after    free memory again
 *
 * Of each, `text` says what was seen, `remedy` what to do about it.
 * What the kernel does not tell (no cpufreq, no PSI) is no disturbance. Thresholds stand in the .c file, each with
 * its reason. */
#ifndef MALLAB_RESULTS_MEASURE_MACHINE_DISTURBANCES_H
#define MALLAB_RESULTS_MEASURE_MACHINE_DISTURBANCES_H

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

/* ---- doctor_checks.c: what on this machine spoils recording, measuring or confirming: a list of checks.
 *   check  one thing that was looked at: {area, name, state, found, why, remedy}
 *   area   what it matters to: "measuring", "recording", "confirming" or "installed"
 *   state  "ok"; "note": it limits what can be had, or is worth knowing; "bad": it spoils what is measured or recorded
 *   found  what was seen; why: why it matters; remedy: what to do about it, NULL (null in JSON) where nothing is to be done
 *
 * What the kernel does not tell is a check that is ok and says so. Thresholds stand in the .c files, each with its reason;
 * those of what `mallab ab` warns of are disturbances.c's. */

enum res_doctor_state {
    RES_DOCTOR_OK = 0,
    RES_DOCTOR_NOTE = 1,
    RES_DOCTOR_BAD = 2,
};

struct res_doctor {
    const char *root; /* before /proc, /sys and /dev: "" is this machine; borrowed */
    json_t *checks;   /* in the order in which they were added, areas together */
    size_t count[3];  /* by state */
};

/* res_doctor_begin - an empty list. root: a directory that holds proc/, sys/ and dev/, for tests; then nothing is asked of
 * the running kernel. */
void res_doctor_begin(struct res_doctor *doctor, const char *root);
void res_doctor_release(struct res_doctor *doctor);

/* res_doctor_add - one more check. Takes over found; the other strings are copied.
 * remedy  left out where the state is RES_DOCTOR_OK. */
void res_doctor_add(struct res_doctor *doctor, const char *area, const char *name,
                    enum res_doctor_state state, char *found, const char *why, const char *remedy);

/* res_doctor_read - the first bytes of a file below the root, without the newline at the end. Returns false, with "",
 * when there is none. */
bool res_doctor_read(const struct res_doctor *doctor, const char *path, char *ret_text, size_t size);

/* res_doctor_measuring - area "measuring": what disturbs now and, watched for window_ns, meanwhile; processors, virtual
 * machine, limits of the control group.
 * res_doctor_recording - area "recording": shared memory, limits, preloads, security modules.
 * res_doctor_confirming - area "confirming": ptrace(2), and seccomp, which may forbid it. */
void res_doctor_measuring(struct res_doctor *doctor, uint64_t window_ns);
void res_doctor_recording(struct res_doctor *doctor);
void res_doctor_confirming(struct res_doctor *doctor);

#endif
