/* large.h - live large objects of a process, some of the middling ones, and how much of them is in memory.
 *
 * A program often asks for more than it uses. What it used of an object shows in how much of that is resident when it is
 * released or resized, or when the process ends: FP_MARK_RESIDENT, right before the mark of the release. Only objects of at
 * least FP_MIDDLING_BYTES: a look takes one to three system calls.
 *
 *   few pages  objects of at most 64 pages. They often lie where others lay, whose pages are still in memory. So what is in
 *              memory is looked at when they are made, too, and used is what came up to the last page that is new at
 *              the end. Where none is new, as much is taken for used as, on the mean, of objects of so many pages
 *              that lay in fresh memory
 *   middling   from FP_MIDDLING_BYTES to below FP_LARGE_BYTES: by sample, as there are many. New is also a page in which
 *              something else stands at the end than when the object was made
 *   zeroed     from calloc, of few pages: used are the pages in which anything stands
 *
 *   table    address -> size of the live ones. Fixed, without a lock: an object that finds no place pushes another out, and
 *            of that nothing is noted. Children inherit it as they do the objects
 *   suspect  an address that may be one of these objects', told without a look at the table: by the size in the word before
 *            the object where the allocator is glibc's, which its free reads next; else by a bit in one cache line, which
 *            is written when they come and go
 *   on       pages_allowed: the collector asks for it (SEG_FLAG_RESIDENT), and the system calls will not end the process:
 *            filters_let_pass
 *
 * Nothing here calls malloc, takes a lock or changes errno. */
#ifndef MALLAB_SHIM_PRELOAD_LARGE_H
#define MALLAB_SHIM_PRELOAD_LARGE_H

#include "shim/preload/lane.h"

#pragma GCC visibility push(hidden)

/* ---- which pages of an object are in memory, and whether what stands in them has changed (pages.c) ----
 *
 *   view  the pages of an object that are looked at: all, up to 64; of larger objects 64 at even distances, the first and the
 *         last among them. A page that the object has in part is its page, too
 *   map   a bit for each page of the view, the first one in the lowest bit
 *   sum   of what stands in the object's part of a page: 0 for nothing but zeros. Of contents nothing else is kept, and
 *         nothing at all leaves the process
 *
 * mincore(2) tells which pages are in memory. Contents are read by process_vm_readv(2) of the process itself: a program may
 * have forbidden itself to read a page of an object, and a plain load would end it. Only pages in memory are read, so
 * none comes into being by that.
 *
 * Nothing here calls malloc, waits for a lock or changes errno. Addresses are of objects that their owner is about to give
 * up, or has just got: nobody else unmaps them. */
#define PAGES_VIEW 64u

/* pages_allow - pages may be looked at from here on. False: they cannot. */
bool pages_allow(void);

/* pages_forbid - no more looks; returns when no thread is at one. */
void pages_forbid(void);

bool pages_allowed(void);

/* pages_of - how many pages an object has. */
uint64_t pages_of(uintptr_t address, uint64_t bytes);

/* pages_viewed - how many of them the view has. */
uint64_t pages_viewed(uintptr_t address, uint64_t bytes);

/* pages_edges - the map of those that an object has in part. */
uint64_t pages_edges(uintptr_t address, uint64_t bytes);

/* The functions that look return false where the pages are not all mapped, or where it cannot be asked.
 *
 * pages_count  how many pages were looked at, and how many of them are in memory. Not of the view: of all, but for objects
 *              beyond 16 MiB, of which it is 4,096 pages in 64 places; a system call for each MiB
 * pages_map    those in memory. One system call, and 64 where the view is not of all pages
 * pages_sums   the sums of those in map, which are in memory; ret_sums has a place for each page of the view. A system call
 *              for 16 pages. It also fails while another thread is at it */
bool pages_count(uintptr_t address, uint64_t bytes, uint64_t *ret_resident, uint64_t *ret_looked);
bool pages_map(uintptr_t address, uint64_t bytes, uint64_t *ret_map);
bool pages_sums(uintptr_t address, uint64_t bytes, uint64_t map, uint32_t *ret_sums);

/* ---- the objects (large.c) ------------------------------------------------------------------------- */

#define LARGE_BITS 512u /* one cache line */

struct shim_large {
    _Alignas(64) _Atomic uint64_t bits[LARGE_BITS / 64]; /* suspects by page, where there is no header */
    _Atomic bool by_header;
};

extern struct shim_large shim_large;

/* large_begin - a process image, or a forked child, begins to be recorded. A child whose parent had to stop stays off.
 * wanted   SEG_FLAG_RESIDENT is set.
 * filters  of the segment: under how many seccomp filters the collector tried it. */
void large_begin(bool wanted, uint32_t filters);

/* large_stop - nothing is noted from here on, in this process and its children; returns when no thread is at it. */
void large_stop(void);

/* large_forget - as if nothing had begun: for a moment at which no thread is in a hook. */
void large_forget(void);

/* large_made - an allocation or resize returned address. Cheap for what is small; call before its record is stored. */
void large_made_slow(unsigned call, uintptr_t address, uint64_t bytes);

static inline void large_made(unsigned call, uintptr_t address, uint64_t size, uint64_t extra)
{
    uint64_t bytes = size;
    if (likely(call != FP_CALL_CALLOC && call != FP_CALL_REALLOCARRAY)
            ? size < FP_MIDDLING_BYTES
            : __builtin_mul_overflow(size, extra, &bytes) || bytes < FP_MIDDLING_BYTES)
        return;
    if (call <= FP_CALL_REALLOCARRAY ||
        (call >= FP_CALL_POSIX_MEMALIGN && call <= FP_CALL_NEW_ARRAY_ALIGNED_NOTHROW))
        large_made_slow(call, address, bytes);
}

/* large_suspects - whether address, which is about to be released or resized, may be one's of the table. */
static inline bool large_suspects(const void *address)
{
    const uint64_t page = (uintptr_t)address >> 12;
    if (likely(get_relaxed(&shim_large.by_header)))
        return address != NULL && ((const size_t *)address)[-1] >= FP_MIDDLING_BYTES;
    return (get_relaxed(&shim_large.bits[page / 64 % (LARGE_BITS / 64)]) >> page % 64 & 1) != 0;
}

/* large_take - it is about to be released or resized: take it out of the table.
 * ret_share  of FP_SHARE_WHOLE.
 * Returns    whether it was there and its share is known. One system call for each MiB at most, and no more than 64 (with
 *            contents five more for 64 pages); none where looks come so fast that they would take more than 3 % of the
 *            time: then it is the share last seen of an object of that size (of few pages: on the mean of so many; and not
 *            known when there was none, or of a middling one). */
bool large_take(const void *address, uint32_t *ret_share);

/* large_left - objects that are never released, one at a time, for where the process ends.
 * at           where to go on in the table; 0 at first, stepped.
 * ret_address  of the next one whose share is known; ret_share likewise.
 * Returns      false when there are no more. */
bool large_left(uint32_t *at, uintptr_t *ret_address, uint32_t *ret_share);

#pragma GCC visibility pop

#endif
