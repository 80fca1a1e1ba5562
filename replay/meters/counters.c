/* counters.c - perf_event_open and its answers. */
#include "replay/meters/counters.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DTLB_LOAD_MISSES                                                                                     \
    (PERF_COUNT_HW_CACHE_DTLB | (PERF_COUNT_HW_CACHE_OP_READ << 8) | (PERF_COUNT_HW_CACHE_RESULT_MISS << 16))

static const struct {
    const char *name;
    uint32_t type;
    uint64_t config;
} KINDS[REP_COUNTERS] = {
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"cache_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    {"branch_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    {"dtlb_load_misses", PERF_TYPE_HW_CACHE, DTLB_LOAD_MISSES},
    {"cpu_migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
};

static int open_event(uint32_t type, uint64_t config, bool user_only)
{
    struct perf_event_attr event = {
        .type = type,
        .size = sizeof event,
        .config = config,
        .disabled = 1,
        .inherit = 1,
        .exclude_kernel = user_only,
        .exclude_hv = 1,
        .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
    };
    return (int)syscall(SYS_perf_event_open, &event, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

void rep_counters_init(struct rep_counters *counters)
{
    for (unsigned i = 0; i < REP_COUNTERS; i++) {
        struct rep_counter *counter = &counters->counters[i];
        *counter = (struct rep_counter){.name = KINDS[i].name};
        counter->descriptor = open_event(KINDS[i].type, KINDS[i].config, false);
        if (counter->descriptor < 0 && (errno == EACCES || errno == EPERM)) {
            counter->user_only = true;
            counter->descriptor = open_event(KINDS[i].type, KINDS[i].config, true);
        }
        if (counter->descriptor < 0)
            counter->sys_errno = errno;
    }
}

void rep_counters_start(struct rep_counters *counters)
{
    for (unsigned i = 0; i < REP_COUNTERS; i++) {
        if (counters->counters[i].descriptor < 0)
            continue;
        (void)ioctl(counters->counters[i].descriptor, PERF_EVENT_IOC_RESET, 0); /* ours: cannot fail */
        (void)ioctl(counters->counters[i].descriptor, PERF_EVENT_IOC_ENABLE, 0);
    }
}

void rep_counters_stop(struct rep_counters *counters)
{
    for (unsigned i = 0; i < REP_COUNTERS; i++) {
        struct rep_counter *counter = &counters->counters[i];
        struct {
            uint64_t value, enabled_ns, running_ns;
        } answer;
        if (counter->descriptor < 0)
            continue;
        (void)ioctl(counter->descriptor, PERF_EVENT_IOC_DISABLE, 0);
        /* One that never got onto the processor has counted nothing, which is not 0. */
        if (read(counter->descriptor, &answer, sizeof answer) != (ssize_t)sizeof answer ||
            answer.running_ns == 0) {
            counter->sys_errno = EBUSY;
        } else {
            counter->share = (double)answer.running_ns / (double)answer.enabled_ns;
            counter->count = (uint64_t)((double)answer.value / counter->share + 0.5);
        }
        (void)close(counter->descriptor); /* it was only read */
        counter->descriptor = -1;
    }
}

/* perf_event_open(2) says ENOENT where the processor counts nothing for us, as in most virtual machines. */
const char *rep_counter_why(int sys_errno)
{
    return sys_errno == ENOENT ? "the kernel has no such counter (as in most virtual machines)"
                               : strerror(sys_errno);
}
