/* verb_check.c - `mallab check`: the gate. A result against budgets, and the reports that CI services read. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/result_files.h"
#include "cli/options/command_line.h"
#include "results/measure/base/support.h"
#include "results/measure/candidate/candidates.h"
#include "results/report/gate/ci.h"
#include "results/report/gate/compare_results.h"

static const char HELP[] = "usage: mallab check --budget BUDGET [OPTION...] RESULT.json\n"
                           "\n"
                           "Hold a result of 'mallab ab -o' against budgets: within, over, or inconclusive\n"
                           "where rounds or noise do not allow to say. Percentages are against the baseline\n"
                           "of the same run, which a slower machine does not change.\n"
                           "\n"
                           "      --budget BUDGET   'time<=+3%,jemalloc:rss-peak<=512MiB', or an INI file;\n"
                           "                        may be given several times. Metrics: time, p99,\n"
                           "                        p99.9, rss-peak, rss-mean, rss-end, rss-idle,\n"
                           "                        faults\n"
                           "      --baseline OLD    percentages against an earlier result, of this machine\n"
                           "      --any-machine     also when OLD is another machine's\n"
                           "      --any-workload    also when OLD is of another workload\n"
                           "      --inconclusive D  what is inconclusive is to 'pass' or to 'fail' [exit 5]\n"
                           "      --format FORMAT   table, md (Markdown) or json, on stdout [table]\n"
                           "@json-format\n"
                           "      --md FILE         write Markdown too\n"
                           "      --junit FILE      write JUnit XML too\n"
                           "      --benchmark FILE  write [{name, unit, value, range, extra}] too\n"
                           "      --github          print GitHub annotations too\n"
                           "@force each FILE\n"
                           "@color , for the table\n"
                           "@help\n"
                           "\n"
                           "example: mallab check --budget 'time<=+3%,rss-peak<=+5%' result.json\n"
                           "exit codes: 0 within, 1 failed or not comparable, 2 misuse, 3 a result is\n"
                           "unreadable, damaged or too new, 4 over budget, 5 inconclusive\n";

enum {
    OPTION_BUDGET = 256,
    OPTION_BASELINE,
    OPTION_ANY_MACHINE,
    OPTION_ANY_WORKLOAD,
    OPTION_INCONCLUSIVE,
    OPTION_MD,
    OPTION_JUNIT,
    OPTION_BENCHMARK,
    OPTION_GITHUB,
};

struct settings {
    struct cli_answer answer;
    struct res_budget budget;
    bool has_budget;
    const char *baseline, *md, *junit, *benchmark;
    enum res_doubt doubt;
    bool any_machine, any_workload, github;
    const char *result;
};

/* ---- command line --------------------------------------------------------------------------- */

/* Returns the text, or NULL with ret_problem set. One byte more than allowed is read, so that budget.h refuses it. */
static char *read_budget(const char *path, size_t *ret_length, char **ret_problem)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    if (file != NULL) {
        text = res_calloc(RES_INI_BYTES_MAX + 1, 1);
        errno = 0;
        *ret_length = fread(text, 1, RES_INI_BYTES_MAX + 1, file);
    }
    if (file == NULL || ferror(file)) {
        *ret_problem = res_strdup(strerror(errno));
        free(text);
        text = NULL;
    }
    if (file != NULL)
        fclose(file);
    return text;
}

static int take_budget(const char *argument, struct settings *settings)
{
    char *problem = NULL;
    settings->has_budget = true;
    if (strstr(argument, "<=") != NULL) {
        if (res_budget_add_text(&settings->budget, argument, &problem))
            return -1;
        (void)cli_misuse(&CLI_CHECK, "--budget, %s", problem);
    } else {
        size_t length = 0;
        char *text = read_budget(argument, &length, &problem);
        if (text == NULL)
            (void)cli_misuse(&CLI_CHECK,
                             "--budget '%s' is no budget ('time<=+3%%') and cannot be read as a file: %s",
                             argument, problem);
        else if (!res_budget_add_ini(&settings->budget, text, length, &problem))
            (void)cli_misuse(&CLI_CHECK, "--budget '%s', %s", argument, problem);
        free(text);
    }
    const bool refused = problem != NULL;
    free(problem);
    return refused ? CLI_MISUSE : -1;
}

