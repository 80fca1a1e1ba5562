/* setting_check.c - see setting_check.h. */
#include "cli/options/setting_check.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/base/similar.h"
#include "results/measure/base/support.h"
#include "results/measure/run/run.h"

/* Names of variables ("DECOMMIT_DELAY") and dotted ones are not what the allocator's list has. */
static bool is_plain_name(const char *name)
{
    for (; *name != '\0'; name++) {
        if (isupper((unsigned char)*name) || *name == '.')
            return false;
    }
    return true;
}

/* Whether `name` is one of the lines; else the nearest is offered. */
static bool is_known(const char *names, const char *name, struct cli_similar *similar, char **ret_nearest)
{
    for (const char *line = names; *line != '\0'; line += strcspn(line, "\n"), line += *line == '\n') {
        char *known = res_strndup(line, strcspn(line, "\n"));
        if (strcasecmp(known, name) == 0) {
            free(known);
            return true;
        }
        cli_similar_offer(similar, name, known);
        if (similar->word == known) {
            free(*ret_nearest);
            *ret_nearest = known;
        } else {
            free(known);
        }
    }
    return false;
}

/* "a, b, c" of the lines. */
static char *list_of(const char *names)
{
    struct res_text list = {0};
    for (const char *line = names; *line != '\0'; line += strcspn(line, "\n"), line += *line == '\n')
        res_text_printf(&list, "%s%.*s", list.length > 0 ? ", " : "", (int)strcspn(line, "\n"), line);
    return list.text;
}

/* Word the first setting whose name the allocator does not have. Returns whether there was one. */
static bool tell_unknown(const struct cli_verb *verb, const struct res_candidate *candidate,
                         const char *settings, const char *names)
{
    bool told = false;
    while (*settings == '+' && !told && *names != '\0') {
        struct cli_similar similar = {0};
        char *nearest = NULL;
        char *name = res_strndup(settings + 1, strcspn(settings + 1, "=+"));
        if (is_plain_name(name) && !is_known(names, name, &similar, &nearest)) {
            char *known = list_of(names);
            if (nearest != NULL)
                cli_say(verb, "'%s': there is no setting '%s': did you mean '%s'?", candidate->name, name,
                        nearest);
            else
                cli_say(verb, "'%s': there is no setting '%s': known are %s", candidate->name, name, known);
            free(known);
            told = true;
        }
        free(nearest);
        free(name);
        settings += 1 + strcspn(settings + 1, "+");
    }
    return told;
}

int cli_setting_check(const struct cli_verb *verb, const struct res_candidate *candidate,
                      const char *settings)
{
    char *names = NULL, *wrong = NULL, *reason = NULL;
    int code = CLI_DONE;
    if (!res_run_settings(candidate, &names, &wrong, &reason)) {
        cli_say(verb, "'%s': %s", candidate->name, reason);
        code = CLI_FAILED;
    } else if (wrong != NULL) {
        if (!tell_unknown(verb, candidate, settings, names))
            cli_say(verb, "'%s': %s", candidate->name, wrong);
        code = CLI_MISUSE;
    }
    free(names);
    free(wrong);
    free(reason);
    return code;
}
