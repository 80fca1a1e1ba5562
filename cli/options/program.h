/* program.h - which `mallab` this is: the whole one, or the recorder's, which has fewer verbs and needs fewer libraries. */
#ifndef MALLAB_CLI_OPTIONS_PROGRAM_H
#define MALLAB_CLI_OPTIONS_PROGRAM_H

#include "cli/base/cli.h"
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

#endif
