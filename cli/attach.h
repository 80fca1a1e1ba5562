/* attach.h - `mallab record --attach-to DIR`: what it does instead of running a command. */
#ifndef MALLAB_CLI_ATTACH_H
#define MALLAB_CLI_ATTACH_H

#include "cli/cli.h"
#include "cli/control.h"

/* cli_attach - ask a recording that goes on for something, and say on stderr how it stands then.
 * Returns an exit code: CLI_DONE, CLI_FAILED, CLI_UNREADABLE for what is no recording. */
int cli_attach(const struct cli_verb *verb, const char *directory, enum cli_request request);

#endif
