/* verb_compare.c - `mallab compare`: the same candidates then and now. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/base/cli.h"
#include "cli/base/output.h"
#include "cli/base/say.h"
#include "cli/options/answer_options.h"
#include "cli/options/option_table.h"
#include "cli/verbs/result_files.h"
#include "cli/verbs/verbs.h"
#include "footprint/base/support.h"
#include "results/report/gate/compare_results.h"
#include "results/report/gate/fleet_compare.h"

struct settings {
    struct cli_answer answer;
    bool any_workload;
    struct res_fleet_request request;
};

#define AT(member) offsetof(struct settings, member)

/* clang-format off */
static const struct cli_option OPTIONS[] = {
    {.name = "any-workload", .how = CLI_FLAG, .at = AT(any_workload),
     .help = "compare results of different workloads all the same"},
    {.group = cli_fleet_options, .at = AT(request)},
    {.name = "format", .argument = "FORMAT", .how = CLI_CALL, .at = AT(answer),
     .take = cli_answer_take_format, .words = "table md json",
     .help = "table, md (Markdown) or json [table]"},
    {.group = cli_answer_json, .at = AT(answer), .help = "the same as --format json"},
    {.group = cli_answer_output, .at = AT(answer)},
    {.group = cli_answer_force, .at = AT(answer), .help = "replace OUT when it exists"},
    {0},
};
/* clang-format on */

static int take_options(int argc, char **argv, struct settings *ret_settings,
                        struct cli_operands *ret_operands)
{
    *ret_settings = (struct settings){.answer = cli_answer_defaults()};
    const int code = cli_options_take(&CLI_COMPARE, argc, argv, ret_settings, ret_operands);
    if (code < 0 && ret_operands->count != 2)
        return cli_misuse(&CLI_COMPARE, "two results are compared: OLD.json NEW.json");
    return code;
}

static char *show(const struct res_compare *comparison, const struct cli_answer *answer)
{
    const struct res_style style = {.utf8 = cli_locale_is_utf8(), .colour = answer->colour};
    if (answer->format == CLI_FORMAT_JSON)
        return cli_json_document(res_described_write(&RES_COMPARE, comparison));
    return res_compare_document(comparison, answer->format == CLI_FORMAT_MARKDOWN ? NULL : &style);
}

static int compare(const struct res_result *earlier, const struct res_result *result,
                   const struct settings *settings)
{
    char *problem = settings->any_workload ? NULL : res_compare_workloads_problem(earlier, result);
    if (problem != NULL) {
        return cli_say_problem(&CLI_COMPARE, problem);
    }
    struct res_compare comparison;
    res_compare_results(earlier, result, &comparison);
    char *text = show(&comparison, &settings->answer);
    const int code = cli_answer_write(&CLI_COMPARE, &settings->answer, text);
    free(text);
    res_described_release(&RES_COMPARE, &comparison);
    return code;
}

static char *show_fleet(const struct res_fleet_compare *comparison, const struct cli_answer *answer)
{
    const struct res_style style = {
        .utf8 = cli_locale_is_utf8(), .colour = answer->colour, .details = answer->details};
    if (answer->format == CLI_FORMAT_JSON)
        return cli_json_document(res_described_write(&RES_FLEET_COMPARE, comparison));
    return res_fleet_compare_document(comparison, answer->format == CLI_FORMAT_MARKDOWN ? NULL : &style);
}

static int compare_fleets(const struct res_result *earlier, const struct res_result *result,
                          const struct settings *settings)
{
    struct res_fleet_compare comparison;
    char *problem = NULL;
    if (earlier->fleet == NULL || result->fleet == NULL)
        problem = res_strdup("one is a fleet and the other is of one workload: they do not compare");
    else
        (void)res_fleet_compare(earlier->fleet, result->fleet, &comparison, &problem);
    if (problem != NULL)
        return cli_say_problem(&CLI_COMPARE, problem);
    char *text = show_fleet(&comparison, &settings->answer);
    const int code = cli_answer_write(&CLI_COMPARE, &settings->answer, text);
    const int then = cli_fleet_code(earlier->fleet), now = cli_fleet_code(result->fleet);
    free(text);
    res_described_release(&RES_FLEET_COMPARE, &comparison);
    return code != CLI_DONE ? code : then > now ? then : now;
}

static int run_compare(int argc, char **argv)
{
    struct settings settings;
    struct cli_operands operands;
    struct res_result results[2] = {{0}, {0}};
    int code = take_options(argc, argv, &settings, &operands);
    if (code >= 0)
        return code;
    code = cli_answer_check(&CLI_COMPARE, &settings.answer);
    for (int i = 0; i < 2 && code == CLI_DONE; i++)
        code = cli_result_load(&CLI_COMPARE, operands.words[i], &settings.request, &results[i]);
    if (code == CLI_DONE && (res_result_is_fleet(&results[0]) || res_result_is_fleet(&results[1])))
        code = compare_fleets(&results[0], &results[1], &settings);
    else if (code == CLI_DONE)
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
        "compare and are refused; other machines, versions and settings are told. Of two fleets (directories "
        "of results): what the common line moved by, over the hosts of "
        "both.",
    .options = OPTIONS,
    .completes = ":files json",
    .examples = "mallab compare before.json after.json",
    .exit_codes =
        "0 done, 1 failed or not comparable, 2 misuse, 3 a result is unreadable, damaged or too new",
    .run = run_compare,
};
