/* command_line.c - see command_line.h. */
#include "cli/options/command_line.h"

#include <assert.h>
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/similar.h"
#include "cli/options/select_options.h"

#define ROWS_MAX 60u /* of a verb's table */

/* What getopt_long wants besides the table: ":o:fh". '+': nothing behind the first operand is ours. */
static void short_options(const struct cli_command_line *line, char ret_letters[2 * ROWS_MAX + 3])
{
    char *end = ret_letters;
    size_t rows = 0;
    if (line->command_at == CLI_COMMAND_IS_OPERANDS)
        *end++ = '+';
    *end++ = ':'; /* getopt itself is silent: refuse words it */
    for (const struct option *row = line->options; row->name != NULL; row++) {
        assert(rows < ROWS_MAX);
        rows++;
        if (row->val > CHAR_MAX || !isalpha(row->val))
            continue;
        *end++ = (char)row->val;
        if (row->has_arg == required_argument)
            *end++ = ':';
    }
    *end = '\0';
}

/* Word what getopt_long refused; found is what it returned, '?' or ':'. */
static int refuse(const struct cli_verb *verb, int found, char **argv)
{
    const char *word = argv[optind - 1];
    if (found == ':')
        return cli_misuse(verb, "option '%s' needs a value", word);
    /* An unknown letter with others behind it: getopt is still in the midst of that word. */
    if (optopt != 0 && (word[0] != '-' || word[1] != '-'))
        return cli_misuse(verb, "unknown option '-%c'", isprint(optopt) ? optopt : '?');
    if (optopt != 0)
        return cli_misuse(verb, "option '%s' takes no value", word);
    char meant[CLI_SIMILAR_MAX];
    char *help = cli_help_text(verb);
    const bool similar = cli_similar_option(help, word, meant);
    free(help);
    if (similar)
        return cli_misuse(verb, "unknown or ambiguous option '%s': did you mean '%s'?", word, meant);
    return cli_misuse(verb, "unknown or ambiguous option '%s'", word);
}

static int take(const struct cli_command_line *line, int option, char **argv)
{
    if (option == '?' || option == ':')
        return refuse(line->verb, option, argv);
    if (cli_answer_has(option))
        return cli_answer_take(line->verb, option, optarg, line->answer);
    if (option >= CLI_SELECT_PROCESS && option < CLI_SELECT_END)
        return cli_select_take(line->verb, option, optarg, line->select);
    if (cli_measure_has(option))
        return cli_measure_take(line->verb, option, optarg, line->measure);
    return line->take(option, line->settings);
}

/* Words before "--": getopt alone does not tell whether there was one. */
static int words_before_dashes(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--") == 0)
            return i;
    }
    return argc;
}

/* The help tells of every option of the table: of those that it tells of, tests/cli/check_help.py tries each. */
static void check_help_is_whole(const struct cli_command_line *line)
{
#ifndef NDEBUG
    char *help = cli_help_text(line->verb);
    for (const struct option *row = line->options; row->name != NULL; row++) {
        char words[64];
        snprintf(words, sizeof words, " --%s", row->name);
        const char *at = strstr(help, words);
        while (at != NULL && (isalnum((unsigned char)at[strlen(words)]) || at[strlen(words)] == '-'))
            at = strstr(at + 1, words);
        assert(at != NULL);
    }
    free(help);
#else
    (void)line;
#endif
}

int cli_command_line_take(const struct cli_command_line *line, int argc, char **argv,
                          struct cli_operands *ret_operands)
{
    const int own = line->command_at == CLI_COMMAND_BEHIND_DASHES ? words_before_dashes(argc, argv) : argc;
    char letters[2 * ROWS_MAX + 3];
    int option;
    short_options(line, letters);
    while ((option = getopt_long(own, argv, letters, line->options, NULL)) != -1) {
        const int code = take(line, option, argv);
        if (code >= 0)
            return code;
    }
    if (line->answer->help) {
        check_help_is_whole(line);
        cli_print_help(line->verb);
        return CLI_DONE;
    }
    cli_answer_settle(line->answer);
    *ret_operands = (struct cli_operands){.words = argv + optind, .count = own - optind};
    if (line->command_at == CLI_COMMAND_IS_OPERANDS) {
        ret_operands->command = optind < argc ? argv + optind : NULL;
        ret_operands->count = 0;
    } else if (own + 1 < argc) {
        ret_operands->command = argv + own + 1;
    }
    return line->select != NULL ? cli_select_check(line->verb, line->select) : -1;
}

int cli_command_line_none(const struct cli_verb *verb, const struct cli_operands *operands)
{
    return operands->count == 0 ? -1 : cli_misuse(verb, "unexpected argument '%s'", operands->words[0]);
}

int cli_command_line_one(const struct cli_verb *verb, const struct cli_operands *operands, const char *none,
                         const char *several)
{
    if (operands->count == 1)
        return -1;
    return cli_misuse(verb, "%s", operands->count == 0 ? none : several);
}
