/* walk_again.h - the stack is one that was kept: its words are compared, and nothing is walked. Inline, as most allocations come
 * no further; structs passed between functions here would cost as much as the compares.
 *
 * Laws: those of walk.h. */
#ifndef MALLAB_SHIM_SITES_WALK_AGAIN_H
#define MALLAB_SHIM_SITES_WALK_AGAIN_H

#include "shim/sites/walk.h"

static inline uint64_t walk_word(uint64_t place)
{
    return *(const uint64_t *)(uintptr_t)place;
}

/* walk_leads_outward - whether the words are unchanged by which one comes from a frame to the one outside of it, which stands before
 * it. A tail may be of a time when the region reached farther: only words below high are read. */
static inline bool walk_leads_outward(const struct walk_frame *frame, uint64_t sp, uintptr_t high)
{
    const struct walk_frame *outer = frame - 1;
    const uint32_t bits = cfi_rule_bits(frame->rule);
    uint64_t place;
    if (cfi_rule_kind(frame->rule) == CFI_AT_FRAME) {
        place = frame->fp - processor_offset(bits);
        if (place < sp || place > high - 8 || walk_word(place) != walk_frame_sp(outer))
            return false;
    }
    if (!(outer->rule & WALK_NEEDS_FP) || processor_keeps_frame(bits) || processor_loses_frame(bits))
        return true;
    place = processor_frame_place(bits, outer->slot, frame->fp);
    return place >= sp && place <= high - 8 && walk_word(place) == outer->fp;
}

/* walk_is_unchanged - whether the words of a frame are that has an outer one; its slot lies at or above sp and below high. */
static inline bool walk_is_unchanged(const struct walk_frame *frame, uint64_t sp, uintptr_t high)
{
    if (processor_code(walk_word(frame->slot)) != frame->address)
        return false;
    return __builtin_expect(!(frame[-1].rule & WALK_NEEDS_FP) && cfi_rule_kind(frame->rule) != CFI_AT_FRAME,
                            1) ||
           walk_leads_outward(frame, sp, high);
}

/* walk_unchanged - how many of the first `most` kept frames are unchanged, which were kept of this region and generation. */
static inline uint32_t walk_unchanged(const struct walk *walk, uint64_t sp, uint32_t most)
{
    const struct walk_frame *frames = walk->frames;
    uint32_t i = 1;
    if (most == 0 || frames->slot < sp || processor_code(walk_word(frames->slot)) != frames->address)
        return 0;
    while (i < most && frames[i].slot >= sp && walk_is_unchanged(&frames[i], sp, walk->high))
        i++;
    return i;
}

/* walk_is_way - whether the recorder's frames on top of the stack are those. */
static inline bool walk_is_way(const struct walk_way *way, uint64_t sp, uintptr_t high)
{
    bool same = way->count > 0 && way->bytes + (uint64_t)8 <= high - sp;
    for (uint32_t i = 0; same && i < way->count; i++)
        same = processor_code(walk_word(sp + way->places[i])) == way->addresses[i];
    return same;
}

/* walk_way_fp - the frame register as the program's innermost function has it. */
static inline uint64_t walk_way_fp(const struct walk_way *way, uint64_t sp, uint64_t fp)
{
    return way->fp != 0 ? walk_word(sp + way->fp) : fp;
}

static inline bool walk_is_same_frame(const struct walk_frame *frame, const struct walk_frame *other)
{
    return frame->slot == other->slot && frame->node == other->node && frame->rule == other->rule &&
           (!(frame->rule & WALK_NEEDS_FP) || frame->fp == other->fp) &&
           walk_frame_has_sp(frame, walk_frame_sp(other));
}

/* walk_again - whether the stack is that of a tail, which then is kept. Equal nodes have equal addresses, and from frame to frame
 * outward equal words lead to the same place.
 * sp, fp   as of walk_start; the address is the same function's as whenever the way was found.
 * high     of a region that is known.
 * Returns  the node of its innermost frame; 0: it is not. */
static inline __attribute__((always_inline)) uint32_t walk_again(struct walk *walk, uint64_t sp, uint64_t fp,
                                                                 uintptr_t high, uint32_t generation,
                                                                 uint32_t way_at, uint32_t tail_at)
{
    const struct walk_way *way = &walk->ways[way_at];
    const struct walk_tail *tail = &walk->tails[tail_at];
    const uint32_t count = tail->count, first = tail->first;
    if (walk->high != high || walk->generation != generation || count == 0 || first >= walk->kept ||
        !walk_is_way(way, sp, high))
        return 0;
    const struct walk_frame *inner = &tail->frames[count - 1];
    const uint64_t slot = sp + way->bytes;
    if (inner->slot != slot || processor_code(walk_word(slot)) != inner->address ||
        !walk_frame_has_sp(inner, sp + way->sp) ||
        !walk_is_same_frame(&walk->frames[first], &tail->frames[0]) ||
        ((inner->rule & WALK_NEEDS_FP) && inner->fp != walk_way_fp(way, sp, fp)))
        return 0;
    for (uint32_t i = 1; i < count; i++)
        if (!walk_is_unchanged(&tail->frames[i], slot, high))
            return 0;
    if (walk_unchanged(walk, slot, first + 1) <= first)
        return 0;
    walk->kept = first + 1; /* while it is changed; see atomic_signal_fence */
    atomic_signal_fence(memory_order_seq_cst);
    for (uint32_t i = 1; i < count; i++)
        walk->frames[first + i] = tail->frames[i];
    atomic_signal_fence(memory_order_seq_cst);
    walk->kept = first + count;
    return inner->node;
}

#endif
