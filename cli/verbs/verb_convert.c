/* verb_convert.c - `mallab convert`: thin over conv_file. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/output.h"
#include "cli/base/progress.h"
#include "cli/base/say.h"
#include "cli/options/answer_options.h"
#include "cli/options/option_table.h"
#include "cli/options/select_options.h"
#include "cli/verbs/convert_report.h"
#include "cli/verbs/verbs.h"
#include "cli/verbs/workloads.h"
#include "convert/base/unnamed_file.h"
#include "convert/export/export.h"
#include "convert/open/input.h"
#include "convert/recording/choose.h"
#include "convert/recording/recording.h"
#include "convert/recording/recording_json.h"
#include "footprint/base/memory_bound.h"
#include "footprint/base/part_name.h"
#include "footprint/base/signals.h"
#include "footprint/base/support.h"
#include "footprint/base/words.h"
#include "record/collector.h"

struct settings {
    struct cli_answer answer; /* output "-" is stdout; NULL: named after the input */
    struct conv_options convert;
    const struct conv_export_format *format;
    const char *each; /* --each's list; NULL: one workload */
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

static int take_each(const struct cli_verb *verb, const struct cli_option *row, const char *value, void *at)
{
    *(const char **)at = value != NULL ? value : "";
    return -1;
}

#define AT(member) offsetof(struct settings, member)

/* clang-format off */
static const struct cli_option OPTIONS[] = {
    {.heading = "what is converted; these act in this order"},
    {.group = cli_select, .at = AT(convert)},

    {.heading = "how"},
    {.name = "from", .argument = "FORMAT", .how = CLI_WORD, .at = AT(convert.from),
     .values = cli_select_format, .lists = true, .help = "what INPUT is [found out from its content]:"},
    {.name = "to", .argument = "FORMAT", .how = CLI_WORD, .at = AT(convert.to), .values = format_value,
     .help = "workload, text, csv, 2009, glibc-wl [workload]"},
    {.name = "no-inherited", .how = CLI_FLAG, .at = AT(convert.no_inherited),
     .help = "begin a forked process without its parent's objects, and a window without those of earlier "
             "ones"},
    {.name = "salvage", .how = CLI_FLAG, .at = AT(convert.salvage),
     .help = "leave out damaged blocks, lines and records, and count them, instead of refusing the file"},
    {.name = "each", .argument = "[LIST]", .how = CLI_CALL, .at = AT(each), .take = take_each,
     .help = "every process of a recording, or those of LIST as for --merge, into a workload of its own; "
             "OUT is a directory"},

    {.heading = "what comes out"},
    {.group = cli_answer_output, .at = AT(answer),
     .help = "where to; '-' for stdout [INPUT's name, new ending]"},
    {.group = cli_answer_force, .at = AT(answer), .help = "replace OUT when it exists"},
    {.group = cli_answer_max_memory, .at = AT(answer)},
    {.group = cli_answer_json, .at = AT(answer), .help = "print the report as JSON on stdout"},
    {.group = cli_answer_progress, .at = AT(answer)},
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
    if (settings->each == NULL)
        return -1;
    if (conv_process_asked(&settings->convert) || settings->convert.select.merge != NULL)
        return cli_misuse(&CLI_CONVERT,
                          "--each makes a workload of each process, --process and --merge make one: "
                          "choose one of them");
    if (to_stdout(settings))
        return cli_misuse(&CLI_CONVERT, "--each makes several files: name a directory with -o");
    return -1;
}

