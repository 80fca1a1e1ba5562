/* say.c - see say.h. */
#include "cli/base/say.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "footprint/base/support.h"

void cli_say(const struct cli_verb *verb, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    res_say_list(verb != NULL ? verb->name : NULL, format, list);
    va_end(list);
}

int cli_misuse(const struct cli_verb *verb, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    res_say_list(verb != NULL ? verb->name : NULL, format, list);
    va_end(list);
    if (verb == NULL || strcmp(verb->name, "help") == 0)
        fprintf(stderr, "'mallab help' lists the verbs\n");
    else
        fprintf(stderr, "'mallab help %s' says how it is used\n", verb->name);
    return CLI_MISUSE;
}

int cli_say_problem(const struct cli_verb *verb, char *problem)
{
    cli_say(verb, "%s", problem);
    free(problem);
    return CLI_FAILED;
}
