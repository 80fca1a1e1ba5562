/* meters.c - /proc and getrusage. */
#include "replay/meters/meters.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "replay/base/own_process.h"
#include "replay/base/storage.h"
#include "replay/clock/ticks.h"

bool rep_meters_init(struct rep_meters *meters, size_t windows)
{
    *meters = (struct rep_meters){.window_max = windows};
    meters->ticks = rep_storage_map(windows, sizeof *meters->ticks);
    meters->preempted_ns = rep_storage_map(windows, sizeof *meters->preempted_ns);
    meters->resident_bytes = rep_storage_map(windows, sizeof *meters->resident_bytes);
    meters->live_bytes = rep_storage_map(windows, sizeof *meters->live_bytes);
    meters->time_ns = rep_storage_map(windows, sizeof *meters->time_ns);
    meters->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    meters->statm_fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    return meters->ticks != NULL && meters->preempted_ns != NULL && meters->resident_bytes != NULL &&
           meters->live_bytes != NULL && meters->time_ns != NULL && meters->statm_fd >= 0;
}

/* Read resident and shared memory; both 0 should the kernel refuse. */
static void read_statm(const struct rep_meters *meters, uint64_t *ret_resident, uint64_t *ret_shared)
{
    char text[128];
    char *at = text;
    const ssize_t length = pread(meters->statm_fd, text, sizeof text - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    (void)strtoull(at, &at, 10); /* the first number is the address space */
    *ret_resident = strtoull(at, &at, 10) * meters->page_bytes;
    *ret_shared = strtoull(at, &at, 10) * meters->page_bytes;
}

static uint64_t above(uint64_t value, uint64_t base)
{
    return value > base ? value - base : 0;
}

uint64_t rep_meters_resident(struct rep_meters *meters)
{
    uint64_t resident, shared;
    read_statm(meters, &resident, &shared);
    if (shared > meters->shared_bytes_max)
        meters->shared_bytes_max = shared;
    return above(above(resident, shared), meters->start_bytes);
}

unsigned rep_meters_threads(void)
{
    return (unsigned)rep_proc_number("/proc/self/status", "\nThreads:", 0);
}

/* Make VmHWM begin anew; false when the kernel refuses, and the peak is of the whole process's life. */
static bool reset_kernel_peak(void)
{
    const int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const bool done = write(fd, "5", 1) == 1;
    (void)close(fd); /* nothing is buffered */
    return done;
}

void rep_meters_start(struct rep_meters *meters)
{
    uint64_t resident, shared;
    meters->kernel_peak_is_new = reset_kernel_peak();
    read_statm(meters, &resident, &shared);
    meters->start_bytes = above(resident, shared);
    meters->start_file_bytes = shared;
    meters->shared_bytes_max = shared;
    rep_meters_begin(meters);
}

void rep_meters_begin(struct rep_meters *meters)
{
    meters->last_bytes = rep_meters_resident(meters);
    (void)getrusage(RUSAGE_SELF, &meters->started); /* cannot fail */
    meters->started_ns = rep_monotonic_ns();
}

void rep_meters_window(struct rep_meters *meters, const struct wl_window *window, uint64_t ticks,
                       uint64_t preempted_ns, uint64_t blocked_ns)
{
    const uint64_t at = meters->window_count;
    if (at == meters->window_max)
        return;
    const uint64_t bytes = rep_meters_resident(meters);
    meters->ticks[at] = ticks;
    meters->preempted_ns[at] = preempted_ns;
    meters->blocked_ns += blocked_ns;
    meters->resident_bytes[at] = bytes;
    meters->live_bytes[at] = window->facts.live_bytes;
    meters->time_ns[at] = window->facts.end_ns;
    if (bytes > meters->peak_bytes)
        meters->peak_bytes = bytes;
    if (at == 0)
        meters->last_ns = window->facts.start_ns;
    /* Between two samples memory is taken to have changed evenly. */
    const uint64_t span_ns = above(window->facts.end_ns, meters->last_ns);
    const uint64_t window_ns = above(window->facts.end_ns, window->facts.start_ns);
    if (window_ns > meters->window_max_ns)
        meters->window_max_ns = window_ns;
    meters->last_ns += span_ns;
    meters->weighted_sum += ((double)meters->last_bytes + (double)bytes) / 2 * (double)span_ns;
    meters->last_bytes = bytes;
    meters->weight_ns += (double)span_ns;
    meters->op_sum += (double)bytes * window->op_count;
    meters->ops += window->op_count;
    meters->window_count++;
}

static uint64_t timeval_ns(const struct timeval *after, const struct timeval *before)
{
    return (uint64_t)(after->tv_sec - before->tv_sec) * 1000000000u +
           (uint64_t)(after->tv_usec - before->tv_usec) * 1000u;
}

void rep_meters_pause(struct rep_meters *meters)
{
    (void)getrusage(RUSAGE_SELF, &meters->paused); /* cannot fail */
    meters->paused_ns = rep_monotonic_ns();
}

/* Move a counter's start by what the pause added. */
static void skip_time(struct timeval *start, const struct timeval *now, const struct timeval *then)
{
    struct timeval passed;
    timersub(now, then, &passed);
    timeradd(start, &passed, start);
}

void rep_meters_resume(struct rep_meters *meters)
{
    struct rusage now, *start = &meters->started;
    const struct rusage *then = &meters->paused;
    (void)getrusage(RUSAGE_SELF, &now); /* cannot fail */
    meters->started_ns += rep_monotonic_ns() - meters->paused_ns;
    skip_time(&start->ru_utime, &now.ru_utime, &then->ru_utime);
    skip_time(&start->ru_stime, &now.ru_stime, &then->ru_stime);
    start->ru_minflt += now.ru_minflt - then->ru_minflt;
    start->ru_majflt += now.ru_majflt - then->ru_majflt;
    start->ru_nvcsw += now.ru_nvcsw - then->ru_nvcsw;
    start->ru_nivcsw += now.ru_nivcsw - then->ru_nivcsw;
}

void rep_meters_stop(struct rep_meters *meters)
{
    struct rusage now;
    const struct rusage *then = &meters->started;
    meters->wall_ns = rep_monotonic_ns() - meters->started_ns;
    (void)getrusage(RUSAGE_SELF, &now); /* cannot fail */
    meters->end_bytes = rep_meters_resident(meters);
    /* The kernel's peak is of all resident memory. Taking off the most that files ever held can only make
     * it too low, never too high. */
    const uint64_t told = rep_proc_number("/proc/self/status", "VmHWM:", 0) * 1024;
    const uint64_t peak = meters->kernel_peak_is_new ? told : 0;
    const uint64_t kernel = above(above(peak, meters->shared_bytes_max), meters->start_bytes);
    meters->peak_by_kernel = kernel > meters->peak_bytes;
    if (meters->peak_by_kernel)
        meters->peak_bytes = kernel;
    meters->mean_by_time = meters->weight_ns > 0;
    if (meters->mean_by_time)
        meters->mean_bytes = meters->weighted_sum / meters->weight_ns;
    else if (meters->ops > 0)
        meters->mean_bytes = meters->op_sum / meters->ops;
    meters->faults_minor = (uint64_t)(now.ru_minflt - then->ru_minflt);
    meters->faults_major = (uint64_t)(now.ru_majflt - then->ru_majflt);
    meters->switches_voluntary = (uint64_t)(now.ru_nvcsw - then->ru_nvcsw);
    meters->switches_involuntary = (uint64_t)(now.ru_nivcsw - then->ru_nivcsw);
    meters->user_ns = timeval_ns(&now.ru_utime, &then->ru_utime);
    meters->system_ns = timeval_ns(&now.ru_stime, &then->ru_stime);
}

void rep_meters_idle(struct rep_meters *meters, bool with_calls)
{
    const uint64_t bytes = rep_meters_resident(meters);
    meters->idle_own_bytes = with_calls ? above(bytes, meters->end_bytes) : 0;
    meters->idle_bytes = bytes - meters->idle_own_bytes;
}
