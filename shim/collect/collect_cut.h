/* collect_cut.h - cuts, which begin a window or a pause: they go through all threads at one epoch (seg_cut in segment.h). */
#ifndef MALLAB_SHIM_COLLECT_COLLECT_CUT_H
#define MALLAB_SHIM_COLLECT_COLLECT_CUT_H

#include "shim/collect/collect.h"

#define CUT_HEED_NS 2000000 /* given to the lanes that are recording to come to their next call */

/* cut_slot - announce a cut to the process in a slot: what it records behind it is paused, or not, as collector->paused says.
 * cut_adopt - let a slot that was just found heed a pause or its end, if it missed that. */
void cut_slot(const struct collector *collector, uint32_t slot);
void cut_adopt(const struct collector *collector, uint32_t slot);

#endif
