/* complete.h - what may stand where on a command line, for the shells' completions (completion/).
 *
 * The options of a verb and their words are those of its rows (options/option_table.h). */
#ifndef MALLAB_CLI_COMPLETE_COMPLETE_H
#define MALLAB_CLI_COMPLETE_COMPLETE_H

#include "cli/base/cli.h"

/* The hidden first word of a command line by which the shells' functions ask. */
#define CLI_COMPLETE "--complete"

/* cli_complete - words that the last of these may become, on stdout.
 * verbs  ends with NULL.
 * words  those behind `mallab`, the last one being completed; it may be empty. count > 0.
 * Prints a line each: the whole word, and after a tab what it is; and directives, which begin with a colon:
 *   :files EXT...   files of these endings (all, where there are none) and directories
 *   :directories    directories
 *   :nospace        more may follow the word at once
 *   :command        a command line of its own begins behind the word '--'
 * Returns an exit code; nothing to offer is no failure. */
int cli_complete(const struct cli_verb *const *verbs, int count, char **words);

#endif
