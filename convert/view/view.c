/* view.c - follow the footprints of a recording while they grow. */
#include "convert/view/view.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/recording/unfinished.h"
#include "convert/view/view_parts.h"

#define OPEN_MARKS 2000 /* marks that take as long as opening a file */

/* ---- recording.json --------------------------------------------------------------------------- */

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
    status->attached = recording->attached;
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

/* Read recording.json into view->root and view->status. */
static enum fp_status take_status(struct conv_view *view, struct conv_error *error)
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

/* From it, which processes have ended. */
static void take_ends(struct conv_view *view)
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

enum fp_status conv_view_open(const char *path, uint32_t process_id, struct conv_view **ret_view,
                              struct conv_error *ret_error)
{
    struct conv_view *view = calloc(1, sizeof *view);
    memset(ret_error, 0, sizeof *ret_error);
    if (view == NULL)
        return conv_fail_memory(ret_error, path, "a view");
    conv_recording_directory(path, view->directory);
    view->only = process_id;
    *ret_view = view;
    return FP_OK;
}

/* Processes are in the list, too. */
static void leave_process(void *process)
{
}

void conv_view_free(struct conv_view *view)
{
    if (view == NULL)
        return;
    for (size_t i = 0; i < view->part_count; i++)
        conv_view_part_free(view->parts[i]);
    tdestroy(view->in_windows, leave_process);
    for (size_t i = 0; i < view->process_count; i++) {
        conv_tally_release(&view->processes[i]->tally);
        free(view->processes[i]);
    }
    conv_recording_release(&view->recording);
    free(view->parts);
    free(view->processes);
    fp_block_buffer_release(&view->buffer);
    free(view);
}

bool conv_view_is_running(const struct conv_view *view, const struct conv_view_process *process)
{
    return !process->tally.ended && !process->gone;
}

bool conv_view_goes_on(const struct conv_view *view)
{
    return view->status.state == CONV_RECORDING_GOING_ON || view->status.state == CONV_RECORDING_OUT_OF_SIGHT;
}

enum fp_status conv_view_refresh(struct conv_view *view, struct conv_error *ret_error)
{
    enum fp_status status;
    memset(ret_error, 0, sizeof *ret_error);
    /* In this order: after the last word of recording.json, nothing is written to a footprint. */
    status = take_status(view, ret_error);
    if (status == FP_OK)
        status = conv_view_parts_list(view, ret_error);
    if (status == FP_OK)
        conv_view_parts_measure(view);
    return status;
}

/* ---- reading -------------------------------------------------------------------------------- */

static enum fp_status read_block(struct conv_view *view, struct conv_view_part *part, uint64_t *spent,
                                 struct conv_error *error)
{
    struct fp_block block;
    struct conv_tally *tally = &part->process->tally;
    enum fp_status status = fp_reader_block(part->reader, part->turns[part->turn_next].block, &view->buffer,
                                            &block);
    if (status != FP_OK)
        return conv_view_part_fail(view, part, fp_reader_error(part->reader), error);
    tally->balance.alone = tally->lane_count <= 1 && fp_reader_info(part->reader)->lane_count <= 1;
    status = conv_tally_block(tally, &block);
    if (status != FP_OK)
        return conv_view_no_memory(view, error);
    part->turn_next++;
    *spent += block.mark_count;
    conv_balance_settle(&tally->balance, part->turn_next < part->turn_count
                                             ? part->turns[part->turn_next].epoch
                                             : tally->lanes[block.lane].epoch);
    return FP_OK;
}

/* A part's end says more than its blocks. */
static void finish_part(struct conv_view_part *part)
{
    const struct fp_trailer *trailer = &fp_reader_info(part->reader)->trailer;
    struct conv_view_process *process = part->process;
    for (unsigned cause = 0; cause < FP_LOSS_COUNT; cause++)
        process->lost[cause] = conv_add_saturating(process->lost[cause], trailer->lost[cause]);
    for (uint32_t i = 0; i < trailer->lane_count && i < process->tally.lane_count; i++)
        process->tally.lanes[i].thread_id = trailer->lanes[i].thread_id;
    process->trailed = true;
    process->ran_on = trailer->ran_on;
    process->uncounted |= trailer->uncounted;
    process->parts_open--;
    fp_reader_close(part->reader);
    part->reader = NULL;
    part->done = true;
}

/* Objects live in a process at its end move from one sum to the other. */
static enum fp_status end_process(struct conv_view *view, struct conv_tally *tally)
{
    const struct conv_live_sum before = view->sum.live;
    const enum fp_status status = conv_tally_end(tally);
    const struct conv_live_sum *now = &view->sum.live;
    view->left.bytes += tally->balance.bytes;
    view->left.objects += tally->balance.objects;
    for (unsigned i = 0; i < CONV_SIZE_CLASSES; i++) {
        view->left.class_bytes[i] += before.class_bytes[i] - now->class_bytes[i];
        view->left.class_objects[i] += before.class_objects[i] - now->class_objects[i];
    }
    return status;
}

/* A process of which a recording does not tell when it breaks off is taken to have run. */
static bool ran_on(const struct conv_view *view, const struct conv_view_process *process)
{
    if (process->gone || view->status.state == CONV_RECORDING_FINISHED)
        return process->ran_on && !process->gone;
    return process->ran_on || !process->trailed || process->in_windows;
}

