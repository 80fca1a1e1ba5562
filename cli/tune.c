/* tune.c - `mallab tune`: search the settings of allocators, confirm the best. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/choice.h"
#include "cli/cli.h"
#include "cli/measure.h"
#include "cli/progress.h"
#include "cli/record_step.h"
#include "cli/select.h"
#include "cli/stops.h"
#include "cli/workloads.h"
#include "results/disturbances.h"
#include "results/profile.h"
#include "results/support.h"
#include "results/tune/tune_report.h"
#include "results/variables.h"

static const char HELP[] =
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
    "                         and in the confirmation [60s]\n"
    "      --seed N           of the order and the intervals [drawn, printed]\n"
    "      --touch WHAT       what is written into new memory: none, page or full\n"
    "                         [page]\n" CLI_MEASURE_HELP "\n"
    "what of a recording is replayed; these act in this order\n" CLI_SELECT_HELP "\n"
    "what comes out\n"
    "  -o, --output FILE      keep the result with every sample, as JSON; 'mallab\n"
    "                         report' shows it\n"
    "  -f, --force            replace FILE when it exists\n"
    "      --json             print that JSON instead of the table\n"
    "      --color WHEN       auto, always or never [auto]\n"
    "      --progress         progress on stderr, also when that is no terminal\n"
    "      --no-progress      none\n"
    "  -q, --quiet            no progress, no warnings of what disturbs\n"
    "  -h, --help             print this help\n"
    "\n"
    "Ctrl-C ends it; what was found so far is printed, marked as not confirmed.\n"
    "\n"
    "example: mallab tune -a jemalloc,glibc --budget 10m -o tuned.json nightly.wl\n"
    "exit codes: 0 done, also when nothing beats the default, 1 failed, 2 misuse,\n"
    "3 input unreadable, damaged or too new\n";

#define BUDGET_NS     UINT64_C(300000000000)
#define BUDGET_MAX_NS UINT64_C(604800000000000) /* a week */
#define IDLE_NS       UINT64_C(60000000000)
#define IDLE_MAX_NS   UINT64_C(86400000000000)

enum {
    OPTION_BUDGET = 256,
    OPTION_MEMORY,
    OPTION_IDLE,
    OPTION_SEED,
    OPTION_TOUCH,
    OPTION_JSON,
    OPTION_COLOR,
    OPTION_PROGRESS,
    OPTION_NO_PROGRESS,
};

struct settings {
    const char *allocators, *baseline, *output, *touch;
    struct conv_options convert;
    struct cli_measure measure;
    enum res_tune_memory memory;
    uint64_t budget_ns, idle_ns, seed;
    bool has_seed, force, json, colour, quiet, help;
    enum cli_progress_when progress;
    const char *input; /* NULL: there is a command */
    char **command;    /* NULL: none */
};

struct tune {
    struct settings settings;
    struct cli_choice choice;
    char *path;
    struct res_workload workload;
    struct cli_progress progress;
};

/* ---- command line --------------------------------------------------------------------------- */

static int take_result_option(int option, char **argv, struct settings *settings)
{
    switch (option) {
    case 'o':
        settings->output = optarg;
        if (*optarg == '\0')
            return cli_misuse(&CLI_TUNE, "-o takes a name, or - for stdout");
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
    case OPTION_COLOR:
        if (!cli_parse_color(optarg, &settings->colour))
            return cli_misuse(&CLI_TUNE, "--color takes 'auto', 'always' or 'never', not '%s'", optarg);
        break;
    case OPTION_PROGRESS:
        settings->progress = CLI_PROGRESS_ALWAYS;
        break;
    case OPTION_NO_PROGRESS:
        settings->progress = CLI_PROGRESS_NEVER;
        break;
    default:
        return cli_option_refused(&CLI_TUNE, option, argv);
    }
    return -1;
}

