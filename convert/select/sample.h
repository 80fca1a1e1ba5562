/* sample.h - the filter that lets all calls on a share of the objects pass. Private to convert/.
 *
 *   number   of an object among those that come here, from 1, in the order of their allocations; calls on no object
 *            (of NULL, failed ones) have a number of their own
 *   chosen   when the hash of its number falls into `part` of `of` equal ranges; so the same input gives the same sample,
 *            and a sample of 1/16 is part of that of 1/8
 *
 * Releases of addresses that hold nothing pass: the pairing counts them. */
#ifndef MALLAB_CONVERT_SELECT_SAMPLE_H
#define MALLAB_CONVERT_SELECT_SAMPLE_H

#include "convert/ops/track.h"
#include "convert/select/batch.h"

struct conv_sample {
    uint32_t part, of;
    bool
        at_once; /* hand on each event by itself, so that the figures of the whole end where the next filter ends */
    uint64_t numbers;        /* given so far */
    struct conv_track track; /* the tag: 1 when chosen */
    struct conv_callers callers;
    uint64_t live_bytes, live_objects;
    struct conv_selected *figures; /* all_* are kept there */
    struct conv_batch out;
};

/* conv_sample_init - next: where the chosen go. survey: borrowed, selected.all_* are counted there.
 * Returns false: no memory; conv_sample_release accepts it in either case. */
bool conv_sample_init(struct conv_sample *sample, uint32_t part, uint32_t of, struct conv_survey *survey,
                      struct conv_sink next);
void conv_sample_release(struct conv_sample *sample);

/* conv_sample_sink - the filter; its data is sample. */
struct conv_sink conv_sample_sink(struct conv_sample *sample);

/* conv_sample_chooses - whether the object of a number is chosen. */
bool conv_sample_chooses(uint32_t part, uint32_t of, uint64_t number);

#endif