static int take_options(int argc, char **argv, struct settings *ret_settings)
{
    struct cli_operands operands;
    *ret_settings = (struct settings){.answer = cli_answer_defaults()};
    int code = cli_options_take(&CLI_CONVERT, argc, argv, ret_settings, &operands);
    if (code < 0)
        code = cli_select_check(&CLI_CONVERT, &ret_settings->convert);
    if (code < 0)
        code = cli_operands_one(&CLI_CONVERT, &operands, "no input", "one input at a time");
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

/* ---- --each: every process of a recording into a workload of its own --------------------------- */

struct job {
    const struct conv_process *process;
    char *input, *output;
    const char *process_file; /* for the conversion: NULL when the input is a footprint */
};

struct work {
    const struct settings *settings;
    const char *directory; /* where the workloads go; made when it is not there */
    struct job *jobs;
    size_t count;
};

/* A process whose recording is cut into windows is chosen in it, so that all of them are converted; so is one that is
 * missing, for the message. NULL: it has one footprint, to be named alone. ret_stem: its name without an ending. */
static const char *chosen_file(const struct conv_process *process, char ret_stem[CONV_PATH_BYTES])
{
    uint32_t window = 0;
    if (!fp_part_name(process->file, CONV_PATH_BYTES, ret_stem, &window))
        snprintf(ret_stem, CONV_PATH_BYTES, "%u", process->process_id);
    return window != 0 || process->missing ? process->file : NULL;
}

static void add_job(struct work *work, const char *directory, const struct conv_process *process)
{
    struct job *job = &work->jobs[work->count++];
    char stem[CONV_PATH_BYTES];
    char *name;
    *job = (struct job){.process = process, .process_file = chosen_file(process, stem)};
    name = res_printf("%s%s", stem, work->settings->format->ending);
    job->output = res_path_join(work->directory, name);
    job->input = job->process_file != NULL ? res_strdup(directory) : res_path_join(directory, process->file);
    free(name);
}

static void list_jobs(struct work *work, const struct conv_survey *survey)
{
    char directory[CONV_PATH_BYTES];
    size_t silent = 0;
    conv_recording_directory(work->settings->input, directory);
    work->jobs = res_calloc(survey->process_count, sizeof *work->jobs);
    for (size_t i = 0; i < survey->process_count; i++) {
        const struct conv_process *process = &survey->processes[i];
        if (!process->chosen)
            continue;
        if (process->events == 0)
            silent++;
        else if (process->missing && work->settings->convert.salvage)
            cli_say(&CLI_CONVERT, "left out: footprint '%s' is missing", process->file);
        else
            add_job(work, directory, process);
    }
    if (silent > 0 && !work->settings->answer.quiet)
        cli_say(&CLI_CONVERT, "left out: %s process%s without a call", FP_GROUPED(silent),
                silent == 1 ? "" : "es");
}

/* Before the work: none of it is lost to a name that was taken. The first is named, others are counted. */
static bool check_outputs(const struct work *work)
{
    char *first = NULL;
    size_t refused = 0;
    for (size_t i = 0; i < work->count; i++) {
        char *problem = NULL;
        if (cli_output_check(work->jobs[i].output, work->settings->convert.overwrite, &problem))
            continue;
        if (refused++ == 0)
            first = problem;
        else
            free(problem);
    }
    if (refused == 1)
        cli_say(&CLI_CONVERT, "%s; nothing was converted", first);
    else if (refused > 1)
        cli_say(&CLI_CONVERT, "%s; likewise %zu more of %zu; nothing was converted", first, refused - 1,
                work->count);
    free(first);
    return refused == 0;
}

static void sum_up(const struct work *work, const struct job *job, const json_t *report)
{
    if (!work->settings->answer.quiet)
        cli_say(&CLI_CONVERT, "%s: %s ops, %s", job->output,
                FP_GROUPED(json_integer_value(json_object_get(report, "ops"))),
                FP_BYTES(json_integer_value(json_object_get(report, "output_bytes"))));
}

/* Every message about a process has its name before it. Returns an exit code. */
static int convert_one(const struct work *work, const struct job *job, json_t *reports)
{
    struct conv_options options = work->settings->convert;
    struct cli_verb verb = CLI_CONVERT;
    json_t *report = NULL;
    char *plain = res_text_plain(job->process->name);
    char *name = res_printf("%s: %s.%u", CLI_CONVERT.name, plain, job->process->process_id);
    verb.name = name;
    options.process_file = job->process_file;
    const int code = cli_convert_file(&verb, job->input, job->output, &options, true,
                                      work->settings->answer.progress, &report);
    fp_memory_forget_input(); /* each is bounded by its own size */
    if (report != NULL) {
        sum_up(work, job, report);
        json_array_append_new(reports, report);
    }
    free(name);
    free(plain);
    return code;
}

static int convert_all(const struct work *work)
{
    json_t *object, *list = json_array();
    int worst = CLI_DONE;
    for (size_t i = 0; i < work->count; i++) {
        const int code = convert_one(work, &work->jobs[i], list);
        worst = code > worst ? code : worst;
    }
    if (!work->settings->answer.json) {
        json_decref(list);
        return worst;
    }
    object = json_object();
    json_object_set_new(object, "schema", json_string("mallab-convert-each/1"));
    json_object_set_new(object, "mallab_version", json_string(MALLAB_VERSION));
    json_object_set_new(object, "failed", json_integer((json_int_t)(work->count - json_array_size(list))));
    json_object_set_new(object, "workloads", list);
    const int printed = cli_print_json(object);
    return worst != CLI_DONE ? worst : printed;
}

static void free_jobs(struct work *work)
{
    for (size_t i = 0; i < work->count; i++) {
        free(work->jobs[i].input);
        free(work->jobs[i].output);
    }
    free(work->jobs);
}

/* One process after the other; what goes wrong with one is told and leaves the others alone. Returns the worst exit code. */
static int convert_each(const struct settings *settings, const char *directory)
{
    struct work work = {.settings = settings, .directory = directory};
    struct conv_survey survey = {0};
    struct conv_error *error = res_calloc(1, sizeof *error);
    char text[CONV_PATH_BYTES + 512];
    bool made;
    int code = CLI_FAILED;
    enum fp_status status = conv_recording_list(settings->input, &survey, error);
    if (status == FP_OK)
        status = conv_recording_choose_some(settings->input, settings->each, &survey, error);
    if (status != FP_OK) {
        cli_say(&CLI_CONVERT, "%s", conv_error_text(error, text, sizeof text));
        code = conv_error_exit_code(error);
    } else if (!(made = mkdir(directory, 0777) == 0) && errno != EEXIST) {
        cli_say(&CLI_CONVERT, "cannot make directory '%s': %s", directory, strerror(errno));
    } else {
        list_jobs(&work, &survey);
        if (check_outputs(&work))
            code = convert_all(&work);
        free_jobs(&work);
        if (made && code != CLI_DONE)
            (void)rmdir(directory); /* stays when a workload is in it */
    }
    conv_survey_release(&survey);
    free(error);
    return code;
}

/* ---- the verb ---------------------------------------------------------------------------------- */

/* A path that is not there, or cannot be looked at, is left to the recording's reader, which says why. */
static bool is_no_directory(const char *path)
{
    struct stat facts;
    return strcmp(path, "-") == 0 || (stat(path, &facts) == 0 && !S_ISDIR(facts.st_mode));
}

static int run_each(const struct settings *settings)
{
    char *named = settings->answer.output == NULL ? cli_output_name(settings->input, "-workloads") : NULL;
    int code;
    if (conv_detect(settings->input) != CONV_KIND_RECORDING && is_no_directory(settings->input))
        code = cli_misuse(&CLI_CONVERT,
                          "'%s' is no recording's directory: --each is for the processes of one",
                          settings->input);
    else {
        (void)rec_recover(CLI_CONVERT.name, settings->input);
        code = convert_each(settings, named != NULL ? named : settings->answer.output);
    }
    free(named);
    return code;
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

static int run_convert(int argc, char **argv)
{
    struct settings settings;
    struct cli_answer *answer = &settings.answer;
    json_t *report = NULL;
    int code = take_options(argc, argv, &settings);
    if (code >= 0)
        return code;
    if (settings.each != NULL)
        return run_each(&settings);
    code = refuse_other_kind(&settings);
    if (code != CLI_DONE)
        return code;
    char *named = answer->output == NULL ? cli_output_name(settings.input, settings.format->ending) : NULL;
    if (named != NULL)
        answer->output = named;
    (void)rec_recover(CLI_CONVERT.name, settings.input);
    code = cli_answer_check(&CLI_CONVERT, answer);
    if (code == CLI_DONE)
        code = cli_convert_file(&CLI_CONVERT, settings.input, answer->output, &settings.convert,
                                answer->quiet, answer->progress, answer->json ? &report : NULL);
    if (report != NULL)
        code = cli_print_json(report);
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
    .run = run_convert,
};
