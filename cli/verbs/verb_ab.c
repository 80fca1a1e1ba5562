/* verb_ab.c - `mallab ab`: the whole way from a command to a table. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/interrupt.h"
#include "cli/base/parse.h"
#include "cli/base/progress.h"
#include "cli/base/say.h"
#include "cli/options/choice.h"
#include "cli/options/measure_options.h"
#include "cli/options/option_table.h"
#include "cli/options/select_options.h"
#include "cli/verbs/confirm_plan.h"
#include "cli/verbs/confirm_step.h"
#include "cli/verbs/experiment_step.h"
#include "cli/verbs/record_step.h"
#include "cli/verbs/result_files.h"
#include "cli/verbs/site_costs.h"
#include "cli/verbs/site_removals.h"
#include "cli/verbs/verbs.h"
#include "cli/verbs/workloads.h"
#include "convert/sites/sites.h"
#include "footprint/base/clock.h"
#include "footprint/base/process.h"
#include "footprint/base/support.h"
#include "record/relay.h"
#include "results/measure/base/figure_words.h"
#include "results/measure/base/shell_line.h"
#include "results/measure/experiment/experiment.h"
#include "results/measure/experiment/passes.h"
#include "results/measure/experiment/profile.h"
#include "results/measure/experiment/result_making.h"
#include "results/measure/experiment/until.h"
#include "results/measure/figures/verdict.h"
#include "results/measure/statistics/statistics.h"
#include "results/report/notes/notes.h"
#include "results/report/table/table.h"

#define DEFAULT_BUDGET_NS UINT64_C(60000000000)
#define IDLE_NS           UINT64_C(60000000000)
#define OVERSPENT         1.25 /* of the default, and it is told */

struct confirm {
    bool wanted;
    uint64_t budget_ns; /* 0: not said */
};

struct settings {
    struct cli_answer answer;
    struct cli_measure measure;
    struct conv_options convert;
    struct confirm confirm;
    uint64_t memory_rounds, time_budget_ns;
    double until;  /* a share; 0: not asked */
    bool is_bound; /* the time budget was asked for, and holds whatever it costs */
    bool check, latency, no_syscalls, sites, cost;
    char **inputs;
    size_t input_count;
    char **command;            /* NULL: none */
    uint64_t pid, duration_ns; /* 0: none */
};

/* ---- command line --------------------------------------------------------------------------- */

/* "2%": above 0, up to 100. */
static bool parse_percent(const char *text, double *ret_share)
{
    char *end;
    const double percent = text[0] >= '0' && text[0] <= '9' ? strtod(text, &end) : 0;
    if (!(percent > 0) || percent > 100 || strcmp(end, "%") != 0)
        return false;
    *ret_share = percent / 100;
    return true;
}

static int take_until(const struct cli_verb *verb, const struct cli_option *row, const char *value, void *at)
{
    return parse_percent(value, at) ? -1 : cli_option_refuse(verb, row, value);
}

static int take_confirm(const struct cli_verb *verb, const struct cli_option *row, const char *value,
                        void *at)
{
    struct confirm *confirm = at;
    confirm->wanted = true;
    if (value != NULL && (!cli_parse_duration(value, &confirm->budget_ns) || confirm->budget_ns == 0))
        return cli_option_refuse(verb, row, value);
    return -1;
}

#define AT(member) offsetof(struct settings, member)

