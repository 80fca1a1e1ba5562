/* measure_options.c - see measure_options.h. */
#include "cli/options/measure_options.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/parse.h"
#include "cli/base/say.h"
#include "cli/options/option_table.h"

#define AT(member) offsetof(struct cli_measure, member)

/* ---- rows ----------------------------------------------------------------------------------- */

/* clang-format off */
const struct cli_option cli_measure_allocators[] = {
    {.name = "allocators", .letter = 'a', .argument = "LIST", .how = CLI_TEXT, .at = AT(allocators),
     .offer = CLI_OFFER_CANDIDATES,
     .help = "names of 'mallab allocators' or paths of libraries, with commas, settings if any: jemalloc+narenas=1 "
             "[glibc,jemalloc,tcmalloc,mimalloc, those here]"},
    {0},
};

const struct cli_option cli_measure_baseline[] = {
    {.name = "base", .letter = 'b', .argument = "NAME", .how = CLI_TEXT, .at = AT(baseline),
     .offer = CLI_OFFER_CANDIDATE, .help = "what the others are compared with [glibc, else the first]"},
    {0},
};

const struct cli_option cli_measure_rounds[] = {
    {.name = "rounds", .letter = 'n', .argument = "N", .how = CLI_COUNT, .at = AT(rounds), .least = 1,
     .most = CLI_ROUNDS_MAX, .help = "runs of each candidate, 1-1000; a verdict takes 8 [10]"},
    {0},
};

const struct cli_option cli_measure_seed[] = {
    {.name = "seed", .seldom = true, .argument = "N", .how = CLI_COUNT, .at = AT(seed),
     .most = (UINT64_C(1) << CLI_SEED_BITS) - 1, .takes = "a number from 0 to 2^53 - 1",
     .help = "seed of the shuffled order and of the intervals [drawn, printed]"},
    {0},
};

const struct cli_option cli_measure_one_thread[] = {
    {.name = "one-thread", .seldom = true, .how = CLI_FLAG, .at = AT(one_thread),
     .help = "replay the calls of all threads on one, in their order"},
    {0},
};

const struct cli_option cli_measure_timeout[] = {
    {.name = "timeout", .seldom = true, .argument = "T", .how = CLI_DURATION, .at = AT(timeout_ns),
     .help = "give up a run after T: 90s, 5m [20 times its warm-up]"},
    {0},
};

const struct cli_option cli_measure_limit[] = {
    {.name = "limit", .argument = "SIZE", .how = CLI_SIZE, .at = AT(limit_bytes),
     .help = "most memory that each allocator may have: 64M, 1.5G [no limit]"},
    {.name = "limit-by", .seldom = true, .argument = "WHAT", .how = CLI_WORD, .at = AT(limit_by), .words = "cgroup data",
     .help = "cgroup: what is in memory, as a container counts, whose kernel kills at the limit; data: what "
             "is mapped, where calls fail [cgroup where one can be made, else data]"},
    {.name = "limit-in", .seldom = true, .argument = "DIR", .how = CLI_TEXT, .at = AT(limit_in),
     .help = "make the cgroups in this directory of /sys/fs/cgroup [mallab's own, else the one above it]"},
    {0},
};
/* clang-format on */

/* ---- what is made of them ------------------------------------------------------------------- */

struct cli_measure cli_measure_defaults(void)
{
    return (struct cli_measure){.seed = cli_draw_seed()};
}

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
