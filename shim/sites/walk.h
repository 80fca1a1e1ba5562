/* walk.h - the frames of the calling thread's stack, walked only as far as they changed since the last time.
 *
 *   frame    a return address, the place on the stack where it stands (its slot), sp and the frame register (fp, cfi.h) as the
 *            function there has them
 *   region   the stack that sp is in: up to `high` all of it is mapped as long as this thread runs. Of a stack whose bounds are
 *            not known, a coroutine's or a signal's, it is what is left of sp's page; for each page more that a frame leads to
 *            the kernel is asked whether it can be read, in each walk: nothing that was once mapped is believed to be so still
 *   kept     the frames of the last walk, outermost first. Of those whose slots lie at or above sp, as many are believed as
 *            have their words unchanged from the outermost on; a new walk goes by rules until it comes to one of them
 *   check    a word of the stack that a kept frame was found by: all of them stand in one list, so that they are compared at once
 *
 * What makes that exact: the caller of a frame follows from its address, its sp and its fp by a rule and by words of the
 * stack above it. The rule does not change within a generation (modules.h), address, slot and sp are compared, fp is where an
 * outer frame depends on it, and so are the words by which it is restored there.
 *
 *   own      frames of the recorder's library on top of the stack are passed over; its own rules never change
 *   seen     most stacks were seen before: then they are compared and not walked (below)
 *
 *   entry    where a function's return address is behind no call, its stack was made by hand and begins with it
 *
 * Laws: nothing is read but [sp, high) of the region that sp is in now, and of the one that a signal interrupted, aligned words
 * only; each frame lies above the one before. No lock, no allocation; no system call on a stack whose bounds are known. Where a frame is not certain the stack is cut there (fp_sites.h). */
#ifndef MALLAB_SHIM_SITES_WALK_H
#define MALLAB_SHIM_SITES_WALK_H

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

#include "footprint/fp/fp_sites.h"
#include "shim/sites/modules.h"

/* ---- stacks that a thread has had, each whole: the words of the stack by which it was found.
 *
 * A stack follows from where it is walked from and the words that its rules lead to (walk.h). Where sp and all of those words are as
 * they were it is the same one, and nothing is walked, looked up or stored.
 *
 *   piece   SEEN_WORDS words and their places. A stack is the piece of its innermost frames, with its site, and a list of outer
 *           ones, each full. Stacks that have their outer frames in common share those pieces, so that most are in a cache
 *   next    of an innermost piece: which stack came after this one the last time. It is compared first, and asked for while the
 *           program runs
 *   index   pieces by hash: a stack by the one before, sp and what it returns to; a stack by its site; an outer piece by its words.
 *           0: none
 *
 * When all places are taken it begins anew. A jump out of here leaves no piece that is found and not whole. */

#define SEEN_REGION_MOST (UINT64_C(32) << 30) /* bytes, as places are told */
#define SEEN_WORDS                                                                                           \
    8u /* words that are compared at once: the last one is repeated to fill an innermost piece */

struct seen {
    alignas(128) uint64_t sp; /* of the innermost frame; of an outer piece 0 */
    uint64_t fp, fp_mask;     /* fp_mask 0: its fp may be any */
    uint32_t site;
    uint16_t outer, next;        /* 0: none */
    uint32_t places[SEEN_WORDS]; /* in words below the region's end */
    uint64_t words[SEEN_WORDS];
};

_Static_assert(sizeof(struct seen) == 128, "two lines");

struct seen_table {
    struct seen *items; /* the first is no stack's */
    uint16_t *index;    /* 2^index_bits */
    uint32_t index_bits, most;
    uint32_t count; /* of items */
    uint32_t last;  /* the stack of the allocation before; 0: it is not here */
    uint32_t generation;
    uintptr_t
        high; /* of the region; of another one, or another generation, nothing is believed. 0: nothing at all */
};

static inline uint16_t *seen_index(const struct seen_table *table, uint64_t a, uint64_t b, uint64_t c)
{
    const uint64_t mixed = (a * UINT64_C(0x9e3779b97f4a7c15)) ^ (b * UINT64_C(0xc2b2ae3d27d4eb4f)) ^
                           (c * UINT64_C(0x165667b19e3779f9));
    return &table->index[(mixed * UINT64_C(0xd6e8feb86659fd93)) >> (64 - table->index_bits)];
}

