/* timed.h - how long a whole command takes: wall, user and system time, by hyperfine, or by ourselves where it is absent.
 *
 * One run a call, so that the caller can interleave candidates, which hyperfine's own rounds do not. hyperfine starts the
 * command without a shell, with /dev/null as stdin and stdout. It runs in an environment without the candidate's library
 * and settings, or it would die of an allocator that the command bears: these are the command's alone, put into its
 * environment by env(1). What env takes, about a millisecond, is in every candidate's time, baseline and control included.
 * Times are those of the command and of all its children that it waited for. */
#ifndef MALLAB_RESULTS_MEASURE_EXPERIMENT_TIMED_H
#define MALLAB_RESULTS_MEASURE_EXPERIMENT_TIMED_H

#include <stdbool.h>
#include <stddef.h>

#include "results/measure/experiment/real_command.h"
#include "results/measure/result/validated.h"

struct res_timed_request {
    struct res_command command;
    const char *hyperfine; /* path of the program; NULL: wait4(2) */
    const char *directory; /* for its result */
};

/* res_timed_run - run it once, to its end.
 * ret         filled on RES_REAL_OK.
 * ret_reason  one line, the caller's to free, on RES_REAL_FAILED. */
enum res_real_state res_timed_run(const struct res_timed_request *request, struct res_timed *ret,
                                  char **ret_reason);

/* res_timed_parse - hyperfine's JSON of one run. Returns false with ret_reason set when it is not that. */
bool res_timed_parse(const char *text, size_t length, struct res_timed *ret, char **ret_reason);

/* res_shell_words - a command line that hyperfine and sh(1) split into these words again. The caller's to free. */
char *res_shell_words(char *const *words);

#endif
