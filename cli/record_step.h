/* record_step.h - a command recorded as a step on the way to something else. */
#ifndef MALLAB_CLI_RECORD_STEP_H
#define MALLAB_CLI_RECORD_STEP_H

#include "cli/cli.h"

/* cli_record_step - record a command into DIRECTORY/NAME, its stdout going to stderr, which the answer does not use, or nowhere (shows_stdout false); told in
 * the name of `verb`: how it ended where that was not well, what of its tree was not recorded, what was lost.
 * command        argv, ending in NULL.
 * ret_status     how it ended, as from waitpid; may be NULL.
 * ret_recording  path of the recording, the caller's to free; set on CLI_DONE.
 * Returns        CLI_DONE when there is something to replay; else CLI_FAILED, told on stderr. */
int cli_record_step(const struct cli_verb *verb, char **command, const char *directory, bool quiet,
                    bool shows_stdout, int *ret_status, char **ret_recording);

#endif
