/* hyperfine_step.c - see hyperfine_step.h. */
#include "cli/verbs/hyperfine_step.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/output.h"
#include "cli/base/say.h"
#include "footprint/base/support.h"
#include "results/measure/experiment/hyperfine_runs.h"
#include "results/measure/experiment/timed.h"

int cli_hyperfine_check(const struct cli_verb *verb, struct cli_hyperfine *hyperfine, bool force)
{
    char *problem = NULL;
    if (!hyperfine->wanted)
        return CLI_DONE;
    hyperfine->program = res_find_in_path("hyperfine", NULL);
    if (hyperfine->program == NULL) {
        cli_say(
            verb,
            "--hyperfine: hyperfine is not on the path: apt-get install hyperfine, or leave the option out");
        return CLI_FAILED;
    }
    if (hyperfine->path == NULL || cli_output_check(hyperfine->path, force, &problem))
        return CLI_DONE;
    cli_say(verb, "%s", problem);
    free(problem);
    return CLI_FAILED;
}

void cli_hyperfine_release(struct cli_hyperfine *hyperfine)
{
    free(hyperfine->program);
    hyperfine->program = NULL;
}

static void on_progress(void *context, const struct res_workload *workload, const char *entry,
                        size_t runs_done, size_t runs_all)
{
    char *words = res_printf("%s: whole processes, %s", workload->name, entry);
    cli_progress_show(context, words, NULL, 0, runs_done, runs_all);
    free(words);
}

static bool say_failed(const struct cli_verb *verb, const struct res_result_workload *workload,
                       const struct res_result_entry *entry)
{
    if (entry == NULL || entry->whole_process == NULL || entry->whole_process->failed == NULL)
        return false;
    cli_say(verb, "%s: %s as a whole process failed: %s", workload->name, entry->name,
            entry->whole_process->failed);
    return true;
}

static int say_all_failed(const struct cli_verb *verb, const struct res_result *result)
{
    bool failed = false;
    for (size_t i = 0; i < result->workload_count; i++) {
        const struct res_result_workload *workload = &result->workloads[i];
        for (size_t k = 0; k < workload->candidate_count; k++)
            failed |= say_failed(verb, workload, &workload->candidates[k]);
        failed |= say_failed(verb, workload, workload->floor);
    }
    return failed ? CLI_FAILED : CLI_DONE;
}

int cli_hyperfine_measure(const struct cli_verb *verb, const struct cli_hyperfine *hyperfine,
                          const struct res_experiment *experiment, const char *directory,
                          enum cli_progress_when when, struct res_result *result)
{
    struct cli_progress progress;
    const struct res_whole_request request = {
        .experiment = experiment,
        .hyperfine = hyperfine->program,
        .directory = directory,
        .progress = on_progress,
        .context = &progress,
    };
    if (!hyperfine->wanted || experiment->stopped)
        return CLI_DONE;
    cli_progress_begin(&progress, when);
    const bool finished = res_whole_run(&request, result);
    cli_progress_end(&progress);
    if (!finished)
        cli_say(verb, "interrupted: the rounds of hyperfine finished before are kept");
    return say_all_failed(verb, result);
}

int cli_hyperfine_export(const struct cli_verb *verb, const struct cli_hyperfine *hyperfine, bool force,
                         const struct res_result *result)
{
    if (hyperfine->path == NULL)
        return CLI_DONE;
    json_t *export = res_whole_export(result);
    if (export == NULL) {
        cli_say(verb, "no process was timed by hyperfine: '%s' is not written", hyperfine->path);
        return CLI_FAILED;
    }
    char *compact = json_dumps(export, JSON_INDENT(2));
    char *document = res_printf("%s\n", compact != NULL ? compact : "{}");
    char *problem = NULL;
    const bool written = cli_output_write(hyperfine->path, force, document, strlen(document), &problem);
    if (!written)
        cli_say(verb, "%s", problem);
    free(problem);
    free(document);
    free(compact);
    json_decref(export);
    return written ? CLI_DONE : CLI_FAILED;
}
