/* info.c - `mallab info`: what a file holds, and whether it is complete. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/describe.h"
#include "cli/progress.h"
#include "cli/select.h"
#include "cli/verdict.h"
#include "cli/workloads.h"
#include "convert/convert.h"
#include "results/json.h"
#include "results/support.h"
#include "results/table.h"

static const char HELP[] =
    "usage: mallab info [OPTION...] FILE\n"
    "\n"
    "Say what a footprint, a recording, a workload, a trace or a result holds, and\n"
    "whether it is complete.\n"
    "\n"
    "      --json           print it as JSON\n"
    "      --from FORMAT    what FILE is, one of 'mallab help convert' [found out]\n"
    "      --verify         prove it legal: read every block, execute every op of a\n"
    "                       workload on paper; 'legal', or what is wrong first\n"
    "      --salvage        leave out damaged blocks, lines and records, and count\n"
    "                       them, instead of refusing the file\n"
    "      --color WHEN     auto, always or never, for results [auto]\n"
    "      --no-progress    no progress on stderr\n"
    "  -h, --help           print this help\n"
    "\n"
    "say what 'mallab convert' with these would make of a recording or a trace\n" CLI_SELECT_HELP "\n"
    "example: mallab info mallab-web.4242\n"
    "exit codes: 0 done, 1 failed, 2 misuse, 3 FILE unreadable, damaged, too new, or\n"
    "            not legal (--verify)\n";

enum {
    OPTION_JSON = 256,
    OPTION_FROM,
    OPTION_VERIFY,
    OPTION_SALVAGE,
    OPTION_COLOR,
    OPTION_NO_PROGRESS,
};

struct settings {
    struct conv_options convert;
    bool json, help, colour, no_progress, verify;
};

static int take_option(int option, char **argv, struct settings *settings)
{
    if (option >= CLI_SELECT_PROCESS && option < CLI_SELECT_END)
        return cli_select_take(&CLI_INFO, option, optarg, &settings->convert);
    switch (option) {
    case 'h':
        settings->help = true;
        break;
    case OPTION_JSON:
        settings->json = true;
        break;
    case OPTION_FROM:
        return cli_take_from(&CLI_INFO, optarg, &settings->convert.from);
    case OPTION_VERIFY:
        settings->verify = true;
        break;
    case OPTION_SALVAGE:
        settings->convert.salvage = true;
        break;
    case OPTION_COLOR:
        if (!cli_parse_color(optarg, &settings->colour))
            return cli_misuse(&CLI_INFO, "--color takes 'auto', 'always' or 'never', not '%s'", optarg);
        break;
    case OPTION_NO_PROGRESS:
        settings->no_progress = true;
        break;
    default:
        return cli_option_refused(&CLI_INFO, option, argv);
    }
    return -1;
}

static int take_options(int argc, char **argv, struct settings *ret_settings)
{
    static const struct option options[] = {
        CLI_SELECT_OPTIONS,
        {"json", no_argument, NULL, OPTION_JSON},
        {"from", required_argument, NULL, OPTION_FROM},
        {"verify", no_argument, NULL, OPTION_VERIFY},
        {"salvage", no_argument, NULL, OPTION_SALVAGE},
        {"color", required_argument, NULL, OPTION_COLOR},
        {"no-progress", no_argument, NULL, OPTION_NO_PROGRESS},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int option;
    while ((option = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
        const int code = take_option(option, argv, ret_settings);
        if (code >= 0)
            return code;
    }
    if (!ret_settings->help && argc - optind != 1)
        return cli_misuse(&CLI_INFO, optind >= argc ? "no file" : "one file at a time");
    if (!ret_settings->help && ret_settings->verify && ret_settings->convert.salvage)
        return cli_misuse(&CLI_INFO, "--verify and --salvage contradict each other");
    if (!ret_settings->help && ret_settings->verify && cli_select_any(&ret_settings->convert))
        return cli_misuse(&CLI_INFO, "--verify looks at all of a file: nothing can be selected");
    return cli_select_check(&CLI_INFO, &ret_settings->convert);
}

static int tell_result(const char *path, const struct settings *settings)
{
    char *problem = NULL;
    json_t *result = res_json_load(path, &problem);
    if (result == NULL) {
        cli_say(&CLI_INFO, "cannot read '%s': %s", path, problem);
        free(problem);
        return CLI_UNREADABLE;
    }
    if (settings->json) {
        json_object_set_new(result, "kind", json_string("result"));
        json_object_set_new(result, "complete",
                            json_boolean(!json_is_true(json_object_get(result, "stopped"))));
        return cli_print_json(result);
    }
    const struct res_style style = {.utf8 = cli_locale_is_utf8(), .colour = settings->colour};
    char *text = res_table_text(result, &style);
    fputs(text, stdout);
    free(text);
    json_decref(result);
    return CLI_DONE;
}

static void show_progress(void *data, uint64_t events, uint64_t done, uint64_t total)
{
    cli_progress_show(data, "read", "events", events, done, total);
}

static int tell_survey(const char *path, const struct settings *settings)
{
    struct conv_survey survey = {0};
    struct conv_options options = settings->convert;
    struct conv_error *error = res_calloc(1, sizeof *error);
    struct cli_progress line;
    char text[CONV_PATH_BYTES + 512];
    cli_progress_begin(&line, settings->no_progress ? CLI_PROGRESS_NEVER : CLI_PROGRESS_AUTO);
    options.progress = show_progress;
    options.progress_data = &line;
    const enum fp_status status = conv_survey_file(path, &options, &survey, error);
    cli_progress_end(&line);
    int code = CLI_DONE;
    if (status != FP_OK) {
        cli_say(&CLI_INFO, "%s", conv_error_text(error, text, sizeof text));
        code = conv_error_exit_code(error);
    } else if (settings->json) {
        code = cli_print_json(cli_survey_json(&survey));
    } else {
        cli_survey_print(&survey, path, cli_locale_is_utf8());
    }
    if (status == FP_OK)
        conv_survey_release(&survey);
    free(error);
    return code;
}

static int tell_verdict(const char *path, const struct settings *settings)
{
    struct conv_verdict *verdict = res_calloc(1, sizeof *verdict);
    struct conv_error *error = res_calloc(1, sizeof *error);
    struct conv_options options = settings->convert;
    struct cli_progress line;
    char text[CONV_PATH_BYTES + 512];
    cli_progress_begin(&line, settings->no_progress ? CLI_PROGRESS_NEVER : CLI_PROGRESS_AUTO);
    options.progress = show_progress;
    options.progress_data = &line;
    const enum fp_status status = conv_verify_file(path, &options, verdict, error);
    cli_progress_end(&line);
    int code = CLI_DONE;
    if (status != FP_OK) {
        cli_say(&CLI_INFO, "%s", conv_error_text(error, text, sizeof text));
        code = conv_error_exit_code(error);
    } else if (settings->json) {
        code = cli_print_json(cli_verdict_json(verdict));
    } else {
        cli_verdict_print(verdict);
    }
    if (status == FP_OK && code == CLI_DONE && verdict->violation.fault != CONV_FAULT_NONE)
        code = CLI_UNREADABLE;
    free(verdict);
    free(error);
    return code;
}

static int run_info(int argc, char **argv)
{
    struct settings settings = {.colour = cli_colour_by_default()};
    const int misuse = take_options(argc, argv, &settings);
    if (misuse >= 0)
        return misuse;
    if (settings.help) {
        cli_print_help(&CLI_INFO);
        return CLI_DONE;
    }
    const char *path = argv[optind];
    const enum conv_kind kind = settings.convert.from == NULL ? conv_detect(path) : CONV_KIND_UNKNOWN;
    if (cli_select_any(&settings.convert) &&
        (kind == CONV_KIND_RESULT || kind == CONV_KIND_WORKLOAD || kind == CONV_KIND_TEXT))
        return cli_misuse(&CLI_INFO, "'%s' is a %s: only of recordings and traces something can be selected",
                          path, conv_kind_name(kind));
    if (settings.verify && kind == CONV_KIND_RESULT)
        return cli_misuse(&CLI_INFO, "'%s' is a result: there is nothing to verify in it", path);
    if (kind == CONV_KIND_RESULT)
        return tell_result(path, &settings);
    if (settings.verify)
        return tell_verdict(path, &settings);
    return tell_survey(path, &settings);
}

const struct cli_verb CLI_INFO = {
    .name = "info",
    .summary = "say what a recording, workload or result holds",
    .help = HELP,
    .run = run_info,
};
