/* measure_options.c - see measure_options.h. */
#include "cli/options/measure_options.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/parse.h"
#include "cli/base/say.h"
#include "cli/options/option_table.h"
#include "replay/system/binding.h"

#define AT(member) offsetof(struct cli_measure, member)

static void put(struct cli_measure *measure, const char *option, const char *value)
{
    for (unsigned i = 0; i < measure->count; i += 2) {
        if (strcmp(measure->options[i], option) == 0) { /* given twice: the last one counts */
            measure->options[i + 1] = value;
            return;
        }
    }
    measure->options[measure->count++] = option;
    measure->options[measure->count++] = value;
}

/* Tried here, so that it is told once and not as the failure of every run. Returns an errno. */
static int try_processors(struct rep_binding *binding)
{
    cpu_set_t before;
    if (binding->each || strcmp(binding->how, "no") == 0 || sched_getaffinity(0, sizeof before, &before) != 0)
        return 0;
    const int error = rep_binding_apply(binding, false);
    (void)sched_setaffinity(0, sizeof before, &before); /* it was so before */
    return error;
}

/* A processor that this process may not use is misuse too. */
static int take_pin(const struct cli_verb *verb, const struct cli_option *row, const char *value, void *at)
{
    struct rep_binding binding = {0};
    if (!rep_binding_parse(&binding, value))
        return cli_option_refuse(verb, row, value);
    const int error = try_processors(&binding);
    if (error != 0)
        return cli_misuse(verb, "cannot keep to the processors '%s': %s; lscpu lists those that there are",
                          value, strerror(error));
    put(at, "--pin", value);
    return -1;
}

static int take_nice(const struct cli_verb *verb, const struct cli_option *row, const char *value, void *at)
{
    char *end;
    errno = 0;
    const long nice = strtol(value, &end, 10);
    if (errno != 0 || end == value || *end != '\0' || value[0] == ' ' || value[0] == '+' || nice < -20 ||
        nice > 19)
        return cli_option_refuse(verb, row, value);
    put(at, "--nice", value);
    return -1;
}

static int take_one_thread(const struct cli_verb *verb, const struct cli_option *row, const char *value,
                           void *at)
{
    struct cli_measure *measure = at;
    put(measure, "--threads", "1");
    measure->one_thread = true;
    return -1;
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* clang-format off */
const struct cli_option cli_measure_allocators[] = {
    {.name = "allocators", .letter = 'a', .argument = "LIST", .how = CLI_TEXT, .at = AT(allocators),
     .offer = CLI_OFFER_CANDIDATES,
     .help = "names of 'mallab allocators' or paths of libraries, separated by commas, each with settings "
             "if any: jemalloc+narenas=1+tcache=false [glibc,jemalloc,tcmalloc,mimalloc, those that are "
             "here]"},
    {0},
};

const struct cli_option cli_measure_baseline[] = {
    {.name = "baseline", .letter = 'b', .argument = "NAME", .how = CLI_TEXT, .at = AT(baseline),
     .offer = CLI_OFFER_CANDIDATE, .help = "what the others are compared with [glibc, else the first]"},
    {0},
};

const struct cli_option cli_measure_rounds[] = {
    {.name = "rounds", .letter = 'n', .argument = "N", .how = CLI_COUNT, .at = AT(rounds), .least = 1,
     .most = CLI_ROUNDS_MAX, .help = "runs of each candidate, 1-1000; a verdict takes 8 [10]"},
    {0},
};

const struct cli_option cli_measure_idle[] = {
    {.name = "idle", .argument = "T", .how = CLI_DURATION, .at = AT(idle_ns), .zero = true,
     .most = UINT64_C(86400000000000), .takes = "a time of a day at most, such as 60s or 5m, or 0",
     .help = "rest for T (5s, 500ms) after the last call, then look at memory again; T passes on --clock; "
             "0: none [0]"},
    {0},
};

const struct cli_option cli_measure_seed[] = {
    {.name = "seed", .argument = "N", .how = CLI_COUNT, .at = AT(seed),
     .most = (UINT64_C(1) << CLI_SEED_BITS) - 1, .takes = "a number from 0 to 2^53 - 1",
     .help = "seed of the shuffled order and of the intervals [drawn, printed]"},
    {0},
};

const struct cli_option cli_measure_touch[] = {
    {.name = "touch", .argument = "WHAT", .how = CLI_WORD, .at = AT(touch), .words = "none page full",
     .help = "what is written into new memory: none, page (a byte per page) or full [page]"},
    {0},
};

const struct cli_option cli_measure_one_thread[] = {
    {.name = "one-thread", .how = CLI_CALL, .take = take_one_thread,
     .help = "replay the calls of all threads on one, in their order"},
    {0},
};

const struct cli_option cli_measure_timeout[] = {
    {.name = "timeout", .argument = "T", .how = CLI_DURATION, .at = AT(timeout_ns),
     .help = "give up a run after T: 90s, 5m [20 times its warm-up]"},
    {0},
};

const struct cli_option cli_measure_place[] = {
    {.name = "pin", .argument = "HOW", .how = CLI_CALL, .take = take_pin, .words = "no auto",
     .takes = "'no', 'auto' or processors as 0,2-3",
     .help = "no; auto: each thread on a processor of its own; or processors to keep to: 0,2-3 [no]"},
    {.name = "nice", .argument = "N", .how = CLI_CALL, .take = take_nice, .takes = "a number from -20 to 19",
     .help = "priority, from -20 (high) to 19 [as it is]"},
    {0},
};

const struct cli_option cli_measure_limit[] = {
    {.name = "limit", .argument = "SIZE", .how = CLI_SIZE, .at = AT(limit_bytes),
     .help = "most memory that each allocator may have: 64M, 1.5G [no limit]"},
    {.name = "limit-by", .argument = "WHAT", .how = CLI_WORD, .at = AT(limit_by), .words = "cgroup data",
     .help = "cgroup: what is in memory, as a container counts, whose kernel kills at the limit; data: what "
             "is mapped, where calls fail [cgroup where one can be made, else data]"},
    {.name = "limit-in", .argument = "DIR", .how = CLI_TEXT, .at = AT(limit_in),
     .help = "make the cgroups in this directory of /sys/fs/cgroup [mallab's own, else the one above it]"},
    {0},
};
/* clang-format on */

/* ---- what is made of them ------------------------------------------------------------------- */

struct cli_measure cli_measure_defaults(void)
{
    return (struct cli_measure){.seed = cli_draw_seed()};
}

uint64_t cli_measure_idle_ms(const struct cli_measure *measure)
{
    return (measure->idle_ns + 999999) / 1000000;
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
