/* repeat.c - a long, exactly repeating program whose recording does not compress well: repeat ROUNDS
 *
 * Sizes and lifetimes come from a generator with a fixed seed, so that each run makes the same calls. */
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

enum { LIVE = 4096 };

int main(int argc, char **argv)
{
    static void *live[LIVE];
    uint64_t random = 88172645463325252u;
    const unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    for (unsigned long i = 0; i < rounds; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        void **slot = &live[random % LIVE];
        free(*slot);
        *slot = malloc(1 + (random >> 32) % 30000);
    }
    return write(STDOUT_FILENO, "done\n", 5) == 5 ? 0 : 1;
}
