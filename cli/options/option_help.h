/* option_help.h - a verb as people read it: its help, and the options of its man page, both made of
 * its rows. */
#ifndef MALLAB_CLI_OPTIONS_OPTION_HELP_H
#define MALLAB_CLI_OPTIONS_OPTION_HELP_H

#include <stdbool.h>

#include "cli/base/cli.h"

/* cli_option_help - what `mallab help VERB` prints, all: with seldom options and notes: 80 columns at most. The caller's to free.
 * cli_option_roff - the OPTIONS of its man page: headings as .SS, options as .TP. The caller's to
 * free. */
char *cli_option_help(const struct cli_verb *verb, bool all);
char *cli_option_roff(const struct cli_verb *verb);

#endif
