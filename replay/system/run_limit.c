/* run_limit.c - which of the two limits, and the notes that go with it; RLIMIT_DATA above what is mapped. */
#include "replay/system/run_limit.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "replay/base/proc.h"
#include "replay/system/run_limit_group.h"
#include "replay/system/run_limit_notes.h"

static const struct rep_limit_options *asked;
static struct rlimit former;
static bool limited;
static uint64_t early_bytes;
static struct rep_limit_notes nobodys, *notes = &nobodys;

/* VmData of /proc/self/status, which is what the kernel compares; 0 when it cannot be read. */
static uint64_t data_bytes(void)
{
    uint64_t kilobytes = 0;
    (void)rep_proc_number("/proc/self/status", "VmData:", &kilobytes); /* 0 then */
    return kilobytes * 1024;
}

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
        return map_notes(options->notes_fd) && rep_limit_group_join(options->group);
    early_bytes = data_bytes();
    return true;
}

static bool set_data(struct rep_limit *ret_limit)
{
    const uint64_t now = data_bytes();
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
    limited = asked->group != NULL ? rep_limit_group_set(asked->bytes, ret_limit) : set_data(ret_limit);
    atomic_store_explicit(&notes->base_bytes, ret_limit->base_bytes, memory_order_relaxed);
    atomic_store_explicit(&notes->early_bytes, ret_limit->early_bytes, memory_order_relaxed);
    atomic_store_explicit(&notes->begun, 1, memory_order_relaxed);
    return limited;
}

void rep_limit_lift(struct rep_limit *limit)
{
    if (limited && asked->group != NULL)
        rep_limit_group_lift(limit);
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
