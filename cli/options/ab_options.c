/* ab_options.c - the command line of `mallab ab`. */
#include "cli/options/ab_options.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/options/command_line.h"
#include "cli/options/select_options.h"
#include "results/measure/experiment/experiment.h"
#include "results/measure/experiment/until.h"
#include "results/measure/statistics/statistics.h"

const char cli_ab_help[] =
    "usage: mallab ab [OPTION...] WORKLOAD|RECORDING|FOOTPRINT...\n"
    "       mallab ab [OPTION...] -- CMD [ARG...]\n"
    "\n"
    "Compare allocators: replay a workload on each of them, interleaved and repeated,\n"
    "and print time and memory against a baseline, with intervals and a verdict.\n"
    "Recordings and footprints are converted first; CMD is recorded first, its stdout\n"
    "going to stderr.\n"
    "\n"
    "what is compared\n"
    "  -a, --allocators LIST  names of 'mallab allocators' or paths of libraries,\n"
    "                         separated by commas, each with settings if any:\n"
    "                         jemalloc+narenas=1+tcache=false [glibc,jemalloc,\n"
    "                         tcmalloc,mimalloc, those that are here]\n"
    "  -b, --baseline NAME    what the others are compared with\n"
    "                         [glibc, else the first]\n"
    "\n"
    "how\n"
    "  -n, --rounds N         runs of each candidate, 1-1000; a verdict takes 8 [10];\n"
    "                         with --until or --time-budget at most so many\n"
    "                         [1000; --until alone: 200 if 5 minutes are over]\n"
    "      --until P%         add rounds, from 16 on, until the 95 % range of each\n"
    "                         candidate's time and of the noise is narrower than\n"
    "                         this share of its ratio to the baseline: 2%, 1%\n"
    "      --time-budget T    add rounds, from 8 on, while time is left: 90s, 5m\n"
    "      --memory-rounds N  rounds in which each candidate runs once more, and is\n"
    "                         told recorded time: resident memory is of those runs;\n"
    "                         0: of the timed ones [3]\n"
    "      --idle T           recorded time that such a run rests for at its end, for\n"
    "                         what is left in memory then; 0: none [60s]\n"
    "      --seed N           of the shuffled order and the intervals\n"
    "                         [drawn, printed]\n"
    "      --touch WHAT       what is written into new memory: none, page (a byte per\n"
    "                         page) or full [page]\n"
    "      --latency          time single calls too, in passes behind the rounds:\n"
    "                         p99 and p99.9 in the table, all of it in the JSON\n"
    "      --no-syscalls      no pass behind the rounds that counts system calls\n"
    "      --no-placement     no pass that looks where live objects lie\n"
    "      --hyperfine[=FILE] time each candidate's replay as a whole process too, as\n"
    "                         often, by hyperfine; FILE: its JSON, for its scripts\n" CLI_MEASURE_HELP
        CLI_MEASURE_ONE_THREAD_HELP
    "      --timeout T        give up a run after T: 90s, 5m [20 times its warm-up]\n" CLI_MEASURE_LIMIT_HELP
    "      --check            first look whether each allocator keeps its promises\n"
    "                         (alignment, overlap, contents); others are out\n"
    "\n"
    "what of a recording is replayed; these act in this order\n" CLI_SELECT_HELP "\n"
    "what comes out\n"
    "  -o, --output FILE      keep the result with every sample, as JSON; FILE/, or a\n"
    "                         directory: in it, as WORKLOAD.MACHINE.DATE.json\n"
    "@force FILE\n"
    "@max-memory\n"
    "@json-result\n"
    "      --keep DIR         keep recording and workloads in DIR\n"
    "                         [removed at the end]\n"
    "      --details          below the table also what explains it: memory's clock,\n"
    "                         waste, latency by call, system calls, counters\n"
    "@color\n"
    "@progress\n"
    "@no-progress\n"
    "  -q, --quiet            no progress, no summaries of the steps, no warnings of\n"
    "                         what disturbs\n"
    "@help\n"
    "\n"
    "Ctrl-C ends the experiment; the rounds finished before are printed and kept.\n"
    "\n"
    "example: mallab ab -o result.json -- sqlite3 :memory: 'SELECT 1'\n"
    "exit codes: 0 done, 1 failed, also when one candidate did, 2 misuse, 3 input\n"
    "unreadable, damaged or too new; after Ctrl-C what is finished is printed and\n"
    "kept, then the signal ends mallab (130 in a shell), SIGTERM and SIGHUP likewise\n";

#define DEFAULT_ROUNDS 10
#define IDLE_NS        UINT64_C(60000000000)

enum {
    OPTION_UNTIL = 256,
    OPTION_TIME_BUDGET,
    OPTION_MEMORY_ROUNDS,
    OPTION_CHECK,
    OPTION_LATENCY,
    OPTION_NO_SYSCALLS,
    OPTION_HYPERFINE,
    OPTION_NO_PLACEMENT,
};

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

