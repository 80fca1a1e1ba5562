/* ops_check_end.c - what a workload says of itself as a whole, against what its ops were. */
#include <inttypes.h>
#include <stdlib.h>

#include "convert/check/ops_check.h"

static bool check_threads(struct check *check)
{
    const struct wl_summary *summary = check->summary;
    uint32_t mains = 0;
    for (uint32_t i = 0; i < summary->thread_count; i++) {
        const struct check_thread *counted = &check->threads[i];
        const struct wl_thread *stated = &summary->threads[i];
        if (stated->ops != counted->ops || stated->first_window != counted->first_window ||
            stated->last_window != counted->last_window)
            return check_fault(check, CONV_FAULT_THREAD,
                               "thread %" PRIu32 " has %" PRIu64 " ops in windows %" PRIu64 " to %" PRIu64
                               ", not %" PRIu64 " in %" PRIu64 " to %" PRIu64,
                               i, counted->ops, counted->first_window, counted->last_window, stated->ops,
                               stated->first_window, stated->last_window);
        mains += stated->is_main;
    }
    return mains <= 1 || check_fault(check, CONV_FAULT_THREAD, "%" PRIu32 " main threads", mains);
}

/* Most threads that are between their first window and their end in one window. */
static bool count_at_once(struct check *check)
{
    const struct wl_summary *summary = check->summary;
    int64_t *change = calloc((size_t)check->windows + 1, sizeof *change);
    int64_t alive = 0;
    if (change == NULL)
        return check_fault(check, CONV_FAULT_NONE, "no memory for windows");
    for (uint32_t i = 0; i < summary->thread_count; i++) {
        if (check->threads[i].ops == 0)
            continue;
        change[check->threads[i].first_window]++;
        change[summary->threads[i].exited ? check->threads[i].last_window + 1 : check->windows]--;
    }
    for (uint64_t i = 0; i < check->windows; i++) {
        alive += change[i];
        if (alive > check->counted.threads_at_once_max)
            check->counted.threads_at_once_max = (uint32_t)alive;
    }
    free(change);
    return true;
}

static bool check_summary(struct check *check)
{
    const struct wl_summary *stated = check->summary, *counted = &check->counted;
    const struct {
        const char *name;
        uint64_t counted, stated;
    } numbers[] = {
        {"ops", check->ops, stated->ops},
        {"windows", check->windows, stated->windows},
        {"bytes requested", counted->requested_bytes, stated->requested_bytes},
        {"live bytes at the peak", counted->live_bytes_peak, stated->live_bytes_peak},
        {"live objects at the peak", counted->live_objects_peak, stated->live_objects_peak},
        {"live bytes at the end", check->live_bytes, stated->live_bytes_end},
        {"live objects at the end", check->live_objects, stated->live_objects_end},
        {"bytes of the largest request", counted->largest_size, stated->largest_size},
        {"highest object", counted->id_max, stated->id_max},
        {"ops of the largest window", counted->window_ops_max, stated->window_ops_max},
        {"threads at once", counted->threads_at_once_max, stated->threads_at_once_max},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (numbers[i].counted != numbers[i].stated)
            return check_fault(check, CONV_FAULT_SUMMARY, "%s: %" PRIu64 ", not %" PRIu64, numbers[i].name,
                               numbers[i].counted, numbers[i].stated);
    for (unsigned call = 0; call < FP_CALL_COUNT; call++)
        if (counted->ops_by_call[call] != stated->ops_by_call[call])
            return check_fault(check, CONV_FAULT_SUMMARY, "calls of %s: %" PRIu64 ", not %" PRIu64,
                               call > 0 ? fp_call_name(call) : "none", counted->ops_by_call[call],
                               stated->ops_by_call[call]);
    return true;
}

bool check_end(struct check *check)
{
    check->violation.has_window = false;
    check->violation.has_op = false;
    return check_threads(check) && count_at_once(check) && check_summary(check);
}
