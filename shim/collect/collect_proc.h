/* collect_proc.h - the recorded processes in /proc: their ids, whether they live, what they have mapped. */
#ifndef MALLAB_SHIM_COLLECT_COLLECT_PROC_H
#define MALLAB_SHIM_COLLECT_COLLECT_PROC_H

#include "shim/collect/collect.h"

/* proc_read - the beginning of a file of the kernel's. Returns false, with an empty text, where it cannot be read. */
bool proc_read(const char *path, char *ret_text, size_t size);

/* process_exists - whether there is a process of that id, be it a zombie.
 * process_is_zombie - whether its leading thread has ended and nobody has waited for it: the other threads may run on, but its
 *                     memory is not shown under its id. False where /proc cannot tell.
 * process_has_fixed_addresses - whether it has its mappings at the same addresses after an exec, as debuggers arrange. */
bool process_exists(uint32_t pid);
bool process_is_zombie(uint32_t pid);
bool process_has_fixed_addresses(uint32_t pid);

/* process_find_foreign - the process id, in our namespace, of a slot's process that is in a pid namespace below ours.
 * ret_parent    its parent's id here; untouched when there is none.
 * Returns       0 when there is no such process: it has ended. Walks /proc. */
uint32_t process_find_foreign(const struct collect_segment *segment, const struct seg_slot *slot,
                              uint32_t *ret_parent);

enum mapped {
    MAPPED_UNKNOWN, /* the kernel does not show it */
    MAPPED_NO,
    MAPPED_YES,
};

/* mapped_look - whether a process has the segment at that address.
 * mapped_test - find out whether this kernel shows mappings, by our own: sets can_look. */
enum mapped mapped_look(const struct collect_segment *segment, uint32_t pid, uint64_t address);
void mapped_test(struct collect_segment *segment);

/* mapped_unattached_remain - whether some process has the segment mapped without having attached: a forked child
 * that has not allocated yet. Walks /proc. */
bool mapped_unattached_remain(const struct collector *collector);

/* Times are in steps of a clock tick, 10 ms, rounded down. */
struct look_times {
    uint32_t parent;      /* its process id */
    uint64_t start_ticks; /* clock ticks from boot to the process' start */
    uint64_t user_ns, system_ns, faults_minor, faults_major;
    bool zombie;     /* it has ended: the figures are its last */
    int wait_status; /* of a zombie, as wait(2) has it; 0 also where we may not know */
};

/* Memory of a process, in bytes. */
struct look_memory {
    uint64_t peak, rss, anon, file, shared;
    unsigned affinity; /* processors that it may use; 0: not told */
};

/* look_at_times - /proc/PID/stat. look_at_memory - /proc/PID/status; false for a zombie, which has none. */
bool look_at_times(uint32_t pid, struct look_times *ret_times);
bool look_at_memory(uint32_t pid, struct look_memory *ret_memory);

/* look_at_machine - the machine, and what of it the control group of a process may use. Without the affinities.
 * proc_quota_milli - thousandths of a processor that control groups, and those that they are in, leave (cgroups(7), versions 1 and 2).
 * root     before /sys/fs/cgroup; "" but for tests
 * groups   as /proc/PID/cgroup: "NUMBER:CONTROLLERS:/PATH" a line, without controllers of version 2; changed
 * Returns  FP_USAGE_UNKNOWN where none has a limit. */
void look_at_machine(uint32_t pid, struct fp_machine *ret_machine);
uint64_t proc_quota_milli(const char *root, char *groups);

/* look_at_end - how a process ended that was waited for by now: its pidfd knows (Linux 6.15).
 * ret_wait_status  as wait(2) has it. */
bool look_at_end(int pidfd, int *ret_wait_status);

/* look_age_ns - how long ago a process began that did so at start_ticks. */
uint64_t look_age_ns(uint64_t start_ticks);

#endif
