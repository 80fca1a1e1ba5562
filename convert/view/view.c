/* view.c - follow the footprints of a recording while they grow. */
#include "convert/view/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/view/view_parts.h"
#include "convert/view/view_status.h"

#define OPEN_MARKS 2000 /* marks that take as long as opening a file */

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

void conv_view_free(struct conv_view *view)
{
    if (view == NULL)
        return;
    for (size_t i = 0; i < view->part_count; i++)
        conv_view_part_free(view->parts[i]);
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
    status = conv_view_take_status(view, ret_error);
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
    conv_view_take_ends(view);
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
