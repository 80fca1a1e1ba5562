/* process.h - start another program, or a function of ours, as a child process; wait for it, bound it, end it. What programs of ours
 * need besides: time that passes, signals, descriptors.
 *
 *   plan      what is to run, with which streams, signals and group; all zero: nothing is changed in the child
 *   body      a function that the child runs: before the program, or instead of it
 *   process   the child, from its start until it was waited for and released
 *   gate      what a body waits for before the program may run
 *
 * A start fails as a whole: where the program cannot be executed the caller gets the errno, and no child is left. Every
 * descriptor that is made here closes on exec and is none of the standard ones, which the user may have left closed.
 * The processes of replay/ and shim/ are started by those rooms, whose laws are others. */
#ifndef MALLAB_FOOTPRINT_BASE_PROCESS_H
#define MALLAB_FOOTPRINT_BASE_PROCESS_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <time.h>

/* fp_now_ns - CLOCK_MONOTONIC. Async-signal-safe. */
static inline uint64_t fp_now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail for this clock */
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* Instead of a descriptor, for a stream of the child. */
#define FP_STREAM_OURS 0    /* the same as ours */
#define FP_STREAM_NULL (-1) /* /dev/null */
#define FP_STREAM_PIPE (-2) /* to us; not for stdin */

#define FP_PROCESS_NOT_FOUND      127 /* exit codes of a child that could not execute its program, as a shell's */
#define FP_PROCESS_NOT_EXECUTABLE 126

struct fp_process_plan {
    const char *program; /* path, with a slash; NULL: body alone runs, and what it returns is the exit code */
    char *const *arguments;   /* argv, arguments[0] included */
    char *const *environment; /* NULL: ours, as body leaves it */
    int (*body)(void *data);  /* where it does not return 0, the child ends with that code; may be NULL */
    void *data;
    int streams[3];       /* stdin, stdout, stderr: FP_STREAM_..., or a descriptor that is to become it */
    const sigset_t *mask; /* the signals that are blocked; NULL: those that we block */
    bool default_signals; /* no signal is ignored */
    bool own_group;       /* a new process group, all of which is killed where the process is */
    bool dies_with_us;    /* it is killed when we end */
    bool as_shell;        /* a file that the kernel does not know is run by /bin/sh, as execvp(3) does */
    bool gated;           /* body waits for the caller: the start does not wait for the exec */
};

struct fp_process {
    pid_t pid; /* 0: there is none */
    int pidfd; /* -1: the kernel has none */
    int pipes[3];
    int failed; /* says the errno of an exec that failed; its end says that there was none */
    bool own_group;
    bool ended; /* and was waited for: what follows is set */
    int status; /* as from waitpid(2) */
    struct rusage usage;
};

#define FP_PROCESS_NONE ((struct fp_process){.pidfd = -1, .pipes = {-1, -1, -1}, .failed = -1})

/* fp_process_start - start what the plan says. It is borrowed for the call; with a gate, body's data until body has ended.
 * ret_process   to be released with fp_process_release; FP_PROCESS_NONE on failure.
 * Returns       0, or the errno of what failed: no pipe, no process, a program that cannot be executed. */
int fp_process_start(const struct fp_process_plan *plan, struct fp_process *ret_process);

/* fp_process_exec_error - wait until a gated child whose gate is open executes its program.
 * Returns  0, or the errno for which it could not. */
int fp_process_exec_error(struct fp_process *process);

enum fp_process_end {
    FP_PROCESS_ENDED = 0,
    FP_PROCESS_STOPPED, /* by bounds.stop: killed */
    FP_PROCESS_LATE,    /* at bounds.deadline_ns: killed */
    FP_PROCESS_FULL,    /* bounds.take had enough: killed */
};

struct fp_process_bounds {
    uint64_t deadline_ns;        /* on fp_now_ns' clock; 0: none */
    volatile sig_atomic_t *stop; /* not 0: end it; may be NULL */
    /* Takes bytes that came by the pipe of a stream, 1 or 2. Returns whether more is wanted. NULL: they are dropped. */
    bool (*take)(void *data, int stream, const char *bytes, size_t count);
    void *data;
};

