/* validate_record.c - recordings for `mallab validate`, as workloads: the first, and further ones. */
#include "cli/verbs/validate_record.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/base/cli.h"
#include "cli/base/interrupt.h"
#include "cli/base/say.h"
#include "cli/base/workload_facts.h"
#include "cli/verbs/record_step.h"
#include "cli/verbs/result_files.h"
#include "cli/verbs/verbs.h"
#include "cli/verbs/workloads.h"
#include "footprint/base/support.h"
#include "footprint/base/words.h"
#include "record/process_name.h"
#include "record/relay.h"

#define CALLS_ALIKE 0.01 /* of the first's: below, a run is told from another in the JSON only */

/* ---- one recording ---------------------------------------------------------------------------- */

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
        cli_stopped_by = rec_relay_asked_to_end();
    (void)(kept != NULL ? setenv("LD_PRELOAD", kept, 1) : unsetenv("LD_PRELOAD"));
    free(kept);
    return code;
}

/* ret_file: its footprint. Returns an exit code. */
static int choose_process(const char *recording, const char *name, char **ret_file)
{
    uint32_t process_id;
    char *problem = NULL;
    const enum rec_named named = rec_process_named(recording, name, &process_id, ret_file, &problem);
    if (named == REC_NAMED)
        return CLI_DONE;
    (void)cli_say_problem(&CLI_VALIDATE, problem);
    return named == REC_NAMED_NONE ? CLI_FAILED : CLI_UNREADABLE;
}

int cli_validate_record(const struct cli_validate *validate, const char *directory, bool again,
                        struct cli_validate_recorded *ret)
{
    const struct cli_validate_settings *settings = &validate->settings;
    struct conv_options convert = {0};
    const struct cli_prepare prepare = {
        .directory = directory,
        .convert = &convert,
        .force = settings->answer.force,
        .quiet = settings->answer.quiet || settings->answer.keep == NULL,
        .progress = settings->answer.progress,
        .one = true, /* one process of the real runs is held against it */
    };
    const struct cli_record_step step = {
        .directory = directory, .quiet = settings->answer.quiet, .again = again};
    struct cli_prepared prepared = {0};
    char *recording = NULL, *file = NULL;
    *ret = (struct cli_validate_recorded){0};
    int code = record(settings, validate->choice.candidates[0]->path, &step, &ret->status, &recording);
    if (code == CLI_DONE && cli_stopped_by == 0 && settings->process != NULL)
        code = choose_process(recording, settings->process, &file);
    /* Its footprint: by its id the programs that it was before would be chosen among, too. */
    convert.process_file = file;
    if (code == CLI_DONE && cli_stopped_by == 0)
        code = cli_workload_prepare(&CLI_VALIDATE, &prepare, recording, 0, &prepared);
    ret->path = prepared.path;
    if (code == CLI_DONE && cli_stopped_by == 0)
        code = cli_workload_facts(&CLI_VALIDATE, ret->path, settings->command[0], &ret->workload);
    free(recording);
    free(file);
    return code;
}

/* ---- further ones ------------------------------------------------------------------------------ */

struct further {
    struct cli_validate *validate;
    const struct res_trial *trial; /* of the first */
    struct res_recording *recording;
};

static void on_further(void *context, const char *entry, size_t runs_done, size_t runs_all)
{
    const struct further *further = context;
    char *words = res_printf("recording %u of %u, replay, %s", further->recording->number,
                             (unsigned)further->validate->settings.recordings, entry);
    cli_progress_show(&further->validate->progress, words, NULL, 0, runs_done, runs_all);
    free(words);
}

static char *end_words(int status)
{
    return WIFSIGNALED(status) ? res_printf("by signal %d", WTERMSIG(status))
                               : res_printf("with exit code %d", WEXITSTATUS(status));
}

/* Why it is no run like the first; the caller's to free. NULL: it is one. */
static char *unlike(const struct cli_validate_recorded *first, const struct cli_validate_recorded *other)
{
    char *reason = NULL;
    if (other->status != first->status) {
        char *ended = end_words(other->status), *before = end_words(first->status);
        reason = res_printf("the program ended %s, the first time %s", ended, before);
        free(ended);
        free(before);
    } else if (strcmp(other->workload.program, first->workload.program) != 0) {
        char *name = res_text_plain(other->workload.program),
             *before = res_text_plain(first->workload.program);
        reason = res_printf("the process with most calls was '%s', the first time '%s'", name, before);
        free(name);
        free(before);
    } else if (!other->workload.complete && first->workload.complete) {
        char *why = res_text_plain(other->workload.incomplete_why);
        reason = res_printf("it is not whole: %s", why);
        free(why);
    }
    return reason;
}

