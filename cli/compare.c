/* compare.c - `mallab compare`: the same candidates then and now. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "results/compare.h"
#include "results/json.h"
#include "results/support.h"

static const char HELP[] = "usage: mallab compare [OPTION...] OLD.json NEW.json\n"
                           "\n"
                           "Show how the candidates of two results of 'mallab ab -o' moved: time, resident\n"
                           "memory, faults, each with a 95 % interval, and whether that is more than noise.\n"
                           "Results of other workloads do not compare and are refused; other machines,\n"
                           "versions and settings are told.\n"
                           "\n"
                           "      --any-workload   compare results of different workloads all the same\n"
                           "      --format FORMAT  table, md (Markdown), csv or json [table]\n"
                           "      --json           the same as --format json\n"
                           "  -o, --output OUT     write to a file; '-' is stdout [-]\n"
                           "  -f, --force          replace OUT when it exists\n"
                           "  -h, --help           print this help\n"
                           "\n"
                           "example: mallab compare before.json after.json\n"
                           "exit codes: 0 done, 1 failed or not comparable, 2 misuse, 3 a result is\n"
                           "unreadable, damaged or too new\n";

enum { OPTION_FORMAT = 256, OPTION_JSON, OPTION_ANY_WORKLOAD };

enum format { FORMAT_TABLE, FORMAT_MARKDOWN, FORMAT_CSV, FORMAT_JSON, FORMAT_COUNT };

struct settings {
    const char *output;
    enum format format;
    bool any_workload, force, help;
};

static bool parse_format(const char *text, enum format *ret_format)
{
    static const char *const names[FORMAT_COUNT] = {"table", "md", "csv", "json"};
    for (int i = 0; i < FORMAT_COUNT; i++) {
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
    case OPTION_ANY_WORKLOAD:
        settings->any_workload = true;
        break;
    case OPTION_FORMAT:
        if (!parse_format(optarg, &settings->format))
            return cli_misuse(&CLI_COMPARE, "--format takes 'table', 'md', 'csv' or 'json', not '%s'",
                              optarg);
        break;
    case OPTION_JSON:
        settings->format = FORMAT_JSON;
        break;
    case 'o':
        settings->output = optarg;
        break;
    case 'f':
        settings->force = true;
        break;
    case 'h':
        settings->help = true;
        break;
    default:
        return cli_option_refused(&CLI_COMPARE, option, argv);
    }
    return -1;
}

static int take_options(int argc, char **argv, struct settings *ret_settings)
{
    static const struct option options[] = {
        {"any-workload", no_argument, NULL, OPTION_ANY_WORKLOAD},
        {"format", required_argument, NULL, OPTION_FORMAT},
        {"json", no_argument, NULL, OPTION_JSON},
        {"output", required_argument, NULL, 'o'},
        {"force", no_argument, NULL, 'f'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int option;
    while ((option = getopt_long(argc, argv, ":o:fh", options, NULL)) != -1) {
        const int code = take_option(option, argv, ret_settings);
        if (code >= 0)
            return code;
    }
    if (!ret_settings->help && argc - optind != 2)
        return cli_misuse(&CLI_COMPARE, "two results are compared: OLD.json NEW.json");
    return -1;
}

static char *show(const json_t *comparison, enum format format)
{
    if (format == FORMAT_TABLE)
        return res_compare_text(comparison);
    if (format == FORMAT_MARKDOWN)
        return res_compare_markdown(comparison);
    if (format == FORMAT_CSV)
        return res_compare_csv(comparison);
    char *dumped = json_dumps(comparison, JSON_INDENT(1));
    char *text = res_printf("%s\n", dumped != NULL ? dumped : "{}");
    free(dumped);
    return text;
}

static int compare(const json_t *earlier, const json_t *result, const struct settings *settings)
{
    char *problem = settings->any_workload ? NULL : res_compare_workloads_problem(earlier, result);
    if (problem == NULL) {
        json_t *comparison = res_compare_results(earlier, result);
        char *text = show(comparison, settings->format);
        (void)cli_output_write(settings->output, settings->force, text, strlen(text), &problem);
        free(text);
        json_decref(comparison);
    }
    if (problem == NULL)
        return CLI_DONE;
    cli_say(&CLI_COMPARE, "%s", problem);
    free(problem);
    return CLI_FAILED;
}

static int run_compare(int argc, char **argv)
{
    struct settings settings = {.output = "-"};
    json_t *results[2] = {NULL, NULL};
    int code = take_options(argc, argv, &settings);
    if (code >= 0)
        return code;
    if (settings.help) {
        fputs(HELP, stdout);
        return CLI_DONE;
    }
    code = CLI_DONE;
    for (int i = 0; i < 2 && code == CLI_DONE; i++) {
        char *problem = NULL;
        results[i] = res_json_load(argv[optind + i], &problem);
        if (results[i] == NULL) {
            cli_say(&CLI_COMPARE, "cannot read '%s': %s", argv[optind + i], problem);
            free(problem);
            code = CLI_UNREADABLE;
        }
    }
    if (code == CLI_DONE)
        code = compare(results[0], results[1], &settings);
    json_decref(results[0]);
    json_decref(results[1]);
    return code;
}

const struct cli_verb CLI_COMPARE = {
    .name = "compare",
    .summary = "the same candidates then and now",
    .help = HELP,
    .run = run_compare,
};
