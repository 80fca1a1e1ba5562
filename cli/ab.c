/* ab.c - `mallab ab`: the whole way from a command to a table. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/ab_options.h"
#include "cli/choice.h"
#include "cli/cli.h"
#include "cli/history.h"
#include "cli/progress.h"
#include "cli/record_step.h"
#include "cli/stops.h"
#include "cli/whole_step.h"
#include "cli/workloads.h"
#include "results/disturbances.h"
#include "results/json.h"
#include "results/profile.h"
#include "results/support.h"
#include "results/table.h"

struct ab {
    struct cli_ab_options settings;
    struct cli_choice choice;
    const char *directory; /* of recording and workloads */
    char **paths;
    struct res_workload *workloads;
    size_t workload_count;
    struct cli_progress progress;
};

/* ---- workloads ------------------------------------------------------------------------------ */

static int choose_directory(struct ab *ab)
{
    if (ab->settings.keep == NULL) {
        ab->directory = cli_temporary_directory();
        if (ab->directory == NULL) {
            cli_say(&CLI_AB, "no temporary directory: %s (set TMPDIR, or use --keep)", strerror(errno));
            return CLI_FAILED;
        }
        return CLI_DONE;
    }
    ab->directory = ab->settings.keep;
    if (mkdir(ab->directory, 0777) != 0 && errno != EEXIST) {
        cli_say(&CLI_AB, "cannot make '%s': %s", ab->directory, strerror(errno));
        return CLI_FAILED;
    }
    return CLI_DONE;
}

static int add_workload(struct ab *ab, const char *input)
{
    const size_t number = ab->workload_count;
    char *path = NULL;
    const struct cli_prepare prepare = {
        .directory = ab->directory,
        .convert = &ab->settings.convert,
        .force = ab->settings.force,
        .quiet = ab->settings.quiet ||
                 ab->settings.keep == NULL, /* of what is removed nobody needs the place */
        .progress = ab->settings.progress != CLI_PROGRESS_NEVER,
    };
    const int code = cli_workload_prepare(&CLI_AB, &prepare, input, number, &path);
    if (code != CLI_DONE)
        return code;
    ab->paths = res_realloc(ab->paths, number + 1, sizeof *ab->paths);
    ab->paths[number] = path;
    ab->workloads = res_realloc(ab->workloads, number + 1, sizeof *ab->workloads);
    ab->workload_count++;
    return cli_workload_facts(&CLI_AB, path, &ab->workloads[number]);
}

static int prepare_workloads(struct ab *ab)
{
    const struct cli_ab_options *settings = &ab->settings;
    char *recording = NULL;
    int code = choose_directory(ab);
    if (code == CLI_DONE && settings->command != NULL)
        code = cli_record_step(&CLI_AB, settings->command, ab->directory, settings->quiet, NULL, &recording);
    if (code == CLI_DONE && recording != NULL)
        code = add_workload(ab, recording);
    free(recording);
    for (size_t i = 0; i < settings->input_count && code == CLI_DONE && cli_stopped_by == 0; i++)
        code = add_workload(ab, settings->inputs[i]);
    return code;
}

/* ---- experiment ----------------------------------------------------------------------------- */

static void on_progress(void *context, const struct res_workload *workload, const char *entry, unsigned round,
                        size_t runs_done, size_t runs_all)
{
    struct cli_progress *progress = context;
    char *words = round == 0                ? res_printf("%s: warm-up, %s", workload->name, entry)
                  : round == RES_ROUND_PASS ? res_printf("%s: behind the rounds, %s", workload->name, entry)
                                            : res_printf("%s: round %u, %s", workload->name, round, entry);
    cli_progress_show(progress, words, NULL, 0, runs_done, runs_all);
    free(words);
}

static bool any_failed(const struct res_experiment *experiment)
{
    bool failed = false;
    for (size_t i = 0; i < experiment->trial_count; i++) {
        const struct res_trial *trial = &experiment->trials[i];
        for (size_t k = 0; k < trial->entry_count; k++) {
            const struct res_entry *entry = &trial->entries[k];
            if (entry->failed == NULL)
                continue;
            failed = true;
            cli_say(&CLI_AB, "%s: %s%s failed: %s", trial->workload->name, entry->candidate->name,
                    entry->is_control ? " (control)" : "", entry->failed);
        }
    }
    return failed;
}

static int give_out(const struct ab *ab, json_t *result)
{
    const struct cli_ab_options *settings = &ab->settings;
    const struct res_style style = {
        .utf8 = cli_locale_is_utf8(), .colour = settings->colour, .details = settings->details};
    char *compact = json_dumps(result, JSON_INDENT(1));
    if (compact == NULL) {
        cli_say(&CLI_AB, "no memory to write the result");
        return CLI_FAILED;
    }
    char *document = res_printf("%s\n", compact);
    char *problem = NULL;
    int code = CLI_DONE;
    free(compact);
    char *kept = NULL;
    /* Kept first: whoever reads our stdout may have gone. */
    if (settings->output != NULL &&
        !cli_keep(settings->output, settings->force, result, document, &kept, &problem)) {
        cli_say(&CLI_AB, "%s", problem);
        free(problem);
        code = CLI_FAILED;
    }
    if (kept != NULL && !settings->quiet)
        cli_say(&CLI_AB, "kept as '%s'", kept);
    free(kept);
    if (settings->json) {
        fputs(document, stdout);
    } else {
        char *table = res_table_text(result, &style);
        fputs(table, stdout);
        free(table);
    }
    free(document);
    return code;
}

