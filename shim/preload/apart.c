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
 * What differs: a page that is read before it is written is the file's, shared, and counts as RssShmem; MADV_FREE is
 * refused, as for all mappings of files; no huge pages. */
#undef _FILE_OFFSET_BITS /* with it the header makes one of mmap and mmap64, and both are called by programs */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
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
#define VISIBLE    __attribute__((visibility("default")))

static atomic_int descriptor = NOT_YET;
static atomic_ulong device, node;

VISIBLE void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset);
VISIBLE void *mmap64(void *address, size_t length, int protection, int flags, int fd, off_t offset);

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
