/* blank.c - memory from calloc in each of which one byte is written: 6,000 objects of 5 to 60 KB, 500 alive. */
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

enum { OBJECTS = 6000, ALIVE = 500 };

int main(void)
{
    static char *volatile alive[ALIVE];
    uint32_t seed = 1;
    for (int i = 0; i < OBJECTS; i++) {
        seed = seed * 1103515245u + 12345u;
        free(alive[i % ALIVE]);
        alive[i % ALIVE] = calloc(1, 5000 + (seed >> 8) % 55000);
        alive[i % ALIVE][0] = 1;
    }
    return write(STDOUT_FILENO, "done\n", 5) == 5 ? 0 : 1;
}
