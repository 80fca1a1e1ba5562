/* walk.c - frames by rules, until one that is known.
 *
 * Laws: those of walk.h. */
#include "shim/sites/walk.h"

#include <stddef.h>

#define ADDRESS_LEAST 4096u
#define ENTRY_BYTES   16u /* by which the loader aligns the stack that a program begins with */
#define PAGE_BYTES    4096u
#define FRAME_MOST    (64u * PAGE_BYTES) /* on a stack whose bounds are not known */
#define cold_walk     __attribute__((noinline, cold))
#define hot_walk      static inline __attribute__((always_inline))

static inline uint64_t word_at(uint64_t place)
{
    return *(const uint64_t *)(uintptr_t)place;
}

/* ---- kept frames ------------------------------------------------------------------------------------------ */

/* The number of checks that a kept frame and those outside of it have. */
static inline uint32_t checks_of(const struct walk_frame *frame)
{
    return frame->rule & ~WALK_NEEDS_FP;
}

/* 0: it is as it was. */
hot_walk uint64_t differs(const struct walk_check *check)
{
    return word_at(check->place) ^ check->word;
}

/* Counts the kept frames, which are of this region and generation, that are unchanged. All words that a frame was
 * found by lie above its slot. */
static uint32_t unchanged(const struct walk *walk, uint64_t sp)
{
    uint32_t kept = walk->kept, i = 0;
    while (kept > 0 && walk->frames[kept - 1].slot < sp)
        kept--;
    if (kept == 0)
        return 0;
    const struct walk_check *checks = walk->checks;
    const uint32_t most = checks_of(&walk->frames[kept - 1]);
    while (i < most && differs(&checks[i]) == 0)
        i++;
    while (kept > 0 && checks_of(&walk->frames[kept - 1]) > i)
        kept--;
    return kept;
}

/* Tells whether a frame that was come to is one of the first *kept ones; those inside of it are dropped. */
hot_walk bool meets(const struct walk *walk, uint64_t slot, uint64_t sp, uint64_t fp, uint32_t *kept)
{
    while (*kept > 0 && walk->frames[*kept - 1].slot < slot)
        --*kept;
    if (*kept == 0 || walk->frames[*kept - 1].slot != slot)
        return false;
    const struct walk_frame *known = &walk->frames[*kept - 1];
    if ((!(known->rule & WALK_NEEDS_FP) || known->fp == fp) && walk_frame_has_sp(known, sp))
        return true;
    --*kept;
    return false;
}

/* ---- from frame to frame ---------------------------------------------------------------------------------- */

/* A fresh frame; `kept` of the kept ones are outer ones of it. */
hot_walk void add_fresh(struct walk *walk, uint32_t fresh, uint64_t slot, uint64_t sp, uint64_t address,
                        uint64_t fp, uint32_t *kept)
{
    const uint32_t place = WALK_MOST - 1 - fresh;
    if (__builtin_expect(walk->kept > place, 0))
        walk->kept = place; /* the stack has outer frames, but not those */
    if (__builtin_expect(*kept > place, 0))
        *kept = place;
    atomic_signal_fence(memory_order_seq_cst);
    walk->frames[place] = walk_frame_at(slot, sp, address, fp);
}

/* Tells whether the frame register of a frame decides where an outer one is. */
hot_walk bool needs_fp(uint32_t rule, bool outer_needs)
{
    const enum cfi_kind kind = cfi_rule_kind(rule);
    const uint32_t bits = cfi_rule_bits(rule);
    return kind == CFI_FRAME || kind == CFI_AT_FRAME || processor_needs_frame(bits) ||
           (processor_keeps_frame(bits) && outer_needs);
}

