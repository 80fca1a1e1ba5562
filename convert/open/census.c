/* census.c - calls by lane. */
#include "convert/open/census.h"

#include <stdlib.h>
#include <string.h>

#include "convert/base/grow.h"

void conv_census_init(struct conv_census *census, struct conv_sink next)
{
    *census = (struct conv_census){.next = next};
}

void conv_census_release(struct conv_census *census)
{
    free(census->events);
    free(census->order);
    *census = (struct conv_census){0};
}

static bool reserve(struct conv_census *census, uint32_t lane)
{
    uint64_t *events = conv_grown(census->events, sizeof *events, &census->capacity, lane);
    if (events == NULL)
        return false;
    census->events = events;
    return CONV_RESERVE(census->order, census->order_capacity, census->count + 1);
}

static enum fp_status take_events(void *data, const struct conv_event *events, size_t count)
{
    struct conv_census *census = data;
    for (size_t i = 0; i < count; i++) {
        const uint32_t lane = events[i].lane;
        if (events[i].call >= FP_CALL_COUNT)
            continue; /* a mark */
        if ((lane >= census->capacity || census->events[lane] == 0) && !reserve(census, lane))
            return FP_ERR_MEMORY;
        if (census->events[lane]++ == 0)
            census->order[census->count++] = lane;
    }
    return census->next.events(census->next.data, events, count);
}

struct conv_sink conv_census_sink(struct conv_census *census)
{
    return (struct conv_sink){
        .data = census, .events = take_events, .is_live = conv_pass_is_live, .inherit = conv_pass_inherit};
}

bool conv_census_list(const struct conv_census *census, struct conv_namer namer, struct conv_survey *survey)
{
    struct conv_thread *list = calloc(census->count + 1, sizeof *list);
    if (list == NULL)
        return false;
    for (size_t i = 0; i < census->count; i++) {
        const uint32_t lane = census->order[i];
        namer.name(namer.data, lane, &list[i].thread_id, &list[i].is_main);
        list[i].events = census->events[lane];
    }
    free(survey->thread_list);
    survey->thread_list = list;
    survey->thread_count = census->count;
    return true;
}
