/* verb_confirm.c - the program itself under each allocator, as a step of `ab` (confirm_step.h) and as `mallab confirm`. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/interrupt.h"
#include "cli/base/say.h"
#include "cli/options/choice.h"
#include "cli/options/shared_options.h"
#include "cli/verbs/confirm_step.h"
#include "cli/verbs/result_files.h"
#include "cli/verbs/verbs.h"
#include "footprint/base/clock.h"
#include "footprint/base/support.h"
#include "record/target.h"
#include "results/measure/base/figure_words.h"
#include "results/measure/experiment/experiment.h"
#include "results/measure/statistics/statistics.h"
#include "results/report/notes/notes.h"
#include "results/report/table/table.h"

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
static bool make_ready(const struct cli_verb *verb, const struct cli_confirm_step *step, char **command,
                       int exit_code, struct ready *ret)
{
    *ret = (struct ready){.hyperfine = res_find_in_path("hyperfine", NULL)};
    rec_target_find(command[0], &ret->target);
    if (ret->target.code != 0) {
        cli_say(verb, "%s", ret->target.problem);
        return false;
    }
    ret->runs = (struct res_confirm_command){
        .path = ret->target.path,
        .arguments = command,
        .directory = cli_temporary_directory(verb),
        .hyperfine = ret->hyperfine,
        .group = step->group,
        .exit_code = exit_code,
        .timeout_ns = step->timeout_ns,
        .stop = &cli_stopped_by,
    };
    return ret->runs.directory != NULL;
}

static void release(struct ready *ready)
{
    free(ready->hyperfine);
    rec_target_release(&ready->target);
}

/* What one run under the baseline takes; 0: it failed, or was stopped. */
static uint64_t once(const struct cli_verb *verb, const struct cli_confirm_step *step, char **command,
                     int exit_code)
{
    struct ready ready;
    struct res_confirm_run ran = {0};
    char *reason = NULL;
    uint64_t once_ns = 0;
    if (make_ready(verb, step, command, exit_code, &ready)) {
        const struct res_confirm_runner runner = res_confirm_command_runner(&ready.runs);
        const uint64_t begin_ns = fp_now_ns();
        if (runner.run(runner.context, step->runs.candidates[0], RES_CONFIRM_TIME, &ran, &reason) ==
            RES_REAL_OK)
            once_ns = fp_now_ns() - begin_ns; /* with what it takes to time it */
    }
    free(reason); /* told when the pairs run */
    release(&ready);
    return once_ns;
}

int cli_confirm_command(const struct cli_verb *verb, const struct cli_confirm_step *step, char **command,
                        int exit_code, struct res_result *result)
{
    struct ready ready;
    int code = CLI_FAILED;
    if (make_ready(verb, step, command, exit_code, &ready)) {
        if (ready.hyperfine == NULL && !step->quiet)
            cli_say(verb, "hyperfine is not installed (apt install hyperfine), timing with wait4(2) instead");
        code = run_pairs(verb, step, res_confirm_command_runner(&ready.runs), result);
        result->confirmation->timed_by = ready.hyperfine != NULL ? RES_CONFIRMED_BY_HYPERFINE
                                                                 : RES_CONFIRMED_BY_WAIT4;
        for (char *const *word = command; *word != NULL; word++) {
            char *plain = res_text_plain(*word);
            res_texts_add(&result->confirmation->command, plain);
            free(plain);
        }
    }
    release(&ready);
    return code;
}

static char *plain(const char *line)
{
    return line != NULL ? res_text_plain(line) : NULL;
}

char *cli_confirm_service_words(const struct res_confirm_service *service)
{
    const struct {
        const char *option, *line;
    } all[] = {{"--start", service->start},
               {"--ready", service->ready},
               {"--load", service->load},
               {"--stop", service->stop}};
    struct res_text words = {0};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i].line != NULL) {
            res_shell_word(&words, all[i].option);
            res_shell_word(&words, all[i].line);
        }
    return words.text;
}

