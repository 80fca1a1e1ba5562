/* process_usage.h - what processes used as a whole (footprint/fp/usage.h), where a survey keeps it: NULL where nobody told. */
#ifndef MALLAB_CONVERT_BASE_PROCESS_USAGE_H
#define MALLAB_CONVERT_BASE_PROCESS_USAGE_H

#include "footprint/fp/usage.h"

/* conv_usage_set - a copy with its points, in place of what was there. from: may be NULL. Without memory nothing is told.
 * conv_usage_free - NULL is accepted. */
void conv_usage_set(struct fp_usage **to, const struct fp_usage *from);
void conv_usage_free(struct fp_usage *usage);

/* conv_usage_add - the use of one more process, in a sum without points. Times and faults add up, and so does memory, each process at its
 * own peak; what one could not tell is left out. The allocator stays where it is that of all. */
void conv_usage_add(struct fp_usage **sum, const struct fp_usage *usage);

#endif
