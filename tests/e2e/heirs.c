/* heirs.c - a process that forks twice in a row, each child going on with what its parent held, and what it says of it.
 *
 * Prints a line of JSON for each process: objects and bytes that it holds at its start of those made here, and how
 * many of them it releases. One thread holds half of them, so that both threads' calls matter. */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HELD = 1000, THREAD_HELD = 500 };

static void *held[HELD];
static size_t sizes[HELD];
static size_t count, bytes;

static void keep(void *object, size_t size)
{
    if (object == NULL)
        abort();
    held[count] = object;
    sizes[count++] = size;
    bytes += size;
}

static void *make_half(void *unused)
{
    for (int i = 0; i < THREAD_HELD; i++)
        keep(malloc(100 + (size_t)i), 100 + (size_t)i);
    return unused;
}

static void make_other_half(void)
{
    for (size_t i = count; i < HELD; i++) {
        const size_t size = 50 + i;
        switch (i % 4) {
        case 0:
            keep(calloc(1, size), size);
            break;
        case 1:
            keep(realloc(malloc(7), size), size);
            break;
        case 2:
            keep(memalign(64, size), size);
            break;
        default:
            keep(malloc(size), size);
        }
    }
}

static void release_every(size_t step)
{
    size_t kept = 0;
    bytes = 0;
    for (size_t i = 0; i < count; i++) {
        if (i % step == 0) {
            free(held[i]);
        } else {
            held[kept] = held[i];
            sizes[kept] = sizes[i];
            bytes += sizes[kept++];
        }
    }
    count = kept;
}

static void say(const char *who)
{
    char line[200];
    const int length = snprintf(line, sizeof line,
                                "{\"who\": \"%s\", \"pid\": %d, \"objects\": %zu, \"bytes\": %zu}\n", who,
                                (int)getpid(), count, bytes);
    if (write(STDOUT_FILENO, line, (size_t)length) != length)
        abort();
}

/* Nothing of the C library's own is allocated between a fork and what is said of it. */
static void in_child(void (*then)(void))
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        then();
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        abort();
}

static void grandchild(void)
{
    say("grandchild");
    release_every(2);
}

static void child(void)
{
    say("child");
    release_every(3);
    in_child(grandchild);
}

int main(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, make_half, NULL) != 0 || pthread_join(thread, NULL) != 0)
        return 1;
    make_other_half();
    release_every(5);
    in_child(child);
    release_every(1);
    return 0;
}
