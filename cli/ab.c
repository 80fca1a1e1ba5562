/* ab.c - `mallab ab`: the whole way from a command to a table. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/choice.h"
#include "cli/cli.h"
#include "cli/history.h"
#include "cli/measure.h"
#include "cli/progress.h"
#include "cli/record_step.h"
#include "cli/select.h"
#include "cli/stops.h"
#include "cli/whole_step.h"
#include "cli/workloads.h"
#include "results/disturbances.h"
#include "results/json.h"
#include "results/profile.h"
#include "results/support.h"
#include "results/table.h"
#include "results/until.h"

static const char HELP[] =
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

struct settings {
    const char *allocators, *baseline, *output, *touch, *keep;
    struct conv_options convert;
    uint64_t rounds, memory_rounds, seed, timeout_ns, idle_ns, limit_bytes, time_budget_ns;
    double until; /* a share; 0: not asked */
    struct cli_measure measure;
    struct cli_whole whole;
    bool check, latency, no_syscalls, no_placement;
    bool has_seed, has_rounds, force, json, colour, details, quiet, help;
    enum cli_progress_when progress;
    char **inputs;
    size_t input_count;
    char **command; /* NULL: none */
};

struct ab {
    struct settings settings;
    struct cli_choice choice;
    const char *directory; /* of recording and workloads */
    char **paths;
    struct res_workload *workloads;
    size_t workload_count;
    struct cli_progress progress;
};

/* ---- command line --------------------------------------------------------------------------- */

static int take_result_option(int option, char **argv, struct settings *settings)
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
static int settle_rounds(struct settings *settings)
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

static int take_option(int option, char **argv, struct settings *settings)
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

static int take_options(int argc, char **argv, struct settings *ret_settings)
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
    int option;
    int own = argc; /* words before '--': getopt alone does not tell whether there was one */
    for (int i = 1; i < argc && own == argc; i++) {
        if (strcmp(argv[i], "--") == 0)
            own = i;
    }
    if (own + 1 < argc)
        ret_settings->command = argv + own + 1;
    while ((option = getopt_long(own, argv, ":a:b:n:o:fqh", options, NULL)) != -1) {
        const int code = take_option(option, argv, ret_settings);
        if (code >= 0)
            return code;
    }
    ret_settings->inputs = argv + optind;
    ret_settings->input_count = (size_t)(own - optind);
    if (!ret_settings->help && ret_settings->input_count == 0 && ret_settings->command == NULL)
        return cli_misuse(&CLI_AB,
                          "nothing to replay: name a workload or a recording, or a command behind '--'");
    const int code = settle_rounds(ret_settings);
    if (code >= 0)
        return code;
    return cli_select_check(&CLI_AB, &ret_settings->convert);
}

/* ---- workloads ------------------------------------------------------------------------------ */

static int choose_directory(struct ab *ab)
{
    if (ab->settings.keep == NULL) {
        ab->directory = cli_temporary_directory();
        if (ab->directory == NULL) {
            cli_say(&CLI_AB, "no temporary directory: %s (set TMPDIR, or use --keep)", strerror(errno));
            return CLI_FAILED;
        }
        return CLI_DONE;
    }
    ab->directory = ab->settings.keep;
    if (mkdir(ab->directory, 0777) != 0 && errno != EEXIST) {
        cli_say(&CLI_AB, "cannot make '%s': %s", ab->directory, strerror(errno));
        return CLI_FAILED;
    }
    return CLI_DONE;
}

static int add_workload(struct ab *ab, const char *input)
{
    const size_t number = ab->workload_count;
    char *path = NULL;
    const struct cli_prepare prepare = {
        .directory = ab->directory,
        .convert = &ab->settings.convert,
        .force = ab->settings.force,
        .quiet = ab->settings.quiet ||
                 ab->settings.keep == NULL, /* of what is removed nobody needs the place */
        .progress = ab->settings.progress != CLI_PROGRESS_NEVER,
    };
    const int code = cli_workload_prepare(&CLI_AB, &prepare, input, number, &path);
    if (code != CLI_DONE)
        return code;
    ab->paths = res_realloc(ab->paths, number + 1, sizeof *ab->paths);
    ab->paths[number] = path;
    ab->workloads = res_realloc(ab->workloads, number + 1, sizeof *ab->workloads);
    ab->workload_count++;
    return cli_workload_facts(&CLI_AB, path, &ab->workloads[number]);
}

