/* verb_validate.c - `mallab validate`: a replay's prediction beside the real program. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/interrupt.h"
#include "cli/base/progress.h"
#include "cli/base/say.h"
#include "cli/options/answer_options.h"
#include "cli/options/choice.h"
#include "cli/options/measure_options.h"
#include "cli/options/option_table.h"
#include "cli/verbs/result_files.h"
#include "cli/verbs/validate_record.h"
#include "cli/verbs/verbs.h"
#include "footprint/base/support.h"
#include "record/target.h"
#include "results/measure/experiment/profile.h"
#include "results/measure/experiment/result_making.h"
#include "results/measure/validate/validation_result.h"
#include "results/report/table/validation_table.h"

#define DEFAULT_ROUNDS     10
#define DEFAULT_RECORDINGS 3 /* the fewest whose median is none of the extremes */
#define DEFAULT_STEP_NS    UINT64_C(2000000)
#define LEAST_STEP_NS      UINT64_C(100000) /* below, the sampler would only keep the program from running */

/* ---- command line --------------------------------------------------------------------------- */

#define AT(member) offsetof(struct cli_validate_settings, member)

/* clang-format off */
static const struct cli_option OPTIONS[] = {
    {.heading = "what is compared"},
    {.group = cli_measure_allocators, .at = AT(measure),
     .help = "names of 'mallab allocators' or paths of libraries, separated by commas "
             "[glibc,jemalloc,tcmalloc,mimalloc, those that are here]"},
    {.group = cli_measure_baseline, .at = AT(measure)},
    {.name = "process", .argument = "NAME", .how = CLI_TEXT, .at = AT(process),
     .help = "which program of COMMAND's tree [the one with most calls]"},

    {.heading = "how"},
    {.group = cli_measure_rounds, .at = AT(measure),
     .help = "timed runs of each candidate, and replays, 1-1000; a verdict on time takes 8; memory is "
             "sampled in the first 5 [10]"},
    {.name = "recordings", .argument = "N", .how = CLI_COUNT, .at = AT(recordings), .least = 1,
     .most = RES_RECORDINGS_MAX,
     .help = "number of recordings of COMMAND, 1-20: runs differ, and the median of memory is predicted [3]"},
    {.name = "step", .argument = "T", .how = CLI_DURATION, .at = AT(step_ns), .least = LEAST_STEP_NS,
     .takes = "a time of 100us at least, such as 2ms or 500us",
     .help = "time between samples of memory: 2ms, 500us [2ms]"},
    {.group = cli_measure_seed, .at = AT(measure)},
    {.group = cli_measure_touch, .at = AT(measure),
     .help = "what the replay writes into new memory: none, page (a byte per page) or full [page]"},
    {.group = cli_measure_timeout, .at = AT(measure),
     .help = "give up a real run or a replay after T: 90s, 5m [replays: 20 times their warm-up; real runs: "
             "never]"},

    {.heading = "what comes out"},
    {.group = cli_answer_result, .at = AT(answer)},
    {.group = cli_answer_keep, .at = AT(answer),
     .help = "keep recordings and workloads in DIR, further ones in DIR/recording-2 and so on [removed]"},
    {.group = cli_answer_progress, .at = AT(answer)},
    {.group = cli_answer_quiet, .at = AT(answer), .help = "no progress and no summaries of the steps"},
    {0},
};
/* clang-format on */

static int take_options(int argc, char **argv, struct cli_validate_settings *ret_settings)
{
    struct cli_operands operands;
    *ret_settings = (struct cli_validate_settings){.answer = cli_answer_defaults(),
                                                   .measure = cli_measure_defaults(),
                                                   .step_ns = DEFAULT_STEP_NS,
                                                   .recordings = DEFAULT_RECORDINGS};
    ret_settings->measure.rounds = DEFAULT_ROUNDS;
    const int code = cli_options_take(&CLI_VALIDATE, argc, argv, ret_settings, &operands);
    if (code < 0 && operands.command == NULL)
        return cli_misuse(&CLI_VALIDATE, "no command: put it behind '--'");
    ret_settings->command = code < 0 ? operands.command : NULL;
    return code;
}

/* ---- what is replayed ----------------------------------------------------------------------- */

static int prepare(struct cli_validate *validate)
{
    const struct cli_validate_settings *settings = &validate->settings;
    const char *command = settings->command[0];
    struct rec_target target;
    rec_target_find(command, &target);
    if (target.code == 0)
        validate->program = res_strdup(target.path);
    rec_target_release(&target);
    char *phase = settings->recordings > 1
                      ? res_printf("recording 1 of %u of '%s'", (unsigned)settings->recordings, command)
                      : res_printf("recording '%s' once", command);
    cli_progress_phase(&validate->progress, settings->answer.progress, 1, validate->phases, phase);
    free(phase);
    return cli_validate_record(validate, validate->directory, false, &validate->recorded);
}

/* ---- runs ----------------------------------------------------------------------------------- */