/* The place of the guess which stack it is. */
static inline uint16_t *seen_guess(const struct seen_table *table, uint64_t sp, uint64_t address)
{
    return seen_index(table, table->last, sp, address);
}

/* seen_is - whether the stack is this one.
 * sp, fp   of the program's innermost frame, sp in the table's region. */
static inline bool seen_is(const struct seen_table *table, const struct seen *seen, uint64_t sp, uint64_t fp)
{
    if (((seen->sp ^ sp) | ((seen->fp ^ fp) & seen->fp_mask)) != 0)
        return false;
    uint64_t differ = 0;
    for (;; seen = &table->items[seen->outer]) {
        for (uint32_t i = 0; i < SEEN_WORDS; i++)
            differ |= ((const uint64_t *)table->high)[-(int64_t)seen->places[i]] ^ seen->words[i];
        if (seen->outer == 0)
            return differ == 0;
    }
}

/* seen_follow - this is the stack now; the one that probably comes next is asked for. */
static inline void seen_follow(struct seen_table *table, uint32_t item)
{
    struct seen *before = &table->items[table->last];
    if (before->next != item)
        before->next = (uint16_t)item;
    table->last = item;
    const struct seen *next = &table->items[table->items[item].next];
    __builtin_prefetch(next);
    __builtin_prefetch(next->words);
}

/* seen_find - the site of the stack, if it is here; else 0.
 * sp, fp   of the program's innermost frame, sp in the table's region.
 * slot     where its address is, as the recorder returns to it. */
static inline uint32_t seen_find(struct seen_table *table, uint64_t sp, uint64_t fp, uint64_t slot)
{
    uint32_t item = table->items[table->last].next;
    if (!seen_is(table, &table->items[item], sp, fp)) {
        item = *seen_guess(table, sp, *(const uint64_t *)(uintptr_t)slot);
        if (!seen_is(table, &table->items[item], sp, fp))
            return 0;
    }
    seen_follow(table, item);
    return table->items[item].site;
}

/* ---- the walk ---------------------------------------------------------------------------------------- */

#define WALK_MOST   512u                 /* frames of a stack */
#define WALK_DEEP   64u                  /* innermost frames that are told of one that has more */
#define WALK_CHECKS (3u * WALK_MOST / 2) /* of the kept frames; those that have no room are not kept */

#define WALK_NEEDS_FP (1u << 31) /* of a kept frame: some outer frame is found by the fp of this one */

#define WALK_OWN_MOST 6u
#define WALK_WAYS     24u

/* A way through the recorder's own frames to the program's: where its return addresses stand above sp, which never changes, so that they
 * are compared and not walked. */
struct walk_way {
    uint32_t count; /* 0: none */
    uint32_t bytes; /* from sp to the return address into the program */
    uint32_t sp;    /* from sp to that of the program */
    uint32_t fp;    /* from sp to where fp is saved; 0: it is not */
    uint32_t places[WALK_OWN_MOST];
    uint64_t addresses[WALK_OWN_MOST];
};

struct walk_check {
    uint64_t place, word;
};

struct walk_region {
    uintptr_t high;
    bool known; /* false: a page of sp's at most */
};

/* The known stacks of the calling thread. */
struct walk_stacks {
    struct walk_region (*region)(uint64_t sp);
    bool (*readable)(uint64_t place); /* whether a word can be read; false: nobody may ask, either */
};

struct walk {
    struct modules *modules;
    const struct walk_stacks *stacks;
    uintptr_t high;      /* of the region of the kept frames */
    uint32_t generation; /* likewise */
    uint32_t kept;
    uint32_t spare; /* nodes.h */
    struct seen_table seen;
    struct walk_way ways[WALK_WAYS];
    struct walk_check checks[WALK_CHECKS]; /* of the kept frames, outermost first */
    struct walk_frame frames[WALK_MOST];   /* likewise; fresh ones from the end on: walk_fresh */
};

