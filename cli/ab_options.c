/* ab_options.c - the command line of `mallab ab`. */
#include "cli/ab_options.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/select.h"
#include "results/experiment.h"
#include "results/statistics.h"
#include "results/until.h"

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
    "                         with --until or --time-budget at most so many [200]\n"
    "      --until P%         add rounds, from 16 on, until the 95 % range of each\n"
    "                         candidate's time and of the noise is narrower: 2%, 1%\n"
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
    "      --timeout T        give up a run after T: 90s, 5m [20 times its warm-up]\n"
    "      --limit SIZE       let each allocator map no more: 64M, 1.5G [no limit]\n"
    "      --check            first look whether each allocator keeps its promises\n"
    "                         (alignment, overlap, contents); others are out\n"
    "\n"
    "what of a recording is replayed; these act in this order\n" CLI_SELECT_HELP "\n"
    "what comes out\n"
    "  -o, --output FILE      keep the result with every sample, as JSON; FILE/, or a\n"
    "                         directory: in it, as WORKLOAD.MACHINE.DATE.json\n"
    "  -f, --force            replace FILE when it exists\n"
    "      --json             print that JSON instead of the table\n"
    "      --keep DIR         keep recording and workloads in DIR\n"
    "                         [removed at the end]\n"
    "      --details          below the table also what explains it: memory's clock,\n"
    "                         waste, latency by call, system calls, counters\n"
    "      --color WHEN       auto, always or never [auto]\n"
    "      --progress         progress on stderr, also when that is no terminal\n"
    "      --no-progress      none\n"
    "  -q, --quiet            no progress, no summaries of the steps, no warnings of\n"
    "                         what disturbs\n"
    "  -h, --help             print this help\n"
    "\n"
    "Ctrl-C ends the experiment; the rounds finished before are printed and kept.\n"
    "\n"
    "example: mallab ab -o result.json -- sqlite3 :memory: 'SELECT 1'\n"
    "exit codes: 0 done, 1 failed, also when one candidate did, 2 misuse, 3 input\n"
    "unreadable, damaged or too new\n";

#define DEFAULT_ROUNDS 10
#define IDLE_NS        UINT64_C(60000000000)
#define IDLE_MAX_NS    UINT64_C(86400000000000)

enum {
    OPTION_SEED = 256,
    OPTION_UNTIL,
    OPTION_TIME_BUDGET,
    OPTION_MEMORY_ROUNDS,
    OPTION_IDLE,
    OPTION_TOUCH,
    OPTION_TIMEOUT,
    OPTION_LIMIT,
    OPTION_CHECK,
    OPTION_LATENCY,
    OPTION_NO_SYSCALLS,
    OPTION_HYPERFINE,
    OPTION_NO_PLACEMENT,
    OPTION_JSON,
    OPTION_KEEP,
    OPTION_COLOR,
    OPTION_DETAILS,
    OPTION_PROGRESS,
    OPTION_NO_PROGRESS,
};

static int take_result_option(int option, char **argv, struct cli_ab_options *settings)
{
    switch (option) {
    case 'o':
        settings->output = optarg;
        if (*optarg == '\0')
            return cli_misuse(&CLI_AB, "-o takes a name, or - for stdout");
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
    case OPTION_DETAILS:
        settings->details = true;
        break;
    case OPTION_COLOR:
        if (!cli_parse_color(optarg, &settings->colour))
            return cli_misuse(&CLI_AB, "--color takes 'auto', 'always' or 'never', not '%s'", optarg);
        break;
    case OPTION_PROGRESS:
        settings->progress = CLI_PROGRESS_ALWAYS;
        break;
    case OPTION_NO_PROGRESS:
        settings->progress = CLI_PROGRESS_NEVER;
        break;
    default:
        return cli_option_refused(&CLI_AB, option, argv);
    }
    return -1;
}

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
    if (!settings->has_rounds)
        settings->rounds = RES_UNTIL_ROUNDS_MAX;
    if (settings->rounds < RES_ROUNDS_FOR_VERDICT)
        return cli_misuse(&CLI_AB, "--until and --time-budget take %u rounds at least: -n %llu allows fewer",
                          RES_ROUNDS_FOR_VERDICT, (unsigned long long)settings->rounds);
    return -1;
}

