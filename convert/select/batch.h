/* batch.h - events that a filter hands on, gathered so that the next one takes them in batches. Private to select/. */
#ifndef MALLAB_CONVERT_SELECT_BATCH_H
#define MALLAB_CONVERT_SELECT_BATCH_H

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

#endif