static int take_doubt(struct settings *settings)
{
    if (strcmp(optarg, "pass") == 0)
        settings->doubt = RES_DOUBT_PASSES;
    else if (strcmp(optarg, "fail") == 0)
        settings->doubt = RES_DOUBT_FAILS;
    else
        return cli_misuse(&CLI_CHECK, "--inconclusive takes 'pass' or 'fail', not '%s'", optarg);
    return -1;
}

static int take_file(const char **ret_path, const char *option)
{
    if (strcmp(optarg, "-") == 0 || *optarg == '\0')
        return cli_misuse(&CLI_CHECK, "%s takes a file: stdout has the answer (--format)", option);
    *ret_path = optarg;
    return -1;
}

static int take_option(int option, void *data)
{
    struct settings *settings = data;
    switch (option) {
    case OPTION_BUDGET:
        return take_budget(optarg, settings);
    case OPTION_BASELINE:
        settings->baseline = optarg;
        return -1;
    case OPTION_ANY_MACHINE:
        settings->any_machine = true;
        return -1;
    case OPTION_ANY_WORKLOAD:
        settings->any_workload = true;
        return -1;
    case OPTION_INCONCLUSIVE:
        return take_doubt(settings);
    case OPTION_MD:
        return take_file(&settings->md, "--md");
    case OPTION_JUNIT:
        return take_file(&settings->junit, "--junit");
    case OPTION_BENCHMARK:
        return take_file(&settings->benchmark, "--benchmark");
    case OPTION_GITHUB:
        settings->github = true;
        return -1;
    default:
        return -1;
    }
}

static int take_options(int argc, char **argv, struct settings *ret_settings)
{
    static const struct option options[] = {
        {"budget", required_argument, NULL, OPTION_BUDGET},
        {"baseline", required_argument, NULL, OPTION_BASELINE},
        {"any-machine", no_argument, NULL, OPTION_ANY_MACHINE},
        {"any-workload", no_argument, NULL, OPTION_ANY_WORKLOAD},
        {"inconclusive", required_argument, NULL, OPTION_INCONCLUSIVE},
        CLI_ANSWER_FORMAT_ROW,
        CLI_ANSWER_JSON_ROW,
        {"md", required_argument, NULL, OPTION_MD},
        {"junit", required_argument, NULL, OPTION_JUNIT},
        {"benchmark", required_argument, NULL, OPTION_BENCHMARK},
        {"github", no_argument, NULL, OPTION_GITHUB},
        CLI_ANSWER_FORCE_ROW,
        CLI_ANSWER_COLOR_ROW,
        CLI_ANSWER_HELP_ROW,
        {NULL, 0, NULL, 0},
    };
    const struct cli_command_line line = {
        .verb = &CLI_CHECK,
        .options = options,
        .take = take_option,
        .settings = ret_settings,
        .answer = &ret_settings->answer,
    };
    struct cli_operands operands;
    *ret_settings = (struct settings){.answer = cli_answer_defaults()};
    ret_settings->answer.formats = 1u << CLI_FORMAT_TABLE | 1u << CLI_FORMAT_MARKDOWN | 1u << CLI_FORMAT_JSON;
    const int code = cli_command_line_take(&line, argc, argv, &operands);
    if (code >= 0)
        return code;
    if (!ret_settings->has_budget)
        return cli_misuse(&CLI_CHECK, "no --budget: say what is allowed, as in --budget 'time<=+3%%'");
    if (operands.count != 1)
        return cli_misuse(&CLI_CHECK, "one result is checked, here are %d", operands.count);
    ret_settings->result = operands.words[0];
    return -1;
}

/* ---- reports -------------------------------------------------------------------------------- */

static char *dumped(json_t *value)
{
    char *text = json_dumps(value, JSON_INDENT(1));
    char *line = res_printf("%s\n", text != NULL ? text : "null");
    free(text);
    json_decref(value);
    return line;
}

/* text is freed. path NULL: not asked for. */
static bool write_file(const struct settings *settings, const char *path, char *text)
{
    const struct cli_answer one = {.output = path, .force = settings->answer.force};
    const bool written = path == NULL || cli_answer_write(&CLI_CHECK, &one, text) == CLI_DONE;
    free(text);
    return written;
}

