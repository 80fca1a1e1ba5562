/* plan_losers.c - see plan_losers.h. */
#include "cli/verbs/plan_losers.h"

#include <stdlib.h>

#include "cli/base/say.h"
#include "cli/verbs/result_files.h"
#include "footprint/base/support.h"

void cli_plan_losers_add(struct cli_plan_losers *losers, const char *label, const char *digest)
{
    losers->wanted = res_realloc(losers->wanted, losers->count + 1, sizeof *losers->wanted);
    losers->wanted[losers->count++] = (struct res_plan_wanted){
        .label = res_strdup(label),
        .file_digest = digest != NULL ? strtoull(digest, NULL, 16) : 0,
        .any_digest = digest == NULL,
    };
}

static void add_named(const struct res_fleet_named *named, size_t count, struct cli_plan_losers *losers)
{
    for (size_t i = 0; i < count; i++)
        if (named[i].file_digest != NULL)
            cli_plan_losers_add(losers, named[i].label, named[i].file_digest);
}

int cli_plan_losers_read(const struct cli_verb *verb, const char *path, struct cli_plan_losers *losers)
{
    const size_t before = losers->count;
    struct res_result result;
    const int code = cli_result_load(verb, path, &result);
    if (code != CLI_DONE)
        return code;
    for (size_t i = 0; result.fleet != NULL && i < result.fleet->candidate_count; i++) {
        const struct res_fleet_candidate *candidate = &result.fleet->candidates[i];
        add_named(candidate->losers, candidate->loser_count, losers);
        add_named(candidate->nearest, candidate->nearest_count, losers);
    }
    res_result_release(&result);
    if (losers->count > before)
        return CLI_DONE;
    cli_say(verb, "'%s' names no losers, nor any that are near it: there is nothing to run again", path);
    return CLI_FAILED;
}

void cli_plan_losers_release(struct cli_plan_losers *losers)
{
    for (size_t i = 0; i < losers->count; i++)
        free((void *)(uintptr_t)losers->wanted[i].label); /* ours; const for those who borrow it */
    free(losers->wanted);
    *losers = (struct cli_plan_losers){0};
}