/* Conclude a process of which there will be no more; what is live in one that ran on stays so. */
static enum fp_status end_if_over(struct conv_view *view, struct conv_view_process *process, bool over,
                                  struct conv_error *error)
{
    if (over)
        process->ran_on = ran_on(view, process);
    if (process->parts_open == 0 && ((process->trailed && !process->in_windows) || process->gone))
        over = true;
    if (!over || process->ran_on || process->tally.ended)
        return FP_OK;
    conv_live_sum_peak(&view->sum.live);
    return end_process(view, &process->tally) == FP_OK ? FP_OK : conv_view_no_memory(view, error);
}

/* Everything was read. */
static enum fp_status conclude(struct conv_view *view, struct conv_error *error)
{
    enum fp_status status = FP_OK;
    take_ends(view);
    for (size_t i = 0; i < view->process_count && status == FP_OK; i++)
        status = end_if_over(view, view->processes[i], !conv_view_goes_on(view), error);
    conv_view_parts_count_bytes(view);
    if (status == FP_OK && view->status.state == CONV_RECORDING_UNKNOWN && view->process_count == 0 &&
        view->only == 0)
        return conv_fail(
            error, view->directory, FP_ERR_READ, 0, 0,
            "is a directory without a footprint (*.fp): name the one that 'mallab record' wrote");
    return status;
}

/* Until `most` is spent; then turns are left. */
static enum fp_status read_part(struct conv_view *view, struct conv_view_part *part, uint64_t most,
                                uint64_t *spent, struct conv_error *error)
{
    enum fp_status status = FP_OK;
    if (!part->looked) {
        status = conv_view_part_refresh(view, part, error);
        part->looked = true;
        *spent += OPEN_MARKS;
    }
    if (status != FP_OK || part->reader == NULL)
        return status;
    while (part->turn_next < part->turn_count && *spent < most && status == FP_OK)
        status = read_block(view, part, spent, error);
    if (status != FP_OK || part->turn_next < part->turn_count)
        return status;
    part->bytes_read = part->bytes;
    if (!fp_reader_info(part->reader)->has_trailer)
        return FP_OK;
    finish_part(part);
    return end_if_over(view, part->process, false, error);
}

enum fp_status conv_view_read(struct conv_view *view, uint64_t marks_max, bool *ret_more,
                              struct conv_error *ret_error)
{
    uint64_t spent = 0;
    *ret_more = false;
    for (size_t i = 0; i < view->part_count; i++) {
        struct conv_view_part *part = view->parts[i];
        enum fp_status status;
        if (part->done)
            continue;
        if (spent >= marks_max) {
            *ret_more = true;
            break;
        }
        status = read_part(view, part, marks_max, &spent, ret_error);
        if (status != FP_OK)
            return status;
        if (part->reader != NULL && part->turn_next < part->turn_count)
            *ret_more = true; /* spent, as well */
    }
    conv_live_sum_peak(&view->sum.live);
    return *ret_more ? FP_OK : conclude(view, ret_error);
}

void conv_view_progress(const struct conv_view *view, uint64_t *ret_done, uint64_t *ret_total)
{
    *ret_done = *ret_total = 0;
    for (size_t i = 0; i < view->part_count; i++) {
        const struct conv_view_part *part = view->parts[i];
        const uint64_t rest = part->bytes > part->bytes_read ? part->bytes - part->bytes_read : 0;
        *ret_total += part->bytes;
        *ret_done += part->done ? part->bytes : part->bytes_read;
        if (!part->done && part->looked && part->turn_count > 0)
            *ret_done += (uint64_t)((double)rest * (double)part->turn_next / (double)part->turn_count);
    }
}

void conv_view_mark(struct conv_view *view)
{
    view->sum_before = view->sum;
    for (size_t i = 0; i < view->process_count; i++)
        conv_tally_mark(&view->processes[i]->tally);
}

bool conv_view_knows_losses(const struct conv_view *view)
{
    if (view->status.state != CONV_RECORDING_FINISHED && !conv_view_goes_on(view))
        return false;
    for (size_t i = 0; i < view->process_count; i++)
        if (view->processes[i]->uncounted)
            return false;
    return true;
}

uint64_t conv_view_lost(const struct conv_view *view, uint64_t *ret_lost)
{
    uint64_t total = 0, untold = 0;
    memset(ret_lost, 0, FP_LOSS_COUNT * sizeof *ret_lost);
    for (size_t i = 0; i < view->process_count; i++) {
        const struct conv_view_process *process = view->processes[i];
        for (unsigned cause = 0; cause < FP_LOSS_COUNT; cause++)
            ret_lost[cause] = conv_add_saturating(ret_lost[cause], process->lost[cause]);
        if (!process->trailed)
            untold = conv_add_saturating(untold, process->tally.lost_calls);
    }
    for (unsigned cause = 0; cause < FP_LOSS_COUNT; cause++) {
        if (view->status.lost[cause] > ret_lost[cause])
            ret_lost[cause] = view->status.lost[cause];
        total = conv_add_saturating(total, ret_lost[cause]);
    }
    if (total == 0) { /* the cause stands in the trailer, or is told by the collector */
        ret_lost[FP_LOSS_COLLECTOR] = untold;
        total = untold;
    }
    return total;
}
