/* verb_convert.c - `mallab convert`: thin over conv_file. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/base/cli.h"
#include "cli/options/options.h"
#include "cli/verbs/verbs.h"
#include "convert/export/export.h"
#include "convert/open/input.h"
#include "footprint/base/support.h"
#include "record/recorder.h"

struct settings {
    struct cli_answer answer; /* output "-" is stdout; NULL: named after the input */
    struct conv_options convert;
    const struct conv_export_format *format;
    bool each; /* a workload of each process */
    const char *input;
};

/* ---- command line --------------------------------------------------------------------------- */

static bool format_value(size_t number, const char **ret_word, const char **ret_meaning)
{
    const struct conv_export_format *format = conv_export_at(number);
    if (format == NULL)
        return false;
    *ret_word = format->name;
    *ret_meaning = NULL;
    return true;
}

#define AT(member) offsetof(struct settings, member)

/* clang-format off */
static const struct cli_option OPTIONS[] = {
    {.heading = "what is converted; these act in this order"},
    {.group = cli_select_process, .at = AT(convert)},
    {.group = cli_select_part, .at = AT(convert)},
    {.group = cli_select_trust_owner, .seldom = true},

    {.heading = "how"},
    {.name = "from", .argument = "FORMAT", .how = CLI_WORD, .at = AT(convert.from),
     .values = cli_select_format, .lists = true, .help = "what INPUT is [found out from its content]:"},
    {.name = "to", .argument = "FORMAT", .how = CLI_WORD, .at = AT(convert.to), .values = format_value,
     .help = "workload, text, csv [workload]"},
    {.name = "no-inherited", .seldom = true, .how = CLI_FLAG, .at = AT(convert.no_inherited),
     .help = "begin a forked process without its parent's objects, and a window without those of earlier "
             "ones"},
    {.name = "no-sites", .seldom = true, .how = CLI_FLAG, .at = AT(convert.no_sites),
     .help = "leave out call stacks, where the recording has them"},
    {.name = "salvage", .how = CLI_FLAG, .at = AT(convert.salvage),
     .help = "leave out damaged blocks, lines and records, and count them, instead of refusing the file"},
    {.name = "each", .seldom = true, .how = CLI_FLAG, .at = AT(each),
     .help = "every process of a recording into a workload of its own; OUT is a directory"},

    {.heading = "what comes out"},
    {.group = cli_answer_output, .at = AT(answer),
     .help = "where to; '-' for stdout [INPUT's name, new ending]"},
    {.group = cli_answer_force, .at = AT(answer), .help = "replace OUT when it exists"},
    {.group = cli_answer_max_memory, .at = AT(answer)},
    {.group = cli_answer_json, .at = AT(answer), .help = "print the report as JSON on stdout"},
    {.group = cli_answer_quiet, .at = AT(answer),
     .help = "no summary, no progress; what was repaired or lost is still told"},
    {0},
};
/* clang-format on */

static bool to_stdout(const struct settings *settings)
{
    return settings->answer.output != NULL && strcmp(settings->answer.output, "-") == 0;
}

/* --each makes several outputs of a recording, each of one process. */
static int check_each(const struct settings *settings)
{
    if (!settings->each)
        return -1;
    if (conv_process_asked(&settings->convert))
        return cli_misuse(&CLI_CONVERT, "--each makes a workload of each process, --process chooses: "
                                        "choose one of them");
    if (to_stdout(settings))
        return cli_misuse(&CLI_CONVERT, "--each makes several files: name a directory with -o");
    return -1;
}

static int take_options(int argc, char **argv, struct settings *ret_settings)
{
    struct cli_operands operands;
    *ret_settings = (struct settings){.answer = cli_answer_defaults()};
    const int code = cli_options_take(&CLI_CONVERT, argc, argv, ret_settings, &operands);
    if (code >= 0)
        return code;
    ret_settings->format = conv_export_find(ret_settings->convert.to); /* the table has checked the name */
    ret_settings->input = operands.words[0];
    ret_settings->convert.overwrite = ret_settings->answer.force;
    if (ret_settings->answer.output == NULL && strcmp(ret_settings->input, "-") == 0)
        return cli_misuse(&CLI_CONVERT, "reading from stdin, name the output with -o");
    if (ret_settings->answer.json && to_stdout(ret_settings))
        return cli_misuse(&CLI_CONVERT, "the output and --json cannot both go to stdout");
    return check_each(ret_settings);
}

/* ---- several workloads ------------------------------------------------------------------------ */

