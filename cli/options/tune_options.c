/* tune_options.c - help and options of `mallab tune`. */
#include "cli/options/tune_options.h"

#include "cli/base/cli.h"
#include "cli/options/command_line.h"
#include "cli/options/select_options.h"

const char cli_tune_help[] =
    "usage: mallab tune [OPTION...] WORKLOAD|RECORDING|FOOTPRINT\n"
    "       mallab tune [OPTION...] -- CMD [ARG...]\n"
    "\n"
    "Search the settings that allocators declare worth trying (section [ranges] of\n"
    "their files): replay the workload with many of them a few times, with the better\n"
    "ones more often, confirm the best with fresh rounds against the default, and\n"
    "print which of them nothing beats on time and memory, as variables to paste.\n"
    "\n"
    "what is searched\n"
    "  -a, --allocators LIST  whose settings, separated by commas; names of 'mallab\n"
    "                         allocators' [glibc]\n"
    "  -b, --baseline NAME    which of them, as it is, is the default that all are\n"
    "                         held against [glibc, else the first]\n"
    "      --memory FIGURE    which resident memory counts beside time: peak, mean,\n"
    "                         end or idle [peak]\n"
    "\n"
    "how\n"
    "      --budget T         time for search and confirmation: 90s, 5m, 2h [5m]\n"
    "      --idle T           recorded time that a run rests for, for --memory idle\n"
    "                         and in the confirmation; 0: none [60s]\n"
    "      --seed N           of the order and the intervals [drawn, printed]\n"
    "      --touch WHAT       what is written into new memory: none, page or full\n"
    "                         [page]\n" CLI_MEASURE_HELP CLI_MEASURE_ONE_THREAD_HELP "\n"
    "what of a recording is replayed; these act in this order\n" CLI_SELECT_HELP "\n"
    "what comes out\n"
    "  -o, --output FILE      keep the result with every sample, as JSON; FILE/, or a\n"
    "                         directory: in it, as WORKLOAD.MACHINE.DATE.json\n"
    "@force FILE\n"
    "@max-memory\n"
    "@json-result\n"
    "@color\n"
    "@progress\n"
    "@no-progress\n"
    "  -q, --quiet            no progress, no warnings of what disturbs\n"
    "@help\n"
    "\n"
    "Ctrl-C ends it; what was found so far is printed, marked as not confirmed.\n"
    "\n"
    "example: mallab tune -a jemalloc,glibc --budget 10m -o tuned.json nightly.wl\n"
    "exit codes: 0 done, also when nothing beats the default, 1 failed, 2 misuse,\n"
    "3 input unreadable, damaged or too new; after Ctrl-C what is finished is printed\n"
    "and kept, then the signal ends mallab (130 in a shell), SIGTERM and SIGHUP\n"
    "likewise\n";

#define BUDGET_NS     UINT64_C(300000000000)
#define BUDGET_MAX_NS UINT64_C(604800000000000) /* a week */
#define IDLE_NS       UINT64_C(60000000000)

enum {
    OPTION_BUDGET = 256,
    OPTION_MEMORY,
};

static int take_option(int option, void *data)
{
    struct cli_tune_options *settings = data;
    switch (option) {
    case OPTION_BUDGET:
        if (!cli_parse_duration(optarg, &settings->budget_ns) || settings->budget_ns > BUDGET_MAX_NS)
            return cli_misuse(&CLI_TUNE, "'%s' is no budget: write 90s, 5m or 2h, a week at most", optarg);
        break;
    case OPTION_MEMORY:
        if (!res_tune_memory_from(optarg, &settings->memory))
            return cli_misuse(&CLI_TUNE, "--memory takes 'peak', 'mean', 'end' or 'idle', not '%s'", optarg);
        break;
    default:
        break;
    }
    return -1;
}

static int take_input(const struct cli_operands *operands, struct cli_tune_options *settings)
{
    if (operands->count == 0 && operands->command == NULL)
        return cli_misuse(&CLI_TUNE,
                          "nothing to replay: name a workload or a recording, or a command behind '--'");
    if (operands->count + (operands->command != NULL) > 1)
        return cli_misuse(&CLI_TUNE, "one workload at a time: what is best for one need not be for the other "
                                     "(processes of one recording: --merge)");
    if (settings->memory == RES_TUNE_IDLE && settings->measure.idle_ns == 0)
        return cli_misuse(&CLI_TUNE, "--memory idle looks at memory after a rest: --idle 0 leaves none");
    settings->input = operands->count > 0 ? operands->words[0] : NULL;
    settings->command = operands->command;
    return -1;
}

int cli_tune_take_options(int argc, char **argv, struct cli_tune_options *ret_options)
{
    static const struct option options[] = {
        CLI_SELECT_OPTIONS,
        CLI_MEASURE_OPTIONS,
        CLI_MEASURE_SEED_ROW,
        CLI_MEASURE_TOUCH_ROW,
        CLI_MEASURE_IDLE_ROW,
        CLI_MEASURE_ONE_THREAD_ROW,
        CLI_MEASURE_CANDIDATES_ROWS,
        {"budget", required_argument, NULL, OPTION_BUDGET},
        {"memory", required_argument, NULL, OPTION_MEMORY},
        CLI_ANSWER_RESULT_ROWS,
        CLI_ANSWER_MAX_MEMORY_ROW,
        CLI_ANSWER_COLOR_ROW,
        {NULL, 0, NULL, 0},
    };
    const struct cli_command_line line = {
        .verb = &CLI_TUNE,
        .options = options,
        .command_at = CLI_COMMAND_BEHIND_DASHES,
        .take = take_option,
        .settings = ret_options,
        .answer = &ret_options->answer,
        .select = &ret_options->convert,
        .measure = &ret_options->measure,
    };
    struct cli_operands operands;
    *ret_options = (struct cli_tune_options){.answer = cli_answer_defaults(),
                                             .measure = {.allocators = "glibc", .idle_ns = IDLE_NS},
                                             .budget_ns = BUDGET_NS};
    const int code = cli_command_line_take(&line, argc, argv, &operands);
    return code >= 0 ? code : take_input(&operands, ret_options);
}
