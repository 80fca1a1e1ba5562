/* parts.c - memory of which a part is used.
 *
 *   parts half ROUNDS     8 MiB of which 4 are written to, ROUNDS times, each freed; 16 MiB of which 2 are, kept to the end; 4000 small
 *                         objects
 *   parts blocks ROUNDS   blocks of 64 KiB of which the first 8 KiB are used, at places where others were used as a whole: 16 before the
 *                         first round, 16 in each, all of the last kept. In the second round all is written
 *   parts blank           from calloc, in each of which one byte is written: 6,000 objects of 5 to 60 KB, 500 alive */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

enum { SMALL = 4000, BLOCKS = 16, BLOCK_BYTES = 64 << 10, BLOCK_USED = 8 << 10, BLANKS = 6000, ALIVE = 500 };

static char *volatile kept[SMALL]; /* volatile, or the compiler would see that nobody reads what is written */

static void use_half(unsigned long rounds)
{
    static char *volatile large;
    large = malloc(16 * MIB);
    memset(large, 1, 2 * MIB);
    for (int i = 0; i < SMALL; i++) {
        kept[i] = malloc(100);
        memset(kept[i], 1, 100);
    }
    for (unsigned long i = 0; i < rounds; i++) {
        char *volatile buffer = malloc(8 * MIB);
        memset(buffer, 1, 4 * MIB);
        free(buffer);
    }
}

static void use_blocks(unsigned long rounds)
{
    for (unsigned long round = 0; round < rounds; round++) {
        for (int i = 0; i < BLOCKS; i++) {
            free(kept[i]);
            kept[i] = malloc(BLOCK_BYTES);
            memset(kept[i], 1, round == 1 ? BLOCK_BYTES : BLOCK_USED);
            usleep(200); /* so that looks have their rest */
        }
    }
}

static void leave_blank(void)
{
    uint32_t seed = 1;
    for (int i = 0; i < BLANKS; i++) {
        seed = seed * 1103515245u + 12345u;
        free(kept[i % ALIVE]);
        kept[i % ALIVE] = calloc(1, 5000 + (seed >> 8) % 55000);
        kept[i % ALIVE][0] = 1;
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    const unsigned long rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    if (strcmp(what, "half") == 0)
        use_half(rounds);
    else if (strcmp(what, "blocks") == 0)
        use_blocks(rounds);
    else
        leave_blank();
    return write(STDOUT_FILENO, "done\n", 5) == 5 ? 0 : 1;
}
