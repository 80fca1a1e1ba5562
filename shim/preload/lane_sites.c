/* lane_sites.c - stacks of the calling thread: where its stack is, whose frames are new, what is told of them.
 *
 * Laws of this file: those of lane_sites.h. */
#include "shim/preload/lane_sites.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "shim/preload/confine.h"
#include "shim/preload/lane_record.h"
#include "shim/preload/turn.h"
#include "shim/shared/raw.h"
#include "shim/sites/stack_bounds.h"

#define PAGE_BYTES 4096u
#define MAIN_STACK_MOST                                                                                      \
    (UINT64_C(128) << 20) /* the kernel maps nothing else so near below it (its mmap_base) */

/* Of the first lane: compilers have thousands of stacks, and one thread. */
#define FIRST_NODES_BITS   15u
#define FIRST_GUESSES_BITS 16u
#define FIRST_SEEN_BITS    10u

/* 27 MiB, of which come into use what the program's stacks need. */
struct sites_process {
    struct modules modules;
    struct nodes nodes;
    struct lane_node first_nodes[1u << FIRST_NODES_BITS];
    uint32_t first_guesses[1u << FIRST_GUESSES_BITS];
    struct seen first_seen[1u << FIRST_SEEN_BITS];
};

/* Ordinary memory: a child inherits what holds for it, too. */
static modules_find find_object;
static uintptr_t main_stack; /* above all frames of the program's first thread; 0: not known */
static bool looked;

/* Of this thread, and of the child that it forks. Empty: not known, or the first thread's. */
static __thread struct {
    uintptr_t low, high;
} thread_stack __attribute__((tls_model("initial-exec")));

/* ---- once per process and thread ------------------------------------------------------------------------ */

static void look(void)
{
    if (looked)
        return;
    looked = true;
    *(void **)&find_object = dlsym(RTLD_DEFAULT, "_dl_find_object");
    void *const *end = dlsym(RTLD_DEFAULT, "__libc_stack_end");
    main_stack = end != NULL ? (uintptr_t)*end & ~(uintptr_t)7 : 0;
    (void)dlerror(); /* the program must not find our failed look-ups */
}

void sites_begin(void)
{
    shim_process->sites = NULL;
    if (!PROCESSOR_IS_KNOWN || !(shim_segment.fixed.flags & SEG_FLAG_SITES) || !confine_may_call())
        return;
    look();
    struct sites_process *sites = find_object != NULL ? raw_map_wiped(sizeof *sites) : NULL;
    confine_called();
    if (sites == NULL)
        return;
    modules_begin(&sites->modules, find_object, (const void *)(uintptr_t)sites_begin);
    shim_process->sites = sites;
}

void sites_forget(void)
{
    if (shim_process->sites != NULL)
        raw_munmap(shim_process->sites, sizeof *shim_process->sites);
    shim_process->sites = NULL;
}

/* Bounds of a thread's stack never change. Its own record (pthread_self) lies above all frames, on a stack of the program's
 * making, too; where a raw clone made the thread it is another's. */
static void find_stack(void)
{
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0), self = (uintptr_t)pthread_self();
    uintptr_t low, high;
    if (main_stack - here < MAIN_STACK_MOST || thread_stack.high != 0 ||
        !stack_bounds_of(here, &low, &high) || self <= here || self > high)
        return;
    thread_stack.high = self & ~(uintptr_t)7;
    thread_stack.low = low;
}