static bool write_files(const struct settings *settings, const struct res_check *check,
                        const struct res_result *result)
{
    return write_file(settings, settings->md, res_check_markdown(check)) &&
           write_file(settings, settings->junit, res_check_junit(check, settings->doubt)) &&
           write_file(settings, settings->benchmark, dumped(res_check_benchmark(result)));
}

static void print(const struct settings *settings, const struct res_check *check, int code)
{
    const struct res_style style = {.utf8 = cli_locale_is_utf8(), .colour = settings->answer.colour};
    char *text = settings->answer.format == CLI_FORMAT_JSON       ? dumped(res_check_json(check, code))
                 : settings->answer.format == CLI_FORMAT_MARKDOWN ? res_check_markdown(check)
                                                                  : res_check_text(check, &style);
    cli_put(text, strlen(text));
    free(text);
    if (settings->github) {
        /* GitHub reads both streams; only a table can have more lines behind it. */
        char *annotations = res_check_github(check, settings->doubt);
        fputs(annotations, settings->answer.format == CLI_FORMAT_TABLE ? stdout : stderr);
        free(annotations);
    }
}

static int code_of(const struct res_check *check, enum res_doubt doubt)
{
    switch (res_check_outcome(check)) {
    case RES_OVER:
        return CLI_CHECK_OVER;
    case RES_INCONCLUSIVE:
        return doubt == RES_DOUBT_PASSES  ? CLI_DONE
               : doubt == RES_DOUBT_FAILS ? CLI_CHECK_OVER
                                          : CLI_CHECK_INCONCLUSIVE;
    default:
        return CLI_DONE;
    }
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* Takes over problem; NULL: none. */
static int tell_problem(char *problem, bool allowed)
{
    if (problem == NULL)
        return CLI_DONE;
    cli_say(&CLI_CHECK, "%s%s", allowed ? "checked all the same: " : "", problem);
    free(problem);
    return allowed ? CLI_DONE : CLI_FAILED;
}

static int check_earlier(const struct settings *settings, const struct res_result *earlier,
                         const struct res_result *result)
{
    const int code = tell_problem(res_compare_workloads_problem(earlier->json, result->json),
                                  settings->any_workload);
    if (code != CLI_DONE)
        return code;
    return tell_problem(res_compare_machine_problem(earlier->json, result->json), settings->any_machine);
}

static int check(const struct settings *settings, const struct res_result *earlier,
                 const struct res_result *result)
{
    struct res_check check = {0};
    char *problem = NULL;
    if (!res_check_run(result, earlier, &settings->budget, &check, &problem)) {
        (void)cli_misuse(&CLI_CHECK, "%s", problem);
        free(problem);
        return CLI_MISUSE;
    }
    int code = code_of(&check, settings->doubt);
    if (write_files(settings, &check, result))
        print(settings, &check, code);
    else
        code = CLI_FAILED;
    res_check_release(&check);
    return code;
}

/* Before the work: none of it is lost to a name that was taken. */
static int check_files(const struct settings *settings)
{
    const char *const paths[] = {settings->md, settings->junit, settings->benchmark};
    int code = CLI_DONE;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0] && code == CLI_DONE; i++) {
        const struct cli_answer one = {.output = paths[i], .force = settings->answer.force};
        code = cli_answer_check(&CLI_CHECK, &one);
    }
    return code;
}

static int check_result(const struct settings *settings)
{
    struct res_result earlier = {0}, result = {0};
    const bool has_earlier = settings->baseline != NULL;
    int code = check_files(settings);
    if (code == CLI_DONE)
        code = cli_result_load(&CLI_CHECK, settings->result, &result);
    if (code == CLI_DONE && has_earlier)
        code = cli_result_load(&CLI_CHECK, settings->baseline, &earlier);
    if (code == CLI_DONE && has_earlier)
        code = check_earlier(settings, &earlier, &result);
    if (code == CLI_DONE)
        code = check(settings, has_earlier ? &earlier : NULL, &result);
    res_result_release(&result);
    res_result_release(&earlier);
    return code;
}

static int run_check(int argc, char **argv)
{
    struct settings settings;
    int code = take_options(argc, argv, &settings);
    if (code < 0)
        code = check_result(&settings);
    res_budget_release(&settings.budget);
    return code;
}

const struct cli_verb CLI_CHECK = {
    .name = "check",
    .summary = "hold a result against budgets: the CI gate",
    .help = HELP,
    .run = run_check,
};
