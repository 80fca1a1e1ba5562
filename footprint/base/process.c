/* process.c - fork, become what the plan says, wait by descriptors. */
#include "footprint/base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define READ_BYTES 65536
#define STOP_MS    200                  /* until a stop is seen whose signal came just before the wait */
#define KILLED_NS  UINT64_C(5000000000) /* for a killed process to end */
#define BLIND_MS   1                    /* between two looks where the kernel has no pidfds: before 5.3 */

/* ---- descriptors ---------------------------------------------------------------------------- */

void fp_close(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd); /* nothing of ours is written late to what is closed here */
    *fd = -1;
}

bool fp_write_all(int fd, const void *bytes, size_t size)
{
    for (const char *at = bytes; size > 0;) {
        const ssize_t written = write(fd, at, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written == 0)
            errno = ENOSPC;
        if (written <= 0)
            return false;
        at += written;
        size -= (size_t)written;
    }
    return true;
}

int fp_above_standard(int fd)
{
    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    const int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    const int error = errno;
    (void)close(fd); /* as above */
    errno = error;
    return moved;
}

static int above_standard_both(const int made[2], int ret_ends[2])
{
    /* The second first: closing the first would free a low number for it. */
    ret_ends[1] = fp_above_standard(made[1]);
    ret_ends[0] = fp_above_standard(made[0]);
    if (ret_ends[0] >= 0 && ret_ends[1] >= 0)
        return 0;
    const int error = errno;
    fp_close(&ret_ends[0]);
    fp_close(&ret_ends[1]);
    return error;
}

int fp_make_pipe(int ret_ends[2])
{
    int made[2];
    ret_ends[0] = ret_ends[1] = -1;
    return pipe2(made, O_CLOEXEC) == 0 ? above_standard_both(made, ret_ends) : errno;
}

int fp_make_pair(int ret_ends[2])
{
    int made[2];
    ret_ends[0] = ret_ends[1] = -1;
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, made) == 0 ? above_standard_both(made, ret_ends)
                                                                         : errno;
}

