/* disturbance_warnings.c - see disturbance_warnings.h. */
#include "cli/verbs/disturbance_warnings.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/say.h"
#include "results/measure/base/support.h"

static const char *text_of(const json_t *sign, const char *key)
{
    const char *text = json_string_value(json_object_get(sign, key));
    return text != NULL ? text : "?";
}

/* Kinds are those of results/measure/machine/disturbances.c. */
static const char *cause_of(const json_t *sign)
{
    static const char *const BUSY[] = {"load", "pressure", "others"};
    const char *kind = text_of(sign, "kind");
    for (size_t i = 0; i < sizeof BUSY / sizeof BUSY[0]; i++) {
        if (strcmp(kind, BUSY[i]) == 0)
            return BUSY[0];
    }
    return kind;
}

static bool has_cause(const json_t *list, size_t from, size_t to, const char *cause)
{
    for (size_t i = from; i < to; i++) {
        if (strcmp(cause_of(json_array_get(list, i)), cause) == 0)
            return true;
    }
    return false;
}

/* The signs of one cause, its first one's remedy behind them. */
static void tell_cause(const struct cli_verb *verb, const json_t *list, size_t first)
{
    const json_t *sign = json_array_get(list, first);
    const char *cause = cause_of(sign);
    struct res_text words = {0};
    for (size_t i = first; i < json_array_size(list); i++) {
        const json_t *other = json_array_get(list, i);
        if (strcmp(cause_of(other), cause) == 0)
            res_text_printf(&words, "%s%s", words.length > 0 ? "; " : "", text_of(other, "text"));
    }
    cli_say(verb, "warning: %s: %s", words.text, text_of(sign, "remedy"));
    free(words.text);
}

size_t cli_warn_of(const struct cli_verb *verb, const struct cli_answer *answer,
                   const struct res_disturbances *disturbances, size_t from)
{
    const json_t *list = disturbances->list;
    const size_t count = json_array_size(list);
    struct res_text again = {0};
    for (size_t i = from; i < count && !answer->quiet; i++) {
        const json_t *sign = json_array_get(list, i);
        if (has_cause(list, 0, from, cause_of(sign)))
            res_text_printf(&again, "%s%s", again.length > 0 ? "; " : "", text_of(sign, "text"));
        else if (!has_cause(list, from, i, cause_of(sign)))
            tell_cause(verb, list, i);
    }
    if (again.length > 0)
        cli_say(verb, "warning: likewise during the rounds: %s", again.text);
    free(again.text);
    return count;
}
