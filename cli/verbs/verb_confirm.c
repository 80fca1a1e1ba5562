/* verb_confirm.c - the program itself under each allocator, as a step of `ab` (struct cli_confirm_step) and as `mallab confirm`. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/verbs/verbs.h"
#include "footprint/base/process.h"
#include "results/measure/base/figure_words.h"
#include "results/measure/statistics/statistics.h"
#include "results/report/notes/notes.h"

static void on_run(void *context, const char *what, const char *candidate, uint64_t elapsed_ns,
                   uint64_t budget_ns)
{
    char *words = res_printf("the program itself, %s, %s", what, candidate);
    cli_progress_show(context, words, NULL, 0, elapsed_ns, budget_ns);
    free(words);
}

/* Each once: what the answer tells stands there alone. */
static int say_failed(const struct cli_verb *verb, const struct cli_confirm_step *step,
                      const struct res_result *result)
{
    int code = CLI_DONE;
    for (size_t i = 0; i < result->confirmed_count; i++) {
        const struct res_confirmed *one = &result->confirmed[i];
        if (one->failed == NULL)
            continue;
        if (!step->shown || (one->is_control && result->workload_count == 0))
            cli_say(verb, "the program itself: %s failed: %s", one->candidate, one->failed);
        code = CLI_FAILED;
    }
    return code;
}

static int run_pairs(const struct cli_verb *verb, const struct cli_confirm_step *step,
                     struct res_confirm_runner runner, struct res_result *result)
{
    struct cli_progress progress;
    struct res_confirm_options options = step->runs;
    options.runner = runner;
    options.stop = &cli_stopped_by;
    options.progress = on_run;
    options.context = &progress;
    cli_progress_begin(&progress, step->quiet);
    res_confirm_run(&options, result);
    cli_progress_end(&progress);
    if (result->confirmation->stopped)
        cli_say(verb, "interrupted: the pairs of runs finished before are kept");
    return say_failed(verb, step, result);
}

/* A command that is about to run. */
struct ready {
    struct rec_target target;
    char *hyperfine; /* NULL: not installed */
    struct res_confirm_command runs;
};

/* Returns false, told, where it cannot be run; release drops it in any case. */
static bool make_ready(const struct cli_verb *verb, const struct cli_confirm_step *step, struct ready *ret)
{
    *ret = (struct ready){.hyperfine = res_find_in_path("hyperfine", NULL), .runs = step->command};
    rec_target_find(step->command.arguments[0], &ret->target);
    if (ret->target.code != 0) {
        cli_say(verb, "%s", ret->target.problem);
        return false;
    }
    ret->runs.path = ret->target.path;
    ret->runs.directory = cli_temporary_directory(verb);
    ret->runs.hyperfine = ret->hyperfine;
    ret->runs.stop = &cli_stopped_by;
    return ret->runs.directory != NULL;
}

static void release(struct ready *ready)
{
    free(ready->hyperfine);
    rec_target_release(&ready->target);
}

static int run_command(const struct cli_verb *verb, const struct cli_confirm_step *step,
                       struct res_result *result)
{
    struct ready ready;
    int code = CLI_FAILED;
    if (make_ready(verb, step, &ready)) {
        if (ready.hyperfine == NULL && !step->quiet)
            cli_say(verb, "hyperfine is not installed (apt install hyperfine), timing with wait4(2) instead");
        code = run_pairs(verb, step, res_confirm_command_runner(&ready.runs), result);
        result->confirmation->timed_by = ready.hyperfine != NULL ? RES_CONFIRMED_BY_HYPERFINE
                                                                 : RES_CONFIRMED_BY_WAIT4;
        for (char *const *word = step->command.arguments; *word != NULL; word++)
            res_texts_take(&result->confirmation->command, res_text_plain(*word));
    }
    release(&ready);
    return code;
}

static char *plain(const char *line)
{
    return line != NULL ? res_text_plain(line) : NULL;
}

static int run_service(const struct cli_verb *verb, const struct cli_confirm_step *step,
                       struct res_result *result)
{
    struct res_confirm_service runs = step->service;
    runs.directory = cli_temporary_directory(verb);
    runs.stopped = &cli_stopped_by;
    if (runs.directory == NULL)
        return CLI_FAILED;
    const int code = run_pairs(verb, step, res_confirm_service_runner(&runs), result);
    if (runs.left != NULL && result->confirmation->stopped)
        cli_say(verb, "%s", runs.left); /* else a run has failed by it */
    free(runs.left);
    result->confirmation->timed_by = RES_CONFIRMED_SERVICE;
    result->confirmation->start = plain(runs.start);
    result->confirmation->ready = plain(runs.ready);
    result->confirmation->load = plain(runs.load);
    result->confirmation->stop = plain(runs.stop);
    return code;
}

