/* validate_record.c - one recording for `mallab validate`, as a workload. */
#include "cli/verbs/validate_record.h"

#include <stdlib.h>

#include "cli/base/cli.h"
#include "cli/base/stops.h"
#include "cli/verbs/record_step.h"
#include "cli/verbs/workloads.h"
#include "record/process_name.h"
#include "record/relay.h"
#include "results/measure/base/support.h"

/* A program that is linked against another allocator, and asks malloc_usable_size, asks malloc for other sizes by its
 * answers: so it is recorded on the baseline, as it is run for real. */
static int record(const struct cli_validate_settings *settings, const char *baseline,
                  const struct cli_record_step *step, int *ret_status, char **ret_recording)
{
    const char *before = getenv("LD_PRELOAD");
    char *const kept = before != NULL ? res_strdup(before) : NULL;
    /* Where it cannot be set the program is recorded as it is. */
    (void)setenv("LD_PRELOAD", baseline, 1);
    const int code = cli_record_step(&CLI_VALIDATE, settings->command, step, ret_status, ret_recording);
    /* The first time a signal is for the command alone: Ctrl-C is how a server may end. Then its recording is used. */
    if (step->again && cli_stopped_by == 0)
        cli_stopped_by = cli_relay_asked_to_end();
    (void)(kept != NULL ? setenv("LD_PRELOAD", kept, 1) : unsetenv("LD_PRELOAD"));
    free(kept);
    return code;
}

int cli_validate_record(const struct cli_validate_settings *settings, const struct cli_choice *choice,
                        const char *directory, bool again, struct cli_validate_recorded *ret)
{
    struct conv_options convert = {0};
    const struct cli_prepare prepare = {
        .directory = directory,
        .convert = &convert,
        .force = settings->answer.force,
        .quiet = settings->answer.quiet || settings->answer.keep == NULL,
        .progress = settings->answer.progress,
    };
    const struct cli_record_step step = {
        .directory = directory, .quiet = settings->answer.quiet, .again = again};
    char *recording = NULL, *file = NULL;
    uint32_t process_id;
    *ret = (struct cli_validate_recorded){0};
    int code = record(settings, choice->candidates[0]->path, &step, &ret->status, &recording);
    if (code == CLI_DONE && cli_stopped_by == 0 && settings->process != NULL)
        code = cli_process_named(&CLI_VALIDATE, recording, settings->process, &process_id, &file);
    /* Its footprint: by its id the programs that it was before would be chosen among, too. */
    convert.process_file = file;
    if (code == CLI_DONE && cli_stopped_by == 0)
        code = cli_workload_prepare(&CLI_VALIDATE, &prepare, recording, 0, &ret->path);
    if (code == CLI_DONE && cli_stopped_by == 0)
        code = cli_workload_facts(&CLI_VALIDATE, ret->path, settings->command[0], &ret->workload);
    free(recording);
    free(file);
    return code;
}
