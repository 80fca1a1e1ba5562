/* verb_validate.c - `mallab validate`: what `ab` predicts beside what `confirm` sees. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/interrupt.h"
#include "cli/base/progress.h"
#include "cli/base/say.h"
#include "cli/options/answer_options.h"
#include "cli/options/choice.h"
#include "cli/options/measure_options.h"
#include "cli/options/option_table.h"
#include "cli/verbs/confirm_step.h"
#include "cli/verbs/record_step.h"
#include "cli/verbs/result_files.h"
#include "cli/verbs/verbs.h"
#include "cli/verbs/workloads.h"
#include "footprint/base/clock.h"
#include "footprint/base/process.h"
#include "footprint/base/support.h"
#include "results/measure/base/figure_words.h"
#include "results/measure/base/shell_line.h"
#include "results/measure/experiment/profile.h"
#include "results/measure/experiment/result_making.h"
#include "results/measure/figures/verdict.h"
#include "results/measure/validate/validation_result.h"
#include "results/report/table/validation_table.h"

#define DEFAULT_ROUNDS  10
#define DEFAULT_STEP_NS UINT64_C(2000000)
#define LEAST_STEP_NS   UINT64_C(100000) /* below, the sampler would only keep the program from running */
#define RUNS_EACH       6u               /* of a candidate, beside its pairs */
#define PHASES          3u               /* recording, replays, real runs */

struct settings {
    struct cli_answer answer;
    struct cli_measure measure;
    const char *process;
    uint64_t step_ns, budget_ns; /* budget_ns 0: none */
    char **command;
};

/* ---- command line --------------------------------------------------------------------------- */

#define AT(member) offsetof(struct settings, member)

/* clang-format off */
static const struct cli_option OPTIONS[] = {
    {.heading = "what is compared"},
    {.group = cli_measure_allocators, .at = AT(measure),
     .help = "names of 'mallab allocators' or paths of libraries, separated by commas "
             "[glibc,jemalloc,tcmalloc,mimalloc, those that are here]"},
    {.group = cli_measure_baseline, .at = AT(measure)},
    {.name = "process", .argument = "NAME", .how = CLI_TEXT, .at = AT(process),
     .help = "which program of COMMAND's tree: the group of all that have the name [as of 'ab']"},

    {.heading = "how"},
    {.group = cli_measure_rounds, .at = AT(measure),
     .help = "pairs of timed runs of each candidate, and replays, 1-1000; a verdict on time takes 8; memory is "
             "looked at 3 times [10]"},
    {.name = "time-budget", .argument = "T", .how = CLI_DURATION, .at = AT(budget_ns),
     .help = "what replays may take by half, real runs by the rest, however few that are: 90s, 5m [any time]"},
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
    {.group = cli_answer_keep, .at = AT(answer)},
    {.group = cli_answer_progress, .at = AT(answer)},
    {.group = cli_answer_quiet, .at = AT(answer), .help = "no progress and no summaries of the steps"},
    {0},
};
/* clang-format on */

static int take_options(int argc, char **argv, struct settings *ret_settings)
{
    struct cli_operands operands;
    *ret_settings = (struct settings){
        .answer = cli_answer_defaults(), .measure = cli_measure_defaults(), .step_ns = DEFAULT_STEP_NS};
    ret_settings->measure.rounds = DEFAULT_ROUNDS;
    const int code = cli_options_take(&CLI_VALIDATE, argc, argv, ret_settings, &operands);
    if (code < 0 && operands.command == NULL)
        return cli_misuse(&CLI_VALIDATE, "no command: put it behind '--'");
    ret_settings->command = code < 0 ? operands.command : NULL;
    return code;
}

struct validate {
    struct settings settings;
    struct cli_choice choice;
    int status;          /* of the recorded command, as from waitpid */
    uint64_t command_ns; /* what it took */
    uint64_t begin_ns;   /* of the replays */
    struct cli_prepared prepared;
    struct res_workload workload; /* borrows from prepared */
    struct cli_progress progress;
};

