/* autopsy.c - the workload again. */
#include "replay/outcome/autopsy.h"

#include "footprint/wl/workload.h"
#include "replay/base/live_sizes.h"

bool rep_autopsy(const char *path, uint64_t op, uint64_t *ret_live_bytes, uint64_t *ret_live_objects)
{
    struct fp_error error;
    struct wl_reader *reader;
    struct wl_window window;
    struct rep_live live;
    if (wl_reader_open(path, &error, &reader) != FP_OK)
        return false;
    if (!rep_live_init(&live, wl_reader_summary(reader)->id_max))
        return false; /* the process ends: nothing is given back */
    while (wl_reader_next(reader, &window) == FP_OK) {
        const bool here = op < window.facts.first_op + window.op_count;
        rep_live_follow(&live, &window, here ? (uint32_t)(op - window.facts.first_op) : window.op_count);
        if (!here)
            continue;
        *ret_live_bytes = live.bytes;
        *ret_live_objects = live.objects;
        return true;
    }
    return false;
}
