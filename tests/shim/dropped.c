/* dropped.c - a recorded program of root's, processes of which become user 65534.
 *
 *   dropped self|raw|threads|exec COUNT   the program itself, by libc, past libc, with other threads calling, in what it executes
 *   dropped workers COUNT                 64 of its children
 *   dropped attack COUNT                  a child does to its shared memory what a process can, COUNT times, beside one of root's
 *   dropped apart|unheard COUNT           where no collector answers: in a network of its own, or where somebody stops it
 *   dropped inside COUNT                  it stays root, under other numbers: in a user namespace of its own, which has no network either
 *
 * COUNT mallocs of 7001 bytes are made by root, as many of 7002 by the user. Exits with 9 where a user has root's memory mapped, or
 * may write to what it is told. */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define USER    65534
#define WORKERS 64
#define THREADS 4

static void use(size_t size, long count)
{
    for (long i = 0; i < count; i++) {
        void *volatile object = malloc(size);
        free(object);
    }
}

static void drop(void)
{
    if (setgid(USER) != 0 || setuid(USER) != 0)
        _exit(5);
}

struct mapping {
    char *from, *to;
    int writable;
};

/* The recorder's mappings. Returns how many; a file of root's in /dev/shm is one that a user may not have. */
static int find_mappings(struct mapping mappings[4])
{
    char line[512], access[8];
    unsigned long from, to;
    int count = 0;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps != NULL && count < 4 && fgets(line, sizeof line, maps) != NULL) {
        if (strstr(line, "mallab-0-") == NULL || sscanf(line, "%lx-%lx %7s", &from, &to, access) != 3)
            continue;
        if (strstr(line, "/dev/shm") != NULL)
            _exit(9);
        mappings[count++] = (struct mapping){(char *)from, (char *)to, access[1] == 'w'};
    }
    if (maps != NULL)
        (void)fclose(maps);
    return count;
}

static void check_mappings(void)
{
    struct mapping mappings[4];
    if (find_mappings(mappings) != 2)
        _exit(8);
}

static uint64_t random_state = 88172645463325252u;

static uint64_t random_word(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

static void attack(long count)
{
    struct mapping mappings[4];
    const int found = find_mappings(mappings);
    for (int i = 0; i < found; i++) {
        const struct mapping *mapping = &mappings[i];
        const size_t bytes = (size_t)(mapping->to - mapping->from);
        if (!mapping->writable) {
            if (mprotect(mapping->from, bytes, PROT_READ | PROT_WRITE) == 0 ||
                madvise(mapping->from, bytes, MADV_REMOVE) == 0)
                _exit(9);
            continue;
        }
        for (long k = 0; k < count; k++) {
            char *page = mapping->from + random_word() % (bytes / 4096) * 4096;
            if (k % 64 == 0)
                (void)madvise(page, 4096, MADV_REMOVE);
            ((volatile uint64_t *)page)[random_word() % 512] = random_word();
        }
        /* Whatever of the file comes to stand there, nothing of it is what is told. */
        (void)syscall(SYS_remap_file_pages, mapping->from, 4096L, 0, 0L, 0);
        memset(mapping->from, 1, 4096);
        (void)mremap(mapping->from, bytes, 2 * bytes, MREMAP_MAYMOVE);
        (void)!madvise(mapping->from, bytes, MADV_REMOVE);
    }
    _exit(0);
}

static volatile int is_over;
static _Atomic long called;

static void *call(void *argument)
{
    (void)argument;
    while (!is_over) {
        use(7002, 100);
        called += 100;
    }
    return NULL;
}

static void with_threads(long count)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, call, NULL) != 0)
            _exit(2);
    while (called < count)
        ;
    drop();
    const long before = called;
    while (called < before + count)
        ;
    is_over = 1;
    for (int i = 0; i < THREADS; i++)
        (void)pthread_join(threads[i], NULL);
    check_mappings();
    printf("%ld\n", called);
    (void)fflush(stdout);
}

static int children(int many, void (*body)(long), long count)
{
    int status, worst = 0;
    for (int i = 0; i < many; i++)
        if (fork() == 0) {
            use(7003, i % 2); /* it may have called before, or not */
            drop();
            body(count);
            _exit(0);
        }
    use(7001, count);
    while (wait(&status) > 0)
        worst = WIFEXITED(status) && WEXITSTATUS(status) > worst ? WEXITSTATUS(status) : worst;
    return worst;
}

static void work(long count)
{
    check_mappings();
    use(7002, count);
}

static void unshare_all(int flags)
{
    if (unshare(flags) != 0)
        _exit(77);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    const long count = argc > 2 ? atol(argv[2]) : 0;
    char number[24];
    (void)snprintf(number, sizeof number, "%ld", count);
    if (strcmp(how, "workers") == 0)
        return children(WORKERS, work, count);
    if (strcmp(how, "attack") == 0)
        return children(1, attack, count);
    if (strcmp(how, "user") == 0) {
        work(count);
        return 0;
    }
    if (strcmp(how, "inside") == 0) {
        unshare_all(CLONE_NEWUSER | CLONE_NEWNET);
        use(7001, count);
        (void)!setuid(getuid()); /* it fails: no number is mapped */
        use(7001, count);
        return 0;
    }
    if (strcmp(how, "apart") == 0)
        unshare_all(CLONE_NEWNET);
    use(7001, count);
    if (strcmp(how, "apart") == 0 || strcmp(how, "unheard") == 0) {
        struct mapping mappings[4];
        drop();
        use(7002, count);
        return find_mappings(mappings) == 0 ? 0 : 8;
    }
    if (strcmp(how, "threads") == 0) {
        with_threads(count);
    } else if (strcmp(how, "raw") == 0) {
        if (((long (*)(long, ...))(uintptr_t)syscall)(SYS_setfsuid, 0) < 0 || syscall(SYS_setuid, USER) != 0)
            return 5;
        work(count);
    } else {
        drop();
        if (strcmp(how, "exec") == 0)
            (void)execl("/proc/self/exe", argv[0], "user", number, (char *)NULL);
        work(count);
    }
    return 0;
}
