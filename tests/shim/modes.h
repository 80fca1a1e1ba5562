/* modes.h - what the recorder's test programs share: calls of a known size, and a mode for a name. */
#ifndef MALLAB_TESTS_SHIM_MODES_H
#define MALLAB_TESTS_SHIM_MODES_H

#include <stdlib.h>
#include <string.h>

static inline void use(size_t size, long count)
{
    for (long i = 0; i < count; i++) {
        void *volatile object = malloc(size);
        free(object);
    }
}

struct mode {
    const char *name; /* NULL: the last one */
    int (*run)(void);
};

/* What the mode of that name returns, which is an exit code; -1: there is none. */
static inline int run_mode(const struct mode *modes, const char *name)
{
    for (; modes->name != NULL; modes++)
        if (strcmp(modes->name, name) == 0)
            return modes->run();
    return -1;
}

#endif