int cli_confirm_service(const struct cli_verb *verb, const struct cli_confirm_step *step,
                        const struct res_confirm_service *service, struct res_result *result)
{
    struct res_confirm_service runs = *service;
    runs.directory = cli_temporary_directory(verb);
    runs.timeout_ns = step->timeout_ns;
    runs.stopped = &cli_stopped_by;
    if (runs.directory == NULL)
        return CLI_FAILED;
    const int code = run_pairs(verb, step, res_confirm_service_runner(&runs), result);
    if (runs.left != NULL && result->confirmation->stopped)
        cli_say(verb, "%s", runs.left); /* else a run has failed by it */
    free(runs.left);
    result->confirmation->timed_by = RES_CONFIRMED_SERVICE;
    result->confirmation->start = plain(service->start);
    result->confirmation->ready = plain(service->ready);
    result->confirmation->load = plain(service->load);
    result->confirmation->stop = plain(service->stop);
    return code;
}

/* ---- what there is time for ------------------------------------------------------------------ */

#define LEAST_NS UINT64_C(10000000000) /* where nobody said for how long, and runs are short */

uint64_t cli_confirm_most_ns(const struct cli_confirm_times *times)
{
    const uint64_t usual_ns = RES_CONFIRM_BUDGET_NS;
    const bool is_cut = times->budget_ns > 0 && times->budget_ns < times->replays_ns;
    const uint64_t like_ns = is_cut ? times->budget_ns : times->replays_ns;
    return times->said_ns > 0 ? times->said_ns : like_ns > usual_ns ? like_ns : usual_ns;
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

/* How many of the candidates, those that save most time first, have the pairs that a verdict takes in time; with the baseline. */
static size_t fit(size_t count, uint64_t run_ns, uint64_t most_ns)
{
    while (count > 1 && res_confirm_runs(count - 1, RES_ROUNDS_FOR_VERDICT) * run_ns > most_ns)
        count--;
    return count;
}

void cli_confirm_fit(const struct cli_verb *verb, const struct cli_confirm_times *times, char **command,
                     int exit_code, uint64_t *run_ns, struct cli_confirm_step *step)
{
    const uint64_t said_ns = times->said_ns, usual_ns = cli_confirm_most_ns(times);
    const uint64_t most_ns = said_ns > 0 ? usual_ns : usual_ns + usual_ns / 4; /* a little more is taken */
    if (fit(step->runs.candidate_count, *run_ns, most_ns) < step->runs.candidate_count) {
        const uint64_t once_ns = once(verb, step, command, exit_code);
        if (once_ns > 0 && once_ns < *run_ns)
            *run_ns = once_ns;
    }
    size_t count = fit(step->runs.candidate_count, *run_ns, most_ns);
    if (count < 2 && said_ns > 0)
        count = 2; /* as far as that time goes */
    for (size_t i = count; count > 1 && i < step->runs.candidate_count; i++)
        cli_say(verb, "--confirm: no time for %s: 8 pairs of its runs too would take %s",
                step->runs.candidates[i]->name,
                RES_DURATION((double)res_confirm_runs(i, RES_ROUNDS_FOR_VERDICT) * (double)*run_ns));
    const uint64_t needed_ns = res_confirm_runs(count - 1, RES_ROUNDS_FOR_VERDICT) * *run_ns;
    const uint64_t least_ns = times->replays_ns < LEAST_NS ? LEAST_NS : times->replays_ns;
    step->runs.candidate_count = count;
    step->runs.run_ns = *run_ns;
    /* Runs differ: what barely fits may take longer. */
    step->runs.budget_ns = said_ns > 0                                      ? said_ns
                           : needed_ns > least_ns / 2 || least_ns > most_ns ? most_ns
                                                                            : least_ns;
}

/* ---- the verb ------------------------------------------------------------------------------- */

struct settings {
    struct cli_answer answer;
    struct cli_measure measure;
    struct res_confirm_service service; /* its lines */
    uint64_t budget_ns;                 /* 0: not given */
    char **command;                     /* NULL: a service */
};

/* ---- command line --------------------------------------------------------------------------- */

#define AT(member) offsetof(struct settings, member)

/* clang-format off */
static const struct cli_option OPTIONS[] = {
    {.heading = "what is compared"},
    {.group = cli_measure_allocators, .at = AT(measure)},
    {.group = cli_measure_baseline, .at = AT(measure)},

    {.heading = "a service instead of COMMAND; lines for sh(1)"},
    {.name = "start", .argument = "LINE", .how = CLI_TEXT, .at = AT(service.start),
     .help = "start it; under the allocator, once for each run"},
    {.name = "load", .argument = "LINE", .how = CLI_TEXT, .at = AT(service.load),
     .help = "give it its work, and end"},
    {.name = "stop", .seldom = true, .argument = "LINE", .how = CLI_TEXT, .at = AT(service.stop),
     .help = "stop it [SIGTERM to its process group, SIGKILL 10 s later]"},
    {.name = "ready", .seldom = true, .argument = "LINE", .how = CLI_TEXT, .at = AT(service.ready),
     .help = "tried until it succeeds, then comes the load [the load itself is tried]"},

    {.heading = "how"},
    {.group = cli_measure_rounds, .at = AT(measure),
     .help = "pairs of runs of each candidate, 1-1000; a verdict on time takes 8 [as many as --time-budget "
             "holds, 100 at most]"},
    {.name = "time-budget", .argument = "T", .how = CLI_DURATION, .at = AT(budget_ns),
     .help = "begin no pair of runs that would end later: 90s, 5m [60s; with -n: any time]"},
    {.group = cli_measure_seed, .at = AT(measure)},
    {.group = cli_measure_timeout, .at = AT(measure),
     .help = "give up a run after T, of a service each of its lines: 90s, 5m [never; a service after 30s that is "
             "not ready, a load after 10m, or 10 times the first one and 1m]"},

    {.heading = "what comes out"},
    {.group = cli_answer_result, .at = AT(answer)},
    {.group = cli_answer_details, .at = AT(answer)},
    {.group = cli_answer_quiet, .at = AT(answer)},
    {0},
};
/* clang-format on */

static int check_service(const struct settings *settings)
{
    const struct res_confirm_service *service = &settings->service;
    const bool any = service->start != NULL || service->load != NULL || service->stop != NULL ||
                     service->ready != NULL;
    if (settings->command != NULL && any)
        return cli_misuse(&CLI_CONFIRM, "a command or a service: --start and COMMAND exclude each other");
    if (settings->command == NULL && !any)
        return cli_misuse(&CLI_CONFIRM,
                          "no program: put a command behind '--', or name a service's --start and --load");
    if (any && (service->start == NULL || service->load == NULL))
        return cli_misuse(&CLI_CONFIRM, "a service takes both --start and --load");
    return -1;
}

static int take_options(int argc, char **argv, struct settings *ret_settings)
{
    struct cli_operands operands;
    *ret_settings = (struct settings){.answer = cli_answer_defaults(), .measure = cli_measure_defaults()};
    const int code = cli_options_take(&CLI_CONFIRM, argc, argv, ret_settings, &operands);
    if (code >= 0)
        return code;
    ret_settings->command = operands.command;
    if (ret_settings->budget_ns == 0 && ret_settings->measure.rounds == 0)
        ret_settings->budget_ns = RES_CONFIRM_BUDGET_NS;
    return check_service(ret_settings);
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* COMMAND runs many times and must find the same each time. */
static void close_input(void)
{
    const int null = open("/dev/null", O_RDONLY);
    if (null > STDIN_FILENO)
        (void)dup2(null, STDIN_FILENO); /* else it is closed, which is no input either */
    if (null > STDIN_FILENO)
        close(null);
}

/* Under the baseline it failed, which was told: a table would have nothing in it. */
static char *show(const struct res_result *result, const struct res_style *style)
{
    const struct res_confirmed *control = &result->confirmed[result->confirmed_count - 1];
    return control->failed != NULL ? res_strdup("") : res_table_text(result, style);
}

static int run_program(const struct settings *settings, const struct cli_choice *choice)
{
    const struct res_options none = {
        .candidates = choice->candidates,
        .candidate_count = choice->candidate_count,
        .seed = settings->measure.seed,
    };
    const struct res_experiment nothing = {.options = none}; /* no workload: the program alone */
    const struct cli_confirm_step step = {
        .runs = {.candidates = choice->candidates,
                 .candidate_count = choice->candidate_count,
                 .pairs = settings->measure.rounds,
                 .budget_ns = settings->budget_ns,
                 .seed = settings->measure.seed},
        .timeout_ns = settings->measure.timeout_ns,
        .quiet = settings->answer.quiet,
        .shown = !settings->answer.json,
    };
    struct res_result result;
    res_result_of_experiment(&nothing, choice->missing, choice->missing_count, &result);
    char *command = settings->command != NULL ? res_shell_command(settings->command) : NULL,
         *service = cli_confirm_service_words(&settings->service);
    result.asked = (struct res_asked){.command = command, .service = service};
    const int code = settings->command != NULL
                         ? cli_confirm_command(&CLI_CONFIRM, &step, settings->command, 0, &result)
                         : cli_confirm_service(&CLI_CONFIRM, &step, &settings->service, &result);
    int given = CLI_DONE;
    if (result.confirmation != NULL) {
        result.stopped = result.confirmation->stopped;
        res_result_set_complete(&result);
        given = cli_result_give(&CLI_CONFIRM, &settings->answer, &result, show);
    }
    res_result_release(&result);
    free(command);
    free(service);
    return code != CLI_DONE ? code : given;
}

/* As `ab` does by what was recorded: an allocator that the command is linked with is the baseline. */
static void settle(const struct settings *settings, struct cli_choice *choice)
{
    const char *word = settings->command != NULL ? settings->command[0] : "/";
    char *path = strchr(word, '/') != NULL ? res_strdup(word) : res_find_in_path(word, NULL);
    const struct res_candidate *linked = path != NULL ? res_registry_linked(&choice->registry, path) : NULL;
    struct res_workload program = {0};
    if (linked != NULL && settings->measure.baseline == NULL) {
        snprintf(program.runs_on.name, sizeof program.runs_on.name, "%s", linked->name);
        cli_choice_settle(&CLI_CONFIRM, &program, 1, choice);
    }
    free(path);
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
    if (code == CLI_DONE)
        settle(&settings, &choice);
    if (code == CLI_DONE && choice.candidate_count < 2) {
        cli_say(&CLI_CONFIRM, "nothing to compare '%s' with: name another allocator (-a)",
                choice.candidates[0]->name);
        code = CLI_FAILED;
    }
    if (code == CLI_DONE) {
        close_input();
        cli_stops_take();
        /* The reader of our output may go while we have a directory to remove; children get the default. */
        (void)signal(SIGPIPE, SIG_IGN);
        code = run_program(&settings, &choice);
    }
    cli_choice_release(&choice);
    cli_stops_end();
    return code;
}

const struct cli_verb CLI_CONFIRM = {
    .name = "confirm",
    .summary = "run the program itself under each allocator",
    .usage = "[OPTION...] -- COMMAND [ARG...]\n"
             "[OPTION...] --start LINE --load LINE [--stop LINE]",
    .purpose =
        "Run COMMAND, or a service, under the baseline and each other allocator, in pairs of neighbouring "
        "runs "
        "whose order is swapped, and say what of processor time and of peak memory that saves. Nothing is "
        "recorded. COMMAND runs without input, its output is thrown away, and it has to do the same each "
        "time.",
    .options = OPTIONS,
    .command_at = CLI_COMMAND_BEHIND_DASHES,
    .notes =
        "Time is user and system time with all children that were waited for, by hyperfine where that is "
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
