/* recover.h - get back what a killed collector left in shared memory. */
#ifndef MALLAB_RECORD_RECOVER_H
#define MALLAB_RECORD_RECOVER_H

#include <stdbool.h>

#include "cli/base/cli.h"

/* cli_recover - if path is a recording whose collector was killed and whose shared memory is still there, let
 * mallab-collect write what it holds into the recording, telling on stderr in the name of `verb` how that went. Else
 * nothing happens: looking costs a file's reading.
 * Returns  whether something was recovered. */
bool cli_recover(const struct cli_verb *verb, const char *path);

#endif
