/* verb_check.c - `mallab check` and `mallab compare`: a result against budgets, with the reports that CI services read, and the same candidates then and now. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/verbs/verbs.h"
#include "results/measure/figures/figures.h"
#include "results/report/html/html.h"

struct settings {
    struct cli_answer answer;
    struct res_budget budget;
    const char *baseline, *md, *junit;
    enum res_doubt doubt; /* of --inconclusive */
    bool any_machine, any_workload;
    const char *result;
};

/* ---- command line --------------------------------------------------------------------------- */

/* Returns the text, or NULL with ret_problem set. One byte more than allowed is read, so that budget.c refuses it. */
static char *read_budget(const char *path, size_t *ret_length, char **ret_problem)
{
    char *text = res_calloc(RES_BUDGET_BYTES_MAX + 1, 1);
    FILE *file = fopen(path, "re");
    if (file != NULL)
        *ret_length = fread(text, 1, RES_BUDGET_BYTES_MAX + 1, file);
    if (file == NULL || ferror(file)) {
        *ret_problem = res_strdup(strerror(errno));
        free(text);
        text = NULL;
    }
    if (file != NULL)
        fclose(file);
    return text;
}

int cli_budget_take(const struct cli_verb *verb, const struct cli_option *row, const char *argument, void *at)
{
    struct res_budget *budget = at;
    char *problem = NULL;
    if (strstr(argument, "<=") != NULL) {
        if (res_budget_add_text(budget, argument, &problem))
            return -1;
        (void)cli_misuse(verb, "--%s, %s", row->name, problem);
    } else {
        size_t length = 0;
        char *text = read_budget(argument, &length, &problem);
        if (text == NULL)
            (void)cli_misuse(verb, "--%s '%s' is no budget ('time<=+3%%') and cannot be read as a file: %s",
                             row->name, argument, problem);
        else if (!res_budget_add_file(budget, text, length, &problem))
            (void)cli_misuse(verb, "--%s '%s', %s", row->name, argument, problem);
        free(text);
    }
    const bool refused = problem != NULL;
    free(problem);
    return refused ? CLI_MISUSE : -1;
}

static int take_file(const struct cli_verb *verb, const struct cli_option *row, const char *value, void *at)
{
    if (strcmp(value, "-") == 0 || *value == '\0')
        return cli_misuse(verb, "--%s takes a file: stdout has the answer (--format)", row->name);
    *(const char **)at = value;
    return -1;
}

#define AT(member) offsetof(struct settings, member)

/* clang-format off */
static const struct cli_option OPTIONS[] = {
    {.name = "budget", .argument = "BUDGET", .how = CLI_CALL, .at = AT(budget), .take = cli_budget_take,
     .help = "'time<=+3%,jemalloc:rss-peak<=512MiB', or a file with such lines; may be given several times. Metrics: "
             "time, p99, p99.9, rss-peak, rss-mean, rss-end, rss-idle, growth, faults"},
    {.name = "baseline", .argument = "OLD", .how = CLI_TEXT, .at = AT(baseline),
     .help = "percentages against an earlier result, of this machine"},
    {.name = "any-machine", .how = CLI_FLAG, .at = AT(any_machine),
     .help = "also when OLD is another machine's"},
    {.name = "any-workload", .how = CLI_FLAG, .at = AT(any_workload),
     .help = "also when OLD is of another workload"},
    {.name = "inconclusive", .argument = "WHAT", .how = CLI_CHOICE, .at = AT(doubt),
     .least = RES_DOUBT_PASSES, .words = "pass fail", /* in the order of res_doubt */
     .help = "what is inconclusive is to 'pass' or to 'fail' [exit 5]"},
    {.name = "format", .argument = "FORMAT", .how = CLI_CHOICE, .at = AT(answer.format),
     .words = "table md json html",
     .help = "table, md (Markdown), json or html, on stdout [table]"},
    {.row = &cli_answer_json, .at = AT(answer), .help = "the same as --format json"},
    {.name = "md", .argument = "FILE", .how = CLI_CALL, .at = AT(md), .take = take_file,
     .help = "write Markdown too"},
    {.name = "junit", .argument = "FILE", .how = CLI_CALL, .at = AT(junit), .take = take_file,
     .help = "write JUnit XML too"},
    {.row = &cli_answer_force, .at = AT(answer), .help = "replace each FILE when it exists"},
    {.row = &cli_answer_color, .at = AT(answer), .help = "auto, always or never, for the table [auto]"},
    {0},
};
/* clang-format on */

static int take_options(int argc, char **argv, struct settings *ret_settings)
{
    struct cli_operands operands;
    *ret_settings = (struct settings){0};
    const int code = cli_options_take(&CLI_CHECK, argc, argv, ret_settings, &operands);
    if (code >= 0)
        return code;
    if (ret_settings->budget.rule_count == 0)
        return cli_misuse(&CLI_CHECK, "no --budget: say what is allowed, as in --budget 'time<=+3%%'");
    ret_settings->result = operands.words[0];
    return -1;
}

/* ---- reports -------------------------------------------------------------------------------- */

/* text is freed. path NULL: not asked for. */
static bool write_file(const struct settings *settings, const char *path, char *text)
{
    const struct cli_answer one = {.output = path, .force = settings->answer.force};
    const bool written = path == NULL || cli_answer_write(&CLI_CHECK, &one, text) == CLI_DONE;
    free(text);
    return written;
}

