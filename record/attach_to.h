/* attach_to.h - `mallab record --attach-to DIR`: what it does instead of running a command. */
#ifndef MALLAB_RECORD_ATTACH_TO_H
#define MALLAB_RECORD_ATTACH_TO_H

#include "cli/base/cli.h"
#include "record/control.h"

/* cli_attach - ask a recording that goes on for something, and print on stdout how it stands then.
 * json      as one object, docs/results.md.
 * Returns   an exit code: CLI_DONE, also for the figures of one that has ended in good order; CLI_FAILED when it was not
 *           heeded, or the collector was killed; CLI_UNREADABLE for what is no recording. */
int cli_attach(const struct cli_verb *verb, const char *directory, enum cli_request request, bool json);

#endif