void lane_sites_begin(struct lane *lane)
{
    lane->sample = (struct sample){0};
    lane->large_mask = LANE_LARGE;
    if (shim_segment.fixed.flags & SEG_FLAG_SITES && shim_segment.fixed.sites_bytes != 0) {
        lane->sample = sample_begin(shim_segment.fixed.sites_bytes,
                                    lane_clock() ^ (uint64_t)lane->thread_id << 40 ^ (uintptr_t)lane << 16);
        lane->large_mask = ~UINT64_C(0) << lane->sample.large_bits;
    }
    if (shim_process->sites == NULL)
        return;
    if (confine_may_call()) {
        find_stack();
        if (lane->sites == NULL)
            lane->sites = raw_map_wiped(sizeof *lane->sites);
        confine_called();
    }
    if (lane->sites == NULL)
        return; /* its allocations have no site */
    struct lane_sites *own = lane->sites;
    own->process = shim_process->sites;
    own->nodes = lane->number == 0 ? own->process->first_nodes : own->own_nodes;
    own->node_bits = lane->number == 0 ? FIRST_NODES_BITS : LANE_NODES_BITS;
    own->guesses = lane->number == 0 ? own->process->first_guesses : own->own_guesses;
    own->guess_bits = lane->number == 0 ? FIRST_GUESSES_BITS : LANE_GUESSES_BITS;
    own->walk.seen = lane->number == 0 ? own->process->first_seen : own->own_seen;
    own->walk.seen_bits = lane->number == 0 ? FIRST_SEEN_BITS : LANE_SEEN_BITS;
    walk_begin(&own->walk, &own->process->modules, &own->process->nodes);
    fp_site_begin(&own->predictor);
}

void sites_check(bool thorough)
{
    struct sites_process *sites = shim_process != NULL ? shim_process->sites : NULL;
    if (sites != NULL && modules_check(&sites->modules, thorough))
        nodes_forget_rules(&sites->nodes);
}

/* ---- what is told ------------------------------------------------------------------------------------------ */

static void tell_module(struct lane *lane, const struct modules *modules, const struct module *module)
{
    uint8_t text[FP_RECORD_MODULE_BYTES_MAX + FP_RECORD_PIECE_BYTES];
    const uint32_t bytes = modules_text(modules, module, text);
    for (uint32_t at = 0; at < bytes; at += FP_RECORD_PIECE_BYTES) {
        uint64_t words[2];
        memcpy(words, text + at, sizeof words);
        lane_put(lane, FP_RECORD_MODULE, fp_record_piece(at / FP_RECORD_PIECE_BYTES, bytes), words[0],
                 words[1]);
    }
}

/* The number of a frame under its caller's, from the process' table; told where it is new. */
static __attribute__((noinline)) uint32_t take_node(struct lane *lane, struct lane_node *known, uint64_t key,
                                                    uint32_t parent)
{
    struct lane_sites *own = lane->sites;
    bool made;
    const uint32_t node = nodes_take(&own->process->nodes, key, parent, &own->walk.spare, &made);
    if (node != FP_CUT_FULL) {
        known->key = 0; /* a jump out of here leaves none */
        atomic_signal_fence(memory_order_seq_cst);
        known->parent = parent;
        known->node = node;
        atomic_signal_fence(memory_order_seq_cst);
        known->key = key;
    }
    if (made) {
        const uint64_t address = key & ((UINT64_C(1) << FP_ADDRESS_BITS) - 1);
        const uint64_t word = fp_record_node(node, parent, (uint16_t)(key >> FP_ADDRESS_BITS));
        lane_put(lane, FP_RECORD_NODE, (uintptr_t)address, word & 0xffffffff, word >> 32);
    }
    return node;
}

/* What walk_again goes by: only rules that are kept for addresses, too. As there, one of a former generation must not come back.
 * generation  when the walk began. */
static void keep_rule(struct modules *modules, struct node *node, const struct walk_frame *frame,
                      uint32_t generation)
{
    if (modules_rule_known(modules, frame->address) != frame->rule)
        return;
    atomic_store_explicit(&node->rule, frame->rule, memory_order_seq_cst);
    if (atomic_load_explicit(&modules->generation, memory_order_seq_cst) != generation)
        atomic_store_explicit(&node->rule, 0, memory_order_relaxed);
}

