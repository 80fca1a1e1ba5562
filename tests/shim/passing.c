/* passing.c - a library whose malloc passes each call on to the next one, as profilers do. */
#include <dlfcn.h>
#include <stdlib.h>

void *malloc(size_t size)
{
    static void *(*next)(size_t);
    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "malloc");
    return next(size);
}
