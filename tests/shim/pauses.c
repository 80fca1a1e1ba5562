/* pauses.c - calls between pauses, and when they were made by the program's own clock.
 *
 * A burst of calls, then PAUSES pauses with one call behind each, then a burst. Prints a line for each call behind a pause:
 * its size, and the clock right before and right behind it, in ns. Nothing of stdio in between: it would allocate. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PAUSES   40
#define PAUSE_NS 15000000
#define BURST    20000

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void burst(void)
{
    for (int i = 0; i < BURST; i++) {
        void *object = malloc(64);
        *(volatile char *)object = 1;
        free(object);
    }
}

int main(void)
{
    static uint64_t before[PAUSES], behind[PAUSES];
    void *kept[PAUSES];
    burst();
    for (int i = 0; i < PAUSES; i++) {
        const struct timespec pause = {0, PAUSE_NS};
        nanosleep(&pause, NULL);
        before[i] = now_ns();
        kept[i] = malloc(5000 + (size_t)i);
        behind[i] = now_ns();
    }
    burst();
    for (int i = 0; i < PAUSES; i++)
        free(kept[i]);
    for (int i = 0; i < PAUSES; i++)
        printf("%d %llu %llu\n", 5000 + i, (unsigned long long)before[i], (unsigned long long)behind[i]);
    return 0;
}
