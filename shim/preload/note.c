/* note.c - tell the collector why a process of its tree could not be recorded, and what one that is recorded used.
 *
 * A process that cannot reach the recording's shared memory (another user's, in another root directory) cannot count
 * itself there either. A datagram to a socket without a place in any file system reaches the collector from wherever
 * the process is, and is in its queue although the process ends at once. The socket has the name of the segment's
 * file (collect/tell.c), so whoever knows the one knows the other. Its answer to nobody is silence.
 *
 * Where a process ends, nobody else can look in time. One that a signal ends, or that calls the kernel past libc, tells nothing: of that
 * the collector has its own looks (collect/looks.c), and they are older.
 *
 * Laws of this file: attach.h has them. _exit runs in signal handlers and in children that share their parent's memory. */
#include "shim/preload/attach.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "footprint/base/proc.h"
#include "shim/preload/confine.h"
#include "shim/preload/lane_chunk.h"

#define FULL_WAIT_NS   2000000u /* the collector looks at its queue every 20 ms at least */
#define FULL_WAITS     250
#define ANSWER_WAIT_NS 20000000
#define ANSWER_WAITS   100u /* two seconds */
#define STATUS_BYTES   3072u

/* The name is kept, because a program may clear its environment before it starts another. */
static char socket_name[64];

void note_take_name(const char *segment_path)
{
    const char *name = text_base_name(segment_path);
    if (socket_name[0] == '\0' && strlen(name) < sizeof socket_name)
        text_append(socket_name, sizeof socket_name, name);
}

void note_forget_name(void)
{
    socket_name[0] = '\0';
}

bool note_wanted(void)
{
    if (socket_name[0] == '\0' && text_environment_counts() && text_given("MALLAB_SEGMENT") != NULL)
        note_take_name(text_given("MALLAB_SEGMENT"));
    return socket_name[0] != '\0';
}

/* A full queue is waited for: a shell may start more programs than fit into it before the collector looks. */
static bool deliver(long fd, const char *text, size_t length, const struct sockaddr_un *address, size_t size)
{
    _Atomic uint32_t never_woken = 0;
    for (int waits = 0; waits < FULL_WAITS; waits++) {
        const long sent = raw_call(SYS_sendto, fd, (long)text, (long)length, MSG_NOSIGNAL | MSG_DONTWAIT,
                                   (long)address, (long)size);
        if (sent != -EAGAIN)
            return sent > 0;
        (void)raw_futex_wait(&never_woken, 0, FULL_WAIT_NS); /* a signal only shortens it */
    }
    return false;
}

static size_t name_socket(struct sockaddr_un *address)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    text_append(address->sun_path + 1, sizeof address->sun_path - 1,
                socket_name); /* behind a zero: no file's path */
    return offsetof(struct sockaddr_un, sun_path) + 1 + strlen(socket_name);
}

static long open_socket(void)
{
    return raw_call(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, 0, 0, 0);
}

bool note_send(const char *program, const char *reason, bool of_child)
{
    struct sockaddr_un address;
    char text[320] = "";
    if (!note_wanted())
        return true;
    text_append(text, 64, program);
    size_t length = strlen(text) + 1;
    text_append(text + length, sizeof text - length - 1, reason);
    length += strlen(text + length);
    if (of_child) /* then the zero behind the reason is sent too */
        length++;
    if (!confine_may_call())
        return false;
    const size_t size = name_socket(&address);
    const long fd = open_socket();
    bool delivered = fd >= 0 && deliver(fd, text, length, &address, size);
    if (fd >= 0)
        raw_close((int)fd);
    confine_called();
    return delivered;
}

/* ---- asked and answered ------------------------------------------------------------------------------ */

/* Its user's number stands in the socket's name. In a user namespace below the collector's it is another: none is believed there. */
static bool is_collectors(const struct ucred *sender)
{
    char begin[32] = "mallab-";
    text_append_number(begin, sizeof begin, sender->uid);
    text_append(begin, sizeof begin, "-");
    return strncmp(socket_name, begin, strlen(begin)) == 0;
}

static bool take_answer(long fd, uint32_t *ret_slot, int *ret_fds)
{
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(2 * sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
    } control;
    struct iovec part = {ret_slot, sizeof *ret_slot};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    bool believed = false;
    const long got = raw_call(SYS_recvmsg, fd, (long)&message, MSG_CMSG_CLOEXEC, 0, 0, 0);
    ret_fds[0] = ret_fds[1] = -1;
    for (struct cmsghdr *head = got >= 0 ? CMSG_FIRSTHDR(&message) : NULL; head != NULL;
         head = CMSG_NXTHDR(&message, head)) {
        if (head->cmsg_type == SCM_CREDENTIALS)
            believed = is_collectors((const struct ucred *)CMSG_DATA(head));
        else if (head->cmsg_type == SCM_RIGHTS && head->cmsg_len == CMSG_LEN(2 * sizeof(int)))
            memcpy(ret_fds, CMSG_DATA(head), 2 * sizeof(int));
    }
    if (got == (long)sizeof *ret_slot && believed && !(message.msg_flags & MSG_CTRUNC))
        return true;
    for (unsigned i = 0; i < 2; i++)
        if (ret_fds[i] >= 0)
            raw_close(ret_fds[i]);
    return false;
}

