/* collect_control.h - a recording controlled while it runs: pauses, windows, fresh figures, its end.
 *
 * Asked for by signals to the collector, never to a recorded process; answered in recording.json:
 *
 *   SIGUSR1         pause                       SIGRTMIN + 1   begin a new window
 *   SIGUSR2         go on                       SIGRTMIN + 2   end the recording; the program runs on
 *                                               SIGRTMIN + 3   write what there is, and recording.json anew */
#ifndef MALLAB_SHIM_COLLECT_COLLECT_CONTROL_H
#define MALLAB_SHIM_COLLECT_COLLECT_CONTROL_H

#include "shim/collect/collect.h"

/* control_init - take the signals by which a recording is controlled while it runs (mallab-record(1)).
 * control_begin - the first window, and the pause that --paused asks for; before the segment is published.
 * control_heed - do what was asked for since the last round. Returns whether the recording is to end.
 * control_is_due - whether something was asked for: a signal may come just before a sleep. */
void control_init(void);
void control_begin(struct collector *collector);
bool control_heed(struct collector *collector);
bool control_is_due(void);

#endif
