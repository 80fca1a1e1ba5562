/* verb_convert.c - `mallab convert`: thin over conv_file. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/progress.h"
#include "cli/options/convert_options.h"
#include "cli/verbs/convert_each.h"
#include "cli/verbs/convert_report.h"
#include "cli/verbs/workloads.h"
#include "convert/base/unnamed_file.h"
#include "convert/open/detect.h"
#include "footprint/base/signals.h"
#include "record/recover.h"
#include "results/measure/base/support.h"

static void remove_half_file(int signal_number)
{
    const char *temporary = conv_output_temporary();
    if (temporary != NULL)
        unlink(temporary);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void show_progress(void *data, uint64_t events, uint64_t done, uint64_t total)
{
    cli_progress_show(data, "convert", "events", events, done, total);
}

int cli_convert_file(const struct cli_verb *verb, const char *input, const char *output,
                     const struct conv_options *options, bool quiet, enum cli_progress_when progress,
                     bool json)
{
    static const int NUMBERS[] = {FP_ENDING_SIGNALS, SIGXFSZ};
    static const size_t COUNT = sizeof NUMBERS / sizeof NUMBERS[0];
    struct cli_progress line;
    struct conv_options with_progress = *options;
    struct conv_report report = {0};
    struct conv_error *error = res_calloc(1, sizeof *error);
    struct sigaction saved[sizeof NUMBERS / sizeof NUMBERS[0]];
    const struct sigaction action = {.sa_handler = remove_half_file};
    char text[CONV_PATH_BYTES + 512];
    fp_signals_take(NUMBERS, COUNT, &action, saved);
    cli_progress_begin(&line, progress);
    with_progress.progress = show_progress;
    with_progress.progress_data = &line;
    const enum fp_status status = conv_file(input, output, &with_progress, &report, error);
    cli_progress_end(&line);
    fp_signals_restore(NUMBERS, COUNT, saved);
    int code = CLI_DONE;
    if (status != FP_OK) {
        cli_say(verb, "%s", conv_error_text(error, text, sizeof text));
        code = conv_error_exit_code(error);
    } else {
        cli_convert_tell(verb, &report, output, options->process_file != NULL, quiet);
        if (json)
            code = cli_convert_print(&report, output);
        conv_report_release(&report);
    }
    free(error);
    return code;
}

char *cli_workload_name(const char *input)
{
    return cli_output_name(input, ".wl");
}

/* "dir/web.fp" and "trace.txt.gz" beside themselves, a recording's directory by its own name. */
char *cli_output_name(const char *input, const char *new_ending)
{
    static const char *const endings[] = {".gz",    ".xz",  ".bz2", ".zst", ".zip", ".fp", ".txt",
                                          ".trace", ".rep", ".ops", ".log", ".raw", ".wl"};
    char *name = res_strdup(input);
    size_t length = strlen(name);
    while (length > 1 && name[length - 1] == '/')
        name[--length] = '\0';
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        const size_t ending = strlen(endings[i]);
        if (length > ending && strcmp(name + length - ending, endings[i]) == 0 &&
            name[length - ending - 1] != '/') {
            length -= ending;
            name[length] = '\0';
        }
    }
    char *output = res_printf("%s%s", strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ? "recording" : name,
                              new_ending);
    free(name);
    return output;
}

/* Of what is not there, or cannot be looked at, the recording's reader says why. */
static bool is_no_directory(const char *path)
{
    struct stat facts;
    return strcmp(path, "-") == 0 || (stat(path, &facts) == 0 && !S_ISDIR(facts.st_mode));
}

static int run_each(const struct cli_convert_options *settings)
{
    const struct cli_answer *answer = &settings->answer;
    char *named = answer->output == NULL ? cli_output_name(settings->input, "-workloads") : NULL;
    const struct cli_each each = {
        .input = settings->input,
        .directory = named != NULL ? named : answer->output,
        .list = settings->each,
        .ending = settings->format.ending,
        .jobs = settings->jobs,
        .options = &settings->convert,
        .quiet = answer->quiet,
        .progress = answer->progress,
        .json = answer->json,
    };
    int code;
    if (conv_detect(settings->input) != CONV_KIND_RECORDING && is_no_directory(settings->input))
        code = cli_misuse(&CLI_CONVERT,
                          "'%s' is no recording's directory: --each is for the processes of one",
                          settings->input);
    else {
        (void)cli_recover(&CLI_CONVERT, settings->input);
        code = cli_convert_each(&CLI_CONVERT, &each);
    }
    free(named);
    return code;
}

/* What needs no converting, told before the name of an output is looked at. */
static int refuse_other_kind(const struct cli_convert_options *settings)
{
    const char *input = settings->input;
    const enum conv_kind kind = settings->convert.from == NULL ? conv_detect(input) : CONV_KIND_UNKNOWN;
    if (kind == CONV_KIND_RESULT) {
        cli_say_other_kind(&CLI_CONVERT, input, kind);
        return CLI_UNREADABLE;
    }
    if (kind == CONV_KIND_WORKLOAD && settings->answer.output == NULL &&
        strcmp(settings->format.ending, ".wl") == 0) {
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
    struct cli_convert_options settings;
    struct cli_answer *answer = &settings.answer;
    int code = cli_convert_take_options(argc, argv, &settings);
    if (code >= 0)
        return code;
    if (settings.each != NULL)
        return run_each(&settings);
    code = refuse_other_kind(&settings);
    if (code != CLI_DONE)
        return code;
    char *named = answer->output == NULL ? cli_output_name(settings.input, settings.format.ending) : NULL;
    if (named != NULL)
        answer->output = named;
    (void)cli_recover(&CLI_CONVERT, settings.input);
    code = cli_answer_check(&CLI_CONVERT, answer);
    if (code == CLI_DONE)
        code = cli_convert_file(&CLI_CONVERT, settings.input, answer->output, &settings.convert,
                                answer->quiet, answer->progress, answer->json);
    free(named);
    return code;
}

const struct cli_verb CLI_CONVERT = {
    .name = "convert",
    .summary = "turn a recording or another tool's trace into a workload",
    .help = cli_convert_help,
    .run = run_convert,
};
