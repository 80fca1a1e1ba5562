/* churn.c - allocate and free COUNT objects of SIZE; the bulk that runs into limits. Every address and size differs
 * enough that its footprint has some length.
 *
 *   churn COUNT [PAUSE]   with PAUSE: say "half" after half of it and go on when stdin gives a byte or ends */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIVE 1024

int main(int argc, char **argv)
{
    static void *live[LIVE];
    const long count = argc > 1 ? atol(argv[1]) : 0;
    uint64_t random = 88172645463325252u;
    char byte;
    for (long i = 0; i < count; i++) {
        void **object;
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        object = &live[random % LIVE];
        free(*object);
        *object = malloc(100 + (random >> 32) % 5000);
        if (argc > 2 && i == count / 2) {
            (void)!write(1, "half\n", 5);
            (void)!read(0, &byte, 1);
        }
    }
    return 0;
}
