/* batch.h - what filters have in common. Private to select/.
 *
 *   batch    events that a filter hands on, gathered so that the next one takes them in batches
 *   callers  which lanes made a call among what a filter lets pass. The end of another lane is left out: it would make a
 *            thread of a workload that does nothing */
#ifndef MALLAB_CONVERT_SELECT_BATCH_H
#define MALLAB_CONVERT_SELECT_BATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "convert/base/grow.h"
#include "convert/base/source.h"

#define CONV_BATCH_EVENTS 256u /* as order.c's: stays in the first-level cache */

struct conv_batch {
    struct conv_sink next;
    size_t count;
    struct conv_event events[CONV_BATCH_EVENTS];
};

static inline enum fp_status conv_batch_flush(struct conv_batch *batch)
{
    const size_t count = batch->count;
    batch->count = 0;
    return count > 0 ? batch->next.events(batch->next.data, batch->events, count) : FP_OK;
}

static inline enum fp_status conv_batch_add(struct conv_batch *batch, const struct conv_event *event)
{
    if (batch->count == CONV_BATCH_EVENTS) {
        const enum fp_status status = conv_batch_flush(batch);
        if (status != FP_OK)
            return status;
    }
    batch->events[batch->count++] = *event;
    return FP_OK;
}

struct conv_callers {
    uint8_t *called; /* by lane */
    size_t capacity;
};

static inline void conv_callers_release(struct conv_callers *callers)
{
    free(callers->called);
    *callers = (struct conv_callers){0};
}

/* conv_callers_note - an event that is about to pass. ret_passes: false for the exit of a lane that made no call.
 * Returns false: no memory. */
static inline bool conv_callers_note(struct conv_callers *callers, const struct conv_event *event,
                                     bool *ret_passes)
{
    uint8_t *called = conv_grown(callers->called, sizeof *called, &callers->capacity, event->lane);
    if (called == NULL)
        return false;
    callers->called = called;
    *ret_passes = event->call != FP_MARK_THREAD_EXIT || callers->called[event->lane] != 0;
    if (event->call < FP_CALL_COUNT || event->call == FP_MARK_RESIZE_FROM)
        callers->called[event->lane] = 1;
    return true;
}

#endif