/* ---- what is replayed ----------------------------------------------------------------------- */

/* A program that is linked against another allocator, and asks malloc_usable_size, asks malloc for other sizes by its
 * answers: so it is recorded on the baseline, as it is run for real. */
static int record(struct validate *validate, const char *directory, char **ret_recording)
{
    const struct cli_record_step step = {.directory = directory, .quiet = validate->settings.answer.quiet};
    const char *before = getenv("LD_PRELOAD");
    char *const kept = res_strdup(before);
    /* Where it cannot be set the program is recorded as it is. */
    (void)setenv("LD_PRELOAD", validate->choice.candidates[0]->path, 1);
    const uint64_t begin_ns = fp_now_ns();
    const int code = cli_record_step(&CLI_VALIDATE, validate->settings.command, &step, &validate->status,
                                     ret_recording);
    validate->command_ns = fp_now_ns() - begin_ns;
    (void)(kept != NULL ? setenv("LD_PRELOAD", kept, 1) : unsetenv("LD_PRELOAD"));
    free(kept);
    return code;
}

/* What is ahead. A recorded run takes longer than others. */
static void tell_estimate(const struct validate *validate)
{
    const uint64_t rounds = validate->settings.measure.rounds,
                   runs = (RUNS_EACH + 2 * rounds) * validate->choice.candidate_count;
    const uint64_t budget_ns = validate->settings.budget_ns;
    if (!validate->settings.answer.quiet)
        cli_say(&CLI_VALIDATE, "%llu round%s of replays, then %llu runs of '%s', up to %s%s%s",
                (unsigned long long)rounds, rounds == 1 ? "" : "s", (unsigned long long)runs,
                validate->settings.command[0], RES_DURATION((double)runs * (double)validate->command_ns),
                budget_ns > 0 ? "; fewer where --time-budget ends them before, " : "",
                budget_ns > 0 ? RES_DURATION((double)budget_ns) : "");
}

static int prepare(struct validate *validate)
{
    const struct settings *settings = &validate->settings;
    const struct conv_options convert = {.process_file = settings->process};
    struct cli_prepare prepare = {
        .convert = &convert,
        .force = settings->answer.force,
        .quiet = settings->answer.quiet || settings->answer.keep == NULL,
        .progress = settings->answer.progress,
    };
    char *recording = NULL, *phase = res_printf("recording '%s' once", settings->command[0]);
    cli_progress_phase(&validate->progress, settings->answer.progress, 1, PHASES, phase);
    free(phase);
    int code = cli_work_directory(&CLI_VALIDATE, settings->answer.keep, &prepare.directory);
    if (code == CLI_DONE)
        code = record(validate, prepare.directory, &recording);
    if (code == CLI_DONE && cli_stopped_by == 0)
        code = cli_workload_prepare(&CLI_VALIDATE, &prepare, recording, 0, &validate->prepared);
    if (code == CLI_DONE && cli_stopped_by == 0)
        code = cli_prepared_facts(&CLI_VALIDATE, &validate->prepared, settings->command[0],
                                  &validate->workload);
    if (code == CLI_DONE && cli_stopped_by == 0)
        tell_estimate(validate);
    free(recording);
    return code;
}

/* ---- replays -------------------------------------------------------------------------------- */

static void on_replay(void *context, const struct res_workload *workload, const char *entry, unsigned round,
                      size_t runs_done, size_t runs_all)
{
    struct validate *validate = context;
    (void)workload;
    char *words = round == 0                ? res_printf("replay, warm-up, %s", entry)
                  : round == RES_ROUND_PASS ? res_printf("replay, behind the rounds, %s", entry)
                                            : res_printf("replay, round %u of %u, %s", round,
                                                         (unsigned)validate->settings.measure.rounds, entry);
    cli_progress_show(&validate->progress, words, NULL, 0, runs_done, runs_all);
    free(words);
}

