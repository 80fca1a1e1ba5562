/* verb_report.c - `mallab report`: show results that were kept. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/verbs/verbs.h"
#include "convert/base/error.h"
#include "footprint/base/words.h"
#include "results/measure/figures/figures.h"
#include "results/measure/result/result.h"
#include "results/report/html/html.h"
#include "results/report/notes/notes.h"

struct settings {
    struct cli_answer answer;
    bool together;
    struct res_fleet_request request;
};

#define AT(member) offsetof(struct settings, member)

/* clang-format off */
static const struct cli_option OPTIONS[] = {
    {.name = "together", .how = CLI_FLAG, .at = AT(together),
     .help = "of results, and directories of them, one for each host: what they say together"},
    {.name = "expect", .argument = "LIST", .how = CLI_TEXT, .at = AT(request.expect), .takes = "names, or a file of them",
     .help = "of a directory: labels or names of workloads that have to be in it, 'web1,web2', or a file with one a "
             "line; a number behind each is its share"},
    {.name = "format", .argument = "FORMAT", .how = CLI_CHOICE, .at = AT(answer.format),
     .words = "table md json html csv",
     .help = "table, md (Markdown), csv, json or html [table]; html is one page that opens offline: all "
             "RESULTs, or the history"},
    {.row = &cli_answer_json, .at = AT(answer), .help = "the same as --format json"},
    {.row = &cli_answer_details, .at = AT(answer)},
    {.row = &cli_answer_output, .at = AT(answer)},
    {.row = &cli_answer_force, .at = AT(answer), .help = "replace OUT when it exists"},
    {.row = &cli_answer_color, .at = AT(answer), .help = "auto, always or never, for tables [auto]"},
    {0},
};
/* clang-format on */

static int take_options(int argc, char **argv, struct settings *ret_settings,
                        struct cli_operands *ret_operands)
{
    *ret_settings = (struct settings){0};
    const int code = cli_options_take(&CLI_REPORT, argc, argv, ret_settings, ret_operands);
    if (code >= 0)
        return code;
    if (ret_operands->count == 0)
        return cli_misuse(&CLI_REPORT, "no result");
    if (ret_settings->answer.format == CLI_FORMAT_JSON && ret_operands->count > 1 && !ret_settings->together)
        return cli_misuse(&CLI_REPORT, "JSON is one object: one result at a time");
    return -1;
}

/* A report on its way to where it goes. */
struct report {
    char **paths;
    size_t count;
    enum cli_format format;
    struct res_style style;
    struct res_text text;
};

/* Takes over the text. */
static void add(struct report *report, char *shown)
{
    res_text_add(&report->text, shown, strlen(shown));
    free(shown);
}

static bool is_grid(const struct report *report)
{
    return report->format == CLI_FORMAT_MARKDOWN || report->format == CLI_FORMAT_TABLE;
}

/* CSV has one heading, the others a blank line between results. */
static void add_result(struct report *report, const struct res_result *result)
{
    const bool is_first = report->text.length == 0;
    if (report->format == CLI_FORMAT_CSV) {
        char *rows = res_table_csv(result);
        add(report, res_strdup(is_first ? rows : strchr(rows, '\n') + 1));
        free(rows);
        return;
    }
    if (!is_first)
        res_text_add(&report->text, "\n", 1);
    add(report, is_grid(report) ? res_table_text(result, &report->style)
                                : cli_json_document(res_result_write(result)));
}

