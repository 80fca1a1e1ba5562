/* own_process.h - this process: what the kernel tells of it, its functions by name, and its own calls of malloc. */
#ifndef MALLAB_REPLAY_BASE_OWN_PROCESS_H
#define MALLAB_REPLAY_BASE_OWN_PROCESS_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* rep_proc_number - the number behind the first `key` of a file, "VmHWM:" of /proc/self/status, in the file's unit (kB).
 * Without the allocator; within the first 4 KiB.
 * Returns  it; `otherwise` when the file cannot be read or does not have it. */
uint64_t rep_proc_number(const char *path, const char *key, uint64_t otherwise);

/* rep_processors - how many this process may use: as many threads run at a time (exec.h). taskset(1) says which. By the
 * kernel's word, whatever the allocator is told (system/processors.h). */
unsigned rep_processors(void);

/* rep_symbol - look it up. ret_pointer: to the pointer to be set. False when there is none. */
static inline bool rep_symbol(const char *name, void *ret_pointer)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    memcpy(ret_pointer, &found, sizeof found); /* ISO C has no cast from data to function pointer */
    return found != NULL;
}

/* rep_library_of - where the library begins that a function of this name comes from; NULL: there is none. */
static inline const void *rep_library_of(const char *name)
{
    Dl_info info;
    const void *found = dlsym(RTLD_DEFAULT, name);
    return found != NULL && dladdr(found, &info) != 0 ? info.dli_fbase : NULL;
}

/* rep_usable_size - malloc_usable_size of the library that malloc comes from; NULL: it has none. Another library's would read
 * headers that are not there. */
static inline size_t (*rep_usable_size(void))(void *)
{
    size_t (*usable_size)(void *);
    return rep_symbol("malloc_usable_size", &usable_size) &&
                   rep_library_of("malloc_usable_size") == rep_library_of("malloc")
               ? usable_size
               : NULL;
}

/* rep_watch - from now on count the calls of malloc's family that the harness makes besides those that are replayed.
 * none.c defines the family itself and notes each call; so a run with `none` proves that the harness makes none. With
 * other allocators nobody notes any. rep_watch_count - how many were noted. */
void rep_watch(void);
uint64_t rep_watch_count(void);

/* rep_watch_note - a call is made; counted unless this thread pauses. */
void rep_watch_note(void);

/* rep_watch_pause / rep_watch_resume - bracket what the C library allocates for itself: pthread_create and pthread_join,
 * for the vector of thread-local storage. Per thread. */
void rep_watch_pause(void);
void rep_watch_resume(void);

/* ---- memory of the harness: mapped and touched before the first op, never from malloc.
 *
 * The allocator under test is linked into this process. A single malloc of ours would be served by it, age
 * its caches and count as its memory. So everything that replay needs is mapped here, with its pages
 * present, before resident memory is measured for the first time; afterwards its size never changes. */

#define REP_CACHE_LINE 64 /* bytes; of x86-64 and most of aarch64 */
#define REP_PAGE_BYTES 4096u

/* rep_storage_map - map count elements of element_bytes each, zeroed, with all pages present.
 * A damaged or hostile workload must not call the out-of-memory killer: refused is more than half of the
 * memory available, and what is beyond the bound of all that is mapped (footprint/base/memory_bound.h).
 * Returns   page-aligned memory that lasts until the process ends, or rep_storage_unmap; NULL when refused
 *           or when the kernel has none (an element count of 0 maps one page). */
void *rep_storage_map(size_t count, size_t element_bytes);
void rep_storage_unmap(void *memory, size_t count, size_t element_bytes);

/* Equal stacks for threads, each with an unmapped page below it. One thread at a time. */
struct rep_stacks {
    char *memory;
    size_t stack_bytes;     /* usable, of each */
    uint32_t *free_numbers; /* a stack of the numbers not in use */
    uint32_t count, free_count;
};

/* So much of a stack is for our code and the allocator's: decoding a window takes about 20 KiB. Besides it
 * a stack holds the thread's static storage, as large as the libraries in the process make it. */
#define REP_STACK_BYTES 131072u
#define REP_STACK_DEEP_BYTES                                                                                 \
    90112u /* of them, the lowest: few allocators get there, and so they are not touched before */

/* Threads that a replay has at once, unless its user sets a bound of memory. */
#define REP_THREADS_AT_ONCE_MAX 4096u

/* rep_stacks_init - map count stacks, and touch what is not deep. Returns false when they do not fit. */
bool rep_stacks_init(struct rep_stacks *stacks, uint32_t count);

/* rep_stacks_take - hand out a stack. Returns its lowest usable address, NULL when none is left. */
void *rep_stacks_take(struct rep_stacks *stacks, uint32_t *ret_number);

/* rep_stacks_give - take a stack back; its thread must have been joined. */
void rep_stacks_give(struct rep_stacks *stacks, uint32_t number);

#endif
