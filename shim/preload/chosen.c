/* chosen.c - gaps between chosen births, bits of chosen objects, lanes at rest. Laws: those of chosen.h. */
#include "shim/preload/chosen.h"

#include <sys/mman.h>

#include "shim/preload/confine.h"
#include "shim/preload/lane_record.h"
#include "shim/shared/raw.h"
#include "shim/sites/sample.h"

#define REGION_BYTES ((size_t)1 << (CHOSEN_REGION_BITS - CHOSEN_GRAIN_BITS - 3))

__thread struct chosen_thread chosen_thread __attribute__((tls_model("initial-exec")));
_Atomic uint64_t *_Atomic chosen_regions[CHOSEN_REGION_COUNT];

cold_path static _Atomic uint64_t *make_region(_Atomic uint64_t *_Atomic *place)
{
    _Atomic uint64_t *expected = NULL;
    if (!confine_may_call())
        return NULL;
    const long made = raw_mmap(NULL, REGION_BYTES, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    _Atomic uint64_t *bits = made > 0 ? (_Atomic uint64_t *)made : NULL;
    if (bits != NULL && !swap_acq_rel(place, &expected, bits)) {
        raw_munmap((void *)made, REGION_BYTES);
        bits = get_acquire(place);
    }
    confine_called();
    return bits;
}

/* ret_mask: the bit of the word. */
static _Atomic uint64_t *word_of(uintptr_t address, bool make, uint64_t *ret_mask)
{
    const uint64_t at = address >> CHOSEN_GRAIN_BITS;
    if (address >> FP_ADDRESS_BITS != 0)
        return NULL;
    _Atomic uint64_t *_Atomic *place = &chosen_regions[address >> CHOSEN_REGION_BITS];
    _Atomic uint64_t *bits = get_acquire(place);
    if (unlikely(bits == NULL && make))
        bits = make_region(place);
    *ret_mask = UINT64_C(1) << at % 64;
    return bits != NULL ? &bits[at % (1u << (CHOSEN_REGION_BITS - CHOSEN_GRAIN_BITS)) / 64] : NULL;
}

bool chosen_put(uintptr_t address)
{
    uint64_t mask;
    _Atomic uint64_t *word = word_of(address, true, &mask);
    if (word != NULL)
        (void)atomic_fetch_or_explicit(word, mask, memory_order_relaxed);
    return word != NULL;
}

bool chosen_take(const void *address)
{
    uint64_t mask;
    _Atomic uint64_t *word = word_of((uintptr_t)address, false, &mask);
    return word != NULL && (atomic_fetch_and_explicit(word, ~mask, memory_order_relaxed) & mask) != 0;
}

static void set_gap(uint64_t gap)
{
    struct chosen_thread *own = &chosen_thread;
    own->gap = gap < FP_SAMPLE_ALL_BYTES ? gap : FP_SAMPLE_ALL_BYTES;
    own->beyond = gap - own->gap;
}

/* Gaps have the exponential distribution: of this, its values at so many steps of equal chance, between which it is as good as
 * straight. Beyond the largest a gap begins anew, as it has no memory. */
#define STEPS_BITS 8u
#define STEPS      (1u << STEPS_BITS)
static uint64_t steps[STEPS + 1]; /* -ln(i / STEPS) means; of 0 nothing */

static void set_steps(void)
{
    const uint64_t mean = shim_segment.fixed.one_in * FP_SAMPLE_LEAST_BYTES;
    for (uint64_t i = 1; i < STEPS; i++)
        steps[i] = (uint64_t)((unsigned __int128)sample_log(i << (64 - STEPS_BITS)) * mean >> 31);
}

static void draw(void)
{
    uint64_t gap = 1, word, at;
    for (;;) {
        word = sample_random(&chosen_thread.random);
        at = word >> (64 - STEPS_BITS);
        if (likely(at != 0))
            break;
        gap += steps[1];
    }
    word = word << STEPS_BITS >> 40; /* how far on the way from this step to the next, of 2^24 */
    set_gap(gap + steps[at] - ((steps[at] - steps[at + 1]) * word >> 24));
}

/* For a moment at which no other thread has attached. */
void chosen_begin(uint64_t recording)
{
    static uint64_t last;
    if (last != 0 && last != recording)
        for (uint32_t i = 0; i < CHOSEN_REGION_COUNT; i++) {
            const uintptr_t bits = (uintptr_t)get_relaxed(&chosen_regions[i]);
            if (bits != 0)
                (void)raw_call(SYS_madvise, (long)bits, REGION_BYTES, MADV_DONTNEED, 0, 0, 0);
        }
    last = recording;
    set_steps();
}

bool chosen_draws(uint64_t weight)
{
    struct chosen_thread *own = &chosen_thread;
    const uint64_t gap = own->gap + own->beyond;
    if (gap > weight) {
        set_gap(gap - weight);
        return weight >= FP_SAMPLE_ALL_BYTES;
    }
    draw();
    return true;
}

/* Signal handlers of the thread may come between any two stores: while gap is 0 and there is no shim_lane their calls are passed on. */
void chosen_rest(struct lane *lane)
{
    struct chosen_thread *own = &chosen_thread;
    if (own->random == 0) {
        own->random = (lane_clock() ^ (uint64_t)lane->thread_id << 40 ^ (uintptr_t)lane << 16) | 1;
        draw();
        own->kept = own->gap;
        own->gap = 0;
    }
    lane->outer[0].gate = GATE_OPEN;
    lane->outer[0].as_call = 0;
    lane->nested = 1;
    own->lane = lane;
    atomic_signal_fence(memory_order_seq_cst);
    shim_lane = NULL;
    atomic_signal_fence(memory_order_seq_cst);
    own->gap = own->kept | (own->kept == 0);
}

struct lane *chosen_wake(void)
{
    struct chosen_thread *own = &chosen_thread;
    lane_set_gate(own->lane, GATE_FORWARD); /* of a forked child wiped memory, which takes it as well */
    shim_lane = own->lane;
    atomic_signal_fence(memory_order_seq_cst);
    own->lane = NULL;
    return shim_lane;
}

void chosen_rouse(void)
{
    (void)chosen_hold();
    lane_set_gate(chosen_wake(), GATE_OPEN);
}
