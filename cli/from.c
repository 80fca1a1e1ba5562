/* from.c - the formats that are read, as options and help name them: convert's table is the only list. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "convert/convert.h"

#define FORMATS_LINE "@formats\n" /* of a help text: in its place stands the list */

int cli_take_from(const struct cli_verb *verb, const char *name, const char **ret_from)
{
    char names[256];
    if (conv_from_kind(name) == CONV_KIND_UNKNOWN)
        return cli_misuse(verb, "unknown format '%s': --from takes %s", name,
                          conv_from_names(names, sizeof names));
    *ret_from = name;
    return -1;
}

static void print_formats(FILE *out)
{
    struct conv_format_facts facts;
    static const char line[] = "                         %-10s %s\n";
    fprintf(out, line, "footprint", "a process that mallab recorded (.fp)");
    fprintf(out, line, "recording", "its directory");
    fprintf(out, line, "workload", "what this program makes (.wl)");
    fprintf(out, line, "text", "the same as text: --to text");
    for (size_t i = 0; conv_format_facts(i, &facts); i++)
        fprintf(out, line, facts.name, facts.title);
}

void cli_write_help(FILE *out, const struct cli_verb *verb)
{
    const char *formats = strstr(verb->help, FORMATS_LINE);
    if (formats == NULL) {
        fputs(verb->help, out);
        return;
    }
    fwrite(verb->help, 1, (size_t)(formats - verb->help), out);
    print_formats(out);
    fputs(formats + strlen(FORMATS_LINE), out);
}

void cli_print_help(const struct cli_verb *verb)
{
    cli_write_help(stdout, verb);
}