static int prepare_workloads(struct ab *ab)
{
    const struct settings *settings = &ab->settings;
    char *recording = NULL;
    int code = choose_directory(ab);
    if (code == CLI_DONE && settings->command != NULL)
        code = cli_record_step(&CLI_AB, settings->command, ab->directory, settings->quiet, NULL, &recording);
    if (code == CLI_DONE && recording != NULL)
        code = add_workload(ab, recording);
    free(recording);
    for (size_t i = 0; i < settings->input_count && code == CLI_DONE && cli_stopped_by == 0; i++)
        code = add_workload(ab, settings->inputs[i]);
    return code;
}

/* ---- experiment ----------------------------------------------------------------------------- */

static void on_progress(void *context, const struct res_workload *workload, const char *entry, unsigned round,
                        size_t runs_done, size_t runs_all)
{
    struct cli_progress *progress = context;
    char *words = round == 0                ? res_printf("%s: warm-up, %s", workload->name, entry)
                  : round == RES_ROUND_PASS ? res_printf("%s: behind the rounds, %s", workload->name, entry)
                                            : res_printf("%s: round %u, %s", workload->name, round, entry);
    cli_progress_show(progress, words, NULL, 0, runs_done, runs_all);
    free(words);
}

static bool any_failed(const struct res_experiment *experiment)
{
    bool failed = false;
    for (size_t i = 0; i < experiment->trial_count; i++) {
        const struct res_trial *trial = &experiment->trials[i];
        for (size_t k = 0; k < trial->entry_count; k++) {
            const struct res_entry *entry = &trial->entries[k];
            if (entry->failed == NULL)
                continue;
            failed = true;
            cli_say(&CLI_AB, "%s: %s%s failed: %s", trial->workload->name, entry->candidate->name,
                    entry->is_control ? " (control)" : "", entry->failed);
        }
    }
    return failed;
}

static int give_out(const struct ab *ab, json_t *result)
{
    const struct settings *settings = &ab->settings;
    const struct res_style style = {
        .utf8 = cli_locale_is_utf8(), .colour = settings->colour, .details = settings->details};
    char *compact = json_dumps(result, JSON_INDENT(1));
    if (compact == NULL) {
        cli_say(&CLI_AB, "no memory to write the result");
        return CLI_FAILED;
    }
    char *document = res_printf("%s\n", compact);
    char *problem = NULL;
    int code = CLI_DONE;
    free(compact);
    char *kept = NULL;
    /* Kept first: whoever reads our stdout may have gone. */
    if (settings->output != NULL &&
        !cli_keep(settings->output, settings->force, result, document, &kept, &problem)) {
        cli_say(&CLI_AB, "%s", problem);
        free(problem);
        code = CLI_FAILED;
    }
    if (kept != NULL && !settings->quiet)
        cli_say(&CLI_AB, "kept as '%s'", kept);
    free(kept);
    if (settings->json) {
        fputs(document, stdout);
    } else {
        char *table = res_table_text(result, &style);
        fputs(table, stdout);
        free(table);
    }
    free(document);
    return code;
}

/* On stderr from that number on, so that nobody waits for a result that is not worth it; the table has them too. */
static size_t warn_of(const struct ab *ab, const struct res_disturbances *disturbances, size_t from)
{
    size_t index;
    json_t *one;
    json_array_foreach(disturbances->list, index, one)
    {
        if (index >= from && !ab->settings.quiet)
            cli_say(&CLI_AB, "warning: %s: %s", json_string_value(json_object_get(one, "text")),
                    json_string_value(json_object_get(one, "remedy")));
    }
    return json_array_size(disturbances->list);
}

