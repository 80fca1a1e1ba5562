/* window_plan.c - a window's one order made into parts that run side by side. */
#include "replay/exec/window_plan.h"

#include <assert.h>
#include <string.h>

#include "replay/base/op.h"
#include "replay/base/own_process.h"
#include "replay/exec/loop.h"

enum {
    MARK_WAITS = 1,  /* the op must not begin before something */
    MARK_SOURCE = 2, /* someone must not begin before this op has ended */
};

static bool share_or_map(struct rep_plan *plan, const struct wl_summary *summary,
                         const struct rep_plan *former)
{
    const size_t ops = plan->ops_max;
    const bool resizes = summary->ops_by_call[FP_CALL_REALLOC] > 0 ||
                         summary->ops_by_call[FP_CALL_REALLOCARRAY] > 0;
    if (former != NULL) {
        plan->pages = former->pages;
        plan->owner = former->owner;
        plan->position = former->position;
        plan->marks = former->marks;
        return true;
    }
    if (resizes)
        plan->pages = rep_storage_map((size_t)summary->id_max + 1, sizeof *plan->pages);
    if (resizes && plan->pages == NULL)
        return false;
    if (plan->serial)
        return true;
    plan->owner = rep_storage_map(ops, sizeof *plan->owner);
    plan->position = rep_storage_map(ops, sizeof *plan->position);
    plan->marks = rep_storage_map(ops, sizeof *plan->marks);
    return plan->owner != NULL && plan->position != NULL && plan->marks != NULL;
}

bool rep_plan_init(struct rep_plan *plan, const struct wl_summary *summary, bool serial,
                   const struct rep_plan *former)
{
    const size_t ops = summary->window_ops_max;
    const size_t parts = ops < summary->thread_count ? ops : summary->thread_count;
    *plan = (struct rep_plan){.serial = serial, .ops_max = summary->window_ops_max};
    plan->ops = rep_storage_map(ops + REP_LOOP_AHEAD, sizeof *plan->ops);
    plan->parts = rep_storage_map(serial ? 1 : parts, sizeof *plan->parts);
    /* A cut needs a wait, or a source, and a wait has one source. */
    plan->segments = rep_storage_map(serial ? 1 : parts + 2 * ops, sizeof *plan->segments);
    plan->code = rep_storage_map(ops + 1, sizeof *plan->code); /* one more: see rep_loop_run */
    if (plan->ops == NULL || plan->parts == NULL || plan->segments == NULL || plan->code == NULL ||
        !share_or_map(plan, summary, former))
        return false;
    if (serial)
        return true;
    plan->waits = rep_storage_map(ops, sizeof *plan->waits);
    plan->part_of = rep_storage_map(summary->thread_count, sizeof *plan->part_of);
    return plan->waits != NULL && plan->part_of != NULL;
}

bool rep_plan_keep_times(struct rep_plan *plan)
{
    plan->times_ns = rep_storage_map(plan->ops_max, sizeof *plan->times_ns);
    return plan->times_ns != NULL;
}

/* Pages that the loop touches in an object of so many bytes, from its start. */
static uint16_t pages_touched(uint64_t bytes)
{
    const uint64_t pages = bytes / REP_PAGE_BYTES + (bytes % REP_PAGE_BYTES != 0);
    return (uint16_t)(pages < REP_OP_PAGES_MAX ? pages : REP_OP_PAGES_MAX);
}

/* Bytes of an op's object that a resize of it need not touch: what the loop has touched; of one from calloc all, since what
 * the program did not write to there is not written to by its resize either. */
static uint64_t bytes_settled(const struct wl_op *op)
{
    const uint64_t bytes = rep_op_bytes(op);
    return (op->align_log2 & REP_OP_SPARSE) != 0 && op->call != FP_CALL_CALLOC ? rep_op_touched(op, bytes)
                                                                               : bytes;
}

/* Follow the sizes of objects, and write into resizes what was touched before. In the recorded order. */
static void note_pages(uint16_t *pages, struct wl_op *ops, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct wl_op *op = &ops[i];
        __builtin_prefetch(&pages[ops[i + REP_LOOP_AHEAD].id], 1); /* room behind the last: rep_plan_init */
        const uint16_t now = pages_touched(bytes_settled(op));
        if ((op->call == FP_CALL_REALLOC || op->call == FP_CALL_REALLOCARRAY) &&
            (op->align_log2 & (WL_OP_FRESH | REP_OP_SPARSE)) == 0)
            rep_op_set_pages(op, pages[op->id]);
        pages[op->id] = now; /* of releases too: the id's next use is an allocation, which sets it anew */
    }
}

