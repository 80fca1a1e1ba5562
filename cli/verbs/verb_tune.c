/* verb_tune.c - `mallab tune`: search the settings of allocators, confirm the best. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/base/cli.h"
#include "cli/base/interrupt.h"
#include "cli/base/progress.h"
#include "cli/base/say.h"
#include "cli/base/workload_facts.h"
#include "cli/options/choice.h"
#include "cli/options/measure_options.h"
#include "cli/options/option_table.h"
#include "cli/options/select_options.h"
#include "cli/verbs/record_step.h"
#include "cli/verbs/result_files.h"
#include "cli/verbs/verbs.h"
#include "cli/verbs/workloads.h"
#include "footprint/base/support.h"
#include "results/measure/candidate/variables.h"
#include "results/measure/experiment/profile.h"
#include "results/measure/machine/disturbances.h"
#include "results/measure/tune/tune_result.h"
#include "results/report/table/tune_report.h"

#define BUDGET_NS     UINT64_C(300000000000)
#define BUDGET_MAX_NS UINT64_C(604800000000000) /* a week */
#define IDLE_NS       UINT64_C(60000000000)

struct settings {
    struct cli_answer answer;
    struct cli_measure measure;
    struct conv_options convert;
    enum res_tune_memory memory;
    uint64_t budget_ns;
    const char *input; /* NULL: there is a command */
    char **command;    /* NULL: none */
};

/* ---- command line --------------------------------------------------------------------------- */

#define AT(member) offsetof(struct settings, member)

/* clang-format off */
static const struct cli_option OPTIONS[] = {
    {.heading = "what is searched"},
    {.group = cli_measure_allocators, .at = AT(measure),
     .help = "whose settings, separated by commas; names of 'mallab allocators' [glibc]"},
    {.group = cli_measure_baseline, .at = AT(measure),
     .help = "which of them, as it is, is the default that all are held against [glibc, else the first]"},
    {.name = "memory", .argument = "FIGURE", .how = CLI_CHOICE, .at = AT(memory),
     .words = "peak mean end idle",
     .help = "which resident memory counts beside time: peak, mean, end or idle [peak]"},

    {.heading = "how"},
    {.name = "budget", .argument = "T", .how = CLI_DURATION, .at = AT(budget_ns), .most = BUDGET_MAX_NS,
     .takes = "a time of a week at most, such as 90s, 5m or 2h",
     .help = "time for search and confirmation: 90s, 5m, 2h [5m]"},
    {.group = cli_measure_idle, .at = AT(measure),
     .help = "recorded time that a run rests for, for --memory idle and in the confirmation; 0: none [60s]"},
    {.group = cli_measure_seed, .at = AT(measure),
     .help = "seed of the order and of the intervals [drawn, printed]"},
    {.group = cli_measure_touch, .at = AT(measure)},
    {.group = cli_measure_place, .at = AT(measure)},
    {.group = cli_measure_one_thread, .at = AT(measure)},

    {.heading = "what of a recording is replayed; these act in this order"},
    {.group = cli_select, .at = AT(convert)},

    {.heading = "what comes out"},
    {.group = cli_answer_result, .at = AT(answer)},
    {.group = cli_answer_color, .at = AT(answer)},
    {.group = cli_answer_progress, .at = AT(answer)},
    {.group = cli_answer_quiet, .at = AT(answer), .help = "no progress, no warnings of what disturbs"},
    {0},
};
/* clang-format on */

static int take_input(const struct cli_operands *operands, struct settings *settings)
{
    if (operands->count == 0 && operands->command == NULL)
        return cli_misuse(&CLI_TUNE,
                          "nothing to replay: name a workload or a recording, or a command behind '--'");
    if (operands->count + (operands->command != NULL) > 1)
        return cli_misuse(&CLI_TUNE, "one workload at a time: what is best for one need not be for the other "
                                     "(processes of one recording: --process NAME takes those of a name)");
    if (settings->memory == RES_TUNE_IDLE && settings->measure.idle_ns == 0)
        return cli_misuse(&CLI_TUNE, "--memory idle looks at memory after a rest: --idle 0 leaves none");
    settings->input = operands->count > 0 ? operands->words[0] : NULL;
    settings->command = operands->command;
    return -1;
}

