/* workloads.c - from whatever was given to workloads that can be replayed. */
#include "cli/verbs/workloads.h"
#include "cli/base/say.h"
#include "cli/options/measure_options.h"
#include "cli/verbs/convert_each.h"
#include "cli/verbs/convert_report.h"
#include "cli/verbs/group_workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/options/select_options.h"
#include "convert/import/formats.h"
#include "convert/open/input.h"
#include "footprint/base/process.h"
#include "footprint/base/signals.h"
#include "footprint/base/support.h"
#include "record/collector.h"
#include "record/target.h"
#include "results/measure/result/result.h"

#define WORKLOAD_ENDING ".wl"

struct conversion {
    struct cli_each each;
    bool is_group; /* else each.directory is the file's name */
};

/* In the child. The caller only notes signals, and ends in order; here they end the conversion. */
static int convert(void *data)
{
    static const int NUMBERS[] = {FP_ENDING_SIGNALS};
    const struct sigaction action = {.sa_handler = SIG_DFL};
    const struct conversion *conversion = data;
    const struct cli_each *each = &conversion->each;
    fp_signals_take(NUMBERS, FP_ENDING_COUNT, &action, NULL);
    return conversion->is_group ? cli_convert_each(each, NULL)
                                : cli_convert_file(each->verb, each->input, each->directory, each->convert,
                                                   each->quiet, each->no_progress, NULL);
}

/* In a process of its own, which a Ctrl-C ends without ending us: we still have a directory to remove. */
static int convert_in_child(const struct cli_verb *verb, const struct cli_prepare *prepare, const char *input,
                            const char *output, bool is_group)
{
    struct conv_options options = *prepare->convert;
    struct conversion conversion = {.each = {.verb = verb,
                                             .input = input,
                                             .directory = output,
                                             .ending = WORKLOAD_ENDING,
                                             .convert = &options,
                                             .quiet = prepare->quiet,
                                             .no_progress = prepare->no_progress},
                                    .is_group = is_group};
    const struct fp_process_plan plan = {.body = convert, .data = &conversion, .dies_with_us = true};
    int status;
    options.overwrite = prepare->force;
    const int error = fp_process_run(&plan, &status);
    if (error != 0)
        cli_say(verb, "cannot convert '%s': no process: %s", input, strerror(error));
    else if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    else if (fp_signal_is_ending(WTERMSIG(status)))
        cli_say(verb, "interrupted while '%s' was converted: nothing of that is kept", input);
    else
        cli_say(verb, "the conversion of '%s' was ended by signal %d", input, WTERMSIG(status));
    return CLI_FAILED;
}

/* A name in the directory that no other input of this command line took. */
static char *free_name(const char *directory, const char *input, size_t number)
{
    char *whole = cli_output_name(input, WORKLOAD_ENDING);
    char *path = res_path_join(directory, conv_path_name(whole));
    struct stat facts;
    if (number > 0 && lstat(path, &facts) == 0) {
        free(path);
        path = res_printf("%s/%zu-%s", directory, number, conv_path_name(whole));
    }
    free(whole);
    return path;
}

void cli_say_other_kind(const struct cli_verb *verb, const char *path, enum conv_kind kind)
{
    const char *title = conv_trace_title(kind);
    if (kind == CONV_KIND_RESULT) {
        const char *remedy = "", *words = res_json_kind_of_file(path, &remedy);
        if (words != NULL)
            cli_say(verb, "'%s' is %s, nothing that can be replayed: %s", path, words, remedy);
        else
            cli_say(verb, "'%s' is JSON, but none of mallab's, nothing that can be replayed", path);
        return;
    }
    if (kind == CONV_KIND_TAR) {
        cli_say(verb, "'%s' is a tar archive: 'tar -xf %s' extracts it", path, path);
        return;
    }
    char *name = cli_output_name(path, ".wl");
    if (title != NULL)
        cli_say(
            verb,
            "'%s' is a trace of format '%s' (%s), not a workload: 'mallab convert -o %s %s' makes one of it",
            path, conv_kind_name(kind), title, name, path);
    else
        cli_say(verb, "'%s' is a %s, not a workload: 'mallab convert -o %s %s' makes one of it", path,
                kind == CONV_KIND_TEXT ? "workload's text" : conv_kind_name(kind), name, path);
    free(name);
}

/* `mallab ab ls`: a command, where recordings are named. Returns whether it was one. */
static bool tell_command(const struct cli_verb *verb, const char *input)
{
    struct rec_target target;
    struct stat facts;
    const bool is_there = stat(input, &facts) == 0;
    if (is_there && (!S_ISREG(facts.st_mode) || access(input, X_OK) != 0))
        return false;
    rec_target_find(input, &target);
    const bool found = target.code == 0;
    if (found && is_there)
        cli_say(verb, "'%s' is a program, no recording: to record and replay it, 'mallab %s -- %s'", input,
                verb->name, input);
    else if (found)
        cli_say(verb, "there is no file '%s'; to record and replay the command '%s', 'mallab %s -- %s'",
                input, input, verb->name, input);
    rec_target_release(&target);
    return found;
}

int cli_workload_prepare(const struct cli_verb *verb, const struct cli_prepare *prepare, const char *input,
                         size_t number, struct cli_prepared *ret_prepared)
{
    struct cli_prepared prepared = {0};
    const enum conv_kind kind = conv_detect(input);
    if (kind == CONV_KIND_RECORDING)
        (void)rec_recover(verb->name, input);
    if (strcmp(input, "-") == 0) {
        cli_say(verb, "a workload is not read from a pipe, as every run reads it anew: name a file, which "
                      "'mallab convert -o FILE.wl -' makes of a pipe");
        return CLI_MISUSE;
    }
    if (kind == CONV_KIND_UNKNOWN && cli_group_read(input, &prepared)) {
        if (cli_select_any(prepare->convert)) {
            cli_prepared_release(&prepared);
            cli_say(verb, "'%s' holds workloads already: select when they are converted", input);
            return CLI_MISUSE;
        }
        *ret_prepared = prepared;
        return CLI_DONE;
    }
    if (kind == CONV_KIND_UNKNOWN && prepare->convert->from == NULL && tell_command(verb, input))
        return CLI_UNREADABLE;
    if (kind == CONV_KIND_WORKLOAD && cli_select_any(prepare->convert)) {
        cli_say(verb, "'%s' is a workload already: select when it is converted", input);
        return CLI_MISUSE;
    }
    if (kind == CONV_KIND_WORKLOAD) {
        ret_prepared->path = res_strdup(input);
        return CLI_DONE;
    }
    if (kind == CONV_KIND_RESULT) {
        cli_say_other_kind(verb, input, kind);
        return CLI_UNREADABLE;
    }
    const bool is_group = cli_is_group(input, prepare->convert);
    char *output = free_name(prepare->directory, input, number);
    int code = is_group ? cli_group_make_room(verb, output, prepare->force) : CLI_DONE;
    if (code == CLI_DONE)
        code = convert_in_child(verb, prepare, input, output, is_group);
    if (code == CLI_DONE && is_group && !cli_group_read(output, ret_prepared))
        code = CLI_FAILED; /* told by the conversion */
    else if (code == CLI_DONE && !is_group)
        ret_prepared->path = res_strdup(output);
    free(output);
    return code;
}
