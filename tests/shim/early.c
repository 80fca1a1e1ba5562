/* early.c - a preloaded library whose constructor and destructor allocate, before and after everybody else's. */
#include <stdlib.h>

static void use(size_t size)
{
    for (int i = 0; i < 100; i++) {
        void *volatile object = malloc(size);
        free(object);
    }
}

__attribute__((constructor(101))) static void first(void)
{
    use(3021);
}

__attribute__((destructor(101))) static void last(void)
{
    use(3022);
}