/* fp_process_wait - read its pipes to their ends and wait for its end; kill it where the bounds (may be NULL) say so.
 * Returns  which it was; process.status and .usage are set in every case. */
enum fp_process_end fp_process_wait(struct fp_process *process, const struct fp_process_bounds *bounds);

/* fp_process_ends_within - whether it ends in that time; 0 asks without waiting. It is not killed, its pipes are not read. */
bool fp_process_ends_within(struct fp_process *process, uint64_t within_ns);

/* fp_process_kill - send a signal to a process that was not waited for yet, or to its own group; else nothing. */
void fp_process_kill(const struct fp_process *process, int number);

/* fp_process_release - close what is open of it; what is known of its end stays. It is neither killed nor waited for. */
void fp_process_release(struct fp_process *process);

/* fp_process_run - start, wait without bounds, release. Returns 0 with ret_status set, or as fp_process_start. */
int fp_process_run(const struct fp_process_plan *plan, int *ret_status);

/* ---- how it ended --------------------------------------------------------------------------- */

/* fp_status_code - as a shell has it: the exit code, or 128 + the signal. */
int fp_status_code(int status);

#define FP_STATUS_WORDS 32

/* fp_status_words - "exit code 3", "signal 11". Returns ret_words, FP_STATUS_WORDS bytes. */
char *fp_status_words(int status, char *ret_words);

/* ---- descriptors and other processes -------------------------------------------------------- */

/* fp_above_standard - the same descriptor under a number from 3 up. Returns it; -1 with errno set, and fd is closed. */
int fp_above_standard(int fd);

/* fp_make_pipe - pipe2(2) with O_CLOEXEC, fp_make_pair - a stream socket likewise: both ends above the standard ones.
 * Returns   0 or an errno, ends are -1 then. */
int fp_make_pipe(int ret_ends[2]);
int fp_make_pair(int ret_ends[2]);

/* fp_close - close it if it is open, and set it to -1. */
void fp_close(int *fd);

/* fp_write_all - write(2) until all bytes are out. Returns false with errno set; where a file takes nothing more: ENOSPC. */
bool fp_write_all(int fd, const void *bytes, size_t size);

/* fp_pidfd_open - hold a process, so that its id cannot become another's. Returns -1 with errno set; ENOSYS: the kernel has none.
 * fp_pidfd_signal - pidfd_send_signal(2). */
int fp_pidfd_open(pid_t pid);
bool fp_pidfd_signal(int pidfd, int number);

/* ---- signals ---------------------------------------------------------------------------------
 *
 * Those by which users, terminals and service managers end a program, and who takes them. One that is ignored when a program
 * starts, as under nohup(1), stays ignored, whoever takes it. */

/* The ending signals, for an array's initializer. */
#define FP_ENDING_SIGNALS SIGINT, SIGTERM, SIGHUP
#define FP_ENDING_COUNT   3

/* fp_signal_is_ending - whether it is one of them. Async-signal-safe. */
bool fp_signal_is_ending(int number);

/* fp_signals_take - give each signal this action.
 * ret_former    count of them, as they were, for fp_signals_restore; may be NULL. */
void fp_signals_take(const int *numbers, size_t count, const struct sigaction *action,
                     struct sigaction *ret_former);
void fp_signals_restore(const int *numbers, size_t count, const struct sigaction *former);

/* fp_signals_set - a set of these signals. */
sigset_t fp_signals_set(const int *numbers, size_t count);

/* fp_end_by_signal - die of a signal, so that whoever waits for us sees that, without a core of ours. Returns where the signal
 * ends nobody. */
void fp_end_by_signal(int number);

/* ---- helpers -----------------------------------------------------------------------------------------
 *
 * A thread of our own beside the one that calls: to pack windows, to decode blocks ahead.
 *
 * What it does must be the same as without it, for it may not come to be. */

/* fp_helper_start - run serve(data) on a thread that takes no signals: those stay with the threads that the program
 * knows of.
 * ret_thread  joinable, by whoever called.
 * Returns     false where there is but one processor for us, or no thread to be had: nothing runs then. */
bool fp_helper_start(pthread_t *ret_thread, void *(*serve)(void *data), void *data);

/* fp_has_one_processor - whether this process may use but one. */
bool fp_has_one_processor(void);

#endif
