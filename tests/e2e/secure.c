/* secure.c - loads a library by its path, as a program could whose owner's rights it runs with, and allocates.
 *
 * secure LIBRARY: exit 0; 77 where the kernel gave it no other user's rights (nosuid). */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    void *volatile object;
    if (argc != 2)
        return 2;
    if (getauxval(AT_SECURE) == 0)
        return 77;
    if (dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    object = malloc(100);
    free(object);
    if (object == NULL)
        return 1;
    execl("/bin/true", "true", (char *)NULL);
    return 1;
}
