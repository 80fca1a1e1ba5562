/* steps.c - allocates as told, so that a test knows to the call what was made when.
 *
 * Reads lines from standard input and answers each with a line when it is done:
 *
 *   take COUNT SIZE    allocate, and keep
 *   drop COUNT         free the oldest kept ones
 *   churn COUNT SIZE   allocate and free, one after the other
 *   thread COUNT SIZE  the same as take, in a thread that then sleeps to the end
 *   storm COUNT SIZE   churn in four threads that hand each other every eighth object, until `calm`; some 0.3 us of work between
 *                      two pairs, so that what is recorded while requests are answered is few enough to replay it often
 *   calm               end the storm; answers with the pairs that it made
 *   leaks COUNT | starts COUNT | churns COUNT | forks COUNT
 *                      functions of those names leak so many objects, of 1000, 500 and 100 bytes: churns frees all but the last,
 *                      forks has a child leak that allocates nothing else, and ends without leaving
 *
 * No call of its own besides: lines are read with read(2), the list is static. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEPT_MAX 100000u
#define THREADS  4u
#define WORK     150u

static void *kept[KEPT_MAX];
static size_t first, last;
static atomic_ulong pairs;
static atomic_bool calm;
static void *_Atomic shelf[THREADS];

static void take(size_t count, size_t size)
{
    for (size_t i = 0; i < count && last < KEPT_MAX; i++) {
        kept[last] = malloc(size);
        *(volatile char *)kept[last++] = 1;
    }
}

static void churn(size_t count, size_t size)
{
    for (size_t i = 0; i < count; i++) {
        void *object = malloc(size);
        *(volatile char *)object = 1;
        free(object);
    }
}

static void *volatile leaked;

__attribute__((noinline)) static void leaks(size_t count)
{
    for (size_t i = 0; i < count; i++)
        leaked = malloc(1000);
}

__attribute__((noinline)) static void starts(size_t count)
{
    for (size_t i = 0; i < count; i++)
        leaked = malloc(500);
}

__attribute__((noinline)) static void churns(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        leaked = malloc(100);
        if (i + 1 < count)
            free(leaked);
    }
}

__attribute__((noinline)) static void forks(size_t count)
{
    const pid_t child = fork();
    if (child == 0) {
        leaks(count);
        _exit(0);
    }
    if (child < 0 || waitpid(child, NULL, 0) != child)
        abort();
}

struct order {
    size_t count, size;
};

static void *idler(void *data)
{
    const struct order *order = data;
    take(order->count, order->size);
    (void)!write(1, "ok\n", 3);
    for (;;)
        pause();
    return NULL;
}

static void *stormer(void *data)
{
    const size_t mine = (size_t)data, size = 100 + mine;
    size_t made = 0;
    while (!atomic_load(&calm)) {
        void *object = malloc(size);
        *(volatile char *)object = 1;
        if (++made % 8 == 0)
            object = atomic_exchange(&shelf[made / 8 % THREADS], object);
        free(object);
        for (volatile unsigned i = 0; i < WORK; i++)
            ;
    }
    atomic_fetch_add(&pairs, made);
    return NULL;
}

static bool read_line(char *line, size_t size)
{
    size_t length = 0;
    while (length + 1 < size && read(0, line + length, 1) == 1 && line[length] != '\n')
        length++;
    line[length] = '\0';
    return length > 0;
}

int main(void)
{
    static struct order order;
    pthread_t threads[THREADS];
    char line[128];
    while (read_line(line, sizeof line)) {
        char *end = strchr(line, ' ');
        order.count = end != NULL ? strtoul(end, &end, 10) : 0;
        order.size = end != NULL ? strtoul(end, NULL, 10) : 0;
        if (strncmp(line, "thread ", 7) == 0) {
            if (pthread_create(&threads[0], NULL, idler, &order) != 0)
                return 1;
            continue; /* it answers itself */
        }
        if (strncmp(line, "take ", 5) == 0) {
            take(order.count, order.size);
        } else if (strncmp(line, "drop ", 5) == 0) {
            for (size_t i = 0; i < order.count && first < last; i++)
                free(kept[first++]);
        } else if (strncmp(line, "churn ", 6) == 0) {
            churn(order.count, order.size);
        } else if (strncmp(line, "leaks ", 6) == 0) {
            leaks(order.count);
        } else if (strncmp(line, "starts ", 7) == 0) {
            starts(order.count);
        } else if (strncmp(line, "churns ", 7) == 0) {
            churns(order.count);
        } else if (strncmp(line, "forks ", 6) == 0) {
            forks(order.count);
        } else if (strcmp(line, "storm") == 0) {
            for (size_t i = 0; i < THREADS; i++)
                if (pthread_create(&threads[i], NULL, stormer, (void *)i) != 0)
                    return 1;
        } else if (strcmp(line, "calm") == 0) {
            atomic_store(&calm, true);
            for (size_t i = 0; i < THREADS; i++)
                pthread_join(threads[i], NULL);
            dprintf(1, "%lu\n", atomic_load(&pairs)); /* without memory of malloc's */
            continue;
        } else {
            return 2;
        }
        (void)!write(1, "ok\n", 3);
    }
    return 0;
}
