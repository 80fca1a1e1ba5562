/* slices.c - cut windows at points of recorded time. */
#include "replay/exec/slices.h"

#include "replay/base/own_process.h"

bool rep_slices_init(struct rep_slices *slices, const struct wl_summary *summary, uint64_t untimed_ops)
{
    const size_t ops = summary->window_ops_max;
    *slices = (struct rep_slices){.summary = summary, .untimed_ops = untimed_ops};
    for (unsigned i = 0; i < 2; i++) {
        struct rep_slice_room *room = &slices->rooms[i];
        room->runs = rep_storage_map(ops, sizeof *room->runs);
        room->waits = rep_storage_map(ops, sizeof *room->waits);
        room->times_ns = rep_storage_map(ops / WL_TIME_STRIDE + 1, sizeof *room->times_ns);
        room->noted = rep_storage_map(ops, sizeof *room->noted);
        if (room->runs == NULL || room->waits == NULL || room->times_ns == NULL || room->noted == NULL)
            return false;
    }
    return rep_live_init(&slices->live, summary->id_max);
}

uint64_t rep_slices_count_max(const struct wl_summary *summary)
{
    return summary->windows + REP_SLICE_POINTS + 2; /* the moment, and the end */
}

/* ---- points --------------------------------------------------------------------------------- */

static void begin(struct rep_slices *slices, uint64_t start_ns)
{
    const uint64_t end_ns = slices->summary->duration_ns;
    const uint64_t span_ns = end_ns > start_ns ? end_ns - start_ns : 0;
    slices->origin_ns = slices->now_ns = start_ns;
    slices->step_ns = span_ns / REP_SLICE_POINTS + (span_ns % REP_SLICE_POINTS != 0);
    slices->begun = true;
}

#define NO_POINT UINT64_MAX

/* The first point behind the time that was handed out. */
static uint64_t next_point(const struct rep_slices *slices)
{
    if (slices->now_ns >= slices->summary->duration_ns) /* also where there is no recorded time */
        return NO_POINT;
    const uint64_t passed = (slices->now_ns - slices->origin_ns) / slices->step_ns;
    const uint64_t point = slices->origin_ns + (passed + 1) * slices->step_ns;
    return point > slices->now_ns && point <= slices->summary->duration_ns ? point : NO_POINT;
}

static void reach(struct rep_slices *slices, uint64_t time_ns)
{
    if (time_ns > slices->now_ns)
        slices->now_ns = time_ns;
}

/* ---- rests ---------------------------------------------------------------------------------- */

static enum fp_status rest_until(struct rep_slices *slices, uint64_t time_ns, struct wl_window *ret_window)
{
    *ret_window = (struct wl_window){
        .facts = {.first_op = slices->ops,
                  .start_ns = slices->now_ns,
                  .end_ns = time_ns,
                  .live_bytes = slices->live.bytes,
                  .live_objects = slices->live.objects},
        .ops = slices->whole.ops, /* none of them, but an address to copy none from */
        .runs = slices->rooms[0].runs,
        .waits = slices->rooms[0].waits,
        .times_ns = slices->rooms[0].times_ns};
    reach(slices, time_ns);
    return FP_OK;
}

/* Rests behind the last window: the time until the program ended counts, too. */
static enum fp_status rest_at_the_end(struct rep_slices *slices, struct wl_window *ret_window)
{
    const uint64_t end_ns = slices->summary->duration_ns;
    if (!slices->begun || slices->now_ns >= end_ns)
        return FP_END;
    const uint64_t point = next_point(slices);
    return rest_until(slices, point < end_ns ? point : end_ns, ret_window);
}

/* ---- slices --------------------------------------------------------------------------------- */

static void take_runs(struct rep_slices *slices, uint32_t count, struct wl_window *slice, struct wl_run *runs)
{
    const struct wl_window *whole = &slices->whole;
    slice->runs = runs;
    while (count > 0) {
        const struct wl_run *run = &whole->runs[slices->next_run];
        const uint32_t left = run->op_count - slices->run_taken;
        const uint32_t taken = left < count ? left : count;
        runs[slice->run_count++] = (struct wl_run){.thread = run->thread, .op_count = taken};
        count -= taken;
        slices->run_taken += taken;
        if (slices->run_taken < run->op_count)
            continue;
        slices->next_run++;
        slices->run_taken = 0;
    }
}

/* A wait for an op of an earlier slice is over, and is left out. Waits that the window left out
 * because they follow from others hold too: those lie in the same slice, if both ends of this
 * do. */
static void take_waits(struct rep_slices *slices, uint32_t end, struct wl_window *slice,
                       struct wl_wait *waits)
{
    const struct wl_window *whole = &slices->whole;
    slice->waits = waits;
    for (; slices->next_wait < whole->wait_count && whole->waits[slices->next_wait].op < end;
         slices->next_wait++) {
        const struct wl_wait *wait = &whole->waits[slices->next_wait];
        if (wait->on >= slices->next)
            waits[slice->wait_count++] = (struct wl_wait){.op = wait->op - slices->next,
                                                          .on = wait->on - slices->next};
    }
}