/* A frame joins its caller. Frames of our own are no part of the program's stack: neither the hooks on top, nor an operator's within
 * it.
 * path   of all addresses so far: where the lane has its node does not depend on the one before, so that a processor looks for several
 *        at a time. */
static inline uint32_t join(struct lane *lane, const struct walk_frame *frame, uint32_t parent,
                            uint32_t generation, uint64_t *path)
{
    struct lane_sites *own = lane->sites;
    struct sites_process *sites = own->process;
    uint64_t key = frame->address;
    if (walk_is_own(&sites->modules, frame->address))
        return parent;
    if (unlikely(atomic_load_explicit(&sites->modules.epochs, memory_order_relaxed) != 0))
        key |= (uint64_t)modules_epoch(&sites->modules, frame->address) << FP_ADDRESS_BITS;
    *path = (*path ^ frame->address) * UINT64_C(0x9e3779b97f4a7c15);
    struct lane_node *known = &own->nodes[*path >> (64 - own->node_bits)];
    const bool same = likely(known->key == key && known->parent == parent);
    const uint32_t site = same ? known->node : take_node(lane, known, key, parent);
    struct node *node = &sites->nodes.items[site];
    if (unlikely(atomic_load_explicit(&node->rule, memory_order_relaxed) == 0) && site >= FP_SITE_FIRST)
        keep_rule(&sites->modules, node, frame, generation);
    return site;
}

/* A stack that is too deep: its innermost frames. */
static uint32_t take_deep(struct lane *lane, uint32_t generation)
{
    uint32_t site = FP_CUT_DEEP;
    uint64_t path = site;
    for (uint32_t i = WALK_DEEP; i-- > 0 && site != FP_CUT_FULL;)
        site = join(lane, walk_fresh(&lane->sites->walk, i), site, generation, &path);
    return site;
}

/* The site of a walk whose nodes are not known. */
static __attribute__((noinline)) uint32_t site_of(struct lane *lane, struct sites_process *sites,
                                                  const struct walk_result *result,
                                                  const struct walk_region *region, uint32_t generation)
{
    struct walk *walk = &lane->sites->walk;
    if (unlikely(result->fresh_module))
        for (const struct module *module; (module = modules_untold(&sites->modules)) != NULL;)
            tell_module(lane, &sites->modules, module);
    if (result->cut == FP_CUT_DEEP)
        return take_deep(lane, generation);
    uint32_t site = result->kept > 0 ? walk->frames[result->kept - 1].node : (uint32_t)result->cut;
    uint64_t path = site;
    for (uint32_t i = result->fresh; i-- > 0;) {
        struct walk_frame *frame = walk_fresh(walk, i);
        site = join(lane, frame, site, generation, &path);
        if (site == FP_CUT_FULL)
            return site;
        frame->node = site;
    }
    if (!result->passing)
        walk_keep(walk, result, generation, region->high);
    return site;
}

/* ---- the walk --------------------------------------------------------------------------------------- */

static struct walk_region region_of(uint64_t sp)
{
    if (likely(main_stack - sp < MAIN_STACK_MOST))
        return (struct walk_region){main_stack, true};
    if (likely(sp - thread_stack.low < thread_stack.high - thread_stack.low))
        return (struct walk_region){thread_stack.high, true};
    return (struct walk_region){(sp | (PAGE_BYTES - 1)) + 1, false};
}

/* A stack that is not the one that was guessed. */
static __attribute__((noinline)) uint32_t walk_anew(struct lane *lane, const struct walk_start *start)
{
    struct sites_process *sites = lane->sites->process;
    const struct walk_region region = region_of(start->sp);
    const uint32_t generation = atomic_load_explicit(&sites->modules.generation, memory_order_acquire);
    const struct walk_result result = walk_take(&lane->sites->walk, start, &region);
    const uint32_t site = site_of(lane, sites, &result, &region, generation);
    return likely(site != 0) ? site : FP_CUT_BROKEN;
}

