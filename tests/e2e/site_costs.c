/* site_costs.c - a program of which it is known what each place holds at the peak: test_site_costs.py. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define OBJECTS 20000

static void *filled[OBJECTS], *scattered[OBJECTS];
static void *reserved;

/* 20,000 objects of 1,000 bytes, all written. */
__attribute__((noinline)) static void fills(void)
{
    for (int i = 0; i < OBJECTS; i++)
        filled[i] = memset(malloc(1000), 1, 1000);
}

/* 20,000 of 100 bytes, by another thread. */
__attribute__((noinline)) static void *scatters(void *unused)
{
    for (int i = 0; i < OBJECTS; i++)
        scattered[i] = memset(malloc(100), 1, 100);
    return unused;
}

/* 64 MiB that nobody writes to but for its begin. */
__attribute__((noinline)) static void reserves(void)
{
    reserved = malloc(64u << 20);
    memset(reserved, 1, 100);
}

/* 30,000 objects, one after the other, before the peak. */
__attribute__((noinline)) static void churns(void)
{
    for (int i = 0; i < 30000; i++)
        free(memset(malloc(32), 1, 32));
}

int main(void)
{
    pthread_t thread;
    churns();
    fills();
    if (pthread_create(&thread, NULL, scatters, NULL) != 0 || pthread_join(thread, NULL) != 0)
        return 1;
    reserves();
    for (int i = 0; i < OBJECTS; i++) {
        free(filled[i]);
        free(scattered[i]);
    }
    free(reserved);
    return 0;
}
