/* help_text.c - a verb's help as it is printed, offered by completion and searched for what was meant.
 *
 * A line of it that begins with '@' stands for others: "@formats" for the list of formats, which is convert's table;
 * "@force FILE" and the like for a shared option's (answer.c). */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/answer.h"
#include "cli/base/cli.h"
#include "convert/convert.h"
#include "convert/import/formats.h"
#include "results/measure/base/support.h"

#define COLUMN 25 /* of the first description, where a help has none of its own */

int cli_take_from(const struct cli_verb *verb, const char *name, const char **ret_from)
{
    char names[256];
    if (conv_from_kind(name) == CONV_KIND_UNKNOWN)
        return cli_misuse(verb, "unknown format '%s': --from takes %s", name,
                          conv_from_names(names, sizeof names));
    *ret_from = name;
    return -1;
}

static void add_formats(struct res_text *text)
{
    struct conv_format_facts facts;
    static const char line[] = "                         %-10s %s\n";
    res_text_printf(text, line, "footprint", "a process that mallab recorded (.fp)");
    res_text_printf(text, line, "recording", "its directory");
    res_text_printf(text, line, "workload", "what this program makes (.wl)");
    res_text_printf(text, line, "text", "the same as text: --to text");
    for (size_t i = 0; conv_format_facts(i, &facts); i++)
        res_text_printf(text, line, facts.name, facts.title);
}

/* Where the description begins of the first option that is written out. */
static size_t column_of(const char *help)
{
    for (const char *line = help; *line != '\0';) {
        const size_t length = strcspn(line, "\n"), indent = strspn(line, " ");
        const char *gap = indent > 0 && line[indent] == '-' ? strstr(line + indent, "  ") : NULL;
        if (gap != NULL && gap < line + length)
            return (size_t)(gap - line) + strspn(gap, " ");
        line += length + (line[length] == '\n');
    }
    return COLUMN;
}

char *cli_help_text(const struct cli_verb *verb)
{
    const size_t column = column_of(verb->help);
    struct res_text text = {0};
    for (const char *line = verb->help; *line != '\0';) {
        const size_t length = strcspn(line, "\n") + 1; /* every line of a help has its end */
        if (line[0] != '@') {
            res_text_add(&text, line, length);
        } else if (strncmp(line, "@formats\n", length) == 0) {
            add_formats(&text);
        } else {
            char *word = res_strndup(line + 1, length - 2);
            char *shared = cli_answer_help_line(word, column);
            assert(shared != NULL);
            res_text_add(&text, shared, strlen(shared));
            free(shared);
            free(word);
        }
        line += length;
    }
    return text.text;
}

void cli_print_help(const struct cli_verb *verb)
{
    char *help = cli_help_text(verb);
    cli_put(help, strlen(help));
    free(help);
}
