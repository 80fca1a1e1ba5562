/* stderr_limiter.c - the first and the last of a program's messages. */
#include "results/measure/run/stderr_limiter.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "results/measure/base/support.h"

struct sieve {
    size_t passed_bytes;
    bool closed; /* no more is passed on; from a line's end on */
    uint64_t left_bytes, left_lines;
    char last[2 * CLI_SIEVE_LAST_BYTES]; /* the newest of what is held back; drops its older half when full */
    size_t last_bytes;
};

static volatile sig_atomic_t child_pid; /* 0: none yet */

/* What a terminal or the kernel sends has reached the child by itself. */
static void hand_on(int number, siginfo_t *info, void *context)
{
    const int error = errno;
    if (child_pid > 0 && info->si_code <= 0)
        (void)kill((pid_t)child_pid, number); /* it may just have ended */
    errno = error;
}

static const int NUMBERS[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
#define NUMBER_COUNT (sizeof NUMBERS / sizeof NUMBERS[0])

static struct sigaction former[NUMBER_COUNT];

/* Blocked until the child is known: one that came before would reach nobody. What is ignored, as under nohup, stays so. */
static void take_signals(sigset_t *ret_mask)
{
    struct sigaction action = {.sa_sigaction = hand_on, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigset_t ours;
    sigemptyset(&ours);
    for (size_t i = 0; i < NUMBER_COUNT; i++)
        sigaddset(&ours, NUMBERS[i]);
    (void)sigprocmask(SIG_BLOCK, &ours, ret_mask); /* none of these calls fails for valid numbers */
    for (size_t i = 0; i < NUMBER_COUNT; i++) {
        (void)sigaction(NUMBERS[i], NULL, &former[i]);
        if (former[i].sa_handler != SIG_IGN)
            (void)sigaction(NUMBERS[i], &action, NULL);
    }
}

static void leave_signals(const sigset_t *mask)
{
    for (size_t i = 0; i < NUMBER_COUNT; i++)
        (void)sigaction(NUMBERS[i], &former[i], NULL);
    (void)sigprocmask(SIG_SETMASK, mask, NULL);
}

/* False when nobody reads on, or the file is full: then the rest is not for anybody. */
static bool write_all(const char *bytes, size_t count)
{
    while (count > 0) {
        const ssize_t written = write(STDERR_FILENO, bytes, count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        bytes += written;
        count -= (size_t)written;
    }
    return true;
}

static void hold_back(struct sieve *sieve, const char *bytes, size_t count)
{
    sieve->left_bytes += count;
    for (size_t i = 0; i < count; i++) {
        sieve->left_lines += bytes[i] == '\n';
        if (sieve->last_bytes == sizeof sieve->last) {
            memmove(sieve->last, sieve->last + CLI_SIEVE_LAST_BYTES, CLI_SIEVE_LAST_BYTES);
            sieve->last_bytes = CLI_SIEVE_LAST_BYTES;
        }
        sieve->last[sieve->last_bytes++] = bytes[i];
    }
}

static void take(struct sieve *sieve, const char *bytes, size_t count)
{
    size_t pass = 0;
    if (!sieve->closed) {
        pass = count;
        if (sieve->passed_bytes + count > CLI_SIEVE_FIRST_BYTES) {
            /* To the end of the line that reaches the bound, and no line is endless. */
            const size_t room = CLI_SIEVE_FIRST_BYTES > sieve->passed_bytes
                                    ? CLI_SIEVE_FIRST_BYTES - sieve->passed_bytes
                                    : 0;
            const char *end = memchr(bytes + room, '\n', count - room);
            if (end != NULL || sieve->passed_bytes + count > CLI_SIEVE_FIRST_BYTES + CLI_SIEVE_LAST_BYTES) {
                pass = end != NULL ? (size_t)(end + 1 - bytes) : room;
                sieve->closed = true;
            }
        }
        sieve->passed_bytes += pass;
        (void)write_all(bytes, pass); /* where it cannot be written nothing can be said of that either */
    }
    hold_back(sieve, bytes + pass, count - pass);
}

/* The last lines, whole, and how much is missing before them. */
static void end(const struct cli_verb *verb, const struct sieve *sieve)
{
    size_t begin = 0;
    if (sieve->left_bytes == 0)
        return;
    if (sieve->last_bytes > CLI_SIEVE_LAST_BYTES || sieve->left_bytes > sieve->last_bytes) {
        const size_t from = sieve->last_bytes > CLI_SIEVE_LAST_BYTES
                                ? sieve->last_bytes - CLI_SIEVE_LAST_BYTES
                                : 0;
        const char *line = memchr(sieve->last + from, '\n', sieve->last_bytes - from);
        begin = line != NULL && line + 1 < sieve->last + sieve->last_bytes ? (size_t)(line + 1 - sieve->last)
                                                                           : from;
    }
    uint64_t shown_lines = 0;
    for (size_t i = begin; i < sieve->last_bytes; i++)
        shown_lines += sieve->last[i] == '\n';
    if (sieve->left_bytes > sieve->last_bytes - begin)
        cli_say(verb, "... %" PRIu64 " lines of the run's messages left out here, %" PRIu64 " bytes ...",
                sieve->left_lines - shown_lines, sieve->left_bytes - (sieve->last_bytes - begin));
    (void)write_all(sieve->last + begin, sieve->last_bytes - begin);
}

/* In the child. */
static __attribute__((noreturn)) void become(const struct cli_verb *verb, pid_t parent, const sigset_t *mask,
                                             int errors, const char *program, char **arguments,
                                             char **environment)
{
    /* Nobody would read what it says. A parent that has ended before this call is seen by getppid. */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(CLI_FAILED);
    leave_signals(mask);
    if (dup2(errors, STDERR_FILENO) >= 0)
        execve(program, arguments, environment);
    cli_say(verb, "cannot start '%s': %s", program, strerror(errno));
    _exit(CLI_FAILED);
}

static int end_as(int status)
{
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    const struct rlimit none = {0, 0};
    const int number = WTERMSIG(status);
    (void)setrlimit(RLIMIT_CORE, &none); /* the core worth having is the child's */
    (void)signal(number, SIG_DFL);
    (void)raise(number);
    return 128 + number; /* of signals that do not end us */
}

int cli_sieve_run(const struct cli_verb *verb, const char *program, char **arguments, char **environment,
                  bool (*ended)(void *context, int number), void *context)
{
    static struct sieve sieve;
    char bytes[16384];
    int ends[2], status;
    const pid_t self = getpid();
    if (pipe2(ends, O_CLOEXEC) != 0) {
        cli_say(verb, "no pipe for the run's messages: %s", strerror(errno));
        return CLI_FAILED;
    }
    sigset_t mask;
    take_signals(&mask);
    fflush(NULL); /* or the child would hold, and might write, the same */
    const pid_t child = fork();
    if (child < 0) {
        leave_signals(&mask);
        cli_say(verb, "cannot start '%s': %s", program, strerror(errno));
        return CLI_FAILED;
    }
    if (child == 0)
        become(verb, self, &mask, ends[1], program, arguments, environment);
    child_pid = child;
    (void)sigprocmask(SIG_SETMASK, &mask, NULL); /* as above */
    (void)close(ends[1]);                        /* so that its end is the end */
    for (;;) {
        const ssize_t count = read(ends[0], bytes, sizeof bytes);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            break;
        take(&sieve, bytes, (size_t)count);
    }
    (void)close(ends[0]); /* it was only read */
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    child_pid = 0;
    end(verb, &sieve);
    if (ended != NULL && WIFSIGNALED(status) && ended(context, WTERMSIG(status)))
        return CLI_FAILED;
    return end_as(status);
}
