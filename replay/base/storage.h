/* storage.h - memory of the harness: mapped and touched before the first op, never from malloc.
 *
 * The allocator under test is linked into this process. A single malloc of ours would be served by it, age
 * its caches and count as its memory. So everything that replay needs is mapped here, with its pages
 * present, before resident memory is measured for the first time; afterwards its size never changes. */
#ifndef MALLAB_REPLAY_BASE_STORAGE_H
#define MALLAB_REPLAY_BASE_STORAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
