/* stack_bounds.h - where the calling thread's stack is, asked of the kernel.
 *
 * pthread_getattr_np would know, but takes a lock of the thread's that the program may hold: it allocates while it holds it
 * itself, and what it calls then are our hooks. Law: system calls only, no lock, no allocation. */
#ifndef MALLAB_SHIM_SITES_STACK_BOUNDS_H
#define MALLAB_SHIM_SITES_STACK_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

/* stack_bounds_of - the mapping that an address lies in, by PROCMAP_QUERY (Linux 6.11), else as /proc/self/maps lists it.
 * Returns   false: the kernel does not tell. */
bool stack_bounds_of(uintptr_t address, uintptr_t *ret_low, uintptr_t *ret_high);

/* stack_bounds_listed - the same by /proc/self/maps alone. */
bool stack_bounds_listed(uintptr_t address, uintptr_t *ret_low, uintptr_t *ret_high);

#endif
