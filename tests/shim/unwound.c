/* unwound.c - a preload that walks the stack at every allocation twice: as the recorder does, keeping the last walk (shim/sites),
 * and by libunwind, which knows nothing of it. When the program ends it appends a line to the file $UNWOUND: stacks compared,
 * equal ones, cut ones, different ones, those that were seen before; and the first different stack with both. */
#define UNW_LOCAL_ONLY
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <libunwind.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "shim/sites/nodes.h"
#include "shim/sites/walk.h"

#define FRAMES_MOST 600
#define OWN         3    /* compare, look, and the hook */
#define SEEN_MOST   128u /* so few that they begin anew while programs run */
#define INDEX_BITS  8u
#define MAIN_MOST   (UINT64_C(128) << 20)

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *address, size_t size);
int dlclose(void *handle);

static struct modules modules;
static struct nodes nodes;
static uintptr_t main_stack;
static _Atomic int ready;
static _Atomic uint64_t compared, equal, cut, different, again;
static char example[16384];
static __thread struct {
    struct walk *walk;
    uintptr_t low, high;
    int inside;
} mine __attribute__((tls_model("initial-exec")));

static struct walk_region region_of(uint64_t sp)
{
    if (main_stack - sp < MAIN_MOST)
        return (struct walk_region){main_stack, true};
    if (sp - mine.low < mine.high - mine.low)
        return (struct walk_region){mine.high, true};
    return (struct walk_region){(sp | 4095) + 1, false};
}

static bool is_readable(uint64_t place)
{
    return syscall(SYS_rt_sigprocmask, 0x7fffffff, place, NULL, 8) != 0 && errno == EINVAL;
}

static bool copy(uint64_t address, uint8_t *ret_bytes, uint32_t count)
{
    const struct iovec to = {ret_bytes, count}, from = {(void *)(uintptr_t)address, count};
    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)count;
}

static const struct walk_stacks stacks = {region_of, is_readable};

static void prepare(void)
{
    modules_find find;
    *(void **)&find = dlsym(RTLD_DEFAULT, "_dl_find_object");
    main_stack = (uintptr_t) * (void **)dlsym(RTLD_DEFAULT, "__libc_stack_end") & ~(uintptr_t)7;
    modules_begin(&modules, find, (const void *)(uintptr_t)prepare);
    modules.copy = copy;
    unw_set_caching_policy(unw_local_addr_space, UNW_CACHE_NONE); /* modules come and go */
    ready = 1;
}

static void tell(const struct walk_result *result, void **truth, int count)
{
    size_t used = 0;
    if (different++ > 0)
        return;
    used += (size_t)snprintf(example + used, sizeof example - used, "kept %u fresh %u cut %d\n", result->kept,
                             result->fresh, result->cut);
    for (uint32_t i = 0; i < result->fresh + result->kept || (int)i < count; i++) {
        const uint64_t ours = i < result->fresh ? walk_fresh(mine.walk, i)->address
                              : i - result->fresh < result->kept
                                  ? mine.walk->frames[result->kept - 1 - (i - result->fresh)].address
                                  : 0;
        if (used < sizeof example - 64)
            used += (size_t)snprintf(example + used, sizeof example - used, "%2u %12lx %12lx\n", i,
                                     (unsigned long)ours, (int)i < count ? (unsigned long)truth[i] : 0ul);
    }
}

/* An instruction that a signal interrupted is told with CODE_STEP added, so that what stands before it is what ran. */
static bool is_same(uint64_t address, const void *truth)
{
    const uint64_t behind = address - (uintptr_t)truth; /* 1: libunwind tells of the call on aarch64 */
    return behind <= 1 || behind == CODE_STEP;
}

/* As the recorder does, so that stacks that come again are taken for what they were. */
static void keep(const struct walk_result *result, const struct walk_start *start, uint32_t generation,
                 uintptr_t high)
{
    uint32_t node = result->kept > 0 ? mine.walk->frames[result->kept - 1].node : 0;
    bool made;
    for (uint32_t i = result->fresh; i-- > 0;) {
        struct walk_frame *frame = walk_fresh(mine.walk, i);
        const uint32_t path = nodes_path(nodes.items[node].path, frame->address);
        frame->node = node = nodes_take(&nodes, frame->address, node, path, &mine.walk->spare, &made);
    }
    walk_keep(mine.walk, result, start, node, generation, high);
}

