/* view_status.c - what recording.json says of a recording at the moment. */
#include "convert/view/view_status.h"

#include <stdio.h>
#include <string.h>

#include "convert/recording/unfinished.h"

/* Figures of the whole recording, or of the one process that is looked at. */
static void take_figures(const struct conv_recording *recording, uint32_t only,
                         struct conv_view_status *status)
{
    status->duration_ns = recording->duration_ns;
    status->stalls = recording->stalls;
    status->stall_ns = recording->stall_ns;
    status->ring_told = recording->ring.told;
    status->ring_chunks = recording->ring.chunks;
    status->ring_chunks_used = recording->ring.chunks_used;
    status->ring_chunks_most = recording->ring.chunks_most;
    status->ring_chunk_bytes = recording->ring.chunk_bytes;
    status->stop_words = recording->stop_words;
    status->pauses = recording->pauses;
    if (only == 0)
        fp_loss_add(status->lost, recording->lost);
    for (size_t i = 0; only != 0 && i < recording->process_count; i++)
        if (recording->processes[i].process_id == only)
            fp_loss_add(status->lost, recording->processes[i].lost);
}

static void judge(const struct conv_recording *recording, const char *directory,
                  struct conv_view_status *status)
{
    struct conv_survey survey = {.recording_state = CONV_RECORDING_FINISHED};
    if (!recording->finished)
        conv_unfinished_judge(recording, directory, &survey);
    status->state = survey.recording_state;
    status->collector_pid = survey.collector_pid;
    snprintf(status->why, sizeof status->why, "%s", survey.unfinished_why);
}

static enum fp_status take(struct conv_view *view, struct conv_error *error)
{
    const struct conv_recording *recording = &view->recording;
    struct conv_view_status found = {.state = CONV_RECORDING_UNKNOWN};
    const enum fp_status status = conv_recording_read(view->directory, &view->recording, error);
    if (status == FP_ERR_CORRUPT)
        snprintf(found.why, sizeof found.why, "its recording.json is damaged (%.200s)", error->what);
    else if (status != FP_OK)
        return status;
    else if (recording->json == NULL)
        snprintf(found.why, sizeof found.why, "it has no recording.json");
    else {
        judge(recording, view->directory, &found);
        found.paused = found.state == CONV_RECORDING_GOING_ON && recording->paused;
        found.start_unix_ns = recording->start_unix_ns;
        found.number = recording->status_number;
        found.told = found.state == CONV_RECORDING_FINISHED || found.number > 0;
        if (found.told)
            take_figures(recording, view->only, &found);
    }
    view->status = found;
    return FP_OK;
}

enum fp_status conv_view_take_status(struct conv_view *view, struct conv_error *error)
{
    enum fp_status status = FP_OK;
    /* It may have finished between our look at its file and our look for its process: then the file is new. */
    for (unsigned look = 0; look < 2 && status == FP_OK; look++) {
        conv_recording_release(&view->recording);
        status = take(view, error);
        if (view->status.state != CONV_RECORDING_ENDED_EARLY)
            break;
    }
    return status;
}

void conv_view_take_ends(struct conv_view *view)
{
    const bool finished = view->status.state == CONV_RECORDING_FINISHED;
    json_t *ends;
    if (!view->status.told || view->recording.json == NULL)
        return;
    ends = conv_recording_ends(&view->recording);
    for (size_t i = 0; i < view->process_count; i++) {
        struct conv_view_process *process = view->processes[i];
        const char *ended = json_string_value(json_object_get(ends, process->stem));
        const bool goes_on = ended != NULL && strcmp(ended, "running") == 0;
        process->gone |= ended != NULL && !goes_on;
        process->ran_on |= finished && goes_on;
        process->uncounted |= finished && view->recording.recovered && goes_on;
    }
    json_decref(ends);
}
