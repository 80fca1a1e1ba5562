/* expand.h - the events of a sample of objects (footprint/fp/object_sample.h) on their way become about as many as the program made.
 * Private to convert/.
 *
 *   copies   an object that is in the sample stands for 1 / chance objects. So many are handed on: itself, and others at addresses that
 *            no program has, of its sizes, thread and life. Where 1 / chance is no whole number, the object's own number among all says
 *            whether one more comes, so that the mean is right and the same file gives the same events
 *   tick     the birth of a copy. Those of an object are spread over the time until the next object of the sample is born; so what
 *            happens to it within that time happens to each copy right behind its birth
 *   train    what happened to an object, on its way through its copies, one a tick: a copy lives as many ticks as the object
 *   growth   raises the chance: copies that are too many then end
 *
 * Trains in any number would take memory, so they move without births where they are many. Before a thread ends, all have
 * arrived. Nothing is known of calls between those recorded: how threads waited for each other and who released whose is not told. */
#ifndef MALLAB_CONVERT_SELECT_EXPAND_H
#define MALLAB_CONVERT_SELECT_EXPAND_H

#include "convert/ops/track.h"
#include "convert/select/batch.h"

struct conv_copies;

struct conv_expand {
    struct conv_batch out;
    struct conv_track track; /* tags are numbers of objects */
    uint64_t one_in;
    struct conv_copies
        *objects; /* by tag; of one that is not there `next` is the next of these, from `vacant` on */
    size_t object_capacity;
    uint32_t object_count, vacant;
    struct conv_train *trains;
    size_t train_capacity, train_count;
    struct conv_event birth; /* whose copies are being born, and which is next */
    uint64_t birth_base, birth_next, birth_copies;
    uint64_t born, next_base, now_ns;
    uint32_t lost_lane; /* of the event at hand */
    double live, live_peak, variance,
        variance_peak; /* bytes that are estimated to be live, and their variance */
};

/* conv_expand_init - what follows goes to next. Returns false: no memory; conv_expand_release accepts it in either case. */
bool conv_expand_init(struct conv_expand *expand, uint64_t one_in, const struct conv_sink *next);
void conv_expand_release(struct conv_expand *expand);

/* conv_expand_sink - a sink for the events of the sample. */
struct conv_sink conv_expand_sink(struct conv_expand *expand);

/* conv_expand_end - after the last event: all copies that are under way. */
enum fp_status conv_expand_end(struct conv_expand *expand);

/* conv_expand_error - by what part of itself the most live bytes may be wrong, in 19 of 20 cases. */
double conv_expand_error(const struct conv_expand *expand);

#endif
