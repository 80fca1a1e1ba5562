/* doctor_checks.h - what on this machine spoils recording, measuring or confirming: a list of checks.
 *
 *   check  one thing that was looked at: {area, name, state, found, why, remedy}
 *   area   what it matters to: "measuring", "recording", "confirming" or "installed"
 *   state  "ok"; "note": it limits what can be had, or is worth knowing; "bad": it spoils what is measured or recorded
 *   found  what was seen; why: why it matters; remedy: what to do about it, NULL (null in JSON) where nothing is to be done
 *
 * What the kernel does not tell is a check that is ok and says so. Thresholds stand in the .c files, each with its reason;
 * those of what `mallab ab` warns of are disturbances.c's. */
#ifndef MALLAB_RESULTS_MEASURE_MACHINE_DOCTOR_CHECKS_H
#define MALLAB_RESULTS_MEASURE_MACHINE_DOCTOR_CHECKS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
