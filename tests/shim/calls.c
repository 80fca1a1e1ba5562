/* calls.c - make every wrapped C call with numbers of its own, and check what the program itself sees: contents,
 * alignment, errno. Which marks they become is checked by test_calls.py. */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HUGE_BYTES ((size_t)1 << 62)

/* Not in this libc's headers; the preload provides them. */
void free_sized(void *address, size_t size) __attribute__((weak));
void free_aligned_sized(void *address, size_t alignment, size_t size) __attribute__((weak));

static int failures;

static void expect(int condition, const char *what)
{
    if (condition)
        return;
    failures++;
    printf("wrong: %s\n", what);
}

static int is_aligned(const void *address, size_t alignment)
{
    return ((uintptr_t)address & (alignment - 1)) == 0;
}

static void *volatile kept;

static void ordinary(void)
{
    char *p = malloc(1001);
    memset(p, 7, 1001);
    p = realloc(p, 5002);
    expect(p[1000] == 7, "realloc keeps contents");
    p = reallocarray(p, 3, 4003);
    expect(p[1000] == 7, "reallocarray keeps contents");
    expect(malloc_usable_size(p) >= 3 * 4003, "usable size");
    free(p);
    p = calloc(11, 1004);
    expect(p[0] == 0 && p[11 * 1004 - 1] == 0, "calloc zeroes");
    free(p);
    p = calloc(1, 1005);
    free(p);
    kept = realloc(NULL, 1006);
    kept = realloc(kept, 0); /* glibc frees and returns NULL */
    expect(kept == NULL, "realloc(p, 0)");
    free(NULL);
    expect(malloc_usable_size(NULL) == 0, "usable size of NULL");
}

static void aligned(void)
{
    void *p = NULL;
    expect(posix_memalign(&p, 256, 2001) == 0 && is_aligned(p, 256), "posix_memalign");
    free(p);
    p = aligned_alloc(512, 2048);
    expect(is_aligned(p, 512), "aligned_alloc");
    free(p);
    p = memalign(1024, 2003);
    expect(is_aligned(p, 1024), "memalign");
    free(p);
    p = valloc(2004);
    expect(is_aligned(p, 4096), "valloc");
    free(p);
    p = pvalloc(2005);
    expect(is_aligned(p, 4096), "pvalloc");
    free(p);
    if (free_sized == NULL || free_aligned_sized == NULL)
        return;
    p = malloc(2006);
    free_sized(p, 2006);
    p = aligned_alloc(64, 2112);
    free_aligned_sized(p, 64, 2112);
}

static void failing(void)
{
    void *p, *small = malloc(3001);
    size_t huge = HUGE_BYTES;
    __asm__("" : "+r"(huge)); /* the compiler would warn about what is meant */
    errno = 0;
    expect(malloc(huge) == NULL && errno == ENOMEM, "malloc fails");
    errno = 0;
    expect(calloc(huge, 8) == NULL && errno == ENOMEM, "calloc fails");
    kept =
        small; /* hidden from the compiler, which would not believe that a failed realloc leaves it alone */
    errno = 0;
    expect(realloc(kept, huge) == NULL && errno == ENOMEM, "realloc fails");
    errno = 0;
    p = reallocarray(kept, huge, 16);
    expect(p == NULL && errno == ENOMEM, "reallocarray fails");
    p = (void *)8;
    errno = 5;
    expect(posix_memalign(&p, 3, 16) == EINVAL && p == (void *)8, "posix_memalign refuses");
    expect(posix_memalign(&p, 64, huge) == ENOMEM, "posix_memalign fails");
    errno = 0;
    expect(aligned_alloc(64, huge) == NULL && errno == ENOMEM, "aligned_alloc fails");
    errno = 77;
    free(kept);
    free(NULL);
    expect(errno == 77, "free keeps errno");
}

/* Many calls, so that groups, chunks and stamps come in between; errno must survive those too. */
static void errno_stays(void)
{
    errno = 78;
    for (int i = 0; i < 20000; i++)
        free(malloc(3002));
    expect(errno == 78, "errno stays over chunk changes");
}

int main(void)
{
    ordinary();
    aligned();
    failing();
    errno_stays();
    printf("failures %d, sized releases %s\n", failures, free_sized != NULL ? "yes" : "no");
    return failures != 0;
}
