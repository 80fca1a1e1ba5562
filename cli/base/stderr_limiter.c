/* stderr_limiter.c - the first and the last of a program's messages. */
#include "cli/base/stderr_limiter.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/say.h"
#include "footprint/base/process.h"
#include "footprint/base/signals.h"

struct limiter {
    size_t passed_bytes;
    bool closed; /* no more is passed on; from a line's end on */
    uint64_t left_bytes, left_lines;
    char last[2 *
              CLI_LIMITER_LAST_BYTES]; /* the newest of what is held back; drops its older half when full */
    size_t last_bytes;
};

static volatile sig_atomic_t child_pid; /* 0: none yet */

/* A signal that a terminal or the kernel sends has reached the child by itself. */
static void hand_on(int number, siginfo_t *info, void *context)
{
    const int error = errno;
    if (child_pid > 0 && info->si_code <= 0)
        (void)kill((pid_t)child_pid, number); /* it may just have ended */
    errno = error;
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

static void hold_back(struct limiter *limiter, const char *bytes, size_t count)
{
    limiter->left_bytes += count;
    for (size_t i = 0; i < count; i++) {
        limiter->left_lines += bytes[i] == '\n';
        if (limiter->last_bytes == sizeof limiter->last) {
            memmove(limiter->last, limiter->last + CLI_LIMITER_LAST_BYTES, CLI_LIMITER_LAST_BYTES);
            limiter->last_bytes = CLI_LIMITER_LAST_BYTES;
        }
        limiter->last[limiter->last_bytes++] = bytes[i];
    }
}

static void pass_on(struct limiter *limiter, const char *bytes, size_t count)
{
    size_t pass = 0;
    if (!limiter->closed) {
        pass = count;
        if (limiter->passed_bytes + count > CLI_LIMITER_FIRST_BYTES) {
            /* To the end of the line that reaches the bound, and no line is endless. */
            const size_t room = CLI_LIMITER_FIRST_BYTES > limiter->passed_bytes
                                    ? CLI_LIMITER_FIRST_BYTES - limiter->passed_bytes
                                    : 0;
            const char *end = memchr(bytes + room, '\n', count - room);
            if (end != NULL ||
                limiter->passed_bytes + count > CLI_LIMITER_FIRST_BYTES + CLI_LIMITER_LAST_BYTES) {
                pass = end != NULL ? (size_t)(end + 1 - bytes) : room;
                limiter->closed = true;
            }
        }
        limiter->passed_bytes += pass;
        (void)write_all(bytes, pass); /* where it cannot be written nothing can be said of that either */
    }
    hold_back(limiter, bytes + pass, count - pass);
}

/* The last lines, whole, and how much is missing before them. */
static void show_rest(const struct cli_verb *verb, const struct limiter *limiter)
{
    size_t begin = 0;
    if (limiter->left_bytes == 0)
        return;
    if (limiter->last_bytes > CLI_LIMITER_LAST_BYTES || limiter->left_bytes > limiter->last_bytes) {
        const size_t from = limiter->last_bytes > CLI_LIMITER_LAST_BYTES
                                ? limiter->last_bytes - CLI_LIMITER_LAST_BYTES
                                : 0;
        const char *line = memchr(limiter->last + from, '\n', limiter->last_bytes - from);
        begin = line != NULL && line + 1 < limiter->last + limiter->last_bytes
                    ? (size_t)(line + 1 - limiter->last)
                    : from;
    }
    uint64_t shown_lines = 0;
    for (size_t i = begin; i < limiter->last_bytes; i++)
        shown_lines += limiter->last[i] == '\n';
    if (limiter->left_bytes > limiter->last_bytes - begin)
        cli_say(verb, "... %" PRIu64 " lines of the run's messages left out here, %" PRIu64 " bytes ...",
                limiter->left_lines - shown_lines, limiter->left_bytes - (limiter->last_bytes - begin));
    (void)write_all(limiter->last + begin, limiter->last_bytes - begin);
}

static bool take(void *data, int stream, const char *bytes, size_t count)
{
    pass_on(data, bytes, count);
    return true;
}

int cli_limited_run(const struct cli_verb *verb, const char *program, char **arguments, char **environment,
                    int *ret_status)
{
    static const int NUMBERS[] = {FP_ENDING_SIGNALS, SIGQUIT};
    static const size_t COUNT = sizeof NUMBERS / sizeof NUMBERS[0];
    static struct limiter limiter;
    const struct sigaction action = {.sa_sigaction = hand_on, .sa_flags = SA_SIGINFO | SA_RESTART};
    const struct fp_process_bounds bounds = {.take = take, .data = &limiter};
    struct fp_process process;
    sigset_t before;
    const struct fp_process_plan plan = {
        .program = program,
        .arguments = arguments,
        .environment = environment,
        .streams = {FP_STREAM_OURS, FP_STREAM_OURS, FP_STREAM_PIPE},
        .mask = &before,
        .dies_with_us = true, /* nobody would read what it says */
    };
    const sigset_t ours = fp_signals_set(NUMBERS, COUNT);
    /* Until the child is known: one that came before would reach nobody. */
    (void)sigprocmask(SIG_BLOCK, &ours, &before); /* cannot fail */
    const int error = fp_process_start(&plan, &process);
    child_pid = process.pid;
    if (error == 0)
        fp_signals_take(NUMBERS, COUNT, &action, NULL);
    (void)sigprocmask(SIG_SETMASK, &before, NULL); /* as above */
    if (error != 0) {
        cli_say(verb, "cannot start '%s': %s", program, strerror(error));
        return CLI_FAILED;
    }
    (void)fp_process_wait(&process, &bounds); /* which end nothing */
    child_pid = 0;
    fp_process_release(&process);
    show_rest(verb, &limiter);
    *ret_status = process.status;
    return CLI_DONE;
}
