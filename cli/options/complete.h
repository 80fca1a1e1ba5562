/* complete.h - the program: the whole `mallab`, or the recorder's, which has fewer verbs and needs fewer libraries; and
 * completion of its command line, for the shells (completion/). */
#ifndef MALLAB_CLI_OPTIONS_COMPLETE_H
#define MALLAB_CLI_OPTIONS_COMPLETE_H

#include "cli/options/option_table.h"

struct cli_program {
    const struct cli_verb *const *verbs; /* NULL behind the last one */
    const char *purpose, *example;       /* for its help */
    const char *rest;                    /* where the other verbs are; NULL: these are all */
    /* begin - before anything else. Returns -1 to go on, else an exit code. */
    int (*begin)(int argc, char **argv);
    /* offer - complete a value that is no word of its row; NULL: nothing is offered.
     * before  what of the word is no part of the value, "--format=" */
    void (*offer)(enum cli_offer kind, const char *before, const char *typed);
};

extern const struct cli_program CLI_PROGRAM; /* whole_program.c or recorder_program.c, whichever is linked */

/* cli_program_verb - a verb by its name. NULL: it has none of that name. */
const struct cli_verb *cli_program_verb(const struct cli_program *program, const char *name);

/* cli_offer - print a word, if it begins as `typed` does.
 * before       what of the word on the command line is no part of it, "--format="
 * description  NULL: none */
void cli_offer(const char *typed, const char *before, const char *word, const char *description);

/* cli_complete - print what the last of these words may become, on a line each: the whole word, and after a tab what it is;
 * and directives, which begin with a colon:
 *   :files EXT...   files of these endings (all, where there are none) and directories
 *   :directories    directories
 *   :nospace        more may follow the word at once
 *   :command        a command line of its own begins behind the word '--'
 * words    behind `mallab`, one at least.
 * Returns  an exit code; nothing to offer is no failure. */
int cli_complete(const struct cli_program *program, int count, char **words);

#endif
