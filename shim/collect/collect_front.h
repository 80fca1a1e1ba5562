/* collect_front.h - programs whose malloc is asked before ours: their calls go past the recorder.
 *
 * A program may bring a malloc of its own, and a library may stand in LD_PRELOAD before us (shim/preload/runs_on.c). Some pass
 * each call on, so the process is taken for unrecorded only when no malloc came of it. */
#ifndef MALLAB_SHIM_COLLECT_COLLECT_FRONT_H
#define MALLAB_SHIM_COLLECT_COLLECT_FRONT_H

#include "shim/collect/collect.h"

/* front_check - note such a process, once, when it has ended or run for a while.
 * front_look - likewise all that run. */
void front_check(struct collector *collector, struct collect_image *image);
void front_look(struct collector *collector);

#endif
