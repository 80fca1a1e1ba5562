/* complete_help.c - a help text read back. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/complete/complete.h"
#include "results/measure/base/support.h"

#define NAME_BYTES "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-"

static struct cli_help_option *add(struct cli_help_options *options, const char *name, size_t length)
{
    options->list = res_realloc(options->list, options->count + 1, sizeof *options->list);
    options->list[options->count] = (struct cli_help_option){.name = res_strndup(name, length)};
    return &options->list[options->count++];
}

/* "-o, --output FILE      words", from the dash on. */
static void read_head(struct cli_help_options *options, const char *line)
{
    const size_t first = options->count;
    bool optional = false;
    for (;;) {
        const size_t length = strspn(line, NAME_BYTES);
        (void)add(options, line, length);
        line += length;
        if (strncmp(line, ", -", 3) != 0)
            break;
        line += 2;
    }
    if (*line == '[' && line[1] == '=') {
        optional = true;
        line += 2;
    } else if (*line == ' ' && line[1] != ' ') {
        line++;
    }
    const size_t value = strcspn(line, " ]\n");
    const char *rest = line + value + (optional && line[value] == ']');
    rest += strspn(rest, " ");
    for (size_t i = first; i < options->count; i++) {
        if (value > 0)
            options->list[i].value = res_strndup(line, value);
        options->list[i].optional = optional;
        options->list[i].description = res_strndup(rest, strcspn(rest, "\n"));
    }
}

/* A line of the last options' description. */
static void read_more(struct cli_help_options *options, size_t first, const char *line, size_t length)
{
    for (size_t i = first; i < options->count; i++) {
        char *joined = res_printf("%s %.*s", options->list[i].description, (int)length, line);
        free(options->list[i].description);
        options->list[i].description = joined;
    }
}

void cli_help_options_read(const char *help, struct cli_help_options *ret_options)
{
    struct cli_help_options options = {0};
    size_t first = 0;    /* of the options of the newest line */
    bool within = false; /* a description may go on */
    while (*help != '\0') {
        const size_t length = strcspn(help, "\n");
        const size_t indent = strspn(help, " ");
        if (indent > 0 && indent < 8 && help[indent] == '-' && strchr(NAME_BYTES, help[indent + 1]) != NULL) {
            first = options.count;
            read_head(&options, help + indent);
            within = true;
        } else if (within && indent >= 8 && indent < length) {
            read_more(&options, first, help + indent, length - indent);
        } else {
            within = false;
        }
        help += length + (help[length] == '\n');
    }
    *ret_options = options;
}

void cli_help_options_release(struct cli_help_options *options)
{
    for (size_t i = 0; i < options->count; i++) {
        free(options->list[i].name);
        free(options->list[i].value);
        free(options->list[i].description);
    }
    free(options->list);
    *options = (struct cli_help_options){0};
}

/* ---- choices -------------------------------------------------------------------------------- */

/* Without what is in parentheses, and up to the default in brackets. */
static char *bare(const char *description)
{
    struct res_text text = {0};
    int depth = 0;
    for (; *description != '\0' && (depth > 0 || *description != '['); description++) {
        if (*description == '(' && depth++ == 0)
            while (text.length > 0 && text.text[text.length - 1] == ' ')
                text.length--;
        if (depth == 0 && !(*description == ' ' && text.length > 0 && text.text[text.length - 1] == ' '))
            res_text_add(&text, description, 1);
        depth -= *description == ')' && depth > 0;
    }
    while (text.length > 0 && text.text[text.length - 1] == ' ')
        text.text[--text.length] = '\0';
    return text.text != NULL ? text.text : res_strdup("");
}

static size_t word_at(const char *text)
{
    return isalnum((unsigned char)*text) ? strspn(text, NAME_BYTES) : 0;
}

/* "a, b or c" from the very beginning. Returns NULL when it is none. */
static char *enumeration(const char *text)
{
    struct res_text words = {0};
    size_t count = 0;
    bool last = false;
    for (;;) {
        const size_t length = word_at(text);
        if (length == 0)
            break;
        res_text_printf(&words, "%s%.*s", count > 0 ? " " : "", (int)length, text);
        count++;
        text += length;
        const bool or_follows = strncmp(text, " or ", 4) == 0 || strncmp(text, ", or ", 5) == 0;
        if (last || (count > 1 && *text == '\0'))
            return words.text;
        if (or_follows)
            text += *text == ',' ? 5 : 4;
        else if (strncmp(text, ", ", 2) == 0)
            text += 2;
        else
            break;
        last = or_follows;
    }
    free(words.text);
    return NULL;
}

/* 'wait' for the collector, or 'drop': the quoted ones that are single words. */
static char *quoted(const char *text)
{
    struct res_text words = {0};
    const char *open = strchr(text, '\'');
    while (open != NULL) {
        const char *close = strchr(open + 1, '\'');
        if (close == NULL)
            break;
        if (close > open + 1 && word_at(open + 1) == (size_t)(close - open - 1))
            res_text_printf(&words, "%s%.*s", words.length > 0 ? " " : "", (int)(close - open - 1), open + 1);
        open = strchr(close + 1, '\'');
    }
    return words.text;
}

char *cli_help_choices(const char *description)
{
    char *text = bare(description);
    char *words = quoted(text);
    for (const char *at = text; words == NULL && at != NULL; at = strstr(at, ": ")) {
        at += at != text ? 2 : 0;
        words = enumeration(at);
    }
    free(text);
    return words != NULL ? words : res_strdup("");
}
