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
#include "convert/recording/recording.h"
#include "convert/select/selection_plan.h"
#include "footprint/base/memory_bound.h"
#include "footprint/base/process.h"
#include "footprint/base/words.h"
#include "results/measure/result/result.h"

/* ---- several processes of a recording ---------------------------------------------------------- */

struct job {
    const struct conv_process *process;
    char *output;
};

struct work {
    const struct cli_conversion *group;
    char directory[CONV_PATH_BYTES]; /* of the recording */
    struct job *jobs;
    size_t count;
};

static void add_job(struct work *work, const struct conv_process *process)
{
    char stem[CONV_PATH_BYTES];
    uint32_t window = 0;
    if (!fp_part_name(process->file, sizeof stem, stem, &window))
        snprintf(stem, sizeof stem, "%u", process->process_id);
    char *name = res_printf("%s%s", stem, work->group->ending);
    work->jobs[work->count++] = (struct job){process, res_path_join(work->group->output, name)};
    free(name);
}

static void list_jobs(struct work *work, const struct conv_choice *choice)
{
    size_t silent = 0;
    conv_recording_directory(work->group->input, work->directory);
    work->jobs = res_calloc(choice->count, sizeof *work->jobs);
    for (size_t i = 0; i < choice->count; i++) {
        const struct conv_process *process = choice->members[i];
        if (process->events == 0)
            silent++;
        else
            add_job(work, process);
    }
    if (silent > 0 && !work->group->quiet)
        cli_say(work->group->verb, "left out: %s process%s without a call", FP_GROUPED(silent),
                silent == 1 ? "" : "es");
}

/* Checks outputs before the work: none of it is lost to a name that was taken. */
static bool check_outputs(const struct work *work)
{
    for (size_t i = 0; i < work->count; i++) {
        char *problem = NULL;
        if (cli_output_check(work->jobs[i].output, work->group->options->overwrite, &problem))
            continue;
        cli_say(work->group->verb, "%s; nothing was converted", problem);
        free(problem);
        return false;
    }
    return true;
}

static void sum_up(const struct work *work, const struct job *job, const json_t *report)
{
    if (!work->group->quiet)
        cli_say(work->group->verb, "%s: %s ops, %s", job->output,
                FP_GROUPED(json_integer_value(json_object_get(report, "ops"))),
                FP_BYTES(json_integer_value(json_object_get(report, "output_bytes"))));
}

