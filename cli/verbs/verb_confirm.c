/* verb_confirm.c - `mallab confirm`: the program itself under each allocator. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/interrupt.h"
#include "cli/base/say.h"
#include "cli/options/answer_options.h"
#include "cli/options/choice.h"
#include "cli/options/measure_options.h"
#include "cli/options/option_table.h"
#include "cli/verbs/confirm_step.h"
#include "cli/verbs/result_files.h"
#include "cli/verbs/verbs.h"
#include "footprint/base/support.h"
#include "results/measure/base/shell_line.h"
#include "results/measure/experiment/result_making.h"
#include "results/report/table/table.h"

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
        .no_progress = settings->answer.quiet,
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
