/* option_help.c - a verb as people read it: its help, and the options of its man page, both made of its rows. */

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/options/options.h"
#include "footprint/base/support.h"

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
        res_text_printf(&text, "'mallab help %s --all' has %zu more options.\n", verb->name, left_out);
    if (verb->notes != NULL && (all || left_out == 0)) {
        add_wrapped(&text, verb->notes, 0, 0);
        res_text_add(&text, "\n", 1);
    }
    add_lines(&text, "example: ", "", verb->examples);
    res_text_printf(&text, "exit codes: ");
    add_wrapped(&text, verb->exit_codes, strlen("exit codes: "), 0);
    return text.text;
}

/* ---- roff ----------------------------------------------------------------------------------- */

/* Text of a man page: '-' is a minus to be typed, and no line begins with a control character. */
static void add_escaped(struct res_text *text, const char *words)
{
    if (*words == '.' || *words == '\'')
        res_text_printf(text, "\\&");
    for (; *words != '\0'; words++) {
        const char *escaped = *words == '-'    ? "\\-"
                              : *words == '\\' ? "\\e"
                              : *words == '\'' ? "\\(aq"
                                               : NULL;
        if (escaped != NULL)
            res_text_printf(text, "%s", escaped);
        else
            res_text_add(text, words, 1);
    }
}

/* Help begins with a small letter and has no full stop at its end. */
static void add_sentence(struct res_text *text, const char *words, const char *end)
{
    char *sentence = res_printf("%s%s", words, words[strlen(words) - 1] == ':' ? "" : end);
    sentence[0] = (char)toupper((unsigned char)sentence[0]);
    add_escaped(text, sentence);
    res_text_add(text, "\n", 1);
    free(sentence);
}

static void add_roff_option(struct res_text *text, const struct cli_option *row)
{
    const char *argument = row->argument;
    res_text_printf(text, ".TP\n.BR ");
    if (row->letter != '\0')
        res_text_printf(text, "\\-%c \", \" ", row->letter);
    res_text_printf(text, "\\-\\-");
    add_escaped(text, row->name);
    if (argument != NULL && argument[0] == '[')
        res_text_printf(text, " [=\\fI%.*s\\fR]", (int)strcspn(argument + 1, "]"), argument + 1);
    else if (argument != NULL)
        res_text_printf(text, " \" \\fI%s\\fR\"", argument);
    res_text_add(text, "\n", 1);
    add_sentence(text, row->help, ".");
    const char *word, *meaning;
    size_t length;
    for (size_t i = 0; row->lists && cli_option_value(row, i, &word, &length, &meaning); i++) {
        res_text_printf(text, ".br\n.BR ");
        add_escaped(text, word);
        res_text_printf(text, " \": ");
        add_escaped(text, meaning);
        res_text_printf(text, "\"\n");
    }
}

char *cli_option_roff(const struct cli_verb *verb)
{
    struct cli_option rows[CLI_OPTIONS_MAX];
    const size_t count = cli_option_list(verb, rows);
    struct res_text text = {0};
    for (size_t i = 0; i < count; i++) {
        if (rows[i].heading == NULL) {
            add_roff_option(&text, &rows[i]);
        } else {
            res_text_printf(&text, ".SS ");
            add_sentence(&text, rows[i].heading, "");
        }
    }
    return text.text;
}
