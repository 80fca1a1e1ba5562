/* witness.c - take signals, remember them, answer whether one came.
 *
 * The kernel hands a signal to all members of a group before a call that changes groups can begin (both take its lock of
 * the process table); a supervisor that tells the processes of a control group one by one takes a moment. */
#include "record/witness.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/clock.h"
#include "record/recorder.h"

#define LATE_NS  UINT64_C(10000000000)
#define AGAIN_NS UINT64_C(400000000)

static const char NAME[] = "signals";

struct question {
    int number;
    pid_t sender;
};

struct seen {
    pid_t sender;
    uint64_t at_ns;
    bool asked_about;
};

/* ---- the witness ---------------------------------------------------------------------------- */

/* The words of a command line lie behind each other in memory, and /proc shows that memory: NAME and the command's words
 * in place of all of ours. A pattern for `mallab` is then not one for the witness. */
static void take_name(char *const *arguments)
{
    char *begin = program_invocation_name, *words = arguments[0], *end = words;
    (void)prctl(PR_SET_NAME, NAME);
    for (size_t i = 0; arguments[i] != NULL; i++) {
        if (arguments[i] != end)
            return; /* somewhere else: leave it all as it is */
        end += strlen(end) + 1;
    }
    if (words - begin < (ptrdiff_t)sizeof NAME)
        return;
    memcpy(begin, NAME, sizeof NAME);
    memmove(begin + sizeof NAME, words, (size_t)(end - words));
    memset(begin + sizeof NAME + (end - words), 0, (size_t)(words - begin) - sizeof NAME);
}

static void take_signals(int signals, struct seen *seen)
{
    struct signalfd_siginfo info;
    while (read(signals, &info, sizeof info) == (ssize_t)sizeof info)
        if (info.ssi_signo < NSIG)
            seen[info.ssi_signo] = (struct seen){(pid_t)info.ssi_pid, cli_now_ns(), false};
}

/* Who asks may have been without a processor for a while. What was asked about counts for a moment longer: two may have
 * come as one to us, and as two to who asks. */
static bool is_there(const struct seen *last, const struct question *question, uint64_t asked_ns)
{
    return last->at_ns != 0 && last->sender == question->sender &&
           last->at_ns + (last->asked_about ? AGAIN_NS : LATE_NS) >= asked_ns;
}

static char answer(int signals, struct seen *seen, const struct question *question)
{
    const uint64_t asked_ns = cli_now_ns();
    struct pollfd more = {signals, POLLIN, 0};
    take_signals(signals, seen);
    while (!is_there(&seen[question->number], question, asked_ns)) {
        const uint64_t waited_ns = cli_now_ns() - asked_ns;
        if (waited_ns >= CLI_WITNESS_NS)
            return 'n';
        (void)poll(&more, 1, (int)((CLI_WITNESS_NS - waited_ns + 999999) / 1000000));
        take_signals(signals, seen);
    }
    seen[question->number].asked_about = true;
    return 'y';
}

static void watch(int fd, const sigset_t *signals, char *const *arguments)
{
    static struct seen seen[NSIG];
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    const int signal_fd = signalfd(-1, signals, SFD_CLOEXEC | SFD_NONBLOCK);
    struct pollfd either[] = {{signal_fd, POLLIN, 0}, {fd, POLLIN, 0}};
    struct question question;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    take_name(arguments);
    for (int standard = 0; null >= 0 && standard <= STDERR_FILENO; standard++)
        if (standard != fd && standard != signal_fd)
            (void)dup2(null, standard); /* nobody is to wait for us who reads what the command prints */
    while (signal_fd >= 0) {
        if (poll(either, 2, -1) < 0 && errno != EINTR)
            return;
        take_signals(signal_fd, seen);
        if (either[1].revents == 0)
            continue;
        if (read(fd, &question, sizeof question) != (ssize_t)sizeof question || question.number <= 0 ||
            question.number >= NSIG)
            return; /* our parent has ended */
        const char told = answer(signal_fd, seen, &question);
        if (write(fd, &told, 1) != 1)
            return;
    }
}

/* ---- who asks ------------------------------------------------------------------------------- */

void cli_witness_start(struct cli_witness *witness, const sigset_t *signals, char *const *arguments)
{
    sigset_t before;
    int ends[2];
    *witness = (struct cli_witness){.fd = -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return;
    ends[1] = cli_above_standard(ends[1]);
    ends[0] = cli_above_standard(ends[0]);
    sigprocmask(SIG_BLOCK, signals, &before); /* before it is there: none is to end it */
    const pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        watch(ends[1], signals, arguments);
        _exit(0);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
    if (pid < 0)
        close(ends[0]);
    else
        *witness = (struct cli_witness){.pid = pid, .fd = ends[0]};
}

bool cli_witness_saw(const struct cli_witness *witness, int number, pid_t sender)
{
    const struct question question = {number, sender};
    const pid_t group = getpgrp();
    char told = 'n';
    ssize_t got;
    if (witness->pid <= 0)
        return false;
    if (group > 0) /* 0, a group of another pid namespace, would mean a new one */
        (void)setpgid(0, group);
    if (send(witness->fd, &question, sizeof question, MSG_NOSIGNAL) != (ssize_t)sizeof question)
        return false;
    do {
        got = read(witness->fd, &told, 1);
    } while (got < 0 && errno == EINTR);
    return got == 1 && told == 'y';
}

void cli_witness_end(struct cli_witness *witness)
{
    if (witness->pid <= 0)
        return;
    close(witness->fd);
    while (waitpid(witness->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    *witness = (struct cli_witness){.fd = -1};
}
