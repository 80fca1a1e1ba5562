/* collect_look.c - /proc/PID/stat, /proc/PID/status and pidfds understood. */
#include "shim/collect/collect_look.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "shim/collect/collect_proc.h"

#define SECOND_NS UINT64_C(1000000000)

static uint64_t tick_ns(void)
{
    static uint64_t known;
    if (known == 0) {
        const long ticks = sysconf(_SC_CLK_TCK);
        known = SECOND_NS / (ticks > 0 ? (uint64_t)ticks : 100);
    }
    return known;
}

/* ---- times ------------------------------------------------------------------------------------------- */

/* Numbers of fields of /proc/PID/stat (proc(5)). */
enum field { STATE = 3, MINOR = 10, MAJOR = 12, USER = 14, SYSTEM = 15, START = 22, EXIT_CODE = 52 };

static bool read_fields(uint32_t pid, char *ret_state, uint64_t ret_fields[EXIT_CODE + 1])
{
    char path[32], text[1024];
    (void)snprintf(path, sizeof path, "/proc/%u/stat", pid); /* fits */
    (void)proc_read(path, text, sizeof text);                /* an empty text has no ')' */
    const char *at = strrchr(text, ')');                     /* behind the name, which may hold anything */
    if (at == NULL || at[1] != ' ')
        return false;
    at += 2;
    *ret_state = *at;
    for (unsigned field = STATE; field <= EXIT_CODE; field++) {
        ret_fields[field] = strtoull(at, NULL, 10);
        at = strchr(at, ' ');
        if (at == NULL)
            return field == EXIT_CODE;
        at++;
    }
    return true;
}

bool look_at_times(uint32_t pid, struct look_times *ret_times)
{
    uint64_t fields[EXIT_CODE + 1];
    char state;
    if (!read_fields(pid, &state, fields))
        return false;
    *ret_times = (struct look_times){.start_ticks = fields[START],
                                     .user_ns = fields[USER] * tick_ns(),
                                     .system_ns = fields[SYSTEM] * tick_ns(),
                                     .faults_minor = fields[MINOR],
                                     .faults_major = fields[MAJOR],
                                     .zombie = state == 'Z' || state == 'X',
                                     .wait_status = (int)fields[EXIT_CODE]};
    return true;
}

/* Both clocks go on while the machine sleeps. */
uint64_t look_age_ns(uint64_t start_ticks)
{
    struct timespec now = {0, 0};
    (void)clock_gettime(CLOCK_BOOTTIME, &now); /* cannot fail: Linux has it */
    const uint64_t now_ns = (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
    const uint64_t began_ns = start_ticks < UINT64_MAX / tick_ns() ? start_ticks * tick_ns() : UINT64_MAX;
    return now_ns > began_ns ? now_ns - began_ns : 0;
}

/* ---- memory ------------------------------------------------------------------------------------------ */

static bool bytes_of(const char *status, const char *line, uint64_t *ret_bytes)
{
    const char *at = strstr(status, line);
    if (at != NULL)
        *ret_bytes = strtoull(at + strlen(line), NULL, 10) * 1024;
    return at != NULL;
}

bool look_at_memory(uint32_t pid, struct look_memory *ret_memory)
{
    char path[32], text[4096];
    struct look_memory memory = {0};
    (void)snprintf(path, sizeof path, "/proc/%u/status", pid); /* fits */
    if (!proc_read(path, text, sizeof text) || !bytes_of(text, "\nVmHWM:", &memory.peak) ||
        !bytes_of(text, "\nVmRSS:", &memory.rss))
        return false;
    (void)bytes_of(text, "\nRssAnon:", &memory.anon); /* Linux 4.5 */
    (void)bytes_of(text, "\nRssFile:", &memory.file);
    (void)bytes_of(text, "\nRssShmem:", &memory.shared);
    *ret_memory = memory;
    return true;
}

/* ---- the end ----------------------------------------------------------------------------------------- */

/* PIDFD_GET_INFO of Linux 6.13, with the member that tells the end from 6.15 on: older headers have neither. */
struct pidfd_facts {
    uint64_t mask, control_group;
    uint32_t ids[11];
    int32_t wait_status;
};

_Static_assert(sizeof(struct pidfd_facts) == 64, "the first version of the kernel's struct");

#define PIDFD_FACTS     _IOWR(0xff, 11, struct pidfd_facts)
#define PIDFD_FACTS_END (UINT64_C(1) << 3)

bool look_at_end(int pidfd, int *ret_wait_status)
{
    struct pidfd_facts facts = {.mask = PIDFD_FACTS_END};
    if (pidfd < 0 || ioctl(pidfd, PIDFD_FACTS, &facts) != 0 || (facts.mask & PIDFD_FACTS_END) == 0)
        return false;
    *ret_wait_status = facts.wait_status;
    return true;
}
