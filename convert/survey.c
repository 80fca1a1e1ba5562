/* survey.c - what an input holds, without writing anything. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "convert/base/limits.h"
#include "convert/convert.h"
#include "convert/open/detect.h"
#include "convert/open/input.h"
#include "convert/open/pass.h"
#include "convert/open/workload_survey.h"
#include "convert/order/footprint_input.h"
#include "convert/recording/choose.h"
#include "convert/recording/recording.h"
#include "convert/select/selection_plan.h"
#include "convert/text/workload_text.h"
#include "convert/windows/window_counts.h"
#include "footprint/base/words.h"

static enum fp_status survey_input(const struct conv_input *input, const char *path,
                                   const struct conv_options *options, struct conv_survey *survey,
                                   struct conv_error *error)
{
    const enum fp_status status = conv_pass_run(input, options, NULL, survey, error);
    if (status != FP_OK && error->cause.status == FP_OK)
        return conv_fail(error, path, status, 0, 0, "no memory for more live objects");
    return status;
}

/* A text is made a workload, whose figures are its own. */
static enum fp_status survey_text(const char *path, const struct conv_options *options,
                                  struct conv_survey *survey, struct conv_error *error)
{
    struct conv_temporary temporary;
    enum fp_status status = conv_temporary_text(path, "-", options, &temporary, error);
    if (status != FP_OK)
        return status;
    status = conv_survey_workload(temporary.path, path, options, survey, error);
    survey->kind = CONV_KIND_TEXT;
    (void)close(temporary.descriptor); /* nothing is to be kept */
    return status;
}

/* ---- recordings ---------------------------------------------------------------------------- */

static void count_absent(struct conv_survey *sum, const struct conv_process *process)
{
    char digits[FP_TEXT_BYTES];
    fp_loss_add(sum->lost, process->lost);
    conv_incomplete(sum, "%.100s: no footprint could be written, %s calls were lost", process->file,
                    fp_text_grouped(fp_loss_sum(process->lost), digits));
}

static enum fp_status survey_parts(const struct conv_input *input, const char *path,
                                   const struct conv_options *options, struct conv_survey *survey,
                                   struct conv_process *process, size_t number, bool goes_on,
                                   struct conv_shares *shares, struct conv_error *error)
{
    const struct conv_parts *parts = conv_footprint_parts(input);
    enum fp_status status;
    if (parts->parts[0].window == 0)
        return survey_input(input, path, options, survey, error);
    process->windows = parts->count;
    status = conv_shares_survey(shares, number, goes_on, input, parts, options, survey, error);
    if (status != FP_OK && error->cause.status == FP_OK)
        return conv_fail(error, path, status, 0, 0, "no memory for more live objects");
    return status;
}

/* alone: no other process is looked at. It is as its conversion makes it, and its threads can be selected. */
static enum fp_status survey_process(const char *path, const struct conv_options *options, bool alone,
                                     struct conv_survey *sum, struct conv_process *process,
                                     struct conv_shares *shares, struct conv_error *error)
{
    struct conv_survey survey = {.stop_words = sum->stop_words, .recording_state = sum->recording_state};
    struct conv_input input;
    struct conv_options own = *options;
    enum fp_status status;
    if (!alone)
        own.no_inherited = true; /* each of many children would read all of its parent again */
    status = conv_footprint_open(path, CONV_EXTENT_ALL, process, &own, &survey, error, &input);
    if (status != FP_OK)
        return status;
    status = survey_parts(&input, path, options, &survey, process, (size_t)(process - sum->processes),
                          process->ran_on || sum->recording_state != CONV_RECORDING_FINISHED, shares, error);
    input.close(input.data);
    if (status != FP_OK)
        return status;
    process->events = survey.events;
    process->complete = survey.complete;
    if (!survey.complete)
        conv_incomplete(sum, "%.100s: %.120s", process->file, survey.incomplete_why);
    conv_stats_add(sum, &survey);
    if (alone) {
        sum->process_id = survey.process_id;
        sum->inherited_objects = survey.inherited_objects;
        sum->inherited_bytes = survey.inherited_bytes;
        memcpy(sum->inherited_why, survey.inherited_why, sizeof sum->inherited_why);
        sum->thread_list = survey.thread_list;
        sum->thread_count = survey.thread_count;
        survey.thread_list = NULL;
        survey.thread_count = 0;
    }
    conv_survey_release(&survey);
    return FP_OK;
}

static void name_recording(struct conv_survey *survey)
{
    const struct conv_process *largest = NULL;
    for (size_t i = 0; i < survey->process_count; i++)
        if (survey->processes[i].chosen && (largest == NULL || survey->processes[i].events > largest->events))
            largest = &survey->processes[i];
    if (largest != NULL)
        snprintf(survey->program, sizeof survey->program, "%s", largest->name);
}

