/* half.c - large buffers that are used in part: half ROUNDS
 *
 * 8 MiB of which 4 are written to, ROUNDS times, each freed; 16 MiB of which 2 are, kept to the end; 4000 small objects. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

static char *volatile kept; /* volatile, or the compiler would see that nobody reads what is written */

int main(int argc, char **argv)
{
    static void *volatile small[4000];
    const unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 3;
    kept = malloc(16 * MIB);
    memset(kept, 1, 2 * MIB);
    for (int i = 0; i < 4000; i++) {
        small[i] = malloc(100);
        memset(small[i], 1, 100);
    }
    for (unsigned long i = 0; i < rounds; i++) {
        char *volatile buffer = malloc(8 * MIB);
        memset(buffer, 1, 4 * MIB);
        free(buffer);
    }
    return write(STDOUT_FILENO, "done\n", 5) == 5 ? 0 : 1;
}