int cli_confirm_run(const struct cli_verb *verb, const struct cli_confirm_step *step,
                    struct res_result *result)
{
    return step->command.arguments != NULL ? run_command(verb, step, result)
                                           : run_service(verb, step, result);
}

/* ---- what there is time for ------------------------------------------------------------------ */

uint64_t cli_confirm_most_ns(uint64_t said_ns, uint64_t budget_ns, uint64_t replays_ns)
{
    const uint64_t usual_ns = RES_CONFIRM_BUDGET_NS;
    const uint64_t like_ns = budget_ns > 0 && budget_ns < replays_ns ? budget_ns : replays_ns;
    return said_ns > 0 ? said_ns : like_ns > usual_ns ? like_ns : usual_ns;
}

static bool is_among(const struct res_candidate *const *candidates, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(candidates[i]->name, name) == 0)
            return true;
    return false;
}

size_t cli_confirm_advised(const struct cli_choice *choice, const struct res_result *result,
                           const struct res_candidate **ret_candidates)
{
    size_t count = 0;
    ret_candidates[count++] = choice->candidates[0];
    for (size_t i = 0; i < result->workload_count; i++) {
        const struct res_result_entry *tried[RES_TRIED_MAX];
        const size_t tried_count = res_notes_tried(&result->workloads[i], tried);
        for (size_t k = 0; k < tried_count; k++)
            for (size_t n = 1; n < choice->candidate_count; n++)
                if (strcmp(choice->candidates[n]->name, tried[k]->name) == 0 && count <= RES_TRIED_MAX &&
                    !is_among(ret_candidates, count, tried[k]->name))
                    ret_candidates[count++] = choice->candidates[n];
    }
    return count;
}

/* ---- the verb ------------------------------------------------------------------------------- */

struct settings {
    struct cli_answer answer;
    struct cli_measure measure;
    struct cli_confirm_step step;
};

/* ---- command line --------------------------------------------------------------------------- */

#define AT(member) offsetof(struct settings, member)

/* clang-format off */
static const struct cli_option OPTIONS[] = {
    {.heading = "what is compared"},
    {.row = &cli_measure_allocators, .at = AT(measure)},
    {.row = &cli_measure_baseline, .at = AT(measure)},

    {.heading = "a service instead of COMMAND; lines for sh(1)"},
    {.name = "start", .argument = "LINE", .how = CLI_TEXT, .at = AT(step.service.start),
     .help = "start it; under the allocator, once for each run"},
    {.name = "load", .argument = "LINE", .how = CLI_TEXT, .at = AT(step.service.load),
     .help = "give it its work, and end"},
    {.name = "stop", .seldom = true, .argument = "LINE", .how = CLI_TEXT, .at = AT(step.service.stop),
     .help = "stop it [SIGTERM to its process group, SIGKILL 10 s later]"},
    {.name = "ready", .seldom = true, .argument = "LINE", .how = CLI_TEXT, .at = AT(step.service.ready),
     .help = "tried until it succeeds, then comes the load [the load itself is tried]"},

    {.heading = "how"},
    {.row = &cli_measure_rounds, .at = AT(measure),
     .help = "pairs of runs of each candidate, 1-1000; a verdict on time takes 8 [as many as --time-budget "
             "holds, 100 at most]"},
    {.name = "time-budget", .argument = "T", .how = CLI_DURATION, .at = AT(step.runs.budget_ns),
     .help = "begin no pair of runs that would end later: 90s, 5m [60s; with -n: any time]"},
    {.name = "ignore-failure", .letter = 'i', .seldom = true, .how = CLI_SET, .at = AT(step.command.exit_code),
     .least = RES_ANY_CODE,
     .help = "COMMAND may end with any exit code; a signal is a failure all the same"},
    {.row = &cli_measure_seed, .at = AT(measure)},
    {.row = &cli_measure_timeout, .at = AT(measure),
     .help = "give up a run after T, of a service each of its lines: 90s, 5m [never; a service after 30s that is "
             "not ready, a load after 10m, or 10 times the first one and 1m]"},

    {.heading = "what comes out"},
    {.group = cli_answer_result, .at = AT(answer)},
    {.row = &cli_answer_details, .at = AT(answer)},
    {.row = &cli_answer_quiet, .at = AT(answer)},
    {0},
};
/* clang-format on */

