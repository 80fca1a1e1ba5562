/* pair.h - pair addresses with objects, and hand ops to a workload writer.
 *
 * Takes events in one legal order (or an illegal one: the rules of docs/irregularities.md apply then)
 * and keeps the table of live objects, which is all that grows: with live objects and with lanes. */
#ifndef MALLAB_CONVERT_OPS_PAIR_H
#define MALLAB_CONVERT_OPS_PAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "convert/ops/pair_state.h"
#include "footprint/wl/workload.h"

/* conv_pair_init - begin with no live objects.
 * writer   borrowed, may be NULL. namer.name may be NULL when writer is.
 * survey   borrowed; counts are added to it.
 * Returns  false: no memory. conv_pair_release accepts it in either case. */
bool conv_pair_init(struct conv_pair *pair, struct wl_writer *writer, struct conv_namer namer,
                    struct conv_survey *survey);
void conv_pair_release(struct conv_pair *pair);

/* conv_pair_end - after the last event, before the survey is read or the writer finished. */
void conv_pair_end(struct conv_pair *pair);

/* conv_pair_sink - the pairing as a sink; its data is pair. Errors: FP_ERR_MEMORY, and the writer's. */
struct conv_sink conv_pair_sink(struct conv_pair *pair);

#endif
