/* section.h - the filter that lets a stretch of time pass. Private to convert/.
 *
 * The section begins at the first event, in the order of all lanes, at which the time is not before `from`, and ends
 * before the first one at which it is not before `to`; time is the highest seen so far, as replays have it. So sections
 * that follow each other part the events among them. What is alive where it begins is created first, at time 0 of the
 * section, oldest first; reallocs under way there go on. */
#ifndef MALLAB_CONVERT_SELECT_SECTION_H
#define MALLAB_CONVERT_SELECT_SECTION_H

#include "convert/ops/heap.h"
#include "convert/select/batch.h"

/* Tells which lane creates an object that was there before, by the lane that made it. False: no memory. */
typedef bool conv_home_fn(void *data, uint32_t lane, uint32_t *ret_lane);

struct conv_section {
    uint64_t from_ns, to_ns; /* to_ns 0: to the end */
    uint64_t now_ns;
    bool begun;
    struct conv_heap heap; /* until it begins */
    conv_home_fn *home;
    void *home_data;
    struct conv_callers callers; /* since it began */
    struct conv_batch out;
};

/* conv_section_init - next: where the section goes. The struct stays where it is until conv_section_release.
 * Returns false: no memory; conv_section_release accepts it in either case. */
bool conv_section_init(struct conv_section *section, uint64_t from_ns, uint64_t to_ns, conv_home_fn *home,
                       void *home_data, struct conv_sink next);
void conv_section_release(struct conv_section *section);

/* conv_section_sink - the filter; its data is section. Its events() answers FP_END behind the section's end. */
struct conv_sink conv_section_sink(struct conv_section *section);

#endif