/* A page has all of them, so they stay until it is made. */
static int add_results(struct report *report)
{
    const bool of_page = report->format == CLI_FORMAT_HTML;
    struct res_html_source *sources = res_calloc(report->count, sizeof *sources);
    struct res_result *results = res_calloc(report->count, sizeof *results);
    int code = CLI_DONE;
    for (size_t i = 0; i < report->count && code == CLI_DONE; i++) {
        code = cli_result_load(&CLI_REPORT, report->paths[i], &results[i]);
        sources[i] = (struct res_html_source){.name = conv_path_name(report->paths[i]),
                                              .result = &results[i]};
        if (code == CLI_DONE)
            res_notes_fill(&results[i]);
        if (code == CLI_DONE && !of_page)
            add_result(report, &results[i]);
        if (!of_page)
            res_result_release(&results[i]);
    }
    if (code == CLI_DONE && of_page)
        add(report, res_html(sources, report->count));
    for (size_t i = 0; i < report->count; i++)
        res_result_release(&results[i]);
    free(results);
    free(sources);
    return code;
}

/* ---- results of directories, as a history -------------------------------------------------------------------------------- */

struct gathering {
    struct res_history history;
    struct res_result **results; /* that the history is of */
    size_t count;
    bool damaged;
};

static bool is_history(const struct report *report)
{
    for (size_t i = 0; i < report->count; i++) {
        if (cli_is_directory(report->paths[i]))
            return true;
    }
    return false;
}

/* JSON of another schema may well lie beside results; a file that is no JSON, or a result that breaks its schema, is
 * damaged. */
static void add_file(struct gathering *gathering, const char *path, const char *name)
{
    struct res_result *result = res_calloc(1, sizeof *result);
    bool is_other = false;
    char *problem = NULL;
    if (res_result_load_file(path, result, &is_other, &problem)) {
        res_history_add(&gathering->history, name, result);
        gathering->results = res_realloc(gathering->results, gathering->count + 1, sizeof result);
        gathering->results[gathering->count++] = result;
    } else {
        gathering->damaged |= !is_other;
        res_history_leave_out(&gathering->history, path, is_other ? "no result of 'mallab ab'" : problem);
        free(result);
    }
    free(problem);
}

static void gathering_release(struct gathering *gathering)
{
    res_described_release(&RES_HISTORY, &gathering->history);
    for (size_t i = 0; i < gathering->count; i++) {
        res_result_release(gathering->results[i]);
        free(gathering->results[i]);
    }
    free(gathering->results);
}

static int add_path(struct gathering *gathering, const char *path)
{
    const bool is_directory = cli_is_directory(path);
    struct res_texts files = {0};
    char *problem = NULL;
    if (!res_result_files(path, &files, &problem)) {
        (void)cli_say_problem(&CLI_REPORT, problem);
        return CLI_UNREADABLE;
    }
    for (size_t i = 0; i < files.count; i++)
        add_file(gathering, files.items[i], is_directory ? conv_path_name(files.items[i]) : path);
    res_texts_release(&files);
    return CLI_DONE;
}

static void say_none(const char *path)
{
    char *sign = res_path_join(path, "recording.json");
    if (access(sign, F_OK) == 0)
        cli_say(&CLI_REPORT, "'%s' is a recording, it holds no results: 'mallab ab %s' measures it", path,
                path);
    else
        cli_say(&CLI_REPORT, "no result in '%s': 'mallab ab -o %s ...' keeps them there", path, path);
    free(sign);
}

/* A file in a directory that is no result is left out, and named. Returns an exit code: CLI_UNREADABLE, with a text, where a result
 * was damaged; without one where there was none at all. */
static int add_history(struct report *report)
{
    struct gathering gathering = {0};
    struct res_history *history = &gathering.history;
    int code = CLI_DONE;
    for (size_t i = 0; i < report->count && code == CLI_DONE; i++)
        code = add_path(&gathering, report->paths[i]);
    res_history_finish(history);
    for (size_t i = 0; i < history->left_out_count; i++)
        cli_say(&CLI_REPORT, "left out '%s': %s", history->left_out[i].file, history->left_out[i].why);
    if (code == CLI_DONE && history->results == 0) {
        say_none(report->paths[0]);
        code = CLI_UNREADABLE;
    } else if (code == CLI_DONE) {
        add(report, is_grid(report) ? res_history_document(history, &report->style)
                    : report->format == CLI_FORMAT_HTML
                        ? res_html_history(history)
                        : cli_json_document(res_described_write(&RES_HISTORY, history)));
        code = gathering.damaged ? CLI_UNREADABLE : CLI_DONE;
    }
    gathering_release(&gathering);
    return code;
}