static int take_option(int option, char **argv, struct cli_ab_options *settings)
{
    if (option >= CLI_SELECT_PROCESS && option < CLI_SELECT_END)
        return cli_select_take(&CLI_AB, option, optarg, &settings->convert);
    if (option >= CLI_MEASURE_PIN && option < CLI_MEASURE_END)
        return cli_measure_take(&CLI_AB, option, optarg, &settings->measure);
    switch (option) {
    case OPTION_LATENCY:
        settings->latency = true;
        break;
    case OPTION_NO_SYSCALLS:
        settings->no_syscalls = true;
        break;
    case OPTION_HYPERFINE:
        settings->whole.wanted = true;
        settings->whole.path = optarg;
        if (optarg != NULL && *optarg == '\0')
            return cli_misuse(&CLI_AB, "--hyperfine= takes the name of a file");
        break;
    case OPTION_NO_PLACEMENT:
        settings->no_placement = true;
        break;
    case 'a':
        settings->allocators = optarg;
        break;
    case 'b':
        settings->baseline = optarg;
        break;
    case 'n':
        if (!cli_parse_count(optarg, 1, 1000, &settings->rounds))
            return cli_misuse(&CLI_AB, "'%s' is no number of rounds: 1 to 1000", optarg);
        settings->has_rounds = true;
        break;
    case OPTION_UNTIL:
        if (!parse_percent(optarg, &settings->until))
            return cli_misuse(&CLI_AB, "'%s' is no width for --until: write 2%% or 0.5%%, up to 100%%",
                              optarg);
        break;
    case OPTION_TIME_BUDGET:
        if (!cli_parse_duration(optarg, &settings->time_budget_ns))
            return cli_misuse(&CLI_AB, "'%s' is no duration for --time-budget: write 90s or 5m", optarg);
        break;
    case OPTION_SEED:
        if (!cli_parse_count(optarg, 0, (UINT64_C(1) << CLI_SEED_BITS) - 1, &settings->seed))
            return cli_misuse(&CLI_AB, "'%s' is no seed: 0 to 2^%d - 1", optarg, CLI_SEED_BITS);
        settings->has_seed = true;
        break;
    case OPTION_MEMORY_ROUNDS:
        if (!cli_parse_count(optarg, 0, 1000, &settings->memory_rounds))
            return cli_misuse(&CLI_AB, "'%s' is no number of rounds: 0 to 1000", optarg);
        break;
    case OPTION_IDLE:
        settings->idle_ns = 0;
        if (strcmp(optarg, "0") != 0 && !cli_parse_duration(optarg, &settings->idle_ns))
            return cli_misuse(&CLI_AB, "'%s' is no duration: write 60s or 5m, or 0", optarg);
        if (settings->idle_ns > IDLE_MAX_NS)
            return cli_misuse(&CLI_AB, "--idle is for a day at most, not '%s'", optarg);
        break;
    case OPTION_TOUCH:
        if (strcmp(optarg, "none") != 0 && strcmp(optarg, "page") != 0 && strcmp(optarg, "full") != 0)
            return cli_misuse(&CLI_AB, "--touch takes 'none', 'page' or 'full', not '%s'", optarg);
        settings->touch = optarg;
        break;
    case OPTION_TIMEOUT:
        if (!cli_parse_duration(optarg, &settings->timeout_ns))
            return cli_misuse(&CLI_AB, "'%s' is no duration: write 90s or 5m", optarg);
        break;
    case OPTION_LIMIT:
        if (!cli_parse_size(optarg, &settings->limit_bytes))
            return cli_misuse(&CLI_AB, "'%s' is no size: write 64M or 1.5G", optarg);
        break;
    case OPTION_CHECK:
        settings->check = true;
        break;
    default:
        return take_result_option(option, argv, settings);
    }
    return -1;
}

int cli_ab_take_options(int argc, char **argv, struct cli_ab_options *ret_options)
{
    static const struct option options[] = {
        CLI_SELECT_OPTIONS,
        {"allocators", required_argument, NULL, 'a'},
        {"baseline", required_argument, NULL, 'b'},
        {"rounds", required_argument, NULL, 'n'},
        {"until", required_argument, NULL, OPTION_UNTIL},
        {"time-budget", required_argument, NULL, OPTION_TIME_BUDGET},
        {"memory-rounds", required_argument, NULL, OPTION_MEMORY_ROUNDS},
        {"idle", required_argument, NULL, OPTION_IDLE},
        {"seed", required_argument, NULL, OPTION_SEED},
        {"touch", required_argument, NULL, OPTION_TOUCH},
        {"timeout", required_argument, NULL, OPTION_TIMEOUT},
        {"limit", required_argument, NULL, OPTION_LIMIT},
        {"check", no_argument, NULL, OPTION_CHECK},
        {"latency", no_argument, NULL, OPTION_LATENCY},
        {"no-syscalls", no_argument, NULL, OPTION_NO_SYSCALLS},
        {"hyperfine", optional_argument, NULL, OPTION_HYPERFINE},
        {"no-placement", no_argument, NULL, OPTION_NO_PLACEMENT},
        CLI_MEASURE_OPTIONS,
        {"output", required_argument, NULL, 'o'},
        {"force", no_argument, NULL, 'f'},
        {"json", no_argument, NULL, OPTION_JSON},
        {"keep", required_argument, NULL, OPTION_KEEP},
        {"color", required_argument, NULL, OPTION_COLOR},
        {"details", no_argument, NULL, OPTION_DETAILS},
        {"progress", no_argument, NULL, OPTION_PROGRESS},
        {"no-progress", no_argument, NULL, OPTION_NO_PROGRESS},
        {"quiet", no_argument, NULL, 'q'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    *ret_options = (struct cli_ab_options){.rounds = DEFAULT_ROUNDS,
                                           .memory_rounds = RES_MEMORY_PASSES,
                                           .idle_ns = IDLE_NS,
                                           .colour = cli_colour_by_default()};
    int option;
    int own = argc; /* words before '--': getopt alone does not tell whether there was one */
    for (int i = 1; i < argc && own == argc; i++) {
        if (strcmp(argv[i], "--") == 0)
            own = i;
    }
    if (own + 1 < argc)
        ret_options->command = argv + own + 1;
    while ((option = getopt_long(own, argv, ":a:b:n:o:fqh", options, NULL)) != -1) {
        const int code = take_option(option, argv, ret_options);
        if (code >= 0)
            return code;
    }
    ret_options->inputs = argv + optind;
    ret_options->input_count = (size_t)(own - optind);
    if (!ret_options->help && ret_options->input_count == 0 && ret_options->command == NULL)
        return cli_misuse(&CLI_AB,
                          "nothing to replay: name a workload or a recording, or a command behind '--'");
    const int code = settle_rounds(ret_options);
    if (code >= 0)
        return code;
    return cli_select_check(&CLI_AB, &ret_options->convert);
}