/* clang-format off */
static const struct cli_option OPTIONS[] = {
    {.heading = "what is compared"},
    {.group = cli_measure_allocators, .at = AT(measure)},
    {.group = cli_measure_baseline, .at = AT(measure)},

    {.name = "pid", .argument = "PID", .how = CLI_COUNT, .at = AT(pid), .least = 1, .most = INT32_MAX,
     .takes = "a process id",
     .help = "instead of COMMAND a program that runs already (x86-64), recorded as by 'mallab record --pid' until "
             "Ctrl-C or for --duration"},
    {.name = "duration", .argument = "T", .how = CLI_DURATION, .at = AT(duration_ns),
     .help = "record --pid for T: 60s, 5m"},

    {.heading = "how"},
    {.group = cli_measure_rounds, .at = AT(measure),
     .help = "runs of each candidate, 1-1000; a verdict takes 8 [as --resolve 3% --time-budget 60s needs]; with one of "
             "them at most so many [1000]"},
    {.name = "resolve", .argument = "P%", .how = CLI_CALL, .at = AT(until), .take = take_until,
     .takes = "a difference such as 2% or 0.5%, up to 100%",
     .help = "add rounds, from 16 on, until a difference of time of this size is shown or excluded for each "
             "candidate: 2%, 1%"},
    {.name = "until", .argument = "P%", .how = CLI_CALL, .at = AT(until), .take = take_until,
     .takes = "a difference such as 2% or 0.5%, up to 100%", .help = "the same"},
    {.name = "time-budget", .argument = "T", .how = CLI_DURATION, .at = AT(time_budget_ns),
     .help = "what replays may take, with warm-up and passes; one round is made, fewer than 8 give no verdict: 90s, 5m "
             "[60s, and 8 rounds at least; any time where -n says how many]"},
    {.name = "memory-rounds", .argument = "N", .how = CLI_COUNT, .at = AT(memory_rounds),
     .most = CLI_ROUNDS_MAX,
     .help = "rounds in which each candidate runs once more, and is told recorded time: resident memory is "
             "of those runs; 0: of the timed ones [3]"},
    {.group = cli_measure_idle, .at = AT(measure),
     .help = "recorded time that such a run rests for at its end, for what is left in memory then; 0: none "
             "[60s]"},
    {.group = cli_measure_seed, .at = AT(measure)},
    {.group = cli_measure_touch, .at = AT(measure)},
    {.name = "latency", .how = CLI_FLAG, .at = AT(latency),
     .help = "time single calls too, in passes behind the rounds: p99 and p99.9 in the table, all of it in "
             "the JSON"},
    {.name = "sites", .how = CLI_FLAG, .at = AT(sites),
     .help = "also what each call site holds of memory under each allocator, in passes behind the rounds: of a recording "
             "with call stacks ('mallab record --sites'); COMMAND is recorded so"},
    {.name = "cost", .how = CLI_FLAG, .at = AT(cost),
     .help = "--sites, and the CPU time that each of the 5 sites with most calls takes, in rounds of their own, for as long "
             "again: see 'mallab sites --cost'"},
    {.name = "no-syscalls", .how = CLI_FLAG, .at = AT(no_syscalls),
     .help = "no pass behind the rounds that counts system calls"},
    {.name = "confirm", .argument = "[T]", .how = CLI_CALL, .at = AT(confirm), .take = take_confirm,
     .takes = "a time such as 90s or 5m",
     .help = "at last run COMMAND itself under the baseline and what is advised, as 'mallab confirm' does: for T "
             "[at most as long as the replays took, or 60s]"},
    {.group = cli_measure_place, .at = AT(measure)},
    {.group = cli_measure_one_thread, .at = AT(measure)},
    {.group = cli_measure_timeout, .at = AT(measure)},
    {.group = cli_measure_limit, .at = AT(measure)},
    {.name = "check", .how = CLI_FLAG, .at = AT(check),
     .help = "first look whether each allocator keeps its promises (alignment, overlap, contents); one "
             "that does not takes no part"},

    {.heading = "what of a recording is replayed; these act in this order"},
    {.group = cli_select, .at = AT(convert)},

    {.heading = "what comes out"},
    {.group = cli_answer_result, .at = AT(answer)},
    {.group = cli_answer_keep, .at = AT(answer)},
    {.group = cli_answer_details, .at = AT(answer)},
    {.group = cli_answer_color, .at = AT(answer)},
    {.group = cli_answer_progress, .at = AT(answer)},
    {.group = cli_answer_quiet, .at = AT(answer)},
    {0},
};
/* clang-format on */

/* How many rounds, once all options are known. */
static int settle_rounds(struct settings *settings)
{
    settings->is_bound = settings->time_budget_ns != 0;
    if (settings->measure.rounds == 0) {
        settings->measure.rounds = RES_UNTIL_ROUNDS_MAX;
        if (settings->time_budget_ns == 0)
            settings->time_budget_ns = DEFAULT_BUDGET_NS;
        if (settings->until == 0 && !settings->is_bound)
            settings->until = RES_RESOLVE;
    }
    if (settings->until != 0 && settings->measure.rounds < RES_ROUNDS_FOR_VERDICT)
        return cli_misuse(&CLI_AB, "--resolve takes %u rounds at least: -n %llu allows fewer",
                          RES_ROUNDS_FOR_VERDICT, (unsigned long long)settings->measure.rounds);
    return -1;
}