static int check_service(const struct cli_confirm_step *step)
{
    const struct res_confirm_service *service = &step->service;
    const bool any = service->start != NULL || service->load != NULL || service->stop != NULL ||
                     service->ready != NULL;
    if (step->command.arguments != NULL && any)
        return cli_misuse(&CLI_CONFIRM, "a command or a service: --start and COMMAND exclude each other");
    if (step->command.arguments == NULL && !any)
        return cli_misuse(&CLI_CONFIRM,
                          "no program: put a command behind '--', or name a service's --start and --load");
    if (any && (service->start == NULL || service->load == NULL))
        return cli_misuse(&CLI_CONFIRM, "a service takes both --start and --load");
    return -1;
}

static int take_options(int argc, char **argv, struct settings *ret_settings)
{
    struct cli_operands operands;
    struct cli_confirm_step *step = &ret_settings->step;
    const struct cli_measure *measure = &ret_settings->measure;
    *ret_settings = (struct settings){.measure = cli_measure_defaults()};
    const int code = cli_options_take(&CLI_CONFIRM, argc, argv, ret_settings, &operands);
    if (code >= 0)
        return code;
    step->command.arguments = operands.command;
    step->command.timeout_ns = step->service.timeout_ns = measure->run.timeout_ns;
    step->runs.pairs = measure->rounds;
    step->runs.seed = measure->run.seed;
    step->quiet = ret_settings->answer.quiet;
    step->shown = !cli_is_json(&ret_settings->answer);
    if (step->runs.budget_ns == 0 && measure->rounds == 0)
        step->runs.budget_ns = RES_CONFIRM_BUDGET_NS;
    return check_service(step);
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* The program failed under the baseline, which was told: a table would have nothing in it. */
static char *show(const struct res_result *result, const struct res_style *style)
{
    const struct res_confirmed *control = &result->confirmed[result->confirmed_count - 1];
    return control->failed != NULL ? res_strdup("") : res_table_text(result, style);
}

static int run_program(struct settings *settings, const struct cli_choice *choice)
{
    const struct res_options none = {
        .candidates = choice->candidates,
        .candidate_count = choice->candidate_count,
        .missing = choice->missing,
        .missing_count = choice->missing_count,
        .seed = settings->measure.run.seed,
    }; /* no workload: the program alone */
    char *const *arguments = settings->step.command.arguments;
    struct res_result result;
    res_result_begin(&none, &result);
    settings->step.runs.candidates = choice->candidates;
    settings->step.runs.candidate_count = choice->candidate_count;
    const int code = cli_confirm_run(&CLI_CONFIRM, &settings->step, &result);
    int given = CLI_DONE;
    if (result.confirmation != NULL) {
        result.stopped = result.confirmation->stopped;
        res_result_set_complete(&result);
        char *command = arguments != NULL ? res_shell_command(arguments) : NULL;
        result.asked.command = command;
        given = cli_result_give(&CLI_CONFIRM, &settings->answer, &result, show);
        free(command);
    }
    res_result_release(&result);
    return code != CLI_DONE ? code : given;
}

static enum res_real_state run_command_as_it_is(const struct settings *settings, const char *const *libraries,
                                                const char **ret_library, char **ret_reason)
{
    enum res_real_state state = RES_REAL_FAILED;
    struct cli_printed printed;
    struct ready ready;
    if (make_ready(&CLI_CONFIRM, &settings->step, &ready)) {
        cli_printed_begin(&CLI_CONFIRM, ready.runs.arguments[0], &printed);
        state = res_confirm_command_as_it_is(&ready.runs, printed.to, libraries, ret_library, ret_reason);
        cli_printed_end(&CLI_CONFIRM, &printed, settings->answer.quiet || cli_is_json(&settings->answer));
    }
    release(&ready);
    return state;
}

static enum res_real_state run_service_as_it_is(const struct settings *settings, const char *const *libraries,
                                                const char **ret_library, char **ret_reason)
{
    struct res_confirm_service runs = settings->step.service;
    runs.directory = cli_temporary_directory(&CLI_CONFIRM);
    runs.stopped = &cli_stopped_by;
    const enum res_real_state state = runs.directory != NULL ? res_confirm_service_as_it_is(
                                                                   &runs, libraries, ret_library, ret_reason)
                                                             : RES_REAL_FAILED;
    free(runs.left);
    return state;
}

/* It is run once as it is: whether it ends well, what it prints, and what it runs on, which is the baseline as it is in `ab`. */
static int look_at_it(const struct settings *settings, struct cli_choice *choice)
{
    const char **libraries = res_calloc(choice->registry.candidate_count + 1, sizeof *libraries),
               *library = NULL;
    size_t count = 0;
    char *reason = NULL;
    for (size_t i = 0; i < choice->registry.candidate_count; i++) {
        struct res_candidate *one = choice->registry.candidates[i];
        if (one->library != NULL && strchr(one->name, '+') == NULL && /* no settings */
            (one->resolved || res_candidate_resolve(one, res_program_directories())) && one->path != NULL &&
            !res_is_c_library(one->path))
            libraries[count++] = one->path;
    }
    const enum res_real_state state = settings->step.command.arguments != NULL
                                          ? run_command_as_it_is(settings, libraries, &library, &reason)
                                          : run_service_as_it_is(settings, libraries, &library, &reason);
    if (reason != NULL)
        cli_say(&CLI_CONFIRM, "%s%s", reason,
                settings->step.command.arguments != NULL && strstr(reason, " ended with exit code ") != NULL
                    ? " (-i measures it all the same)"
                    : "");
    const char *name = library == NULL ? "glibc" : NULL;
    for (size_t i = 0; i < choice->registry.candidate_count && name == NULL; i++)
        if (choice->registry.candidates[i]->path == library) /* the very same text */
            name = choice->registry.candidates[i]->name;
    if (state == RES_REAL_OK && settings->measure.baseline == NULL)
        cli_choice_runs_on(&CLI_CONFIRM, choice, name);
    free(libraries);
    free(reason);
    return state == RES_REAL_FAILED ? CLI_FAILED : CLI_DONE;
}

static int run_confirm(int argc, char **argv)
{
    struct settings settings;
    struct cli_choice choice = {0};
    int code = take_options(argc, argv, &settings);
    if (code >= 0)
        return code;
    code = cli_result_check(&CLI_CONFIRM, &settings.answer);
    if (code == CLI_DONE)
        code = cli_choose(&CLI_CONFIRM, settings.measure.allocators, settings.measure.baseline, &choice);
    if (code == CLI_DONE) {
        if (freopen("/dev/null", "r", stdin) ==
            NULL)                      /* COMMAND runs many times and must find the same each time */
            (void)close(STDIN_FILENO); /* which is no input either */
        cli_stops_take();
        /* The reader of our output may go while we have a directory to remove; children get the default. */
        (void)signal(SIGPIPE, SIG_IGN);
        code = look_at_it(&settings, &choice);
    }
    if (code == CLI_DONE && choice.candidate_count < 2) {
        cli_say(&CLI_CONFIRM, "nothing to compare '%s' with: name another allocator (-a)",
                choice.candidates[0]->name);
        code = CLI_FAILED;
    }
    if (code == CLI_DONE && cli_stopped_by == 0)
        code = run_program(&settings, &choice);
    cli_choice_release(&choice);
    cli_stops_end();
    return code;
}

const struct cli_verb CLI_CONFIRM = {
    .name = "confirm",
    .summary = "run the program itself under each allocator",
    .usage = "[OPTION...] -- COMMAND [ARG...]\n[OPTION...] --start LINE --load LINE [--stop LINE]",
    .purpose =
        "Run COMMAND, or a service, under the baseline and each other allocator, in pairs of neighbouring "
        "runs whose order is swapped, and say what of processor time and of peak memory that saves. Nothing "
        "is recorded. COMMAND runs without input, and has to do the same each time. It or the service is "
        "run once as it is: what COMMAND prints is shown, or kept in a file if it is more than ten lines.",
    .options = OPTIONS,
    .command_at = CLI_COMMAND_BEHIND_DASHES,
    .notes =
        "Time is user and system time of all processes that come of it, by hyperfine where that is "
        "installed. The baseline runs beside itself, too: what it differs by is noise. Ctrl-C ends the runs "
        "and a service; pairs finished before are printed and kept.",
    .examples = "mallab confirm -a glibc,mimalloc -- sqlite3 :memory: 'SELECT 1'\n"
                "mallab confirm --start 'redis-server' --load 'redis-benchmark -q'",
    .exit_codes =
        "0 done, whatever is shown, 1 failed, also when the program did under one allocator, 2 misuse; "
        "after Ctrl-C what is finished is printed and kept, then the signal ends mallab (130 in a shell), "
        "SIGTERM and SIGHUP likewise",
    .run = run_confirm,
};
