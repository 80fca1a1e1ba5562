/* option_help.c - a verb as people and shells read it: its help, its rows for its man page, what completes it, all made of its rows. */
#include <stdio.h>
#include <string.h>

#include "cli/options/options.h"

#define WIDTH  80u
#define COLUMN 25u /* of the descriptions of options */

/* Bytes up to the next blank or line end; [a default] stays together, unless it is long. */
static size_t word_length(const char *words)
{
    size_t length = words[0] == '[' ? strcspn(words, "]\n") : 0;
    if (length > (WIDTH - COLUMN) / 2)
        length = 0;
    return length + strcspn(words + length, " \n");
}

/* Words to lines: the first goes on at `column`, others begin at `indent`. '\n' ends a line, "\n\n"
 * a paragraph. */
static void add_wrapped(struct res_text *text, const char *words, size_t column, size_t indent)
{
    bool begins = true;
    while (*words != '\0') {
        const size_t length = word_length(words);
        if (!begins && column + 1 + length > WIDTH) {
            res_text_printf(text, "\n%*s", (int)indent, "");
            column = indent;
            begins = true;
        }
        res_text_printf(text, "%s%.*s", begins ? "" : " ", (int)length, words);
        column += length + !begins;
        begins = false;
        words += length;
        words += *words == ' ';
        for (; *words == '\n'; words++, begins = true, column = indent)
            res_text_printf(text, "\n%*s", words[1] != '\n' ? (int)indent : 0, "");
    }
    res_text_add(text, "\n", 1);
}

/* "  -o, --output FILE" */
static char *head_of(const struct cli_option *row)
{
    struct res_text head = {0};
    if (row->letter != '\0')
        res_text_printf(&head, "  -%c, --%s", row->letter, row->name);
    else
        res_text_printf(&head, "      --%s", row->name);
    if (row->argument != NULL && row->argument[0] == '[')
        res_text_printf(&head, "[=%s", row->argument + 1);
    else if (row->argument != NULL)
        res_text_printf(&head, " %s", row->argument);
    return head.text;
}

static void add_option(struct res_text *text, const struct cli_option *row)
{
    char *head = head_of(row);
    if (strlen(head) + 2 > COLUMN)
        res_text_printf(text, "%s\n%*s", head, (int)COLUMN, "");
    else
        res_text_printf(text, "%-*s", (int)COLUMN, head);
    free(head);
    add_wrapped(text, row->help, COLUMN, COLUMN);
    const char *word, *meaning;
    size_t length;
    for (size_t i = 0; row->lists && cli_option_value(row, i, &word, &length, &meaning); i++)
        res_text_printf(text, "%*s%-10s %s\n", (int)COLUMN, "", word, meaning);
}

/* Lines of a text, each behind the words that begin the first, or as many blanks. */
static void add_lines(struct res_text *text, const char *begin, const char *between, const char *lines)
{
    const int indent = (int)strlen(begin);
    while (lines != NULL && *lines != '\0') {
        const size_t length = strcspn(lines, "\n");
        res_text_printf(text, "%*s%s%.*s\n", indent, begin, between, (int)length, lines);
        lines += length + (lines[length] == '\n');
        begin = "";
    }
}

/* Rows, each heading above the first of its own that is told. Returns how many are left out. */
static size_t add_rows(struct res_text *text, const struct cli_option *rows, size_t count, bool all)
{
    const char *heading = NULL;
    size_t left_out = 0;
    for (size_t i = 0; i < count; i++) {
        if (rows[i].heading != NULL) {
            heading = rows[i].heading;
        } else if (rows[i].seldom && !all) {
            left_out++;
        } else {
            if (heading != NULL)
                res_text_printf(text, "\n%s\n", heading);
            heading = NULL;
            add_option(text, &rows[i]);
        }
    }
    return left_out;
}

char *cli_option_help(const struct cli_verb *verb, bool all)
{
    struct cli_option rows[CLI_OPTIONS_MAX];
    const size_t count = cli_option_list(verb, rows);
    struct res_text text = {0};
    char *program = res_printf("mallab %s ", verb->name);
    add_lines(&text, "usage: ", program, verb->usage);
    free(program);
    res_text_add(&text, "\n", 1);
    add_wrapped(&text, verb->purpose, 0, 0);
    if (rows[0].heading == NULL)
        res_text_add(&text, "\n", 1);
    const size_t left_out = add_rows(&text, rows, count, all);
    res_text_add(&text, "\n", 1);
    if (left_out > 0)
        res_text_printf(&text, "'mallab help %s --all' has %zu more option%s.\n", verb->name, left_out,
                        left_out == 1 ? "" : "s");
    if (verb->notes != NULL && (all || left_out == 0)) {
        add_wrapped(&text, verb->notes, 0, 0);
        res_text_add(&text, "\n", 1);
    }
    add_lines(&text, "example: ", "", verb->examples);
    res_text_printf(&text, "exit codes: ");
    add_wrapped(&text, verb->exit_codes, strlen("exit codes: "), 0);
    return text.text;
}

/* ---- rows ----------------------------------------------------------------------------------- */

char *cli_option_rows(const struct cli_verb *verb)
{
    struct cli_option rows[CLI_OPTIONS_MAX];
    const size_t count = cli_option_list(verb, rows);
    struct res_text text = {0};
    for (size_t i = 0; i < count; i++) {
        const struct cli_option *row = &rows[i];
        const char letter[] = {row->letter, '\0'}, *word, *meaning;
        size_t length;
        if (row->heading != NULL)
            res_text_printf(&text, "heading\t%s\n", row->heading);
        else
            res_text_printf(&text, "option\t%s\t%s\t%s\t%s\n", letter, row->name,
                            row->argument != NULL ? row->argument : "", row->help);
        for (size_t k = 0; row->lists && cli_option_value(row, k, &word, &length, &meaning); k++)
            res_text_printf(&text, "value\t%s\t%s\n", word, meaning);
    }
    return text.text;
}

