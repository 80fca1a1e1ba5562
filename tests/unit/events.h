/* events.h - events of a converter, written in few letters. */
#ifndef MALLAB_TESTS_UNIT_EVENTS_H
#define MALLAB_TESTS_UNIT_EVENTS_H

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "convert/order/lane_cursor.h"

/* events_of - one after the other, 10 ns apart, the first at 0: the lane (none: 0), a letter, a hexadecimal address, of a resize '<' and its old address, and ':' with a
 * size, and '*' with a count or alignment. Letters: a malloc, c calloc, n new with an alignment, f free, s a realloc starts, r it returns, g a gap, k a fork, x a thread's
 * exit, e a lane's end: "a1000:100 s1000 1f1000 r2000<1000:300". Returns how many there are. */
static const struct {
    char letter;
    uint8_t call;
} EVENT_LETTERS[] = {{'a', FP_CALL_MALLOC},     {'c', FP_CALL_CALLOC},      {'n', FP_CALL_NEW_ALIGNED},
                     {'f', FP_CALL_FREE},       {'s', FP_MARK_RESIZE_FROM}, {'r', FP_CALL_REALLOC},
                     {'g', FP_MARK_GAP},        {'k', FP_MARK_FORK},        {'x', FP_MARK_THREAD_EXIT},
                     {'e', CONV_MARK_LANE_END}, {'?', FP_CALL_NONE}};

static inline size_t events_of(const char *text, struct conv_event *ret_events)
{
    size_t count = 0, kind = 0;
    for (char *at = (char *)(uintptr_t)text; *at != '\0'; at += strspn(at, " "), kind = 0) {
        struct conv_event event = {.time_ns = 10 * count, .lane = (uint32_t)strtoul(at, &at, 10)};
        while (EVENT_LETTERS[kind].letter != *at)
            if (EVENT_LETTERS[kind++].letter == '?')
                abort();
        event.call = EVENT_LETTERS[kind].call;
        event.address = isxdigit((unsigned char)*++at) ? strtoull(at, &at, 16) : 0;
        if (*at == '<')
            event.old_address = strtoull(at + 1, &at, 16);
        if (*at == ':')
            event.size = strtoull(at + 1, &at, 10);
        if (*at == '*')
            event.extra = strtoull(at + 1, &at, 10);
        ret_events[count++] = event;
    }
    return count;
}

#endif