/* The fresh frames join the kept ones. */
static void keep(struct walk *walk, uint32_t kept, uint32_t fresh, uint32_t generation, uintptr_t high)
{
    uint32_t count = kept, checks = kept > 0 ? checks_of(&walk->frames[kept - 1]) : 0;
    walk->kept = kept; /* while others are changed; see atomic_signal_fence */
    atomic_signal_fence(memory_order_seq_cst);
    walk->high = high;
    walk->generation = generation;
    for (uint32_t i = fresh; i-- > 0;) {
        const struct walk_frame *from = walk_fresh(walk, i);
        const struct walk_frame *outer = &walk->frames[count > 0 ? count - 1 : 0];
        const uint64_t slot = from->slot, fp = from->fp;
        const uint32_t rule = from->rule, bits = cfi_rule_bits(rule), node = from->node;
        const bool outer_needs = count > 0 && (outer->rule & WALK_NEEDS_FP) != 0;
        const bool needs = count > 0 && needs_fp(rule, outer_needs);
        if (checks + 3 > WALK_CHECKS)
            break;
        walk->checks[checks++] = (struct walk_check){slot, word_at(slot)};
        if (count > 0 && cfi_rule_kind(rule) == CFI_AT_FRAME)
            walk->checks[checks++] = (struct walk_check){fp - processor_offset(bits), walk_frame_sp(outer)};
        if (outer_needs && !processor_keeps_frame(bits) && !processor_loses_frame(bits))
            walk->checks[checks++] = (struct walk_check){processor_frame_place(bits, outer->slot, fp),
                                                         outer->fp};
        struct walk_frame *to = &walk->frames[count++];
        *to = walk_frame_at(slot, walk_frame_sp(from), from->address, fp);
        to->rule = checks | (needs ? WALK_NEEDS_FP : 0);
        to->node = node;
    }
    atomic_signal_fence(memory_order_seq_cst);
    walk->kept = count;
}

/* ---- by rules of any kind -------------------------------------------------------------------------- */

