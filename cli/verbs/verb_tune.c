/* verb_tune.c - `mallab tune`: many settings of allocators narrowed down to a few, which are then compared as `ab` does. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/verbs/verbs.h"
#include "results/measure/statistics/statistics.h"

#define BUDGET_NS UINT64_C(300000000000)
#define LEFT      3u

struct tune {
    struct cli_ab ab;
    const char *file; /* of settings; NULL: none */
    uint64_t left;
    char *list; /* of candidates, widened */
};

/* ---- how few are left ----------------------------------------------------------------------- */

static void tell_stage(void *context, size_t tried, size_t kept, unsigned rounds, const char *const *failed)
{
    const struct cli_ab *ab = context;
    for (size_t i = 1; i <= tried; i++)
        if (failed[i] != NULL)
            cli_say(&CLI_TUNE, "%s is out: %s", ab->choice.candidates[i]->name, failed[i]);
    if (!ab->settings.answer.quiet)
        cli_say(&CLI_TUNE, "%zu of %zu are left after %u round%s", kept, tried, rounds,
                rounds == 1 ? "" : "s");
}

static int narrow(struct cli_ab *ab)
{
    struct tune *tune = (struct tune *)(void *)((char *)ab - offsetof(struct tune, ab));
    const uint64_t budget_ns = ab->settings.measure.run.time_budget_ns;
    const struct res_options options = cli_ab_options(ab);
    const struct res_halving halving = {
        .options = &options, .left = tune->left, .budget_ns = budget_ns / 2, .told = tell_stage};
    if (ab->choice.candidate_count < 2)
        return cli_misuse(&CLI_TUNE, "nothing to compare %s with: -a or --settings name more",
                          ab->choice.candidates[0]->name);
    ab->warm_up.workload = ab->workloads; /* what a stage takes is no estimate of what is told */
    ab->warm_up.told = true;
    cli_progress_begin(&ab->progress, ab->settings.answer.quiet);
    res_halving_run(&halving, ab->choice.candidates, &ab->choice.candidate_count);
    cli_progress_end(&ab->progress);
    ab->warm_up.workload = NULL;
    ab->settings.measure.run.time_budget_ns = budget_ns - budget_ns / 2;
    return CLI_DONE;
}

/* ---- command line --------------------------------------------------------------------------- */

#define AT(member)      offsetof(struct tune, member)
#define SETTING(member) AT(ab.settings.member)

/* clang-format off */
static const struct cli_option OPTIONS[] = {
    {.heading = "what is tried"},
    {.row = &cli_measure_allocators, .at = SETTING(measure),
     .help = "candidates, separated by commas: one with settings as it stands, jemalloc+narenas=1+tcache=false; of one "
             "without also each value of its [ranges] ('mallab allocators --json') [glibc, unless --settings is given]"},
    {.name = "settings", .argument = "FILE", .how = CLI_TEXT, .at = AT(file), .takes = "the name of a file",
     .help = "and those of a file, a candidate with its settings a line, '#' before a comment"},
    {.row = &cli_measure_baseline, .at = SETTING(measure)},

    {.heading = "how"},
    {.name = "finalists", .argument = "N", .how = CLI_COUNT, .at = AT(left), .least = 1, .most = 16,
     .help = "how many are left to be measured afresh beside the baseline, 1-16 [3]"},
    {.name = "time-budget", .argument = "T", .how = CLI_DURATION, .at = SETTING(measure.run.time_budget_ns),
     .help = "what replays may take: half to narrow down, half for those that are left: 90s, 2h [5m]"},
    {.row = &cli_measure_seed, .at = SETTING(measure)},
    {.group = cli_measure_one_thread, .at = SETTING(measure)},
    {.row = &cli_measure_timeout, .at = SETTING(measure)},

    {.heading = "what of a recording is replayed; these act in this order"},
    {.group = cli_select, .at = SETTING(convert)},

    {.heading = "what comes out"},
    {.group = cli_answer_result, .at = SETTING(answer)},
    {.row = &cli_answer_details, .at = SETTING(answer)},
    {.row = &cli_answer_color, .at = SETTING(answer)},
    {.row = &cli_answer_quiet, .at = SETTING(answer)},
    {0},
};
/* clang-format on */

static int take_options(int argc, char **argv, struct tune *ret_tune)
{
    struct cli_ab_settings *settings = &ret_tune->ab.settings;
    struct cli_operands operands;
    *ret_tune = (struct tune){
        .ab = {.verb = &CLI_TUNE, .settings = {.measure = cli_measure_defaults()}, .narrow = narrow},
        .left = LEFT};
    settings->measure.run.time_budget_ns = BUDGET_NS;
    settings->measure.rounds = RES_UNTIL_ROUNDS_MAX;
    settings->measure.run.until = RES_RESOLVE;
    const int code = cli_options_take(&CLI_TUNE, argc, argv, ret_tune, &operands);
    if (code >= 0)
        return code;
    if (operands.count + (operands.command != NULL) == 0)
        return cli_misuse(&CLI_TUNE, "nothing to replay: name a recording, or a command behind '--'");
    if (operands.count + (operands.command != NULL) > 1)
        return cli_misuse(&CLI_TUNE,
                          "one workload at a time: what is best for one need not be for the other");
    settings->inputs = operands.words;
    settings->input_count = (size_t)operands.count;
    settings->command = operands.command;
    return -1;
}