static int take_options(int argc, char **argv, struct settings *ret_settings)
{
    struct cli_operands operands;
    *ret_settings = (struct settings){.answer = cli_answer_defaults(),
                                      .measure = cli_measure_defaults(),
                                      .memory_rounds = RES_MEMORY_PASSES};
    ret_settings->measure.idle_ns = IDLE_NS;
    int code = cli_options_take(&CLI_AB, argc, argv, ret_settings, &operands);
    if (code < 0)
        code = cli_select_check(&CLI_AB, &ret_settings->convert);
    if (code >= 0)
        return code;
    if (operands.count == 0 && operands.command == NULL && ret_settings->pid == 0)
        return cli_misuse(&CLI_AB,
                          "nothing to replay: name a workload or a recording, or a command behind '--'");
    if (ret_settings->pid != 0 && (operands.command != NULL || operands.count > 0))
        return cli_misuse(&CLI_AB, "--pid takes a program that runs: no %s beside it",
                          operands.command != NULL ? "command" : "recording");
    if (ret_settings->duration_ns != 0 && ret_settings->pid == 0)
        return cli_misuse(&CLI_AB, "--duration goes with --pid");
    ret_settings->sites |= ret_settings->cost;
    ret_settings->inputs = operands.words;
    ret_settings->input_count = (size_t)operands.count;
    ret_settings->command = operands.command;
    if (ret_settings->confirm.wanted && operands.command == NULL)
        return cli_misuse(&CLI_AB, "--confirm runs the program itself: put its command behind '--'");
    return settle_rounds(ret_settings);
}

struct ab {
    struct settings settings;
    struct cli_choice choice;
    struct cli_limit limit;
    const char *directory;         /* of recording and workloads */
    struct cli_prepared *prepared; /* of the workloads, in the same order */
    struct res_workload *workloads;
    char **sources; /* of the workloads: what they were made of */
    size_t workload_count;
    int status;                          /* of the command, as from waitpid */
    uint64_t command_ns;                 /* what it took, recorded */
    char *command, *cut, *not_confirmed; /* as of struct res_asked */
    struct cli_progress progress;
    struct {
        const struct res_workload *workload; /* that is being warmed up or measured */
        uint64_t begin_ns;
        size_t runs; /* before its own */
        bool told;
    } warm_up;
};

/* ---- workloads ------------------------------------------------------------------------------ */

/* Whether --sites can tell something of a workload, or of one process of a group: told before all runs, else. */
static int check_stacks(const struct cli_prepared *prepared, const char *named)
{
    const struct conv_options options = {0};
    struct conv_error *error = res_calloc(1, sizeof *error);
    const char *lack = "no call stacks: record it with 'mallab record --sites'";
    int code = CLI_UNREADABLE;
    for (size_t i = 0; code != CLI_DONE && (i == 0 || i < prepared->member_count); i++) {
        struct conv_stacks stacks;
        const char *path = prepared->member_count > 0 ? prepared->members[i].path : prepared->path;
        if (conv_sites_stacks(path, &options, &stacks, error) != FP_OK)
            continue;
        if (stacks.sample_bytes == 0)
            code = CLI_DONE;
        else
            lack = "call stacks of a sample of its objects only: record it with --sites alone";
        conv_stacks_release(&stacks);
    }
    if (code != CLI_DONE)
        cli_say(&CLI_AB, "'%s' has %s", named, lack);
    free(error);
    return code;
}

/* named: as the user did. */
static int add_workload(struct ab *ab, const char *input, const char *named)
{
    const struct cli_answer *answer = &ab->settings.answer;
    const size_t number = ab->workload_count;
    struct cli_prepared prepared = {0};
    const struct cli_prepare prepare = {
        .directory = ab->directory,
        .convert = &ab->settings.convert,
        .force = answer->force,
        .quiet = answer->quiet || answer->keep == NULL, /* of what is removed nobody needs the place */
        .progress = answer->progress,
    };
    const int code = cli_workload_prepare(&CLI_AB, &prepare, input, number, &prepared);
    if (code != CLI_DONE)
        return code;
    ab->prepared = res_realloc(ab->prepared, number + 1, sizeof *ab->prepared);
    ab->prepared[number] = prepared;
    ab->workloads = res_realloc(ab->workloads, number + 1, sizeof *ab->workloads);
    ab->sources = res_realloc(ab->sources, number + 1, sizeof *ab->sources);
    ab->sources[number] = res_strdup(input);
    ab->workload_count++;
    const int known = cli_prepared_facts(&CLI_AB, &ab->prepared[number], named, &ab->workloads[number]);
    return known == CLI_DONE && ab->settings.sites ? check_stacks(&ab->prepared[number], named) : known;
}