static int take_option(int option, char **argv, struct settings *settings)
{
    if (option >= CLI_SELECT_PROCESS && option < CLI_SELECT_END)
        return cli_select_take(&CLI_TUNE, option, optarg, &settings->convert);
    if (option >= CLI_MEASURE_PIN && option < CLI_MEASURE_END)
        return cli_measure_take(&CLI_TUNE, option, optarg, &settings->measure);
    switch (option) {
    case 'a':
        settings->allocators = optarg;
        break;
    case 'b':
        settings->baseline = optarg;
        break;
    case OPTION_BUDGET:
        if (!cli_parse_duration(optarg, &settings->budget_ns) || settings->budget_ns > BUDGET_MAX_NS)
            return cli_misuse(&CLI_TUNE, "'%s' is no budget: write 90s, 5m or 2h, a week at most", optarg);
        break;
    case OPTION_MEMORY:
        if (!res_tune_memory_from(optarg, &settings->memory))
            return cli_misuse(&CLI_TUNE, "--memory takes 'peak', 'mean', 'end' or 'idle', not '%s'", optarg);
        break;
    case OPTION_IDLE:
        if (!cli_parse_duration(optarg, &settings->idle_ns) || settings->idle_ns > IDLE_MAX_NS)
            return cli_misuse(&CLI_TUNE, "'%s' is no rest: write 60s or 5m, a day at most", optarg);
        break;
    case OPTION_SEED:
        if (!cli_parse_count(optarg, 0, (UINT64_C(1) << CLI_SEED_BITS) - 1, &settings->seed))
            return cli_misuse(&CLI_TUNE, "'%s' is no seed: 0 to 2^%d - 1", optarg, CLI_SEED_BITS);
        settings->has_seed = true;
        break;
    case OPTION_TOUCH:
        if (strcmp(optarg, "none") != 0 && strcmp(optarg, "page") != 0 && strcmp(optarg, "full") != 0)
            return cli_misuse(&CLI_TUNE, "--touch takes 'none', 'page' or 'full', not '%s'", optarg);
        settings->touch = optarg;
        break;
    default:
        return take_result_option(option, argv, settings);
    }
    return -1;
}

static int take_input(int count, char **inputs, struct settings *settings)
{
    if (settings->help)
        return -1;
    if (count == 0 && settings->command == NULL)
        return cli_misuse(&CLI_TUNE,
                          "nothing to replay: name a workload or a recording, or a command behind '--'");
    if (count + (settings->command != NULL) > 1)
        return cli_misuse(&CLI_TUNE, "one workload at a time: what is best for one need not be for the other "
                                     "(processes of one recording: --merge)");
    settings->input = count > 0 ? inputs[0] : NULL;
    return cli_select_check(&CLI_TUNE, &settings->convert);
}