/* The process that is asked for is meant, or all whose footprints are there. */
static enum fp_status choose_processes(const struct conv_options *options, struct conv_survey *survey,
                                       size_t *ret_count, struct conv_error *error)
{
    struct conv_process *process;
    enum fp_status status = FP_OK;
    *ret_count = 1;
    if (conv_process_asked(options)) {
        status = conv_recording_choose(survey->input, options, survey, &process, error);
        if (status == FP_OK)
            snprintf(survey->selected.text, sizeof survey->selected.text, "process %u, %s",
                     process->process_id, process->file);
        return status;
    }
    for (size_t i = 0; i < survey->process_count; i++)
        survey->processes[i].chosen = true;
    status = conv_recording_leave_missing(survey->input, options, survey, error);
    *ret_count = 0;
    for (size_t i = 0; i < survey->process_count; i++)
        *ret_count += survey->processes[i].chosen;
    return status;
}

static enum fp_status survey_recording(const char *path, const struct conv_options *options,
                                       struct conv_survey *survey, struct conv_error *error)
{
    struct conv_shares shares = {0};
    size_t chosen = 0;
    enum fp_status status = conv_recording_list(path, survey, error);
    survey->complete = true;
    if (status == FP_OK)
        status = choose_processes(options, survey, &chosen, error);
    if (status == FP_OK && survey->unfinished_why[0] != '\0')
        conv_incomplete(survey, "%s", survey->unfinished_why);
    for (size_t i = 0; i < survey->process_count && status == FP_OK; i++) {
        struct conv_process *process = &survey->processes[i];
        char file[2 * CONV_PATH_BYTES];
        if (!process->chosen)
            continue;
        if (process->removed) {
            conv_incomplete(survey, "process %u (%.60s): its calls were in windows that are removed",
                            process->process_id, process->name);
            continue;
        }
        if (process->absent) {
            count_absent(survey, process);
            continue;
        }
        snprintf(file, sizeof file, "%s/%s", survey->input, process->file);
        status = survey_process(file, options, chosen == 1, survey, process, &shares, error);
    }
    if (status == FP_OK && !conv_shares_sum(&shares, survey))
        status = conv_fail_memory(error, path, "the list of windows");
    conv_shares_release(&shares);
    if (status != FP_OK)
        return status;
    conv_recording_judge(survey, false);
    name_recording(survey);
    if (survey->events > 0)
        survey->bytes_per_event = (double)survey->file_bytes / (double)survey->events;
    return FP_OK;
}

/* ---- all kinds ----------------------------------------------------------------------------- */

static enum fp_status survey_one(const char *path, const struct conv_options *options,
                                 struct conv_survey *survey, struct conv_error *error)
{
    struct conv_input input;
    struct conv_options settled = *options;
    enum fp_status status;
    status = conv_input_open(path, options, survey, error, &input);
    if (status != FP_OK)
        return status;
    status = conv_input_settle(path, &input, &settled, survey, error);
    if (status == FP_OK)
        status = survey_input(&input, path, &settled, survey, error);
    if (status == FP_OK)
        conv_recording_judge(survey, options->select.merge == NULL);
    input.close(input.data);
    return status;
}

enum fp_status conv_survey_file(const char *in_path, const struct conv_options *options,
                                struct conv_survey *ret_survey, struct conv_error *ret_error)
{
    static const struct conv_options defaults = {0};
    struct conv_survey survey = {0};
    enum conv_kind kind;
    enum fp_status status;
    memset(ret_error, 0, sizeof *ret_error);
    if (options == NULL)
        options = &defaults;
    snprintf(survey.input, sizeof survey.input, "%s", in_path);
    status = conv_resolve(in_path, options, &kind, ret_error);
    if (status == FP_OK && kind == CONV_KIND_WORKLOAD)
        status = conv_survey_workload(in_path, in_path, options, &survey, ret_error);
    else if (status == FP_OK && kind == CONV_KIND_TEXT)
        status = survey_text(in_path, options, &survey, ret_error);
    else if (status == FP_OK && kind == CONV_KIND_RECORDING && options->select.merge == NULL &&
             !conv_plan_any(&options->select))
        status = survey_recording(in_path, options, &survey, ret_error);
    else if (status == FP_OK)
        status = survey_one(in_path, options, &survey, ret_error);
    if (status != FP_OK) {
        conv_survey_release(&survey);
        return conv_bound_told(status, in_path, ret_error);
    }
    *ret_survey = survey;
    return FP_OK;
}
