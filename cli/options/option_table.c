/* option_table.c - rows to a list, and a command line to settings. */
#include "cli/options/options.h"

#include <assert.h>
#include <ctype.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#define FIRST_NUMBER 256 /* getopt's value of the list's first row: above every letter */

/* clang-format off */
static const struct cli_option HELP[] = {
    {.name = "help", .letter = 'h', .how = CLI_CALL, .help = "print this help"},
    {0},
};
/* clang-format on */

/* ---- the list ------------------------------------------------------------------------------- */

static size_t add_rows(const struct cli_option *row, size_t at, struct cli_option *rows, size_t count)
{
    for (; row->name != NULL || row->heading != NULL || row->row != NULL || row->group != NULL; row++) {
        if (row->row != NULL || row->group != NULL) {
            const struct cli_option alone[] = {row->row != NULL ? *row->row : (struct cli_option){0}, {0}};
            const size_t first = count;
            count = add_rows(row->row != NULL ? alone : row->group, at + row->at, rows, count);
            if (row->argument != NULL)
                rows[first].argument = row->argument;
            if (row->help != NULL)
                rows[first].help = row->help;
            for (size_t i = first; i < count; i++)
                rows[i].seldom |= row->seldom;
            continue;
        }
        assert(count < CLI_OPTIONS_MAX);
        rows[count] = *row;
        rows[count++].at += at;
    }
    return count;
}

size_t cli_option_list(const struct cli_verb *verb, struct cli_option ret_rows[CLI_OPTIONS_MAX])
{
    const size_t count = verb->options != NULL ? add_rows(verb->options, 0, ret_rows, 0) : 0;
    return add_rows(HELP, 0, ret_rows, count);
}

static bool is_help(const struct cli_option *row)
{
    return row->how == CLI_CALL && row->take == NULL;
}

bool cli_option_value(const struct cli_option *row, size_t number, const char **ret_word, size_t *ret_length,
                      const char **ret_meaning)
{
    const char *word = row->words, *meaning = NULL;
    if (row->values != NULL && !row->values(number, &word, &meaning))
        return false;
    for (size_t i = 0; row->values == NULL && word != NULL && i < number; i++)
        word = strchr(word, ' ') != NULL ? strchr(word, ' ') + 1 : NULL;
    if (word == NULL)
        return false;
    *ret_word = word;
    *ret_length = row->values != NULL ? strlen(word) : strcspn(word, " ");
    if (ret_meaning != NULL)
        *ret_meaning = meaning;
    return true;
}

/* ---- values --------------------------------------------------------------------------------- */

/* "'none', 'page' or 'full'" */
static void add_words(struct res_text *text, const struct cli_option *row)
{
    const char *word, *next;
    size_t length, next_length;
    bool more = cli_option_value(row, 0, &word, &length, NULL);
    for (size_t i = 1; more; i++) {
        more = cli_option_value(row, i, &next, &next_length, NULL);
        const char *between = i == 1 ? "" : more ? ", " : " or ";
        res_text_printf(text, "%s'%.*s'", between, (int)length, word);
        word = next;
        length = next_length;
    }
}

static void add_bounds(struct res_text *text, const struct cli_option *row)
{
    const unsigned long long least = row->least, most = row->most;
    if (row->how == CLI_SIZE)
        res_text_printf(text, "a size such as 64M or 1.5G");
    else if (row->how == CLI_DURATION)
        res_text_printf(text, "a time such as 90s or 5m%s", row->zero ? ", or 0" : "");
    else if (row->most != 0)
        res_text_printf(text, "a number from %llu to %llu", least, most);
    else
        res_text_printf(text, "a number from %llu on", least);
}

int cli_option_refuse(const struct cli_verb *verb, const struct cli_option *row, const char *value)
{
    struct res_text takes = {0};
    if (row->takes != NULL)
        res_text_printf(&takes, "%s", row->takes);
    else if (row->words != NULL || row->values != NULL)
        add_words(&takes, row);
    else
        add_bounds(&takes, row);
    const int code = cli_misuse(verb, "--%s takes %s, not '%s'", row->name, takes.text, value);
    free(takes.text);
    return code;
}

/* The place of a value among the words of the row; -1: it is none of them. */
static int number_of(const struct cli_option *row, const char *value)
{
    const char *word;
    size_t length;
    for (size_t i = 0; cli_option_value(row, i, &word, &length, NULL); i++) {
        if (strlen(value) == length && strncmp(value, word, length) == 0)
            return (int)i;
    }
    return -1;
}

static bool take_number(const struct cli_option *row, const char *value, uint64_t *at)
{
    const uint64_t most = row->most != 0 ? row->most : INT64_MAX;
    uint64_t number = 0;
    if (row->how == CLI_COUNT && !cli_parse_count(value, row->least, most, &number))
        return false;
    if (row->how == CLI_SIZE && !cli_parse_size(value, &number))
        return false;
    if (row->how == CLI_DURATION && !(row->zero && strcmp(value, "0") == 0) &&
        !cli_parse_duration(value, &number))
        return false;
    if (number > most || (number < row->least && !(row->zero && number == 0)))
        return false;
    *at = number;
    return true;
}

