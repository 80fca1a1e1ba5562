/* blocks.c - blocks of 64 KiB of which the first 8 KiB are used, at places where others were used as a whole: blocks ROUNDS
 *
 * 16 blocks before the first round, 16 in each, all of the last kept. In the second round all is written. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCKS = 16, BYTES = 64 << 10, USED = 8 << 10 };

int main(int argc, char **argv)
{
    static char
        *volatile blocks[BLOCKS]; /* volatile, or the compiler would see that nobody reads what is written */
    const unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 20;
    for (unsigned long round = 0; round < rounds; round++) {
        for (int i = 0; i < BLOCKS; i++) {
            free(blocks[i]);
            blocks[i] = malloc(BYTES);
            memset(blocks[i], 1, round == 1 ? BYTES : USED);
            usleep(200); /* so that looks have their rest */
        }
    }
    return write(STDOUT_FILENO, "done\n", 5) == 5 ? 0 : 1;
}
