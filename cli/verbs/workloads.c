/* workloads.c - the way from any input to workloads that can be replayed. */
#include "cli/verbs/verbs.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "convert/import/formats.h"
#include "convert/open/input.h"
#include "convert/recording/choose.h"
#include "convert/recording/parts.h"
#include "convert/recording/recording.h"
#include "convert/recording/recording_json.h"
#include "convert/select/selection_plan.h"
#include "footprint/base/memory_bound.h"
#include "footprint/base/process.h"
#include "footprint/base/words.h"
#include "results/measure/result/result.h"

#define WORKLOAD_ENDING ".wl"

/* ---- several processes of a recording ---------------------------------------------------------- */

struct job {
    const struct conv_process *process;
    char *input, *output;
    const char *process_file; /* for the conversion: NULL when the input is a footprint */
};

struct work {
    const struct cli_each *each;
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
    if (!work->each->all)
        job->process_file = process->file; /* of a group it is told what of the recording it is */
    name = res_printf("%s%s", stem, work->each->ending);
    job->output = res_path_join(work->each->directory, name);
    job->input = job->process_file != NULL ? res_strdup(directory) : res_path_join(directory, process->file);
    free(name);
}

static void list_jobs(struct work *work, const struct conv_survey *survey)
{
    char directory[CONV_PATH_BYTES];
    size_t silent = 0;
    conv_recording_directory(work->each->input, directory);
    work->jobs = res_calloc(survey->process_count, sizeof *work->jobs);
    for (size_t i = 0; i < survey->process_count; i++) {
        const struct conv_process *process = &survey->processes[i];
        if (!process->chosen)
            continue;
        if (process->events == 0)
            silent++;
        else if (process->missing && work->each->convert->salvage)
            cli_say(work->each->verb, "left out: footprint '%s' is missing", process->file);
        else
            add_job(work, directory, process);
    }
    if (silent > 0 && !work->each->quiet)
        cli_say(work->each->verb, "left out: %s process%s without a call", FP_GROUPED(silent),
                silent == 1 ? "" : "es");
}

/* Checks outputs before the work: none of it is lost to a name that was taken. The first is named, others are counted. */
static bool check_outputs(const struct work *work)
{
    char *first = NULL;
    size_t refused = 0;
    for (size_t i = 0; i < work->count; i++) {
        char *problem = NULL;
        if (cli_output_check(work->jobs[i].output, work->each->convert->overwrite, &problem))
            continue;
        if (refused++ == 0)
            first = problem;
        else
            free(problem);
    }
    if (refused == 1)
        cli_say(work->each->verb, "%s; nothing was converted", first);
    else if (refused > 1)
        cli_say(work->each->verb, "%s; likewise %zu more of %zu; nothing was converted", first, refused - 1,
                work->count);
    free(first);
    return refused == 0;
}

static void sum_up(const struct work *work, const struct job *job, const json_t *report)
{
    if (!work->each->quiet)
        cli_say(work->each->verb, "%s: %s ops, %s", job->output,
                FP_GROUPED(json_integer_value(json_object_get(report, "ops"))),
                FP_BYTES(json_integer_value(json_object_get(report, "output_bytes"))));
}

/* Every message about a process has its name before it. Returns an exit code. */
static int convert_one(const struct work *work, const struct job *job, json_t *reports)
{
    struct conv_options options = *work->each->convert;
    struct cli_verb verb = *work->each->verb;
    json_t *report = NULL;
    char *plain = res_text_plain(job->process->name);
    char *name = res_printf("%s: %s.%u", work->each->verb->name, plain, job->process->process_id);
    verb.name = name;
    options.process_file = job->process_file;
    const int code = cli_convert_file(&verb, job->input, job->output, &options, true, work->each->no_progress,
                                      &report);
    fp_memory_forget_input(); /* each is bounded by its own size */
    if (report != NULL) {
        sum_up(work, job, report);
        json_array_append_new(reports, report);
    }
    free(name);
    free(plain);
    return code;
}

/* A selection may leave nothing of some processes of a group. */
static int convert_all(const struct work *work, json_t **ret_report)
{
    json_t *list = json_array();
    const bool some_will_do = !work->each->all && conv_plan_any(&work->each->convert->select);
    int worst = CLI_DONE;
    for (size_t i = 0; i < work->count; i++) {
        const int code = convert_one(work, &work->jobs[i], list);
        if (!(some_will_do && code == CLI_MISUSE))
            worst = code > worst ? code : worst;
    }
    if (json_array_size(list) == 0 && worst == CLI_DONE)
        worst = CLI_MISUSE;
    if (ret_report == NULL) {
        json_decref(list);
        return worst;
    }
    *ret_report = json_pack("{s:s, s:s, s:I, s:o}", "schema", "mallab-convert-each/1", "mallab_version",
                            MALLAB_VERSION, "failed", (json_int_t)(work->count - json_array_size(list)),
                            "workloads", list);
    return worst;
}

static void free_jobs(struct work *work)
{
    for (size_t i = 0; i < work->count; i++) {
        free(work->jobs[i].input);
        free(work->jobs[i].output);
    }
    free(work->jobs);
}