struct stepping {
    uint64_t address, sp, fp;
    uintptr_t high;
    bool known;
    const struct walk_stacks *stacks;
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

static enum fp_cut outside(const struct stepping *at)
{
    return at->known ? FP_CUT_BROKEN : FP_CUT_STACK;
}

/* Tells whether a stack whose bounds are not known reaches so far: page by page, as the kernel says now. */
static cold_walk bool reach(struct stepping *at, uint64_t end)
{
    if (end < at->sp || end - at->sp > FRAME_MOST)
        return false;
    for (; at->high < end; at->high = (at->high | (PAGE_BYTES - 1)) + 1)
        if (!at->stacks->readable(at->high & ~(uint64_t)7))
            return false;
    return true;
}

/* A frame that leads out of what is known of its stack. */
static cold_walk enum fp_cut step_beyond(struct stepping *at, uint32_t rule, uint64_t *ret_slot)
{
    const uint32_t bits = cfi_rule_bits(rule);
    uint64_t cfa = (cfi_rule_kind(rule) == CFI_SP ? at->sp : at->fp) + processor_offset(bits), address;
    if (at->known)
        return FP_CUT_BROKEN;
    if (cfi_rule_kind(rule) == CFI_AT_FRAME) {
        const uint64_t place = at->fp - processor_offset(bits);
        if (!reach(at, place + 8) || !cfi_reads(0, place, at->sp, at->high, &cfa))
            return FP_CUT_STACK;
    }
    if ((processor_needs_frame(bits) && !reach(at, at->fp + 8)) || !reach(at, cfa) ||
        !cfi_step(rule, 0, at->high, &at->sp, &at->fp, ret_slot, &address))
        return FP_CUT_STACK;
    at->address = address;
    return is_code(address) ? FP_CUT_NONE : FP_CUT_BROKEN;
}

/* Steps from a function that was interrupted before it saved its return address, or never does. */
static cold_walk enum fp_cut step_linked(struct stepping *at, uint32_t rule, uint64_t *ret_slot)
{
    const uint64_t base = cfi_rule_kind(rule) == CFI_SP ? at->sp : at->fp;
    const uint64_t cfa = base + processor_offset(cfi_rule_bits(rule));
    if (at->link_slot == 0 || at->link_sp != at->sp || cfa < at->sp || cfa % 8 != 0 || cfa > at->high)
        return FP_CUT_BROKEN;
    const uint64_t address = processor_code(word_at(at->link_slot));
    if (!is_code(address))
        return FP_CUT_BROKEN;
    *ret_slot = at->link_slot;
    at->address = address;
    at->sp = cfa;
    at->link_slot = 0;
    return FP_CUT_NONE;
}

/* The next outer frame by a rule that has a CFA: its slot in ret_slot, and `at` becomes it. */
static inline enum fp_cut step(struct stepping *at, uint32_t rule, uint64_t *ret_slot)
{
    uint64_t sp = at->sp, fp = at->fp, address;
    if (processor_is_linked(cfi_rule_bits(rule)))
        return step_linked(at, rule, ret_slot);
    if (!cfi_step(rule, 0, at->high, &sp, &fp, ret_slot, &address))
        return step_beyond(at, rule, ret_slot);
    at->sp = sp;
    at->fp = fp;
    at->address = address;
    return is_code(address) ? FP_CUT_NONE : FP_CUT_BROKEN;
}

/* Steps to what a signal interrupted, on the same stack or, if the signal has one of its own, on the one that it interrupted: the thread's,
 * all of which can be read if sp can (it may have overflowed), or one whose bounds are not known. */
static cold_walk enum fp_cut step_signal(struct stepping *at, uint64_t *ret_slot)
{
    uint64_t code, sp, fp;
    if (!at->known && !reach(at, at->sp + CONTEXT_BYTES))
        return FP_CUT_STACK;
    if (at->high - at->sp < CONTEXT_BYTES || !cfi_reads(0, at->sp + CONTEXT_CODE, at->sp, at->high, &code) ||
        !cfi_reads(0, at->sp + CONTEXT_SP, at->sp, at->high, &sp) ||
        !cfi_reads(0, at->sp + CONTEXT_FRAME, at->sp, at->high, &fp))
        return outside(at);
    if (sp % 8 != 0 || !is_code(code + CODE_STEP))
        return FP_CUT_BROKEN;
    if (sp < at->sp + CONTEXT_BYTES || sp >= at->high) {
        const struct walk_region other = at->stacks->region(sp);
        if (!at->stacks->readable(sp))
            return FP_CUT_STACK;
        at->high = other.high;
        at->known = other.known;
    }
    *ret_slot = at->sp + CONTEXT_CODE;
    if (CONTEXT_LINK != 0)
        at->link_slot = at->sp + CONTEXT_LINK;
    at->link_sp = sp;
    at->address = code + CODE_STEP;
    at->sp = sp;
    at->fp = fp;
    return FP_CUT_NONE;
}

/* ---- the recorder's own frames -------------------------------------------------------------------------- */

/* Finds the way by rules, and remembers it where its frames are of fixed sizes. */
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
        if (!walk_is_own(modules, at->address))
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
    at->address = processor_code(word_at(*ret_slot));
    at->fp = walk_way_fp(way, at->sp, at->fp);
    at->sp += way->sp;
    return is_code(at->address) ? FP_CUT_NONE : FP_CUT_BROKEN;
}

/* Tells whether the call before an address may have led to code without unwind tables: one whose bytes name a function that has one did not,
 * so that the frame record that was followed is that function's. */
static cold_walk bool called_unknown(struct modules *modules, uint64_t address, bool *fresh_module)
{
    if (!modules_is_call(modules, address))
        return false;
    const uint64_t target = modules_target(modules, address) + CODE_STEP;
    return target == CODE_STEP || !is_code(target) ||
           cfi_rule_kind(modules_rule(modules, target, fresh_module)) == CFI_NONE;
}