/* Every message about a process has its name before it. Returns an exit code. */
static int convert_one(const struct work *work, const struct job *job, json_t *reports)
{
    struct cli_verb verb = *work->group->verb;
    struct conv_options options = *work->group->options;
    struct cli_conversion one = *work->group;
    json_t *report = NULL;
    char *plain = res_text_plain(job->process->name);
    char *name = res_printf("%s: %s.%u", verb.name, plain, job->process->process_id);
    verb.name = name;
    options.process_file = job->process->file;
    one.verb = &verb;
    one.options = &options;
    one.input = work->directory;
    one.output = job->output;
    one.quiet = true;
    const int code = cli_convert_file(&one, &report);
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
    const bool some_will_do = conv_plan_any(&work->group->options->select);
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

static enum fp_status choose(const char *input, const struct conv_options *options,
                             struct conv_survey *survey, struct conv_choice *ret_choice,
                             struct conv_error *error)
{
    const enum fp_status status = conv_recording_list(input, survey, error);
    return status == FP_OK ? conv_recording_choose(input, options, survey, ret_choice, error) : status;
}

static int convert_group(const struct cli_conversion *group, json_t **ret_report)
{
    struct work work = {.group = group};
    struct conv_survey survey = {0};
    struct conv_choice choice = {0};
    struct conv_error *error = res_calloc(1, sizeof *error);
    bool made;
    int code = CLI_FAILED;
    if (choose(group->input, group->options, &survey, &choice, error) != FP_OK) {
        code = cli_conv_failed(group->verb, error);
    } else if (!(made = mkdir(group->output, 0777) == 0) && errno != EEXIST) {
        cli_say(group->verb, "cannot make directory '%s': %s", group->output, strerror(errno));
    } else {
        for (size_t i = 0; i < choice.count; i++)
            choice.members[i]->chosen = true;
        cli_choice_tell(group->verb, &survey, choice.left_out);
        list_jobs(&work, &choice);
        if (check_outputs(&work))
            code = convert_all(&work, ret_report);
        if (made && code != CLI_DONE)
            (void)rmdir(group->output); /* stays when a workload is in it */
    }
    for (size_t i = 0; i < work.count; i++)
        free(work.jobs[i].output);
    free(work.jobs);
    conv_survey_release(&survey);
    free(error);
    return code;
}

int cli_convert(const struct cli_conversion *conversion, json_t **ret_report)
{
    return conversion->is_group ? convert_group(conversion, ret_report)
                                : cli_convert_file(conversion, ret_report);
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
                        choose(input, options, &survey, &choice, error) == FP_OK;
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

/* Runs in the child. The caller only notes signals, and ends in order; here they end the conversion. */
static int convert(void *data)
{
    static const int NUMBERS[] = {FP_ENDING_SIGNALS};
    const struct sigaction action = {.sa_handler = SIG_DFL};
    fp_signals_take(NUMBERS, FP_ENDING_COUNT, &action, NULL);
    return cli_convert(data, NULL);
}

/* Converts in a process of its own, which a Ctrl-C ends without ending us: we still have a directory to remove. */
static int convert_in_child(struct cli_conversion *conversion)
{
    const struct cli_verb *verb = conversion->verb;
    const char *input = conversion->input;
    const struct fp_process_plan plan = {.body = convert, .data = conversion, .dies_with_us = true};
    int status;
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
static int check_room(const struct cli_conversion *way, uint64_t bytes)
{
    struct statvfs room;
    if (conv_plan_any(&way->options->select) || statvfs(way->output, &room) != 0)
        return CLI_DONE;
    const uint64_t free_bytes = (uint64_t)room.f_bavail * room.f_frsize;
    if (bytes <= free_bytes)
        return CLI_DONE;
    cli_say(way->verb,
            "the workload of '%s' takes about %s, and '%s' has %s left: free some space, or choose another "
            "directory with TMPDIR or --keep DIR",
            way->input, FP_BYTES((double)bytes), way->output, FP_BYTES((double)free_bytes));
    return CLI_FAILED;
}

/* A name in the directory that no other input of this command line took. */
static char *free_name(const struct cli_conversion *way, size_t number)
{
    char *whole = cli_output_name(way->input, way->ending);
    char *path = res_path_join(way->output, conv_path_name(whole));
    struct stat facts;
    if (number > 0 && lstat(path, &facts) == 0) {
        free(path);
        path = res_printf("%s/%zu-%s", way->output, number, conv_path_name(whole));
    }
    free(whole);
    return path;
}

void cli_say_result(const struct cli_verb *verb, const char *path)
{
    RES_FREED char *schema = res_json_schema_of_file(path);
    cli_say(verb, "'%s' is JSON (%.40s): %s", path, schema != NULL ? schema : "not mallab's",
            res_json_remedy(schema));
}

/* `mallab ab ls`: a command, where recordings are named. Returns whether it was one. */
static bool tell_command(const struct cli_verb *verb, const char *input)
{
    const char *taker = verb->command_at == CLI_COMMAND_NONE ? CLI_AB.name : verb->name;
    struct rec_target target;
    struct stat facts;
    const bool is_there = stat(input, &facts) == 0;
    if (is_there && (!S_ISREG(facts.st_mode) || access(input, X_OK) != 0))
        return false;
    rec_target_find(input, &target);
    const bool found = target.code == 0;
    if (found && is_there)
        cli_say(verb, "'%s' is a program, no recording: to record and replay it, 'mallab %s -- %s'", input,
                taker, input);
    else if (found)
        cli_say(verb, "there is no file '%s'; to record and replay the command '%s', 'mallab %s -- %s'",
                input, input, taker, input);
    rec_target_release(&target);
    return found;
}

int cli_workload_prepare(const struct cli_conversion *way, size_t number, struct cli_prepared *ret_prepared)
{
    const struct cli_verb *verb = way->verb;
    const char *input = way->input;
    struct cli_conversion conversion = *way;
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
        if (cli_select_any(way->options)) {
            cli_prepared_release(&prepared);
            cli_say(verb, "'%s' holds workloads already: select when they are converted", input);
            return CLI_MISUSE;
        }
        *ret_prepared = prepared;
        return CLI_DONE;
    }
    if (kind == CONV_KIND_UNKNOWN && way->options->from == NULL && tell_command(verb, input))
        return CLI_UNREADABLE;
    if (kind == CONV_KIND_WORKLOAD && cli_select_any(way->options)) {
        cli_say(verb, "'%s' is a workload already: select when it is converted", input);
        return CLI_MISUSE;
    }
    if (kind == CONV_KIND_WORKLOAD) {
        ret_prepared->path = res_strdup(input);
        return CLI_DONE;
    }
    if (kind == CONV_KIND_RESULT) {
        cli_say_result(verb, input);
        return CLI_UNREADABLE;
    }
    uint64_t bytes;
    conversion.is_group = cli_is_group(input, way->options, &bytes);
    char *output = free_name(way, number);
    conversion.output = output;
    int code = check_room(way, bytes);
    if (code == CLI_DONE && conversion.is_group)
        code = cli_group_make_room(verb, output, way->options->overwrite);
    if (code == CLI_DONE)
        code = convert_in_child(&conversion);
    if (code == CLI_DONE && conversion.is_group && !cli_group_read(output, ret_prepared))
        code = CLI_FAILED; /* told by the conversion */
    else if (code == CLI_DONE && !conversion.is_group)
        ret_prepared->path = res_strdup(output);
    free(output);
    return code;
}
