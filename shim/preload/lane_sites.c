/* lane_sites.c - stacks of the calling thread: where its stack is, whose frames are new, what is told of them.
 *
 * Laws of this file: those of lane_chunk.h. */
#include "shim/preload/lane_chunk.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <sys/uio.h>

#include "shim/preload/confine.h"
#include "shim/preload/turn.h"

#define PAGE_BYTES 4096u
#define MAIN_STACK_MOST                                                                                      \
    (UINT64_C(128) << 20) /* the kernel maps nothing else so near below it (its mmap_base) */

/* The most entries of the first lane: compilers have thousands of stacks, and one thread. */
#define FIRST_SEEN_MOST  (1u << 15)
#define FIRST_INDEX_BITS 16u

/* 30 MiB, of which come into use what the program's stacks need. */
struct sites_process {
    struct modules modules;
    struct nodes nodes;
    uint16_t first_index[1u << FIRST_INDEX_BITS];
    struct seen first_seen[FIRST_SEEN_MOST];
};

/* Ordinary memory: a child inherits what holds for it, too. */
static modules_find find_object;
static uintptr_t main_stack; /* above all frames of the program's first thread; 0: not known */
static bool looked;

/* Tells whether the kernel tells what memory can be read, as sites_begin found; likewise. */
static bool tells_readable;

/* The stack of this thread, and of the child that it forks. Empty: not known, or the first thread's. */
static __thread struct {
    uintptr_t low, high;
} thread_stack __attribute__((tls_model("initial-exec")));

/* ---- what walks ask ----------------------------------------------------------------------------------------- */

static inline struct walk_region region_of(uint64_t sp)
{
    if (likely(main_stack - sp < MAIN_STACK_MOST))
        return (struct walk_region){main_stack, true};
    if (likely(sp - thread_stack.low < thread_stack.high - thread_stack.low))
        return (struct walk_region){thread_stack.high, true};
    return (struct walk_region){(sp | (PAGE_BYTES - 1)) + 1, false};
}

static struct walk_region find_region(uint64_t sp)
{
    return region_of(sp);
}

/* The kernel reads a set of signals before it finds that it is to do nothing with it. */
static bool is_readable(uint64_t place)
{
    enum { NOTHING = 0x7fffffff };
    if (!tells_readable || !confine_may_call())
        return false;
    const long result = raw_call(SYS_rt_sigprocmask, NOTHING, (long)place, 0, 8, 0, 0);
    confine_called();
    return result == -EINVAL;
}

static const struct walk_stacks stacks = {find_region, is_readable};

static bool copy_code(uint64_t address, uint8_t *ret_bytes, uint32_t count)
{
    static _Atomic bool is_refused; /* by a filter that says so, or an old kernel */
    const struct iovec to = {ret_bytes, count}, from = {(void *)(uintptr_t)address, count};
    if (get_relaxed(&is_refused) || !confine_may_call())
        return false;
    const long copied = raw_call(SYS_process_vm_readv, raw_getpid(), (long)&to, 1, (long)&from, 1, 0);
    confine_called();
    if (copied < 0 && copied != -EFAULT)
        put_relaxed(&is_refused, true);
    return copied == (long)count;
}

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
    shim_chosen.mean = shim_segment.fixed.flags & SEG_FLAG_SITES ? shim_segment.fixed.sites_bytes : 0;
    if (!PROCESSOR_IS_KNOWN || !(shim_segment.fixed.flags & SEG_FLAG_SITES) || !confine_may_call())
        return;
    look();
    struct sites_process *sites = find_object != NULL ? raw_map_wiped(sizeof *sites) : NULL;
    tells_readable = true; /* of memory that is not there it says otherwise; an emulator may not */
    tells_readable = is_readable((uintptr_t)&looked & ~(uintptr_t)7) && !is_readable(0);
    confine_called();
    if (sites == NULL)
        return;
    modules_begin(&sites->modules, find_object, (const void *)(uintptr_t)sites_begin);
    sites->modules.copy = copy_code;
    shim_process->sites = sites;
}

