/* verb_report.c - `mallab report`: show results that were kept. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/output.h"
#include "cli/base/say.h"
#include "cli/options/answer_options.h"
#include "cli/options/option_table.h"
#include "cli/verbs/history_answer.h"
#include "cli/verbs/report_html.h"
#include "cli/verbs/result_files.h"
#include "cli/verbs/verbs.h"
#include "footprint/base/support.h"
#include "results/report/notes/notes.h"
#include "results/report/table/table.h"
#include "results/report/table/tune_report.h"
#include "results/report/table/validation_table.h"

/* clang-format off */
static const struct cli_option OPTIONS[] = {
    {.name = "format", .argument = "FORMAT", .how = CLI_CALL, .take = cli_answer_take_format,
     .words = "table md csv json html",
     .help = "table, md (Markdown), csv, json or html [table]; html is one page that opens offline: all "
             "RESULTs, or the history"},
    {.group = cli_answer_json, .help = "the same as --format json"},
    {.group = cli_answer_details},
    {.group = cli_answer_output},
    {.group = cli_answer_force, .help = "replace OUT when it exists"},
    {.group = cli_answer_color, .help = "auto, always or never, for tables [auto]"},
    {0},
};
/* clang-format on */

static int take_options(int argc, char **argv, struct cli_answer *ret_answer,
                        struct cli_operands *ret_operands)
{
    *ret_answer = cli_answer_defaults();
    const int code = cli_options_take(&CLI_REPORT, argc, argv, ret_answer, ret_operands);
    if (code >= 0)
        return code;
    if (ret_operands->count == 0)
        return cli_misuse(&CLI_REPORT, "no result");
    if (ret_answer->format == CLI_FORMAT_JSON && ret_operands->count > 1)
        return cli_misuse(&CLI_REPORT, "JSON is one object: one result at a time");
    return -1;
}

/* What `validate` kept has its own table, and the replays'; what `tune` kept its own, and with details the confirmation's. */
static char *show_tables(const struct res_result *result, const struct res_style *style)
{
    char *tune = res_tune_text(result, style);
    if (tune != NULL && !style->details)
        return tune;
    char *table = res_table_text(result, style);
    char *validation = tune != NULL ? tune : res_validation_text(result, style);
    if (validation == NULL)
        return table;
    char *both = res_printf("%s\n%s", table, validation);
    free(table);
    free(validation);
    return both;
}

/* As the tables: of `tune` with details the confirmation's too. */
static char *show_markdown(const struct res_result *result, const struct res_style *style)
{
    char *tune = res_tune_markdown(result);
    if (tune != NULL && !style->details)
        return tune;
    char *table = res_table_markdown(result);
    if (tune == NULL)
        return table;
    char *both = res_printf("%s\n%s", tune, table);
    free(table);
    free(tune);
    return both;
}

static char *show(const struct res_result *result, enum cli_format format, const struct res_style *style)
{
    if (format == CLI_FORMAT_MARKDOWN)
        return show_markdown(result, style);
    if (format == CLI_FORMAT_CSV)
        return res_table_csv(result);
    if (format == CLI_FORMAT_TABLE)
        return show_tables(result, style);
    char *compact = json_dumps(result->json, JSON_INDENT(1));
    char *text = res_printf("%s\n", compact != NULL ? compact : "{}");
    free(compact);
    return text;
}

static int add_results(const struct cli_operands *results, enum cli_format format,
                       const struct res_style *style, struct res_text *text)
{
    for (int i = 0; i < results->count; i++) {
        struct res_result result;
        const int code = cli_result_load(&CLI_REPORT, results->words[i], &result);
        if (code != CLI_DONE)
            return code;
        res_notes_fill(&result);
        char *shown = show(&result, format, style);
        /* CSV has one heading, the others a blank line between results. */
        const char *begin = i > 0 && format == CLI_FORMAT_CSV ? strchr(shown, '\n') + 1 : shown;
        if (i > 0 && format != CLI_FORMAT_CSV)
            res_text_add(text, "\n", 1);
        res_text_add(text, begin, strlen(begin));
        free(shown);
        res_result_release(&result);
    }
    return CLI_DONE;
}

static int run_report(int argc, char **argv)
{
    struct cli_answer answer;
    struct cli_operands operands;
    struct res_text text = {0};
    int code = take_options(argc, argv, &answer, &operands);
    if (code >= 0)
        return code;
    code = cli_answer_check(&CLI_REPORT, &answer);
    if (code != CLI_DONE)
        return code;
    const bool to_stdout = answer.output == NULL || strcmp(answer.output, "-") == 0;
    const struct res_style style = {
        .utf8 = cli_locale_is_utf8(), .colour = answer.colour && to_stdout, .details = answer.details};
    const bool of_directory = cli_history_asked(operands.words, operands.count);
    if (of_directory)
        code = cli_history_show(&CLI_REPORT, operands.words, operands.count, cli_format_name(answer.format),
                                &style, &text);
    else if (answer.format == CLI_FORMAT_HTML)
        code = cli_report_html(&CLI_REPORT, operands.words, operands.count, &text);
    else
        code = add_results(&operands, answer.format, &style, &text);
    /* Of a directory, what could be read is shown, though something in it could not. */
    if (code == CLI_DONE || (of_directory && text.length > 0)) {
        const int written = cli_answer_write(&CLI_REPORT, &answer, text.text != NULL ? text.text : "");
        code = written != CLI_DONE ? written : code;
    }
    free(text.text);
    return code;
}

const struct cli_verb CLI_REPORT = {
    .name = "report",
    .summary = "show results that were kept",
    .usage = "[OPTION...] RESULT...\n"
             "[OPTION...] DIR...",
    .purpose =
        "Show results that 'mallab ab -o' kept; '-' reads one from stdin. Of a directory of results: how "
        "each candidate moved over time, by workload and machine, against the baseline of the same "
        "result, and where it did so beyond the noise.",
    .options = OPTIONS,
    .completes = ":files json",
    .examples = "mallab report --format md -o result.md result.json",
    .exit_codes = "0 done, 1 failed, 2 misuse, 3 RESULT unreadable, damaged or too new",
    .run = run_report,
};
