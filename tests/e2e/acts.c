/* acts.c - a random program with several threads that keeps its own log of what it asked the allocator for.
 *
 *   acts SEED THREADS OPS DIRECTORY
 *
 * Threads take objects from one another's hands (a table of slots), resize and release them; threads end early and others
 * take their places; main forks while they rest, and the child goes on alone, then with a thread of its own. The same seed
 * gives each thread the same wishes; who meets whom is up to the scheduler.
 *
 * The log lies in memory that the program maps itself, and each process writes it at its end with write(2): DIRECTORY/PID.
 * So nothing of it passes through the allocator. Every size leaves 37 when divided by 64, which nothing that the C library
 * asks for does; by that the reader of the log tells the program's own calls. */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SLOTS = 48, LOGS_MAX = 64, SERIALS_MAX = 1 << 20, ROUNDS = 3 };

/* One call, as test_acts.py unpacks it. */
struct entry {
    uint32_t call; /* 1 malloc, 2 calloc, 3 realloc, 5 free, 8 posix_memalign, 9 aligned_alloc, 10 memalign */
    uint32_t serial; /* the object: numbered by the program as it gets them; a resized one keeps its number */
    uint64_t size;   /* of one element */
    uint64_t extra;  /* elements, or alignment; of a realloc 1 where it was given NULL */
};

struct log {
    uint32_t thread_id, count;
    struct entry *entries; /* room for `room` */
};

static struct log *logs;        /* LOGS_MAX */
static void **objects;          /* by serial */
static uint64_t *object_bytes;  /* by serial */
static atomic_uint *slots;      /* SLOTS serials, 0: empty */
static atomic_uint last_serial; /* given out */
static atomic_uint log_count;
static unsigned ops_each, room;
static pthread_barrier_t rest;

static void *map(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        _exit(9);
    return at;
}

struct actor {
    uint64_t random;
    struct log *log;
};

static uint64_t next_random(struct actor *actor)
{
    uint64_t z = (actor->random += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static uint64_t random_size(struct actor *actor)
{
    const uint64_t shape = next_random(actor) % 64;
    const uint64_t blocks = shape == 0 ? 8192 : shape < 8 ? 512 : 24; /* some are mapped for themselves */
    return next_random(actor) % blocks * 64 + 37;
}

static void note(struct actor *actor, uint32_t call, uint32_t serial, uint64_t size, uint64_t extra)
{
    struct log *log = actor->log;
    if (log->count == room)
        _exit(8);
    log->entries[log->count++] = (struct entry){call, serial, size, extra};
}

static struct actor begin(uint64_t seed)
{
    const unsigned number = atomic_fetch_add(&log_count, 1);
    struct actor actor = {.random = seed * 1000003 + number};
    if (number >= LOGS_MAX)
        _exit(7);
    actor.log = &logs[number];
    actor.log->thread_id = (uint32_t)syscall(SYS_gettid);
    return actor;
}

static void release(struct actor *actor, uint32_t serial)
{
    note(actor, 5, serial, 0, 0);
    free(objects[serial]);
}

/* Put an object where others find it; what stood there has no place any more. */
static void hand_over(struct actor *actor, uint32_t serial)
{
    const uint32_t other = atomic_exchange(&slots[next_random(actor) % SLOTS], serial);
    if (other != 0)
        release(actor, other);
}

static uint32_t allocate(struct actor *actor)
{
    static const uint32_t calls[] = {1, 1, 1, 2, 3, 8, 9, 10};
    const uint32_t call = calls[next_random(actor) % 8];
    const uint32_t serial = 1 + atomic_fetch_add(&last_serial, 1);
    const uint64_t size = random_size(actor), alignment = UINT64_C(16) << next_random(actor) % 6,
                   count = 1 + next_random(actor) % 5;
    void *object = NULL;
    if (serial >= SERIALS_MAX)
        _exit(6);
    switch (call) {
    case 1:
        object = malloc(size);
        break;
    case 2:
        object = calloc(count, size);
        break;
    case 3:
        object = realloc(NULL, size);
        break;
    case 8:
        if (posix_memalign(&object, alignment, size) != 0)
            _exit(5);
        break;
    case 9:
        object = aligned_alloc(alignment, size);
        break;
    default:
        object = memalign(alignment, size);
    }
    if (object == NULL)
        _exit(5);
    *(volatile char *)object = 1;
    objects[serial] = object;
    object_bytes[serial] = call == 2 ? count * size : size;
    note(actor, call, serial, size, call == 1 ? 0 : call == 2 ? count : call == 3 ? 1 : alignment);
    return serial;
}

static void resize(struct actor *actor, uint32_t serial)
{
    const uint64_t size = random_size(actor);
    objects[serial] = realloc(objects[serial], size);
    if (objects[serial] == NULL)
        _exit(5);
    object_bytes[serial] = size;
    note(actor, 3, serial, size, 0);
}

/* What fails leaves no trace in a workload, and none in the log. */
static void fail(struct actor *actor, uint32_t serial)
{
    volatile size_t too_much = (size_t)1 << 62;
    void *volatile none = next_random(actor) % 2 == 0 ? malloc(too_much) : realloc(objects[serial], too_much);
    if (none != NULL)
        _exit(4);
}

static void act(struct actor *actor)
{
    const uint64_t wish = next_random(actor) % 100;
    const uint32_t serial = wish < 50 ? 0 : atomic_exchange(&slots[next_random(actor) % SLOTS], 0);
    if (serial == 0) {
        const uint32_t made = allocate(actor);
        if (wish % 4 == 0)
            release(actor, made); /* the way of most objects */
        else
            hand_over(actor, made);
    } else if (wish < 70) {
        resize(actor, serial);
        hand_over(actor, serial);
    } else if (wish == 99) {
        fail(actor, serial);
        hand_over(actor, serial);
    } else {
        release(actor, serial);
    }
}

static void *work(void *argument)
{
    struct actor actor = begin((uint64_t)(uintptr_t)argument);
    const unsigned ops = ops_each - (unsigned)(next_random(&actor) % (ops_each / 2 + 1));
    for (unsigned i = 0; i < ops; i++)
        act(&actor);
    return NULL;
}

/* As `work`, but rests while main forks. */
static void *work_and_rest(void *argument)
{
    struct actor actor = begin((uint64_t)(uintptr_t)argument);
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < ops_each / ROUNDS; i++)
            act(&actor);
        pthread_barrier_wait(&rest);
        pthread_barrier_wait(&rest);
    }
    return NULL;
}

