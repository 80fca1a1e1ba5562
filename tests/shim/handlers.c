/* handlers.c - signal handlers that interrupt allocator calls; with signalling.c's library behind ours, or any allocator.
 *
 *   handlers nested   malloc(919) and free of it are interrupted by a handler that calls malloc(920) and free; with calls of
 *                     calloc(1, 921), which the allocator serves by malloc
 *   handlers timer    a timer's handler leaves the program by siglongjmp, wherever it is, and malloc(923) and free follow */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define COUNT 1000
#define JUMPS 100

static volatile sig_atomic_t handled, inside;
static sigjmp_buf away;

static void on_nested(int number)
{
    void *volatile object = malloc(920);
    free(object);
    handled++;
}

static void on_timer(int number)
{
    if (!inside)
        return;
    inside = 0; /* once for each way out */
    handled++;
    siglongjmp(away, 1);
}

static void nested(void)
{
    signal(SIGUSR1, on_nested);
    for (int i = 0; i < COUNT; i++) {
        void *volatile object = malloc(919), *volatile zeroed = calloc(1, 921);
        free(object);
        free(zeroed);
    }
}

static void timer(void)
{
    const struct itimerval soon = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
    volatile long calls = 0;
    signal(SIGALRM, on_timer);
    setitimer(ITIMER_REAL, &soon, NULL);
    while (handled < JUMPS) {
        if (sigsetjmp(away, 1) == 0) {
            inside = 1;
            for (;;) {
                (void)!malloc(922);
                calls++;
                if (calls % 64 == 0)
                    free(NULL);
            }
        }
        free(malloc(923));
    }
    setitimer(ITIMER_REAL, &never, NULL);
    dprintf(1, "calls %ld ", calls);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "nested") == 0)
        nested();
    if (strcmp(what, "timer") == 0)
        timer();
    dprintf(1, "handled %d\n", (int)handled);
    return 0;
}
