/* run_limit.c - the two limits, and the notes that go with them. */
#include "replay/system/run_limit.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "replay/base/own_process.h"
#include "replay/system/group_counts.h"

static const struct rep_limit_options *asked;
static struct rlimit former;
static bool limited;
static uint64_t early_bytes; /* VmData, which is what the kernel compares; of a group, RssAnon */
static struct rep_limit_notes nobodys, *notes = &nobodys;

/* A number of /proc/self/status, in bytes; 0 when the kernel does not tell. */
static uint64_t status_bytes(const char *key)
{
    return rep_proc_number("/proc/self/status", key, 0) * 1024;
}

/* ---- of a control group ------------------------------------------------------------------------- */

static const char *directory;
static int version;
static uint64_t limit_bytes;           /* of the group, base and all */
static struct rep_group_counts before; /* when the limit was set */
static int peak_fd = -1;               /* of memory.peak, once it began anew for us */

/* When whoever started us dies, so do we: nobody would remove the group. */
static bool join_group(const char *group)
{
    directory = group;
    version = rep_group_version(group);
    if (version == 0) {
        errno = ENOENT;
        return false;
    }
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);            /* cannot fail for a valid signal */
    early_bytes = status_bytes("RssAnon:");            /* anonymous and in memory */
    errno = rep_group_put(group, "cgroup.procs", "0"); /* ourselves */
    return errno == 0;
}

static uint64_t page_bytes(void)
{
    return (uint64_t)sysconf(_SC_PAGESIZE);
}

/* The peak so far is of reading files and of starting. Version 1 forgets it on request; version
 * 2 since Linux 6.12, for the descriptor that asked. */
static void begin_peak(void)
{
    char path[PATH_MAX];
    if (version == 1) {
        (void)rep_group_put(directory, "memory.max_usage_in_bytes", "0"); /* else it is too high */
        return;
    }
    if (snprintf(path, sizeof path, "%s/memory.peak", directory) >= (int)sizeof path)
        return;
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd >= 0 && write(fd, "r", 1) == 1)
        peak_fd = fd;
    else if (fd >= 0)
        (void)close(fd); /* nothing was done with it */
}

static uint64_t peak_bytes(const struct rep_group_counts *counts)
{
    char text[32];
    uint64_t peak = counts->peak_bytes;
    const ssize_t length = peak_fd >= 0 ? pread(peak_fd, text, sizeof text - 1, 0) : 0;
    if (length > 0) {
        text[length] = '\0';
        (void)rep_group_number(text, NULL, &peak); /* else the group's own */
    }
    return peak;
}

/* Swap is no memory: a container's is off, or counted. Where the kernel counts none there is none. */
static int put_limit(uint64_t bytes)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%" PRIu64, bytes);
    const int error = rep_group_put(directory, rep_group_limit_name(version), text);
    if (error == 0 && version == 1)
        (void)rep_group_put(directory, "memory.memsw.limit_in_bytes", text);
    return error;
}

static bool set_group(uint64_t bytes, struct rep_limit *ret_limit)
{
    struct rep_group_counts counts;
    uint64_t sum;
    errno = EIO;
    if (!rep_group_read(directory, version, &counts))
        return false;
    const uint64_t held = counts.usage_bytes - counts.cache_bytes;
    /* The usage lacks what was charged before we joined: the allocator's early memory. */
    const uint64_t room = bytes > early_bytes ? bytes - early_bytes : 0;
    errno = EOVERFLOW;
    if (__builtin_add_overflow(held, room, &sum) || sum > INT64_MAX)
        return false;
    begin_peak();
    errno = put_limit(sum);
    if (errno != 0)
        return false;
    limit_bytes = sum;
    if (!rep_group_read(directory, version, &before))
        before = counts;
    *ret_limit = (struct rep_limit){.by = version == 1 ? "cgroup v1" : "cgroup v2",
                                    .bytes = bytes,
                                    .base_bytes = held,
                                    .early_bytes = early_bytes};
    return true;
}

