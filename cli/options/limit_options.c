/* limit_options.c - see limit_options.h. */
#include "cli/options/limit_options.h"

#include <stdlib.h>
#include <string.h>

static int check_options(const struct cli_verb *verb, const struct cli_measure *measure)
{
    const bool by_data = measure->limit_by != NULL && strcmp(measure->limit_by, "data") == 0;
    if (measure->limit_bytes == 0 && measure->limit_by != NULL)
        return cli_misuse(verb, "--limit-by says how a limit is kept: --limit says which");
    if (measure->limit_bytes == 0 && measure->limit_in != NULL)
        return cli_misuse(verb, "--limit-in says where a limit is kept: --limit says which");
    if (measure->limit_in != NULL && by_data)
        return cli_misuse(verb, "--limit-in is for control groups, --limit-by data is without them");
    return CLI_DONE;
}

int cli_limit_settle(const struct cli_verb *verb, const struct cli_measure *measure,
                     struct cli_limit *ret_limit)
{
    *ret_limit = (struct cli_limit){0};
    const int code = check_options(verb, measure);
    if (code != CLI_DONE || measure->limit_bytes == 0 ||
        (measure->limit_by != NULL && strcmp(measure->limit_by, "data") == 0))
        return code;
    struct res_group_place *place = &ret_limit->place;
    char *why = res_group_place_find("", measure->limit_in, place) ? res_group_try(place) : NULL;
    if (why == NULL && place->directory != NULL)
        return CLI_DONE;
    if (why == NULL) {
        why = place->why;
        place->why = NULL;
    }
    res_group_place_release(place);
    ret_limit->why = why;
    if (measure->limit_by != NULL || measure->limit_in != NULL) {
        cli_say(verb, "no memory limit by control groups here: %s; or take --limit-by data", why);
        return CLI_FAILED;
    }
    cli_say(verb,
            "the limit is of what is mapped (RLIMIT_DATA), not of what is in memory, as a container's is: %s",
            why);
    return CLI_DONE;
}

void cli_limit_release(struct cli_limit *limit)
{
    res_group_place_release(&limit->place);
    free(limit->why);
    limit->why = NULL;
}

const struct res_group_place *cli_limit_place(const struct cli_limit *limit)
{
    return limit->place.directory != NULL ? &limit->place : NULL;
}