/* The place of the guess which site an allocation has. The predictor's own would do, but it begins anew with each chunk. */
static inline uint32_t *guess_site(struct lane_sites *own, uint64_t sp, uint64_t size)
{
    const uint64_t mixed = (own->predictor.last * UINT64_C(0x9e3779b97f4a7c15)) ^
                           (sp * UINT64_C(0xc2b2ae3d27d4eb4f)) ^ (size * UINT64_C(0x165667b19e3779f9));
    return &own->guesses[(mixed * UINT64_C(0xd6e8feb86659fd93)) >> (64 - own->guess_bits)];
}

static inline __attribute__((always_inline)) uint32_t take_site(struct lane *lane, unsigned call,
                                                                uint64_t size)
{
    struct lane_sites *own = lane->sites;
    uint64_t address = 0, sp = 0, fp = 0;
    processor_here(&address, &sp, &fp);
    uint32_t *guess = guess_site(own, sp, size);
    __builtin_prefetch(&own->walk.items[*guess]);
    const struct walk_region region = region_of(sp);
    if (likely(region.known && (walk_seen(&own->walk, *guess, sp, fp, region.high, call) ||
                                walk_again(&own->walk, *guess, sp, fp, region.high, call))))
        return *guess;
    const struct walk_start start = {address, sp, fp, call};
    *guess = walk_anew(lane, &start);
    return *guess;
}

static bool is_sampled(struct lane *lane, unsigned call, uint64_t size, uint64_t extra)
{
    uint64_t bytes = size;
    if ((call == FP_CALL_CALLOC || call == FP_CALL_REALLOCARRAY) &&
        __builtin_mul_overflow(size, extra, &bytes))
        return false; /* it failed */
    return sample_takes(&lane->sample, (uintptr_t)lane->cursor, bytes);
}

/* Of a call that allocates. */
static __attribute__((noinline)) void put_allocation(struct lane *lane, unsigned call, uintptr_t address,
                                                     uint64_t size, uint64_t extra)
{
    if (unlikely(lane->sites == NULL)) {
        /* Without memory for walks a lane samples all the same: its share of the whole is known then. */
        lane_put_sited(lane, call, address, size, extra, FP_CUT_MEMORY);
        return;
    }
    struct fp_site_predictor *predictor = &lane->sites->predictor;
    _Static_assert(FP_CALL_NEW_ARRAY_ALIGNED_NOTHROW < WALK_WAYS, "each call has a way of its own");
    uint32_t *guess = fp_site_guess(predictor, size);
    const uint32_t site = take_site(lane, call, size);
    if (likely(*guess == site && lane_put_short(lane, call, address, size, extra)))
        fp_site_settle(predictor, guess, site);
    else
        lane_put_sited(lane, call, address, size, extra, site);
}

void lane_sites_put(struct lane *lane, unsigned call, uintptr_t address, uint64_t size, uint64_t extra)
{
    if (fp_call_has_site(call) && (lane->sample.mean == 0 || unlikely(is_sampled(lane, call, size, extra))))
        put_allocation(lane, call, address, size, extra);
    else if (!lane_put_short(lane, call, address, size, extra))
        lane_put(lane, call, address, size, extra);
}

/* ---- modules that go ------------------------------------------------------------------------------------------ */

SHIM_EXPORT int dlclose(void *handle);

/* What the loader itself closes is noticed with the next chunk. */
int dlclose(void *handle)
{
    static int (*_Atomic next)(void *);
    int (*call)(void *) = atomic_load_explicit(&next, memory_order_relaxed);
    if (unlikely(call == NULL)) {
        *(void **)&call = dlsym(RTLD_NEXT, "dlclose");
        if (call == NULL)
            return -1; /* a C library without what the program calls in it */
        atomic_store_explicit(&next, call, memory_order_relaxed);
    }
    const int result = call(handle);
    sites_check(true);
    return result;
}
