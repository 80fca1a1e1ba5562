/* pages.h - which pages of an object are in memory, and whether what stands in them has changed.
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
#ifndef MALLAB_SHIM_PRELOAD_PAGES_H
#define MALLAB_SHIM_PRELOAD_PAGES_H

#include "shim/preload/shim.h"

#pragma GCC visibility push(hidden)

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

#pragma GCC visibility pop

#endif
