/* walk.c - frames by rules, until one that is known.
 *
 * Laws: those of walk.h. */
#include "shim/sites/walk_again.h"

#include <stddef.h>

#define ADDRESS_LEAST 4096u
#define ENTRY_BYTES   16u /* by which the loader aligns the stack that a program begins with */
#define cold_walk     __attribute__((noinline, cold))

struct stepping {
    uint64_t address, sp, fp;
    uintptr_t high;
    bool known;
    uint64_t link_slot,
        link_sp; /* of a function that a signal interrupted: where its register of the return address is, and its sp */
};

/* A frame that was found by its frame record, as a rule. */
static uint32_t guessed_rule(void)
{
    uint32_t bits = 0;
    (void)processor_rule(false, 16, (struct saved){SAVED_AT_CFA, -16}, (struct saved){SAVED_AT_CFA, -8},
                         &bits); /* it has such bits */
    return cfi_rule_make(CFI_FRAME, bits);
}

static bool is_code(uint64_t address)
{
    return address >= ADDRESS_LEAST && address >> CODE_BITS == 0 &&
           (address & ((1u << CODE_LOW_BITS) - 1)) == 0;
}

/* A word of the region, at or above sp. */
static bool read_word(const struct stepping *at, uint64_t place, uint64_t *ret_word)
{
    if (place < at->sp || place % 8 != 0 || place > at->high - 8)
        return false;
    *ret_word = *(const uint64_t *)(uintptr_t)place;
    return true;
}

static enum fp_cut outside(const struct stepping *at)
{
    return at->known ? FP_CUT_BROKEN : FP_CUT_STACK;
}

/* From a function that was interrupted before it saved its return address, or never does. */
static cold_walk enum fp_cut step_linked(struct stepping *at, uint64_t cfa, uint64_t *ret_slot)
{
    if (at->link_slot == 0 || at->link_sp != at->sp || cfa < at->sp || cfa % 8 != 0 || cfa > at->high)
        return FP_CUT_BROKEN;
    const uint64_t address = processor_code(walk_word(at->link_slot));
    if (!is_code(address))
        return FP_CUT_BROKEN;
    *ret_slot = at->link_slot;
    at->address = address;
    at->sp = cfa;
    at->link_slot = 0;
    return FP_CUT_NONE;
}

/* The next outer frame by a rule that has a CFA: its slot in ret_slot, and `at` becomes it. */
static inline __attribute__((always_inline)) enum fp_cut step(struct stepping *at, uint32_t rule,
                                                              uint64_t *ret_slot)
{
    const uint32_t bits = cfi_rule_bits(rule);
    const uint64_t base = cfi_rule_kind(rule) == CFI_SP ? at->sp : at->fp;
    uint64_t cfa = base + processor_offset(bits), fp = at->fp, word;
    if (cfi_rule_kind(rule) == CFI_AT_FRAME && !read_word(at, at->fp - processor_offset(bits), &cfa))
        return outside(at);
    if (processor_is_linked(bits))
        return step_linked(at, cfa, ret_slot);
    const uint64_t slot = processor_slot(bits, base, cfa);
    if (cfa <= at->sp || cfa % 8 != 0 || cfa > at->high || slot >= cfa || !read_word(at, slot, &word))
        return outside(at);
    if (processor_loses_frame(bits))
        fp = 0;
    else if (!processor_keeps_frame(bits) && !read_word(at, processor_frame_place(bits, slot, at->fp), &fp))
        return outside(at);
    if (!is_code(processor_code(word)))
        return FP_CUT_BROKEN;
    *ret_slot = slot;
    at->address = processor_code(word);
    at->sp = cfa;
    at->fp = fp;
    return FP_CUT_NONE;
}

/* What a signal interrupted. Only on the same stack: another one's bounds are not known. */
static enum fp_cut step_signal(struct stepping *at, uint64_t *ret_slot)
{
    uint64_t code, sp, fp;
    if (at->high - at->sp < CONTEXT_BYTES || !read_word(at, at->sp + CONTEXT_CODE, &code) ||
        !read_word(at, at->sp + CONTEXT_SP, &sp) || !read_word(at, at->sp + CONTEXT_FRAME, &fp))
        return outside(at);
    if (sp < at->sp + CONTEXT_BYTES || sp >= at->high || sp % 8 != 0)
        return FP_CUT_STACK;
    if (!is_code(code + CODE_STEP))
        return FP_CUT_BROKEN;
    *ret_slot = at->sp + CONTEXT_CODE;
    if (CONTEXT_LINK != 0)
        at->link_slot = at->sp + CONTEXT_LINK;
    at->link_sp = sp;
    at->address = code + CODE_STEP;
    at->sp = sp;
    at->fp = fp;
    return FP_CUT_NONE;
}

/* ---- stacks that come again ------------------------------------------------------------------------------ */