static int take_options(int argc, char **argv, struct settings *ret_settings)
{
    static const struct option options[] = {
        CLI_SELECT_OPTIONS,
        CLI_MEASURE_OPTIONS,
        {"allocators", required_argument, NULL, 'a'},
        {"baseline", required_argument, NULL, 'b'},
        {"budget", required_argument, NULL, OPTION_BUDGET},
        {"memory", required_argument, NULL, OPTION_MEMORY},
        {"idle", required_argument, NULL, OPTION_IDLE},
        {"seed", required_argument, NULL, OPTION_SEED},
        {"touch", required_argument, NULL, OPTION_TOUCH},
        {"output", required_argument, NULL, 'o'},
        {"force", no_argument, NULL, 'f'},
        {"json", no_argument, NULL, OPTION_JSON},
        {"color", required_argument, NULL, OPTION_COLOR},
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
    while ((option = getopt_long(own, argv, ":a:b:o:fqh", options, NULL)) != -1) {
        const int code = take_option(option, argv, ret_settings);
        if (code >= 0)
            return code;
    }
    return take_input(own - optind, argv + optind, ret_settings);
}

/* ---- what is searched ----------------------------------------------------------------------- */

/* A candidate without ranges stands in the search as it is; but one at least must have some. */
static int check_ranges(const struct tune *tune)
{
    const struct cli_choice *choice = &tune->choice;
    bool any = false;
    for (size_t i = 0; i < choice->candidate_count; i++) {
        const struct res_candidate *candidate = choice->candidates[i];
        char *problem = res_ranges_problem(candidate);
        if (problem != NULL) {
            cli_say(&CLI_TUNE, "%s: %s", candidate->name, problem);
            free(problem);
            return CLI_FAILED;
        }
        any = any || candidate->range_count > 0;
    }
    if (any)
        return CLI_DONE;
    const struct res_candidate *first = choice->candidates[0];
    return cli_misuse(
        &CLI_TUNE,
        "'%s' declares no settings to try: add a section [ranges] to %s, or name another allocator "
        "('mallab allocators --json' lists their ranges)",
        first->name, first->origin != NULL ? first->origin : "a file of its own");
}

static int prepare_workload(struct tune *tune)
{
    const struct settings *settings = &tune->settings;
    const struct cli_prepare prepare = {
        .directory = cli_temporary_directory(),
        .convert = &settings->convert,
        .force = settings->force,
        .quiet = true, /* it is removed: nobody needs its place */
        .progress = settings->progress != CLI_PROGRESS_NEVER,
    };
    char *recording = NULL;
    int code = CLI_DONE;
    if (prepare.directory == NULL) {
        cli_say(&CLI_TUNE, "no temporary directory: %s (set TMPDIR)", strerror(errno));
        return CLI_FAILED;
    }
    if (settings->command != NULL)
        code = cli_record_step(&CLI_TUNE, settings->command, prepare.directory, settings->quiet, NULL,
                               &recording);
    if (code == CLI_DONE && cli_stopped_by == 0)
        code = cli_workload_prepare(&CLI_TUNE, &prepare, recording != NULL ? recording : settings->input, 0,
                                    &tune->path);
    free(recording);
    if (code == CLI_DONE && cli_stopped_by != 0) {
        cli_say(&CLI_TUNE, "interrupted before the first run: there is no result");
        return CLI_FAILED;
    }
    if (code == CLI_DONE)
        code = cli_workload_facts(&CLI_TUNE, tune->path, &tune->workload);
    if (code == CLI_DONE && tune->workload.duration_ns == 0 && settings->memory == RES_TUNE_IDLE) {
        cli_say(&CLI_TUNE,
                "'%s' has no recorded time, and nothing can rest without: use --memory peak or end",
                settings->input); /* an imported trace: commands are recorded with their times */
        code = CLI_FAILED;
    }
    return code;
}

/* ---- search --------------------------------------------------------------------------------- */

static void on_progress(void *context, const char *words, uint64_t done_ns, uint64_t all_ns)
{
    cli_progress_show(context, words, NULL, 0, done_ns, all_ns);
}

static int give_out(const struct tune *tune, json_t *result)
{
    const struct settings *settings = &tune->settings;
    const struct res_style style = {.utf8 = cli_locale_is_utf8(), .colour = settings->colour};
    char *compact = json_dumps(result, JSON_INDENT(1));
    char *problem = NULL;
    int code = CLI_DONE;
    if (compact == NULL) {
        cli_say(&CLI_TUNE, "no memory to write the result");
        return CLI_FAILED;
    }
    char *document = res_printf("%s\n", compact);
    free(compact);
    /* Kept first: whoever reads our stdout may have gone. */
    if (settings->output != NULL &&
        !cli_output_write(settings->output, settings->force, document, strlen(document), &problem)) {
        cli_say(&CLI_TUNE, "%s", problem);
        free(problem);
        code = CLI_FAILED;
    }
    char *shown = settings->json ? res_strdup(document) : res_tune_text(result, &style);
    fputs(shown, stdout);
    free(shown);
    free(document);
    return code;
}

static void warn_of(const struct tune *tune, const struct res_disturbances *disturbances, size_t from)
{
    size_t index;
    json_t *one;
    json_array_foreach(disturbances->list, index, one)
    {
        if (index >= from && !tune->settings.quiet)
            cli_say(&CLI_TUNE, "warning: %s: %s", json_string_value(json_object_get(one, "text")),
                    json_string_value(json_object_get(one, "remedy")));
    }
}

static int tell(const struct tune *tune, const struct res_tune_search *search,
                struct res_tune_replays *replays, const struct res_disturbances *disturbances)
{
    if (search->problem != NULL) {
        cli_say(&CLI_TUNE, "%s", search->problem);
        return CLI_FAILED;
    }
    if (search->finalist_count == 0) { /* only a stop leaves none without a problem */
        cli_say(&CLI_TUNE, "stopped before anything was compared: there is no result");
        return CLI_FAILED;
    }
    json_t *result = res_tune_result(search, replays, tune->choice.missing, tune->choice.missing_count);
    if (replays->confirmed && search->end != RES_TUNE_END_STOPPED)
        res_profile_add(result, &replays->confirmation);
    json_object_set(result, "disturbances", disturbances->list);
    const int code = give_out(tune, result);
    json_decref(result);
    return code;
}

static int run_search(struct tune *tune)
{
    const struct settings *settings = &tune->settings;
    const uint64_t seed = settings->has_seed ? settings->seed : cli_draw_seed();
    struct res_disturbances disturbances;
    struct res_tune_space space;
    struct res_tune_search search;
    struct res_random random = res_random_from(seed);
    struct res_tune_replays replays = {
        .registry = &tune->choice.registry,
        .program_directories = cli_program_directories(),
        .workload = &tune->workload,
        .bases = tune->choice.candidates,
        .floor = tune->choice.floor,
        .memory = settings->memory,
        .seed = seed,
        .budget_ns = settings->budget_ns,
        .touch = settings->touch,
        .idle_ms = (settings->idle_ns + 999999) / 1000000,
        .replay_options = settings->measure.options,
        .stop = &cli_stopped_by,
        .progress = on_progress,
        .context = &tune->progress,
    };
    const struct res_tune_evaluator evaluator = res_tune_evaluator_of(&replays);
    /* The reader of our output may go while we have a directory to remove. Not before: CMD would inherit it. */
    signal(SIGPIPE, SIG_IGN);
    res_disturbances_begin(&disturbances, "");
    warn_of(tune, &disturbances, 0);
    const size_t told = json_array_size(disturbances.list);
    res_tune_space_init(&space, tune->choice.candidates, tune->choice.candidate_count, &random);
    cli_progress_begin(&tune->progress, settings->progress);
    res_tune_run(&space, &evaluator, seed, settings->budget_ns, &search);
    cli_progress_end(&tune->progress);
    res_disturbances_end(&disturbances);
    warn_of(tune, &disturbances, told);
    const int code = tell(tune, &search, &replays, &disturbances);
    res_disturbances_release(&disturbances);
    res_tune_search_release(&search);
    res_tune_replays_release(&replays);
    res_tune_space_release(&space);
    return code;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static int check_output(const struct settings *settings)
{
    char *problem = NULL;
    if (settings->output == NULL || cli_output_check(settings->output, settings->force, &problem))
        return CLI_DONE;
    cli_say(&CLI_TUNE, "%s", problem);
    free(problem);
    return CLI_FAILED;
}

static int run_tune(int argc, char **argv)
{
    struct tune tune = {.settings = {.allocators = "glibc",
                                     .budget_ns = BUDGET_NS,
                                     .idle_ns = IDLE_NS,
                                     .colour = cli_colour_by_default()}};
    int code = take_options(argc, argv, &tune.settings);
    if (code >= 0)
        return code;
    if (tune.settings.help) {
        fputs(HELP, stdout);
        return CLI_DONE;
    }
    code = check_output(&tune.settings);
    if (code == CLI_DONE)
        code = cli_choose(&CLI_TUNE, tune.settings.allocators, tune.settings.baseline, &tune.choice);
    if (code == CLI_DONE)
        code = check_ranges(&tune);
    if (code == CLI_DONE) {
        cli_stops_take();
        code = prepare_workload(&tune);
    }
    if (code == CLI_DONE)
        code = run_search(&tune);
    free(tune.path);
    cli_choice_release(&tune.choice);
    cli_stops_end();
    return code;
}

const struct cli_verb CLI_TUNE = {
    .name = "tune",
    .summary = "search an allocator's settings: less time, less memory",
    .help = HELP,
    .run = run_tune,
};
