/* callers.h - which lanes made a call among what a filter lets pass: of the others, their ends are no news, and would
 * make a thread of a workload that does nothing. Private to select/. */
#ifndef MALLAB_CONVERT_SELECT_CALLERS_H
#define MALLAB_CONVERT_SELECT_CALLERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "convert/base/grow.h"
#include "convert/base/source.h"

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
