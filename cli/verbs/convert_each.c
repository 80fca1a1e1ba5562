/* convert_each.c - see convert_each.h. */
#include "cli/verbs/convert_each.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/output.h"
#include "cli/base/say.h"
#include "cli/verbs/convert_report.h"
#include "convert/open/input.h"
#include "convert/recording/choose.h"
#include "convert/recording/recording.h"
#include "convert/recording/recording_json.h"
#include "convert/select/selection_plan.h"
#include "footprint/base/memory_bound.h"
#include "footprint/base/part_name.h"
#include "footprint/base/support.h"
#include "footprint/base/words.h"

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

/* Before the work: none of it is lost to a name that was taken. The first is named, others are counted. */
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

/* Of a group what is selected may leave nothing of some. */
static int convert_all(const struct work *work, json_t **ret_report)
{
    json_t *object, *list = json_array();
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
    object = json_object();
    json_object_set_new(object, "schema", json_string("mallab-convert-each/1"));
    json_object_set_new(object, "mallab_version", json_string(MALLAB_VERSION));
    json_object_set_new(object, "failed", json_integer((json_int_t)(work->count - json_array_size(list))));
    json_object_set_new(object, "workloads", list);
    *ret_report = object;
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

/* Which processes: all, or the group. */
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

bool cli_is_group(const char *input, const struct conv_options *options)
{
    struct conv_survey survey = {0};
    struct conv_choice choice = {0};
    struct conv_error *error = res_calloc(1, sizeof *error);
    const bool chosen = conv_detect(input) == CONV_KIND_RECORDING &&
                        conv_recording_list(input, &survey, error) == FP_OK &&
                        conv_recording_choose(input, options, &survey, &choice, error) == FP_OK;
    conv_survey_release(&survey);
    free(error);
    return chosen && choice.count > 1;
}