static void lift_group(struct rep_limit *limit)
{
    struct rep_group_counts counts;
    if (limit != NULL && rep_group_read(directory, version, &counts)) {
        const uint64_t peak = peak_bytes(&counts);
        /* One that could not begin anew counts once it rose. */
        limit->has_peak = version == 1 || peak_fd >= 0 || counts.peak_bytes > before.peak_bytes;
        limit->peak_bytes = (peak > limit->base_bytes ? peak - limit->base_bytes : 0) + early_bytes;
        limit->at_limit = counts.at_limit > before.at_limit ? counts.at_limit - before.at_limit : 0;
        /* Version 1 of Linux 6.18 counts none. A peak within one batch of the limit was at it. */
        if (limit->at_limit == 0 && limit->has_peak &&
            peak + REP_GROUP_BATCH_PAGES * page_bytes() > limit_bytes)
            limit->at_limit = 1;
    }
    if (version == 1)
        (void)rep_group_put(directory, "memory.memsw.limit_in_bytes", "-1"); /* first, as it is no less */
    (void)rep_group_put(directory, rep_group_limit_name(version), version == 1 ? "-1" : "max");
}

/* ---- either ------------------------------------------------------------------------------------- */

static bool map_notes(int fd)
{
    if (fd < 0)
        return true;
    void *page = mmap(NULL, sizeof *notes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED)
        return false;
    notes = page;
    return true;
}

bool rep_limit_begin(const struct rep_limit_options *options)
{
    asked = options;
    if (options->bytes == 0)
        return true;
    if (options->group != NULL)
        return map_notes(options->notes_fd) && join_group(options->group);
    early_bytes = status_bytes("VmData:");
    return true;
}

static bool set_data(struct rep_limit *ret_limit)
{
    const uint64_t now = status_bytes("VmData:");
    const uint64_t base = now > early_bytes ? now - early_bytes : 0;
    uint64_t sum;
    errno = EIO;
    if (early_bytes == 0 || now == 0 || __builtin_add_overflow(base, asked->bytes, &sum) ||
        getrlimit(RLIMIT_DATA, &former) != 0)
        return false;
    const struct rlimit wanted = {.rlim_cur = sum, .rlim_max = former.rlim_max};
    if (setrlimit(RLIMIT_DATA, &wanted) != 0)
        return false;
    *ret_limit = (struct rep_limit){
        .by = "RLIMIT_DATA", .bytes = asked->bytes, .base_bytes = base, .early_bytes = early_bytes};
    return true;
}

bool rep_limit_set(struct rep_limit *ret_limit)
{
    *ret_limit = (struct rep_limit){.by = "nothing"};
    if (asked->bytes == 0)
        return true;
    limited = asked->group != NULL ? set_group(asked->bytes, ret_limit) : set_data(ret_limit);
    atomic_store_explicit(&notes->base_bytes, ret_limit->base_bytes, memory_order_relaxed);
    atomic_store_explicit(&notes->early_bytes, ret_limit->early_bytes, memory_order_relaxed);
    atomic_store_explicit(&notes->begun, 1, memory_order_relaxed);
    return limited;
}

void rep_limit_lift(struct rep_limit *limit)
{
    if (limited && asked->group != NULL)
        lift_group(limit);
    else if (limited)
        (void)setrlimit(RLIMIT_DATA, &former); /* a soft limit may be raised to where it was */
    limited = false;
}

void rep_limit_workload(uint64_t ops, uint64_t window_ops_max)
{
    atomic_store_explicit(&notes->ops, ops, memory_order_relaxed);
    atomic_store_explicit(&notes->window_ops_max, window_ops_max, memory_order_relaxed);
}

void rep_limit_progress(uint64_t ops, uint64_t live_bytes, uint64_t live_objects)
{
    atomic_store_explicit(&notes->ops_done, ops, memory_order_relaxed);
    atomic_store_explicit(&notes->live_bytes, live_bytes, memory_order_relaxed);
    atomic_store_explicit(&notes->live_objects, live_objects, memory_order_relaxed);
}