static int run_experiment(struct ab *ab)
{
    struct res_disturbances disturbances;
    const struct settings *settings = &ab->settings;
    struct res_experiment experiment;
    const struct res_options options = {
        .workloads = ab->workloads,
        .workload_count = ab->workload_count,
        .candidates = ab->choice.candidates,
        .candidate_count = ab->choice.candidate_count,
        .floor = ab->choice.floor,
        .rounds = (unsigned)settings->rounds,
        .until = settings->until,
        .time_budget_ns = settings->time_budget_ns,
        .memory_rounds = (unsigned)settings->memory_rounds,
        .idle_ms = (settings->idle_ns + 999999) / 1000000,
        .seed = settings->has_seed ? settings->seed : cli_draw_seed(),
        .touch = settings->touch,
        .timeout_ns = settings->timeout_ns,
        .limit_bytes = settings->limit_bytes,
        .check = settings->check,
        .replay_options = settings->measure.options,
        .latency_passes = settings->latency ? RES_LATENCY_PASSES : 0,
        .system_calls = !settings->no_syscalls,
        .placement = !settings->no_placement,
        .stop = &cli_stopped_by,
        .progress = on_progress,
        .context = &ab->progress,
    };
    /* The reader of our output may go while we have a directory to remove. Not before: CMD would inherit it. */
    signal(SIGPIPE, SIG_IGN);
    res_disturbances_begin(&disturbances, "");
    const size_t told = warn_of(ab, &disturbances, 0);
    cli_progress_begin(&ab->progress, settings->progress);
    res_experiment_run(&options, &experiment);
    cli_progress_end(&ab->progress);
    res_disturbances_end(&disturbances);
    (void)warn_of(ab, &disturbances, told);
    const bool failed = any_failed(&experiment);
    int code = CLI_DONE;
    if (experiment.stopped && experiment.trials[0].rounds == 0) {
        cli_say(&CLI_AB, "stopped before the first round was finished: there is no result");
        code = CLI_FAILED;
    } else {
        json_t *result = res_json_experiment(&experiment, ab->choice.missing, ab->choice.missing_count);
        json_object_set(result, "disturbances", disturbances.list);
        if (!experiment.stopped)
            res_profile_add(result, &experiment);
        const int whole = cli_whole_measure(&CLI_AB, &settings->whole, &experiment, ab->directory,
                                            settings->progress, result);
        code = give_out(ab, result);
        if (code == CLI_DONE)
            code = cli_whole_export(&CLI_AB, &settings->whole, settings->force, result);
        if (code == CLI_DONE)
            code = whole;
        json_decref(result);
    }
    res_disturbances_release(&disturbances);
    res_experiment_release(&experiment);
    return code == CLI_DONE && failed ? CLI_FAILED : code;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static int check_output(const struct settings *settings)
{
    char *problem = NULL;
    if (settings->output == NULL || cli_keep_check(settings->output, settings->force, &problem))
        return CLI_DONE;
    cli_say(&CLI_AB, "%s", problem);
    free(problem);
    return CLI_FAILED;
}

static void ab_release(struct ab *ab)
{
    for (size_t i = 0; i < ab->workload_count; i++)
        free(ab->paths[i]);
    free(ab->paths);
    free(ab->workloads);
    cli_choice_release(&ab->choice);
}

static int run_ab(int argc, char **argv)
{
    struct ab ab = {.settings = {.rounds = DEFAULT_ROUNDS,
                                 .memory_rounds = RES_MEMORY_PASSES,
                                 .idle_ns = IDLE_NS,
                                 .colour = cli_colour_by_default()}};
    int code = take_options(argc, argv, &ab.settings);
    if (code >= 0)
        return code;
    if (ab.settings.help) {
        fputs(HELP, stdout);
        return CLI_DONE;
    }
    code = check_output(&ab.settings);
    if (code == CLI_DONE)
        code = cli_whole_check(&CLI_AB, &ab.settings.whole, ab.settings.force);
    if (code == CLI_DONE)
        code = cli_choose(&CLI_AB, ab.settings.allocators, ab.settings.baseline, &ab.choice);
    if (code == CLI_DONE) {
        cli_stops_take();
        code = prepare_workloads(&ab);
    }
    if (code == CLI_DONE && cli_stopped_by != 0)
        cli_say(&CLI_AB, "interrupted before the first round: there is no result");
    else if (code == CLI_DONE)
        code = run_experiment(&ab);
    cli_whole_release(&ab.settings.whole);
    ab_release(&ab);
    cli_stops_end();
    return code;
}

const struct cli_verb CLI_AB = {
    .name = "ab",
    .summary = "compare allocators on a recorded program: the main job",
    .help = HELP,
    .run = run_ab,
};
