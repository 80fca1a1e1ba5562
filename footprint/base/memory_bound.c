/* memory_bound.c - see memory_bound.h. */
#include "footprint/base/memory_bound.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>

#include "footprint/base/proc.h"

/* Relaxed throughout: counts, which order nothing. */
static _Atomic uint64_t held;
static atomic_bool refused;

/* The number that a file begins with; UINT64_MAX: none ("max"), or no such file. */
static uint64_t number_in(const char *path)
{
    char text[32];
    (void)fp_file_begin(path, text, sizeof text);
    return text[0] >= '0' && text[0] <= '9' ? strtoull(text, NULL, 10) : UINT64_MAX;
}

static uint64_t lower(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* A container sees its own control group at the root. */
static uint64_t memory_there_is(void)
{
    static const int limits[] = {RLIMIT_AS, RLIMIT_DATA};
    struct sysinfo info;
    uint64_t bytes = sysinfo(&info) == 0 ? (uint64_t)info.totalram * info.mem_unit : UINT64_C(4) << 30;
    bytes = lower(bytes, number_in("/sys/fs/cgroup/memory.max"));
    bytes = lower(bytes, number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        struct rlimit limit;
        if (getrlimit(limits[i], &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
            bytes = lower(bytes, limit.rlim_cur);
    }
    return bytes;
}

static uint64_t asked_bytes(void)
{
    const char *text = getenv(FP_MEMORY_VARIABLE);
    return text != NULL ? strtoull(text, NULL, 10) : 0; /* 0 for what is no number: then nobody asked */
}

bool fp_memory_is_asked(void)
{
    return asked_bytes() != 0;
}

static _Atomic uint64_t bound; /* 0: the machine was not looked at yet */

static _Atomic uint64_t input_bytes;
static atomic_bool input_unknown;

/* UINT64_MAX: as much as there is. */
static uint64_t worth_of_input(void)
{
    const uint64_t bytes = atomic_load_explicit(&input_bytes, memory_order_relaxed);
    if (bytes == 0 || bytes > UINT64_MAX / FP_MEMORY_RATIO / 2 ||
        atomic_load_explicit(&input_unknown, memory_order_relaxed))
        return UINT64_MAX;
    return FP_MEMORY_BASE_BYTES + FP_MEMORY_RATIO * bytes;
}

uint64_t fp_memory_bound(void)
{
    const uint64_t asked = asked_bytes();
    return asked != 0 ? asked : lower(memory_there_is() / 2, worth_of_input());
}

void fp_memory_input(uint64_t bytes)
{
    if (bytes == 0)
        atomic_store_explicit(&input_unknown, true, memory_order_relaxed);
    (void)atomic_fetch_add_explicit(&input_bytes, bytes, memory_order_relaxed);
    atomic_store_explicit(&bound, 0, memory_order_relaxed);
}

void fp_memory_forget_input(void)
{
    atomic_store_explicit(&input_bytes, 0, memory_order_relaxed);
    atomic_store_explicit(&input_unknown, false, memory_order_relaxed);
    atomic_store_explicit(&bound, 0, memory_order_relaxed);
}

const char *fp_memory_reason(void)
{
    if (asked_bytes() == 0 && fp_memory_bound() == worth_of_input())
        return "1 GiB and 2,000 times the size of what is read";
    return asked_bytes() != 0 ? "as was asked" : "half of what there is";
}

bool fp_memory_take(uint64_t bytes)
{
    const uint64_t before = atomic_load_explicit(&held, memory_order_relaxed);
    uint64_t most = atomic_load_explicit(&bound, memory_order_relaxed);
    if (most == 0) {
        most = fp_memory_bound();
        atomic_store_explicit(&bound, most, memory_order_relaxed);
    }
    if (bytes > most || before > most - bytes) {
        atomic_store_explicit(&refused, true, memory_order_relaxed);
        return false;
    }
    (void)atomic_fetch_add_explicit(&held, bytes, memory_order_relaxed);
    return true;
}

void fp_memory_give(uint64_t bytes)
{
    (void)atomic_fetch_sub_explicit(&held, bytes, memory_order_relaxed);
}

uint64_t fp_memory_held(void)
{
    return atomic_load_explicit(&held, memory_order_relaxed);
}

bool fp_memory_change(uint64_t from_bytes, uint64_t to_bytes)
{
    if (to_bytes > from_bytes)
        return fp_memory_take(to_bytes - from_bytes);
    fp_memory_give(from_bytes - to_bytes);
    return true;
}

bool fp_memory_refused(void)
{
    return atomic_load_explicit(&refused, memory_order_relaxed);
}

void fp_memory_forget(void)
{
    atomic_store_explicit(&refused, false, memory_order_relaxed);
}