/* ---- results together ---------------------------------------------------------------------------- */

#define TOLD_MOST 8u /* files that are left out, by name */

/* CLI_UNREADABLE where something was left out, CLI_FAILED where somebody is missing. */
static int add_fleet(struct report *report, const struct res_fleet_request *request)
{
    struct res_fleet *fleet = res_calloc(1, sizeof *fleet);
    struct res_document document = {.style = &report->style};
    struct res_result result = {0};
    char *problem = NULL;
    if (!res_fleet_collect(report->paths, report->count, request, fleet, &problem)) {
        free(fleet); /* empty */
        (void)cli_say_problem(&CLI_REPORT, problem);
        return CLI_UNREADABLE;
    }
    const size_t left_out = fleet->left_out_count;
    for (size_t i = 0; i < left_out && i < TOLD_MOST; i++)
        cli_say(&CLI_REPORT, "left out '%s': %s", fleet->left_out[i].file, fleet->left_out[i].why);
    if (left_out > TOLD_MOST)
        cli_say(&CLI_REPORT, "left out %zu more: --json names them", left_out - TOLD_MOST);
    const int code = left_out > 0 ? CLI_UNREADABLE : fleet->missing_count > 0 ? CLI_FAILED : CLI_DONE;
    res_result_of_fleet(fleet, &result);
    res_notes_fleet(result.fleet);
    const struct res_html_source source = {.name = conv_path_name(report->paths[0]), .result = &result};
    if (is_grid(report))
        res_fleet_show(&document, result.fleet);
    add(report, is_grid(report)                     ? res_document_end(&document)
                : report->format == CLI_FORMAT_HTML ? res_html(&source, 1)
                                                    : cli_json_document(res_fleet_write(result.fleet)));
    res_result_release(&result);
    return code;
}

/* ---- the verb ----------------------------------------------------------------------------------- */

static int run_report(int argc, char **argv)
{
    struct settings settings;
    struct cli_operands operands;
    int code = take_options(argc, argv, &settings, &operands);
    if (code >= 0)
        return code;
    const struct cli_answer *answer = &settings.answer;
    code = cli_answer_check(&CLI_REPORT, answer);
    if (code != CLI_DONE)
        return code;
    struct report report = {.paths = operands.words,
                            .count = (size_t)operands.count,
                            .format = answer->format,
                            .style = cli_answer_style(answer)};
    report.style.of_file = true;
    report.style.colour &= answer->output == NULL || strcmp(answer->output, "-") == 0;
    const bool of_directory = !settings.together && is_history(&report);
    if ((of_directory || settings.together) && answer->format == CLI_FORMAT_CSV)
        return cli_misuse(&CLI_REPORT, "CSV is of single results: --json has the rest");
    code = settings.together ? add_fleet(&report, &settings.request)
           : of_directory    ? add_history(&report)
                             : add_results(&report);
    /* The results of a directory that could be read are shown, though something in it could not. */
    if (code == CLI_DONE || report.text.length > 0) {
        const int written = cli_answer_write(&CLI_REPORT, answer,
                                             report.text.length > 0 ? report.text.text : "");
        code = written != CLI_DONE ? written : code;
    }
    free(report.text.text);
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
        "result, and where it did so beyond the noise. With --together: what all "
        "workloads of a directory say together, and each beside the candidates.",
    .options = OPTIONS,
    .completes = ":files json",
    .examples = "mallab report --format md -o result.md result.json",
    .exit_codes = "0 done, 1 failed, 2 misuse, 3 RESULT unreadable, damaged or too new",
    .takes_any = true,
    .run = run_report,
};