/* ---- completion of a command line from the verbs' rows ------------------------------------------ */

const struct cli_verb *cli_program_verb(const struct cli_program *program, const char *name)
{
    for (const struct cli_verb *const *verb = program->verbs; *verb != NULL; verb++) {
        if (strcmp((*verb)->name, name) == 0)
            return *verb;
    }
    return NULL;
}

void cli_offer(const char *typed, const char *before, const char *word, const char *description)
{
    if (strncmp(word, typed, strlen(typed)) == 0)
        printf("%s%s\t%s\n", before, word, description != NULL ? description : "");
}

static void offer_verbs(const struct cli_program *program, const char *typed)
{
    for (const struct cli_verb *const *verb = program->verbs; *verb != NULL; verb++)
        cli_offer(typed, "", (*verb)->name, (*verb)->summary);
}

/* before: what of the word is no part of the value, "--format=". */
static void offer_value(const struct cli_program *program, const struct cli_option *row, const char *before,
                        const char *typed)
{
    const char *argument = row->argument, *word, *meaning;
    size_t length;
    const bool in_brackets = argument[0] == '[';
    if (row->offer != CLI_OFFER_BY_NAME && program->offer != NULL)
        program->offer(row->offer, before, typed);
    else if (strcmp(argument, "DIR") == 0)
        printf(":directories\n");
    else if (strncmp(argument + in_brackets, "FILE", 4) == 0 || strcmp(argument, "OUT") == 0 ||
             strcmp(argument, "OLD") == 0 || strcmp(argument, "BUDGET") == 0)
        printf(":files\n");
    for (size_t i = 0; cli_option_value(row, i, &word, &length, &meaning); i++) {
        char *copy = res_strndup(word, length);
        cli_offer(typed, before, copy, meaning);
        free(copy);
    }
}

/* A list of rows, with the verb that it is of. */
struct rows {
    const struct cli_verb *verb;
    struct cli_option list[CLI_OPTIONS_MAX];
    size_t count;
};

/* "--output" or "-o", length bytes of it; NULL: no such option. */
static const struct cli_option *find(const struct rows *rows, const char *word, size_t length)
{
    for (size_t i = 0; i < rows->count; i++) {
        const struct cli_option *row = &rows->list[i];
        if (row->letter != '\0' && length == 2 && word[0] == '-' && word[1] == row->letter)
            return row;
        if (row->name != NULL && length == strlen(row->name) + 2 && strncmp(word, "--", 2) == 0 &&
            strncmp(word + 2, row->name, length - 2) == 0)
            return row;
    }
    return NULL;
}

static void offer_options(const struct rows *rows, const char *typed)
{
    for (size_t i = 0; i < rows->count; i++) {
        const struct cli_option *row = &rows->list[i];
        const char letter[] = {'-', row->letter, '\0'};
        if (row->name == NULL)
            continue;
        if (row->letter != '\0')
            cli_offer(typed, "", letter, row->help);
        char *name = res_printf("--%s", row->name);
        cli_offer(typed, "", name, row->help);
        free(name);
    }
}

/* The option whose value the word behind these is; NULL: it is a word of its own. ret_command: "--"
 * was among them. */
static const struct cli_option *waiting(const struct rows *rows, int count, char **words, bool *ret_command)
{
    const struct cli_option *option = NULL;
    *ret_command = false;
    for (int i = 0; i < count; i++) { /* an option's value is no option */
        const struct cli_option *one = option == NULL ? find(rows, words[i], strlen(words[i])) : NULL;
        *ret_command |= option == NULL && strcmp(words[i], "--") == 0;
        option = one != NULL && one->argument != NULL && one->argument[0] != '[' ? one : NULL;
    }
    return option;
}

static void complete_word(const struct cli_program *program, const struct rows *rows, int count, char **words)
{
    const char *typed = words[count - 1];
    const char *equals = strchr(typed, '=');
    bool command;
    const struct cli_option *option = waiting(rows, count - 1, words, &command);
    if (command) {
        printf(":command\n");
    } else if (option != NULL) {
        offer_value(program, option, "", typed);
    } else if (strncmp(typed, "--", 2) == 0 && equals != NULL) {
        option = find(rows, typed, (size_t)(equals - typed));
        char *before = res_strndup(typed, (size_t)(equals - typed) + 1);
        if (option != NULL && option->argument != NULL)
            offer_value(program, option, before, equals + 1);
        free(before);
    } else if (typed[0] == '-') {
        offer_options(rows, typed);
    } else if (strcmp(rows->verb->name, "help") == 0) {
        offer_verbs(program, typed);
    } else if (rows->verb->completes != NULL) {
        printf("%s\n", rows->verb->completes);
    }
}

int cli_complete(const struct cli_program *program, int count, char **words)
{
    const struct cli_verb *verb = cli_program_verb(program, words[0]);
    if (count == 1) {
        offer_verbs(program, words[0]);
        cli_offer(words[0], "", "--help", "print the list of verbs");
        cli_offer(words[0], "", "--version", "print the version");
        return CLI_DONE;
    }
    if (verb == NULL)
        return CLI_DONE;
    struct rows rows = {.verb = verb};
    rows.count = cli_option_list(verb, rows.list);
    complete_word(program, &rows, count - 1, words + 1);
    return CLI_DONE;
}
