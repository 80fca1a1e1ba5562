/* atomics.h - short names for atomic accesses, in which the order stands: C's own fill a line each. */
#ifndef MALLAB_SHIM_SHARED_ATOMICS_H
#define MALLAB_SHIM_SHARED_ATOMICS_H

#include <stdatomic.h>

#define get_relaxed(word)        atomic_load_explicit(word, memory_order_relaxed)
#define get_acquire(word)        atomic_load_explicit(word, memory_order_acquire)
#define put_relaxed(word, value) atomic_store_explicit(word, value, memory_order_relaxed)
#define put_release(word, value) atomic_store_explicit(word, value, memory_order_release)
#define add_relaxed(word, value) atomic_fetch_add_explicit(word, value, memory_order_relaxed)
#define sub_relaxed(word, value) atomic_fetch_sub_explicit(word, value, memory_order_relaxed)
#define add_acq_rel(word, value) atomic_fetch_add_explicit(word, value, memory_order_acq_rel)

/* The compare-and-swaps, named by the order of success; a failure is relaxed. Only the last may fail for nothing. */
#define swap_relaxed(word, seen, value)                                                                      \
    atomic_compare_exchange_strong_explicit(word, seen, value, memory_order_relaxed, memory_order_relaxed)
#define swap_acquire(word, seen, value)                                                                      \
    atomic_compare_exchange_strong_explicit(word, seen, value, memory_order_acquire, memory_order_relaxed)
#define swap_acq_rel(word, seen, value)                                                                      \
    atomic_compare_exchange_strong_explicit(word, seen, value, memory_order_acq_rel, memory_order_relaxed)
#define try_swap_relaxed(word, seen, value)                                                                  \
    atomic_compare_exchange_weak_explicit(word, seen, value, memory_order_relaxed, memory_order_relaxed)

#endif