static bool wait_for_answer(long fd, uint32_t *ret_slot, int *ret_fds)
{
    for (unsigned waits = 0; waits < ANSWER_WAITS; waits++) {
        struct pollfd ready = {(int)fd, POLLIN, 0};
        struct timespec timeout = {0, ANSWER_WAIT_NS};
        if (raw_call(SYS_ppoll, (long)&ready, 1, (long)&timeout, 0, 0, 0) > 0 &&
            take_answer(fd, ret_slot, ret_fds))
            return true;
    }
    return false;
}

bool note_ask(uint64_t serial, uint32_t *ret_slot, int *ret_fds)
{
    const struct seg_ask ask = {.mark = SEG_ASK_MARK, .serial = serial};
    struct sockaddr_un address;
    const int on = 1;
    bool answered = false;
    if (!note_wanted() || !confine_may_call())
        return false;
    const size_t size = name_socket(&address);
    const long fd = open_socket();
    /* The option has the kernel name our end, when we send. */
    if (fd >= 0 && raw_call(SYS_setsockopt, fd, SOL_SOCKET, SO_PASSCRED, (long)&on, sizeof on, 0) == 0 &&
        deliver(fd, (const char *)&ask, sizeof ask, &address, size)) {
        if (shim_segment.header != NULL)
            lane_wake(SEG_NAP);
        answered = wait_for_answer(fd, ret_slot, ret_fds);
    }
    if (fd >= 0)
        raw_close((int)fd);
    confine_called();
    return answered;
}

void note_say(const char *what, const char *more)
{
    char line[1536] = "mallab: ";
    if (text_getenv("MALLAB_QUIET") != NULL)
        return;
    text_append(line, sizeof line - 1, what);
    text_append(line, sizeof line - 1, more);
    text_append(line, sizeof line, "\n");
    (void)raw_write(2, line, strlen(line)); /* a closed stderr is the program's choice */
}

/* ---- what it used, told by itself ------------------------------------------------------------------- */

static uint64_t microseconds(const struct timeval *time)
{
    return (uint64_t)time->tv_sec * 1000000u + (uint64_t)time->tv_usec;
}

static void note_times(struct seg_usage *usage)
{
    struct rusage used;
    usage->at_ns = raw_now_ns();
    if (raw_call(SYS_getrusage, RUSAGE_SELF, (long)&used, 0, 0, 0, 0) != 0)
        return;
    usage->user_us = microseconds(&used.ru_utime);
    usage->system_us = microseconds(&used.ru_stime);
    usage->faults_minor = (uint64_t)used.ru_minflt;
    usage->faults_major = (uint64_t)used.ru_majflt;
}

static __attribute__((noinline)) void note_memory(struct seg_usage *usage)
{
    char status[STATUS_BYTES];
    (void)raw_file_begin("/proc/self/status", status, sizeof status); /* else nothing is found there */
    (void)fp_proc_number(status, "\nVmHWM:", 10, &usage->peak_kib);
    (void)fp_proc_number(status, "\nVmRSS:", 10, &usage->rss_kib);
    (void)fp_proc_number(status, "\nRssAnon:", 10, &usage->anon_kib);
    (void)fp_proc_number(status, "\nRssFile:", 10, &usage->file_kib);
    (void)fp_proc_number(status, "\nRssShmem:", 10, &usage->shared_kib);
}

void usage_begin(struct seg_slot *slot)
{
    struct seg_usage begin = {0};
    put_relaxed(&slot->usage_end, SEG_USAGE_NONE);
    if (confine_may_call()) {
        note_times(&begin);
        confine_called();
    }
    slot->begin = begin;
}

void usage_note(enum seg_usage_end end)
{
    struct seg_usage last = {0};
    if (shim_process == NULL || get_acquire(&shim_process->state) != PROCESS_ON || !confine_may_call())
        return;
    struct seg_slot *slot = shim_process->slot;
    /* Else it is a vfork's child, or the slot is another's by now: a serial is never used twice. */
    if (raw_getpid() == shim_process->pid && slot->serial == shim_process->serial) {
        put_release(&slot->usage_end, SEG_USAGE_NONE);
        if (end != SEG_USAGE_NONE) {
            note_times(&last);
            note_memory(&last);
            slot->end = last;
        }
        /* release: pairs with the acquire in collect/looks.c */
        put_release(&slot->usage_end, end);
    }
    confine_called();
}

/* ---- ends ------------------------------------------------------------------------------------------ */

__attribute__((destructor)) static void note_exit(void)
{
    usage_note(SEG_USAGE_EXIT);
}

static void (*next[2])(int);

/* Runs before main: dlsym is nothing for a signal handler. */
__attribute__((constructor)) static void resolve(void)
{
    *(void **)&next[0] = dlsym(RTLD_NEXT, "_exit");
    *(void **)&next[1] = dlsym(RTLD_NEXT, "_Exit");
}

static __attribute__((noreturn)) void leave(unsigned which, int code)
{
    usage_note(SEG_USAGE_EXIT);
    if (next[which] != NULL)
        next[which](code);
    for (;;) /* a constructor that exits before ours has run */
        (void)raw_call(SYS_exit_group, code, 0, 0, 0, 0, 0);
}

/* Defines exits under other names for the compiler, which knows what these do. */
SHIM_EXPORT __attribute__((noreturn)) void shim_exit_now(int code) __asm__("_exit");
SHIM_EXPORT __attribute__((noreturn)) void shim_exit_standard(int code) __asm__("_Exit");

void shim_exit_now(int code)
{
    leave(0, code);
}

void shim_exit_standard(int code)
{
    leave(1, code);
}
