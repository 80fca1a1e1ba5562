/* real_command.h - a program that is run for real, beside its replays: how it is started, and how it ended.
 *
 * It has a process group of its own, /dev/null as stdin and stdout, and a file as stderr. */
#ifndef MALLAB_RESULTS_MEASURE_EXPERIMENT_REAL_COMMAND_H
#define MALLAB_RESULTS_MEASURE_EXPERIMENT_REAL_COMMAND_H

#include <signal.h>
#include <stdint.h>

#include "footprint/base/process.h"

#define RES_TOO_LATE "it did not end within --timeout"

struct res_command {
    const char *path;       /* to execute */
    char *const *arguments; /* argv, arguments[0] included */
    char *const *environment;
    const char *errors;          /* path of a file for its stderr; replaced */
    uint64_t timeout_ns;         /* 0: none */
    volatile sig_atomic_t *stop; /* not 0: end it; may be NULL */
};

enum res_real_state {
    RES_REAL_OK = 0,
    RES_REAL_FAILED = 1,  /* could not be run or watched; a command that ends badly has run */
    RES_REAL_STOPPED = 2, /* by command.stop */
};

/* res_command_start - start it in a process group of its own, with its streams and environment.
 * plan      what else is to be: its mask, a gate.
 * Returns   0; else an errno, with ret_reason set to one line, the caller's to free. */
int res_command_start(const struct res_command *command, struct fp_process_plan plan,
                      struct fp_process *ret_process, char **ret_reason);

/* res_command_end_words - how a command ended: "with exit code 3", "by signal 11 (Segmentation fault)".
 * code  as of a shell, 128 + the signal; or RES_SOME_SIGNAL. The caller's to free. */
#define RES_SOME_SIGNAL 256 /* by a signal that is not known */
char *res_command_end_words(int code);

/* res_command_last_words - the last line of its stderr, fit for a terminal. The caller's to free. */
char *res_command_last_words(const struct res_command *command);

#endif
