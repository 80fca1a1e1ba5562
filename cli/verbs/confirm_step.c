/* confirm_step.c - see confirm_step.h. */
#include "cli/verbs/confirm_step.h"

#include <stdlib.h>

#include "cli/base/interrupt.h"
#include "cli/base/progress.h"
#include "cli/base/say.h"
#include "footprint/base/clock.h"
#include "footprint/base/support.h"
#include "record/target.h"
#include "results/measure/base/shell_line.h"
#include "results/measure/confirm/confirm_command.h"

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
    cli_progress_begin(&progress, step->no_progress);
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

/* make_ready - find it. Returns false, told, where it cannot be run; release_ready drops it in any case. */
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

static void release_ready(struct ready *ready)
{
    free(ready->hyperfine);
    rec_target_release(&ready->target);
}

uint64_t cli_confirm_once(const struct cli_verb *verb, const struct cli_confirm_step *step, char **command,
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
    release_ready(&ready);
    return once_ns;
}

static int run_ready(const struct cli_verb *verb, const struct cli_confirm_step *step, struct ready *ready,
                     struct res_result *result)
{
    if (ready->hyperfine == NULL && !step->quiet)
        cli_say(verb, "hyperfine is not installed (apt install hyperfine), timing with wait4(2) instead");
    const int code = run_pairs(verb, step, res_confirm_command_runner(&ready->runs), result);
    result->confirmation->timed_by = ready->hyperfine != NULL ? RES_CONFIRMED_BY_HYPERFINE
                                                              : RES_CONFIRMED_BY_WAIT4;
    for (char *const *word = ready->runs.arguments; *word != NULL; word++) {
        char *plain = res_text_plain(*word);
        res_texts_add(&result->confirmation->command, plain);
        free(plain);
    }
    return code;
}

int cli_confirm_command(const struct cli_verb *verb, const struct cli_confirm_step *step, char **command,
                        int exit_code, struct res_result *result)
{
    struct ready ready;
    int code = CLI_FAILED;
    if (make_ready(verb, step, command, exit_code, &ready))
        code = run_ready(verb, step, &ready, result);
    release_ready(&ready);
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
