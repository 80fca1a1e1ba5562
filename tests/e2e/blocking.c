/* blocking.c - a thread in each system call that waits, to be attached to: none may see that it was stopped.
 *
 * Says ready, and waits for a line; then it serves all that is waited for, and tells of each call what it returned, and errno where it
 * failed: the same whether somebody attached meanwhile or not. */
#include <errno.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define BYTES (4u << 20) /* more than a pipe or a socket takes */
#define DAY_S 86400

struct wait {
    const char *name;
    int ours, theirs; /* where the thread waits, and where that is served; -1: none */
    ssize_t (*call)(const struct wait *wait);
    bool sends;
    ssize_t result;
    int error;
    pthread_t thread;
};

static char bytes[BYTES];
static int semaphores, file;
static struct io_uring_params ring_shape;

static ssize_t by_epoll_pwait(const struct wait *wait)
{
    struct epoll_event event = {.events = EPOLLIN};
    sigset_t mask;
    const int epoll = epoll_create1(EPOLL_CLOEXEC);
    sigfillset(&mask);
    epoll_ctl(epoll, EPOLL_CTL_ADD, wait->ours, &event);
    return epoll_pwait(epoll, &event, 1, -1, &mask);
}

static ssize_t by_epoll_pwait2(const struct wait *wait)
{
    struct epoll_event event = {.events = EPOLLIN};
    const struct timespec time = {DAY_S, 0};
    const int epoll = epoll_create1(EPOLL_CLOEXEC);
    epoll_ctl(epoll, EPOLL_CTL_ADD, wait->ours, &event);
    return syscall(SYS_epoll_pwait2, epoll, &event, 1, &time, NULL, 0);
}

static ssize_t by_readv(const struct wait *wait)
{
    char here[8];
    const struct iovec part = {here, sizeof here};
    return readv(wait->ours, &part, 1);
}

static ssize_t by_recv(const struct wait *wait)
{
    char here[8];
    return recv(wait->ours, here, sizeof here, 0);
}

static ssize_t by_recv_all(const struct wait *wait)
{
    char here[8];
    return recv(wait->ours, here, 4, MSG_WAITALL);
}

static ssize_t by_recvmmsg(const struct wait *wait)
{
    char here[2][8];
    struct iovec parts[2] = {{here[0], 1}, {here[1], 1}};
    struct mmsghdr messages[2] = {{.msg_hdr = {.msg_iov = &parts[0], .msg_iovlen = 1}},
                                  {.msg_hdr = {.msg_iov = &parts[1], .msg_iovlen = 1}}};
    return recvmmsg(wait->ours, messages, 2, 0, NULL);
}

static ssize_t by_write(const struct wait *wait)
{
    return write(wait->ours, bytes, BYTES);
}

static ssize_t by_writev(const struct wait *wait)
{
    const struct iovec parts[2] = {{bytes, BYTES / 2}, {bytes, BYTES / 2}};
    return writev(wait->ours, parts, 2);
}

static ssize_t by_send(const struct wait *wait)
{
    return send(wait->ours, bytes, BYTES, 0);
}

static ssize_t by_sendmmsg(const struct wait *wait)
{
    struct iovec part = {bytes, BYTES};
    struct mmsghdr message = {.msg_hdr = {.msg_iov = &part, .msg_iovlen = 1}};
    return sendmmsg(wait->ours, &message, 1, 0) == 1 ? (ssize_t)message.msg_len : -1;
}

static ssize_t by_sendfile(const struct wait *wait)
{
    off_t from = 0;
    return sendfile(wait->ours, file, &from, BYTES);
}

static ssize_t by_semop(const struct wait *wait)
{
    struct sembuf take = {.sem_num = 0, .sem_op = -1};
    (void)wait;
    return semop(semaphores, &take, 1);
}

static ssize_t by_semtimedop(const struct wait *wait)
{
    struct sembuf take = {.sem_num = 0, .sem_op = -1};
    const struct timespec time = {DAY_S, 0};
    (void)wait;
    return semtimedop(semaphores, &take, 1, &time);
}

static ssize_t by_accept(const struct wait *wait)
{
    const int got = accept(wait->ours, NULL, NULL);
    return got < 0 ? got : 0;
}

/* The queue is full: one connection that nobody accepts. */
static ssize_t by_connect(const struct wait *wait)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const struct timeval time = {DAY_S, 0};
    socklen_t length = sizeof address;
    const int mine = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(mine, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
    getsockname(wait->theirs, (struct sockaddr *)&address, &length);
    return connect(mine, (struct sockaddr *)&address, length);
}

/* For a completion, of which serve() makes one; the ring is `ours`. Where none can be had (-1) the call fails at once, attached or not. */
static ssize_t by_io_uring(const struct wait *wait)
{
    return syscall(SYS_io_uring_enter, wait->ours, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0);
}