/* walk_fresh - a fresh frame, the innermost first. */
static inline struct walk_frame *walk_fresh(struct walk *walk, uint32_t i)
{
    return &walk->frames[WALK_MOST - 1 - i];
}

/* The begin of a walk: an address within the calling function, and CODE_STEP, and the registers there. */
struct walk_start {
    uint64_t address, sp, fp;
    uint32_t way; /* which way through own frames is probable, below WALK_WAYS */
};

struct walk_result {
    uint32_t kept;   /* so many of walk->frames are outer frames of this stack, too */
    uint32_t fresh;  /* and so many are inner ones: walk_fresh */
    enum fp_cut cut; /* of the outermost of them; with kept frames FP_CUT_NONE */
    bool passing;    /* the fresh ones are not to be kept: a signal's frame is among them, or they were cut */
    bool fresh_module; /* modules_untold has some */
};

/* walk_begin - in zeroed memory, or for another thread. Both are borrowed. */
static inline void walk_begin(struct walk *walk, struct modules *modules, const struct walk_stacks *stacks)
{
    walk->modules = modules;
    walk->stacks = stacks;
    walk->kept = 0;
    walk->seen.high = 0;
}

/* walk_is_way - whether the recorder's frames on top of the stack are those. */
static inline bool walk_is_way(const struct walk_way *way, uint64_t sp, uintptr_t high)
{
    bool same = way->count > 0 && way->bytes + (uint64_t)8 <= high - sp;
    for (uint32_t i = 0; same && i < way->count; i++)
        same = processor_code(*(const uint64_t *)(uintptr_t)(sp + way->places[i])) == way->addresses[i];
    return same;
}

/* walk_way_fp - the frame register as the program's innermost function has it. */
static inline uint64_t walk_way_fp(const struct walk_way *way, uint64_t sp, uint64_t fp)
{
    return way->fp != 0 ? *(const uint64_t *)(uintptr_t)(sp + way->fp) : fp;
}

/* walk_seen - the site of the stack where it was seen before; its frames then need not be the kept ones. Else 0.
 * sp, fp, way  as of walk_start; the address is the same function's as whenever the way was found.
 * high     of a region that is known. */
static inline uint32_t walk_seen(struct walk *walk, uint64_t sp, uint64_t fp, uintptr_t high, uint32_t way_at)
{
    const struct walk_way *way = &walk->ways[way_at];
    const uint32_t generation = atomic_load_explicit(&walk->modules->generation, memory_order_acquire);
    if ((walk->seen.high ^ high) | (walk->seen.generation ^ generation) || !walk_is_way(way, sp, high))
        return 0;
    return seen_find(&walk->seen, sp + way->sp, walk_way_fp(way, sp, fp), sp + way->bytes);
}

/* walk_take - the stack now, whichever it is. */
struct walk_result walk_take(struct walk *walk, const struct walk_start *start,
                             const struct walk_region *region);

/* walk_keep - the fresh frames of a walk, whose `node` the caller has filled in, join the kept ones; the whole is seen from now on.
 * start    as walk_take had it. */
void walk_keep(struct walk *walk, const struct walk_result *result, const struct walk_start *start,
               uint32_t site, uint32_t generation, uintptr_t high);

/* walk_is_own - whether an address lies in the recorder's own library. */
static inline bool walk_is_own(const struct modules *modules, uint64_t address)
{
    return address - modules->own_start < modules->own_end - modules->own_start;
}

/* The kernel tells where the calling thread's stack is: pthread_getattr_np would know, but takes a lock of the thread's that the
 * program may hold, which allocates while it holds it itself. System calls only, no lock, no allocation.
 *
 * stack_bounds_of - the mapping that an address lies in, by PROCMAP_QUERY (Linux 6.11), else as /proc/self/maps lists it.
 * stack_bounds_listed - the same by /proc/self/maps alone.
 * Both return false where the kernel does not tell. */
bool stack_bounds_of(uintptr_t address, uintptr_t *ret_low, uintptr_t *ret_high);
bool stack_bounds_listed(uintptr_t address, uintptr_t *ret_low, uintptr_t *ret_high);

#endif
