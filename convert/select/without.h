/* without.h - a filter that leaves out all objects of some call sites: what a program would ask for without them. Private to convert/.
 *
 * An object is of the site that gave it its size, as in convert/sites. So it ends where a resize by another site begins: an object
 * that stays is released where a resize makes it one that goes, and is allocated where a resize makes it one that stays. */
#ifndef MALLAB_CONVERT_SELECT_WITHOUT_H
#define MALLAB_CONVERT_SELECT_WITHOUT_H

#include "convert/base/request.h"
#include "convert/ops/track.h"
#include "convert/select/batch.h"

struct conv_without_filter {
    const struct conv_without *sites;
    struct conv_track track; /* of all objects; the tag: whether it goes */
    struct conv_callers callers;
    struct conv_batch out;
};

/* conv_without_init - sites is borrowed until conv_without_release. Returns false: no memory; conv_without_release accepts it in
 * either case. The struct stays where it is. */
bool conv_without_init(struct conv_without_filter *filter, const struct conv_without *sites);
void conv_without_release(struct conv_without_filter *filter);

/* conv_without_sink - the filter in front of next. Errors: FP_ERR_MEMORY, and next's. */
struct conv_sink conv_without_sink(struct conv_without_filter *filter, struct conv_sink next);

#endif
