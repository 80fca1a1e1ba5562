/* report.c - `mallab report`: show results that were kept. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/history.h"
#include "cli/report_html.h"
#include "results/json.h"
#include "results/support.h"
#include "results/table.h"
#include "results/tune/tune_report.h"
#include "results/validation/validation_report.h"

static const char HELP[] =
    "usage: mallab report [OPTION...] RESULT...\n"
    "       mallab report [OPTION...] DIR...\n"
    "\n"
    "Show results that 'mallab ab -o' kept; '-' reads one from stdin. Of a directory\n"
    "of results: how each candidate moved over time, by workload and machine, against\n"
    "the baseline of the same result, and where it did so beyond the noise.\n"
    "\n"
    "      --format FORMAT  table, md (Markdown), csv, json or html [table]; html is\n"
    "                       one page that opens offline: all RESULTs, or the history\n"
    "      --json           the same as --format json\n"
    "      --details        below the table also what explains it: memory's clock,\n"
    "                       waste, latency by call, system calls, counters\n"
    "  -o, --output OUT     write to a file; '-' is stdout [-]\n"
    "  -f, --force          replace OUT when it exists\n"
    "      --color WHEN     auto, always or never, for tables [auto]\n"
    "  -h, --help           print this help\n"
    "\n"
    "example: mallab report --format md -o result.md result.json\n"
    "exit codes: 0 done, 1 failed, 2 misuse, 3 RESULT unreadable, damaged or too new\n";

enum {
    OPTION_FORMAT = 256,
    OPTION_JSON,
    OPTION_COLOR,
    OPTION_DETAILS,
};

enum format {
    FORMAT_TABLE,
    FORMAT_MARKDOWN,
    FORMAT_CSV,
    FORMAT_JSON,
    FORMAT_HTML,
};

struct settings {
    const char *output, *format_name;
    enum format format;
    bool force, help, colour, details;
};

static bool parse_format(const char *text, enum format *ret_format)
{
    static const char *const names[] = {"table", "md", "csv", "json", "html"}; /* in the order of the enum */
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(text, names[i]) == 0) {
            *ret_format = (enum format)i;
            return true;
        }
    }
    return false;
}

static int take_option(int option, char **argv, struct settings *settings)
{
    switch (option) {
    case 'o':
        settings->output = optarg;
        if (*optarg == '\0')
            return cli_misuse(&CLI_REPORT, "-o takes a name, or - for stdout");
        break;
    case 'f':
        settings->force = true;
        break;
    case 'h':
        settings->help = true;
        break;
    case OPTION_JSON:
        settings->format = FORMAT_JSON;
        settings->format_name = "json";
        break;
    case OPTION_DETAILS:
        settings->details = true;
        break;
    case OPTION_FORMAT:
        if (!parse_format(optarg, &settings->format))
            return cli_misuse(&CLI_REPORT, "--format takes 'table', 'md', 'csv', 'json' or 'html', not '%s'",
                              optarg);
        settings->format_name = optarg;
        break;
    case OPTION_COLOR:
        if (!cli_parse_color(optarg, &settings->colour))
            return cli_misuse(&CLI_REPORT, "--color takes 'auto', 'always' or 'never', not '%s'", optarg);
        break;
    default:
        return cli_option_refused(&CLI_REPORT, option, argv);
    }
    return -1;
}

static int take_options(int argc, char **argv, struct settings *ret_settings)
{
    static const struct option options[] = {
        {"format", required_argument, NULL, OPTION_FORMAT},
        {"json", no_argument, NULL, OPTION_JSON},
        {"output", required_argument, NULL, 'o'},
        {"force", no_argument, NULL, 'f'},
        {"color", required_argument, NULL, OPTION_COLOR},
        {"details", no_argument, NULL, OPTION_DETAILS},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int option;
    while ((option = getopt_long(argc, argv, ":o:fh", options, NULL)) != -1) {
        const int code = take_option(option, argv, ret_settings);
        if (code >= 0)
            return code;
    }
    if (ret_settings->help)
        return -1;
    if (optind >= argc)
        return cli_misuse(&CLI_REPORT, "no result");
    if (ret_settings->format == FORMAT_JSON && argc - optind > 1)
        return cli_misuse(&CLI_REPORT, "JSON is one object: one result at a time");
    return -1;
}

/* What `validate` kept has its own table, and the replays'; what `tune` kept its own, and with details the confirmation's. */
static char *show_tables(const json_t *result, const struct res_style *style)
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

static char *show(const json_t *result, const struct settings *settings)
{
    const struct res_style style = {
        .utf8 = cli_locale_is_utf8(),
        .colour = settings->colour && strcmp(settings->output, "-") == 0,
        .details = settings->details,
    };
    if (settings->format == FORMAT_MARKDOWN)
        return res_table_markdown(result);
    if (settings->format == FORMAT_CSV)
        return res_table_csv(result);
    if (settings->format == FORMAT_TABLE)
        return show_tables(result, &style);
    char *compact = json_dumps(result, JSON_INDENT(1));
    char *text = res_printf("%s\n", compact != NULL ? compact : "{}");
    free(compact);
    return text;
}

static int add_results(char **paths, int count, const struct settings *settings, struct res_text *text)
{
    for (int i = 0; i < count; i++) {
        char *problem = NULL;
        json_t *result = res_json_load(paths[i], &problem);
        if (result == NULL) {
            cli_say(&CLI_REPORT, "cannot read '%s': %s", paths[i], problem);
            free(problem);
            return CLI_UNREADABLE;
        }
        char *shown = show(result, settings);
        /* CSV has one heading, the others a blank line between results. */
        const char *begin = i > 0 && settings->format == FORMAT_CSV ? strchr(shown, '\n') + 1 : shown;
        if (i > 0 && settings->format != FORMAT_CSV)
            res_text_add(text, "\n", 1);
        res_text_add(text, begin, strlen(begin));
        free(shown);
        json_decref(result);
    }
    return CLI_DONE;
}

static int run_report(int argc, char **argv)
{
    struct settings settings = {.output = "-", .format_name = "table", .colour = cli_colour_by_default()};
    struct res_text text = {0};
    char *problem = NULL;
    int code = take_options(argc, argv, &settings);
    if (code >= 0)
        return code;
    if (settings.help) {
        fputs(HELP, stdout);
        return CLI_DONE;
    }
    const struct res_style style = {.utf8 = cli_locale_is_utf8(),
                                    .colour = settings.colour && strcmp(settings.output, "-") == 0};
    if (cli_history_asked(argv + optind, argc - optind))
        code = cli_history_show(&CLI_REPORT, argv + optind, argc - optind, settings.format_name, &style,
                                &text);
    else if (settings.format == FORMAT_HTML)
        code = cli_report_html(&CLI_REPORT, argv + optind, argc - optind, &text);
    else
        code = add_results(argv + optind, argc - optind, &settings, &text);
    /* Of a directory, what could be read is shown, though something in it could not. */
    if ((code == CLI_DONE || (text.length > 0 && cli_history_asked(argv + optind, argc - optind))) &&
        !cli_output_write(settings.output, settings.force, text.text, text.length, &problem)) {
        cli_say(&CLI_REPORT, "%s", problem);
        free(problem);
        code = CLI_FAILED;
    }
    free(text.text);
    return code;
}

const struct cli_verb CLI_REPORT = {
    .name = "report",
    .summary = "show results that were kept",
    .help = HELP,
    .run = run_report,
};