void sites_forget(void)
{
    chosen_forget();
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
    lane->random = lane_clock() ^ (uint64_t)lane->thread_id << 40 ^ (uintptr_t)lane << 16;
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
    own->walk.seen.items = lane->number == 0 ? own->process->first_seen : own->own_seen;
    own->walk.seen.most = lane->number == 0 ? FIRST_SEEN_MOST : LANE_SEEN_MOST;
    own->walk.seen.index = lane->number == 0 ? own->process->first_index : own->own_index;
    own->walk.seen.index_bits = lane->number == 0 ? FIRST_INDEX_BITS : LANE_INDEX_BITS;
    walk_begin(&own->walk, &own->process->modules, &stacks);
    fp_site_begin(&own->predictor);
}

void sites_check(bool thorough)
{
    struct sites_process *sites = shim_process != NULL ? shim_process->sites : NULL;
    if (sites != NULL && !modules_check(&sites->modules, thorough))
        (void)modules_check_code(&sites->modules);
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

/* The key by which a frame is found under its caller's: 0 where it is no part of the program's stack. Those are frames of our own, the
 * hooks on top and an operator's within it. */
static inline uint64_t key_of(const struct modules *modules, uint64_t address)
{
    if (walk_is_own(modules, address))
        return 0;
    if (likely(atomic_load_explicit(&modules->epochs, memory_order_relaxed) == 0))
        return address;
    return address | (uint64_t)modules_epoch(modules, address) << FP_ADDRESS_BITS;
}

/* The first frames of the fresh ones join the node of their caller.
 * count    so many; the outermost first. */
static uint32_t join(struct lane *lane, uint32_t count, uint32_t site)
{
    struct walk *walk = &lane->sites->walk;
    struct sites_process *sites = lane->sites->process;
    uint32_t path = sites->nodes.items[site].path;
    for (uint32_t i = count; i-- > 0;) {
        struct walk_frame *frame = walk_fresh(walk, i);
        const uint64_t key = key_of(&sites->modules, frame->address);
        path = key != 0 ? nodes_path(path, key) : path;
        frame->node = path; /* for the next loop */
        nodes_ask(&sites->nodes, path);
    }
    for (uint32_t i = count; i-- > 0 && site != FP_CUT_FULL;) {
        struct walk_frame *frame = walk_fresh(walk, i);
        const uint64_t key = key_of(&sites->modules, frame->address);
        bool made = false;
        const uint32_t parent = site;
        if (key != 0)
            site = nodes_take(&sites->nodes, key, parent, frame->node, &walk->spare, &made);
        if (unlikely(made)) {
            const uint64_t word = fp_record_node(site, parent, (uint16_t)(key >> FP_ADDRESS_BITS));
            lane_put(lane, FP_RECORD_NODE, (uintptr_t)(key & ((UINT64_C(1) << FP_ADDRESS_BITS) - 1)),
                     word & 0xffffffff, word >> 32);
        }
        frame->node = site;
    }
    return site;
}

/* The site of a walk whose nodes are not known. */
static __attribute__((noinline)) uint32_t site_of(struct lane *lane, struct sites_process *sites,
                                                  const struct walk_result *result,
                                                  const struct walk_start *start,
                                                  const struct walk_region *region, uint32_t generation)
{
    struct walk *walk = &lane->sites->walk;
    if (unlikely(result->fresh_module))
        for (const struct module *module; (module = modules_untold(&sites->modules)) != NULL;)
            tell_module(lane, &sites->modules, module);
    if (result->cut == FP_CUT_DEEP)
        return join(lane, WALK_DEEP, FP_CUT_DEEP); /* its innermost frames */
    const uint32_t outer = result->kept > 0 ? walk->frames[result->kept - 1].node : (uint32_t)result->cut;
    const uint32_t site = join(lane, result->fresh, outer);
    if (site == FP_CUT_FULL)
        return site;
    if (!result->passing)
        walk_keep(walk, result, start, site, generation, region->high);
    return site;
}

/* ---- the walk --------------------------------------------------------------------------------------- */

/* A stack that was not seen before. */
static __attribute__((noinline)) uint32_t walk_anew(struct lane *lane, const struct walk_start *start)
{
    struct sites_process *sites = lane->sites->process;
    const struct walk_region region = region_of(start->sp);
    const uint32_t generation = atomic_load_explicit(&sites->modules.generation, memory_order_acquire);
    const struct walk_result result = walk_take(&lane->sites->walk, start, &region);
    const uint32_t site = site_of(lane, sites, &result, start, &region, generation);
    return likely(site != 0) ? site : FP_CUT_BROKEN;
}

static inline __attribute__((always_inline)) uint32_t take_site(struct lane *lane, unsigned call)
{
    struct lane_sites *own = lane->sites;
    uint64_t address = 0, sp = 0, fp = 0;
    processor_here(&address, &sp, &fp);
    const struct walk_region region = region_of(sp);
    const uint32_t seen = likely(region.known) ? walk_seen(&own->walk, sp, fp, region.high, call) : 0;
    if (likely(seen != 0))
        return seen;
    const struct walk_start start = {address, sp, fp, call};
    return walk_anew(lane, &start);
}

/* Tells whether a point lies on an allocation's bytes; then the next one is drawn. */
static bool is_chosen(struct lane *lane, unsigned call, uint64_t size, uint64_t extra)
{
    uint64_t bytes = size;
    if ((call == FP_CALL_CALLOC || call == FP_CALL_REALLOCARRAY) &&
        __builtin_mul_overflow(size, extra, &bytes))
        return false; /* it failed */
    if (chosen_left == 0)
        chosen_left = sample_gap(&lane->random, shim_chosen.mean);
    if (chosen_passes(bytes))
        return false;
    chosen_left = sample_gap(&lane->random, shim_chosen.mean);
    return true;
}

void lane_sites_put(struct lane *lane, unsigned call, uintptr_t address, uint64_t size, uint64_t extra)
{
    _Static_assert(FP_CALL_NEW_ARRAY_ALIGNED_NOTHROW < WALK_WAYS, "each call has a way of its own");
    const bool has_site = fp_call_has_site(call), is_of_all = shim_chosen.mean == 0;
    const bool chosen = has_site && (is_of_all || is_chosen(lane, call, size, extra));
    if (!has_site) {
        lane_put(lane, call, address, size, extra);
        return;
    }
    if (!chosen && call != FP_CALL_REALLOC && call != FP_CALL_REALLOCARRAY)
        return; /* a thread's first one */
    if (!chosen_add(address)) {
        lane_lose(lane, call, FP_LOSS_RING_FULL);
        return;
    }
    const uint32_t site = !chosen               ? FP_CUT_UNSAMPLED
                          : lane->sites == NULL ? FP_CUT_MEMORY
                                                : take_site(lane, call);
    lane_put_sited(lane, call, address, size, extra, site);
}

/* ---- modules that go ------------------------------------------------------------------------------------------ */

SHIM_EXPORT int dlclose(void *handle);

static int (*next_dlclose)(void *);

/* Runs before main: by then nothing has been turned to us (slots.c). */
__attribute__((constructor)) static void find_dlclose(void)
{
    *(void **)&next_dlclose = dlsym(RTLD_NEXT, "dlclose");
}

/* A library that the loader itself closes is noticed with the next chunk. */
int dlclose(void *handle)
{
    if (unlikely(next_dlclose == NULL))
        find_dlclose(); /* for constructors that come before ours */
    if (next_dlclose == NULL)
        return -1; /* a C library without what the program calls in it */
    const int result = next_dlclose(handle);
    sites_check(true);
    return result;
}
