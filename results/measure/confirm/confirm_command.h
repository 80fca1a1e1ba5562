/* confirm_command.h - a command as what is confirmed: timed by hyperfine where it is there (timed.h), its peak of memory from runs
 * that are watched (sampled.h).
 *
 * It has no input, its output is thrown away. A run that ends with another exit code than is expected has failed, and so has
 * one whose processes ran without the candidate's library. */
#ifndef MALLAB_RESULTS_MEASURE_CONFIRM_CONFIRM_COMMAND_H
#define MALLAB_RESULTS_MEASURE_CONFIRM_CONFIRM_COMMAND_H

#include "results/measure/confirm/confirming.h"

struct res_confirm_command {
    const char *path;       /* of the program; arguments: argv */
    char *const *arguments; /* borrowed, like all */
    const char *directory;  /* for what runs leave behind */
    const char *hyperfine;  /* its path; NULL: wait4(2) */
    const char *
        group; /* a name, whose processes' peak is what they hold together; NULL: that of the largest process counts */
    int exit_code;       /* that is expected; 128 + signal, or RES_ANY_CODE */
    uint64_t timeout_ns; /* of one run; 0: none */
    volatile sig_atomic_t *stop;
};

/* res_confirm_command_as_it_is - one run of it without any candidate: that it ends as is expected, and what it runs on.
 * output       a descriptor for its stdout
 * libraries    paths, NULL behind
 * ret_library  the first of them that its largest process had loaded, NULL: none; filled on RES_REAL_OK
 * ret_reason   one line, the caller's to free, on RES_REAL_FAILED. */
enum res_real_state res_confirm_command_as_it_is(const struct res_confirm_command *command, int output,
                                                 const char *const *libraries, const char **ret_library,
                                                 char **ret_reason);

/* res_confirm_command_runner - runs of it; command is borrowed as long as the runner is used. */
struct res_confirm_runner res_confirm_command_runner(struct res_confirm_command *command);

#endif