static bool write_files(const struct settings *settings, const struct res_beside *check)
{
    const struct res_style markdown = {.form = RES_FORM_MARKDOWN};
    return write_file(settings, settings->md, res_beside_document(check, &markdown)) &&
           write_file(settings, settings->junit, res_check_junit(check, settings->doubt));
}

static char *document_of(const struct settings *settings, const struct res_beside *beside, const char *title)
{
    const struct res_style style = cli_answer_style(&settings->answer);
    if (settings->answer.format == CLI_FORMAT_JSON)
        return cli_json_document(res_described_write(&RES_BESIDE, beside));
    char *text = res_beside_document(beside, &style);
    return settings->answer.format == CLI_FORMAT_HTML ? res_html_document(title, text) : text;
}

static int code_of(const struct res_beside *check, enum res_doubt doubt)
{
    switch (check->outcome) {
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
    const int code = tell_problem(res_workloads_problem(earlier, result), settings->any_workload);
    if (code != CLI_DONE)
        return code;
    return tell_problem(res_machine_problem(earlier, result), settings->any_machine);
}

static int check(const struct settings *settings, const struct res_result *earlier,
                 const struct res_result *result)
{
    struct res_beside check = {0};
    char *problem = NULL;
    if (!res_check_run(result, earlier, &settings->budget, &check, &problem)) {
        (void)cli_misuse(&CLI_CHECK, "%s", problem);
        free(problem);
        return CLI_MISUSE;
    }
    int code = code_of(&check, settings->doubt);
    check.exit_code = (uint64_t)code;
    if (write_files(settings, &check))
        cli_put_own(document_of(settings, &check, "mallab check"));
    else
        code = CLI_FAILED;
    res_described_release(&RES_BESIDE, &check);
    return code;
}

/* Checks files before the work: none of it is lost to a name that was taken. */
static int check_files(const struct settings *settings)
{
    const char *const paths[] = {settings->md, settings->junit};
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
    .usage = "--budget BUDGET [OPTION...] RESULT.json",
    .purpose =
        "Hold a result of 'mallab ab -o' against budgets: within, over, or inconclusive where rounds or "
        "noise do not allow to say. Percentages are against the baseline of the same run, which a slower "
        "machine does not change.",
    .options = OPTIONS,
    .completes = ":files json",
    .examples = "mallab check --budget 'time<=+3%,rss-peak<=+5%' result.json",
    .exit_codes =
        "0 within, 1 failed or not comparable, 2 misuse, 3 a result is unreadable, damaged or too new, "
        "4 over budget, 5 inconclusive",
    .operand = "result",
    .run = run_check,
};

/* ---- compare -------------------------------------------------------------------------------- */

/* clang-format off */
static const struct cli_option COMPARE_OPTIONS[] = {
    {.name = "any-workload", .how = CLI_FLAG, .at = AT(any_workload),
     .help = "compare results of different workloads all the same"},
    {.name = "format", .argument = "FORMAT", .how = CLI_CHOICE, .at = AT(answer.format),
     .words = "table md json html",
     .help = "table, md (Markdown), json or html [table]"},
    {.row = &cli_answer_json, .at = AT(answer), .help = "the same as --format json"},
    {.row = &cli_answer_output, .at = AT(answer)},
    {.row = &cli_answer_force, .at = AT(answer), .help = "replace OUT when it exists"},
    {0},
};
/* clang-format on */

static int compare(const struct res_result *earlier, const struct res_result *result,
                   const struct settings *settings)
{
    struct res_beside comparison;
    char *problem = settings->any_workload ? NULL : res_workloads_problem(earlier, result);
    if (problem != NULL)
        return cli_say_problem(&CLI_COMPARE, problem);
    res_compare_run(earlier, result, &comparison);
    char *text = document_of(settings, &comparison, "mallab compare");
    const int code = cli_answer_write(&CLI_COMPARE, &settings->answer, text);
    free(text);
    res_described_release(&RES_BESIDE, &comparison);
    return code;
}

static int run_compare(int argc, char **argv)
{
    struct settings settings;
    struct cli_operands operands;
    struct res_result results[2] = {{0}, {0}};
    settings = (struct settings){0};
    int code = cli_options_take(&CLI_COMPARE, argc, argv, &settings, &operands);
    if (code < 0 && operands.count != 2)
        return cli_misuse(&CLI_COMPARE, "two results are compared: OLD.json NEW.json");
    if (code >= 0)
        return code;
    code = cli_answer_check(&CLI_COMPARE, &settings.answer);
    for (int i = 0; i < 2 && code == CLI_DONE; i++)
        code = cli_result_load(&CLI_COMPARE, operands.words[i], &results[i]);
    if (code == CLI_DONE)
        code = compare(&results[0], &results[1], &settings);
    res_result_release(&results[0]);
    res_result_release(&results[1]);
    return code;
}

const struct cli_verb CLI_COMPARE = {
    .name = "compare",
    .summary = "the same candidates then and now",
    .usage = "[OPTION...] OLD.json NEW.json",
    .purpose =
        "Show how the candidates of two results of 'mallab ab -o' moved: time, resident memory, faults, "
        "each with a 95 % interval, and whether that is more than noise. Results of other workloads do not "
        "compare and are refused; other machines, versions and settings are told.",
    .options = COMPARE_OPTIONS,
    .completes = ":files json",
    .examples = "mallab compare before.json after.json",
    .exit_codes =
        "0 done, 1 failed or not comparable, 2 misuse, 3 a result is unreadable, damaged or too new",
    .takes_any = true,
    .run = run_compare,
};