/* Chooses all processes, or the group. */
static enum fp_status choose(const struct cli_each *each, struct conv_survey *survey,
                             struct conv_error *error)
{
    struct conv_choice choice;
    if (each->all)
        return conv_recording_choose_all(each->input, survey, error);
    const enum fp_status status = conv_recording_choose(each->input, each->convert, survey, &choice, error);
    for (size_t i = 0; status == FP_OK && i < choice.count; i++)
        choice.members[i]->chosen = true;
    if (status == FP_OK)
        cli_choice_tell(each->verb, survey, choice.left_out);
    return status;
}

int cli_convert_each(const struct cli_each *each, json_t **ret_report)
{
    struct work work = {.each = each};
    struct conv_survey survey = {0};
    struct conv_error *error = res_calloc(1, sizeof *error);
    bool made;
    int code = CLI_FAILED;
    enum fp_status status = conv_recording_list(each->input, &survey, error);
    if (status == FP_OK)
        status = choose(each, &survey, error);
    if (status != FP_OK) {
        code = cli_conv_failed(each->verb, error);
    } else if (!(made = mkdir(each->directory, 0777) == 0) && errno != EEXIST) {
        cli_say(each->verb, "cannot make directory '%s': %s", each->directory, strerror(errno));
    } else {
        list_jobs(&work, &survey);
        if (check_outputs(&work))
            code = convert_all(&work, ret_report);
        free_jobs(&work);
        if (made && code != CLI_DONE)
            (void)rmdir(each->directory); /* stays when a workload is in it */
    }
    conv_survey_release(&survey);
    free(error);
    return code;
}

/* The bytes of all footprints in a directory. */
static uint64_t footprints_bytes(const char *directory)
{
    struct dirent **entries = NULL;
    const int count = scandir(directory, &entries, conv_is_footprint, NULL);
    uint64_t bytes = 0;
    for (int i = 0; i < count; i++) {
        char *path = res_path_join(directory, entries[i]->d_name);
        struct stat facts;
        bytes += stat(path, &facts) == 0 ? (uint64_t)facts.st_size : 0;
        free(path);
        free(entries[i]);
    }
    free(entries);
    return bytes;
}

bool cli_is_group(const char *input, const struct conv_options *options, uint64_t *ret_bytes)
{
    struct conv_survey survey = {0};
    struct conv_choice choice = {0};
    struct conv_error *error = res_calloc(1, sizeof *error);
    const bool chosen = conv_detect(input) == CONV_KIND_RECORDING &&
                        conv_recording_list(input, &survey, error) == FP_OK &&
                        conv_recording_choose(input, options, &survey, &choice, error) == FP_OK;
    double all = 0, own = 0;
    for (size_t i = 0; chosen && i < survey.process_count; i++)
        all += (double)survey.processes[i].events;
    for (size_t i = 0; chosen && i < choice.count; i++)
        own += (double)choice.members[i]->events;
    if (ret_bytes != NULL)
        *ret_bytes = all > 0 ? (uint64_t)((double)footprints_bytes(input) * own / all) : 0;
    conv_survey_release(&survey);
    free(error);
    return chosen && choice.count > 1;
}

/* ---- an input ---------------------------------------------------------------------------------- */

struct conversion {
    struct cli_each each;
    bool is_group; /* else each.directory is the file's name */
};

/* Runs in the child. The caller only notes signals, and ends in order; here they end the conversion. */
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

/* Converts in a process of its own, which a Ctrl-C ends without ending us: we still have a directory to remove. */
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

/* A workload is about as large as the footprints that it is made of. Said before the work, which may take an hour. */
static int check_room(const struct cli_verb *verb, const struct cli_prepare *prepare, const char *input,
                      uint64_t bytes)
{
    struct statvfs room;
    if (conv_plan_any(&prepare->convert->select) || statvfs(prepare->directory, &room) != 0)
        return CLI_DONE;
    const uint64_t free_bytes = (uint64_t)room.f_bavail * room.f_frsize;
    if (bytes <= free_bytes)
        return CLI_DONE;
    cli_say(verb,
            "the workload of '%s' takes about %s, and '%s' has %s left: free some space, or choose another "
            "directory with TMPDIR or --keep DIR",
            input, FP_BYTES((double)bytes), prepare->directory, FP_BYTES((double)free_bytes));
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
    struct conv_recording recording = {0};
    struct conv_error *error = res_calloc(1, sizeof *error);
    const bool is_sample = kind == CONV_KIND_RECORDING &&
                           conv_recording_read(path, &recording, error) == FP_OK &&
                           recording.sample_bytes != 0;
    conv_recording_release(&recording);
    free(error);
    if (is_sample) {
        cli_say(verb, "'%s' is a sample of objects, for sites and leaks: to replay, record without =BYTES",
                path);
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
    uint64_t bytes;
    const bool is_group = cli_is_group(input, prepare->convert, &bytes);
    char *output = free_name(prepare->directory, input, number);
    int code = check_room(verb, prepare, input, bytes);
    if (code == CLI_DONE && is_group)
        code = cli_group_make_room(verb, output, prepare->force);
    if (code == CLI_DONE)
        code = convert_in_child(verb, prepare, input, output, is_group);
    if (code == CLI_DONE && is_group && !cli_group_read(output, ret_prepared))
        code = CLI_FAILED; /* told by the conversion */
    else if (code == CLI_DONE && !is_group)
        ret_prepared->path = res_strdup(output);
    free(output);
    return code;
}