/* fresh     frames that were new; where it takes more to come to a frame that two stacks share, its tail is longer from then on. */
static void keep_tail(struct walk *walk, uint32_t fresh)
{
    const uint32_t node = walk->frames[walk->kept - 1].node;
    struct walk_tail *tail = &walk->tails[walk_tail_of(node)];
    const uint32_t before = tail->count > 0 && tail->frames[tail->count - 1].node == node ? tail->count : 0;
    uint32_t count = fresh + 2 > before ? fresh + 2 : before;
    count = count < 1 + WALK_TAIL_MOST ? count : 1 + WALK_TAIL_MOST;
    count = count < walk->kept ? count : walk->kept;
    tail->count = 0; /* as walk->kept */
    atomic_signal_fence(memory_order_seq_cst);
    tail->first = walk->kept - count;
    for (uint32_t i = 0; i < count; i++)
        tail->frames[i] = walk->frames[tail->first + i];
    atomic_signal_fence(memory_order_seq_cst);
    tail->count = count;
}

/* ---- the recorder's own frames -------------------------------------------------------------------------- */

static bool is_own(const struct modules *modules, uint64_t address)
{
    return address - modules->own_start < modules->own_end - modules->own_start;
}

/* By rules, and remember the way where its frames are of fixed sizes. */
static cold_walk enum fp_cut find_way(struct walk_way *ret_way, struct modules *modules, struct stepping *at,
                                      bool *fresh_module, uint64_t *ret_slot)
{
    const uint64_t sp = at->sp;
    struct walk_way way = {0};
    bool fixed = true;
    for (;;) {
        const uint32_t rule = modules_rule(modules, at->address, fresh_module), bits = cfi_rule_bits(rule);
        const uint64_t fp = at->fp;
        if (cfi_rule_kind(rule) == CFI_OTHER || cfi_rule_kind(rule) == CFI_NONE)
            return FP_CUT_RULE;
        fixed = fixed && cfi_rule_kind(rule) == CFI_SP && !processor_loses_frame(bits) &&
                !processor_needs_frame(bits) && way.count < WALK_OWN_MOST;
        const enum fp_cut cut = step(at, rule, ret_slot);
        if (cut != FP_CUT_NONE)
            return cut;
        if (!processor_keeps_frame(bits))
            way.fp = (uint32_t)(processor_frame_place(bits, *ret_slot, fp) - sp);
        if (!is_own(modules, at->address))
            break;
        if (fixed) {
            way.places[way.count] = (uint32_t)(*ret_slot - sp);
            way.addresses[way.count++] = at->address;
        }
    }
    way.bytes = (uint32_t)(*ret_slot - sp);
    way.sp = (uint32_t)(at->sp - sp);
    ret_way->count = 0; /* a jump out of here leaves none */
    atomic_signal_fence(memory_order_seq_cst);
    if (fixed)
        *ret_way = way;
    return FP_CUT_NONE;
}

static inline enum fp_cut pass_own(struct walk_way *way, struct modules *modules, struct stepping *at,
                                   bool *fresh_module, uint64_t *ret_slot)
{
    if (__builtin_expect(!walk_is_way(way, at->sp, at->high), 0))
        return find_way(way, modules, at, fresh_module, ret_slot);
    *ret_slot = at->sp + way->bytes;
    at->address = processor_code(walk_word(*ret_slot));
    at->fp = walk_way_fp(way, at->sp, at->fp);
    at->sp += way->sp;
    return is_code(at->address) ? FP_CUT_NONE : FP_CUT_BROKEN;
}

/* ---- the walk ------------------------------------------------------------------------------------------- */

/* Whether a frame that was come to is one of the kept ones; those inside of it are dropped. */
static inline bool meets(const struct walk *walk, const struct stepping *at, uint64_t slot, uint32_t *kept)
{
    while (*kept > 0 && walk->frames[*kept - 1].slot < slot)
        --*kept;
    if (*kept == 0 || walk->frames[*kept - 1].slot != slot)
        return false;
    const struct walk_frame *known = &walk->frames[*kept - 1];
    if ((!(known->rule & WALK_NEEDS_FP) || known->fp == at->fp) && walk_frame_has_sp(known, at->sp))
        return true;
    --*kept;
    return false;
}

/* The frames outside of `at` by rules of other kinds than the most frequent one. Returns why it ends there; FP_CUT_NONE with a slot of
 * 0 is the end of the stack.
 * guessed   the first fresh frame that is not proven yet; WALK_MOST: all are. */
