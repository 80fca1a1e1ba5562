/* raw.h - system calls without libc: errno stays as it is, no cancellation point, no interposed wrapper.
 *
 * raw_call returns the kernel's value: -errno on failure. Usable from any hook, in any state of the process,
 * and in a child that shares our memory (attach_segment.c). */
#ifndef MALLAB_SHIM_SHARED_RAW_H
#define MALLAB_SHIM_SHARED_RAW_H

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static inline long raw_call(long number, long a, long b, long c, long d, long e, long f)
{
#if defined(__x86_64__)
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
#else
    int saved = errno;
    long result = syscall(number, a, b, c, d, e, f);
    if (result == -1)
        result = -errno;
    errno = saved;
    return result;
#endif
}

static inline long raw_write(int fd, const void *bytes, size_t size)
{
    return raw_call(SYS_write, fd, (long)bytes, (long)size, 0, 0, 0);
}

static inline long raw_read(int fd, void *bytes, size_t size)
{
    return raw_call(SYS_read, fd, (long)bytes, (long)size, 0, 0, 0);
}

static inline long raw_open(const char *path, int flags)
{
    return raw_call(SYS_openat, AT_FDCWD, (long)path, flags, 0, 0, 0);
}

static inline bool raw_may_execute(const char *path)
{
    return raw_call(SYS_faccessat, AT_FDCWD, (long)path, X_OK, 0, 0, 0) == 0;
}

static inline void raw_close(int fd)
{
    (void)raw_call(SYS_close, fd, 0, 0, 0, 0, 0); /* nothing to do about a failure: the number is gone */
}

/* raw_file_begin - the first bytes of a file, at most size - 1, as text. Returns how many; 0, with "": it cannot be read. */
static inline size_t raw_file_begin(const char *path, char *ret_text, size_t size)
{
    const long fd = raw_open(path, O_RDONLY | O_CLOEXEC);
    size_t length = 0;
    for (long got = 1; fd >= 0 && got > 0 && length + 1 < size; length += got > 0 ? (size_t)got : 0)
        got = raw_read((int)fd, ret_text + length, size - 1 - length);
    if (fd >= 0)
        raw_close((int)fd);
    ret_text[length] = '\0';
    return length;
}

static inline long raw_mmap(void *address, size_t size, int protection, int flags, int fd)
{
    return raw_call(SYS_mmap, (long)address, (long)size, protection, flags, fd, 0);
}

static inline void raw_munmap(void *address, size_t size)
{
    (void)raw_call(SYS_munmap, (long)address, (long)size, 0, 0, 0, 0); /* leaks address space at worst */
}

/* raw_map_wiped - zeroed private memory that a fork wipes; NULL on failure. */
static inline void *raw_map_wiped(size_t size)
{
    const long area = raw_mmap(NULL, size, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    if (area < 0)
        return NULL;
    if (raw_call(SYS_madvise, area, (long)size, MADV_WIPEONFORK, 0, 0, 0) == 0)
        return (void *)area;
    raw_munmap((void *)area, size);
    return NULL;
}

static inline uint32_t raw_getpid(void)
{
    return (uint32_t)raw_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

static inline uint32_t raw_gettid(void)
{
    return (uint32_t)raw_call(SYS_gettid, 0, 0, 0, 0, 0, 0);
}

/* raw_now_ns - CLOCK_MONOTONIC, by the kernel and not by a library that the program may have replaced. */
static inline uint64_t raw_now_ns(void)
{
    struct timespec now = {0, 0};
    if (raw_call(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0, 0, 0, 0) != 0)
        return 0;
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* raw_futex_wait - sleep while *word is `value`, at most timeout_ns; shared between processes. */
static inline long raw_futex_wait(const _Atomic uint32_t *word, uint32_t value, uint64_t timeout_ns)
{
    struct timespec timeout = {(time_t)(timeout_ns / 1000000000u), (long)(timeout_ns % 1000000000u)};
    return raw_call(SYS_futex, (long)word, FUTEX_WAIT, (long)value, (long)&timeout, 0, 0);
}

static inline void raw_futex_wake(_Atomic uint32_t *word, int count)
{
    (void)raw_call(SYS_futex, (long)word, FUTEX_WAKE, count, 0, 0, 0); /* waiters time out anyway */
}

#endif