static int take_options(int argc, char **argv, struct settings *ret_settings)
{
    struct cli_operands operands;
    *ret_settings = (struct settings){
        .answer = cli_answer_defaults(), .measure = cli_measure_defaults(), .budget_ns = BUDGET_NS};
    ret_settings->measure.allocators = "glibc";
    ret_settings->measure.idle_ns = IDLE_NS;
    int code = cli_options_take(&CLI_TUNE, argc, argv, ret_settings, &operands);
    if (code < 0)
        code = cli_select_check(&CLI_TUNE, &ret_settings->convert);
    return code >= 0 ? code : take_input(&operands, ret_settings);
}

struct tune {
    struct settings settings;
    struct cli_choice choice;
    struct cli_prepared prepared;
    struct res_workload workload;
    struct cli_progress progress;
};

/* ---- what is searched ----------------------------------------------------------------------- */

/* A candidate without ranges stands in the search as it is; but one at least must have some. */
static int check_ranges(const struct tune *tune)
{
    const struct cli_choice *choice = &tune->choice;
    bool any = false;
    for (size_t i = 0; i < choice->candidate_count; i++) {
        const struct res_candidate *candidate = choice->candidates[i];
        char *problem = res_ranges_problem(candidate);
        if (problem != NULL) {
            cli_say(&CLI_TUNE, "%s: %s", candidate->name, problem);
            free(problem);
            return CLI_FAILED;
        }
        any = any || candidate->range_count > 0;
    }
    if (any)
        return CLI_DONE;
    const struct res_candidate *first = choice->candidates[0];
    return cli_misuse(
        &CLI_TUNE,
        "'%s' declares no settings to try: add a section [ranges] to %s, or name another allocator "
        "('mallab allocators --json' lists their ranges)",
        first->name, first->origin != NULL ? first->origin : "a file of its own");
}

static int prepare_workload(struct tune *tune)
{
    const struct settings *settings = &tune->settings;
    struct cli_prepare prepare = {
        .convert = &settings->convert,
        .force = settings->answer.force,
        .quiet = true, /* it is removed: nobody needs its place */
        .progress = settings->answer.progress,
    };
    char *recording = NULL;
    int code = cli_work_directory(&CLI_TUNE, NULL, &prepare.directory);
    const struct cli_record_step step = {
        .directory = prepare.directory, .quiet = settings->answer.quiet, .shows_stdout = true};
    if (code == CLI_DONE && settings->command != NULL)
        code = cli_record_step(&CLI_TUNE, settings->command, &step, NULL, &recording);
    if (code == CLI_DONE && cli_stopped_by == 0)
        code = cli_workload_prepare(&CLI_TUNE, &prepare, recording != NULL ? recording : settings->input, 0,
                                    &tune->prepared);
    free(recording);
    if (code == CLI_DONE && cli_stopped_by != 0) {
        cli_say(&CLI_TUNE, "interrupted before the first run: there is no result");
        return CLI_FAILED;
    }
    if (code == CLI_DONE)
        code = cli_prepared_facts(&CLI_TUNE, &tune->prepared,
                                  settings->command != NULL ? settings->command[0] : settings->input,
                                  &tune->workload);
    if (code == CLI_DONE && tune->workload.duration_ns == 0 && settings->memory == RES_TUNE_IDLE) {
        cli_say(&CLI_TUNE,
                "'%s' has no recorded time, and nothing can rest without: use --memory peak or end",
                settings->input); /* an imported trace: commands are recorded with their times */
        code = CLI_FAILED;
    }
    return code;
}

/* ---- search --------------------------------------------------------------------------------- */

static void on_progress(void *context, const char *words, uint64_t done_ns, uint64_t all_ns)
{
    cli_progress_show(context, words, NULL, 0, done_ns, all_ns);
}

static int tell(const struct tune *tune, const struct res_tune_search *search,
                struct res_tune_replays *replays, struct res_disturbances *disturbances)
{
    if (search->problem != NULL) {
        cli_say(&CLI_TUNE, "%s", search->problem);
        return CLI_FAILED;
    }
    if (search->finalist_count == 0) { /* only a stop leaves none without a problem */
        cli_say(&CLI_TUNE, "stopped before anything was compared: there is no result");
        return CLI_FAILED;
    }
    struct res_result result;
    res_tune_result(search, replays, tune->choice.missing, tune->choice.missing_count, &result);
    if (replays->confirmed && search->end != RES_TUNE_END_STOPPED)
        res_profile_add(&result, &replays->confirmation);
    res_disturbances_give(disturbances, &result);
    const int code = cli_result_give(&CLI_TUNE, &tune->settings.answer, &result, res_tune_text);
    res_result_release(&result);
    return code;
}