/* The frames of one that is known, from its nodes: the walk may not have come to them. */
static struct walk_result recall(uint32_t node)
{
    struct walk_result result = {0};
    for (; node != 0 && result.fresh < WALK_MOST; node = nodes.items[node].parent)
        walk_fresh(mine.walk, result.fresh++)->address = nodes.items[node].key;
    if (mine.walk->kept > WALK_MOST - result.fresh)
        mine.walk->kept = WALK_MOST - result.fresh;
    return result;
}

/* Both begin in here; the walk passes over the hooks' frames. */
static __attribute__((noinline)) void compare(void)
{
    void *truth[FRAMES_MOST];
    struct walk_start start;
    processor_here(&start.address, &start.sp, &start.fp);
    const struct walk_region region = region_of(start.sp);
    const uint32_t generation = modules.generation;
    const uint32_t seen = region.known ? walk_seen(mine.walk, start.sp, start.fp, region.high, 0) : 0;
    start.way = 0;
    struct walk_result result = seen != 0 ? recall(seen) : walk_take(mine.walk, &start, &region);
    const int count = unw_backtrace(truth, FRAMES_MOST);
    bool same = (uint32_t)count - OWN == result.kept + result.fresh;
    compared++;
    if (result.cut != FP_CUT_NONE) {
        cut++;
        if (result.fresh > (uint32_t)count - OWN)
            tell(&result, truth + OWN, count - OWN);
        for (uint32_t i = 0; i < result.fresh && (int)i + OWN < count; i++)
            if (!is_same(walk_fresh(mine.walk, i)->address, truth[i + OWN])) {
                tell(&result, truth + OWN, count - OWN);
                break;
            }
        return;
    }
    for (uint32_t i = 0; same && i < result.fresh + result.kept; i++)
        same = is_same(i < result.fresh ? walk_fresh(mine.walk, i)->address
                                        : mine.walk->frames[result.kept - 1 - (i - result.fresh)].address,
                       truth[i + OWN]);
    if (same)
        equal++;
    else
        tell(&result, truth + OWN, count - OWN);
    again += seen != 0;
    if (seen == 0 && !result.passing)
        keep(&result, &start, generation, region.high);
}

static __attribute__((noinline)) void begin(void)
{
    pthread_attr_t attributes;
    void *low;
    size_t bytes;
    if (!ready)
        prepare();
    if (mine.walk != NULL)
        return;
    mine.walk = mmap(NULL, sizeof *mine.walk, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mine.walk->seen.items = mmap(NULL, SEEN_MOST * sizeof *mine.walk->seen.items, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mine.walk->seen.most = SEEN_MOST;
    mine.walk->seen.index = mmap(NULL, sizeof(uint16_t) << INDEX_BITS, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mine.walk->seen.index_bits = INDEX_BITS;
    walk_begin(mine.walk, &modules, &stacks);
    if (main_stack - (uintptr_t)__builtin_frame_address(0) >= MAIN_MOST &&
        pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &low, &bytes);
        mine.low = (uintptr_t)low;
        mine.high = (uintptr_t)low + bytes;
        pthread_attr_destroy(&attributes);
    }
}

/* Without a frame pointer, as the recorder's functions: its way to the program is one that is known. */
static __attribute__((noinline)) void look(void)
{
    if (mine.inside)
        return;
    mine.inside = 1;
    begin();
    compare();
    __asm__ volatile(""); /* no jump: this frame has to be there */
    mine.inside = 0;
}

void *malloc(size_t size)
{
    look();
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    look();
    return __libc_calloc(count, size);
}

void *realloc(void *address, size_t size)
{
    look();
    return __libc_realloc(address, size);
}

int dlclose(void *handle)
{
    int (*next)(void *);
    *(void **)&next = dlsym(RTLD_NEXT, "dlclose");
    const int result = next(handle);
    (void)modules_check(&modules, true);
    return result;
}

__attribute__((destructor)) static void say(void)
{
    const char *path = getenv("UNWOUND");
    char line[512];
    mine.inside = 1;
    const int fd = path != NULL ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
    if (fd < 0)
        return;
    const int bytes = snprintf(line, sizeof line, "%s %lu %lu %lu %lu %lu\n", program_invocation_short_name,
                               (unsigned long)compared, (unsigned long)equal, (unsigned long)cut,
                               (unsigned long)different, (unsigned long)again);
    (void)!write(fd, line, (size_t)bytes);
    (void)!write(fd, example, strlen(example));
    close(fd);
}
