/* apart.c - libmallab-apart.so: give what a program maps for itself a name, so that it is told from the heap.
 *
 * Preloaded by `mallab validate` in one run of its own. Python's arenas, ruby's heap pages and gcc's collected memory come
 * from mmap, as glibc's own large objects and arenas do; in /proc/PID/smaps both are private mappings without a name. libc's
 * malloc calls its mmap inside libc, past this library: what arrives here is the program's. It gets a private mapping of an
 * empty memory file instead: written pages are anonymous copies and count as such, reads of others see zeros, a fork copies
 * on write. The kernel's own way (PR_SET_VMA_ANON_NAME) needs a build option that few kernels have.
 *
 * An allocator that is not libc's calls mmap as programs do: calls out of the library that $MALLAB_APART names, or out of any
 * that has "malloc" in its file's name, are passed on as they are.
 *
 * How much of such memory there was at most is told by the file's length, beyond what mappings need: samples miss what a
 * program maps and unmaps between two of them (php's chunks). It is address space: no less than what was resident.
 *
 * What differs: a page that is read before it is written is the file's, shared, and counts as RssShmem; MADV_FREE is
 * refused, as for all mappings of files; no huge pages. */
#undef _FILE_OFFSET_BITS /* with it the header makes one of mmap and mmap64, and both are called by programs */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FILE_BYTES ((off_t)1 << 46) /* as large as the address space: no mapping reaches past it */
#define DESCRIPTOR 1000             /* from here on: out of the way of programs that count on low numbers */
#define NOT_YET    (-1)
#define IMPOSSIBLE (-2)
#define SPECIAL    (MAP_HUGETLB | MAP_GROWSDOWN | MAP_STACK | MAP_SHARED)
#define RANGES_MAX 4096u
#define LOCK_SPINS (1u << 22) /* a fork may have left it locked: then nothing more is counted */
#define VISIBLE    __attribute__((visibility("default")))

static atomic_int descriptor = NOT_YET;
static atomic_ulong device, node;

VISIBLE void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset);
VISIBLE void *mmap64(void *address, size_t length, int protection, int flags, int fd, off_t offset);

VISIBLE int munmap(void *address, size_t length);
VISIBLE void *mremap(void *address, size_t length, size_t new_length, int flags, ...);

/* ---- the file -------------------------------------------------------------------------------- */

static int make_file(void)
{
    struct stat facts;
    int fd = (int)syscall(SYS_memfd_create, "mallab-apart", MFD_CLOEXEC);
    if (fd < 0)
        return IMPOSSIBLE;
    const int high = fcntl(fd, F_DUPFD_CLOEXEC, DESCRIPTOR);
    if (high >= 0) {
        close(fd);
        fd = high;
    }
    if (ftruncate(fd, FILE_BYTES) != 0 || fstat(fd, &facts) != 0) {
        close(fd);
        return IMPOSSIBLE;
    }
    atomic_store(&device, facts.st_dev);
    atomic_store(&node, facts.st_ino);
    return fd;
}

/* -1 where there is none. Two threads may make one each at the same time: one of both stays. */
static int file(void)
{
    struct stat facts;
    int expected = NOT_YET;
    int fd = atomic_load(&descriptor);
    if (fd == NOT_YET) {
        fd = make_file();
        if (!atomic_compare_exchange_strong(&descriptor, &expected, fd))
            fd =
                expected; /* the loser's file is leaked: what it noted of it must not be closed under the winner */
    }
    /* A program may close all descriptors, and the number be another file's by now. */
    if (fd >= 0 && (fstat(fd, &facts) != 0 || facts.st_dev != atomic_load(&device) ||
                    facts.st_ino != atomic_load(&node)))
        return -1;
    return fd >= 0 ? fd : -1;
}

/* ---- how much is mapped ---------------------------------------------------------------------- */

static struct range {
    uintptr_t begin, end;
} ranges[RANGES_MAX];
static size_t range_count;
static uint64_t mapped_bytes, mapped_most;
static atomic_flag locked = ATOMIC_FLAG_INIT;
static atomic_bool uncounted;

/* From then on nothing is counted, and the length says so: it is more than any. */
static void give_up(void)
{
    atomic_store(&uncounted, true);
    const int fd = file();
    if (fd >= 0)
        (void)ftruncate(fd, FILE_BYTES * 2); /* as it was, if it fails */
}

