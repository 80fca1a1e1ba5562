/* symbol.h - a function or variable of the process by its name, as the allocator's library exports it. */
#ifndef MALLAB_REPLAY_BASE_SYMBOL_H
#define MALLAB_REPLAY_BASE_SYMBOL_H

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

/* rep_symbol - look it up. ret_pointer: a pointer to the pointer to be set. Returns false when there is none. */
static inline bool rep_symbol(const char *name, void *ret_pointer)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    memcpy(ret_pointer, &found, sizeof found); /* ISO C has no cast from data to function pointer */
    return found != NULL;
}

/* rep_library_of - where the library begins that a function of this name comes from; NULL: there is none. */
static inline const void *rep_library_of(const char *name)
{
    Dl_info info;
    const void *found = dlsym(RTLD_DEFAULT, name);
    return found != NULL && dladdr(found, &info) != 0 ? info.dli_fbase : NULL;
}

#endif