static void on_replay(void *context, const struct res_workload *workload, const char *entry, unsigned round,
                      size_t runs_done, size_t runs_all)
{
    struct cli_validate *validate = context;
    char *words = round == 0 ? res_printf("replay, warm-up, %s", entry)
                             : res_printf("replay, round %u of %u, %s", round,
                                          (unsigned)validate->settings.measure.rounds, entry);
    cli_progress_show(&validate->progress, words, NULL, 0, runs_done, runs_all);
    free(words);
}

static void on_real(void *context, const char *what, const char *entry, unsigned round, size_t runs_done,
                    size_t runs_all)
{
    struct cli_validate *validate = context;
    char *words = round == 0 ? res_printf("real, %s, warm-up, %s", what, entry)
                             : res_printf("real, %s, round %u of %u, %s", what, round,
                                          (unsigned)validate->settings.measure.rounds, entry);
    cli_progress_show(&validate->progress, words, NULL, 0, runs_done, runs_all);
    free(words);
}

static void run_replays(struct cli_validate *validate, struct res_experiment *ret_experiment)
{
    const struct cli_validate_settings *settings = &validate->settings;
    const struct res_options options = {
        .workloads = &validate->recorded.workload,
        .workload_count = 1,
        .candidates = validate->choice.candidates,
        .candidate_count = validate->choice.candidate_count,
        .floor = validate->choice.floor,
        .rounds = (unsigned)settings->measure.rounds,
        .memory_rounds = RES_MEMORY_PASSES,
        .seed = settings->measure.seed,
        .touch = settings->measure.touch,
        .timeout_ns = settings->measure.timeout_ns,
        .stop = &cli_stopped_by,
        .progress = on_replay,
        .context = validate,
    };
    cli_progress_phase(&validate->progress, settings->answer.progress, 2, validate->phases, "replays");
    res_experiment_run(&options, ret_experiment);
    cli_progress_end(&validate->progress);
}

static void run_real(struct cli_validate *validate, const char *hyperfine, const char *apart,
                     struct res_validation *ret_validation)
{
    const struct cli_validate_settings *settings = &validate->settings;
    const struct res_validation_options options = {
        .path = validate->program,
        .arguments = settings->command,
        .process = validate->recorded.workload.program,
        .only_process = validate->recorded.workload.processes <= 1,
        .exit_code = WIFSIGNALED(validate->recorded.status) ? 128 + WTERMSIG(validate->recorded.status)
                                                            : WEXITSTATUS(validate->recorded.status),
        .directory = cli_temporary_directory(&CLI_VALIDATE),
        .hyperfine = hyperfine,
        .apart = apart,
        .candidates = validate->choice.candidates,
        .candidate_count = validate->choice.candidate_count,
        .rounds = (unsigned)settings->measure.rounds,
        .seed = settings->measure.seed,
        .timeout_ns = settings->measure.timeout_ns,
        .step_ns = settings->step_ns,
        .stop = &cli_stopped_by,
        .progress = on_real,
        .context = validate,
    };
    char *phase = res_printf("real runs of '%s', the first of each candidate as a warm-up",
                             settings->command[0]);
    cli_progress_phase(&validate->progress, settings->answer.progress, 3, validate->phases, phase);
    free(phase);
    res_validation_run(&options, ret_validation);
    cli_progress_end(&validate->progress);
}

static void record_again(struct cli_validate *validate, const struct res_experiment *experiment,
                         struct res_validation *validation)
{
    validation->further.asked = (unsigned)validate->settings.recordings;
    /* Without a real round there is nothing to hold a prediction against. */
    if (validation->stopped || validation->rounds == 0)
        validation->further.stopped = validation->stopped && validate->settings.recordings > 1;
    else
        cli_validate_again(validate, &experiment->trials[0], &validation->further);
}

static bool tell_failures(const struct res_trial *trial, const struct res_validation *validation)
{
    bool failed = false;
    for (size_t i = 0; i < validation->entry_count; i++) {
        const struct res_validation_entry *entry = &validation->entries[i];
        const char *control = entry->is_control ? " (control)" : "";
        if (trial->entries[i].failed != NULL)
            cli_say(&CLI_VALIDATE, "replay: %s%s failed: %s", entry->candidate->name, control,
                    trial->entries[i].failed);
        if (entry->failed != NULL)
            cli_say(&CLI_VALIDATE, "%s%s failed: %s", entry->candidate->name, control, entry->failed);
        failed = failed || trial->entries[i].failed != NULL || entry->failed != NULL;
    }
    return failed;
}

/* Stopped before a real round was finished: what there is is an experiment, as `ab` makes it. */
static int give_replays(const struct cli_validate *validate, const struct res_experiment *experiment)
{
    if (experiment->trials[0].rounds == 0) {
        cli_say(&CLI_VALIDATE, "stopped before the first round was finished: there is no result");
        return CLI_FAILED;
    }
    cli_say(&CLI_VALIDATE, "stopped before the first real round was finished: this is of the replays alone");
    struct res_result result;
    res_result_of_experiment(experiment, validate->choice.missing, validate->choice.missing_count, &result);
    result.stopped = true; /* also where the replays themselves were finished */
    const int code = cli_result_give(&CLI_VALIDATE, &validate->settings.answer, &result, res_table_text);
    res_result_release(&result);
    return code;
}

