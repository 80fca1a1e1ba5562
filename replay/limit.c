/* limit.c - RLIMIT_DATA above what is mapped. */
#include "replay/limit.h"

#include <string.h>
#include <sys/resource.h>

#include "replay/proc.h"

static struct rlimit former;
static bool limited;
static uint64_t early_bytes;

/* VmData of /proc/self/status, which is what the kernel compares; 0 when it cannot be read. */
static uint64_t data_bytes(void)
{
    uint64_t kilobytes = 0;
    (void)rep_proc_number("/proc/self/status", "VmData:", &kilobytes); /* 0 then */
    return kilobytes * 1024;
}

void rep_limit_begin(void)
{
    early_bytes = data_bytes();
}

bool rep_limit_set(uint64_t bytes, uint64_t *ret_base_bytes, uint64_t *ret_early_bytes)
{
    const uint64_t now = data_bytes();
    const uint64_t base = now > early_bytes ? now - early_bytes : 0;
    uint64_t sum;
    if (early_bytes == 0 || now == 0 || __builtin_add_overflow(base, bytes, &sum) ||
        getrlimit(RLIMIT_DATA, &former) != 0)
        return false;
    const struct rlimit wanted = {.rlim_cur = sum, .rlim_max = former.rlim_max};
    limited = setrlimit(RLIMIT_DATA, &wanted) == 0;
    *ret_base_bytes = base;
    *ret_early_bytes = early_bytes;
    return limited;
}

void rep_limit_lift(void)
{
    if (limited)
        (void)setrlimit(RLIMIT_DATA, &former); /* a soft limit may be raised to where it was */
    limited = false;
}
