/* timed.h - time of a whole command: wall, user and system time, by hyperfine, or by ourselves where it is absent.
 *
 * One run a call, so that the caller can interleave candidates, which hyperfine's own rounds do not. hyperfine starts the
 * command without a shell, with /dev/null as stdin and stdout. It runs in an environment without the candidate's library
 * and settings, or it would die of an allocator that the command bears: these are the command's alone, put into its
 * environment by env(1). What env takes, about a millisecond, is in every candidate's time, baseline and control included.
 * Processor time is that of the command and of all that it started, also of those that nobody waited for: their last one's end is
 * the run's. The caller has no other children meanwhile. */
#ifndef MALLAB_RESULTS_MEASURE_EXPERIMENT_TIMED_H
#define MALLAB_RESULTS_MEASURE_EXPERIMENT_TIMED_H

#include <signal.h>
#include <stdint.h>

#include "footprint/base/process.h"
#include "results/measure/candidate/candidates.h"

/* A program that is run for real: in a process group of its own, with /dev/null as stdin and stdout and a file as stderr. */
struct res_command {
    const char *path;       /* to execute */
    char *const *arguments; /* argv, arguments[0] included */
    char *const *environment;
    int output;                  /* a descriptor for its stdout; 0: that is dropped */
    const char *errors;          /* path of a file for its stderr; replaced */
    uint64_t timeout_ns;         /* 0: none */
    volatile sig_atomic_t *stop; /* not 0: end it; may be NULL */
};

enum res_real_state {
    RES_REAL_OK = 0,
    RES_REAL_FAILED = 1,  /* could not be run or watched; a command that ends badly has run */
    RES_REAL_STOPPED = 2, /* by command.stop */
};

#define RES_TOO_LATE "it did not end within --timeout"

/* res_command_start - start it in a process group of its own, with its streams and environment.
 * plan      what else is to be: its mask, a gate.
 * Returns   0; else an errno, with ret_reason set to one line, the caller's to free. */
int res_command_start(const struct res_command *command, struct fp_process_plan plan,
                      struct fp_process *ret_process, char **ret_reason);

/* res_command_left - why a run is ended whose command has ended RES_LEFT_NS ago and has left this process. The caller's to free. */
#define RES_LEFT_NS UINT64_C(10000000000) /* for what nobody waits for, where no timeout says how long */
char *res_command_left(pid_t pid);

/* res_command_environment - the environment of a replay (run.h), with the candidate's library preloaded in any case: programs that are linked
 * against another allocator then run on glibc's own, too. Freed with res_strings_free. */
char **res_command_environment(const struct res_candidate *candidate);

/* res_command_ends_alike - whether an end is the expected one: of the signals hyperfine says only that there was one.
 * expected  RES_ANY_CODE: any but by a signal. */
#define RES_ANY_CODE (-1)
bool res_command_ends_alike(int code, int expected);

/* res_command_end_words - how a command ended: "with exit code 3", "by signal 11 (Segmentation fault)".
 * code  as of a shell, 128 + the signal; or RES_SOME_SIGNAL. The caller's to free. */
#define RES_SOME_SIGNAL 256 /* by a signal that is not known */
char *res_command_end_words(int code);

/* res_command_adds - whether last words, NULL: none, say more of an end than the name of the signal, as a shell does. */
bool res_command_adds(int code, const char *words);

/* res_command_last_words - the last line of its stderr (res_last_line), by the path of that file. */
char *res_command_last_words(const char *errors);

/* One run of the whole command for its time. */
struct res_timed {
    double wall_ns, cpu_ns; /* cpu_ns: user and system */
    int exit_code;          /* 128 + the signal that ended it; RES_SOME_SIGNAL: not known which */
};

struct res_timed_request {
    struct res_command command;
    const char *hyperfine; /* path of the program; NULL: wait4(2) */
    const char *directory; /* for its result */
};

/* res_used_ns - user and system time. */
double res_used_ns(const struct rusage *usage);

/* res_timed_run - run it once, to its end.
 * ret         filled on RES_REAL_OK.
 * ret_reason  one line, the caller's to free, on RES_REAL_FAILED. */
enum res_real_state res_timed_run(const struct res_timed_request *request, struct res_timed *ret,
                                  char **ret_reason);

#endif