/* ---- what is tried -------------------------------------------------------------------------- */

static void add(struct res_text *list, const char *name)
{
    res_text_printf(list, "%s%s", list->length > 0 ? "," : "", name);
}

/* A candidate as it is, and with each value that its file thinks worth trying. */
static void add_ranges(struct res_text *list, const struct res_candidate *candidate)
{
    add(list, candidate->name);
    for (size_t i = 0; i < candidate->ranges.count; i++) {
        char *value;
        for (size_t k = 0; (value = res_range_value(&candidate->ranges.items[i], k)) != NULL; k++) {
            res_text_printf(list, ",%s+%s=%s", candidate->name, candidate->ranges.items[i].name, value);
            free(value);
        }
    }
}

static int add_named(struct res_text *list, const char *names)
{
    struct res_registry registry = {0};
    char *copy = res_strdup(names), *rest = copy;
    const char *name;
    const int code = cli_registry_load(&CLI_TUNE, &registry);
    while (code == CLI_DONE && (name = strsep(&rest, ",")) != NULL) {
        const struct res_candidate *candidate = res_registry_find(&registry, name);
        if (candidate != NULL)
            add_ranges(list, candidate);
        else if (*name != '\0')
            add(list, name); /* it has settings, or is told to be unknown with the others */
    }
    res_registry_release(&registry);
    free(copy);
    return code;
}

/* number: of a line; 0: none. */
static int refuse(const char *path, size_t number, const char *why)
{
    char *line = number > 0 ? res_printf("line %zu ", number) : res_strdup("");
    cli_say(&CLI_TUNE, "cannot read '%s': %s%s", path, line, why);
    free(line);
    return CLI_UNREADABLE;
}

static int add_file(struct res_text *list, const char *path)
{
    char line[RES_INLINE_NAME_MAX + 64];
    FILE *file = fopen(path, "re");
    int code = CLI_DONE;
    if (file == NULL)
        return refuse(path, 0, strerror(errno));
    for (size_t number = 1; code == CLI_DONE && fgets(line, sizeof line, file) != NULL; number++) {
        const size_t length = strcspn(line, "#\n");
        const bool is_whole = line[strcspn(line, "\n")] == '\n' || feof(file);
        char *name = res_strndup(line, length);
        const char *word = strtok(name, " \t\r");
        if (!is_whole)
            code = refuse(path, number, "is too long for a candidate with its settings");
        else if (word != NULL && (strtok(NULL, " \t\r") != NULL || strchr(word, ',') != NULL))
            code = refuse(path, number, "has more than one candidate");
        else if (word != NULL && strchr(word, '/') != NULL) /* files of others name nothing that is loaded */
            code = refuse(path, number, "names a library: -a takes one");
        else if (word != NULL)
            add(list, word);
        free(name);
    }
    if (code == CLI_DONE && ferror(file))
        code = refuse(path, 0, strerror(errno));
    (void)fclose(file);
    return code;
}

static int widen(struct tune *tune)
{
    struct cli_measure *measure = &tune->ab.settings.measure;
    struct res_text list = {0};
    int code = CLI_DONE;
    if (measure->allocators != NULL || tune->file == NULL)
        code = add_named(&list, measure->allocators != NULL ? measure->allocators : "glibc");
    if (code == CLI_DONE && tune->file != NULL)
        code = add_file(&list, tune->file);
    if (code == CLI_DONE && list.length == 0)
        code = cli_misuse(&CLI_TUNE, "no candidate is named: -a, or lines of --settings");
    tune->list = list.text;
    measure->allocators = list.text;
    return code;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static int run_tune(int argc, char **argv)
{
    struct tune tune;
    int code = take_options(argc, argv, &tune);
    if (code >= 0)
        return code;
    code = widen(&tune);
    if (code == CLI_DONE)
        code = cli_ab_run(&tune.ab);
    free(tune.list);
    return code;
}

const struct cli_verb CLI_TUNE = {
    .name = "tune",
    .summary = "try settings of allocators, compare the best of them",
    .usage = "[OPTION...] WORKLOAD|RECORDING|FOOTPRINT\n[OPTION...] -- COMMAND [ARG...]",
    .purpose =
        "Replay a workload with many settings of allocators a few times, with the better half more often, "
        "and so on; compare the few that are left with the baseline afresh, as 'mallab ab' does.",
    .options = OPTIONS,
    .command_at = CLI_COMMAND_BEHIND_DASHES,
    .completes = ":files wl fp",
    .examples = "mallab tune -a jemalloc,glibc --time-budget 10m -o tuned.json web.wl",
    .exit_codes = "0 done, also when nothing beats the default, 1 failed, 2 misuse, 3 input unreadable, "
                  "damaged or too new",
    .takes_any = true,
    .run = run_tune,
};
