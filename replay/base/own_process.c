/* own_process.c - see own_process.h. */
#include "replay/base/own_process.h"

#include <assert.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "footprint/base/memory_bound.h"
#include "footprint/base/proc.h"

uint64_t rep_proc_number(const char *path, const char *key, uint64_t otherwise)
{
    char text[4096];
    const char *at = fp_file_begin(path, text, sizeof text) ? strstr(text, key) : NULL;
    return at != NULL ? strtoull(at + strlen(key), NULL, 10) : otherwise;
}

static atomic_bool watching;
static _Atomic uint64_t counted;
static _Thread_local bool paused;

void rep_watch(void)
{
    atomic_store(&watching, true);
}

uint64_t rep_watch_count(void)
{
    return atomic_load(&counted);
}

void rep_watch_note(void)
{
    if (atomic_load_explicit(&watching, memory_order_relaxed) && !paused)
        atomic_fetch_add_explicit(&counted, 1, memory_order_relaxed);
}

void rep_watch_pause(void)
{
    paused = true;
}

void rep_watch_resume(void)
{
    paused = false;
}

unsigned rep_processors(void)
{
    cpu_set_t set = {0};
    if (syscall(SYS_sched_getaffinity, 0, sizeof set, &set) <
        0) /* more than 1024: one baton is slow but right */
        return 1;
    return (unsigned)CPU_COUNT(&set);
}

/* ---- populated mappings, and the pool of thread stacks ------------------------------------------ */

static bool total_bytes(size_t count, size_t element_bytes, size_t *ret_bytes)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, element_bytes, &bytes) || bytes > SIZE_MAX / 2)
        return false;
    bytes = (bytes + REP_PAGE_BYTES - 1) / REP_PAGE_BYTES * REP_PAGE_BYTES;
    *ret_bytes = bytes > 0 ? bytes : REP_PAGE_BYTES;
    return true;
}

/* flags: MAP_POPULATE, or 0. */
static void *map(size_t bytes, int flags)
{
    /* The kernel thinks that it can give so much without swapping. */
    const uint64_t available = rep_proc_number("/proc/meminfo", "MemAvailable:", 0) * 1024;
    if ((available != 0 && bytes > available / 2) || !fp_memory_take(bytes))
        return NULL;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    if (memory != MAP_FAILED)
        return memory;
    fp_memory_give(bytes);
    return NULL;
}

void *rep_storage_map(size_t count, size_t element_bytes)
{
    size_t bytes;
    return total_bytes(count, element_bytes, &bytes) ? map(bytes, MAP_POPULATE) : NULL;
}

void rep_storage_unmap(void *memory, size_t count, size_t element_bytes)
{
    size_t bytes;
    if (memory == NULL || !total_bytes(count, element_bytes, &bytes))
        return;
    (void)munmap(memory, bytes); /* cannot fail for a mapping of ours */
    fp_memory_give(bytes);
}

/* The C library itself puts so much on a thread's stack: static thread-local storage above all. A library with large
 * __thread variables (the thread sanitizer, say) makes that far more than PTHREAD_STACK_MIN. glibc has no public
 * function that tells it; other language runtimes ask this private one, too. */
static size_t stack_overhead_bytes(void)
{
    size_t (*minimum)(const pthread_attr_t *);
    pthread_attr_t attributes;
    size_t bytes = PTHREAD_STACK_MIN;
    if (rep_symbol("__pthread_get_minstack", &minimum) && pthread_attr_init(&attributes) == 0) {
        bytes = minimum(&attributes);
        (void)pthread_attr_destroy(&attributes); /* frees nothing */
    }
    return (bytes + REP_PAGE_BYTES - 1) / REP_PAGE_BYTES * REP_PAGE_BYTES;
}

bool rep_stacks_init(struct rep_stacks *stacks, uint32_t count)
{
    const size_t stack_bytes = REP_STACK_BYTES + stack_overhead_bytes();
    const size_t step = stack_bytes + REP_PAGE_BYTES, present = stack_bytes - REP_STACK_DEEP_BYTES;
    size_t bytes;
    char *memory = total_bytes(count, step, &bytes) ? map(bytes, 0) : NULL;
    uint32_t *free_numbers = rep_storage_map(count, sizeof *free_numbers);
    if (memory == NULL || free_numbers == NULL) {
        rep_storage_unmap(memory, count, step);
        rep_storage_unmap(free_numbers, count, sizeof *free_numbers);
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        /* Without the guard (the limit of mappings is reached) the stack works all the same. */
        (void)mprotect(memory + i * step, REP_PAGE_BYTES, PROT_NONE);
        for (size_t below = REP_PAGE_BYTES; below <= present; below += REP_PAGE_BYTES)
            ((volatile char *)memory)[(i + 1) * step - below] = 0;
        free_numbers[i] = count - 1 - i;
    }
    *stacks = (struct rep_stacks){memory, stack_bytes, free_numbers, count, count};
    return true;
}

void *rep_stacks_take(struct rep_stacks *stacks, uint32_t *ret_number)
{
    if (stacks->free_count == 0)
        return NULL;
    const uint32_t number = stacks->free_numbers[--stacks->free_count];
    *ret_number = number;
    return stacks->memory + number * (stacks->stack_bytes + REP_PAGE_BYTES) + REP_PAGE_BYTES;
}

void rep_stacks_give(struct rep_stacks *stacks, uint32_t number)
{
    assert(number < stacks->count && stacks->free_count < stacks->count);
    stacks->free_numbers[stacks->free_count++] = number;
}