static int take_value(const struct cli_verb *verb, const struct cli_option *row, const char *value, void *at)
{
    bool taken = true;
    int number = 0;
    switch (row->how) {
    case CLI_FLAG:
        *(bool *)at = true;
        break;
    case CLI_SET:
        *(int *)at = (int)row->least;
        break;
    case CLI_TEXT:
        *(const char **)at = value;
        taken = row->takes == NULL || *value != '\0';
        break;
    case CLI_WORD:
    case CLI_CHOICE:
        number = number_of(row, value);
        taken = number >= 0;
        if (taken && row->how == CLI_WORD)
            *(const char **)at = value;
        else if (taken)
            *(int *)at = (int)row->least + number;
        break;
    case CLI_COUNT:
    case CLI_SIZE:
    case CLI_DURATION:
        taken = take_number(row, value, at);
        break;
    case CLI_CALL:
        return row->take(verb, row, value, at);
    }
    return taken ? -1 : cli_option_refuse(verb, row, value);
}

/* ---- the command line ----------------------------------------------------------------------- */

/* The tables that getopt_long takes. */
struct getopt_tables {
    struct option options[CLI_OPTIONS_MAX + 1];
    char letters[2 * CLI_OPTIONS_MAX + 3];
};

/* '+': nothing behind the first operand is ours. ':': getopt itself is silent, refuse words it. */
static void make_tables(const struct cli_verb *verb, const struct cli_option *rows, size_t count,
                        struct getopt_tables *ret_tables)
{
    struct option *option = ret_tables->options;
    char *letter = ret_tables->letters;
    letter += sprintf(letter, verb->command_at == CLI_COMMAND_IS_OPERANDS ? "+:" : ":");
    for (size_t i = 0; i < count; i++) {
        const char *argument = rows[i].argument;
        if (rows[i].name == NULL)
            continue;
        const int takes = argument == NULL     ? no_argument
                          : argument[0] == '[' ? optional_argument
                                               : required_argument;
        *option++ = (struct option){rows[i].name, takes, NULL, FIRST_NUMBER + (int)i};
        if (rows[i].letter != '\0')
            letter += sprintf(letter, takes == required_argument ? "%c:" : "%c", rows[i].letter);
    }
    *option = (struct option){NULL, 0, NULL, 0};
}

/* Word what getopt_long refused; found is what it returned, '?' or ':'. */
static int refuse(const struct cli_verb *verb, const struct option *options, int found, char **argv)
{
    const char *word = argv[optind - 1];
    if (found == ':')
        return cli_misuse(verb, "option '%s' needs a value", word);
    /* An unknown letter with others behind it: getopt is still in the midst of that word. */
    if (optopt != 0 && (word[0] != '-' || word[1] != '-'))
        return cli_misuse(verb, "unknown option '-%c'", isprint(optopt) ? optopt : '?');
    if (optopt != 0)
        return cli_misuse(verb, "option '%s' takes no value", word);
    char *typed = res_strndup(word + 2, strcspn(word + 2, "="));
    while (options->name != NULL && !cli_is_near(typed, options->name))
        options++;
    free(typed);
    if (options->name != NULL)
        return cli_misuse(verb, "unknown or ambiguous option '%s': did you mean '--%s'?", word,
                          options->name);
    return cli_misuse(verb, "unknown or ambiguous option '%s'", word);
}

static const struct cli_option *found_row(const struct cli_option *rows, size_t count, int found)
{
    for (size_t i = 0; i < count; i++) {
        if (found == FIRST_NUMBER + (int)i || (rows[i].letter != '\0' && found == rows[i].letter))
            return &rows[i];
    }
    return NULL;
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

static int check_operands(const struct cli_verb *verb, const struct cli_operands *operands)
{
    if (verb->takes_any || operands->count == (verb->operand != NULL))
        return -1;
    if (verb->operand == NULL)
        return cli_misuse(verb, "unexpected argument '%s'", operands->words[0]);
    return operands->count == 0 ? cli_misuse(verb, "no %s", verb->operand)
                                : cli_misuse(verb, "one %s at a time", verb->operand);
}

int cli_options_take(const struct cli_verb *verb, int argc, char **argv, void *settings,
                     struct cli_operands *ret_operands)
{
    const int own = verb->command_at == CLI_COMMAND_BEHIND_DASHES ? words_before_dashes(argc, argv) : argc;
    struct cli_option rows[CLI_OPTIONS_MAX];
    struct getopt_tables tables;
    const size_t count = cli_option_list(verb, rows);
    bool help = false;
    int found;
    make_tables(verb, rows, count, &tables);
    while ((found = getopt_long(own, argv, tables.letters, tables.options, NULL)) != -1) {
        const struct cli_option *row = found_row(rows, count, found);
        if (row == NULL)
            return refuse(verb, tables.options, found, argv);
        help = help || is_help(row);
        const int code = is_help(row) ? -1 : take_value(verb, row, optarg, (char *)settings + row->at);
        if (code >= 0)
            return code;
    }
    if (help) {
        cli_put_own(cli_option_help(verb, false));
        return CLI_DONE;
    }
    *ret_operands = (struct cli_operands){.words = argv + optind, .count = own - optind};
    if (verb->command_at == CLI_COMMAND_IS_OPERANDS) {
        ret_operands->command = optind < argc ? argv + optind : NULL;
        ret_operands->count = 0;
    } else if (own + 1 < argc) {
        ret_operands->command = argv + own + 1;
    }
    return check_operands(verb, ret_operands);
}