/* How many rounds, once all options are known. */
static int settle_rounds(struct cli_ab_options *settings)
{
    if (settings->until == 0 && settings->time_budget_ns == 0)
        return -1;
    if (!settings->measure.has_rounds) {
        settings->measure.rounds = RES_UNTIL_ROUNDS_MAX;
        settings->rounds_long = RES_UNTIL_ROUNDS_LONG;
    }
    if (settings->measure.rounds < RES_ROUNDS_FOR_VERDICT)
        return cli_misuse(&CLI_AB, "--until and --time-budget take %u rounds at least: -n %llu allows fewer",
                          RES_ROUNDS_FOR_VERDICT, (unsigned long long)settings->measure.rounds);
    return -1;
}

static int take_option(int option, void *data)
{
    struct cli_ab_options *settings = data;
    switch (option) {
    case OPTION_UNTIL:
        if (!parse_percent(optarg, &settings->until))
            return cli_misuse(&CLI_AB, "'%s' is no width for --until: write 2%% or 0.5%%, up to 100%%",
                              optarg);
        break;
    case OPTION_TIME_BUDGET:
        if (!cli_parse_duration(optarg, &settings->time_budget_ns))
            return cli_misuse(&CLI_AB, "'%s' is no duration for --time-budget: write 90s or 5m", optarg);
        break;
    case OPTION_MEMORY_ROUNDS:
        if (!cli_parse_count(optarg, 0, CLI_ROUNDS_MAX, &settings->memory_rounds))
            return cli_misuse(&CLI_AB, "'%s' is no number of rounds: 0 to %u", optarg, CLI_ROUNDS_MAX);
        break;
    case OPTION_CHECK:
        settings->check = true;
        break;
    case OPTION_LATENCY:
        settings->latency = true;
        break;
    case OPTION_NO_SYSCALLS:
        settings->no_syscalls = true;
        break;
    case OPTION_NO_PLACEMENT:
        settings->no_placement = true;
        break;
    case OPTION_HYPERFINE:
        settings->whole.wanted = true;
        settings->whole.path = optarg;
        if (optarg != NULL && *optarg == '\0')
            return cli_misuse(&CLI_AB, "--hyperfine= takes the name of a file");
        break;
    default:
        break;
    }
    return -1;
}

int cli_ab_take_options(int argc, char **argv, struct cli_ab_options *ret_options)
{
    static const struct option options[] = {
        CLI_SELECT_OPTIONS,
        CLI_MEASURE_OPTIONS,
        CLI_MEASURE_ROUNDS_ROW,
        CLI_MEASURE_SEED_ROW,
        CLI_MEASURE_TOUCH_ROW,
        CLI_MEASURE_IDLE_ROW,
        CLI_MEASURE_TIMEOUT_ROW,
        CLI_MEASURE_LIMIT_ROWS,
        CLI_MEASURE_ONE_THREAD_ROW,
        CLI_MEASURE_CANDIDATES_ROWS,
        {"until", required_argument, NULL, OPTION_UNTIL},
        {"time-budget", required_argument, NULL, OPTION_TIME_BUDGET},
        {"memory-rounds", required_argument, NULL, OPTION_MEMORY_ROUNDS},
        {"check", no_argument, NULL, OPTION_CHECK},
        {"latency", no_argument, NULL, OPTION_LATENCY},
        {"no-syscalls", no_argument, NULL, OPTION_NO_SYSCALLS},
        {"hyperfine", optional_argument, NULL, OPTION_HYPERFINE},
        {"no-placement", no_argument, NULL, OPTION_NO_PLACEMENT},
        CLI_ANSWER_RESULT_ROWS,
        CLI_ANSWER_MAX_MEMORY_ROW,
        CLI_ANSWER_KEEP_ROW,
        CLI_ANSWER_DETAILS_ROW,
        CLI_ANSWER_COLOR_ROW,
        {NULL, 0, NULL, 0},
    };
    const struct cli_command_line line = {
        .verb = &CLI_AB,
        .options = options,
        .command_at = CLI_COMMAND_BEHIND_DASHES,
        .take = take_option,
        .settings = ret_options,
        .answer = &ret_options->answer,
        .select = &ret_options->convert,
        .measure = &ret_options->measure,
    };
    struct cli_operands operands;
    *ret_options = (struct cli_ab_options){.answer = cli_answer_defaults(),
                                           .measure = {.rounds = DEFAULT_ROUNDS, .idle_ns = IDLE_NS},
                                           .memory_rounds = RES_MEMORY_PASSES};
    const int code = cli_command_line_take(&line, argc, argv, &operands);
    if (code >= 0)
        return code;
    if (operands.count == 0 && operands.command == NULL)
        return cli_misuse(&CLI_AB,
                          "nothing to replay: name a workload or a recording, or a command behind '--'");
    ret_options->inputs = operands.words;
    ret_options->input_count = (size_t)operands.count;
    ret_options->command = operands.command;
    return settle_rounds(ret_options);
}