int fp_pidfd_open(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

bool fp_pidfd_signal(int pidfd, int number)
{
    return syscall(SYS_pidfd_send_signal, pidfd, number, NULL, 0) == 0;
}

/* ---- in the child --------------------------------------------------------------------------- */

/* theirs: a descriptor for each stream, 0: ours stays. Returns 0 or an errno. */
static int settle(const struct fp_process_plan *plan, const int theirs[3], pid_t parent)
{
    if (plan->dies_with_us && prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        return errno;
    if (plan->dies_with_us && getppid() != parent) /* it has ended before that call */
        return ESRCH;
    if (plan->own_group && setpgid(0, 0) != 0)
        return errno;
    for (int stream = 0; stream < 3; stream++)
        if (theirs[stream] != 0 && dup2(theirs[stream], stream) < 0)
            return errno;
    for (int number = 1; plan->default_signals && number < NSIG; number++)
        (void)signal(number, SIG_DFL); /* fails for those that are always so */
    if (plan->mask != NULL)
        (void)sigprocmask(SIG_SETMASK, plan->mask, NULL); /* cannot fail */
    return 0;
}

static __attribute__((noreturn)) void become(const struct fp_process_plan *plan, const int theirs[3],
                                             int failed, pid_t parent)
{
    extern char **environ;
    int error = settle(plan, theirs, parent);
    if (error == 0) {
        for (int stream = 0; stream < 3; stream++)
            if (plan->streams[stream] < 0) /* made for this, and another number now */
                (void)close(theirs[stream]);
        const int code = plan->body != NULL ? plan->body(plan->data) : 0;
        if (plan->program == NULL || code != 0)
            _exit(code);
        char *const *environment = plan->environment != NULL ? plan->environment : environ;
        /* Both return where they failed; the one for shells searches no PATH for a name with a slash. */
        (void)(plan->as_shell ? execvpe : execve)(plan->program, plan->arguments, environment);
        error = errno;
    }
    (void)!write(failed, &error, sizeof error); /* where nobody reads it, nobody wants to know */
    _exit(error == ENOENT ? FP_PROCESS_NOT_FOUND : FP_PROCESS_NOT_EXECUTABLE);
}

/* ---- start ---------------------------------------------------------------------------------- */

/* Returns 0 or an errno. */
static int open_stream(const struct fp_process_plan *plan, int stream, int *ret_ours, int *ret_theirs)
{
    int ends[2], error;
    *ret_theirs = plan->streams[stream];
    if (plan->streams[stream] == FP_STREAM_NULL) {
        *ret_theirs = fp_above_standard(open("/dev/null", O_RDWR | O_CLOEXEC));
        return *ret_theirs >= 0 ? 0 : errno;
    }
    if (plan->streams[stream] != FP_STREAM_PIPE)
        return 0;
    error = fp_make_pipe(ends);
    *ret_ours = ends[0];
    *ret_theirs = ends[1];
    return error;
}

int fp_process_exec_error(struct fp_process *process)
{
    int error = 0;
    ssize_t count;
    do {
        count = read(process->failed, &error, sizeof error);
    } while (count < 0 && errno == EINTR);
    fp_close(&process->failed);
    return count == (ssize_t)sizeof error ? error : 0;
}

static int fork_child(const struct fp_process_plan *plan, const int theirs[3], const int failed[2],
                      struct fp_process *process)
{
    const pid_t self = getpid();
    if (plan->program == NULL)
        fflush(NULL); /* or the child might write the same again */
    process->pid = fork();
    if (process->pid == 0) {
        for (int stream = 0; stream < 3; stream++)
            fp_close(&process->pipes[stream]);
        (void)close(failed[0]); /* ours */
        become(plan, theirs, failed[1], self);
    }
    if (process->pid < 0)
        return errno;
    process->pidfd = fp_pidfd_open(process->pid);
    if (plan->own_group)
        (void)setpgid(process->pid, process->pid); /* as the child does: whoever comes first */
    return 0;
}

int fp_process_start(const struct fp_process_plan *plan, struct fp_process *ret_process)
{
    struct fp_process process = FP_PROCESS_NONE;
    int theirs[3] = {0, 0, 0}, failed[2];
    int error = fp_make_pipe(failed);
    process.own_group = plan->own_group;
    for (int stream = 0; error == 0 && stream < 3; stream++)
        error = open_stream(plan, stream, &process.pipes[stream], &theirs[stream]);
    if (error == 0)
        error = fork_child(plan, theirs, failed, &process);
    for (int stream = 0; stream < 3; stream++)
        if (plan->streams[stream] < 0 && theirs[stream] > 0)
            fp_close(&theirs[stream]);
    fp_close(&failed[1]);
    process.failed = failed[0];
    if (error == 0 && plan->program != NULL && !plan->gated) {
        error = fp_process_exec_error(&process);
        if (error != 0)
            (void)fp_process_wait(&process, NULL); /* of no interest */
    }
    if (error != 0) {
        fp_process_release(&process);
        process = FP_PROCESS_NONE;
    }
    *ret_process = process;
    return error;
}

/* ---- wait ----------------------------------------------------------------------------------- */

/* options: of waitpid. Returns whether it has ended. */
static bool reap(struct fp_process *process, int options)
{
    pid_t pid;
    while (!process->ended && process->pid > 0) {
        pid = wait4(process->pid, &process->status, options, &process->usage);
        process->ended = pid == process->pid || (pid < 0 && errno != EINTR);
        if (pid == 0)
            return false;
    }
    return true;
}

/* Milliseconds for poll(2), rounded up; -1: without end. */
static int time_left(uint64_t deadline_ns, int most_ms)
{
    const uint64_t now_ns = fp_now_ns();
    if (deadline_ns == 0)
        return most_ms;
    const uint64_t left_ms = deadline_ns > now_ns ? (deadline_ns - now_ns + 999999) / 1000000 : 0;
    return most_ms >= 0 && left_ms > (uint64_t)most_ms ? most_ms
           : left_ms > INT32_MAX                       ? INT32_MAX
                                                       : (int)left_ms;
}

bool fp_process_ends_within(struct fp_process *process, uint64_t within_ns)
{
    const uint64_t deadline_ns = fp_now_ns() + within_ns;
    struct pollfd end = {.fd = process->pidfd, .events = POLLIN};
    while (!reap(process, WNOHANG)) {
        if (fp_now_ns() >= deadline_ns)
            return false;
        (void)poll(&end, 1, time_left(deadline_ns, process->pidfd >= 0 ? -1 : BLIND_MS)); /* or a signal */
    }
    return true;
}

/* Returns whether more is wanted. */
static bool drain(struct fp_process *process, int stream, const struct fp_process_bounds *bounds)
{
    char bytes[READ_BYTES];
    const ssize_t count = read(process->pipes[stream], bytes, sizeof bytes);
    if (count == 0 || (count < 0 && errno != EINTR))
        fp_close(&process->pipes[stream]);
    return count <= 0 || bounds->take == NULL || bounds->take(bounds->data, stream, bytes, (size_t)count);
}

/* Wait until something comes from it, or it ends, or the bounds are to be looked at again. */
static enum fp_process_end wait_once(struct fp_process *process, const struct fp_process_bounds *bounds)
{
    struct pollfd ends[3] = {{.fd = process->pipes[1], .events = POLLIN},
                             {.fd = process->pipes[2], .events = POLLIN},
                             {.fd = process->ended ? -1 : process->pidfd, .events = POLLIN}};
    const bool blind = process->pidfd < 0 && !process->ended;
    const int ready = poll(ends, 3,
                           time_left(bounds->deadline_ns, blind                  ? BLIND_MS
                                                          : bounds->stop != NULL ? STOP_MS
                                                                                 : -1));
    if (bounds->stop != NULL && *bounds->stop)
        return FP_PROCESS_STOPPED;
    if (bounds->deadline_ns != 0 && fp_now_ns() > bounds->deadline_ns)
        return FP_PROCESS_LATE;
    for (int stream = 1; ready > 0 && stream < 3; stream++)
        if (ends[stream - 1].revents != 0 && !drain(process, stream, bounds))
            return FP_PROCESS_FULL;
    if (blind || (ready > 0 && ends[2].revents != 0))
        (void)reap(process, WNOHANG); /* the loop asks process->ended */
    return FP_PROCESS_ENDED;
}

enum fp_process_end fp_process_wait(struct fp_process *process, const struct fp_process_bounds *bounds)
{
    static const struct fp_process_bounds NONE;
    enum fp_process_end end = FP_PROCESS_ENDED;
    bounds = bounds != NULL ? bounds : &NONE;
    while (end == FP_PROCESS_ENDED && process->pid > 0 &&
           (!process->ended || process->pipes[1] >= 0 || process->pipes[2] >= 0))
        end = wait_once(process, bounds);
    if (end == FP_PROCESS_ENDED) {
        (void)reap(process, 0); /* it has ended */
        return end;
    }
    fp_process_kill(process, SIGKILL);
    if (!fp_process_ends_within(process, KILLED_NS))
        process->status = SIGKILL; /* it waits in the kernel, as for a file system that does not answer */
    return end;
}

void fp_process_kill(const struct fp_process *process, int number)
{
    if (process->pid > 0 && !process->ended)
        (void)kill(process->own_group ? -process->pid : process->pid,
                   number); /* ours until it is waited for */
}

void fp_process_release(struct fp_process *process)
{
    for (int stream = 0; stream < 3; stream++)
        fp_close(&process->pipes[stream]);
    fp_close(&process->pidfd);
    fp_close(&process->failed);
}

int fp_process_run(const struct fp_process_plan *plan, int *ret_status)
{
    struct fp_process process;
    const int error = fp_process_start(plan, &process);
    if (error != 0)
        return error;
    (void)fp_process_wait(&process, NULL); /* without bounds it ends by itself */
    fp_process_release(&process);
    *ret_status = process.status;
    return 0;
}

/* ---- how it ended --------------------------------------------------------------------------- */

int fp_status_code(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

char *fp_status_words(int status, char *ret_words)
{
    if (WIFSIGNALED(status))
        snprintf(ret_words, FP_STATUS_WORDS, "signal %d", WTERMSIG(status));
    else
        snprintf(ret_words, FP_STATUS_WORDS, "exit code %d", WEXITSTATUS(status));
    return ret_words;
}

/* ---- signals --------------------------------------------------------------------------------- */

bool fp_signal_is_ending(int number)
{
    static const int ENDING[FP_ENDING_COUNT] = {FP_ENDING_SIGNALS};
    for (size_t i = 0; i < FP_ENDING_COUNT; i++)
        if (ENDING[i] == number)
            return true;
    return false;
}

void fp_signals_take(const int *numbers, size_t count, const struct sigaction *action,
                     struct sigaction *ret_former)
{
    for (size_t i = 0; i < count; i++) {
        struct sigaction former;
        (void)sigaction(numbers[i], NULL, &former); /* neither call fails for valid numbers */
        if (ret_former != NULL)
            ret_former[i] = former; /* before: the action may look there */
        if (former.sa_handler != SIG_IGN)
            (void)sigaction(numbers[i], action, NULL);
    }
}

void fp_signals_restore(const int *numbers, size_t count, const struct sigaction *former)
{
    for (size_t i = 0; i < count; i++)
        (void)sigaction(numbers[i], &former[i], NULL); /* as above */
}

sigset_t fp_signals_set(const int *numbers, size_t count)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < count; i++)
        sigaddset(&set, numbers[i]);
    return set;
}

void fp_end_by_signal(int number)
{
    const struct rlimit none = {0, 0};
    sigset_t set;
    (void)setrlimit(RLIMIT_CORE, &none); /* a lower limit is always allowed */
    (void)signal(number, SIG_DFL); /* fails for those that cannot be caught, which end us all the same */
    sigemptyset(&set);
    sigaddset(&set, number);
    (void)sigprocmask(SIG_UNBLOCK, &set, NULL); /* cannot fail */
    (void)raise(number);                        /* likewise */
}

bool fp_has_one_processor(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) == 1;
}

bool fp_helper_start(pthread_t *ret_thread, void *(*serve)(void *data), void *data)
{
    sigset_t all, before;
    bool started;
    (void)sigfillset(&all);
    if (fp_has_one_processor() || pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return false;
    started = pthread_create(ret_thread, NULL, serve, data) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL); /* as it was */
    return started;
}
