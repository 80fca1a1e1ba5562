/* collect_counts.c - what a process counts in its slot, as far as that can be: it may write anything there. */
#include "shim/collect/collect.h"

#define CALLS_PER_NS 64u /* lost, of all threads together: more than any machine makes */

/* No count falls, and none grows faster than calls can be made. Returns whether it is one that can be. */
static bool take(uint64_t now, uint64_t most, uint64_t *counted)
{
    const bool can_be = now >= *counted && now <= most;
    if (can_be)
        *counted = now;
    return can_be;
}

void counts_take(struct collector *collector, struct collect_image *image)
{
    const struct seg_slot *slot = &collector->segment.view.slots[image->slot];
    const uint64_t elapsed_ns = collect_elapsed_ns(collector) / 1000 * 1000 + 1000000000;
    const uint64_t most = elapsed_ns < UINT64_MAX / CALLS_PER_NS ? elapsed_ns * CALLS_PER_NS : UINT64_MAX;
    bool can_be = true;
    for (unsigned cause = 0; cause < FP_LOSS_COUNT; cause++)
        can_be = take(atomic_load_explicit(&slot->lost[cause], memory_order_relaxed), most,
                      &image->own_lost[cause]) &&
                 can_be;
    can_be = take(atomic_load_explicit(&slot->stalls, memory_order_relaxed), most, &image->stalls) && can_be;
    /* Many threads may wait at one time. */
    can_be = take(atomic_load_explicit(&slot->stall_ns, memory_order_relaxed), UINT64_MAX >> 1,
                  &image->stall_ns) &&
             can_be;
    if (!can_be && !image->counts_spoiled) {
        image->counts_spoiled = true;
        image->lost[FP_LOSS_SPOILED]++;
    }
}