/* Ctrl-C ends the command, as many end in no other way, and what it did until then is compared. */
static int record_command(struct ab *ab, char **ret_recording)
{
    const struct settings *settings = &ab->settings;
    const uint64_t begin_ns = fp_now_ns();
    const struct cli_record_step step = {.directory = ab->directory,
                                         .quiet = settings->answer.quiet,
                                         .sites = settings->sites,
                                         .shows_stdout = true};
    const int code = cli_record_step(&CLI_AB, settings->command, &step, &ab->status, ret_recording);
    const int asked = rec_relay_asked_to_end();
    char span[32];
    ab->command = res_shell_command(settings->command);
    ab->command_ns = fp_now_ns() - begin_ns;
    (void)res_text_duration((double)ab->command_ns, span);
    if (asked == SIGINT && code == CLI_DONE) {
        cli_say(&CLI_AB, "recording ended by Ctrl-C after %s: going on with it; again to stop", span);
        ab->cut = res_printf("until Ctrl-C, %s", span);
    } else if (asked != 0) {
        cli_stopped_by = asked;
    }
    return code;
}

/* Ctrl-C ends the recording, and what was recorded is compared. */
static int record_process(struct ab *ab, char **ret_recording)
{
    const struct settings *settings = &ab->settings;
    const struct cli_record_step step = {
        .directory = ab->directory, .quiet = settings->answer.quiet, .sites = settings->sites};
    int ended_by;
    const int code = cli_attach_step(&CLI_AB, (pid_t)settings->pid, settings->duration_ns, &step, &ended_by,
                                     ret_recording);
    if (ended_by != 0 && ended_by != SIGINT)
        cli_stopped_by = ended_by;
    return code;
}

static int prepare_workloads(struct ab *ab)
{
    const struct settings *settings = &ab->settings;
    char *recording = NULL;
    int code = cli_work_directory(&CLI_AB, settings->answer.keep, &ab->directory);
    if (code == CLI_DONE && settings->command != NULL)
        code = record_command(ab, &recording);
    if (code == CLI_DONE && settings->pid != 0)
        code = record_process(ab, &recording);
    if (code == CLI_DONE && recording != NULL && cli_stopped_by == 0)
        code = add_workload(ab, recording, settings->command != NULL ? settings->command[0] : recording);
    free(recording);
    for (size_t i = 0; i < settings->input_count && code == CLI_DONE && cli_stopped_by == 0; i++)
        code = add_workload(ab, settings->inputs[i], settings->inputs[i]);
    return code;
}

/* ---- the program itself --------------------------------------------------------------------- */

/* What it read while it was recorded is not there again: every other run would do other work. */
static int check_input(const struct settings *settings)
{
    struct stat facts;
    if (!settings->confirm.wanted || fstat(STDIN_FILENO, &facts) != 0 ||
        !(S_ISREG(facts.st_mode) || S_ISFIFO(facts.st_mode)))
        return CLI_DONE;
    cli_say(
        &CLI_AB,
        "--confirm runs COMMAND often, without input, and standard input is a file or a pipe: let COMMAND "
        "read a file by its name, and put </dev/null behind");
    return CLI_FAILED;
}

