/* sized.c - a malloc that does not forgive: told another size than an object was given, it aborts.
 *
 * Every object carries its size and the block's start before it. It forwards to glibc by name and shares no
 * code with mallab. What it is not asked for in the tests it does not offer. */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

extern void *__libc_malloc(size_t size);
extern void __libc_free(void *block);

void *_Znwm(size_t size);
void _ZdlPv(void *object);
void _ZdlPvm(void *object, size_t size);

struct head {
    size_t size;
    void *block;
};

static struct head *head_of(void *object)
{
    return (struct head *)object - 1;
}

static void *allocate(size_t alignment, size_t size)
{
    const size_t spare = sizeof(struct head) + alignment;
    char *block = size <= SIZE_MAX - spare ? __libc_malloc(size + spare) : NULL;
    char *object;
    if (block == NULL)
        return NULL;
    object = block + sizeof(struct head);
    object += -(uintptr_t)object & (alignment - 1);
    *head_of(object) = (struct head){.size = size, .block = block};
    return object;
}

PUBLIC void *malloc(size_t size)
{
    return allocate(16, size);
}

PUBLIC void free(void *object)
{
    if (object != NULL)
        __libc_free(head_of(object)->block);
}

PUBLIC void *calloc(size_t count, size_t size)
{
    size_t bytes;
    void *object = __builtin_mul_overflow(count, size, &bytes) ? NULL : allocate(16, bytes);
    return object != NULL ? memset(object, 0, bytes) : NULL;
}

PUBLIC void *realloc(void *object, size_t size)
{
    void *moved = allocate(16, size);
    if (object != NULL && moved != NULL) {
        memcpy(moved, object, size < head_of(object)->size ? size : head_of(object)->size);
        free(object);
    }
    return moved;
}

PUBLIC void *memalign(size_t alignment, size_t size)
{
    return allocate(alignment < 16 ? 16 : alignment, size);
}

PUBLIC void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

PUBLIC int posix_memalign(void **ret_object, size_t alignment, size_t size)
{
    *ret_object = memalign(alignment, size);
    return *ret_object != NULL ? 0 : ENOMEM;
}

PUBLIC size_t malloc_usable_size(void *object)
{
    return object != NULL ? head_of(object)->size : 0;
}

/* operator new(unsigned long) */
PUBLIC void *_Znwm(size_t size)
{
    return allocate(16, size);
}

/* operator delete(void *) */
PUBLIC void _ZdlPv(void *object)
{
    free(object);
}

/* operator delete(void *, unsigned long) */
PUBLIC void _ZdlPvm(void *object, size_t size)
{
    static const char SAID[] = "sized.c: a delete states another size than its object's\n";
    if (object != NULL && head_of(object)->size != size) {
        (void)!write(2, SAID, sizeof SAID - 1);
        abort();
    }
    free(object);
}
