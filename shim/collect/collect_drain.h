/* collect_drain.h - taken chunks, in each lane's order, into blocks.
 *
 * A lane's chunks wait in the segment itself until there are enough for a block of good compression, or some
 * seconds have passed; when free chunks run short, the longest queues go first. */
#ifndef MALLAB_SHIM_COLLECT_COLLECT_DRAIN_H
#define MALLAB_SHIM_COLLECT_COLLECT_DRAIN_H

#include "shim/collect/collect.h"

/* drain_blocks - write the lanes that have a block's worth, and more under pressure. Returns chunks freed. */
uint32_t drain_blocks(struct collector *collector);

/* drain_waiting - write the lanes whose chunks have waited for a block's worth for some seconds: what a slow program
 * has done is not to depend for hours on our being alive. */
void drain_waiting(struct collector *collector);

/* drain_open - write what was recorded before the newest cut, or with `all` by now: whole chunks, and what stands so far in those
 * that their lanes still have. */
void drain_open(struct collector *collector, struct collect_image *image, bool all);

/* drain_image - take and write everything of an image whose threads are all dead, or that is given up. */
void drain_image(struct collector *collector, struct collect_image *image);

#endif
