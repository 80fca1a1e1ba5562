/* sites_without.c - two workloads, an experiment of both in turn. */
#include "cli/verbs/sites_without.h"

#include <stdlib.h>

#include "cli/base/interrupt.h"
#include "cli/base/output.h"
#include "cli/base/progress.h"
#include "cli/base/say.h"
#include "cli/base/workload_facts.h"
#include "cli/options/choice.h"
#include "cli/verbs/convert_each.h"
#include "cli/verbs/convert_report.h"
#include "cli/verbs/result_files.h"
#include "cli/verbs/site_costs.h"
#include "results/measure/experiment/result_making.h"
#include "results/measure/experiment/until.h"
#include "results/measure/figures/removal.h"
#include "results/measure/result/result.h"
#include "results/report/table/removal_screen.h"

/* Where nobody says: so many rounds, or, once there are 8, as many as fit in a minute. */
#define ROUNDS    16u
#define BUDGET_NS UINT64_C(60000000000)

enum { WITH, WITHOUT, BOTH };

struct measuring {
    const struct cli_verb *verb;
    const struct cli_sites *reading;
    struct cli_choice choice;
    char *paths[BOTH];
    struct res_workload workloads[BOTH];
    struct cli_progress progress;
};

/* ---- workloads ------------------------------------------------------------------------------- */

static int make_workload(struct measuring *measuring, const char *directory, unsigned which,
                         const struct conv_without *without)
{
    struct conv_options options = measuring->reading->convert;
    options.select.without = without;
    options.overwrite = true;
    measuring->paths[which] = res_printf("%s/%s.wl", directory, without != NULL ? "without" : "with");
    int code = cli_convert_file(measuring->verb, measuring->reading->path, measuring->paths[which], &options,
                                true, measuring->reading->answer.progress, NULL);
    if (code == CLI_DONE)
        code = cli_workload_facts(measuring->verb, measuring->paths[which], measuring->reading->path,
                                  &measuring->workloads[which]);
    measuring->workloads[which].name = without != NULL ? "without" : "with";
    return code;
}

static int make_workloads(struct measuring *measuring, const struct conv_without *without)
{
    const char *directory;
    int code = cli_work_directory(measuring->verb, NULL, &directory);
    if (code == CLI_DONE)
        code = make_workload(measuring, directory, WITH, NULL);
    return code == CLI_DONE ? make_workload(measuring, directory, WITHOUT, without) : code;
}

/* ---- the experiment ------------------------------------------------------------------------------ */

static void on_progress(void *context, const struct res_workload *workload, const char *entry, unsigned round,
                        size_t runs_done, size_t runs_all)
{
    struct measuring *measuring = context;
    char *words = res_printf("replaying %s them, %s", workload->name, entry);
    (void)round;
    cli_progress_show(&measuring->progress, words, NULL, 0, runs_done, runs_all);
    free(words);
}

static bool tell_failed(const struct measuring *measuring, const struct res_experiment *experiment)
{
    bool failed = false;
    for (size_t i = 0; i < experiment->trial_count; i++)
        for (size_t k = 0; k < experiment->trials[i].entry_count; k++) {
            const struct res_entry *entry = &experiment->trials[i].entries[k];
            if (entry->failed == NULL)
                continue;
            failed = true;
            cli_say(measuring->verb, "%s them: %s failed: %s", experiment->trials[i].workload->name,
                    entry->candidate->name, entry->failed);
        }
    return failed;
}

static struct res_options options_of(struct measuring *measuring, const struct cli_measure *measure,
                                     uint64_t budget_ns)
{
    const unsigned rounds = measure->rounds > 0 ? (unsigned)measure->rounds
                            : budget_ns > 0     ? RES_UNTIL_ROUNDS_MAX
                                                : ROUNDS;
    return (struct res_options){
        .workloads = measuring->workloads,
        .workload_count = BOTH,
        .in_turn = true,
        .candidates = measuring->choice.candidates,
        .candidate_count = measuring->choice.candidate_count,
        .floor = measuring->choice.floor,
        .rounds = rounds,
        .rounds_least = budget_ns > 0 ? 1 : 0, /* what is asked for holds */
        .time_budget_ns = budget_ns > 0 || measure->rounds > 0 ? budget_ns : BUDGET_NS,
        .memory_rounds = RES_MEMORY_PASSES,
        .seed = measure->seed,
        .stop = &cli_stopped_by,
        .progress = on_progress,
        .context = measuring,
    };
}

static char *shown(const struct cli_answer *answer, const struct res_result *result)
{
    const struct res_style style = {.utf8 = cli_locale_is_utf8()};
    struct res_text text = {0};
    if (answer->format == CLI_FORMAT_JSON)
        return cli_json_document(res_result_write(result));
    if (answer->format == CLI_FORMAT_CSV)
        res_removal_csv(&text, result);
    else
        res_removal_screen(&text, result, &style);
    return text.text;
}

static int measure_both(struct measuring *measuring, const struct res_options *options,
                        const struct cli_without *without)
{
    const struct cli_answer *answer = &measuring->reading->answer;
    struct res_experiment experiment;
    int code = CLI_DONE;
    cli_progress_begin(&measuring->progress, answer->progress);
    res_experiment_run(options, &experiment);
    cli_progress_end(&measuring->progress);
    const bool failed = tell_failed(measuring, &experiment);
    if (experiment.stopped) {
        cli_say(measuring->verb, "stopped before all replays were made: there is no result");
        code = CLI_FAILED;
    } else {
        struct res_result result;
        res_result_of_experiment(&experiment, measuring->choice.missing, measuring->choice.missing_count,
                                 &result);
        res_removal_fill(experiment.trials, without->all, &result);
        cli_progress_begin(&measuring->progress, answer->progress);
        cli_site_held(measuring->verb, &experiment, measuring->reading, without, result.removal);
        cli_progress_end(&measuring->progress);
        char *text = shown(answer, &result);
        code = cli_answer_write(measuring->verb, answer, text);
        free(text);
        res_result_release(&result);
    }
    res_experiment_release(&experiment);
    return code == CLI_DONE && failed ? CLI_FAILED : code;
}

int cli_sites_without(const struct cli_verb *verb, const struct cli_sites *reading,
                      const struct cli_measure *measure, uint64_t budget_ns, struct cli_without *without)
{
    struct measuring measuring = {.verb = verb, .reading = reading};
    if (cli_is_group(reading->path, &reading->convert))
        return cli_misuse(verb, "--without takes one process: choose it with --process PID");
    int code = cli_without_find(verb, reading, reading->answer.quiet, without);
    if (code == CLI_DONE)
        code = cli_choose(verb, measure->allocators, measure->baseline, &measuring.choice);
    if (code == CLI_DONE) {
        cli_stops_take();
        code = make_workloads(&measuring, &without->without);
    }
    if (code == CLI_DONE) {
        const struct res_options options = options_of(&measuring, measure, budget_ns);
        code = measure_both(&measuring, &options, without);
    }
    cli_choice_release(&measuring.choice);
    for (unsigned i = 0; i < BOTH; i++)
        free(measuring.paths[i]);
    cli_stops_end();
    return code;
}