static void write_whole(int fd, const void *bytes, size_t size)
{
    while (size > 0) {
        const ssize_t written = write(fd, bytes, size);
        if (written <= 0)
            _exit(3);
        bytes = (const char *)bytes + written;
        size -= (size_t)written;
    }
}

/* Threads' logs; before them the objects that a child was born with. */
static void write_log(const char *directory, const uint64_t *born, uint32_t born_count)
{
    char path[512];
    const uint32_t head[2] = {atomic_load(&log_count), born_count};
    snprintf(path, sizeof path, "%s/%ld", directory, (long)getpid());
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    write_whole(fd, head, sizeof head);
    write_whole(fd, born, born_count * 2 * sizeof *born);
    for (uint32_t i = 0; i < head[0]; i++) {
        write_whole(fd, &logs[i], 8);
        write_whole(fd, logs[i].entries, logs[i].count * sizeof *logs[i].entries);
    }
    close(fd);
}

/* The others rest: epochs pass, so that none of their calls stands in that of the fork. Of those that do it is not known
 * on which side of the fork they were (docs/notes/order.md, "Forked processes"). */
static void act_alone(struct actor *actor)
{
    for (int i = 0; i < 300; i++)
        act(actor);
}

static void clear_logs(void)
{
    atomic_store(&log_count, 0);
    for (unsigned i = 0; i < LOGS_MAX; i++)
        logs[i].count = 0;
}

static void be_child(uint64_t seed, const char *directory)
{
    uint64_t *born = map(SLOTS * 2 * sizeof *born);
    uint32_t born_count = 0;
    struct actor actor;
    pthread_t thread;
    for (unsigned i = 0; i < SLOTS; i++) {
        const uint32_t serial = atomic_load(&slots[i]);
        if (serial == 0)
            continue;
        born[2 * born_count] = serial;
        born[2 * born_count++ + 1] = object_bytes[serial];
    }
    clear_logs();
    actor = begin(seed + 77);
    for (unsigned i = 0; i < ops_each / 4; i++)
        act(&actor);
    if (pthread_create(&thread, NULL, work, (void *)(uintptr_t)(seed + 78)) != 0)
        _exit(2);
    for (unsigned i = 0; i < ops_each / 4; i++)
        act(&actor);
    pthread_join(thread, NULL);
    write_log(directory, born, born_count);
    _exit(0);
}

int main(int argc, char **argv)
{
    pthread_t threads[16], late[16];
    if (argc != 5)
        return 2;
    const uint64_t seed = strtoull(argv[1], NULL, 10);
    const unsigned count = (unsigned)strtoul(argv[2], NULL, 10);
    ops_each = (unsigned)strtoul(argv[3], NULL, 10);
    if (count < 1 || count > 16)
        return 2;
    room = ops_each * 4 + 10000;
    logs = map(LOGS_MAX * sizeof *logs);
    for (unsigned i = 0; i < LOGS_MAX; i++)
        logs[i].entries = map(room * sizeof *logs[i].entries);
    objects = map(SERIALS_MAX * sizeof *objects);
    object_bytes = map(SERIALS_MAX * sizeof *object_bytes);
    slots = map(SLOTS * sizeof *slots);
    struct actor actor = begin(seed);
    pthread_barrier_init(&rest, NULL, count + 1);
    for (unsigned i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, work_and_rest, (void *)(uintptr_t)seed) != 0)
            return 1;
    for (unsigned round = 0; round < ROUNDS; round++) {
        int status;
        for (unsigned i = 0; i < ops_each / ROUNDS; i++)
            act(&actor);
        pthread_barrier_wait(&rest);
        act_alone(&actor);
        const pid_t child = fork();
        if (child == 0)
            be_child(seed + round, argv[4]);
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
            return 1;
        act_alone(&actor);
        pthread_barrier_wait(&rest);
    }
    for (unsigned i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
        if (pthread_create(&late[i], NULL, work, (void *)(uintptr_t)(seed + 5)) != 0)
            return 1;
    }
    for (unsigned i = 0; i < count; i++)
        pthread_join(late[i], NULL);
    write_log(argv[4], NULL, 0);
    _exit(0);
}
