/* verb_tune.c - `mallab tune`: search the settings of allocators, confirm the best. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/base/cli.h"
#include "cli/base/disturbance_warnings.h"
#include "cli/base/progress.h"
#include "cli/base/result_files.h"
#include "cli/base/stops.h"
#include "cli/options/choice.h"
#include "cli/options/tune_options.h"
#include "cli/verbs/record_step.h"
#include "cli/verbs/workloads.h"
#include "footprint/base/places.h"
#include "results/measure/base/support.h"
#include "results/measure/candidate/variables.h"
#include "results/measure/experiment/profile.h"
#include "results/measure/machine/disturbances.h"
#include "results/report/table/tune_report.h"

struct tune {
    struct cli_tune_options settings;
    struct cli_choice choice;
    char *path;
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
    const struct cli_tune_options *settings = &tune->settings;
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
                                    &tune->path);
    free(recording);
    if (code == CLI_DONE && cli_stopped_by != 0) {
        cli_say(&CLI_TUNE, "interrupted before the first run: there is no result");
        return CLI_FAILED;
    }
    if (code == CLI_DONE)
        code = cli_workload_facts(&CLI_TUNE, tune->path,
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
                struct res_tune_replays *replays, const struct res_disturbances *disturbances)
{
    if (search->problem != NULL) {
        cli_say(&CLI_TUNE, "%s", search->problem);
        return CLI_FAILED;
    }
    if (search->finalist_count == 0) { /* only a stop leaves none without a problem */
        cli_say(&CLI_TUNE, "stopped before anything was compared: there is no result");
        return CLI_FAILED;
    }
    json_t *result = res_tune_result(search, replays, tune->choice.missing, tune->choice.missing_count);
    if (replays->confirmed && search->end != RES_TUNE_END_STOPPED)
        res_profile_add(result, &replays->confirmation);
    json_object_set(result, "disturbances", disturbances->list);
    const int code = cli_result_give(&CLI_TUNE, &tune->settings.answer, result, res_tune_text);
    json_decref(result);
    return code;
}

static int run_search(struct tune *tune)
{
    const struct cli_tune_options *settings = &tune->settings;
    const uint64_t seed = cli_measure_seed(&settings->measure);
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
    /* The reader of our output may go while we have a directory to remove. Not before: CMD would inherit it. */
    signal(SIGPIPE, SIG_IGN);
    res_disturbances_begin(&disturbances, "");
    const size_t told = cli_warn_of(&CLI_TUNE, &settings->answer, &disturbances, 0);
    res_tune_space_init(&space, tune->choice.candidates, tune->choice.candidate_count, &random);
    cli_progress_begin(&tune->progress, settings->answer.progress);
    res_tune_run(&space, &evaluator, seed, settings->budget_ns, &search);
    cli_progress_end(&tune->progress);
    res_disturbances_end(&disturbances);
    (void)cli_warn_of(&CLI_TUNE, &settings->answer, &disturbances, told);
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
    int code = cli_tune_take_options(argc, argv, &tune.settings);
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
    free(tune.path);
    cli_choice_release(&tune.choice);
    cli_stops_end();
    return code;
}

const struct cli_verb CLI_TUNE = {
    .name = "tune",
    .summary = "search an allocator's settings: less time, less memory",
    .help = cli_tune_help,
    .run = run_tune,
};