static void run_replays(struct validate *validate, struct res_experiment *ret_experiment)
{
    const struct settings *settings = &validate->settings;
    const struct res_options options = {
        .workloads = &validate->workload,
        .workload_count = 1,
        .candidates = validate->choice.candidates,
        .candidate_count = validate->choice.candidate_count,
        .floor = validate->choice.floor,
        .rounds = (unsigned)settings->measure.rounds,
        .rounds_least = 1,
        .time_budget_ns = settings->budget_ns / 2,
        .memory_rounds = RES_MEMORY_PASSES,
        .starts = RES_STARTS,
        .seed = settings->measure.seed,
        .touch = settings->measure.touch,
        .timeout_ns = settings->measure.timeout_ns,
        .stop = &cli_stopped_by,
        .progress = on_replay,
        .context = validate,
    };
    cli_progress_phase(&validate->progress, settings->answer.progress, 2, PHASES, "replays");
    res_experiment_run(&options, ret_experiment);
    cli_progress_end(&validate->progress);
}

static bool tell_failures(const struct res_trial *trial)
{
    bool failed = false;
    for (size_t i = 0; i < trial->entry_count; i++) {
        const struct res_entry *entry = &trial->entries[i];
        if (entry->failed == NULL)
            continue;
        failed = true;
        cli_say(&CLI_VALIDATE, "replay: %s%s failed: %s", entry->candidate->name,
                entry->is_control ? " (control)" : "", entry->failed);
    }
    return failed;
}

/* ---- real runs ------------------------------------------------------------------------------ */

