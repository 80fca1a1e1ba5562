/* census.h - how many calls each thread made, for `mallab info`. Private to convert/. */
#ifndef MALLAB_CONVERT_OPEN_CENSUS_H
#define MALLAB_CONVERT_OPEN_CENSUS_H

#include "convert/base/source.h"

struct conv_census {
    struct conv_sink next;
    uint64_t *events; /* by lane */
    uint32_t *order;  /* lanes in the order of their first call */
    size_t capacity, order_capacity, count;
};

/* conv_census_init - a sink that counts and hands on. conv_census_release accepts any state. */
void conv_census_init(struct conv_census *census, struct conv_sink next);
void conv_census_release(struct conv_census *census);
struct conv_sink conv_census_sink(struct conv_census *census);

/* conv_census_list - the threads that made a call, as survey's thread_list. False: no memory, nothing changed. */
bool conv_census_list(const struct conv_census *census, struct conv_namer namer, struct conv_survey *survey);

#endif
