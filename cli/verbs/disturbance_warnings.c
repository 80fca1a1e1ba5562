/* disturbance_warnings.c - see disturbance_warnings.h. */
#include "cli/verbs/disturbance_warnings.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/say.h"
#include "footprint/base/support.h"

/* Kinds are those of results/measure/machine/disturbances.c. */
static const char *cause_of(const struct res_disturbance *sign)
{
    static const char *const BUSY[] = {"load", "pressure", "others"};
    for (size_t i = 0; i < sizeof BUSY / sizeof BUSY[0]; i++) {
        if (strcmp(sign->kind, BUSY[i]) == 0)
            return BUSY[0];
    }
    return sign->kind;
}

static bool has_cause(const struct res_disturbance *list, size_t from, size_t to, const char *cause)
{
    for (size_t i = from; i < to; i++) {
        if (strcmp(cause_of(&list[i]), cause) == 0)
            return true;
    }
    return false;
}

/* The signs of one cause, its first one's remedy behind them. */
static void tell_cause(const struct cli_verb *verb, const struct res_disturbances *disturbances, size_t first)
{
    const struct res_disturbance *sign = &disturbances->list[first];
    const char *cause = cause_of(sign);
    struct res_text words = {0};
    for (size_t i = first; i < disturbances->count; i++) {
        const struct res_disturbance *other = &disturbances->list[i];
        if (strcmp(cause_of(other), cause) == 0)
            res_text_printf(&words, "%s%s", words.length > 0 ? "; " : "", other->text);
    }
    cli_say(verb, "warning: %s: %s", words.text, sign->remedy);
    free(words.text);
}

size_t cli_warn_of(const struct cli_verb *verb, const struct cli_answer *answer,
                   const struct res_disturbances *disturbances, size_t from)
{
    const struct res_disturbance *list = disturbances->list;
    const size_t count = disturbances->count;
    struct res_text again = {0};
    for (size_t i = from; i < count && !answer->quiet; i++) {
        const struct res_disturbance *sign = &list[i];
        if (has_cause(list, 0, from, cause_of(sign)))
            res_text_printf(&again, "%s%s", again.length > 0 ? "; " : "", sign->text);
        else if (!has_cause(list, from, i, cause_of(sign)))
            tell_cause(verb, disturbances, i);
    }
    if (again.length > 0)
        cli_say(verb, "warning: likewise during the rounds: %s", again.text);
    free(again.text);
    return count;
}
