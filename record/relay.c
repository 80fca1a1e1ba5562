/* relay.c - hand signals on, once each.
 *
 * What is sent to a whole group, by a terminal, by kill(2) or by a service manager process by process, has reached the
 * command by itself: handed on, it would come twice, and a second Ctrl-C means more than the first. What comes from
 * elsewhere, above all to the first process of a container, is sent to us alone. The witness tells one from the other.
 *
 * The kernel hands a signal to all members of a group before a call that changes groups can begin (both take its lock of
 * the process table); a supervisor that tells the processes of a control group one by one takes a moment. */
#include "record/recorder.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "footprint/base/process.h"

#define WITNESS_NS 100000000 /* between the first and the last process of a control group that is told */
#define LATE_NS    UINT64_C(10000000000)
#define AGAIN_NS   UINT64_C(400000000)

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

/* The arguments of the witness. */
struct start {
    int ends[2]; /* ours: questions out, answers in; its own */
    char *const *arguments;
};

static const int HANDED_ON[] = {FP_ENDING_SIGNALS, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH};
static const int IGNORED[] = {SIGPIPE};

#define HANDED_ON_COUNT (sizeof HANDED_ON / sizeof HANDED_ON[0])

/* ---- the witness ---------------------------------------------------------------------------- */

/* The words of a command line lie in a row in memory, which /proc shows: NAME and the command's
 * words in place of ours. A pattern for `mallab` is then not one for the witness. */
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
            seen[info.ssi_signo] = (struct seen){(pid_t)info.ssi_pid, fp_now_ns(), false};
}

/* The asker may have been without a processor for a while. A signal that was asked about counts a moment
 * longer: two may have come as one to us, and as two to who asks. */
static bool is_there(const struct seen *last, const struct question *question, uint64_t asked_ns)
{
    return last->at_ns != 0 && last->sender == question->sender &&
           last->at_ns + (last->asked_about ? AGAIN_NS : LATE_NS) >= asked_ns;
}

static char answer(int signals, struct seen *seen, const struct question *question)
{
    const uint64_t asked_ns = fp_now_ns();
    struct pollfd more = {signals, POLLIN, 0};
    take_signals(signals, seen);
    while (!is_there(&seen[question->number], question, asked_ns)) {
        const uint64_t waited_ns = fp_now_ns() - asked_ns;
        if (waited_ns >= WITNESS_NS)
            return 'n';
        (void)poll(&more, 1, (int)((WITNESS_NS - waited_ns + 999999) / 1000000));
        take_signals(signals, seen);
    }
    seen[question->number].asked_about = true;
    return 'y';
}

/* The body of the witness, a process of its own. */
static int watch(void *data)
{
    static struct seen seen[NSIG];
    const struct start *start = data;
    const sigset_t signals = fp_signals_set(HANDED_ON, HANDED_ON_COUNT);
    const int fd = start->ends[1], signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    struct pollfd either[] = {{signal_fd, POLLIN, 0}, {fd, POLLIN, 0}};
    struct question question;
    (void)close(start->ends[0]); /* its end is to be seen */
    take_name(start->arguments);
    while (signal_fd >= 0) {
        if (poll(either, 2, -1) < 0 && errno != EINTR)
            break;
        take_signals(signal_fd, seen);
        if (either[1].revents == 0)
            continue;
        if (read(fd, &question, sizeof question) != (ssize_t)sizeof question || question.number <= 0 ||
            question.number >= NSIG)
            break; /* our parent has ended */
        const char told = answer(signal_fd, seen, &question);
        if (write(fd, &told, 1) != 1)
            break;
    }
    return 0;
}

/* ---- who asks it, and hands on ---------------------------------------------------------------- */

static struct sigaction saved[HANDED_ON_COUNT], saved_ignored[1];
static bool begun;
static struct fp_process witness = {.pidfd = -1, .pipes = {-1, -1, -1}, .failed = -1};
static int witness_fd = -1;
static volatile sig_atomic_t command_pid;  /* 0 while there is none */
static volatile sig_atomic_t asked_to_end; /* the last signal of that meaning; 0 while none came */