static int run_all(struct cli_validate *validate)
{
    char *hyperfine = res_find_in_path("hyperfine", NULL);
    char *apart = res_own_library("libmallab-apart.so");
    struct res_experiment experiment;
    struct res_validation validation = {0};
    int code = CLI_DONE;
    if (hyperfine == NULL)
        cli_say(&CLI_VALIDATE,
                "hyperfine is not installed (apt install hyperfine), timing with wait4(2) instead");
    if (apart == NULL)
        cli_say(&CLI_VALIDATE,
                "libmallab-apart.so is not beside mallab, counting what the program maps itself as heap");
    /* The reader of our output may go while we have a directory to remove. Not before: COMMAND would inherit it. */
    validate->on_pipe = signal(SIGPIPE, SIG_IGN);
    run_replays(validate, &experiment);
    if (!experiment.stopped)
        run_real(validate, hyperfine, apart, &validation);
    if (!experiment.stopped)
        record_again(validate, &experiment, &validation);
    if (experiment.stopped || (validation.stopped && validation.rounds == 0)) {
        code = give_replays(validate, &experiment);
    } else {
        const bool failed = tell_failures(&experiment.trials[0], &validation);
        struct res_result result;
        res_result_of_experiment(&experiment, validate->choice.missing, validate->choice.missing_count,
                                 &result);
        res_validation_fill(&validation, &experiment.trials[0], validate->settings.measure.seed, &result);
        if (!experiment.stopped)
            res_profile_add(&result, &experiment);
        code = cli_result_give(&CLI_VALIDATE, &validate->settings.answer, &result, res_validation_text);
        res_result_release(&result);
        code = code == CLI_DONE && failed ? CLI_FAILED : code;
    }
    res_validation_release(&validation);
    res_experiment_release(&experiment);
    free(hyperfine);
    free(apart);
    return code;
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* COMMAND runs many times and must find the same each time: for the recorded run too, there is nothing to read. */
static int close_input(void)
{
    const int null = open("/dev/null", O_RDONLY);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0) {
        cli_say(&CLI_VALIDATE, "cannot open '/dev/null': %s", strerror(errno));
        return CLI_FAILED;
    }
    if (null > STDIN_FILENO)
        close(null);
    return CLI_DONE;
}

static int run_validate(int argc, char **argv)
{
    struct cli_validate validate = {0};
    int code = take_options(argc, argv, &validate.settings);
    if (code >= 0)
        return code;
    validate.phases = validate.settings.recordings > 1 ? 4 : 3;
    code = cli_result_check(&CLI_VALIDATE, &validate.settings.answer);
    if (code == CLI_DONE)
        code = cli_choose(&CLI_VALIDATE, validate.settings.measure.allocators,
                          validate.settings.measure.baseline, &validate.choice);
    if (code == CLI_DONE)
        code = cli_work_directory(&CLI_VALIDATE, validate.settings.answer.keep, &validate.directory);
    if (code == CLI_DONE)
        code = close_input();
    if (code == CLI_DONE) {
        cli_stops_take();
        code = prepare(&validate);
    }
    if (code == CLI_DONE && cli_stopped_by != 0)
        cli_say(&CLI_VALIDATE, "interrupted before the first round: there is no result");
    else if (code == CLI_DONE)
        code = run_all(&validate);
    cli_choice_release(&validate.choice);
    free(validate.program);
    free(validate.recorded.path);
    cli_stops_end();
    return code;
}

const struct cli_verb CLI_VALIDATE = {
    .name = "validate",
    .summary = "hold a replay's prediction against the real program",
    .usage = "[OPTION...] [--] COMMAND [ARG...]",
    .purpose =
        "Run COMMAND for real under each allocator, replay what it asks of malloc, and print the replay's "
        "prediction beside reality: resident memory (peak, mean, end; in total, and the heap's part) and "
        "the difference in processor time. COMMAND runs about 3 + 2 times ROUNDS times for each allocator "
        "and "
        "is recorded three times, without input, its output thrown away (stderr of recorded runs is "
        "shown); it must do the same each time.",
    .options = OPTIONS,
    .command_at = CLI_COMMAND_IS_OPERANDS,
    .notes =
        "A server needs a script that starts it, gives it work, stops it and waits; name the server with "
        "--process. Time is hyperfine's where that is installed. Ctrl-C ends the runs; the rounds finished "
        "before are printed and kept, those of the replays alone where no real one was finished. Further "
        "recordings come last: what was replayed of them before counts.",
    .examples = "mallab validate -o fidelity.json -- sqlite3 :memory: 'SELECT 1'",
    .exit_codes =
        "0 done, whatever the errors are, 1 failed, also when one candidate did, 2 misuse; after "
        "Ctrl-C what is finished is printed and kept, then the signal ends mallab (130 in a shell), "
        "SIGTERM and SIGHUP likewise",
    .run = run_validate,
};