static int run_search(struct tune *tune)
{
    const struct settings *settings = &tune->settings;
    const uint64_t seed = settings->measure.seed;
    struct res_disturbances disturbances;
    struct res_tune_space space;
    struct res_tune_search search;
    struct res_random random = res_random_from(seed);
    struct res_tune_replays replays = {
        .registry = &tune->choice.registry,
        .program_directories = res_program_directories(),
        .workload = &tune->workload,
        .bases = tune->choice.candidates,
        .floor = tune->choice.floor,
        .memory = settings->memory,
        .seed = seed,
        .budget_ns = settings->budget_ns,
        .touch = settings->measure.touch,
        .idle_ms = cli_measure_idle_ms(&settings->measure),
        .one_thread = settings->measure.one_thread,
        .replay_options = settings->measure.options,
        .stop = &cli_stopped_by,
        .progress = on_progress,
        .context = &tune->progress,
    };
    const struct res_tune_evaluator evaluator = res_tune_evaluator_of(&replays);
    /* The reader of our output may go while we have a directory to remove. Not before: COMMAND would inherit it. */
    signal(SIGPIPE, SIG_IGN);
    res_disturbances_begin(&disturbances, "");
    res_tune_space_init(&space, tune->choice.candidates, tune->choice.candidate_count, &random);
    cli_progress_begin(&tune->progress, settings->answer.progress);
    res_tune_run(&space, &evaluator, seed, settings->budget_ns, &search);
    cli_progress_end(&tune->progress);
    res_disturbances_end(&disturbances);
    const int code = tell(tune, &search, &replays, &disturbances);
    res_disturbances_release(&disturbances);
    res_tune_search_release(&search);
    res_tune_replays_release(&replays);
    res_tune_space_release(&space);
    return code;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static int run_tune(int argc, char **argv)
{
    struct tune tune = {0};
    int code = take_options(argc, argv, &tune.settings);
    if (code >= 0)
        return code;
    code = cli_result_check(&CLI_TUNE, &tune.settings.answer);
    if (code == CLI_DONE)
        code = cli_choose(&CLI_TUNE, tune.settings.measure.allocators, tune.settings.measure.baseline,
                          &tune.choice);
    if (code == CLI_DONE)
        code = check_ranges(&tune);
    if (code == CLI_DONE) {
        cli_stops_take();
        code = prepare_workload(&tune);
    }
    if (code == CLI_DONE)
        code = run_search(&tune);
    cli_prepared_release(&tune.prepared);
    cli_choice_release(&tune.choice);
    cli_stops_end();
    return code;
}

const struct cli_verb CLI_TUNE = {
    .name = "tune",
    .summary = "search an allocator's settings: less time, less memory",
    .usage = "[OPTION...] WORKLOAD|RECORDING|FOOTPRINT\n"
             "[OPTION...] -- COMMAND [ARG...]",
    .purpose =
        "Search the settings that allocators declare worth trying (section [ranges] of their files): "
        "replay the workload with many of them a few times, with the better ones more often, confirm the "
        "best with fresh rounds against the default, and print which of them nothing beats on time and "
        "memory, as variables to paste.",
    .options = OPTIONS,
    .command_at = CLI_COMMAND_BEHIND_DASHES,
    .completes = ":files wl fp",
    .notes = "Ctrl-C ends it; what was found so far is printed, marked as not confirmed.",
    .examples = "mallab tune -a jemalloc,glibc --budget 10m -o tuned.json nightly.wl",
    .exit_codes =
        "0 done, also when nothing beats the default, 1 failed, 2 misuse, 3 input unreadable, damaged "
        "or too new; after Ctrl-C what is finished is printed and kept, then the signal ends mallab "
        "(130 in a shell), SIGTERM and SIGHUP likewise",
    .run = run_tune,
};
