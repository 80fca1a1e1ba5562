/* asking - an allocator whose system calls are known call by call, to be preloaded: malloc asks for one mmap and one
 * futex, calloc for an mmap, a madvise and an mprotect, realloc for one mremap, free for one munmap and a sched_yield,
 * and for the time, as where clocks take a system call, which is not counted.
 *
 * An object stands one page into its mapping, behind the mapping's length. */
#include <errno.h>
#include <linux/futex.h>
#include <malloc.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PAGE ((size_t)4096)

static void *take(size_t size)
{
    const size_t length = PAGE + (size + PAGE - 1) / PAGE * PAGE;
    size_t *mapping = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED)
        return NULL;
    *mapping = length;
    return (char *)mapping + PAGE;
}

void *malloc(size_t size)
{
    static uint32_t word;
    (void)syscall(SYS_futex, &word, FUTEX_WAKE, 0, NULL, NULL, 0);
    return take(size);
}

void *calloc(size_t count, size_t size)
{
    char *object = take(count * size);
    if (object != NULL) {
        (void)madvise(object - PAGE, PAGE, MADV_NORMAL);
        (void)mprotect(object - PAGE, PAGE, PROT_READ | PROT_WRITE);
    }
    return object;
}

void *realloc(void *object, size_t size)
{
    const size_t length = PAGE + (size + PAGE - 1) / PAGE * PAGE;
    if (object == NULL)
        return take(size);
    size_t *mapping = (size_t *)((char *)object - PAGE);
    mapping = mremap(mapping, *mapping, length, MREMAP_MAYMOVE);
    if (mapping == MAP_FAILED)
        return NULL;
    *mapping = length;
    return (char *)mapping + PAGE;
}

void free(void *object)
{
    struct timespec now;
    if (object == NULL)
        return;
    size_t *mapping = (size_t *)((char *)object - PAGE);
    (void)munmap(mapping, *mapping);
    (void)sched_yield();
    (void)syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
}

int posix_memalign(void **ret_object, size_t alignment, size_t size)
{
    if (alignment > PAGE)
        return EINVAL;
    *ret_object = take(size);
    return *ret_object != NULL ? 0 : ENOMEM;
}
