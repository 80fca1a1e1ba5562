/* tally.c - an independent witness of whole trees: counts the malloc-family calls of every process image.
 *
 * Preloaded behind mallab's shim into the very run that is recorded, so that the two counts must be equal although no
 * two runs of a server are. The count of each image stands in a file of its own, $TALLY_OUT/NAME.PID.N, mapped and
 * stepped in place: it is right at any moment, also after SIGKILL. Shares no code with the shim. A forked child finds
 * its page wiped, and begins a file of its own at its first call. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SEEN __attribute__((visibility("default")))

struct page {
    _Atomic(_Atomic uint64_t *) count;
    _Atomic int opening;
};

static struct page *_Atomic page;
static _Atomic uint64_t nowhere; /* while a file is being opened, or none can be */

static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
} next;

/* What dlsym asks for while `next` is not known. */
static char early[1 << 16] __attribute__((aligned(16)));
static _Atomic size_t early_used;

static void *take_early(size_t size)
{
    const size_t at = atomic_fetch_add(&early_used, (size + 15) & ~(size_t)15);
    return at + size <= sizeof early ? early + at : NULL;
}

static int is_early(const void *object)
{
    return (uintptr_t)object - (uintptr_t)early < sizeof early;
}

static void resolve(void)
{
    static _Atomic int resolving;
    if (next.free != NULL || atomic_exchange(&resolving, 1))
        return;
    *(void **)&next.malloc = dlsym(RTLD_NEXT, "malloc");
    *(void **)&next.calloc = dlsym(RTLD_NEXT, "calloc");
    *(void **)&next.realloc = dlsym(RTLD_NEXT, "realloc");
    *(void **)&next.posix_memalign = dlsym(RTLD_NEXT, "posix_memalign");
    *(void **)&next.aligned_alloc = dlsym(RTLD_NEXT, "aligned_alloc");
    *(void **)&next.memalign = dlsym(RTLD_NEXT, "memalign");
    *(void **)&next.valloc = dlsym(RTLD_NEXT, "valloc");
    *(void **)&next.pvalloc = dlsym(RTLD_NEXT, "pvalloc");
    *(void **)&next.free = dlsym(RTLD_NEXT, "free");
}

static _Atomic uint64_t *open_count(void)
{
    /* Copied: servers empty their environment, and write titles over it and over their name. */
    static char folder[256], name[64];
    char path[512];
    void *area;
    int fd = -1;
    if (name[0] == '\0' && getenv("TALLY_OUT") != NULL) {
        snprintf(folder, sizeof folder, "%s", getenv("TALLY_OUT"));
        snprintf(name, sizeof name, "%s", program_invocation_short_name);
    }
    for (int number = 1; name[0] != '\0' && fd < 0 && number < 1000; number++) {
        snprintf(path, sizeof path, "%s/%s.%d.%d", folder, name, (int)getpid(), number);
        fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    if (fd < 0 || ftruncate(fd, 4096) != 0)
        return &nowhere;
    area = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return area != MAP_FAILED ? area : &nowhere;
}

static struct page *find_page(void)
{
    struct page *found = page, *none = NULL;
    if (found != NULL)
        return found;
    found = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (found == MAP_FAILED || madvise(found, 4096, MADV_WIPEONFORK) != 0)
        abort();
    if (!atomic_compare_exchange_strong(&page, &none, found))
        found = none; /* the page of another thread that was faster; ours is a page wasted */
    return found;
}

static void count(void)
{
    struct page *mine = find_page();
    _Atomic uint64_t *place = mine->count;
    while (place == NULL) {
        const int saved = errno;
        if (!atomic_exchange(&mine->opening, 1))
            mine->count = open_count();
        place = mine->count;
        errno = saved;
    }
    atomic_fetch_add_explicit(place, 1, memory_order_relaxed);
}

SEEN void *malloc(size_t size)
{
    resolve();
    if (next.malloc == NULL)
        return take_early(size);
    count();
    return next.malloc(size);
}

SEEN void *calloc(size_t number, size_t size)
{
    resolve();
    if (next.calloc == NULL)
        return take_early(number * size);
    count();
    return next.calloc(number, size);
}

SEEN void *realloc(void *object, size_t size)
{
    resolve();
    count();
    return next.realloc(object, size);
}

SEEN void *reallocarray(void *object, size_t number, size_t size)
{
    size_t bytes;
    resolve();
    count();
    if (__builtin_mul_overflow(number, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return next.realloc(object, bytes);
}

SEEN void free(void *object)
{
    resolve();
    if (is_early(object) || next.free == NULL)
        return;
    count();
    next.free(object);
}

SEEN int posix_memalign(void **ret_object, size_t alignment, size_t size)
{
    resolve();
    count();
    return next.posix_memalign(ret_object, alignment, size);
}

SEEN void *aligned_alloc(size_t alignment, size_t size)
{
    resolve();
    count();
    return next.aligned_alloc(alignment, size);
}

SEEN void *memalign(size_t alignment, size_t size)
{
    resolve();
    count();
    return next.memalign(alignment, size);
}

SEEN void *valloc(size_t size)
{
    resolve();
    count();
    return next.valloc(size);
}

SEEN void *pvalloc(size_t size)
{
    resolve();
    count();
    return next.pvalloc(size);
}