/* Write the shares of count ops of the window into their copies; *next is the first that is
 * left. */
static void note_shares(const struct wl_window *window, uint32_t first, struct wl_op *ops, uint32_t count,
                        uint32_t *next)
{
    const uint64_t begin = window->facts.first_op + first;
    for (; *next < window->touched_count && window->touched[*next].op - begin < count; ++*next)
        rep_op_set_share(&ops[window->touched[*next].op - begin], window->touched[*next].share);
}

#define STEP 512u /* ops that a core's nearest cache holds twice */

/* Copy `count` ops of the window from `from` on to the plan's place `to`, with all that the plan adds to them. */
static void copy_ops(struct rep_plan *plan, const struct wl_window *window, uint32_t from, uint32_t to,
                     uint32_t count, uint32_t *next_share)
{
    for (uint32_t end = from + count, step; from < end; from += step, to += step) {
        step = end - from < STEP ? end - from : STEP;
        memcpy(&plan->ops[to], &window->ops[from], step * sizeof *plan->ops);
        note_shares(window, from, &plan->ops[to], step, next_share);
        if (plan->pages != NULL)
            note_pages(plan->pages, &plan->ops[to], step);
        rep_code_make(&plan->code[to], &plan->ops[to], step);
        for (uint32_t i = 0; plan->times_ns != NULL && i < step; i++)
            plan->times_ns[to + i] = wl_window_time(window, from + i);
    }
}

/* Find the parts and their lengths, and give each its place in ops. */
static void lay_out_parts(struct rep_plan *plan, const struct wl_window *window)
{
    if (plan->serial) {
        plan->parts[0] = (struct rep_part){0};
        plan->part_count = 1;
        return;
    }
    for (uint32_t i = 0; i < plan->part_count; i++)
        plan->part_of[plan->parts[i].thread] = 0;
    plan->part_count = 0;
    for (uint32_t i = 0; i < window->run_count; i++) {
        const struct wl_run *run = &window->runs[i];
        uint32_t *part_of = &plan->part_of[run->thread];
        if (*part_of == 0) {
            plan->parts[plan->part_count] = (struct rep_part){.thread = run->thread};
            *part_of = ++plan->part_count;
        }
        plan->parts[*part_of - 1].op_count += run->op_count;
    }
    uint32_t first = 0;
    for (uint32_t i = 0; i < plan->part_count; i++) {
        plan->parts[i].op_first = first;
        first += plan->parts[i].op_count;
        plan->parts[i].op_count = 0; /* counted again while they are filled */
    }
    assert(first == window->op_count);
}

/* Copy the ops into their parts. owner and position are needed only where there are waits. */
static void scatter_ops(struct rep_plan *plan, const struct wl_window *window, bool located)
{
    uint32_t at = 0, next_share = 0;
    for (uint32_t i = 0; i < window->run_count; i++) {
        const uint32_t count = window->runs[i].op_count;
        const uint32_t index = plan->serial ? 0 : plan->part_of[window->runs[i].thread] - 1;
        struct rep_part *part = &plan->parts[index];
        const uint32_t to = part->op_first + part->op_count;
        copy_ops(plan, window, at, to, count, &next_share);
        for (uint32_t j = 0; located && j < count; j++) {
            plan->owner[at + j] = index;
            plan->position[at + j] = to + j;
        }
        part->op_count += count;
        at += count;
    }
}

