/* experiment_step.c - see experiment_step.h. */
#include "cli/verbs/experiment_step.h"

#include <signal.h>

#include "cli/base/say.h"
#include "results/measure/machine/disturbances.h"

static bool any_failed(const struct cli_verb *verb, const struct res_experiment *experiment)
{
    bool failed = false;
    for (size_t i = 0; i < experiment->trial_count; i++) {
        const struct res_trial *trial = &experiment->trials[i];
        for (size_t k = 0; k < trial->entry_count; k++) {
            const struct res_entry *entry = &trial->entries[k];
            if (entry->failed == NULL)
                continue;
            failed = true;
            cli_say(verb, "%s: %s%s failed: %s", trial->workload->name, entry->candidate->name,
                    entry->is_control ? " (control)" : "", entry->failed);
        }
    }
    return failed;
}

/* Once for each candidate, of the first workload in which it said something. The control and the floor have nothing to add. */
static void tell_said(const struct cli_verb *verb, const struct res_experiment *experiment)
{
    for (size_t k = 0; k < experiment->options.candidate_count; k++) {
        bool told = false;
        for (size_t i = 0; i < experiment->trial_count && !told; i++) {
            const struct res_entry *entry = &experiment->trials[i].entries[k];
            told = entry->said != NULL;
            if (told)
                cli_say(verb, "%s says: %s", entry->candidate->name, entry->said);
        }
    }
}

int cli_experiment_step(const struct cli_verb *verb, const struct res_options *options,
                        const struct cli_choice *choice, struct cli_progress *progress,
                        enum cli_progress_when when, bool quiet, struct res_experiment *ret_experiment,
                        struct res_result *ret_result, bool *ret_failed)
{
    struct res_disturbances disturbances;
    int code = CLI_DONE;
    /* The reader of our output may go while we have a directory to remove. Not before: a COMMAND would inherit it. */
    (void)signal(SIGPIPE, SIG_IGN);
    res_disturbances_begin(&disturbances, "");
    cli_progress_begin(progress, when);
    res_experiment_run(options, ret_experiment);
    cli_progress_end(progress);
    res_disturbances_end(&disturbances);
    if (!quiet)
        tell_said(verb, ret_experiment);
    *ret_failed = any_failed(verb, ret_experiment);
    if (ret_experiment->stopped && ret_experiment->trials[0].rounds == 0) {
        cli_say(verb, "stopped before the first round was finished: there is no result");
        code = CLI_FAILED;
    } else {
        res_result_of_experiment(ret_experiment, choice->missing, choice->missing_count, ret_result);
        res_disturbances_give(&disturbances, ret_result);
    }
    res_disturbances_release(&disturbances);
    return code;
}