/* What is real, into the result of the replays. Where it was stopped before a pair of runs was whole nothing of it counts. */
static int run_real(struct validate *validate, const struct res_trial *trial, struct res_result *result)
{
    const struct settings *settings = &validate->settings;
    const struct res_workload *workload = &validate->workload;
    const uint64_t spent_ns = fp_now_ns() - validate->begin_ns;
    const struct cli_confirm_step step = {
        .runs = {.candidates = validate->choice.candidates,
                 .candidate_count = validate->choice.candidate_count,
                 .pairs = settings->measure.rounds,
                 .budget_ns = settings->budget_ns == 0         ? 0
                              : settings->budget_ns > spent_ns ? settings->budget_ns - spent_ns
                                                               : 1,
                 .seed = settings->measure.seed},
        .timeout_ns = settings->measure.timeout_ns,
        .quiet = settings->answer.quiet,
        .progress = settings->answer.progress,
    };
    char *apart = res_own_library("libmallab-apart.so");
    struct cli_confirm_ready ready;
    struct res_reality reality;
    struct res_result real = {.confirmed_count = 0};
    int code = CLI_FAILED;
    if (apart == NULL)
        cli_say(&CLI_VALIDATE,
                "libmallab-apart.so is not beside mallab, counting what the program maps itself as heap");
    if (cli_confirm_ready(&CLI_VALIDATE, &step, settings->command, fp_status_code(validate->status),
                          &ready)) {
        const struct res_reality_options options = {
            .command = &ready.runs,
            .process = workload->program,
            .is_group = workload->member_count > 0,
            .is_part = workload->processes > (workload->member_count > 0 ? workload->member_count : 1),
            .apart = apart,
            .step_ns = settings->step_ns,
            .candidates = step.runs.candidates,
            .candidate_count = step.runs.candidate_count,
        };
        char *phase = res_printf("real runs of '%s'", settings->command[0]);
        cli_progress_phase(&validate->progress, settings->answer.progress, 3, PHASES, phase);
        free(phase);
        res_reality_begin(&options, &reality);
        code = cli_confirm_run(&CLI_VALIDATE, &step, &ready, res_reality_runner(&reality), &real);
        if (real.confirmation->stopped && real.confirmed[real.confirmed_count - 1].runs == 0) {
            cli_say(&CLI_VALIDATE,
                    "stopped before the first real round was finished: this is of the replays alone");
            result->stopped = true; /* also where the replays themselves were finished */
        } else {
            result->confirmation = real.confirmation;
            result->confirmed = real.confirmed;
            result->confirmed_count = real.confirmed_count;
            real = (struct res_result){.confirmed_count = 0};
            res_validation_fill(&reality, trial, settings->measure.seed, result);
        }
        res_reality_release(&reality);
    }
    cli_confirm_ready_release(&ready);
    res_result_release(&real);
    free(apart);
    return code;
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* Of the replays alone it is an experiment, as `ab` makes it. */
static char *show(const struct res_result *result, const struct res_style *style)
{
    return result->validation != NULL ? res_validation_text(result, style) : res_table_text(result, style);
}

static int run_all(struct validate *validate)
{
    struct res_experiment experiment;
    int code = CLI_DONE, given = CLI_FAILED;
    /* The reader of our output may go while we have a directory to remove. Not before: COMMAND would inherit it. */
    (void)signal(SIGPIPE, SIG_IGN);
    validate->begin_ns = fp_now_ns();
    run_replays(validate, &experiment);
    const struct res_trial *trial = &experiment.trials[0];
    if (experiment.stopped && trial->rounds == 0) {
        cli_say(&CLI_VALIDATE, "stopped before the first round was finished: there is no result");
    } else {
        char *command = res_shell_command(validate->settings.command);
        struct res_result result;
        res_result_of_experiment(&experiment, validate->choice.missing, validate->choice.missing_count,
                                 &result);
        result.asked = (struct res_asked){.command = command};
        res_verdicts_fill(&result); /* the advice that is judged */
        if (experiment.stopped) {
            cli_say(&CLI_VALIDATE,
                    "stopped before the first real round was finished: this is of the replays alone");
        } else {
            res_profile_add(&result, &experiment);
            code = run_real(validate, trial, &result);
        }
        code = tell_failures(trial) ? CLI_FAILED : code;
        given = cli_result_give(&CLI_VALIDATE, &validate->settings.answer, &result, show);
        res_result_release(&result);
        free(command);
    }
    res_experiment_release(&experiment);
    return given != CLI_DONE ? given : code;
}

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
    struct validate validate = {0};
    int code = take_options(argc, argv, &validate.settings);
    if (code >= 0)
        return code;
    code = cli_result_check(&CLI_VALIDATE, &validate.settings.answer);
    if (code == CLI_DONE)
        code = cli_choose(&CLI_VALIDATE, validate.settings.measure.allocators,
                          validate.settings.measure.baseline, &validate.choice);
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
    cli_prepared_release(&validate.prepared);
    cli_choice_release(&validate.choice);
    cli_stops_end();
    return code;
}

const struct cli_verb CLI_VALIDATE = {
    .name = "validate",
    .summary = "hold a replay's prediction against the real program",
    .usage = "[OPTION...] [--] COMMAND [ARG...]",
    .purpose =
        "Record COMMAND and replay what it asks of malloc, as 'mallab ab' does, run it for real under each "
        "allocator, as 'mallab confirm' does, and print the prediction beside reality: peak memory, in total "
        "and the heap's part, processor time, and what became of the advice. COMMAND runs 6 + 2 times ROUNDS "
        "times for each allocator and is recorded once, without input, its output thrown away (stderr of the "
        "recorded run is shown); it must do the same each time.",
    .options = OPTIONS,
    .command_at = CLI_COMMAND_IS_OPERANDS,
    .notes =
        "A server needs a script that starts it, gives it work, stops it and waits; name the server with "
        "--process. Time is hyperfine's where that is installed. Ctrl-C ends the runs; the pairs finished "
        "before are printed and kept, the replays alone where no pair was finished.",
    .examples = "mallab validate -o fidelity.json -- sqlite3 :memory: 'SELECT 1'",
    .exit_codes =
        "0 done, whatever the errors are, 1 failed, also when one candidate did, 2 misuse; after "
        "Ctrl-C what is finished is printed and kept, then the signal ends mallab (130 in a shell), "
        "SIGTERM and SIGHUP likewise",
    .run = run_validate,
};