static void take_touched(struct rep_slices *slices, uint32_t end, struct wl_window *slice)
{
    const struct wl_window *whole = &slices->whole;
    if (whole->touched_count == 0)
        return; /* whose address may be NULL, to which nothing may be added */
    slice->touched = whole->touched + slices->next_touched;
    while (slices->next_touched < whole->touched_count &&
           whole->touched[slices->next_touched].op - whole->facts.first_op < end) {
        slices->next_touched++;
        slice->touched_count++;
    }
}

static void take_times(struct rep_slices *slices, struct wl_window *slice, uint64_t *times_ns)
{
    slice->times_ns = times_ns;
    for (uint32_t op = 0; op < slice->op_count; op += WL_TIME_STRIDE)
        times_ns[slice->time_count++] = wl_window_time(&slices->whole, slices->next + op);
}

static void take_noted(struct rep_slices *slices, uint32_t end, struct wl_window *slice,
                       struct wl_noted *noted)
{
    const struct wl_window *whole = &slices->whole;
    slice->noted = noted;
    for (; slices->next_noted < whole->noted_count && whole->noted[slices->next_noted].op < end;
         slices->next_noted++) {
        const struct wl_noted *from = &whole->noted[slices->next_noted];
        noted[slice->noted_count++] = (struct wl_noted){from->op - slices->next, from->time_ns};
    }
}

/* The ops from slices->next up to `end`. */
static void cut(struct rep_slices *slices, uint32_t end, uint64_t end_ns, struct wl_window *ret_window)
{
    const struct wl_window *whole = &slices->whole;
    const struct rep_slice_room *room = &slices->rooms[slices->room++ % 2];
    struct wl_window slice = {.op_count = end - slices->next, .ops = &whole->ops[slices->next]};
    slice.facts.first_op = whole->facts.first_op + slices->next;
    slice.facts.start_ns = slices->now_ns;
    take_runs(slices, slice.op_count, &slice, room->runs);
    take_waits(slices, end, &slice, room->waits);
    take_touched(slices, end, &slice);
    take_times(slices, &slice, room->times_ns);
    take_noted(slices, end, &slice, room->noted);
    rep_live_follow(&slices->live, &slice, slice.op_count);
    slice.facts.end_ns = end_ns > slices->now_ns ? end_ns : slices->now_ns;
    slice.facts.live_bytes = slices->live.bytes;
    slice.facts.live_objects = slices->live.objects;
    slice.facts.live_bytes_peak = end == whole->op_count ? whole->facts.live_bytes_peak : 0;
    slices->next = end;
    slices->cutting = end < whole->op_count;
    slices->ops = slice.facts.first_op + slice.op_count;
    reach(slices, slice.facts.end_ns);
    *ret_window = slice;
}

/* The first of the window's ops that is not before a time; their times do not fall. */
static uint32_t first_op_from(const struct wl_window *whole, uint32_t from, uint64_t time_ns)
{
    uint32_t low = from, high = whole->op_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (wl_window_time(whole, middle) < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static enum fp_status cut_next(struct rep_slices *slices, struct wl_window *ret_window)
{
    const uint64_t point = next_point(slices);
    const uint32_t end = point != NO_POINT ? first_op_from(&slices->whole, slices->next, point)
                                           : slices->whole.op_count;
    if (end == slices->next)
        return rest_until(slices, point, ret_window);
    const uint64_t end_ns = slices->whole.facts.end_ns;
    cut(slices, end, end == slices->whole.op_count && end_ns < point ? end_ns : point, ret_window);
    return FP_OK;
}

enum fp_status rep_slices_next(struct rep_slices *slices,
                               enum fp_status (*next)(void *context, struct wl_window *ret_window),
                               void *context, struct wl_window *ret_window)
{
    if (slices->cutting)
        return cut_next(slices, ret_window);
    struct wl_window *whole = &slices->whole;
    const enum fp_status status = next(context, whole);
    if (status != FP_OK)
        return status == FP_END ? rest_at_the_end(slices, ret_window) : status;
    if (whole->facts.first_op + whole->op_count <= slices->untimed_ops) {
        rep_live_follow(&slices->live, whole, whole->op_count);
        slices->ops = whole->facts.first_op + whole->op_count;
        *ret_window = *whole;
        return FP_OK;
    }
    if (!slices->begun)
        begin(slices, whole->facts.start_ns);
    slices->cutting = true;
    slices->next = slices->next_run = slices->run_taken = 0;
    slices->next_wait = slices->next_touched = slices->next_noted = 0;
    return cut_next(slices, ret_window);
}
