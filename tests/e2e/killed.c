/* killed.c - die by SIGKILL at a known count of calls.
 *
 *   killed COUNTERS CALLS THREADS
 *
 * THREADS threads (0: main itself) make pairs of aligned_alloc and free, a call nothing else makes; each
 * counts a call in its own 64-bit word of the file COUNTERS only once it has returned. When each
 * has made CALLS of them, the process kills itself, with the other threads in the middle of theirs. The file is
 * mapped shared, so the counts survive. */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { THREADS_MAX = 16 };

static _Atomic uint64_t *counters;
static uint64_t calls;

static void make_call(unsigned number, uint64_t done)
{
    char *volatile object = aligned_alloc(64, 64 * (1 + done % 7));
    if (!object)
        abort();
    atomic_store_explicit(&counters[number], done + 1, memory_order_release);
    free(object);
}

static void *work(void *argument)
{
    const unsigned number = (unsigned)(uintptr_t)argument;
    for (uint64_t done = 0;; done++)
        make_call(number, done);
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    const int descriptor = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (descriptor < 0 || ftruncate(descriptor, THREADS_MAX * 8) != 0)
        return 1;
    counters = mmap(NULL, THREADS_MAX * 8, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    calls = strtoull(argv[2], NULL, 10);
    const unsigned threads = (unsigned)strtoul(argv[3], NULL, 10);
    if (counters == MAP_FAILED || threads > THREADS_MAX)
        return 1;

    for (unsigned i = 0; i < threads; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, (void *)(uintptr_t)i) != 0)
            return 1;
    }
    for (unsigned i = 0; i < threads; i++)
        while (atomic_load_explicit(&counters[i], memory_order_acquire) < calls)
            sched_yield();
    if (threads == 0)
        for (uint64_t done = 0; done < calls; done++)
            make_call(0, done);
    kill(getpid(), SIGKILL);
    return 1;
}