/* The frames outside of `at` by rules of other kinds than the most frequent one. Returns why it ends there; FP_CUT_NONE with a slot of
 * 0 is the end of the stack.
 * guessed   the first fresh frame that is not proven yet; WALK_MOST: all are. */
static __attribute__((noinline)) enum fp_cut step_seldom(struct modules *modules, struct stepping *at,
                                                         uint32_t *rule, struct walk_result *result,
                                                         uint32_t *guessed, uint64_t *ret_slot)
{
    *ret_slot = 0;
    if (!at->known && cfi_rule_kind(*rule) <= CFI_AT_FRAME && at->link_sp != at->sp &&
        *guessed == WALK_MOST && modules_is_none(modules, at->address))
        return FP_CUT_NONE; /* an entry */
    *rule = modules_rule_plain(*rule);
    switch (cfi_rule_kind(*rule)) {
    case CFI_END:
        return FP_CUT_NONE;
    case CFI_SIGNAL:
        result->passing = true;
        return step_signal(at, ret_slot);
    case CFI_CODE:
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
        if (*guessed != WALK_MOST && (!called_unknown(modules, at->address, &result->fresh_module) ||
                                      (!RECORD_ENDS_AT_SP && cfi_rule_kind(*rule) == CFI_SP)))
            return FP_CUT_CFI; /* or its sp is not known, which it needs */
        *guessed = WALK_MOST;
        return step(at, *rule, ret_slot);
    }
}

/* ---- stacks that come again ------------------------------------------------------------------------------ */