static __attribute__((noinline)) enum fp_cut step_seldom(struct modules *modules, struct stepping *at,
                                                         uint32_t *rule, struct walk_result *result,
                                                         uint32_t *guessed, uint64_t *ret_slot)
{
    *ret_slot = 0;
    switch (cfi_rule_kind(*rule)) {
    case CFI_END:
        return FP_CUT_NONE;
    case CFI_SIGNAL:
        result->passing = true;
        return step_signal(at, ret_slot);
    case CFI_NONE:
        if (at->known && at->fp == 0 && at->high - at->sp <= ENTRY_BYTES)
            return FP_CUT_NONE; /* the loader's own begin, where constructors are called from */
        /* Code without unwind tables that keeps frame pointers: believed only where it leads back to code that has them, right
         * behind a call. */
        *rule = guessed_rule();
        if (*guessed == WALK_MOST)
            *guessed = result->fresh;
        return step(at, *rule, ret_slot);
    case CFI_OTHER:
        return FP_CUT_RULE;
    default:
        if (*guessed != WALK_MOST && (!modules_is_call(modules, at->address) ||
                                      (!RECORD_ENDS_AT_SP && cfi_rule_kind(*rule) == CFI_SP)))
            return FP_CUT_CFI; /* or its sp is not known, which it needs */
        *guessed = WALK_MOST;
        return step(at, *rule, ret_slot);
    }
}

static inline void add_fresh(struct walk *walk, struct walk_result *result, const struct stepping *at,
                             uint64_t slot, uint32_t *kept)
{
    const uint32_t place = WALK_MOST - 1 - result->fresh++;
    if (__builtin_expect(walk->kept > place, 0))
        walk->kept = place; /* the stack has outer frames, but not those */
    if (*kept > place)
        *kept = place;
    atomic_signal_fence(memory_order_seq_cst);
    walk->frames[place] = walk_frame_at(slot, at->sp, at->address, at->fp);
}

struct walk_result walk_take(struct walk *walk, struct modules *modules, const struct walk_start *start,
                             const struct walk_region *region)
{
    const uint32_t generation = atomic_load_explicit(&modules->generation, memory_order_acquire);
    struct stepping at = {start->address, start->sp, start->fp, region->high, region->known, 0, 0};
    struct walk_result result = {.passing = !region->known};
    enum fp_cut cut = FP_CUT_NONE;
    uint32_t guessed = WALK_MOST, kept = 0;
    uint64_t slot = 0;
    const bool own = is_own(modules, at.address);
    if (own)
        cut = pass_own(&walk->ways[start->way], modules, &at, &result.fresh_module, &slot);
    if (region->known && walk->high == region->high && walk->generation == generation)
        kept = walk_unchanged(walk, start->sp, walk->kept);
    if (own && cut == FP_CUT_NONE) {
        if (meets(walk, &at, slot, &kept)) {
            result.kept = kept;
            return result;
        }
        add_fresh(walk, &result, &at, slot, &kept);
    }
    while (cut == FP_CUT_NONE) {
        uint32_t rule = modules_rule(modules, at.address, &result.fresh_module);
        if (__builtin_expect(cfi_rule_kind(rule) == CFI_SP && guessed == WALK_MOST, 1))
            cut = step(&at, rule, &slot);
        else
            cut = step_seldom(modules, &at, &rule, &result, &guessed, &slot);
        if (result.fresh > 0)
            walk_fresh(walk, result.fresh - 1)->rule = rule;
        if (cut != FP_CUT_NONE || slot == 0) {
            kept = 0;
            break;
        }
        if (meets(walk, &at, slot, &kept)) {
            result.kept = kept;
            return result;
        }
        if (result.fresh == WALK_MOST)
            cut = FP_CUT_DEEP;
        else
            add_fresh(walk, &result, &at, slot, &kept);
    }
    if (guessed != WALK_MOST) {
        result.fresh = guessed;
        cut = FP_CUT_CFI;
    }
    result.cut = cut;
    result.passing = result.passing || cut != FP_CUT_NONE;
    return result;
}

/* Whether the frame register of a frame decides where an outer one is. */
static bool needs_fp(uint32_t rule, bool outer_needs)
{
    const enum cfi_kind kind = cfi_rule_kind(rule);
    const uint32_t bits = cfi_rule_bits(rule);
    return kind == CFI_FRAME || kind == CFI_AT_FRAME || processor_needs_frame(bits) ||
           (processor_keeps_frame(bits) && outer_needs);
}

void walk_keep(struct walk *walk, const struct walk_result *result, uint32_t generation, uintptr_t high)
{
    uint32_t count = result->kept;
    bool needs = count > 0 && (walk->frames[count - 1].rule & WALK_NEEDS_FP) != 0;
    walk->kept = 0; /* while it is changed; see atomic_signal_fence */
    atomic_signal_fence(memory_order_seq_cst);
    if (walk->generation != generation)
        for (uint32_t i = 0; i < WALK_TAILS; i++)
            walk->tails[i].count = 0;
    for (uint32_t i = result->fresh; i-- > 0;) {
        struct walk_frame frame = *walk_fresh(walk, i);
        needs = count > 0 && needs_fp(frame.rule, needs);
        frame.rule |= needs ? WALK_NEEDS_FP : 0;
        walk->frames[count++] = frame;
    }
    walk->high = high;
    walk->generation = generation;
    atomic_signal_fence(memory_order_seq_cst);
    walk->kept = count;
    if (count > 0)
        keep_tail(walk, result->fresh);
}