static void tell_calls(const struct cli_validate *validate, unsigned number, uint64_t ops)
{
    const uint64_t first = validate->recorded.workload.ops;
    const double apart = (double)ops / (double)first - 1;
    if (apart > CALLS_ALIKE || apart < -CALLS_ALIKE)
        cli_say(&CLI_VALIDATE,
                "recording %u of %u has %s calls, the first %s (%+.1f %%): the program does not do the same "
                "each time; the prediction is their median",
                number, (unsigned)validate->settings.recordings, FP_GROUPED(ops), FP_GROUPED(first),
                100 * apart);
}

static bool replay(struct further *further, const struct cli_validate_recorded *recorded)
{
    const struct cli_measure *measure = &further->validate->settings.measure;
    const struct res_recording_options options = {
        .workload = &recorded->workload,
        .trial = further->trial,
        .passes = measure->rounds < RES_MEMORY_PASSES ? (unsigned)measure->rounds : RES_MEMORY_PASSES,
        .seed = measure->seed,
        .timeout_ns = measure->timeout_ns,
        .touch = measure->touch,
        .stop = &cli_stopped_by,
        .progress = on_further,
        .context = further,
    };
    const bool whole = res_recording_replay(&options, further->recording);
    cli_progress_end(&further->validate->progress);
    for (size_t i = 0; i < further->recording->entry_count; i++)
        if (further->recording->entries[i].failed != NULL && options.trial->entries[i].failed == NULL)
            cli_say(&CLI_VALIDATE, "recording %u of %u, replay: %s failed: %s", further->recording->number,
                    (unsigned)further->validate->settings.recordings,
                    options.trial->entries[i].candidate->name, further->recording->entries[i].failed);
    return whole;
}

/* Into the recording. Returns false when it was stopped. */
static bool record_and_replay(struct further *further, const char *directory)
{
    struct cli_validate *validate = further->validate;
    struct res_recording *recording = further->recording;
    struct cli_validate_recorded recorded;
    bool whole = true;
    void (*const ours)(int) = signal(SIGPIPE, validate->on_pipe);
    const int code = cli_validate_record(validate, directory, true, &recorded);
    signal(SIGPIPE, ours);
    char *reason = NULL;
    if (cli_stopped_by != 0) {
        whole = false;
    } else if (code != CLI_DONE) {
        reason = res_strdup(recorded.path != NULL ? "it holds nothing to replay"
                                                  : "it could not be recorded and converted");
    } else {
        recording->ops = recorded.workload.ops;
        recording->duration_ns = recorded.workload.duration_ns;
        recording->live_peak_bytes = recorded.workload.live_peak_bytes;
        reason = unlike(&validate->recorded, &recorded);
    }
    if (reason != NULL)
        res_recording_leave_out(recording, reason);
    else if (whole) {
        tell_calls(validate, recording->number, recording->ops);
        whole = replay(further, &recorded);
    }
    free(recorded.path);
    return whole;
}

static bool make(struct further *further)
{
    struct cli_validate *validate = further->validate;
    const char *keep = validate->settings.answer.keep, *directory = NULL;
    const unsigned number = further->recording->number, all = (unsigned)validate->settings.recordings;
    char *phase = res_printf("recording %u of %u of '%s', and its replays", number, all,
                             validate->settings.command[0]);
    char *path = res_printf("%s/recording-%u", validate->directory, number);
    bool whole = true;
    cli_progress_phase(&validate->progress, validate->settings.answer.progress, validate->phases,
                       validate->phases, phase);
    if (cli_work_directory(&CLI_VALIDATE, path, &directory) == CLI_DONE)
        whole = record_and_replay(further, directory);
    else
        res_recording_leave_out(further->recording, res_printf("there is no directory for it"));
    if (keep == NULL)
        cli_tree_remove(path);
    if (whole && further->recording->left_out != NULL)
        cli_say(&CLI_VALIDATE, "recording %u of %u is left out: %s", number, all,
                further->recording->left_out);
    free(path);
    free(phase);
    return whole;
}

void cli_validate_again(struct cli_validate *validate, const struct res_trial *trial,
                        struct res_recordings *recordings)
{
    const unsigned all = (unsigned)validate->settings.recordings;
    for (unsigned number = 2; number <= all && !recordings->stopped; number++) {
        struct further further = {validate, trial, res_recordings_add(recordings, number)};
        recordings->stopped = cli_stopped_by != 0 || !make(&further);
        if (recordings->stopped)
            res_recordings_drop_last(recordings);
    }
    if (recordings->stopped)
        cli_say(&CLI_VALIDATE, "stopped before all recordings were made: predictions are of %zu of %u",
                res_recordings_used(recordings), all);
}
