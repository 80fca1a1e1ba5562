/* view.h - a recording as it grows: look again and again, and only at what is new.
 *
 *   status     what recording.json says at the moment
 *   part       a footprint; a process has one, or one for each window of a recording that is cut into such
 *   refresh    look what there is; nothing is opened
 *   read       decode what was found, a bounded amount at a time, so that the caller can do something else between
 *   interval   what rates are of: from one conv_view_mark to the next. What `_before` says is of its begin
 *
 * Events are not put into one order, as convert does; what is live follows from balance.h. Footprints may appear,
 * grow and vanish meanwhile. Memory grows with live objects, processes and lanes, and by about 50 bytes for each
 * block of a footprint that is being written. Nothing here prints. One thread at a time. */
#ifndef MALLAB_CONVERT_VIEW_VIEW_H
#define MALLAB_CONVERT_VIEW_VIEW_H

#include "convert/view/view_state.h"

/* conv_view_open - a view that has seen nothing.
 * path        a recording's directory or its recording.json.
 * process_id  of the one process to look at; 0: all.
 * Returns     FP_OK, or FP_ERR_MEMORY with ret_error filled. */
enum fp_status conv_view_open(const char *path, uint32_t process_id, struct conv_view **ret_view,
                              struct conv_error *ret_error);

/* conv_view_free - NULL is accepted. */
void conv_view_free(struct conv_view *view);

/* conv_view_refresh - look at recording.json, then which footprints there are. When the status' state is another than
 * CONV_RECORDING_GOING_ON, all that there will be has been found.
 * Returns  FP_OK, also when nothing is written yet; else the status in error: no directory, no recording, one of another
 *          version, no memory. */
enum fp_status conv_view_refresh(struct conv_view *view, struct conv_error *ret_error);

/* conv_view_read - read what the last refresh found, until about marks_max marks are done. Footprints are opened one
 * after the other, and closed at their end: those of processes that run stay open.
 * ret_more  whether something is left. When nothing is, the processes that have ended are concluded.
 * Returns   FP_OK, or the status in ret_error: a footprint that is damaged (file and offset), no footprint in a directory
 *           of which nothing else is known, no memory. */
enum fp_status conv_view_read(struct conv_view *view, uint64_t marks_max, bool *ret_more,
                              struct conv_error *ret_error);

/* conv_view_progress - bytes of footprints read so far, of those found. */
void conv_view_progress(const struct conv_view *view, uint64_t *ret_done, uint64_t *ret_total);

/* conv_view_mark - an interval begins. */
void conv_view_mark(struct conv_view *view);

/* conv_view_lost - calls lost by cause: what the collector told, or what the footprints say, whatever is more.
 * ret_lost  FP_LOSS_COUNT entries. Returns their sum. */
uint64_t conv_view_lost(const struct conv_view *view, uint64_t *ret_lost);

/* conv_view_knows_losses - whether that is all: false for a recording that broke off, and for one whose collector was
 * killed while a process ran on. Of a recording that goes on, "so far" is meant. */
bool conv_view_knows_losses(const struct conv_view *view);

/* conv_view_goes_on - whether the recording may still grow. */
bool conv_view_goes_on(const struct conv_view *view);

/* conv_view_is_running - whether the process goes on, or did when recording ended or broke off, as far as is known. */
bool conv_view_is_running(const struct conv_view *view, const struct conv_view_process *process);

#endif