/* replays_ns: what they took. Returns an exit code. */
static int confirm(struct ab *ab, uint64_t replays_ns, struct res_result *result)
{
    const struct settings *settings = &ab->settings;
    const struct cli_confirm_times times = {.said_ns = settings->confirm.budget_ns,
                                            .budget_ns = settings->time_budget_ns,
                                            .replays_ns = replays_ns};
    const struct res_candidate *candidates[RES_TRIED_MAX + 1];
    struct cli_confirm_step step = {
        .runs = {.candidates = candidates,
                 .candidate_count = cli_confirm_advised(&ab->choice, result, candidates),
                 .seed = settings->measure.seed},
        .group = ab->workloads[0].member_count > 0 ? ab->workloads[0].program
                                                   : NULL, /* COMMAND's comes first */
        .quiet = settings->answer.quiet,
        .shown = !settings->answer.json,
        .progress = settings->answer.progress,
    };
    if (step.runs.candidate_count < 2) {
        result->asked.not_confirmed = "no other allocator is advised";
        return CLI_DONE;
    }
    if (ab->cut != NULL) {
        result->asked.not_confirmed = "it ends by Ctrl-C only";
        return CLI_DONE;
    }
    cli_confirm_fit(&CLI_AB, &times, settings->command, fp_status_code(ab->status), &ab->command_ns, &step);
    result->asked.run_ns = (double)ab->command_ns;
    if (step.runs.candidate_count < 2) {
        const double needed_ns = (double)res_confirm_runs(1, RES_ROUNDS_FOR_VERDICT) * (double)ab->command_ns;
        ab->not_confirmed = res_printf(
            "8 pairs take %s, a confirmation may take %s; --confirm=%.0fs", RES_DURATION(needed_ns),
            RES_DURATION((double)cli_confirm_most_ns(&times)), 10 * ceil(needed_ns / 10e9));
        result->asked.not_confirmed = ab->not_confirmed;
        return CLI_DONE;
    }
    return cli_stopped_by == 0
               ? cli_confirm_command(&CLI_AB, &step, settings->command, fp_status_code(ab->status), result)
               : CLI_DONE;
}

/* ---- experiment ----------------------------------------------------------------------------- */

/* What the rounds will take, once the warm-up is over, and what comes with them: runs for memory, passes behind, the program itself. */
static void tell_estimate(struct ab *ab, size_t runs_done, size_t runs_all)
{
    const struct settings *settings = &ab->settings;
    const struct res_options options = {.rounds = (unsigned)settings->measure.rounds,
                                        .until = settings->until};
    const size_t entries = ab->choice.candidate_count + 1 + (ab->choice.floor != NULL);
    const double run_ns = (double)(fp_now_ns() - ab->warm_up.begin_ns) /
                          (double)(runs_done - ab->warm_up.runs);
    const struct res_until_plan plan = res_until_plan(&options, settings->time_budget_ns / ab->workload_count,
                                                      run_ns * (double)entries);
    const size_t each = runs_all / ab->workload_count, rounds = entries * (settings->measure.rounds + 1);
    const double more_ns = each > rounds ? (double)(each - rounds) * run_ns : 0;
    const double least_ns = plan.least_ns + more_ns;
    const double budget_ns = settings->time_budget_ns > 0 ? (double)settings->time_budget_ns : INFINITY;
    struct res_text words = {0};
    res_text_printf(&words, "%s: %u round%s%s of %zu replays%s, some %s by the warm-up",
                    ab->warm_up.workload->name, plan.least, plan.least == 1 ? "" : "s",
                    plan.most_ns > plan.least_ns ? " or more" : "", entries, more_ns > 0 ? " and passes" : "",
                    RES_DURATION(least_ns));
    if (plan.most_ns > plan.least_ns)
        res_text_printf(&words, "; more, up to %s, ", RES_DURATION(plan.most_ns + more_ns));
    else if (least_ns > (settings->is_bound ? 1 : OVERSPENT) * budget_ns)
        res_text_printf(&words, ", the least for a verdict%s; --head %.0f would fit %s",
                        settings->is_bound ? ": --time-budget ends them before" : "",
                        1000 * ceil((double)ab->warm_up.workload->ops / 1000 * budget_ns / least_ns),
                        RES_DURATION(budget_ns));
    if (plan.most_ns > plan.least_ns && settings->until > 0)
        res_text_printf(&words,
                        "until differences of %.3g %% are shown or excluded (--resolve, --time-budget, -n)",
                        100 * settings->until);
    else if (plan.most_ns > plan.least_ns)
        res_text_printf(&words, "as --time-budget has");
    const struct cli_confirm_times times = {settings->confirm.budget_ns, settings->time_budget_ns,
                                            (uint64_t)least_ns};
    if (settings->confirm.wanted)
        res_text_printf(&words, "; then the program itself, up to %s",
                        RES_DURATION((double)cli_confirm_most_ns(&times)));
    cli_progress_end(&ab->progress);
    cli_say(&CLI_AB, "%s", words.text);
    free(words.text);
}

