/* attach_segment.h - the segment that a process is recorded in: found, begun, checked, mapped. */
#ifndef MALLAB_SHIM_PRELOAD_ATTACH_SEGMENT_H
#define MALLAB_SHIM_PRELOAD_ATTACH_SEGMENT_H

#include <stdbool.h>

/* attach_find_segment - set shim_segment: the one that our starter named, or one of a collector of our own.
 * name     the program's, for the output directory.
 * Returns  NULL, else the reason why there is none. No descriptor stays open. */
const char *attach_find_segment(const char *name);

/* The reason that may be a passing one: the segment was there when its directory was looked into. */
extern const char ATTACH_OUT_OF_REACH[];

/* attach_count_other - a process that is not asked for is counted, with some names for whoever mistyped one; and keeps nothing
 * mapped, so that its recording does not wait for it. */
void attach_count_other(const char *program);

#endif
