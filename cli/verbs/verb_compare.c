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
#include "results/report/beside/partners.h"
#include "results/report/html/html.h"

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
     .take = cli_answer_take_format, .words = "table md json html",
     .help = "table, md (Markdown), json or html [table]"},
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

static int compare(const struct res_result *earlier, const struct res_result *result,
                   const struct settings *settings)
{
    struct res_beside comparison;
    char *problem = settings->any_workload || earlier->fleet != NULL || result->fleet != NULL
                        ? NULL
                        : res_workloads_problem(earlier, result);
    if (problem != NULL || !res_compare_run(earlier, result, &comparison, &problem))
        return cli_say_problem(&CLI_COMPARE, problem);
    const struct res_style style = cli_answer_style(&settings->answer);
    char *text = settings->answer.format == CLI_FORMAT_JSON
                     ? cli_json_document(res_described_write(&RES_BESIDE, &comparison))
                     : res_beside_document(&comparison, &style);
    if (settings->answer.format == CLI_FORMAT_HTML)
        text = res_html_document("mallab compare", text);
    int code = cli_answer_write(&CLI_COMPARE, &settings->answer, text);
    for (int i = 0; i < 2 && code != CLI_FAILED; i++) {
        const struct res_result *one = i == 0 ? earlier : result;
        const int own = res_result_is_fleet(one) ? cli_fleet_code(one->fleet) : CLI_DONE;
        code = own > code ? own : code;
    }
    free(text);
    res_described_release(&RES_BESIDE, &comparison);
    return code;
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
