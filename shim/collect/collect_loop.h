/* collect_loop.h - the loop of mallab-collect: a round, the rest between two, and how it knows that it is over; and a recording
 * controlled while it runs: pauses, windows, fresh figures, its end.
 *
 * Those are asked for by signals to the collector, never to a recorded process; answered in recording.json:
 *
 *   SIGUSR1         pause                       SIGRTMIN + 1   begin a new window
 *   SIGUSR2         go on                       SIGRTMIN + 2   end the recording; the program runs on
 *                                               SIGRTMIN + 3   write what there is, and recording.json anew */
#ifndef MALLAB_SHIM_COLLECT_COLLECT_LOOP_H
#define MALLAB_SHIM_COLLECT_COLLECT_LOOP_H

#include "shim/collect/collect.h"

/* loop_take_signals - take those by which a recording is controlled (mallab-record(1)).
 * loop_begin - the first window, and the pause that --paused asks for; before the segment is published.
 * loop_run - collect until nobody is left, or until it was asked to end. */
void loop_take_signals(void);
void loop_begin(struct collector *collector);
void loop_run(struct collector *collector);

/* ---- what a killed collector left: its segment's records, put behind its footprints' last whole blocks.
 * Run by hand of `mallab convert` and `mallab record`, never by a program. The segment is taken over for good: it is
 * stopped, so that processes still running claim nothing more, drained, and removed.
 * It was shared with the recorded processes, so nothing in it is believed before it is checked. */

enum recover_result {
    RECOVER_DONE,
    RECOVER_NOTHING, /* no segment, or its collector lives, or somebody else is at it */
    RECOVER_FAILED,
};

/* recover_open - map the segment of options.out's dead collector and check it. ret_reason is set unless RECOVER_DONE. */
enum recover_result recover_open(struct collector *collector, const char **ret_reason);

/* recover_run - stop the segment, write everything in it, finish all footprints. */
void recover_run(struct collector *collector);

/* recover_footprint - go on with the footprint that the note of the image's slot names. Returns false when there is none to go on
 * with. */
bool recover_footprint(struct collector *collector, struct collect_image *image);

#endif
