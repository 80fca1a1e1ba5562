/* own.c - a program that makes known calls, linked with an allocator of its own or with none; in Debian's builds those
 * are libjemalloc, libtcmalloc and libmimalloc, whose definitions stand behind ours like libc's. Checked by
 * test_allocators.py.
 *
 *   (no argument)      COUNT calls of each kind
 *   deep LIBRARY       loads plain.c's library with RTLD_DEEPBIND and uses it
 *   dlsym              failing dlopen and dlsym calls, whose error texts are allocated */
#include <dlfcn.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 1000

static int failures;

static void expect(int holds)
{
    failures += !holds;
}

static void calls(void)
{
    for (int i = 0; i < COUNT; i++) {
        void *volatile plain = malloc(3001), *volatile zeroed = calloc(3, 3002), *aligned = NULL;
        expect(plain != NULL && zeroed != NULL && ((char *)zeroed)[3 * 3002 - 1] == 0);
        expect(malloc_usable_size(plain) >= 3001);
        plain = realloc(plain, 3003);
        expect(posix_memalign(&aligned, 256, 3004) == 0 && (uintptr_t)aligned % 256 == 0);
        free(plain);
        free(zeroed);
        free(aligned);
    }
}

/* What the library allocates, we free, and the reverse. */
static int deep(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    void *(*make)(size_t);
    void (*drop)(void *);
    if (library == NULL)
        return 2;
    *(void **)&make = dlsym(library, "plain_make");
    *(void **)&drop = dlsym(library, "plain_drop");
    for (int i = 0; i < COUNT; i++) {
        void *volatile ours = malloc(3011);
        void *volatile theirs = make(3012);
        drop(ours);
        free(theirs);
    }
    return dlclose(library) != 0;
}

static void failing_look_ups(void)
{
    for (int i = 0; i < COUNT; i++) {
        expect(dlsym(RTLD_DEFAULT, "no_such_symbol_anywhere") == NULL);
        expect(strstr(dlerror(), "no_such_symbol_anywhere") != NULL);
        expect(dlopen("/no/such/library.so", RTLD_NOW) == NULL);
        expect(dlerror() != NULL && dlerror() == NULL);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "deep") == 0 && argc == 3)
        return deep(argv[2]);
    if (strcmp(what, "dlsym") == 0)
        failing_look_ups();
    calls();
    printf("failures %d\n", failures);
    return failures != 0;
}