/* --each's, or those of a group. */
static int convert_several(const struct settings *settings)
{
    json_t *report = NULL;
    const struct cli_each each = {
        .verb = &CLI_CONVERT,
        .input = settings->input,
        .directory = settings->answer.output,
        .ending = settings->format->ending,
        .all = settings->each,
        .convert = &settings->convert,
        .quiet = settings->answer.quiet,
        .no_progress = settings->answer.quiet,
    };
    const int code = cli_convert_each(&each, settings->answer.json ? &report : NULL);
    const int printed = report != NULL ? cli_print_json(report) : CLI_DONE;
    return code != CLI_DONE ? code : printed;
}

/* ---- the verb ---------------------------------------------------------------------------------- */

/* A path that is not there, or cannot be looked at, is left to the recording's reader, which says why. */
static bool is_no_directory(const char *path)
{
    struct stat facts;
    return strcmp(path, "-") == 0 || (stat(path, &facts) == 0 && !S_ISDIR(facts.st_mode));
}

/* An input that needs no converting is refused before the name of an output is looked at. */
static int refuse_other_kind(const struct settings *settings)
{
    const char *input = settings->input;
    const enum conv_kind kind = settings->convert.from == NULL ? conv_detect(input) : CONV_KIND_UNKNOWN;
    if (kind == CONV_KIND_RESULT) {
        cli_say_other_kind(&CLI_CONVERT, input, kind);
        return CLI_UNREADABLE;
    }
    if (kind == CONV_KIND_WORKLOAD && settings->answer.output == NULL &&
        strcmp(settings->format->ending, ".wl") == 0) {
        cli_say(
            &CLI_CONVERT,
            "'%s' is a workload already, which 'mallab ab' and 'mallab replay' take; name another file with "
            "-o for a part of it, or --to for another format",
            input);
        return CLI_MISUSE;
    }
    return CLI_DONE;
}

/* Converts into an output that has a name. */
static int convert_named(const struct settings *settings)
{
    const struct cli_answer *answer = &settings->answer;
    json_t *report = NULL;
    (void)rec_recover(CLI_CONVERT.name, settings->input);
    if (settings->each || cli_is_group(settings->input, &settings->convert, NULL))
        return to_stdout(settings)
                   ? cli_misuse(&CLI_CONVERT,
                                "'%s' makes several workloads: name a directory with -o, or one process with "
                                "--process PID",
                                settings->input)
                   : convert_several(settings);
    int code = cli_answer_check(&CLI_CONVERT, answer);
    if (code == CLI_DONE)
        code = cli_convert_file(&CLI_CONVERT, settings->input, answer->output, &settings->convert,
                                answer->quiet, answer->quiet, answer->json ? &report : NULL);
    return report != NULL ? cli_print_json(report) : code;
}

static int run_convert(int argc, char **argv)
{
    struct settings settings;
    int code = take_options(argc, argv, &settings);
    if (code >= 0)
        return code;
    if (!settings.each)
        code = refuse_other_kind(&settings);
    else if (conv_detect(settings.input) != CONV_KIND_RECORDING && is_no_directory(settings.input))
        code = cli_misuse(&CLI_CONVERT,
                          "'%s' is no recording's directory: --each is for the processes of one",
                          settings.input);
    if (code > CLI_DONE)
        return code;
    char *named = cli_output_name(settings.input, settings.each ? "-workloads" : settings.format->ending);
    if (settings.answer.output == NULL)
        settings.answer.output = named;
    code = convert_named(&settings);
    free(named);
    return code;
}

const struct cli_verb CLI_CONVERT = {
    .name = "convert",
    .summary = "turn a recording or another tool's trace into a workload",
    .usage = "[OPTION...] INPUT",
    .purpose = "Turn a footprint, a recording or another tool's trace into a workload, which is what 'mallab "
               "replay' and 'mallab ab' execute; or any of these, and a workload, into another format.\n\n"
               "INPUT is a footprint (.fp), a recording's directory, a workload (.wl, or text), or another "
               "tool's trace. Traces and texts may be compressed (gzip, xz, bzip2, zstd, zip); '-' reads one "
               "from stdin.",
    .options = OPTIONS,
    .completes = ":files wl fp",
    .examples = "mallab convert -o web.wl mallab-web.4242\n"
                "mallab convert --to csv -o - web.wl | gzip >web.csv.gz",
    .exit_codes = "0 done, 1 failed, 2 misuse, 3 INPUT unreadable, damaged or too new",
    .operand = "input",
    .run = run_convert,
};
