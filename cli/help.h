/* help.h - the list of verbs. */
#ifndef MALLAB_CLI_HELP_H
#define MALLAB_CLI_HELP_H

#include <stdio.h>

#include "cli/base/cli.h"

/* cli_verb_find - by name; NULL when unknown. cli_verbs - all, NULL-terminated. */
const struct cli_verb *cli_verb_find(const char *name);
const struct cli_verb *const *cli_verbs(void);

/* cli_verb_unknown - word that a name is no verb, in the name of `verb` (NULL: mallab), with the
 * nearest one. Returns CLI_MISUSE. */
int cli_verb_unknown(const struct cli_verb *verb, const char *name);

/* cli_print_verbs - how the program is used, and the list of verbs. */
void cli_print_verbs(FILE *out);

#endif
