/* plain.c - a library that allocates and frees for others; see own.c. */
#include <stdlib.h>

__attribute__((visibility("default"))) void *plain_make(size_t size);
__attribute__((visibility("default"))) void plain_drop(void *object);

void *plain_make(size_t size)
{
    return malloc(size);
}

void plain_drop(void *object)
{
    free(object);
}
