/* verb_convert.c - `mallab convert`: thin over conv_file; and what a conversion tells, whichever verb makes it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/describe/describe.h"
#include "cli/verbs/verbs.h"
#include "convert/export/export.h"
#include "convert/import/formats.h"
#include "convert/open/input.h"
#include "convert/recording/recording.h"
#include "footprint/base/process.h"
#include "footprint/base/words.h"

struct settings {
    struct cli_answer answer; /* output "-" is stdout; NULL: named after the input */
    struct conv_options convert;
    const struct conv_export_format *format;
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
    {.row = &cli_select_process, .at = AT(convert)},
    {.group = cli_select_part, .at = AT(convert)},
    {.row = &cli_select_trust_owner, .seldom = true},

    {.heading = "how"},
    {.name = "from", .argument = "FORMAT", .how = CLI_WORD, .at = AT(convert.from),
     .values = cli_select_format, .lists = true, .help = "what INPUT is [found out from its content]:"},
    {.name = "to", .argument = "FORMAT", .how = CLI_WORD, .at = AT(convert.to), .values = format_value,
     .help = "workload, text [workload]"},
    {.name = "no-inherited", .seldom = true, .how = CLI_FLAG, .at = AT(convert.no_inherited),
     .help = "begin a forked process without its parent's objects, and a window without those of earlier "
             "ones"},
    {.name = "no-sites", .seldom = true, .how = CLI_FLAG, .at = AT(convert.no_sites),
     .help = "leave out call stacks, where the recording has them"},
    {.name = "salvage", .how = CLI_FLAG, .at = AT(convert.salvage),
     .help = "leave out damaged blocks, lines and records, and count them, instead of refusing the file"},

    {.heading = "what comes out"},
    {.row = &cli_answer_output, .at = AT(answer),
     .help = "where to; '-' for stdout [INPUT's name, new ending]"},
    {.row = &cli_answer_force, .at = AT(answer), .help = "replace OUT when it exists"},
    {.row = &cli_answer_max_memory, .at = AT(answer)},
    {.row = &cli_answer_json, .at = AT(answer), .help = "print the report as JSON on stdout"},
    {.row = &cli_answer_quiet, .at = AT(answer),
     .help = "no summary, no progress; what was repaired or lost is still told"},
    {0},
};
/* clang-format on */

static bool to_stdout(const struct settings *settings)
{
    return settings->answer.output != NULL && strcmp(settings->answer.output, "-") == 0;
}

static int take_options(int argc, char **argv, struct settings *ret_settings)
{
    struct cli_operands operands;
    *ret_settings = (struct settings){0};
    const int code = cli_options_take(&CLI_CONVERT, argc, argv, ret_settings, &operands);
    if (code >= 0)
        return code;
    ret_settings->format = conv_export_find(ret_settings->convert.to); /* the table has checked the name */
    ret_settings->input = operands.words[0];
    ret_settings->convert.overwrite = ret_settings->answer.force;
    if (ret_settings->answer.output == NULL && strcmp(ret_settings->input, "-") == 0)
        return cli_misuse(&CLI_CONVERT, "reading from stdin, name the output with -o");
    if (cli_is_json(&ret_settings->answer) && to_stdout(ret_settings))
        return cli_misuse(&CLI_CONVERT, "the output and --json cannot both go to stdout");
    return -1;
}

/* ---- the verb ---------------------------------------------------------------------------------- */

