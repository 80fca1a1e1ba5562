/* sites.c - a program of which it is known who allocates: counts below are what test_sites.py and test_attach.py expect.
 *
 * sites [wait]: with an argument it says `ready` behind 50 objects of 300 bytes, waits for a line before it does the rest, says
 * `done`, and waits for another. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEEP 300

static void *kept[KEEP];
static void *passed[100];

/* Hands on, by its name. */
__attribute__((noinline)) static void *xmalloc(size_t size)
{
    void *object = malloc(size);
    if (object == NULL)
        abort();
    memset(object, 1, size);
    return object;
}

/* 1,000 objects of 100 bytes, each freed at once. */
__attribute__((noinline)) static void churns(void)
{
    for (int i = 0; i < 1000; i++)
        free(xmalloc(100));
}

/* 300 objects of 64 bytes, never freed, over all of the time. */
__attribute__((noinline)) static void keeps(int from, int to)
{
    for (int i = from; i < to; i++)
        kept[i] = xmalloc(64);
}

/* A block of 1 kB grows ten times by 1 kB, and is freed. */
__attribute__((noinline)) static void grows(void)
{
    char *block = malloc(1000);
    for (size_t i = 2; i <= 11; i++)
        block = realloc(block, 1000 * i);
    free(block);
}

/* 20 levels, one object of 50 bytes on each; freed on the way back. */
__attribute__((noinline)) static void descends(int depth)
{
    char *volatile own = malloc(50);
    if (depth > 1)
        descends(depth - 1);
    free(own);
}

/* 100 objects of 200 bytes, freed by main. */
__attribute__((noinline)) static void hands_over(void)
{
    for (int i = 0; i < 100; i++)
        passed[i] = malloc(200);
}

static void *thread(void *nothing)
{
    hands_over();
    return nothing;
}

/* 50 objects of 300 bytes, and 25 of them freed when somebody may have attached. */
__attribute__((noinline)) static void *comes_before(int i)
{
    return i < 50 ? malloc(300) : NULL;
}

/* 8 MB, of which the first half is used. */
__attribute__((noinline)) static void uses_half(void)
{
    char *object = malloc(8 << 20);
    memset(object, 1, 4 << 20);
    free(object);
}

/* Without stdio, which waits with a lock of libc's. */
static void say_and_wait(const char *word)
{
    char answer;
    if (write(1, word, strlen(word)) < 0 || read(0, &answer, 1) < 0)
        abort();
}

int main(int argc, char **argv)
{
    void *before[50];
    pthread_t other;
    (void)argv;
    for (int i = 0; i < 50 && argc > 1; i++)
        before[i] = comes_before(i);
    if (argc > 1)
        say_and_wait("ready\n");
    for (int i = 0; i < 25 && argc > 1; i++)
        free(before[i]);
    for (int i = 0; i < 4; i++) {
        keeps(KEEP / 4 * i, KEEP / 4 * (i + 1));
        churns();
        grows();
        descends(20);
    }
    pthread_create(&other, NULL, thread, NULL);
    pthread_join(other, NULL);
    for (int i = 0; i < 100; i++)
        free(passed[i]);
    if (argc > 1) {
        uses_half();
        say_and_wait("done\n");
    }
    return 0;
}
