/* chosen.h - of a sample of objects (footprint/fp/object_sample.h): which births are in it, and which objects that live now are.
 *
 *   gap      weight of births until the next one that is in the sample, drawn beforehand: what is left out costs a subtraction
 *   chosen   a bit for each 8 bytes of memory, set while an object that is in the sample begins there: exact, and the release of one
 *            that is not costs a look. A region of 1 GiB gets its bits (16 MiB of addresses, of which is used what is
 *            written) when its first object is chosen
 *   at rest  between two calls that are recorded a thread of such a recording keeps its lane here, and shim_lane is NULL: so every
 *            hook takes its slow way, whose first question is the gap's or the bit's, and the fast ways know nothing of samples
 *
 * A bit is set before the address is given to the program, and cleared before the object is given back: its words are
 * ordered by how the program hands objects on. Children inherit the bits as they do the objects.
 * Nothing here calls malloc, takes a lock or changes errno. */
#ifndef MALLAB_SHIM_PRELOAD_CHOSEN_H
#define MALLAB_SHIM_PRELOAD_CHOSEN_H

#include "footprint/fp/object_sample.h"
#include "shim/preload/lane.h"

#define CHOSEN_GRAIN_BITS   3u
#define CHOSEN_REGION_BITS  30u
#define CHOSEN_REGION_COUNT (1u << (FP_ADDRESS_BITS - CHOSEN_REGION_BITS))

#pragma GCC visibility push(hidden)

/* Of a thread. gap is 0 unless it is at rest. */
struct chosen_thread {
    uint64_t gap;      /* at most FP_SAMPLE_ALL_BYTES, so that what is as large never passes */
    uint64_t beyond;   /* and so much more */
    uint64_t kept;     /* gap, while it is not at rest */
    struct lane *lane; /* while at rest */
    uint64_t seen;     /* the gap as an operator that is not chosen found it; 0: none is under way */
    uintptr_t resized; /* chosen, and about to be moved */
    uint64_t random;
};

extern __thread struct chosen_thread chosen_thread __attribute__((tls_model("initial-exec")));
extern _Atomic uint64_t *_Atomic chosen_regions[CHOSEN_REGION_COUNT];

/* chosen_passes - a thread at rest makes an object that is not in the sample, as is now settled. False also where the thread is not
 * at rest. */
static inline bool chosen_passes(uint64_t bytes)
{
    const uint64_t weight = fp_sample_weight(bytes), gap = chosen_thread.gap;
    if (unlikely(gap <= weight))
        return false;
    chosen_thread.gap = gap - weight;
    return true;
}

/* chosen_is - whether the object that begins at an address, or NULL, is in the sample. */
static inline bool chosen_is(const void *address)
{
    const uint64_t at = (uintptr_t)address >> CHOSEN_GRAIN_BITS;
    const uint64_t region = (uintptr_t)address >> CHOSEN_REGION_BITS;
    const _Atomic uint64_t *bits = get_acquire(&chosen_regions[region % CHOSEN_REGION_COUNT]);
    return bits != NULL &&
           (get_relaxed(&bits[at % (1u << (CHOSEN_REGION_BITS - CHOSEN_GRAIN_BITS)) / 64]) >> at % 64 & 1) !=
               0;
}

/* chosen_passes_by - a thread at rest is about to release or resize an object that is not in the sample. */
static inline bool chosen_passes_by(const void *address)
{
    return likely(chosen_thread.gap != 0) && likely(!chosen_is(address));
}

/* chosen_begin - a process is recorded now. recording: a number that another recording hardly has; with a new one no object is chosen. */
void chosen_begin(uint64_t recording);

/* chosen_put - the object is in the sample from here on. False: no memory for its bit. */
bool chosen_put(uintptr_t address);

/* chosen_take - it is not, from here on. Returns whether it was. */
bool chosen_take(const void *address);

/* chosen_draws - a thread at rest makes an object of that weight that did not pass, or an object grows by it: whether it is chosen. */
bool chosen_draws(uint64_t weight);

/* chosen_hold - the lane of a thread at rest, for a record that is stored at once; calls that come meanwhile, the allocator's own or of
 *               a signal handler, are passed on. chosen_let_go ends it, or chosen_wake.
 * chosen_wake - on the way: the lane is roused as a hook has it that is to record, its gate at GATE_FORWARD. */
static inline struct lane *chosen_hold(void)
{
    struct chosen_thread *own = &chosen_thread;
    own->kept = own->gap;
    atomic_signal_fence(memory_order_seq_cst);
    own->gap = 0;
    atomic_signal_fence(memory_order_seq_cst);
    return own->lane;
}

static inline void chosen_let_go(void)
{
    atomic_signal_fence(memory_order_seq_cst);
    chosen_thread.gap = chosen_thread.kept;
}

struct lane *chosen_wake(void);

/* chosen_rest - a thread of a sample goes to rest with its lane, which is open.
 * chosen_rouse - it is at rest no more: shim_lane is its lane. */
void chosen_rest(struct lane *lane);
void chosen_rouse(void);

#pragma GCC visibility pop

#endif