/* An input that needs no converting is refused before the name of an output is looked at. */
static int refuse_other_kind(const struct settings *settings)
{
    const char *input = settings->input;
    const enum conv_kind kind = settings->convert.from == NULL ? conv_detect(input) : CONV_KIND_UNKNOWN;
    if (kind == CONV_KIND_RESULT) {
        cli_say_result(&CLI_CONVERT, input);
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
static int convert_named(const struct settings *settings, const char *output)
{
    const struct cli_answer *answer = &settings->answer;
    const struct cli_conversion conversion = {
        .verb = &CLI_CONVERT,
        .input = settings->input,
        .output = output,
        .ending = settings->format->ending,
        .options = &settings->convert,
        .is_group = cli_is_group(settings->input, &settings->convert, NULL),
        .quiet = answer->quiet,
        .no_progress = answer->quiet,
    };
    json_t *report = NULL;
    if (conversion.is_group && to_stdout(settings))
        return cli_misuse(&CLI_CONVERT,
                          "'%s' makes several workloads: name a directory with -o, or one process with "
                          "--process PID",
                          settings->input);
    int code = conversion.is_group ? CLI_DONE : cli_answer_check(&CLI_CONVERT, answer);
    if (code == CLI_DONE)
        code = cli_convert(&conversion, cli_is_json(answer) ? &report : NULL);
    const int printed = report != NULL ? cli_print_json(report) : CLI_DONE;
    return code != CLI_DONE ? code : printed;
}

static int run_convert(int argc, char **argv)
{
    struct settings settings;
    int code = take_options(argc, argv, &settings);
    if (code >= 0)
        return code;
    code = refuse_other_kind(&settings);
    if (code != CLI_DONE)
        return code;
    (void)rec_recover(CLI_CONVERT.name, settings.input);
    char *named = cli_output_name(settings.input, settings.format->ending);
    if (settings.answer.output == NULL)
        settings.answer.output = named;
    code = convert_named(&settings, settings.answer.output);
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
                "mallab convert --to text -o - web.wl | zstd >web.txt.zst",
    .exit_codes = "0 done, 1 failed, 2 misuse, 3 INPUT unreadable, damaged or too new",
    .operand = "input",
    .run = run_convert,
};

/* ---- the report, as lines on stderr and as JSON ------------------------------------------------- */

#define RATE_SHOWN_MIN 1e4 /* events a second: below, 0.00 M would be told of what is but short */

static void tell_selection(const struct cli_verb *verb, const struct conv_survey *survey, bool quiet)
{
    if (!quiet && survey->selected.text[0] != '\0')
        cli_say(verb, "selected: %s", survey->selected.text);
}

void cli_choice_tell(const struct cli_verb *verb, const struct conv_survey *survey, size_t left_out)
{
    const struct conv_process *chosen = NULL;
    uint64_t own = 0, all = 0;
    size_t count = 0;
    for (size_t i = 0; i < survey->process_count; i++) {
        const struct conv_process *process = &survey->processes[i];
        all += process->events;
        if (!process->chosen)
            continue;
        chosen = process;
        own += process->events;
        count++;
    }
    if (chosen == NULL || survey->process_count < 2)
        return;
    char *name = res_text_plain(chosen->name != NULL ? chosen->name : "");
    char *what = count == 1 ? res_printf("process %u, '%s'", chosen->process_id, name)
                 : left_out > 0
                     ? res_printf("the %zu of %zu '%s' with most calls", count, count + left_out, name)
                     : res_printf("%zu '%s'", count, name);
    cli_say(
        verb,
        "the recording holds %zu processes; converted: %s, %.0f %% of the calls (--process chooses others, "
        "'mallab info' lists them)",
        survey->process_count, what, all > 0 ? 100 * (double)own / (double)all : 0);
    free(what);
    free(name);
}

/* Losses of other processes are no fault of this workload, but the user may have wanted those processes. */
static void tell_others(const struct cli_verb *verb, const struct conv_survey *survey, bool by_file)
{
    size_t missing = 0, first = 0;
    uint64_t lost = 0;
    for (size_t i = survey->process_count; i-- > 0;) {
        const struct conv_process *process = &survey->processes[i];
        missing += process->missing;
        first = process->missing ? i : first;
        lost = conv_add_saturating(lost, process->chosen ? 0 : fp_loss_sum(process->lost));
    }
    char *file = missing > 0 ? res_text_plain(survey->processes[first].file) : NULL;
    if (missing > 0)
        cli_say(verb, "the recording is not whole: footprint '%s'%s missing", file,
                missing > 1 ? " and others are" : " is");
    if (lost > 0 && !by_file)
        cli_say(verb, "the recording is not whole: %s calls of processes that are not converted were lost",
                FP_GROUPED(lost));
    free(file);
}

/* Prints one line on stderr on how it went, and a line for each thing that casts doubt on the recording; by_file: the process was
 * chosen by its footprint, that there are others is known; quiet: the doubts only. */
static void tell(const struct cli_verb *verb, const struct conv_report *report, const char *output,
                 bool by_file, bool quiet)
{
    const struct conv_survey *survey = &report->survey;
    char span[32], speed[32] = "";
    const double seconds = (double)report->elapsed_ns / 1e9;
    const bool in_result = verb == &CLI_AB; /* what the result tells is told once */
    /* A file of another tool is called a trace. */
    const char *kind = conv_trace_title(survey->kind) != NULL ? "trace" : "recording";
    const double rate = seconds > 0 ? (double)survey->events / seconds : 0;
    if (rate >= RATE_SHOWN_MIN)
        snprintf(speed, sizeof speed, " (%.2f M events/s)", rate / 1e6);
    if (!quiet)
        cli_say(verb, "%s op%s of %s thread%s, %.2f bytes each, written to %s in %s%s",
                FP_GROUPED(survey->ops), survey->ops == 1 ? "" : "s", FP_GROUPED(survey->threads),
                survey->threads == 1 ? "" : "s",
                survey->ops > 0 ? (double)report->bytes_out / (double)survey->ops : 0.0,
                strcmp(output, "-") == 0 ? "stdout" : output,
                res_text_duration((double)report->elapsed_ns, span), speed);
    if (survey->ops == 0 && verb == &CLI_CONVERT) /* others say it of what they were given */
        cli_say(verb, "'%s' holds no calls: there is nothing to replay", output);
    tell_selection(verb, survey, quiet);
    if (survey->process_count > 1 && !by_file)
        cli_choice_tell(verb, survey, 0);
    tell_others(verb, survey, by_file);
    if (survey->lacks[0] != '\0' && !quiet)
        cli_say(verb, "what %s does not tell: %s (docs/importing.md)", conv_kind_name(survey->kind),
                survey->lacks);
    if (survey->inherited_objects > 0 && !quiet)
        cli_say(verb,
                "it begins with %s object%s that %s alive before: its parent's, of earlier windows, or made "
                "before the section (%s)",
                FP_GROUPED(survey->inherited_objects), survey->inherited_objects == 1 ? "" : "s",
                survey->inherited_objects == 1 ? "was" : "were", FP_BYTES(survey->inherited_bytes));
    if (survey->inherited_why[0] != '\0')
        cli_say(verb, "not all that process %u inherited is known: %s", survey->process_id,
                survey->inherited_why);
    if (survey->unfinished_why[0] != '\0')
        cli_say(verb, "the recording is not finished, and taken as far as it is written: %s",
                survey->unfinished_why);
    if (!in_result && !survey->complete && strcmp(survey->incomplete_why, survey->unfinished_why) != 0)
        cli_say(verb, "the %s is not whole: %s", kind, survey->incomplete_why);
    if (!in_result && survey->live != CONV_LIVE_KNOWN)
        cli_say(verb, "%s", cli_live_words(survey->live));
    for (unsigned i = 0; i < CONV_IRREGULARITY_COUNT; i++) {
        const bool is_put_in = i == CONV_UNRECORDED_FREES;
        const bool are_calls = i == CONV_DAMAGED_BLOCKS || i == CONV_UNRECORDED_OBJECTS;
        const bool is_left_out = conv_irregularity_is_loss(i) || (i == CONV_UNRECORDED_OBJECTS && !in_result);
        if (survey->irregular[i] > 0 && (is_put_in || is_left_out || conv_irregularity_is_defect(i)))
            cli_say(verb, "%s: %s, %s%s %s%s (docs/order.md)",
                    is_put_in     ? "put in"
                    : is_left_out ? "left out"
                                  : "repaired",
                    conv_irregularity_name(i), i == CONV_DAMAGED_BLOCKS ? "up to " : "",
                    FP_GROUPED(survey->irregular[i]), are_calls ? "call" : "time",
                    survey->irregular[i] == 1 ? "" : "s");
    }
}

static json_t *export_json(const struct conv_report *report)
{
    json_t *object = json_object();
    cli_json_set(object, "format", report->format);
    return object;
}

static json_t *report_json(const struct conv_report *report, const char *output)
{
    json_t *object = cli_survey_json(&report->survey);
    cli_json_set(object, "schema", "mallab-convert/1");
    cli_json_set(object, "output", output);
    cli_json_set(object, "output_bytes", json_integer((json_int_t)report->bytes_out));
    cli_json_set(object, "elapsed_ns", json_integer((json_int_t)report->elapsed_ns));
    cli_json_set(object, "export", export_json(report));
    return object;
}

/* ---- one file ------------------------------------------------------------------------------- */

static bool takes_salvage(const struct cli_verb *verb)
{
    struct cli_option rows[CLI_OPTIONS_MAX];
    const size_t count = cli_option_list(verb, rows);
    for (size_t i = 0; i < count; i++)
        if (rows[i].name != NULL && strcmp(rows[i].name, "salvage") == 0)
            return true;
    return false;
}

int cli_conv_failed(const struct cli_verb *verb, struct conv_error *error)
{
    error->takes_salvage = takes_salvage(verb);
    char text[CONV_PATH_BYTES + 512];
    char *meant = error->cause.sys_errno == ENOENT && !error->output ? cli_meant(error->path)
                                                                     : res_strdup("");
    cli_say(verb, "%s%s", conv_error_text(error, text, sizeof text), meant);
    free(meant);
    return conv_error_exit_code(error);
}

int cli_convert_file(const struct cli_conversion *conversion, json_t **ret_report)
{
    struct cli_progress line;
    struct conv_options with_progress = *conversion->options;
    struct conv_report report = {0};
    struct conv_error *error = res_calloc(1, sizeof *error);
    cli_progress_of(&line, "convert", conversion->no_progress, &with_progress);
    const enum fp_status status = conv_file(conversion->input, conversion->output, &with_progress, &report,
                                            error);
    cli_progress_end(&line);
    int code = CLI_DONE;
    if (status != FP_OK) {
        code = cli_conv_failed(conversion->verb, error);
    } else {
        tell(conversion->verb, &report, conversion->output, with_progress.process_file != NULL,
             conversion->quiet);
        if (ret_report != NULL)
            *ret_report = report_json(&report, conversion->output);
        conv_report_release(&report);
    }
    free(error);
    return code;
}

/* "dir/web.fp" and "trace.txt.gz" beside themselves, a recording's directory by its own name. */
char *cli_output_name(const char *input, const char *new_ending)
{
    static const char *const endings[] = {".gz",  ".xz",    ".bz2", ".zst", ".zip", ".fp",
                                          ".txt", ".trace", ".rep", ".log", ".raw", ".wl"};
    char *name = res_strdup(input);
    size_t length = strlen(name);
    while (length > 1 && name[length - 1] == '/')
        name[--length] = '\0';
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        const size_t shorter = length - strlen(endings[i]);
        if (fp_has_ending(name, endings[i]) && name[shorter - 1] != '/')
            name[length = shorter] = '\0';
    }
    char *output = res_printf("%s%s", strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ? "recording" : name,
                              new_ending);
    free(name);
    return output;
}

/* "nightly.wl" for "nightly/", and the other way round. */
char *cli_meant(const char *path)
{
    static const char *const endings[] = {"", ".wl"};
    char *words = NULL;
    for (size_t i = 0; words == NULL && i < sizeof endings / sizeof endings[0]; i++) {
        char *other = cli_output_name(path, endings[i]);
        if (strcmp(other, path) != 0 && access(other, F_OK) == 0)
            words = res_printf("; there is '%s': name that, if it is meant", other);
        free(other);
    }
    return words != NULL ? words : res_strdup("");
}
