/* retired.h - words of the command line that earlier versions took, and what to do instead: for one version, then they are unknown. */
#ifndef MALLAB_CLI_OPTIONS_RETIRED_H
#define MALLAB_CLI_OPTIONS_RETIRED_H

#include "cli/base/cli.h"

/* cli_retired - what to do instead of a word.
 * verb  whose option it is, "--pin=2"; NULL: the word is a verb itself
 * Returns NULL: it never was one; else a part of a sentence, the table's. */
const char *cli_retired(const struct cli_verb *verb, const char *word);

#endif
