/* handover.c - threads that free what other threads allocated: handover ROUNDS KEEP
 *
 * Four threads, all alive at once, each allocating for the next one in a ring: half of what a thread frees, and all that it resizes, was
 * another's. Afterwards main keeps KEEP objects. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 4, SLOTS = 64, KEPT_BYTES = 1000 };

struct mailbox {
    pthread_mutex_t lock;
    void *slots[SLOTS];
    unsigned used;
};

struct worker {
    pthread_t thread;
    unsigned number;
    unsigned long rounds;
    uint64_t random;
};

static struct mailbox mailboxes[THREADS];
static pthread_barrier_t barrier;

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Resize every fourth and free everything; all of it came from the thread before in the ring. */
static void drain(struct worker *worker)
{
    struct mailbox *mine = &mailboxes[worker->number];
    void *taken[SLOTS];
    pthread_mutex_lock(&mine->lock);
    const unsigned count = mine->used;
    for (unsigned i = 0; i < count; i++)
        taken[i] = mine->slots[i];
    mine->used = 0;
    pthread_mutex_unlock(&mine->lock);
    for (unsigned i = 0; i < count; i++) {
        if (next_random(&worker->random) % 4 == 0)
            taken[i] = realloc(taken[i], 1 + next_random(&worker->random) % 4000);
        free(taken[i]);
    }
}

static void hand_over(struct worker *worker, void *object)
{
    struct mailbox *other = &mailboxes[(worker->number + 1) % THREADS];
    pthread_mutex_lock(&other->lock);
    if (other->used < SLOTS) {
        other->slots[other->used++] = object;
        object = NULL;
    }
    pthread_mutex_unlock(&other->lock);
    free(object); /* the neighbour is behind, or it is NULL */
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    pthread_barrier_wait(&barrier);
    for (unsigned long round = 0; round < worker->rounds; round++) {
        for (int i = 0; i < 2; i++) {
            char *object = malloc(1 + next_random(&worker->random) % 2000);
            if (!object)
                abort();
            object[0] = 1;
            if (i == 0)
                hand_over(worker, object);
            else
                free(object);
        }
        if (round % 16 == 0)
            drain(worker);
    }
    pthread_barrier_wait(&barrier); /* from here on nobody hands over */
    drain(worker);
    return NULL;
}

int main(int argc, char **argv)
{
    static struct worker workers[THREADS];
    if (argc != 3)
        return 2;
    const unsigned long rounds = strtoul(argv[1], NULL, 10), keep = strtoul(argv[2], NULL, 10);

    pthread_barrier_init(&barrier, NULL, THREADS);
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_mutex_init(&mailboxes[i].lock, NULL);
        workers[i] = (struct worker){.number = i, .rounds = rounds, .random = 88172645463325252u + i};
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
            return 1;
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    for (unsigned long i = 0; i < keep; i++) {
        char *volatile kept = calloc(10, KEPT_BYTES / 10);
        if (!kept)
            return 1;
    }
    _exit(0);
}
