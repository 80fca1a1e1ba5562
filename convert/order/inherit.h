/* inherit.h - the objects that a process held where its recording begins: its parent's, and those of earlier windows. Private to convert/.
 *
 *   estate   the objects alive in the parent when it forked, the oldest first
 *
 * A child's own footprint knows nothing of them: they were allocated before it was. Its parent's footprint lies
 * beside it in the recording and holds a mark at the fork (FP_MARK_FORK). The parent is read up to that mark, in
 * its legal order, after its own estate if it was forked too. Rules: docs/notes/order.md, "Forked processes". */
#ifndef MALLAB_CONVERT_ORDER_INHERIT_H
#define MALLAB_CONVERT_ORDER_INHERIT_H

#include <stddef.h>
#include <stdint.h>

#include "convert/base/request.h"
#include "convert/base/source.h"
#include "convert/recording/parts.h"
#include "footprint/fp/footprint.h"

#define CONV_ANCESTORS_MAX 64u

struct conv_estate {
    struct conv_event
        *objects; /* allocations: call, size, extra, address; time 0, the lane of the ancestor */
    size_t count;
    char why[192]; /* one line when ancestors could not be read; "" when all were */
};

/* conv_inherit - the estate of a forked process.
 * path      of the child's first footprint; its ancestors' are looked for in the same directory.
 * child     its parts: meta fork_of and fork_number. Where they do not begin with the child's first window, the windows
 *           before them are read too, and their objects are the estate.
 * options   memory_bytes and salvage hold for the ancestors too.
 * estate    filled; what could not be read is left out, with the reason in `why`. Release it in any case.
 * Returns   FP_OK, also with an empty estate; FP_ERR_MEMORY. */
enum fp_status conv_inherit(const char *path, const struct conv_parts *child,
                            const struct conv_options *options, struct conv_estate *estate);
void conv_estate_release(struct conv_estate *estate);

#endif
