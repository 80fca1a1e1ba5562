/* call.c - names and traits of the malloc-family calls, by number. */
#include "footprint/base/call.h"

#include <stddef.h>
#include <string.h>

#define NAME(name, number, spelling, kind, extra)  [number] = (spelling),
#define KIND(name, number, spelling, kind, extra)  [number] = FP_KIND_##kind,
#define EXTRA(name, number, spelling, kind, extra) [number] = FP_EXTRA_##extra,

static const char *const NAMES[] = {[FP_MARK_RESIZE_FROM] = "(resize from)", [FP_MARK_FORK] = "(fork)",
                                    [FP_MARK_THREAD_EXIT] = "(thread exit)", [FP_MARK_GAP] = "(gap)",
                                    [FP_MARK_RESIDENT] = "(resident)",       FP_CALLS(NAME)};
const uint8_t fp_call_kinds[256] = {FP_CALLS(KIND)};
const uint8_t fp_call_extras[256] = {FP_CALLS(EXTRA)};

const char *fp_call_name(unsigned call)
{
    return call < sizeof NAMES / sizeof NAMES[0] ? NAMES[call] : NULL;
}

enum fp_call fp_call_from_name(const char *name)
{
    for (unsigned call = 1; call < FP_CALL_COUNT; call++)
        if (strcmp(NAMES[call], name) == 0)
            return (enum fp_call)call;
    return FP_CALL_NONE;
}

bool fp_call_tells_size(unsigned call)
{
    switch (call) {
    case FP_CALL_FREE_SIZED:
    case FP_CALL_FREE_ALIGNED_SIZED:
    case FP_CALL_DELETE_SIZED:
    case FP_CALL_DELETE_ARRAY_SIZED:
    case FP_CALL_DELETE_SIZED_ALIGNED:
    case FP_CALL_DELETE_ARRAY_SIZED_ALIGNED:
        return true;
    default:
        return false;
    }
}

bool fp_mark_is_valid(unsigned call)
{
    return fp_call_name(call) != NULL;
}