static void on_progress(void *context, const struct res_workload *workload, const char *entry, unsigned round,
                        size_t runs_done, size_t runs_all)
{
    struct ab *ab = context;
    char *words = round == 0                ? res_printf("%s: warm-up, %s", workload->name, entry)
                  : round == RES_ROUND_PASS ? res_printf("%s: behind the rounds, %s", workload->name, entry)
                                            : res_printf("%s: round %u, %s", workload->name, round, entry);
    if (ab->warm_up.workload != workload) {
        ab->warm_up.workload = workload;
        ab->warm_up.begin_ns = fp_now_ns();
        ab->warm_up.runs = runs_done;
        ab->warm_up.told = ab->settings.answer.quiet;
    }
    if (round == 1 && !ab->warm_up.told)
        tell_estimate(ab, runs_done, runs_all);
    ab->warm_up.told |= round == 1;
    cli_progress_show(&ab->progress, words, NULL, 0, runs_done, runs_all);
    free(words);
}

/* What sites of a workload save, into its result; it is complete without. */
static void measure_removals(const struct ab *ab, size_t number, struct res_result_workload *ret_workload)
{
    const struct settings *settings = &ab->settings;
    struct cli_sites reading = cli_site_defaults();
    const struct cli_removals removals = {
        .verb = &CLI_AB,
        .reading = &reading,
        .choice = &ab->choice,
        .options = {.rounds = settings->measure.rounds < RES_UNTIL_ROUNDS_MAX
                                  ? (unsigned)settings->measure.rounds
                                  : 0,
                    .time_budget_ns = settings->is_bound ? settings->time_budget_ns : 0,
                    .seed = settings->measure.seed,
                    .touch = settings->measure.touch,
                    .timeout_ns = settings->measure.timeout_ns,
                    .limit_bytes = settings->measure.limit_bytes,
                    .group_place = cli_limit_place(&ab->limit),
                    .one_thread = settings->measure.one_thread,
                    .replay_options = settings->measure.options},
        .most = CLI_REMOVALS,
    };
    struct res_result result;
    bool failed;
    if (ab->workloads[number].member_count > 0) {
        cli_say(&CLI_AB, "%s: call sites are timed of one process: choose it with --process PID",
                ab->workloads[number].name);
        return;
    }
    reading.path = ab->sources[number];
    reading.convert = settings->convert;
    reading.answer = settings->answer;
    if (cli_removals_measure(&removals, ab->workloads[number].path, &result, &failed) != CLI_DONE)
        return;
    ret_workload->removals = result.workloads[0].removals;
    ret_workload->removal_count = result.workloads[0].removal_count;
    result.workloads[0].removals = NULL;
    result.workloads[0].removal_count = 0;
    res_result_release(&result);
}

