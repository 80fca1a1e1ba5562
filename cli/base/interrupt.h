/* interrupt.h - Ctrl-C in the midst of an experiment: note it, end in order, then die of it; and
 * the temporary directory, which is gone then, too. */
#ifndef MALLAB_CLI_BASE_INTERRUPT_H
#define MALLAB_CLI_BASE_INTERRUPT_H

#include <signal.h>

#include "cli/base/cli.h"

extern volatile sig_atomic_t cli_stopped_by; /* the signal; 0 while none came */

/* cli_stops_take - from now on SIGINT, SIGTERM and SIGHUP are only noted; those that are ignored,
 * as under nohup, stay so. */
void cli_stops_take(void);

/* cli_stops_end - when all is written: where a signal was noted, end by it, so that the shell sees
 * that. Temporary files are removed before. Returns where none was. */
void cli_stops_end(void);

/* cli_temporary_parent - where temporary files go: $TMPDIR, else /tmp. */
const char *cli_temporary_parent(void);

/* cli_temporary_directory - a new private directory in cli_temporary_parent, removed with its contents at exit of the process that
 * made it; after SIGKILL by the next process that makes one. NULL when it cannot be made, told on stderr. Valid to the end. */
const char *cli_temporary_directory(const struct cli_verb *verb);

#endif
