/* collect_look.h - one look at a process: its times, faults and memory, by /proc and its pidfd. */
#ifndef MALLAB_SHIM_COLLECT_COLLECT_LOOK_H
#define MALLAB_SHIM_COLLECT_COLLECT_LOOK_H

#include <stdbool.h>
#include <stdint.h>

/* Times are in steps of a clock tick, 10 ms, rounded down. */
struct look_times {
    uint64_t start_ticks; /* clock ticks from boot to the process' start */
    uint64_t user_ns, system_ns, faults_minor, faults_major;
    bool zombie;     /* it has ended: the figures are its last */
    int wait_status; /* of a zombie, as wait(2) has it; 0 also where we may not know */
};

/* In bytes. */
struct look_memory {
    uint64_t peak, rss, anon, file, shared;
};

/* look_at_times - /proc/PID/stat. look_at_memory - /proc/PID/status; false for a zombie, which has none. */
bool look_at_times(uint32_t pid, struct look_times *ret_times);
bool look_at_memory(uint32_t pid, struct look_memory *ret_memory);

/* look_at_end - how a process ended that was waited for by now: its pidfd knows (Linux 6.15).
 * ret_wait_status  as wait(2) has it. */
bool look_at_end(int pidfd, int *ret_wait_status);

/* look_age_ns - how long ago a process began that did so at start_ticks. */
uint64_t look_age_ns(uint64_t start_ticks);

#endif
