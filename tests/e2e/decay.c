/* decay.c - a program whose memory depends on the clock: decay MEGABYTES STEPS STEP_MS OPS.
 *
 * Fills so many megabytes with objects of 64 to 512 bytes and frees all but 1 in 400. Then comes, STEPS times, a sleep of
 * STEP_MS and OPS allocations and frees: an allocator that purges by the clock gives memory back on the way. Prints what
 * is resident at the top and at the end, in bytes, private to the process: "peak P end E". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define KEPT_ONE_IN 400
#define ROUND       2000 /* objects of a step alive at once: more than a thread's cache holds back */

static size_t size_of(size_t number)
{
    return 64 + number * 37 % 449;
}

/* Resident memory without what files back; read without malloc. */
static unsigned long long resident(void)
{
    unsigned long long all, held, shared;
    char text[128] = "";
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fgets(text, sizeof text, file) == NULL ||
        sscanf(text, "%llu %llu %llu", &all, &held, &shared) != 3)
        exit(1);
    fclose(file);
    return (held - shared) * (unsigned long long)sysconf(_SC_PAGESIZE);
}

static void fill_and_empty(size_t bytes)
{
    size_t count = 0;
    for (size_t filled = 0; filled < bytes; filled += size_of(count++))
        continue;
    char **objects = malloc(count * sizeof *objects);
    for (size_t i = 0; objects != NULL && i < count; i++) {
        objects[i] = malloc(size_of(i));
        if (objects[i] == NULL)
            exit(1);
        memset(objects[i], 1, size_of(i));
    }
    printf("peak %llu ", resident());
    for (size_t i = 0; i < count; i++) {
        if (i % KEPT_ONE_IN != 0)
            free(objects[i]);
    }
    free(objects);
}

static void work(unsigned long ops)
{
    static char *objects[ROUND];
    for (unsigned long done = 0; done < ops; done += 2ul * ROUND) {
        for (size_t i = 0; i < ROUND; i++) {
            objects[i] = malloc(size_of(i));
            if (objects[i] != NULL)
                objects[i][0] = 1;
        }
        for (size_t i = 0; i < ROUND; i++)
            free(objects[i]);
    }
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    const size_t bytes = strtoul(argv[1], NULL, 10) * 1000000;
    const unsigned long steps = strtoul(argv[2], NULL, 10), step_ms = strtoul(argv[3], NULL, 10);
    const unsigned long ops = strtoul(argv[4], NULL, 10);
    fill_and_empty(bytes);
    for (unsigned long i = 0; i < steps; i++) {
        const struct timespec step = {.tv_sec = (time_t)(step_ms / 1000),
                                      .tv_nsec = (long)(step_ms % 1000) * 1000000};
        nanosleep(&step, NULL);
        work(ops);
    }
    printf("end %llu\n", resident());
    return 0;
}
