/* stack_witness.c - an independent witness of who holds what: live bytes and objects by call stack.
 *
 * Preloaded behind mallab's shim into the very process that is recorded, so that addresses are the same. Stacks are those that
 * libgcc's unwinder walks, from the caller of the shim's function on; those of calls that no shim has seen are one stack without frames. The table stands in the file $STACK_WITNESS/PROGRAM, mapped and kept up to
 * date in place: it is right when the process has ended, however that came. Shares no code with the shim. For processes that
 * do not fork.
 *
 * The file: a header, then stacks; all numbers of 64 bits. */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <unwind.h>

#define SEEN    __attribute__((visibility("default")))
#define DEPTH   253u /* what is deeper is of no interest to the test */
#define STACKS  (1u << 16)
#define OBJECTS (1u << 21)

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

struct stack {
    uint64_t bytes, objects, depth;
    uint64_t frames[DEPTH];
};

struct table {
    uint64_t count, full; /* stacks; allocations for which there was no room */
    uint64_t unused[254];
    struct stack stacks[STACKS];
};

struct object {
    uint64_t address, size, stack;
};

struct walk {
    uint64_t frames[DEPTH];
    size_t depth;
    int seen; /* by the shim */
};

static struct table *table;
static struct object *objects;
static uint32_t *buckets; /* number of a stack + 1, by hash */
static uint64_t shim_low, shim_high;
static _Atomic int busy;
static _Thread_local int inside __attribute__((tls_model("initial-exec")));

static uint64_t hash(uint64_t value)
{
    return (value ^ value >> 29) * UINT64_C(0x9e3779b97f4a7c15) >> 20;
}

/* ---- the beginning --------------------------------------------------------------------------- */

static void *take_pages(size_t size, int fd)
{
    void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS,
                       fd, 0);
    if (pages == MAP_FAILED)
        _exit(99);
    return pages;
}

static int take_shim(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    (void)data;
    if (strstr(info->dlpi_name, "/libmallab.so") == NULL &&
        strstr(info->dlpi_name, "/libmallab-late.so") == NULL)
        return 0;
    shim_low = info->dlpi_addr;
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD)
            shim_high = shim_low + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
    return 1;
}

static void begin(void)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", getenv("STACK_WITNESS"), program_invocation_short_name);
    const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, sizeof *table) != 0)
        _exit(99);
    objects = take_pages(OBJECTS * sizeof *objects, -1);
    buckets = take_pages(2 * STACKS * sizeof *buckets, -1);
    table = take_pages(sizeof *table, fd);
    close(fd);
}

/* ---- stacks ---------------------------------------------------------------------------------- */

/* What is below the shim's outermost function is forgotten again. */
static _Unwind_Reason_Code take_frame(struct _Unwind_Context *context, void *data)
{
    struct walk *walk = data;
    const uint64_t address = _Unwind_GetIP(context);
    if (address > shim_low && address <= shim_high) {
        walk->depth = 0;
        walk->seen = 1;
    } else if (address != 0 && walk->depth < DEPTH) {
        walk->frames[walk->depth++] = address;
    }
    return _URC_NO_REASON;
}

/* NULL: there is no room. */
static struct stack *find_stack(const struct walk *walk)
{
    uint64_t at = walk->depth;
    for (size_t i = 0; i < walk->depth; i++)
        at = hash(at + walk->frames[i]) + at * 31;
    for (at = hash(at) % (2 * STACKS); buckets[at] != 0; at = (at + 1) % (2 * STACKS)) {
        struct stack *stack = &table->stacks[buckets[at] - 1];
        if (stack->depth == walk->depth &&
            memcmp(stack->frames, walk->frames, walk->depth * sizeof *walk->frames) == 0)
            return stack;
    }
    if (table->count == STACKS)
        return NULL;
    struct stack *stack = &table->stacks[table->count++];
    buckets[at] = (uint32_t)table->count;
    stack->depth = walk->depth;
    memcpy(stack->frames, walk->frames, walk->depth * sizeof *walk->frames);
    return stack;
}

/* ---- objects --------------------------------------------------------------------------------- */

static size_t place_of(uint64_t address)
{
    size_t at = hash(address) % OBJECTS;
    while (objects[at].address != 0 && objects[at].address != address)
        at = (at + 1) % OBJECTS;
    return at;
}

static void put(uint64_t address, uint64_t size, const struct walk *walk)
{
    struct stack *stack = find_stack(walk);
    if (stack == NULL) {
        table->full++;
        return;
    }
    objects[place_of(address)] = (struct object){address, size, (uint64_t)(stack - table->stacks)};
    stack->bytes += size;
    stack->objects++;
}

/* The ones behind it move up. */
static void drop(uint64_t address)
{
    size_t at = place_of(address);
    if (objects[at].address == 0)
        return;
    struct stack *stack = &table->stacks[objects[at].stack];
    stack->bytes -= objects[at].size;
    stack->objects--;
    for (size_t next = (at + 1) % OBJECTS; objects[next].address != 0; next = (next + 1) % OBJECTS) {
        const size_t home = hash(objects[next].address) % OBJECTS;
        if ((next + OBJECTS - home) % OBJECTS < (next + OBJECTS - at) % OBJECTS)
            continue;
        objects[at] = objects[next];
        at = next;
    }
    objects[at].address = 0;
}

/* old went, object came; NULL: none. */
static void note(void *old, void *object, size_t size)
{
    struct walk walk = {.depth = 0};
    const int saved = errno;
    if (inside++ == 0) {
        while (atomic_exchange(&busy, 1))
            ;
        if (table == NULL)
            begin();
        if (shim_low == 0) /* it may come while the program runs */
            (void)dl_iterate_phdr(take_shim, NULL);
        if (object != NULL)
            (void)_Unwind_Backtrace(take_frame, &walk);
        if (!walk.seen)
            walk.depth = 0;
        if (old != NULL)
            drop((uintptr_t)old);
        if (object != NULL)
            put((uintptr_t)object, size, &walk);
        atomic_store(&busy, 0);
    }
    inside--;
    errno = saved;
}

/* ---- the calls ------------------------------------------------------------------------------- */

SEEN void *malloc(size_t size)
{
    void *object = __libc_malloc(size);
    note(NULL, object, size);
    return object;
}

SEEN void *calloc(size_t number, size_t size)
{
    void *object = __libc_calloc(number, size);
    note(NULL, object, number * size);
    return object;
}

SEEN void *realloc(void *old, size_t size)
{
    void *object = __libc_realloc(old, size);
    if (object != NULL || size == 0)
        note(old, object, size);
    return object;
}

SEEN void *reallocarray(void *old, size_t number, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(number, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    void *object = __libc_realloc(old, bytes);
    if (object != NULL || bytes == 0)
        note(old, object, bytes);
    return object;
}

SEEN void free(void *object)
{
    note(object, NULL, 0);
    __libc_free(object);
}

/* Not by way of memalign, which is the shim's. */
static void *aligned(size_t alignment, size_t size)
{
    void *object = __libc_memalign(alignment, size);
    note(NULL, object, size);
    return object;
}

SEEN void *memalign(size_t alignment, size_t size)
{
    return aligned(alignment, size);
}

SEEN void *aligned_alloc(size_t alignment, size_t size)
{
    return aligned(alignment, size);
}

SEEN int posix_memalign(void **ret_object, size_t alignment, size_t size)
{
    void *object = aligned(alignment, size);
    if (object != NULL)
        *ret_object = object;
    return object != NULL ? 0 : ENOMEM;
}
