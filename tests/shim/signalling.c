/* signalling.c - an allocator to preload behind ours, which may be entered from a signal handler at any point, and in which
 * signals come. Memory is taken once and never given back.
 *
 *   malloc(SIGNAL_AT)   raises SIGUSR1 in its midst, as does free of such an object
 *   calloc              calls malloc through its exported name: an allocator's own business */
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#define BYTES     ((size_t)64 << 20)
#define SIGNAL_AT 919

static _Alignas(16) char memory[BYTES];
static _Atomic size_t used;

static size_t *header_of(void *address)
{
    return (size_t *)((char *)address - 16);
}

void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *address, size_t size);
void free(void *address);

void *malloc(size_t size)
{
    const size_t begin = atomic_fetch_add(&used, (size + 31) & ~(size_t)15);
    if (size == SIGNAL_AT)
        raise(SIGUSR1);
    if (begin + size + 32 > BYTES)
        return NULL;
    *(size_t *)(memory + begin) = size;
    return memory + begin + 16;
}

void *calloc(size_t count, size_t size)
{
    return malloc(count * size); /* zeroed, never reused */
}

void *realloc(void *address, size_t size)
{
    void *moved = malloc(size);
    if (moved != NULL && address != NULL)
        memcpy(moved, address, *header_of(address) < size ? *header_of(address) : size);
    return moved;
}

void free(void *address)
{
    if (address != NULL && *header_of(address) == SIGNAL_AT)
        raise(SIGUSR1);
}
