/* main.c - `mallab`: find the verb, run it, see that its answer reached stdout. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/output.h"
#include "cli/complete/complete.h"
#include "cli/help.h"
#include "cli/options/option_help.h"
#include "cli/options/option_table.h"
#include "results/measure/candidate/library.h"

#define CLI_ROFF "--roff" /* the hidden first word by which man pages are made */

static int run_verb(int argc, char **argv)
{
    const struct cli_verb *verb = cli_verb_find(argv[0]);
    if (verb == NULL)
        return cli_verb_unknown(NULL, argv[0]);
    optind = 0; /* glibc: start anew, for another argv */
    return verb->run(argc, argv);
}

/* The options of a verb for its man page (docs/man/make_page.py). */
static int print_roff(const char *name)
{
    const struct cli_verb *verb = cli_verb_find(name);
    if (verb == NULL)
        return cli_verb_unknown(NULL, name);
    char *roff = cli_option_roff(verb);
    cli_put(roff, strlen(roff));
    free(roff);
    return CLI_DONE;
}

int main(int argc, char **argv)
{
    int code;
    if (argc == 3 && strcmp(argv[1], RES_LIBRARY_PROBE) == 0)
        return res_library_answer(argv[2]);
    (void)setlocale(LC_CTYPE, ""); /* an unknown locale leaves "C", which is what we then print for */
    if (argc < 2) {
        cli_print_verbs(stderr);
        code = CLI_MISUSE;
    } else if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        cli_print_verbs(stdout);
        code = CLI_DONE;
    } else if (strcmp(argv[1], "--version") == 0) {
        printf("mallab " MALLAB_VERSION "\n");
        code = CLI_DONE;
    } else if (strcmp(argv[1], CLI_COMPLETE) == 0 && argc > 2) {
        code = cli_complete(cli_verbs(), argc - 2, argv + 2);
    } else if (strcmp(argv[1], CLI_ROFF) == 0 && argc == 3) {
        code = print_roff(argv[2]);
    } else {
        code = run_verb(argc - 1, argv + 1);
    }
    return cli_stdout_end(code);
}