/* Tells whether the witness got this signal from the same sender and was not asked about it before
 * (just now does not count: two may have come as one), or gets it within WITNESS_NS. Async-
 * signal-safe; signals are blocked. */
static bool witness_saw(int number, pid_t sender)
{
    const struct question question = {number, sender};
    const pid_t group = getpgrp();
    char told = 'n';
    ssize_t got;
    if (witness.pid <= 0)
        return false;
    if (group > 0) /* 0, a group of another pid namespace, would mean a new one */
        (void)setpgid(0, group);
    if (send(witness_fd, &question, sizeof question, MSG_NOSIGNAL) != (ssize_t)sizeof question)
        return false;
    do {
        got = read(witness_fd, &told, 1);
    } while (got < 0 && errno == EINTR);
    return got == 1 && told == 'y';
}

/* If the command has left our group, as timeout(1) and interactive shells do, what is sent to
 * the group has not reached it, but would have if the shell had started it. */
static bool is_everybodys(int number, const siginfo_t *info)
{
    if (getpgid((pid_t)command_pid) != getpgrp())
        return false;
    if (info->si_code > 0)
        return true;
    return witness_saw(number, info->si_pid);
}

static bool is_from_command(const siginfo_t *info)
{
    return command_pid > 0 && info->si_code <= 0 && info->si_pid == (pid_t)command_pid;
}

/* A command that signals its parent means whoever started it: us it knows nothing of. */
static pid_t receiver(const siginfo_t *info)
{
    if (is_from_command(info))
        return getppid(); /* 0: in another pid namespace */
    return (pid_t)command_pid;
}

static void hand_on(int number, siginfo_t *info, void *context)
{
    const int error = errno;
    if (fp_signal_is_ending(number) && !is_from_command(info))
        asked_to_end = number;
    if (command_pid > 0 && !is_everybodys(number, info)) {
        const pid_t to = receiver(info);
        if (to > 0)
            kill(to, number);
    }
    errno = error;
}

void rec_relay_prepare(char *const *arguments)
{
    struct start start = {.arguments = arguments};
    const struct fp_process_plan plan = {
        .body = watch,
        .data = &start,
        /* Nobody is to wait for us who reads what the command prints. */
        .streams = {FP_STREAM_NULL, FP_STREAM_NULL, FP_STREAM_NULL},
        .dies_with_us = true,
    };
    const sigset_t signals = fp_signals_set(HANDED_ON, HANDED_ON_COUNT);
    sigset_t before;
    asked_to_end = 0;
    if (fp_make_pair(start.ends) != 0)
        return;
    sigprocmask(SIG_BLOCK, &signals, &before); /* before it is there: none is to end it */
    (void)fp_process_start(&plan, &witness);   /* without it every signal counts as sent to us alone */
    sigprocmask(SIG_SETMASK, &before, NULL);
    fp_close(&start.ends[1]);
    witness_fd = start.ends[0];
}

void rec_relay_begin(pid_t command)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    const struct sigaction action = {
        .sa_flags = SA_SIGINFO,
        .sa_sigaction = hand_on,
        .sa_mask = fp_signals_set(HANDED_ON, HANDED_ON_COUNT), /* one question at a time */
    };
    command_pid = command;
    begun = true;
    fp_signals_take(IGNORED, 1, &ignore, saved_ignored);
    fp_signals_take(HANDED_ON, HANDED_ON_COUNT, &action, saved);
}

void rec_relay_pause(void)
{
    command_pid = 0;
}

int rec_relay_asked_to_end(void)
{
    return (int)asked_to_end;
}

void rec_relay_end(void)
{
    if (begun) {
        fp_signals_restore(HANDED_ON, HANDED_ON_COUNT, saved);
        fp_signals_restore(IGNORED, 1, saved_ignored);
    }
    begun = false;
    fp_close(&witness_fd); /* which ends it */
    (void)fp_process_wait(&witness, NULL);
    fp_process_release(&witness);
    witness = FP_PROCESS_NONE;
}