static void complete_one(int ring, const struct io_uring_params *shape)
{
    const size_t most = 1 << 16;
    char *queue = mmap(NULL, most, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
    struct io_uring_sqe *entry = mmap(NULL, sizeof *entry, PROT_READ | PROT_WRITE, MAP_SHARED, ring,
                                      IORING_OFF_SQES);
    if (queue == MAP_FAILED || (void *)entry == MAP_FAILED)
        exit(2);
    entry->opcode = IORING_OP_NOP;
    *(uint32_t *)(void *)(queue + shape->sq_off.array) = 0;
    __atomic_store_n((uint32_t *)(void *)(queue + shape->sq_off.tail), 1, __ATOMIC_RELEASE);
    if (syscall(SYS_io_uring_enter, ring, 1, 0, 0, NULL, 0) != 1)
        exit(2);
}

static struct wait waits[] = {
    {.name = "epoll_pwait", .call = by_epoll_pwait},
    {.name = "epoll_pwait2", .call = by_epoll_pwait2},
    {.name = "readv", .call = by_readv},
    {.name = "recv", .call = by_recv},
    {.name = "recv all", .call = by_recv_all},
    {.name = "recvmmsg", .call = by_recvmmsg},
    {.name = "write", .call = by_write, .sends = true},
    {.name = "writev", .call = by_writev, .sends = true},
    {.name = "send", .call = by_send, .sends = true},
    {.name = "sendmmsg", .call = by_sendmmsg, .sends = true},
    {.name = "sendfile", .call = by_sendfile, .sends = true},
    {.name = "semop", .call = by_semop},
    {.name = "semtimedop", .call = by_semtimedop},
    {.name = "accept", .call = by_accept},
    {.name = "connect", .call = by_connect},
    {.name = "io_uring", .call = by_io_uring},
};

#define WAIT_COUNT (sizeof waits / sizeof waits[0])

static void *run(void *argument)
{
    struct wait *wait = argument;
    errno = 0;
    wait->result = wait->call(wait);
    wait->error = wait->result < 0 ? errno : 0;
    if (wait->sends)
        close(wait->ours);
    return NULL;
}

static int listening(int queue)
{
    const struct sockaddr_un any = {.sun_family = AF_UNIX};
    const int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(made, (const struct sockaddr *)&any, sizeof any.sun_family) != 0 || listen(made, queue) != 0)
        exit(2);
    return made;
}

static int connected(int to)
{
    struct sockaddr_un address;
    socklen_t length = sizeof address;
    const int mine = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    getsockname(to, (struct sockaddr *)&address, &length);
    return connect(mine, (struct sockaddr *)&address, length) == 0 ? mine : -1;
}

static void prepare(struct wait *wait)
{
    const struct timeval time = {DAY_S, 0};
    int pair[2];
    if (strcmp(wait->name, "connect") == 0) {
        wait->theirs = listening(0);
        (void)connected(wait->theirs);
    } else if (strcmp(wait->name, "io_uring") == 0) {
        wait->ours = (int)syscall(SYS_io_uring_setup, 1, &ring_shape);
        return;
    } else if (strcmp(wait->name, "accept") == 0) {
        wait->ours = listening(1);
    } else if (strcmp(wait->name, "write") == 0) {
        if (pipe(pair) != 0)
            exit(2);
        wait->theirs = pair[0];
        wait->ours = pair[1];
    } else if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0) {
        wait->ours = pair[0];
        wait->theirs = pair[1];
    }
    setsockopt(wait->ours, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    setsockopt(wait->ours, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
}

static void serve(const struct wait *wait)
{
    static char sink[1 << 16];
    struct sembuf give = {.sem_num = 0, .sem_op = 1};
    if (wait->call == by_semop || wait->call == by_semtimedop)
        (void)semop(semaphores, &give, 1);
    else if (wait->call == by_accept)
        (void)connected(wait->ours);
    else if (wait->call == by_io_uring && wait->ours >= 0)
        complete_one(wait->ours, &ring_shape);
    else if (wait->call == by_io_uring)
        return;
    else if (wait->call == by_connect)
        (void)accept(wait->theirs, NULL, NULL);
    else if (wait->sends)
        while (read(wait->theirs, sink, sizeof sink) > 0)
            ;
    else
        for (int i = 0; i < (wait->call == by_recvmmsg || wait->call == by_recv_all ? 2 : 1); i++)
            if (write(wait->theirs, "23", 2) != 2)
                exit(2);
}

int main(void)
{
    char byte;
    semaphores = semget(IPC_PRIVATE, 1, 0600 | IPC_CREAT);
    file = memfd_create("blocking", MFD_CLOEXEC);
    if (semaphores < 0 || file < 0 || ftruncate(file, BYTES) != 0)
        return 2;
    for (size_t i = 0; i < WAIT_COUNT; i++) {
        prepare(&waits[i]);
        if (pthread_create(&waits[i].thread, NULL, run, &waits[i]) != 0)
            return 2;
    }
    if (write(1, "ready\n", 6) != 6 || read(0, &byte, 1) != 1)
        return 2;
    for (size_t i = 0; i < WAIT_COUNT; i++)
        serve(&waits[i]);
    for (size_t i = 0; i < WAIT_COUNT; i++) {
        pthread_join(waits[i].thread, NULL);
        printf("%s %zd %d\n", waits[i].name, waits[i].result, waits[i].error);
    }
    semctl(semaphores, 0, IPC_RMID);
    return 0;
}
