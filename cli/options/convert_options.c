/* convert_options.c - help and options of `mallab convert`. */
#include "cli/options/convert_options.h"

#include <string.h>

#include "cli/base/cli.h"
#include "cli/options/command_line.h"
#include "cli/options/select_options.h"

const char cli_convert_help[] =
    "usage: mallab convert [OPTION...] INPUT\n"
    "\n"
    "Turn a footprint, a recording or another tool's trace into a workload, which is\n"
    "what 'mallab replay' and 'mallab ab' execute; or any of these, and a workload,\n"
    "into another format.\n"
    "\n"
    "INPUT is a footprint (.fp), a recording's directory, a workload (.wl, or text),\n"
    "or another tool's trace. Traces and texts may be compressed (gzip, xz, bzip2,\n"
    "zstd, zip); '-' reads one from stdin.\n"
    "\n"
    "  -o, --output OUT     where to; '-' for stdout [INPUT's name, new ending]\n"
    "@force OUT\n"
    "      --from FORMAT    what INPUT is [found out from its content]:\n"
    "@formats\n"
    "      --to FORMAT      workload, text, csv, 2009, glibc-wl [workload]\n"
    "      --no-inherited   begin a forked process without its parent's objects, and\n"
    "                       a window without those of earlier ones\n"
    "      --salvage        leave out damaged blocks, lines and records, and count\n"
    "                       them, instead of refusing the file\n"
    "      --each[=LIST]    every process of a recording, or those of LIST as for\n"
    "                       --merge, into a workload of its own; OUT is a directory\n"
    "  -j, --jobs N         with --each, so many at a time [as there are processors]\n"
    "@max-memory\n"
    "      --json           print the report as JSON on stdout\n"
    "  -q, --quiet          no summary, no progress; what was repaired or lost is\n"
    "                       still told\n"
    "@progress\n"
    "@no-progress\n"
    "@help\n"
    "\n"
    "choose what is converted; these act in this order\n" CLI_SELECT_HELP "\n"
    "example: mallab convert -o web.wl mallab-web.4242\n"
    "         mallab convert --to csv -o - web.wl | gzip >web.csv.gz\n"
    "exit codes: 0 done, 1 failed, 2 misuse, 3 INPUT unreadable, damaged or too new\n";

enum {
    OPTION_FROM = 256,
    OPTION_TO,
    OPTION_NO_INHERITED,
    OPTION_SALVAGE,
    OPTION_EACH,
};

#define JOBS_MAX 1024u

/* The export format of a name; NULL: the default. */
static bool find_format(const char *name, struct conv_export_facts *ret_facts)
{
    for (size_t i = 0; conv_export_facts(i, ret_facts); i++)
        if (name == NULL || strcmp(name, ret_facts->name) == 0)
            return true;
    return false;
}

static int take_jobs(const char *text, struct cli_convert_options *settings)
{
    uint64_t jobs;
    if (!cli_parse_count(text, 1, JOBS_MAX, &jobs))
        return cli_misuse(&CLI_CONVERT, "--jobs takes a number from 1 to %u, not '%s'", JOBS_MAX, text);
    settings->jobs = (unsigned)jobs;
    return -1;
}

static bool to_stdout(const struct cli_convert_options *settings)
{
    return settings->answer.output != NULL && strcmp(settings->answer.output, "-") == 0;
}

/* --each makes several outputs of a recording, each of one process. */
static int check_each(const struct cli_convert_options *settings)
{
    if (settings->each == NULL)
        return settings->jobs == 0 ? -1 : cli_misuse(&CLI_CONVERT, "--jobs is for --each");
    if (conv_process_asked(&settings->convert) || settings->convert.select.merge != NULL)
        return cli_misuse(&CLI_CONVERT,
                          "--each makes a workload of each process, --process and --merge make one: "
                          "choose one of them");
    if (to_stdout(settings))
        return cli_misuse(&CLI_CONVERT, "--each makes several files: name a directory with -o");
    return -1;
}

static int take_option(int option, void *data)
{
    struct cli_convert_options *settings = data;
    char names[128];
    switch (option) {
    case OPTION_FROM:
        return cli_take_from(&CLI_CONVERT, optarg, &settings->convert.from);
    case OPTION_TO:
        settings->convert.to = optarg;
        if (!find_format(optarg, &settings->format))
            return cli_misuse(&CLI_CONVERT, "--to takes one of %s, not '%s'",
                              conv_export_names(names, sizeof names), optarg);
        break;
    case OPTION_NO_INHERITED:
        settings->convert.no_inherited = true;
        break;
    case OPTION_SALVAGE:
        settings->convert.salvage = true;
        break;
    case OPTION_EACH:
        settings->each = optarg != NULL ? optarg : "";
        break;
    case 'j':
        return take_jobs(optarg, settings);
    default:
        break;
    }
    return -1;
}

int cli_convert_take_options(int argc, char **argv, struct cli_convert_options *ret_options)
{
    static const struct option options[] = {
        CLI_SELECT_OPTIONS,
        {"from", required_argument, NULL, OPTION_FROM},
        {"to", required_argument, NULL, OPTION_TO},
        {"no-inherited", no_argument, NULL, OPTION_NO_INHERITED},
        {"salvage", no_argument, NULL, OPTION_SALVAGE},
        {"each", optional_argument, NULL, OPTION_EACH},
        {"jobs", required_argument, NULL, 'j'},
        CLI_ANSWER_OUTPUT_ROW,
        CLI_ANSWER_FORCE_ROW,
        CLI_ANSWER_JSON_ROW,
        CLI_ANSWER_MAX_MEMORY_ROW,
        CLI_ANSWER_QUIET_ROW,
        CLI_ANSWER_PROGRESS_ROWS,
        CLI_ANSWER_HELP_ROW,
        {NULL, 0, NULL, 0},
    };
    const struct cli_command_line line = {
        .verb = &CLI_CONVERT,
        .options = options,
        .take = take_option,
        .settings = ret_options,
        .answer = &ret_options->answer,
        .select = &ret_options->convert,
    };
    struct cli_operands operands;
    *ret_options = (struct cli_convert_options){.answer = cli_answer_defaults()};
    (void)find_format(NULL, &ret_options->format); /* there is a default */
    int code = cli_command_line_take(&line, argc, argv, &operands);
    if (code < 0)
        code = cli_command_line_one(&CLI_CONVERT, &operands, "no input", "one input at a time");
    if (code >= 0)
        return code;
    ret_options->input = operands.words[0];
    ret_options->convert.overwrite = ret_options->answer.force;
    if (ret_options->answer.output == NULL && strcmp(ret_options->input, "-") == 0)
        return cli_misuse(&CLI_CONVERT, "reading from stdin, name the output with -o");
    if (ret_options->answer.json && to_stdout(ret_options))
        return cli_misuse(&CLI_CONVERT, "the output and --json cannot both go to stdout");
    return check_each(ret_options);
}