static bool lock(void)
{
    for (unsigned i = 0; i < LOCK_SPINS && !atomic_load(&uncounted); i++)
        if (!atomic_flag_test_and_set(&locked))
            return true;
    if (!atomic_load(&uncounted))
        give_up();
    return false;
}

/* Take it out of what is counted. Returns how much of it was. */
static uint64_t forget(uintptr_t begin, uintptr_t end)
{
    uint64_t bytes = 0;
    for (size_t i = range_count; i-- > 0;) {
        const struct range old = ranges[i];
        if (old.begin >= end || old.end <= begin)
            continue;
        const uintptr_t from = old.begin > begin ? old.begin : begin, to = old.end < end ? old.end : end;
        bytes += to - from;
        ranges[i] = ranges[--range_count];
        if (old.begin < from)
            ranges[range_count++] = (struct range){old.begin, from};
        if (to < old.end && range_count < RANGES_MAX)
            ranges[range_count++] = (struct range){to, old.end};
        /* A piece too many stays counted: too much is told then, never too little. */
    }
    mapped_bytes -= bytes;
    return bytes;
}

static uint64_t forget_locked(const void *address, size_t length)
{
    uint64_t bytes = 0;
    if (atomic_load(&descriptor) >= 0 && lock()) {
        bytes = forget((uintptr_t)address, (uintptr_t)address + length);
        atomic_flag_clear(&locked);
    }
    return bytes;
}

/* fd: as file() said, so that no file of the program's is lengthened that has its number by now; -1: there is none. */
static void count(int fd, const void *address, size_t length)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE) - 1;
    if (!lock())
        return;
    length = (length + page) & ~page;
    (void)forget((uintptr_t)address, (uintptr_t)address + length); /* MAP_FIXED: what was there is gone */
    const bool fits = range_count < RANGES_MAX;
    if (fits)
        ranges[range_count++] = (struct range){(uintptr_t)address, (uintptr_t)address + length};
    mapped_bytes += length;
    const bool most = mapped_bytes > mapped_most;
    if (most)
        mapped_most = mapped_bytes;
    if (most && fits && fd >= 0)
        (void)ftruncate(fd, FILE_BYTES + (off_t)mapped_most); /* as it was, if it fails */
    atomic_flag_clear(&locked);
    if (!fits)
        give_up();
}

/* ---- calls ------------------------------------------------------------------------------------ */

static bool is_allocator(const void *caller)
{
    Dl_info info;
    const char *named = getenv("MALLAB_APART");
    if (dladdr(caller, &info) == 0 || info.dli_fname == NULL)
        return false;
    const char *slash = strrchr(info.dli_fname, '/');
    return (named != NULL && strcmp(named, info.dli_fname) == 0) ||
           strstr(slash != NULL ? slash : info.dli_fname, "malloc") != NULL;
}

static void *map(const void *caller, void *address, size_t length, int protection, int flags, int fd,
                 off_t offset)
{
    const int error = errno;
    if ((flags & MAP_ANONYMOUS) != 0 && (flags & MAP_PRIVATE) != 0 && (flags & SPECIAL) == 0 &&
        !is_allocator(caller)) {
        const int own = file();
        if (own >= 0) {
            void *mapped = (void *)syscall(SYS_mmap, address, length, protection, flags & ~MAP_ANONYMOUS, own,
                                           (off_t)0);
            if (mapped != MAP_FAILED) {
                count(own, mapped, length);
                errno = error;
                return mapped;
            }
        }
        errno = error;
    }
    return (void *)syscall(SYS_mmap, address, length, protection, flags, fd, offset);
}

void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset)
{
    return map(__builtin_return_address(0), address, length, protection, flags, fd, offset);
}

void *mmap64(void *address, size_t length, int protection, int flags, int fd, off_t offset)
{
    return map(__builtin_return_address(0), address, length, protection, flags, fd, offset);
}

/* Before it is unmapped: behind that another thread may have the same place. */
int munmap(void *address, size_t length)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE) - 1;
    (void)forget_locked(address, (length + page) & ~page);
    return (int)syscall(SYS_munmap, address, length);
}

void *mremap(void *address, size_t length, size_t new_length, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    void *place = (flags & MREMAP_FIXED) != 0 ? va_arg(more, void *) : NULL;
    va_end(more);
    const bool is_own = forget_locked(address, length) > 0;
    void *moved = (void *)syscall(SYS_mremap, address, length, new_length, flags, place);
    const int error = errno;
    if (is_own)
        count(file(), moved != MAP_FAILED ? moved : address, moved != MAP_FAILED ? new_length : length);
    errno = error;
    return moved;
}
