/* stderr_limiter.h - run a program in our place, with a bound on what it writes to stderr.
 *
 * An allocator under a tight memory limit may complain once for every page that it does not get: a million lines, of
 * which the first and the last few tell everything. */
#ifndef MALLAB_CLI_BASE_STDERR_LIMITER_H
#define MALLAB_CLI_BASE_STDERR_LIMITER_H

#include "cli/base/cli.h"

#define CLI_LIMITER_FIRST_BYTES 65536u /* passed on as they come */
#define CLI_LIMITER_LAST_BYTES  4096u  /* kept of what follows, in whole lines: programs end with the cause */

/* cli_limited_run - start the program with our stdin and stdout, and wait for it. Signals that ask us to end reach it; it
 * ends when we do.
 * verb         for messages: what was left out, and why it could not be started.
 * ret_status   how it ended, as from waitpid(2).
 * Returns      CLI_DONE; CLI_FAILED when it could not be started. */
int cli_limited_run(const struct cli_verb *verb, const char *program, char **arguments, char **environment,
                    int *ret_status);

#endif
