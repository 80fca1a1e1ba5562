/* main.c - `mallab`: find the verb, run it, see that its answer reached stdout. */
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/complete/complete.h"
#include "results/measure/candidate/library.h"

static int run_verb(int argc, char **argv)
{
    const struct cli_verb *verb = cli_verb_find(argv[0]);
    if (verb == NULL)
        return cli_verb_unknown(NULL, argv[0]);
    optind = 0; /* glibc: start anew, for another argv */
    return verb->run(argc, argv);
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
        code = cli_complete(argc - 2, argv + 2);
    } else {
        code = run_verb(argc - 1, argv + 1);
    }
    return cli_stdout_end(code);
}
