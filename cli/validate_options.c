/* validate_options.c - help and options of `mallab validate`. */
#include "cli/validate_options.h"

#include <string.h>
#include <unistd.h>

#include "cli/choice.h"
#include "cli/cli.h"

const char cli_validate_help[] =
    "usage: mallab validate [OPTION...] [--] CMD [ARG...]\n"
    "\n"
    "Run CMD for real under each allocator, replay what it asks of malloc, and print\n"
    "the replay's prediction beside reality: resident memory (peak, mean, end; in\n"
    "total, and the heap's part) and the difference in processor time. CMD runs\n"
    "about 3 + 2 times ROUNDS times for each allocator, without input, its output\n"
    "thrown away; it must do the same each time.\n"
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
    "  -f, --force            replace FILE when it exists\n"
    "      --json             print that JSON instead of the table\n"
    "      --keep DIR         keep recording and workload in DIR\n"
    "                         [removed at the end]\n"
    "      --progress         progress on stderr, also when that is no terminal\n"
    "      --no-progress      none\n"
    "  -q, --quiet            no progress and no summaries of the steps\n"
    "  -h, --help             print this help\n"
    "\n"
    "A server needs a script that starts it, gives it work, stops it and waits; name\n"
    "the server with --process. Time is hyperfine's where that is installed. Ctrl-C\n"
    "ends the runs; the rounds finished before are printed and kept.\n"
    "\n"
    "example: mallab validate -o fidelity.json -- sqlite3 :memory: 'SELECT 1'\n"
    "exit codes: 0 done, whatever the errors are, 1 failed, also when one candidate\n"
    "did, 2 misuse\n";

#define DEFAULT_ROUNDS  10
#define DEFAULT_STEP_NS UINT64_C(2000000)
#define LEAST_STEP_NS   UINT64_C(100000) /* below, the sampler would only keep the program from running */

enum {
    OPTION_PROCESS = 256,
    OPTION_STEP,
    OPTION_SEED,
    OPTION_TOUCH,
    OPTION_TIMEOUT,
    OPTION_JSON,
    OPTION_KEEP,
    OPTION_PROGRESS,
    OPTION_NO_PROGRESS,
};

static int take_output_option(int option, char **argv, struct cli_validate_options *settings)
{
    switch (option) {
    case 'o':
        settings->output = optarg;
        if (*optarg == '\0')
            return cli_misuse(&CLI_VALIDATE, "-o takes a name, or - for stdout");
        break;
    case 'f':
        settings->force = true;
        break;
    case 'q':
        settings->quiet = true;
        settings->progress = CLI_PROGRESS_NEVER;
        break;
    case 'h':
        settings->help = true;
        break;
    case OPTION_JSON:
        settings->json = true;
        break;
    case OPTION_KEEP:
        settings->keep = optarg;
        break;
    case OPTION_PROGRESS:
        settings->progress = CLI_PROGRESS_ALWAYS;
        break;
    case OPTION_NO_PROGRESS:
        settings->progress = CLI_PROGRESS_NEVER;
        break;
    default:
        return cli_option_refused(&CLI_VALIDATE, option, argv);
    }
    return -1;
}

/* Returns -1 to go on, else an exit code. */
static int take_option(int option, char **argv, struct cli_validate_options *settings)
{
    switch (option) {
    case 'a':
        settings->allocators = optarg;
        break;
    case 'b':
        settings->baseline = optarg;
        break;
    case OPTION_PROCESS:
        settings->process = optarg;
        break;
    case 'n':
        if (!cli_parse_count(optarg, 1, 1000, &settings->rounds))
            return cli_misuse(&CLI_VALIDATE, "'%s' is no number of rounds: 1 to 1000", optarg);
        break;
    case OPTION_STEP:
        if (!cli_parse_duration(optarg, &settings->step_ns) || settings->step_ns < LEAST_STEP_NS)
            return cli_misuse(&CLI_VALIDATE,
                              "'%s' is no step between samples: write 2ms or 500us, 100us at least", optarg);
        break;
    case OPTION_SEED:
        if (!cli_parse_count(optarg, 0, (UINT64_C(1) << CLI_SEED_BITS) - 1, &settings->seed))
            return cli_misuse(&CLI_VALIDATE, "'%s' is no seed: 0 to 2^%d - 1", optarg, CLI_SEED_BITS);
        break;
    case OPTION_TOUCH:
        if (strcmp(optarg, "none") != 0 && strcmp(optarg, "page") != 0 && strcmp(optarg, "full") != 0)
            return cli_misuse(&CLI_VALIDATE, "--touch takes 'none', 'page' or 'full', not '%s'", optarg);
        settings->touch = optarg;
        break;
    case OPTION_TIMEOUT:
        if (!cli_parse_duration(optarg, &settings->timeout_ns))
            return cli_misuse(&CLI_VALIDATE, "'%s' is no duration: write 90s or 5m", optarg);
        break;
    default:
        return take_output_option(option, argv, settings);
    }
    return -1;
}

int cli_validate_take_options(int argc, char **argv, struct cli_validate_options *ret_options)
{
    static const struct option options[] = {
        {"allocators", required_argument, NULL, 'a'},
        {"baseline", required_argument, NULL, 'b'},
        {"process", required_argument, NULL, OPTION_PROCESS},
        {"rounds", required_argument, NULL, 'n'},
        {"step", required_argument, NULL, OPTION_STEP},
        {"seed", required_argument, NULL, OPTION_SEED},
        {"touch", required_argument, NULL, OPTION_TOUCH},
        {"timeout", required_argument, NULL, OPTION_TIMEOUT},
        {"output", required_argument, NULL, 'o'},
        {"force", no_argument, NULL, 'f'},
        {"json", no_argument, NULL, OPTION_JSON},
        {"keep", required_argument, NULL, OPTION_KEEP},
        {"progress", no_argument, NULL, OPTION_PROGRESS},
        {"no-progress", no_argument, NULL, OPTION_NO_PROGRESS},
        {"quiet", no_argument, NULL, 'q'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int option;
    *ret_options = (struct cli_validate_options){
        .rounds = DEFAULT_ROUNDS, .step_ns = DEFAULT_STEP_NS, .seed = cli_draw_seed()};
    /* '+': the options behind CMD are CMD's. */
    while ((option = getopt_long(argc, argv, "+:a:b:n:o:fqh", options, NULL)) != -1) {
        const int code = take_option(option, argv, ret_options);
        if (code >= 0)
            return code;
    }
    ret_options->command = argv + optind;
    if (!ret_options->help && optind >= argc)
        return cli_misuse(&CLI_VALIDATE, "no command: put it behind '--'");
    return -1;
}
