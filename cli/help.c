/* help.c - the list of verbs, and each verb's help. */
#include <stdio.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/say.h"
#include "cli/base/similar.h"
#include "cli/help.h"
#include "cli/options/option_help.h"
#include "cli/options/option_table.h"
#include "cli/verbs/verbs.h"

const struct cli_verb *const *cli_verbs(void)
{
    static const struct cli_verb *const verbs[] = {
        &CLI_AB,     &CLI_RECORD,     &CLI_TOP,    &CLI_CONVERT,  &CLI_INFO,
        &CLI_REPLAY, &CLI_REPORT,     &CLI_TUNE,   &CLI_VALIDATE, &CLI_COMPARE,
        &CLI_CHECK,  &CLI_ALLOCATORS, &CLI_DOCTOR, &CLI_HELP,     NULL,
    };
    return verbs;
}

const struct cli_verb *cli_verb_find(const char *name)
{
    for (const struct cli_verb *const *verb = cli_verbs(); *verb != NULL; verb++) {
        if (strcmp((*verb)->name, name) == 0)
            return *verb;
    }
    return NULL;
}

int cli_verb_unknown(const struct cli_verb *verb, const char *name)
{
    struct cli_similar similar = {0};
    for (const struct cli_verb *const *one = cli_verbs(); *one != NULL; one++)
        cli_similar_offer(&similar, name, (*one)->name);
    if (name[0] == '-')
        return cli_misuse(verb, "unknown option '%s': a verb comes first", name);
    if (similar.word != NULL)
        return cli_misuse(verb, "unknown verb '%s': did you mean '%s'?", name, similar.word);
    return cli_misuse(verb, "unknown verb '%s'", name);
}

void cli_print_verbs(FILE *out)
{
    fprintf(out, "usage: mallab VERB [OPTION...] [ARGUMENT...]\n\n"
                 "Record what a program asks of malloc, replay it on other allocators, and say\n"
                 "which one serves it best.\n\n");
    for (const struct cli_verb *const *verb = cli_verbs(); *verb != NULL; verb++)
        fprintf(out, "  %-12s%s\n", (*verb)->name, (*verb)->summary);
    fprintf(out, "\n  --version   print the version\n"
                 "  -h, --help  print this help\n"
                 "\n"
                 "example: mallab ab -- sqlite3 :memory: 'SELECT 1'\n"
                 "'mallab help VERB' and the man page mallab-VERB(1) tell more of each.\n");
}

static int run_help(int argc, char **argv)
{
    struct cli_operands operands;
    const int code = cli_options_take(&CLI_HELP, argc, argv, NULL, &operands);
    if (code >= 0)
        return code;
    if (operands.count > 1)
        return cli_misuse(&CLI_HELP, "one verb at a time");
    if (operands.count == 0) {
        cli_print_verbs(stdout);
        return CLI_DONE;
    }
    const struct cli_verb *verb = cli_verb_find(operands.words[0]);
    if (verb == NULL)
        return cli_verb_unknown(&CLI_HELP, operands.words[0]);
    cli_option_help_print(verb);
    return CLI_DONE;
}

const struct cli_verb CLI_HELP = {
    .name = "help",
    .summary = "print the help of a verb",
    .usage = "[VERB]",
    .purpose = "Print the help of a verb, or the list of verbs.",
    .examples = "mallab help ab",
    .exit_codes = "0 done, 2 misuse",
    .run = run_help,
};
