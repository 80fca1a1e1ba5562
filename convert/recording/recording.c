/* recording.c - which processes a recording directory holds: as its recording.json says, else by its footprints. */
#include "convert/recording/recording.h"

#include <stdio.h>
#include <string.h>

#include "convert/recording/process_list.h"

/* Returns FP_OK also for a damaged file, which survey->recording_state and error tell then. */
static enum fp_status read_json(const char *directory, struct conv_survey *survey, struct conv_error *error)
{
    struct conv_recording recording;
    enum fp_status status = conv_recording_read(directory, &recording, error);
    survey->recording_state = CONV_RECORDING_UNKNOWN;
    if (status == FP_OK && recording.json == NULL)
        conv_process_list_explain(survey, "it has no recording.json");
    else if (status == FP_OK)
        status = conv_process_list_take(directory, &recording, survey, error);
    conv_recording_release(&recording);
    if (status != FP_ERR_CORRUPT)
        return status;
    conv_survey_release(survey); /* of half a list nothing is believed */
    survey->recording_state = CONV_RECORDING_UNKNOWN;
    conv_process_list_explain(survey, "its recording.json is damaged (%s)", error->what);
    return FP_OK;
}

/* error: what is wrong with recording.json, if anything. */
static enum fp_status fail_without_process(const char *directory, const struct conv_survey *survey,
                                           const struct conv_passed_over *passed, struct conv_error *error)
{
    char path[2 * CONV_PATH_BYTES];
    if (passed->damaged > 0) {
        snprintf(path, sizeof path, "%s/%s", directory, passed->file);
        return conv_fail_with(error, path, &passed->cause);
    }
    if (survey->recording_state == CONV_RECORDING_GOING_ON)
        return conv_fail(error, directory, FP_ERR_READ, 0, 0, "nothing is written yet: %s",
                         survey->unfinished_why);
    if (error->cause.status != FP_OK)
        return error->cause.status;
    if (survey->recording_state == CONV_RECORDING_FINISHED)
        return conv_fail(error, directory, FP_ERR_READ, 0, 0,
                         "holds no footprint: no process was recorded%s%s",
                         survey->recording_why[0] != '\0' ? ": " : "", survey->recording_why);
    if (survey->recording_state == CONV_RECORDING_UNKNOWN && passed->empty == 0)
        return conv_fail(
            error, directory, FP_ERR_READ, 0, 0,
            "is a directory without a footprint (*.fp): name the one that 'mallab record' wrote");
    return conv_fail(error, directory, FP_ERR_READ, 0, 0, "nothing was written: %s", survey->unfinished_why);
}

static void explain_passed_over(const struct conv_passed_over *passed, struct conv_survey *survey)
{
    if (passed->empty > 0)
        conv_process_list_explain(survey, "%zu footprint%s nothing%s", passed->empty,
                                  passed->empty == 1 ? " holds" : "s hold",
                                  survey->recording_state == CONV_RECORDING_GOING_ON ? " yet" : "");
    if (passed->damaged > 0)
        conv_process_list_explain(survey, "left out: '%.60s' (%.60s)%s", passed->file,
                                  passed->cause.what != NULL ? passed->cause.what
                                                             : fp_status_name(passed->cause.status),
                                  passed->damaged > 1 ? " and others" : "");
}

void conv_recording_judge(struct conv_survey *survey, bool of_one)
{
    if (survey->recording_why[0] != '\0')
        conv_incomplete(survey, "%s%s", of_one ? "elsewhere in the recorded tree: " : "",
                        survey->recording_why);
}

enum fp_status conv_recording_list(const char *path, struct conv_survey *survey, struct conv_error *error)
{
    char directory[CONV_PATH_BYTES];
    struct conv_passed_over passed = {0};
    uint64_t events = 0;
    enum fp_status status;
    conv_recording_directory(path, directory);
    memset(error, 0, sizeof *error);
    survey->kind = CONV_KIND_RECORDING;
    snprintf(survey->input, sizeof survey->input, "%s", directory);
    status = read_json(directory, survey, error);
    if (status == FP_OK && survey->recording_state == CONV_RECORDING_ENDED_EARLY) {
        /* It may have finished between our look at its file and our look for its process: then the file is new. */
        survey->unfinished_why[0] = '\0';
        survey->collector_pid = 0;
        status = read_json(directory, survey, error);
    }
    if (status != FP_OK || survey->process_count > 0)
        return status;
    status = conv_process_list_scan(directory, survey, &passed, error);
    if (status == FP_OK)
        status = conv_process_list_tell_ends(directory, survey, error);
    if (status != FP_OK)
        return status;
    if (survey->process_count == 0)
        return fail_without_process(directory, survey, &passed, error);
    if (survey->recording_state == CONV_RECORDING_FINISHED) {
        survey->recording_state = CONV_RECORDING_UNKNOWN;
        conv_process_list_explain(survey, "its recording.json lists no process");
    }
    for (size_t i = 0; i < survey->process_count; i++)
        events += survey->processes[i].events;
    if (events == 0 && survey->recording_state == CONV_RECORDING_GOING_ON)
        conv_process_list_explain(survey, "nothing is written yet");
    explain_passed_over(&passed, survey);
    memset(error, 0, sizeof *error); /* a damaged recording.json was made up for */
    return FP_OK;
}
