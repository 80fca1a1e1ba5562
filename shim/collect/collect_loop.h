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

#endif
