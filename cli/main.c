/* main.c - `mallab`: find the verb, run it, see that its answer reached stdout; its help, and what completes it. */
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/verbs/verbs.h"

/* Hidden first words: */
#define CLI_ROWS     "--rows"     /* by which man pages are made */
#define CLI_COMPLETE "--complete" /* by which the shells' functions ask */

static const struct cli_verb *find_verb(const char *name)
{
    return cli_program_verb(&CLI_PROGRAM, name);
}

/* Refuses a name in the name of `verb` (NULL: mallab), with the nearest one. Returns CLI_MISUSE. */
static int refuse_verb(const struct cli_verb *verb, const char *name)
{
    const struct cli_verb *const *one = CLI_PROGRAM.verbs;
    while (*one != NULL && !cli_is_near(name, (*one)->name))
        one++;
    if (name[0] == '-')
        return cli_misuse(verb, "unknown option '%s': a verb comes first", name);
    if (*one != NULL)
        return cli_misuse(verb, "unknown verb '%s': did you mean '%s'?", name, (*one)->name);
    if (CLI_PROGRAM.rest != NULL)
        return cli_misuse(verb, "unknown verb '%s': %s", name, CLI_PROGRAM.rest);
    return cli_misuse(verb, "unknown verb '%s'", name);
}

/* A screen of 24 lines. */
static void print_verbs(FILE *out)
{
    fprintf(out, "usage: mallab VERB [OPTION...] [ARGUMENT...]\n%s\n\n", CLI_PROGRAM.purpose);
    for (const struct cli_verb *const *verb = CLI_PROGRAM.verbs; *verb != NULL; verb++)
        fprintf(out, "  %-12s%s\n", (*verb)->name, (*verb)->summary);
    fprintf(out,
            "\nexample: %s\n"
            "'mallab help VERB' tells more of each, 'mallab --version' which one this is.\n",
            CLI_PROGRAM.example);
}

/* clang-format off */
static const struct cli_option HELP_OPTIONS[] = {
    {.name = "all", .how = CLI_FLAG, .help = "also the options that are seldom needed"},
    {0},
};
/* clang-format on */

static int run_help(int argc, char **argv)
{
    struct cli_operands operands;
    bool all = false;
    const int code = cli_options_take(&CLI_HELP, argc, argv, &all, &operands);
    if (code >= 0)
        return code;
    if (operands.count > 1)
        return cli_misuse(&CLI_HELP, "one verb at a time");
    if (operands.count == 0) {
        print_verbs(stdout);
        return CLI_DONE;
    }
    const struct cli_verb *verb = find_verb(operands.words[0]);
    if (verb == NULL)
        return refuse_verb(&CLI_HELP, operands.words[0]);
    cli_put_own(cli_option_help(verb, all));
    return CLI_DONE;
}

const struct cli_verb CLI_HELP = {
    .name = "help",
    .summary = "print the help of a verb",
    .usage = "[--all] [VERB]",
    .options = HELP_OPTIONS,
    .purpose = "Print the help of a verb, or the list of verbs.",
    .examples = "mallab help ab --all",
    .exit_codes = "0 done, 2 misuse",
    .takes_any = true,
    .run = run_help,
};

/* ---- the program ------------------------------------------------------------------------------ */

static int run_verb(int argc, char **argv)
{
    const struct cli_verb *verb = find_verb(argv[0]);
    if (verb == NULL)
        return refuse_verb(NULL, argv[0]);
    optind = 0; /* glibc: start anew, for another argv */
    return verb->run(argc, argv);
}

/* The options of a verb for its man page (docs/man/make_page.py). */
static int print_rows(const char *name)
{
    const struct cli_verb *verb = find_verb(name);
    if (verb == NULL)
        return refuse_verb(NULL, name);
    cli_put_own(cli_option_rows(verb));
    return CLI_DONE;
}

int main(int argc, char **argv)
{
    int code = CLI_PROGRAM.begin(argc, argv);
    if (code >= 0)
        return code;
    struct winsize page;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &page) == 0 &&
        page.ws_col > 0) /* a terminal that knows how wide it is */
        res_page_begin(page.ws_col);
    (void)setlocale(LC_CTYPE, ""); /* an unknown one leaves "C"; names stay in the order of their bytes */
    if (argc < 2) {
        print_verbs(stderr);
        code = CLI_MISUSE;
    } else if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_verbs(stdout);
        code = CLI_DONE;
    } else if (strcmp(argv[1], "--version") == 0) {
        printf("mallab " MALLAB_VERSION "\n");
        code = CLI_DONE;
    } else if (strcmp(argv[1], CLI_COMPLETE) == 0 && argc > 2) {
        code = cli_complete(&CLI_PROGRAM, argc - 2, argv + 2);
    } else if (strcmp(argv[1], CLI_ROWS) == 0 && argc == 3) {
        code = print_rows(argv[2]);
    } else {
        code = run_verb(argc - 1, argv + 1);
    }
    return cli_stdout_end(code);
}
