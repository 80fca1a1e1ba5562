/* stderr_limiter.h - run a program in our place, with a bound on what it writes to stderr.
 *
 * An allocator under a tight memory limit may complain once for every page that it does not get: a million lines, of
 * which the first and the last few tell everything. */
#ifndef MALLAB_RESULTS_MEASURE_RUN_STDERR_LIMITER_H
#define MALLAB_RESULTS_MEASURE_RUN_STDERR_LIMITER_H

#include "cli/base/cli.h"

#define CLI_SIEVE_FIRST_BYTES 65536u /* passed on as they come */
#define CLI_SIEVE_LAST_BYTES  4096u  /* kept of what follows, in whole lines: programs end with the cause */

/* cli_sieve_run - start the program with our stdin and stdout, and wait for it. Signals that ask us to end reach it; it
 * ends when we do. If it was ended by a signal, so are we.
 * verb    for messages: what was left out, and why it could not be started.
 * ended   called when it has ended by a signal, and before we do, with context and that signal: whether that was told, and
 *         is a failure like others. May be NULL.
 * Returns its exit status; CLI_FAILED when it could not be started, or when ended says so. */
int cli_sieve_run(const struct cli_verb *verb, const char *program, char **arguments, char **environment,
                  bool (*ended)(void *context, int number), void *context);

#endif
