/* ab.c - `mallab ab`: the whole way from a command to a table. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/choice.h"
#include "cli/cli.h"
#include "cli/progress.h"
#include "cli/recorder.h"
#include "cli/select.h"
#include "cli/target.h"
#include "cli/workloads.h"
#include "results/json.h"
#include "results/profile.h"
#include "results/support.h"
#include "results/table.h"

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
    "                         separated by commas [glibc,jemalloc,tcmalloc,mimalloc,\n"
    "                         those that are here]\n"
    "  -b, --baseline NAME    what the others are compared with\n"
    "                         [glibc, else the first]\n"
    "\n"
    "how\n"
    "  -n, --rounds N         runs of each candidate, 1-1000; a verdict takes 8 [10]\n"
    "      --seed N           of the shuffled order and the intervals\n"
    "                         [drawn, printed]\n"
    "      --touch WHAT       what is written into new memory: none, page (a byte per\n"
    "                         page) or full [page]\n"
    "      --timeout T        give up a run after T: 90s, 5m [20 times its warm-up]\n"
    "\n"
    "what of a recording is replayed; these act in this order\n" CLI_SELECT_HELP "\n"
    "what comes out\n"
    "  -o, --output FILE      keep the result with every sample, as JSON\n"
    "  -f, --force            replace FILE when it exists\n"
    "      --json             print that JSON instead of the table\n"
    "      --keep DIR         keep recording and workloads in DIR\n"
    "                         [removed at the end]\n"
    "      --color WHEN       auto, always or never [auto]\n"
    "      --progress         progress on stderr, also when that is no terminal\n"
    "      --no-progress      none\n"
    "  -q, --quiet            no progress and no summaries of the steps\n"
    "  -h, --help             print this help\n"
    "\n"
    "Ctrl-C ends the experiment; the rounds finished before are printed and kept.\n"
    "\n"
    "example: mallab ab -o result.json -- sqlite3 :memory: 'SELECT 1'\n"
    "exit codes: 0 done, 1 failed, also when one candidate did, 2 misuse, 3 input\n"
    "unreadable, damaged or too new\n";

#define DEFAULT_ROUNDS 10
#define SEED_BITS      53 /* a whole number in every JSON reader */

enum {
    OPTION_SEED = 256,
    OPTION_TOUCH,
    OPTION_TIMEOUT,
    OPTION_JSON,
    OPTION_KEEP,
    OPTION_COLOR,
    OPTION_PROGRESS,
    OPTION_NO_PROGRESS,
};

