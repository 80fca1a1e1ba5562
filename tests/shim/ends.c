/* ends.c - processes and threads that end where it hurts, between or inside their calls. Checked by test_ends.py.
 *
 *   segv | quick | raw | nomemory      after COUNT calls of size 5001; `quick` allocates in at_quick_exit too
 *   inside                             under killer.c's malloc, which kills within the call it is told to
 *   rawthreads                         threads end by the system call, holding a chunk
 *   cancelled                          threads are cancelled wherever they are between their calls
 *   late                               objects of a thread are freed by destructors of every kind
 *   many                               1,000 threads at one time */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shim/modes.h"

#define COUNT   1000
#define THREADS 20
#define MANY    1000
#define KILL_AT 5099 /* killer.c */

static pthread_t start(void *(*body)(void *), void *argument)
{
    pthread_attr_t small;
    pthread_t thread;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    if (pthread_create(&thread, &small, body, argument) != 0)
        abort();
    return thread;
}

/* ---- processes ------------------------------------------------------------------------------------- */

static void at_quick(void)
{
    use(5002, 10);
}

static int no_memory(void)
{
    int failed = 0;
    for (int i = 0; i < 10; i++) {
        void *volatile object = malloc((size_t)1 << 40);
        failed += object == NULL;
    }
    printf("failed %d\n", failed);
    return 0;
}

/* ---- threads ---------------------------------------------------------------------------------------- */

static void *end_raw(void *unused)
{
    use(5101, 10);
    syscall(SYS_exit, 0);
    return NULL;
}

/* Nothing joins them: their thread ids stay set for ever, as with a runtime of one's own. */
static int raw_threads(void)
{
    for (int i = 0; i < THREADS; i++)
        (void)start(end_raw, NULL);
    while (access("/proc/self/task", F_OK) == 0) {
        char text[4096];
        FILE *file = fopen("/proc/self/stat", "r");
        const size_t got = file != NULL ? fread(text, 1, sizeof text - 1, file) : 0;
        const char *at;
        int threads = 0;
        if (file == NULL)
            return 1;
        fclose(file);
        text[got] = '\0';
        at = strrchr(text, ')');
        if (at == NULL ||
            sscanf(at, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %d",
                   &threads) != 1)
            return 1;
        if (threads == 1)
            break;
        usleep(1000);
    }
    use(5102, COUNT);
    return 0;
}

static pthread_barrier_t everybody;
static _Atomic int completed;

static void *until_cancelled(void *unused)
{
    pthread_barrier_wait(&everybody);
    for (;;) {
        void *volatile object = malloc(5103);
        free(object);
        completed++;
        if (completed % 8 == 0)
            usleep(100); /* cancelled here, or just before it */
        pthread_testcancel();
    }
    return NULL;
}

static int cancelled(void)
{
    pthread_t threads[THREADS];
    pthread_barrier_init(&everybody, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        threads[i] = start(until_cancelled, NULL);
    pthread_barrier_wait(&everybody);
    for (int i = 0; i < THREADS; i++) {
        pthread_cancel(threads[i]);
        pthread_join(threads[i], NULL);
    }
    printf("completed %d\n", completed);
    return 0;
}

extern int __cxa_thread_atexit_impl(void (*function)(void *), void *object, void *library);
extern void *__dso_handle;

static pthread_key_t first_key, last_key;

/* In the third round of the first key: ours, made later, has had as many. */
static void free_late(void *value)
{
    static __thread int rounds;
    if (++rounds < 3)
        pthread_setspecific(first_key, value);
    else
        free(value);
}

static void *leave_objects(void *unused)
{
    __cxa_thread_atexit_impl(free, malloc(5104), &__dso_handle);
    pthread_setspecific(first_key, malloc(5105));
    pthread_setspecific(last_key, malloc(5106));
    return NULL;
}

static int late(void)
{
    pthread_key_create(&last_key, free);
    for (int i = 0; i < THREADS; i++)
        pthread_join(start(leave_objects, NULL), NULL);
    return 0;
}

/* Before anything allocates, so that this key's destructor comes before that of the recorder. */
__attribute__((constructor)) static void make_first_key(void)
{
    pthread_key_create(&first_key, free_late);
}

static void *one_of_many(void *unused)
{
    use(5107, 100);
    pthread_barrier_wait(&everybody);
    use(5108, 100);
    return NULL;
}

static int many(void)
{
    static pthread_t threads[MANY];
    pthread_barrier_init(&everybody, NULL, MANY);
    for (int i = 0; i < MANY; i++)
        threads[i] = start(one_of_many, NULL);
    for (int i = 0; i < MANY; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

static const struct mode MODES[] = {
    {"rawthreads", raw_threads}, {"cancelled", cancelled}, {"late", late}, {"many", many}, {0},
};

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    const int code = run_mode(MODES, what);
    if (code >= 0)
        return code;
    use(5001, COUNT);
    if (strcmp(what, "segv") == 0)
        raise(SIGSEGV);
    if (strcmp(what, "quick") == 0) {
        quick_exit(at_quick_exit(at_quick) == 0 ? 7 : 8);
    }
    if (strcmp(what, "raw") == 0)
        syscall(SYS_exit_group, 7);
    if (strcmp(what, "nomemory") == 0)
        return no_memory();
    if (strcmp(what, "inside") == 0)
        use(KILL_AT, 1);
    return 2;
}