/* Sort the waits by part, and mark what waits and what is waited for. */
static void scatter_waits(struct rep_plan *plan, const struct wl_window *window)
{
    memset(plan->marks, 0, window->op_count);
    for (uint32_t i = 0; i < window->wait_count; i++)
        plan->parts[plan->owner[window->waits[i].op]].wait_count++;
    uint32_t first = 0;
    for (uint32_t i = 0; i < plan->part_count; i++) {
        plan->parts[i].wait_first = first;
        first += plan->parts[i].wait_count;
        plan->parts[i].wait_count = 0;
    }
    for (uint32_t i = 0; i < window->wait_count; i++) {
        const struct wl_wait *wait = &window->waits[i];
        struct rep_part *part = &plan->parts[plan->owner[wait->op]];
        const struct rep_part *source = &plan->parts[plan->owner[wait->on]];
        const uint32_t op = plan->position[wait->op];
        const uint32_t on = plan->position[wait->on];
        plan->waits[part->wait_first + part->wait_count++] = (struct rep_wait){
            .thread = source->thread, .count = on - source->op_first + 1, .op = op};
        plan->marks[op] |= MARK_WAITS;
        plan->marks[on] |= MARK_SOURCE;
    }
}

static void end_segment(struct rep_plan *plan, struct rep_segment *segment, uint32_t end, bool post)
{
    segment->op_count = end - segment->op_first;
    segment->post = post;
    plan->segments[plan->segment_count++] = *segment;
    *segment = (struct rep_segment){.op_first = end};
}

/* Cut a part where it must wait, and where a post has been due for REP_POST_DELAY_OPS. */
static void cut_part(struct rep_plan *plan, struct rep_part *part)
{
    const uint32_t end = part->op_first + part->op_count;
    struct rep_segment segment = {.op_first = part->op_first};
    uint32_t wait = part->wait_first;
    uint32_t due_since = UINT32_MAX; /* the first source not yet posted */
    part->segment_first = plan->segment_count;
    for (uint32_t at = part->op_first; at < end; at++) {
        const unsigned mark = plan->marks[at];
        const bool overdue = due_since != UINT32_MAX && at - due_since >= REP_POST_DELAY_OPS;
        if (((mark & MARK_WAITS) || overdue) && at > segment.op_first) {
            end_segment(plan, &segment, at, due_since != UINT32_MAX);
            due_since = UINT32_MAX;
        }
        if (mark & MARK_WAITS) {
            segment.wait_first = wait;
            while (wait < part->wait_first + part->wait_count && plan->waits[wait].op == at)
                wait++;
            segment.wait_count = wait - segment.wait_first;
        }
        if ((mark & MARK_SOURCE) && due_since == UINT32_MAX)
            due_since = at;
    }
    end_segment(plan, &segment, end, due_since != UINT32_MAX);
    part->segment_count = plan->segment_count - part->segment_first;
}

/* Late posts cannot deadlock. A thread that stops, stops at a wait or at its part's end, and has then
 * posted all that it executed, because a segment ends at each of these and posts what is due. Suppose that
 * all unfinished threads have stopped. Of the ops they stopped at, take the first in the window's order,
 * and the op it waits for: that one stands earlier in the order, so its thread did not stop before it,
 * executed it and posted it; so the wait holds, and the thread did not stop. */
enum fp_status rep_plan_make(struct rep_plan *plan, const struct wl_window *window)
{
    const bool waits = window->wait_count > 0 && !plan->serial;
    if (window->op_count > plan->ops_max || window->wait_count > window->op_count)
        return FP_ERR_CORRUPT;
    lay_out_parts(plan, window);
    scatter_ops(plan, window, waits);
    plan->segment_count = 0;
    if (waits)
        scatter_waits(plan, window);
    for (uint32_t i = 0; i < plan->part_count; i++) {
        struct rep_part *part = &plan->parts[i];
        if (waits) {
            cut_part(plan, part);
            continue;
        }
        part->segment_first = i;
        part->segment_count = 1;
        plan->segments[plan->segment_count++] = (struct rep_segment){.op_first = part->op_first,
                                                                     .op_count = part->op_count};
    }
    return FP_OK;
}

uint32_t rep_plan_locate(const struct rep_plan *plan, const struct wl_window *window, uint32_t index)
{
    if (plan->serial)
        return index;
    const struct rep_part *part = plan->parts;
    while (index < part->op_first || index - part->op_first >= part->op_count)
        part++;
    uint32_t skip = index - part->op_first;
    uint32_t at = 0;
    for (const struct wl_run *run = window->runs;; at += run++->op_count) {
        if (run->thread != part->thread)
            continue;
        if (skip < run->op_count)
            return at + skip;
        skip -= run->op_count;
    }
}
