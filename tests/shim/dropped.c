/* dropped.c - a recorded program of root's, processes of which become user 65534.
 *
 *   dropped self|raw|threads|exec COUNT   the program itself, by libc, past libc, with other threads calling, in what it executes
 *   dropped workers COUNT                 64 of its children
 *   dropped attack COUNT                  a child does to its shared memory what a process can, COUNT times, beside one of root's
 *   dropped full COUNT                    the same, after it has filled /dev/shm, which is to be the test's own
 *   dropped apart|unheard COUNT           where no collector answers: in a network of its own, or where somebody stops it
 *   dropped inside COUNT                  it stays root, under other numbers: in a user namespace of its own, which has no network either
 *
 * An attacker asks for the descriptors of its memory, too, and is to be refused whatever would cut it, or write to what it is told.
 *
 * COUNT mallocs of 7001 bytes are made by root, as many of 7002 by the user. Exits with 9 where a user has root's memory mapped, or
 * may write to what it is told. */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shim/modes.h"
#include "shim/shared/segment.h"

#define USER    65534
#define WORKERS 64
#define THREADS 4

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

/* As any process of a recorded tree may: by a datagram to the recording's socket. Exits with 7 where no descriptors come. */
static void ask(int ret_fds[2])
{
    const struct seg_ask wish = {.mark = SEG_ASK_MARK, .serial = SEG_NOBODY};
    const char *segment = getenv("MALLAB_SEGMENT"), *name = segment != NULL ? strrchr(segment, '/') + 1 : "";
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    const socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
    const sa_family_t family = AF_UNIX;
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(2 * sizeof(int))];
    } control = {{0}};
    uint32_t slot;
    struct iovec part = {&slot, sizeof slot};
    struct msghdr answer = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    const int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    memcpy(to.sun_path + 1, name, strlen(name));
    if (bind(fd, (const struct sockaddr *)&family, sizeof family) != 0 ||
        sendto(fd, &wish, sizeof wish, 0, (const struct sockaddr *)&to, size) != sizeof wish ||
        recvmsg(fd, &answer, 0) <= 0 || answer.msg_controllen < CMSG_LEN(2 * sizeof(int)))
        _exit(7);
    memcpy(ret_fds, CMSG_DATA(&control.head), 2 * sizeof(int));
}

/* Of the shared part pages can be taken out, as by its mapping; no byte of its size. Of what is told nothing at all. */
static void try_descriptors(void)
{
    int fds[2];
    char path[32];
    ask(fds);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fds[0]);
    const off_t bytes = lseek(fds[1], 0, SEEK_END);
    if (ftruncate(fds[1], 0) == 0 || ftruncate(fds[1], bytes - 4096) == 0 ||
        ftruncate(fds[1], 2 * bytes) == 0 || fallocate(fds[1], 0, bytes, 4096) == 0 ||
        fcntl(fds[1], F_ADD_SEALS, F_SEAL_WRITE) == 0)
        _exit(9);
    if (ftruncate(fds[0], 0) == 0 || write(fds[0], path, 1) == 1 || open(path, O_RDWR) >= 0 ||
        open(path, O_RDONLY | O_TRUNC) >= 0 ||
        fallocate(fds[0], FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096) == 0 ||
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fds[0], 0) != MAP_FAILED)
        _exit(9);
    (void)fallocate(fds[1], FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, bytes);
}

/* Until there is no page left. */
static void fill(void)
{
    static char bytes[1 << 20];
    const int fd = open("/dev/shm/filled", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    for (size_t size = sizeof bytes; size > 0;)
        if (write(fd, bytes, size) <= 0)
            size /= 2;
    (void)close(fd);
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
    try_descriptors();
    _exit(0);
}

static void attack_full(long count)
{
    fill();
    attack(count);
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
    if (strcmp(how, "full") == 0)
        return children(1, attack_full, count);
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
