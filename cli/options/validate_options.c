/* validate_options.c - help and options of `mallab validate`. */
#include "cli/options/validate_options.h"

#include "cli/base/cli.h"
#include "cli/options/command_line.h"
#include "results/measure/validate/recordings.h"

const char cli_validate_help[] =
    "usage: mallab validate [OPTION...] [--] CMD [ARG...]\n"
    "\n"
    "Run CMD for real under each allocator, replay what it asks of malloc, and print\n"
    "the replay's prediction beside reality: resident memory (peak, mean, end; in\n"
    "total, and the heap's part) and the difference in processor time. CMD runs\n"
    "about 3 + 2 times ROUNDS times for each allocator and is recorded three times,\n"
    "without input, its output thrown away (stderr of recorded runs is shown); it\n"
    "must do the same each time.\n"
    "\n"
    "what is compared\n"
    "  -a, --allocators LIST  names of 'mallab allocators' or paths of libraries,\n"
    "                         separated by commas [glibc,jemalloc,tcmalloc,mimalloc,\n"
    "                         those that are here]\n"
    "  -b, --baseline NAME    what the others are compared with\n"
    "                         [glibc, else the first]\n"
    "      --process NAME     which program of CMD's tree [the one with most calls]\n"
    "\n"
    "how\n"
    "  -n, --rounds N         timed runs of each candidate, and replays, 1-1000; a\n"
    "                         verdict on time takes 8; memory is sampled in the\n"
    "                         first 5 [10]\n"
    "      --recordings N     record CMD so often, 1-20: runs of one program differ,\n"
    "                         and of memory the median is predicted [3]\n"
    "      --step T           between samples of memory: 2ms, 500us [2ms]\n"
    "      --seed N           of the shuffled order and the intervals\n"
    "                         [drawn, printed]\n"
    "      --touch WHAT       what the replay writes into new memory: none, page (a\n"
    "                         byte per page) or full [page]\n"
    "      --timeout T        give up a real run or a replay after T: 90s, 5m\n"
    "                         [replays: 20 times their warm-up; real runs: never]\n"
    "\n"
    "what comes out\n"
    "  -o, --output FILE      keep the result with every sample, as JSON; FILE/, or a\n"
    "                         directory: in it, as WORKLOAD.MACHINE.DATE.json\n"
    "@force FILE\n"
    "@max-memory\n"
    "@json-result\n"
    "      --keep DIR         keep recordings and workloads in DIR, further ones in\n"
    "                         DIR/recording-2 and so on [removed]\n"
    "@progress\n"
    "@no-progress\n"
    "  -q, --quiet            no progress and no summaries of the steps\n"
    "@help\n"
    "\n"
    "A server needs a script that starts it, gives it work, stops it and waits; name\n"
    "the server with --process. Time is hyperfine's where that is installed. Ctrl-C\n"
    "ends the runs; the rounds finished before are printed and kept, those of the\n"
    "replays alone where no real one was finished. Further recordings come last:\n"
    "what was replayed of them before counts.\n"
    "\n"
    "example: mallab validate -o fidelity.json -- sqlite3 :memory: 'SELECT 1'\n"
    "exit codes: 0 done, whatever the errors are, 1 failed, also when one candidate\n"
    "did, 2 misuse; after Ctrl-C what is finished is printed and kept, then the\n"
    "signal ends mallab (130 in a shell), SIGTERM and SIGHUP likewise\n";

#define DEFAULT_ROUNDS     10
#define DEFAULT_RECORDINGS 3 /* the fewest whose median is none of the extremes */
#define DEFAULT_STEP_NS    UINT64_C(2000000)
#define LEAST_STEP_NS      UINT64_C(100000) /* below, the sampler would only keep the program from running */

enum {
    OPTION_PROCESS = 256,
    OPTION_STEP,
    OPTION_RECORDINGS,
};

static int take_option(int option, void *data)
{
    struct cli_validate_options *settings = data;
    switch (option) {
    case OPTION_PROCESS:
        settings->process = optarg;
        break;
    case OPTION_STEP:
        if (!cli_parse_duration(optarg, &settings->step_ns) || settings->step_ns < LEAST_STEP_NS)
            return cli_misuse(&CLI_VALIDATE,
                              "'%s' is no step between samples: write 2ms or 500us, 100us at least", optarg);
        break;
    case OPTION_RECORDINGS:
        if (!cli_parse_count(optarg, 1, RES_RECORDINGS_MAX, &settings->recordings))
            return cli_misuse(&CLI_VALIDATE, "'%s' is no number of recordings: 1 to %u", optarg,
                              RES_RECORDINGS_MAX);
        break;
    default:
        break;
    }
    return -1;
}

int cli_validate_take_options(int argc, char **argv, struct cli_validate_options *ret_options)
{
    static const struct option options[] = {
        CLI_MEASURE_CANDIDATES_ROWS,
        {"process", required_argument, NULL, OPTION_PROCESS},
        {"step", required_argument, NULL, OPTION_STEP},
        {"recordings", required_argument, NULL, OPTION_RECORDINGS},
        CLI_MEASURE_ROUNDS_ROW,
        CLI_MEASURE_SEED_ROW,
        CLI_MEASURE_TOUCH_ROW,
        CLI_MEASURE_TIMEOUT_ROW,
        CLI_ANSWER_RESULT_ROWS,
        CLI_ANSWER_MAX_MEMORY_ROW,
        CLI_ANSWER_KEEP_ROW,
        {NULL, 0, NULL, 0},
    };
    const struct cli_command_line line = {
        .verb = &CLI_VALIDATE,
        .options = options,
        .command_at = CLI_COMMAND_IS_OPERANDS,
        .take = take_option,
        .settings = ret_options,
        .answer = &ret_options->answer,
        .measure = &ret_options->measure,
    };
    struct cli_operands operands;
    *ret_options = (struct cli_validate_options){
        .answer = cli_answer_defaults(),
        .measure = {.rounds = DEFAULT_ROUNDS},
        .step_ns = DEFAULT_STEP_NS,
        .recordings = DEFAULT_RECORDINGS,
    };
    const int code = cli_command_line_take(&line, argc, argv, &operands);
    if (code >= 0)
        return code;
    if (operands.command == NULL)
        return cli_misuse(&CLI_VALIDATE, "no command: put it behind '--'");
    ret_options->command = operands.command;
    ret_options->measure.seed = cli_measure_seed(&ret_options->measure); /* one for replays and real runs */
    return -1;
}