struct settings {
    const char *allocators, *baseline, *output, *touch, *keep;
    struct conv_options convert;
    uint64_t rounds, seed, timeout_ns;
    bool has_seed, force, json, colour, quiet, help;
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

static volatile sig_atomic_t stopped_by; /* the signal; 0 while none came */

static void on_stop(int signal_number)
{
    stopped_by = signal_number;
}

/* ---- command line --------------------------------------------------------------------------- */

static int take_result_option(int option, char **argv, struct settings *settings)
{
    switch (option) {
    case 'o':
        settings->output = optarg;
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

static int take_option(int option, char **argv, struct settings *settings)
{
    if (option >= CLI_SELECT_PROCESS && option < CLI_SELECT_END)
        return cli_select_take(&CLI_AB, option, optarg, &settings->convert);
    switch (option) {
    case 'a':
        settings->allocators = optarg;
        break;
    case 'b':
        settings->baseline = optarg;
        break;
    case 'n':
        if (!cli_parse_count(optarg, 1, 1000, &settings->rounds))
            return cli_misuse(&CLI_AB, "'%s' is no number of rounds: 1 to 1000", optarg);
        break;
    case OPTION_SEED:
        if (!cli_parse_count(optarg, 0, (UINT64_C(1) << SEED_BITS) - 1, &settings->seed))
            return cli_misuse(&CLI_AB, "'%s' is no seed: 0 to 2^%d - 1", optarg, SEED_BITS);
        settings->has_seed = true;
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
        {"seed", required_argument, NULL, OPTION_SEED},
        {"touch", required_argument, NULL, OPTION_TOUCH},
        {"timeout", required_argument, NULL, OPTION_TIMEOUT},
        {"output", required_argument, NULL, 'o'},
        {"force", no_argument, NULL, 'f'},
        {"json", no_argument, NULL, OPTION_JSON},
        {"keep", required_argument, NULL, OPTION_KEEP},
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

/* How the command ended, where the user has to know it. */
static void tell_end(const struct cli_recorded *recorded, const char *name)
{
    if (recorded->code != 0)
        cli_say(&CLI_AB, "%s", recorded->problem);
    else if (recorded->still_running != 0)
        cli_say(&CLI_AB,
                "process %d that '%s' started still runs: record it apart with 'mallab record', and compare "
                "when it "
                "has ended",
                (int)recorded->still_running, name);
    else if (WIFSIGNALED(recorded->status))
        cli_say(&CLI_AB, "'%s' was ended by signal %d; its recording is used", name,
                WTERMSIG(recorded->status));
    else if (WEXITSTATUS(recorded->status) != 0)
        cli_say(&CLI_AB, "'%s' ended with exit code %d; its recording is used", name,
                WEXITSTATUS(recorded->status));
}

/* Whether there is something to replay; tells what is wrong with the recording. */
static bool is_usable(const char *directory, const char *name)
{
    const struct cli_totals totals = cli_record_totals(directory);
    if (totals.events == 0)
        cli_say(&CLI_AB, "nothing of '%s' was recorded: 'mallab record' says why", name);
    if (totals.lost > 0)
        cli_say(&CLI_AB, "the recording is not whole, calls were lost: %s", totals.lost_by_cause);
    return totals.events > 0;
}

static int record_command(const struct ab *ab, char **ret_recording)
{
    char **command = ab->settings.command;
    const char *slash = strrchr(command[0], '/');
    const char *name = slash != NULL ? slash + 1 : command[0];
    char *directory = res_path_join(ab->directory, name);
    const struct cli_record record = {
        .directory = directory, .stdout_to_stderr = true, .verb = &CLI_AB, .quiet = ab->settings.quiet};
    struct cli_target target;
    struct cli_recorded recorded = {0};
    bool usable = false;
    cli_target_find(command[0], &target);
    if (target.code != 0) {
        cli_say(&CLI_AB, "%s", target.problem);
    } else {
        cli_record_run(&record, target.path, command, &recorded);
        tell_end(&recorded, name);
        cli_watch_report(&CLI_AB, &recorded.watch);
        usable = recorded.code == 0 && recorded.still_running == 0 && is_usable(directory, name);
    }
    cli_target_release(&target);
    cli_recorded_release(&recorded);
    if (!usable) {
        free(directory);
        return CLI_FAILED;
    }
    *ret_recording = directory;
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
        code = record_command(ab, &recording);
    if (code == CLI_DONE && recording != NULL)
        code = add_workload(ab, recording);
    free(recording);
    for (size_t i = 0; i < settings->input_count && code == CLI_DONE && stopped_by == 0; i++)
        code = add_workload(ab, settings->inputs[i]);
    return code;
}

/* ---- experiment ----------------------------------------------------------------------------- */

static uint64_t draw_seed(void)
{
    uint64_t seed;
    if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        seed = (uint64_t)now.tv_nsec * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)now.tv_sec;
    }
    return seed % 1000000000; /* short enough to be typed again */
}

static void on_progress(void *context, const struct res_workload *workload, const char *entry, unsigned round,
                        size_t runs_done, size_t runs_all)
{
    struct cli_progress *progress = context;
    char *words = round == 0 ? res_printf("%s: warm-up, %s", workload->name, entry)
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
    const struct res_style style = {.utf8 = cli_locale_is_utf8(), .colour = settings->colour};
    char *compact = json_dumps(result, JSON_INDENT(1));
    if (compact == NULL) {
        cli_say(&CLI_AB, "no memory to write the result");
        return CLI_FAILED;
    }
    char *document = res_printf("%s\n", compact);
    char *problem = NULL;
    int code = CLI_DONE;
    free(compact);
    /* Kept first: whoever reads our stdout may have gone. */
    if (settings->output != NULL &&
        !cli_output_write(settings->output, settings->force, document, strlen(document), &problem)) {
        cli_say(&CLI_AB, "%s", problem);
        free(problem);
        code = CLI_FAILED;
    }
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
        .rounds = (unsigned)settings->rounds,
        .seed = settings->has_seed ? settings->seed : draw_seed(),
        .touch = settings->touch,
        .timeout_ns = settings->timeout_ns,
        .stop = &stopped_by,
        .progress = on_progress,
        .context = &ab->progress,
    };
    /* The reader of our output may go while we have a directory to remove. Not before: CMD would inherit it. */
    signal(SIGPIPE, SIG_IGN);
    cli_progress_begin(&ab->progress, settings->progress);
    res_experiment_run(&options, &experiment);
    cli_progress_end(&ab->progress);
    const bool failed = any_failed(&experiment);
    int code = CLI_DONE;
    if (experiment.stopped && experiment.trials[0].rounds == 0) {
        cli_say(&CLI_AB, "stopped before the first round was finished: there is no result");
        code = CLI_FAILED;
    } else {
        json_t *result = res_json_experiment(&experiment, ab->choice.missing, ab->choice.missing_count);
        if (!experiment.stopped)
            res_profile_add(result, &experiment);
        code = give_out(ab, result);
        json_decref(result);
    }
    res_experiment_release(&experiment);
    return code == CLI_DONE && failed ? CLI_FAILED : code;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static void take_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    const struct sigaction action = {.sa_handler = on_stop};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        struct sigaction before;
        sigaction(numbers[i], NULL, &before);
        if (before.sa_handler != SIG_IGN) /* under nohup they stay ignored */
            sigaction(numbers[i], &action, NULL);
    }
}

static int check_output(const struct settings *settings)
{
    char *problem = NULL;
    if (settings->output == NULL || cli_output_check(settings->output, settings->force, &problem))
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
    struct ab ab = {.settings = {.rounds = DEFAULT_ROUNDS, .colour = cli_colour_by_default()}};
    int code = take_options(argc, argv, &ab.settings);
    if (code >= 0)
        return code;
    if (ab.settings.help) {
        fputs(HELP, stdout);
        return CLI_DONE;
    }
    code = check_output(&ab.settings);
    if (code == CLI_DONE)
        code = cli_choose(&CLI_AB, ab.settings.allocators, ab.settings.baseline, &ab.choice);
    if (code == CLI_DONE) {
        take_signals();
        code = prepare_workloads(&ab);
    }
    if (code == CLI_DONE && stopped_by != 0)
        cli_say(&CLI_AB, "interrupted before the first round: there is no result");
    else if (code == CLI_DONE)
        code = run_experiment(&ab);
    ab_release(&ab);
    if (stopped_by != 0) {
        /* The shell is to see that a signal ended us; what was to be kept is kept. */
        const int number = (int)stopped_by;
        fflush(stdout);
        cli_temporary_remove();
        signal(number, SIG_DFL);
        raise(number);
    }
    return code;
}

const struct cli_verb CLI_AB = {
    .name = "ab",
    .summary = "compare allocators on a recorded program: the main job",
    .help = HELP,
    .run = run_ab,
};
