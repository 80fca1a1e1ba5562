/* view_status.c - what recording.json says of a recording at the moment. */
#include "convert/view/view_status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/recording/recording.h"
#include "convert/recording/unfinished.h"
#include "footprint/base/part_name.h"

static uint64_t number_of(const json_t *object, const char *key)
{
    const json_int_t value = json_integer_value(json_object_get(object, key));
    return value > 0 ? (uint64_t)value : 0;
}

static void add_losses(const json_t *object, uint64_t *lost)
{
    const json_t *causes = json_object_get(object, "lost");
    for (unsigned cause = 0; cause < FP_LOSS_COUNT; cause++)
        lost[cause] += number_of(causes, fp_loss_name(cause));
}

/* Figures of the whole recording, or of the one process that is looked at. */
static void take_figures(const json_t *root, uint32_t only, struct conv_view_status *status)
{
    const json_t *ring = json_object_get(root, "ring"), *item;
    size_t i;
    status->duration_ns = number_of(root, "duration_ns");
    status->stalls = number_of(root, "stalls");
    status->stall_ns = number_of(root, "stall_ns");
    if (json_is_object(ring)) {
        status->ring_told = true;
        status->ring_chunks = number_of(ring, "chunks");
        status->ring_chunks_used = number_of(ring, "chunks_used");
        status->ring_chunks_most = number_of(ring, "chunks_most");
        status->ring_chunk_bytes = number_of(ring, "chunk_bytes");
    }
    status->stop_words = conv_recording_stop_words(root);
    status->pauses = json_array_size(json_object_get(root, "pauses"));
    if (only == 0) {
        add_losses(root, status->lost);
        return;
    }
    json_array_foreach(json_object_get(root, "processes"), i, item)
    {
        if (number_of(item, "pid") != only)
            continue;
        add_losses(item, status->lost);
    }
}

static void judge(const json_t *root, const char *directory, struct conv_view_status *status)
{
    struct conv_survey survey = {0};
    if (json_object_get(root, "collector") == NULL && json_object_get(root, "segment_path") == NULL) {
        status->state = CONV_RECORDING_FINISHED;
        return;
    }
    conv_unfinished_judge(root, directory, &survey);
    status->state = survey.recording_state;
    status->collector_pid = survey.collector_pid;
    snprintf(status->why, sizeof status->why, "%s", survey.unfinished_why);
}

static enum fp_status take(struct conv_view *view, json_t **ret_root, struct conv_error *error)
{
    char path[CONV_PATH_BYTES + 32];
    struct conv_view_status found = {.state = CONV_RECORDING_UNKNOWN};
    const char *state;
    enum fp_status status = conv_recording_load(view->directory, ret_root, error);
    if (status == FP_ERR_CORRUPT) {
        snprintf(found.why, sizeof found.why, "its recording.json is damaged (%.200s)", error->what);
        view->status = found;
        return FP_OK;
    }
    if (status != FP_OK)
        return status;
    if (*ret_root == NULL) {
        snprintf(found.why, sizeof found.why, "it has no recording.json");
        view->status = found;
        return FP_OK;
    }
    snprintf(path, sizeof path, "%s/recording.json", view->directory);
    status = conv_recording_check(path, *ret_root, error);
    if (status != FP_OK)
        return status;
    judge(*ret_root, view->directory, &found);
    state = json_string_value(json_object_get(*ret_root, "state"));
    found.paused = found.state == CONV_RECORDING_GOING_ON && state != NULL && strcmp(state, "paused") == 0;
    found.start_unix_ns = number_of(*ret_root, "started_unix_ns");
    found.number = number_of(*ret_root, "status_number");
    found.told = found.state == CONV_RECORDING_FINISHED || found.number > 0;
    if (found.told)
        take_figures(*ret_root, view->only, &found);
    view->status = found;
    return FP_OK;
}

enum fp_status conv_view_take_status(struct conv_view *view, struct conv_error *error)
{
    enum fp_status status = FP_OK;
    /* It may have finished between our look at its file and our look for its process: then the file is new. */
    for (unsigned look = 0; look < 2 && status == FP_OK; look++) {
        json_decref(view->root);
        view->root = NULL;
        status = take(view, &view->root, error);
        if (view->status.state != CONV_RECORDING_ENDED_EARLY)
            break;
    }
    return status;
}

void conv_view_take_ends(struct conv_view *view)
{
    const bool finished = view->status.state == CONV_RECORDING_FINISHED;
    const bool recovered = json_is_true(json_object_get(view->root, "recovered"));
    json_t *goes_on; /* by stem */
    const json_t *item;
    size_t i;
    if (!view->status.told || view->root == NULL)
        return;
    goes_on = json_object();
    json_array_foreach(json_object_get(view->root, "processes"), i, item)
    {
        const char *file = json_string_value(json_object_get(item, "file"));
        const char *ended = json_string_value(json_object_get(item, "ended"));
        char stem[CONV_STEM_BYTES];
        uint32_t window;
        if (file != NULL && ended != NULL && fp_part_name(file, CONV_STEM_BYTES, stem, &window))
            json_object_set_new_nocheck(goes_on, stem, json_boolean(strcmp(ended, "running") == 0));
    }
    for (i = 0; i < view->process_count; i++) {
        struct conv_view_process *process = view->processes[i];
        item = json_object_get(goes_on, process->stem);
        process->gone |= json_is_false(item);
        process->ran_on |= finished && json_is_true(item);
        process->uncounted |= finished && recovered && json_is_true(item);
    }
    json_decref(goes_on);
}
