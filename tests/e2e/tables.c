/* tables.c - a program, a library and a plugin that call malloc by pointers in their data, as libxml2, libcurl, libuv and jansson do.
 *
 * tables PLUGIN [kept]: for each line that it reads it makes TURNS calls by each of its tables, loads the plugin, whose constructor and
 * destructor make as many, closes it, asks dlsym for what it calls, and says done. kept: also by a pointer that it has stored itself
 * before, which no relocation names. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TURNS 1000
#define SEEN  __attribute__((visibility("default")))

struct table {
    void *(*allocate)(size_t);
    void *(*zeroed)(size_t, size_t);
    void *(*resize)(void *, size_t);
    void (*release)(void *);
};

extern SEEN struct table library_table;
SEEN void library_turn(void);

static inline __attribute__((unused)) void turn_by(const volatile struct table *table)
{
    for (int i = 0; i < TURNS; i++) {
        void *volatile one = table->allocate(24), *volatile other = table->zeroed(2, 24);
        one = table->resize(one, 4000);
        table->release(other);
        table->release(one);
    }
}

#if defined(AS_LIBRARY)
SEEN struct table library_table = {malloc, calloc, realloc, free};
static struct table own = {malloc, calloc, realloc, free};

void library_turn(void)
{
    turn_by(&own);
}
#elif defined(AS_PLUGIN)
__attribute__((constructor, destructor)) static void turn(void)
{
    for (int i = 0; i < TURNS; i++)
        free(memset(malloc(100), 1, 100));
}
#else
static struct table own = {malloc, calloc, realloc, free};
static struct table kept;

int main(int argc, char **argv)
{
    char byte;
    const bool by_kept = argc > 2 && strcmp(argv[2], "kept") == 0;
    if (by_kept)
        kept = (struct table){malloc, calloc, realloc, free};
    if (write(1, "ready\n", 6) != 6)
        return 1;
    while (read(0, &byte, 1) == 1) {
        struct table asked = own;
        turn_by(&own);
        turn_by(&library_table);
        library_turn();
        void *plugin = dlopen(argv[1], RTLD_NOW);
        if (plugin == NULL || dlclose(plugin) != 0)
            return 2;
        *(void **)&asked.allocate = dlsym(RTLD_DEFAULT, "malloc");
        turn_by(&asked);
        if (by_kept)
            turn_by(&kept);
        if (write(1, "done\n", 5) != 5)
            return 1;
    }
    return 0;
}
#endif