/* A piece of these words, found or made: items[count] is filled with it, and becomes one if there is none like it. */
static uint32_t take_piece(struct seen_table *table, const struct seen *head, const struct walk_check *checks,
                           uint32_t count)
{
    const uint64_t but_next = (UINT64_C(1) << 48) - 1;
    struct seen *made = &table->items[table->count];
    *made = *head;
    for (uint32_t i = 0; i < SEEN_WORDS; i++) {
        const struct walk_check *check = &checks[i < count ? i : count - 1];
        made->places[i] = (uint32_t)((table->high - check->place) / sizeof check->word);
        made->words[i] = check->word;
    }
    const uint64_t *words = (const uint64_t *)made;
    uint64_t sum = 0, differ = 0;
    for (uint32_t i = 0; i < sizeof *made / sizeof *words; i++)
        sum = (sum ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
    uint16_t *place = seen_index(table, sum, sum >> 32, 0);
    const uint64_t *there = (const uint64_t *)&table->items[*place];
    for (uint32_t i = 0; i < sizeof *made / sizeof *words; i++)
        differ |= (words[i] ^ there[i]) &
                  (i == offsetof(struct seen, next) / sizeof *words ? but_next : UINT64_MAX);
    if (*place != 0 && differ == 0)
        return *place;
    atomic_signal_fence(memory_order_seq_cst);
    const uint32_t item = table->count++;
    atomic_signal_fence(memory_order_seq_cst);
    *place = (uint16_t)item;
    return item;
}

static void forget_seen(struct seen_table *table, uint32_t generation, uintptr_t high)
{
    table->high = 0;
    atomic_signal_fence(memory_order_seq_cst);
    for (uint32_t i = 0; i < 1u << table->index_bits; i++)
        table->index[i] = 0;
    table->items[0].next = 0;
    table->count = 1;
    table->last = 0;
    table->generation = generation;
    atomic_signal_fence(memory_order_seq_cst);
    table->high = high;
}

/* The stack, which is the kept frames and the way to them, is come to at once next time. */
static void see(struct walk *walk, const struct walk_start *start, uint32_t site)
{
    struct seen_table *table = &walk->seen;
    const struct walk_way *way = &walk->ways[start->way];
    const struct walk_frame *innermost = &walk->frames[walk->kept - 1];
    const struct walk_check *checks = walk->checks;
    uint32_t left = checks_of(innermost);
    if (!walk_is_way(way, start->sp, walk->high) || walk->high - start->sp > SEEN_REGION_MOST)
        return;
    if (table->high != walk->high || table->generation != walk->generation ||
        table->most - table->count <= left / SEEN_WORDS)
        forget_seen(table, walk->generation, walk->high);
    const uint64_t sp = start->sp + way->sp;
    uint16_t *guess = seen_guess(table, sp, word_at(start->sp + way->bytes));
    struct seen head = {0};
    for (; left > SEEN_WORDS; left -= SEEN_WORDS, checks += SEEN_WORDS)
        head.outer = (uint16_t)take_piece(table, &head, checks, SEEN_WORDS);
    head.sp = sp;
    head.site = site;
    if (innermost->rule & WALK_NEEDS_FP) {
        head.fp = walk_way_fp(way, start->sp, start->fp);
        head.fp_mask = UINT64_MAX;
    }
    *guess = (uint16_t)take_piece(table, &head, checks, left);
    seen_follow(table, *guess);
}

/* ---- the walk ---------------------------------------------------------------------------------------------- */

struct walk_result walk_take(struct walk *walk, const struct walk_start *start,
                             const struct walk_region *region)
{
    struct modules *modules = walk->modules;
    const uint32_t generation = atomic_load_explicit(&modules->generation, memory_order_acquire);
    struct stepping at = {.address = start->address,
                          .sp = start->sp,
                          .fp = start->fp,
                          .high = region->high,
                          .known = region->known,
                          .stacks = walk->stacks};
    struct walk_result result = {.passing = !region->known};
    enum fp_cut cut = FP_CUT_NONE;
    uint32_t guessed = WALK_MOST, kept = 0;
    uint64_t slot = 0;
    const bool own = walk_is_own(modules, at.address);
    if (own)
        cut = pass_own(&walk->ways[start->way], modules, &at, &result.fresh_module, &slot);
    if (region->known && walk->high == region->high && walk->generation == generation)
        kept = unchanged(walk, start->sp);
    if (own && cut == FP_CUT_NONE) {
        if (meets(walk, slot, at.sp, at.fp, &kept)) {
            result.kept = kept;
            return result;
        }
        add_fresh(walk, result.fresh++, slot, at.sp, at.address, at.fp, &kept);
    }
    while (cut == FP_CUT_NONE) {
        uint32_t rule = modules_rule(modules, at.address, &result.fresh_module);
        if (__builtin_expect(cfi_rule_kind(rule) == CFI_SP && guessed == WALK_MOST && at.known, 1))
            cut = step(&at, rule, &slot);
        else
            cut = step_seldom(modules, &at, &rule, &result, &guessed, &slot);
        if (result.fresh > 0)
            walk_fresh(walk, result.fresh - 1)->rule = rule;
        if (cut != FP_CUT_NONE || slot == 0) {
            kept = 0;
            break;
        }
        if (meets(walk, slot, at.sp, at.fp, &kept)) {
            result.kept = kept;
            return result;
        }
        if (result.fresh == WALK_MOST)
            cut = FP_CUT_DEEP;
        else
            add_fresh(walk, result.fresh++, slot, at.sp, at.address, at.fp, &kept);
    }
    if (cut == FP_CUT_BROKEN && !at.known && at.address == 0)
        cut = FP_CUT_NONE; /* who made the stack had nowhere to return to */
    if (guessed != WALK_MOST) {
        result.fresh = guessed;
        cut = FP_CUT_CFI;
    }
    result.cut = cut;
    result.passing = result.passing || cut != FP_CUT_NONE;
    return result;
}

void walk_keep(struct walk *walk, const struct walk_result *result, const struct walk_start *start,
               uint32_t site, uint32_t generation, uintptr_t high)
{
    keep(walk, result->kept, result->fresh, generation, high);
    if (walk->kept > 0 && walk->kept == result->kept + result->fresh)
        see(walk, start, site);
}