/* On stderr from that number on, so that nobody waits for a result that is not worth it; the table has them too. */
static size_t warn_of(const struct ab *ab, const struct res_disturbances *disturbances, size_t from)
{
    size_t index;
    json_t *one;
    json_array_foreach(disturbances->list, index, one)
    {
        if (index >= from && !ab->settings.quiet)
            cli_say(&CLI_AB, "warning: %s: %s", json_string_value(json_object_get(one, "text")),
                    json_string_value(json_object_get(one, "remedy")));
    }
    return json_array_size(disturbances->list);
}

static int run_experiment(struct ab *ab)
{
    struct res_disturbances disturbances;
    const struct cli_ab_options *settings = &ab->settings;
    struct res_experiment experiment;
    const struct res_options options = {
        .workloads = ab->workloads,
        .workload_count = ab->workload_count,
        .candidates = ab->choice.candidates,
        .candidate_count = ab->choice.candidate_count,
        .floor = ab->choice.floor,
        .rounds = (unsigned)settings->rounds,
        .until = settings->until,
        .time_budget_ns = settings->time_budget_ns,
        .memory_rounds = (unsigned)settings->memory_rounds,
        .idle_ms = (settings->idle_ns + 999999) / 1000000,
        .seed = settings->has_seed ? settings->seed : cli_draw_seed(),
        .touch = settings->touch,
        .timeout_ns = settings->timeout_ns,
        .limit_bytes = settings->limit_bytes,
        .check = settings->check,
        .replay_options = settings->measure.options,
        .latency_passes = settings->latency ? RES_LATENCY_PASSES : 0,
        .system_calls = !settings->no_syscalls,
        .placement = !settings->no_placement,
        .stop = &cli_stopped_by,
        .progress = on_progress,
        .context = &ab->progress,
    };
    /* The reader of our output may go while we have a directory to remove. Not before: CMD would inherit it. */
    signal(SIGPIPE, SIG_IGN);
    res_disturbances_begin(&disturbances, "");
    const size_t told = warn_of(ab, &disturbances, 0);
    cli_progress_begin(&ab->progress, settings->progress);
    res_experiment_run(&options, &experiment);
    cli_progress_end(&ab->progress);
    res_disturbances_end(&disturbances);
    (void)warn_of(ab, &disturbances, told);
    const bool failed = any_failed(&experiment);
    int code = CLI_DONE;
    if (experiment.stopped && experiment.trials[0].rounds == 0) {
        cli_say(&CLI_AB, "stopped before the first round was finished: there is no result");
        code = CLI_FAILED;
    } else {
        json_t *result = res_json_experiment(&experiment, ab->choice.missing, ab->choice.missing_count);
        json_object_set(result, "disturbances", disturbances.list);
        if (!experiment.stopped)
            res_profile_add(result, &experiment);
        const int whole = cli_whole_measure(&CLI_AB, &settings->whole, &experiment, ab->directory,
                                            settings->progress, result);
        code = give_out(ab, result);
        if (code == CLI_DONE)
            code = cli_whole_export(&CLI_AB, &settings->whole, settings->force, result);
        if (code == CLI_DONE)
            code = whole;
        json_decref(result);
    }
    res_disturbances_release(&disturbances);
    res_experiment_release(&experiment);
    return code == CLI_DONE && failed ? CLI_FAILED : code;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static int check_output(const struct cli_ab_options *settings)
{
    char *problem = NULL;
    if (settings->output == NULL || cli_keep_check(settings->output, settings->force, &problem))
        return CLI_DONE;
    cli_say(&CLI_AB, "%s", problem);
    free(problem);
    return CLI_FAILED;
}

static void ab_release(struct ab *ab)
{
    for (size_t i = 0; i < ab->workload_count; i++)
        free(ab->paths[i]);
    free(ab->paths);
    free(ab->workloads);
    cli_choice_release(&ab->choice);
}

static int run_ab(int argc, char **argv)
{
    struct ab ab = {0};
    int code = cli_ab_take_options(argc, argv, &ab.settings);
    if (code >= 0)
        return code;
    if (ab.settings.help) {
        fputs(cli_ab_help, stdout);
        return CLI_DONE;
    }
    code = check_output(&ab.settings);
    if (code == CLI_DONE)
        code = cli_whole_check(&CLI_AB, &ab.settings.whole, ab.settings.force);
    if (code == CLI_DONE)
        code = cli_choose(&CLI_AB, ab.settings.allocators, ab.settings.baseline, &ab.choice);
    if (code == CLI_DONE) {
        cli_stops_take();
        code = prepare_workloads(&ab);
    }
    if (code == CLI_DONE && cli_stopped_by != 0)
        cli_say(&CLI_AB, "interrupted before the first round: there is no result");
    else if (code == CLI_DONE)
        code = run_experiment(&ab);
    cli_whole_release(&ab.settings.whole);
    ab_release(&ab);
    cli_stops_end();
    return code;
}

const struct cli_verb CLI_AB = {
    .name = "ab",
    .summary = "compare allocators on a recorded program: the main job",
    .help = cli_ab_help,
    .run = run_ab,
};
