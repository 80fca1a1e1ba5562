/* verb_ab.c - `mallab ab`: what its command line says. */
#include <string.h>

#include "cli/verbs/verbs.h"
#include "results/measure/statistics/statistics.h"

#define DEFAULT_BUDGET_NS UINT64_C(60000000000)
#define DECIDE_BUDGET_NS  UINT64_C(120000000000)

/* ---- command line --------------------------------------------------------------------------- */

static int take_confirm(const struct cli_verb *verb, const struct cli_option *row, const char *value,
                        void *at)
{
    struct cli_ab_confirm *confirm = at;
    confirm->wanted = true;
    if (value != NULL && (!cli_parse_duration(value, &confirm->budget_ns) || confirm->budget_ns == 0))
        return cli_option_refuse(verb, row, value);
    return -1;
}

#define AT(member) offsetof(struct cli_ab_settings, member)

/* clang-format off */
static const struct cli_option OPTIONS[] = {
    {.heading = "what is compared"},
    {.row = &cli_measure_allocators, .at = AT(measure)},
    {.row = &cli_measure_baseline, .at = AT(measure)},

    {.name = "pid", .argument = "PID", .how = CLI_COUNT, .at = AT(pid), .least = 1, .most = INT32_MAX,
     .takes = "a process id",
     .help = "instead of COMMAND a program that runs already (x86-64), until Ctrl-C or for --duration"},
    {.name = "duration", .argument = "T", .how = CLI_DURATION, .at = AT(duration_ns),
     .help = "record --pid for T: 60s, 5m"},

    {.heading = "how"},
    {.row = &cli_measure_rounds, .at = AT(measure),
     .help = "runs of each candidate, 1-1000; a verdict takes 8 [as many as 3 % needs and --time-budget holds]"},
    {.name = "decide", .seldom = true, .argument = "BUDGET", .how = CLI_CALL, .at = AT(decide),
     .take = cli_budget_take,
     .help = "go on until each line, as of 'mallab check --budget', is decided, and precise enough to be a later "
             "run's OLD: 'time<=+3%,rss-peak<=+5%', for 2m where --time-budget does not say"},
    {.name = "baseline", .seldom = true, .argument = "OLD", .how = CLI_TEXT, .at = AT(earlier),
     .help = "decide against an earlier result (of --decide, too)"},
    {.name = "time-budget", .argument = "T", .how = CLI_DURATION, .at = AT(measure.run.time_budget_ns),
     .help = "what replays may take, warm-up and passes included: 90s, 5m [60s, and 8 rounds at least; any time with -n]"},
    {.row = &cli_measure_seed, .at = AT(measure)},
    {.name = "latency", .how = CLI_SET, .at = AT(measure.run.latency_passes), .least = RES_LATENCY_PASSES,
     .help = "p99 and p99.9 of single calls too, by passes behind"},
    {.name = "confirm", .argument = "[T]", .how = CLI_CALL, .at = AT(confirm), .take = take_confirm,
     .takes = "a time such as 90s or 5m",
     .help = "at last run COMMAND itself under what is advised, for T [as long as the replays took, or 60s]"},
    {.group = cli_measure_one_thread, .at = AT(measure)},
    {.row = &cli_measure_timeout, .at = AT(measure)},
    {.group = cli_measure_limit, .seldom = true, .at = AT(measure)},
    {.name = "promises", .seldom = true, .how = CLI_FLAG, .at = AT(measure.run.check),
     .help = "first look whether each allocator keeps its promises (alignment, overlap, contents); one "
             "that does not takes no part"},

    {.heading = "what of a recording is replayed; these act in this order"},
    {.group = cli_select, .at = AT(convert)},

    {.heading = "what comes out"},
    {.group = cli_answer_result, .at = AT(answer)},
    {.row = &cli_answer_keep, .seldom = true, .at = AT(answer)},
    {.row = &cli_answer_details, .at = AT(answer)},
    {.row = &cli_answer_color, .at = AT(answer)},
    {.row = &cli_answer_quiet, .at = AT(answer)},
    {0},
};
/* clang-format on */

/* Settles the number of rounds once all options are known. A time budget that was asked for holds whatever it costs. */
static int settle_rounds(struct cli_ab_settings *settings)
{
    const bool decides = settings->decide.rule_count > 0;
    struct res_options *run = &settings->measure.run;
    run->rounds_least = run->time_budget_ns != 0;
    if (settings->earlier != NULL && !decides)
        return cli_misuse(&CLI_AB, "--baseline goes with --decide; what others are compared with is -b NAME");
    if (decides)
        run->until = cli_ab_finest(&settings->decide);
    if (settings->measure.rounds == 0) {
        settings->measure.rounds = RES_UNTIL_ROUNDS_MAX;
        if (run->time_budget_ns == 0)
            run->time_budget_ns = decides ? DECIDE_BUDGET_NS : DEFAULT_BUDGET_NS;
        if (!decides && run->rounds_least == 0)
            run->until = RES_RESOLVE;
    }
    if (decides && settings->measure.rounds < RES_ROUNDS_FOR_VERDICT)
        return cli_misuse(&CLI_AB, "--decide takes %u rounds at least: -n %llu allows fewer",
                          RES_ROUNDS_FOR_VERDICT, (unsigned long long)settings->measure.rounds);
    return -1;
}

static int take_options(int argc, char **argv, struct cli_ab_settings *ret_settings)
{
    struct cli_operands operands;
    *ret_settings = (struct cli_ab_settings){.measure = cli_measure_defaults()};
    const int code = cli_options_take(&CLI_AB, argc, argv, ret_settings, &operands);
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
    ret_settings->inputs = operands.words;
    ret_settings->input_count = (size_t)operands.count;
    ret_settings->command = operands.command;
    if (ret_settings->confirm.wanted && operands.command == NULL)
        return cli_misuse(&CLI_AB, "--confirm runs the program itself: put its command behind '--'");
    return settle_rounds(ret_settings);
}

static int run_ab(int argc, char **argv)
{
    struct cli_ab ab = {.verb = &CLI_AB};
    int code = take_options(argc, argv, &ab.settings);
    if (code < 0)
        code = cli_ab_run(&ab);
    res_budget_release(&ab.settings.decide);
    return code;
}

const struct cli_verb CLI_AB = {
    .name = "ab",
    .summary = "compare allocators on a recorded program: the main job",
    .usage = "[OPTION...] WORKLOAD|RECORDING|FOOTPRINT...\n[OPTION...] -- COMMAND [ARG...]\n"
             "[OPTION...] --pid PID",
    .purpose =
        "Compare allocators: replay a workload on each of them, interleaved and repeated, and print time "
        "and memory against a baseline, with intervals and a verdict. COMMAND is recorded first; more "
        "than ten lines of its output are kept in a file.",
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
        "shell)",
    .takes_any = true,
    .run = run_ab,
};