static int run_experiment(struct ab *ab)
{
    const struct settings *settings = &ab->settings;
    struct res_experiment experiment;
    const struct res_options options = {
        .workloads = ab->workloads,
        .workload_count = ab->workload_count,
        .candidates = ab->choice.candidates,
        .candidate_count = ab->choice.candidate_count,
        .floor = ab->choice.floor,
        .rounds = (unsigned)settings->measure.rounds,
        .until = settings->until,
        .time_budget_ns = settings->time_budget_ns,
        .rounds_least = settings->is_bound ? 1 : 0,
        .memory_rounds = (unsigned)settings->memory_rounds,
        .starts = RES_STARTS,
        .idle_ms = cli_measure_idle_ms(&settings->measure),
        .seed = settings->measure.seed,
        .touch = settings->measure.touch,
        .timeout_ns = settings->measure.timeout_ns,
        .limit_bytes = settings->measure.limit_bytes,
        .group_place = cli_limit_place(&ab->limit),
        .limit_by_why = ab->limit.why,
        .check = settings->check,
        .one_thread = settings->measure.one_thread,
        .replay_options = settings->measure.options,
        .latency_passes = settings->latency ? RES_LATENCY_PASSES : 0,
        .system_calls = !settings->no_syscalls,
        .stop = &cli_stopped_by,
        .progress = on_progress,
        .context = ab,
    };
    const uint64_t begin_ns = fp_now_ns();
    struct res_result result;
    bool failed;
    int code = cli_experiment_step(&CLI_AB, &options, &ab->choice, &ab->progress, settings->answer.progress,
                                   settings->answer.quiet, &experiment, &result, &failed);
    if (code == CLI_DONE) {
        int confirmed = CLI_DONE;
        result.asked = (struct res_asked){
            .command = ab->command, .run_ns = ab->cut == NULL ? (double)ab->command_ns : 0, .cut = ab->cut};
        if (!experiment.stopped)
            res_profile_add(&result, &experiment);
        if (settings->sites && !experiment.stopped) {
            cli_progress_begin(&ab->progress, settings->answer.progress);
            cli_site_costs(&CLI_AB, &experiment, ab->sources, &settings->convert, settings->answer.progress,
                           &result);
            cli_progress_end(&ab->progress);
        }
        for (size_t i = 0; i < result.workload_count && settings->cost && cli_stopped_by == 0; i++)
            measure_removals(ab, i, &result.workloads[i]);
        res_verdicts_fill(&result); /* which tells what to confirm */
        if (settings->confirm.wanted && !experiment.stopped)
            confirmed = confirm(ab, fp_now_ns() - begin_ns, &result);
        code = cli_result_give(&CLI_AB, &settings->answer, &result, res_table_text);
        if (code == CLI_DONE)
            code = confirmed;
        res_result_release(&result);
    }
    res_experiment_release(&experiment);
    return code == CLI_DONE && failed ? CLI_FAILED : code;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static void ab_release(struct ab *ab)
{
    for (size_t i = 0; i < ab->workload_count; i++) {
        cli_prepared_release(&ab->prepared[i]);
        free(ab->sources[i]);
    }
    free(ab->sources);
    free(ab->prepared);
    free(ab->workloads);
    free(ab->command);
    free(ab->cut);
    free(ab->not_confirmed);
    cli_choice_release(&ab->choice);
    cli_limit_release(&ab->limit);
}

static int run_ab(int argc, char **argv)
{
    struct ab ab = {0};
    int code = take_options(argc, argv, &ab.settings);
    if (code >= 0)
        return code;
    code = cli_result_check(&CLI_AB, &ab.settings.answer);
    if (code == CLI_DONE)
        code = check_input(&ab.settings);
    if (code == CLI_DONE)
        code = cli_choose(&CLI_AB, ab.settings.measure.allocators, ab.settings.measure.baseline, &ab.choice);
    if (code == CLI_DONE)
        code = cli_limit_settle(&CLI_AB, &ab.settings.measure, &ab.limit);
    if (code == CLI_DONE) {
        cli_stops_take();
        code = prepare_workloads(&ab);
    }
    if (code == CLI_DONE && ab.settings.measure.baseline == NULL)
        cli_choice_settle(&CLI_AB, ab.workloads, ab.workload_count, &ab.choice);
    if (code == CLI_DONE && cli_stopped_by != 0)
        cli_say(&CLI_AB, "interrupted before the first round: there is no result");
    else if (code == CLI_DONE)
        code = run_experiment(&ab);
    ab_release(&ab);
    cli_stops_end();
    return code;
}

const struct cli_verb CLI_AB = {
    .name = "ab",
    .summary = "compare allocators on a recorded program: the main job",
    .usage = "[OPTION...] WORKLOAD|RECORDING|FOOTPRINT...\n"
             "[OPTION...] -- COMMAND [ARG...]\n"
             "[OPTION...] --pid PID",
    .purpose =
        "Compare allocators: replay a workload on each of them, interleaved and repeated, and print time "
        "and memory against a baseline, with intervals and a verdict. Recordings and footprints are "
        "converted first; COMMAND is recorded first, its stdout going to stderr.",
    .options = OPTIONS,
    .command_at = CLI_COMMAND_BEHIND_DASHES,
    .completes = ":files wl fp",
    .notes = "Ctrl-C ends the experiment; the rounds finished before are printed and kept. While COMMAND is "
             "recorded "
             "it ends COMMAND.",
    .examples = "mallab ab -o result.json -- sqlite3 :memory: 'SELECT 1'\n"
                "mallab ab --pid 4711 --duration 60s",
    .exit_codes =
        "0 done, 1 failed, also when one candidate did, 2 misuse, 3 input unreadable, damaged or too "
        "new; after Ctrl-C what is finished is printed and kept, then the signal ends mallab (130 in a "
        "shell), SIGTERM and SIGHUP likewise",
    .run = run_ab,
};
