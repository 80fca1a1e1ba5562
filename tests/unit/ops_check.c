/* ops_check.c - execute a workload on paper. */
#include "unit/ops_check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/base/source.h"
#include "convert/ops/rewrite.h"

bool check_init(struct check *check, const struct wl_summary *summary)
{
    uint32_t slots = 16;
    *check = (struct check){.summary = summary};
    /* A window has at most a wait for each op, and the table is kept half empty. */
    while (slots < 2 * (uint64_t)summary->window_ops_max)
        slots *= 2;
    check->objects = calloc((size_t)summary->id_max + 1, sizeof *check->objects);
    check->threads = calloc((size_t)summary->thread_count + 1, sizeof *check->threads);
    check->op_threads = calloc((size_t)summary->window_ops_max + 1, sizeof *check->op_threads);
    check->known = calloc(slots, sizeof *check->known);
    return check->objects != NULL && check->threads != NULL && check->op_threads != NULL &&
           check->known != NULL;
}

void check_release(struct check *check)
{
    free(check->objects);
    free(check->threads);
    free(check->op_threads);
    free(check->known);
    *check = (struct check){0};
}

/* ---- violations ----------------------------------------------------------------------------- */

bool check_fault(struct check *check, enum conv_fault kind, const char *format, ...)
{
    va_list list;
    check->violation.fault = kind;
    va_start(list, format);
    vsnprintf(check->violation.what, sizeof check->violation.what, format, list);
    va_end(list);
    return false;
}

static void point_at(struct check *check, const struct wl_window *window, uint32_t index)
{
    check->violation.has_op = true;
    check->violation.op_in_window = index;
    check->violation.op = window->facts.first_op + index;
}

/* ---- which op comes before which -------------------------------------------------------------- */

static void begin_known(struct check *check, uint32_t wait_count)
{
    uint32_t slots = 16;
    while (slots < 2 * wait_count)
        slots *= 2;
    check->known_mask = slots - 1;
    memset(check->known, 0, slots * sizeof *check->known);
}

static struct check_known *known_of(struct check *check, uint32_t waiter, uint32_t other)
{
    const uint64_t key = (uint64_t)waiter << 32 | other;
    uint32_t at = (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 40) & check->known_mask;
    while (check->known[at].waiter != 0 &&
           (check->known[at].waiter != waiter + 1 || check->known[at].other != other + 1))
        at = (at + 1) & check->known_mask;
    return &check->known[at];
}

static void reach(struct check *check, uint32_t thread, uint32_t index)
{
    struct check_thread *state = &check->threads[thread];
    if (state->query != check->queries || index > state->reached) {
        state->query = check->queries;
        state->reached = index;
    }
}

/* Whether op `before` has finished when op `after` may begin, by waits of any threads: a walk back over all waits,
 * newest first. A wait points back, so whatever leads to it was met before it. */
static bool is_ordered_at_all(struct check *check, const struct wl_window *window, uint32_t before,
                              uint32_t after)
{
    const struct check_thread *aim = &check->threads[check->op_threads[before]];
    check->queries++;
    reach(check, check->op_threads[after], after);
    for (uint32_t i = window->wait_count; i-- > 0;) {
        const struct wl_wait *wait = &window->waits[i];
        if (wait->op > after)
            continue;
        const struct check_thread *waiter = &check->threads[check->op_threads[wait->op]];
        if (waiter->query == check->queries && waiter->reached >= wait->op)
            reach(check, check->op_threads[wait->on], wait->on);
        if (aim->query == check->queries && aim->reached >= before)
            return true;
    }
    return false;
}

static bool is_ordered(struct check *check, const struct wl_window *window, uint32_t before, uint32_t after)
{
    const uint32_t waiter = check->op_threads[after], other = check->op_threads[before];
    if (waiter == other)
        return true;
    return known_of(check, waiter, other)->before > before || is_ordered_at_all(check, window, before, after);
}

static bool take_wait(struct check *check, const struct wl_wait *wait)
{
    const uint32_t waiter = check->op_threads[wait->op], other = check->op_threads[wait->on];
    struct check_known *known = known_of(check, waiter, other);
    if (waiter == other)
        return check_fault(check, CHECK_WAIT, "it waits for op %" PRIu32 " of its own thread", wait->on);
    if (known->before <= wait->on)
        *known = (struct check_known){waiter + 1, other + 1, wait->on + 1};
    check->waits++;
    return true;
}

/* ---- one op ---------------------------------------------------------------------------------- */

static bool check_call(struct check *check, const struct wl_op *op)
{
    if (fp_call_kind_of(op->call) == FP_KIND_NONE)
        return check_fault(check, CHECK_CALL, "%u is no call of the malloc family", op->call);
    if ((op->align_log2 & WL_OP_FRESH) != 0 && fp_call_kind_of(op->call) != FP_KIND_RESIZE)
        return check_fault(check, CHECK_CALL, "%s cannot begin with NULL", fp_call_name(op->call));
    if ((op->align_log2 & ~WL_OP_FRESH) >= 48 || conv_op_bytes(op) >= CONV_ADDRESS_LIMIT)
        return check_fault(check, CHECK_CALL, "a size or alignment of 2^48 or more");
    return true;
}

static bool check_alive(struct check *check, const struct wl_op *op)
{
    const struct check_object *object = &check->objects[op->id];
    const enum fp_call_kind kind = fp_call_kind_of(op->call);
    if (conv_op_allocates(op)) {
        if (op->id == 0)
            return check_fault(check, CHECK_ID, "an allocation is object 0, which is NULL");
        return !object->live ||
               check_fault(check, CHECK_TWO_HANDS, "%s is to be object %" PRIu32 ", which is alive already",
                           fp_call_name(op->call), op->id);
    }
    if (object->live || (kind == FP_KIND_RELEASE && op->id == 0))
        return true;
    return check_fault(check, kind == FP_KIND_RELEASE ? CHECK_RELEASE_OF_DEAD : CHECK_RESIZE_OF_DEAD,
                       "%s of object %" PRIu32 ", which is not alive", fp_call_name(op->call), op->id);
}

static void count_request(struct check *check, uint64_t bytes)
{
    check->counted.requested_bytes = conv_add_saturating(check->counted.requested_bytes, bytes);
    if (bytes > check->counted.largest_size)
        check->counted.largest_size = bytes;
    check->live_bytes += bytes;
}

static void execute(struct check *check, const struct wl_op *op)
{
    struct check_object *object = &check->objects[op->id];
    check->counted.ops_by_call[op->call]++;
    if (conv_op_allocates(op)) {
        object->live = true;
        check->allocations++;
        check->live_objects++;
    } else {
        check->live_bytes -= object->bytes; /* of NULL: 0 */
    }
    if (fp_call_kind_of(op->call) == FP_KIND_RELEASE) {
        check->live_objects -= op->id != 0;
        object->live = false;
        object->bytes = 0;
    } else {
        object->bytes = conv_op_bytes(op);
        count_request(check, object->bytes);
    }
    if (op->id > check->counted.id_max)
        check->counted.id_max = op->id;
    if (check->live_bytes > check->window_peak)
        check->window_peak = check->live_bytes;
    if (check->live_objects > check->counted.live_objects_peak)
        check->counted.live_objects_peak = check->live_objects;
}

static bool check_op(struct check *check, const struct wl_window *window, uint32_t index)
{
    const struct wl_op *op = &window->ops[index];
    if (!check_call(check, op))
        return false;
    if (op->id > check->summary->id_max)
        return check_fault(check, CHECK_ID, "object %" PRIu32 " is above the highest there is, %" PRIu32,
                           op->id, check->summary->id_max);
    if (!check_alive(check, op))
        return false;
    struct check_object *object = &check->objects[op->id];
    /* The object's slot counts, whoever it stands for: also a release and the next allocation of one number. */
    if (op->id != 0 && object->window == check->windows + 1 &&
        !is_ordered(check, window, object->index, index))
        return check_fault(check, CHECK_RACE,
                           "threads %" PRIu32 " and %" PRIu32 " race for object %" PRIu32
                           ": nothing makes it wait for op %" PRIu32 " of the window",
                           object->thread, check->op_threads[index], op->id, object->index);
    execute(check, op);
    object->window = check->windows + 1;
    object->index = index;
    object->thread = check->op_threads[index];
    return true;
}

/* ---- one window ------------------------------------------------------------------------------- */

static bool check_runs(struct check *check, const struct wl_window *window)
{
    uint32_t ops = 0;
    if (window->op_count == 0 || window->op_count > check->summary->window_ops_max)
        return check_fault(check, CHECK_FRAME, "%" PRIu32 " ops; the largest window is to have %" PRIu32,
                           window->op_count, check->summary->window_ops_max);
    if (window->facts.first_op != check->ops)
        return check_fault(check, CHECK_FRAME, "it begins with op %" PRIu64 " after %" PRIu64 " ops",
                           window->facts.first_op, check->ops);
    for (uint32_t i = 0; i < window->run_count; i++) {
        const struct wl_run *run = &window->runs[i];
        if (run->thread >= check->summary->thread_count)
            return check_fault(check, CONV_FAULT_THREAD, "thread %" PRIu32 " of %" PRIu32, run->thread,
                               check->summary->thread_count);
        if (run->op_count == 0 || run->op_count > window->op_count - ops)
            return check_fault(check, CHECK_FRAME, "runs of threads do not add up to its %" PRIu32 " ops",
                               window->op_count);
        struct check_thread *thread = &check->threads[run->thread];
        if (thread->ops == 0)
            thread->first_window = check->windows;
        thread->last_window = check->windows;
        thread->ops += run->op_count;
        for (uint32_t k = 0; k < run->op_count; k++)
            check->op_threads[ops++] = run->thread;
    }
    return ops == window->op_count ||
           check_fault(check, CHECK_FRAME, "runs of threads do not add up to its %" PRIu32 " ops",
                       window->op_count);
}

static bool check_times(struct check *check, const struct wl_window *window)
{
    const struct wl_facts *facts = &window->facts;
    uint64_t now_ns = facts->start_ns;
    if (facts->start_ns < check->end_ns)
        return check_fault(check, CHECK_TIME,
                           "it begins at %" PRIu64 " ns, before the window before it ends, %" PRIu64 " ns",
                           facts->start_ns, check->end_ns);
    if (window->time_count != (window->op_count + WL_TIME_STRIDE - 1) / WL_TIME_STRIDE)
        return check_fault(check, CHECK_FRAME, "%" PRIu32 " times for %" PRIu32 " ops", window->time_count,
                           window->op_count);
    for (uint32_t i = 0; i < window->time_count; i++) {
        if (window->times_ns[i] < now_ns) {
            point_at(check, window, i * WL_TIME_STRIDE);
            return check_fault(check, CHECK_TIME, "time falls from %" PRIu64 " to %" PRIu64 " ns", now_ns,
                               window->times_ns[i]);
        }
        now_ns = window->times_ns[i];
    }
    for (uint32_t i = 0; i < window->noted_count; i++) {
        const struct wl_noted *noted = &window->noted[i];
        const uint32_t before = noted->op / WL_TIME_STRIDE;
        if (noted->op >= window->op_count || noted->time_ns < window->times_ns[before] ||
            (i > 0 && (noted->op <= noted[-1].op || noted->time_ns < noted[-1].time_ns)) ||
            (before + 1 < window->time_count && noted->time_ns > window->times_ns[before + 1]) ||
            noted->time_ns > facts->end_ns) {
            point_at(check, window, noted->op);
            return check_fault(check, CHECK_TIME,
                               "the noted time %" PRIu64 " ns is not between those around it",
                               noted->time_ns);
        }
    }
    if (facts->end_ns < now_ns || facts->end_ns > check->summary->duration_ns)
        return check_fault(check, CHECK_TIME,
                           "it ends at %" PRIu64 " ns, not between its last op's %" PRIu64
                           " and the end's %" PRIu64,
                           facts->end_ns, now_ns, check->summary->duration_ns);
    check->end_ns = facts->end_ns;
    return true;
}

/* Before any is believed: the walk back over waits relies on it. */
static bool check_waits(struct check *check, const struct wl_window *window)
{
    for (uint32_t i = 0; i < window->wait_count; i++) {
        const struct wl_wait *wait = &window->waits[i];
        if (wait->op >= window->op_count || (i > 0 && wait->op <= wait[-1].op))
            return check_fault(check, CHECK_WAIT,
                               "wait %" PRIu32 " is not of a later op than the one before it", i);
        if (wait->on >= wait->op) {
            point_at(check, window, wait->op);
            return check_fault(check, CHECK_WAIT,
                               "it waits for op %" PRIu32 " of the window, which is no earlier one",
                               wait->on);
        }
    }
    return true;
}

static bool check_ops(struct check *check, const struct wl_window *window)
{
    const struct wl_wait *wait = window->waits, *const waits_end = wait + window->wait_count;
    begin_known(check, window->wait_count);
    for (uint32_t i = 0; i < window->op_count; i++) {
        if ((wait < waits_end && wait->op == i && !take_wait(check, wait++)) || !check_op(check, window, i)) {
            point_at(check, window, i);
            return false;
        }
    }
    return true;
}

static bool check_facts(struct check *check, const struct wl_facts *facts)
{
    if (facts->live_bytes != check->live_bytes || facts->live_objects != check->live_objects)
        return check_fault(check, CONV_FAULT_FACTS,
                           "at its end %" PRIu64 " bytes in %" PRIu64 " objects are alive, not %" PRIu64
                           " in %" PRIu64,
                           check->live_bytes, check->live_objects, facts->live_bytes, facts->live_objects);
    return facts->live_bytes_peak == check->window_peak ||
           check_fault(check, CONV_FAULT_FACTS, "most live bytes within it are %" PRIu64 ", not %" PRIu64,
                       check->window_peak, facts->live_bytes_peak);
}

bool check_window(struct check *check, const struct wl_window *window, uint64_t offset)
{
    check->violation.has_window = true;
    check->violation.window = check->windows;
    check->violation.offset = offset;
    check->window_peak = check->live_bytes;
    if (!check_runs(check, window) || !check_times(check, window) || !check_waits(check, window) ||
        !check_ops(check, window) || !check_facts(check, &window->facts))
        return false;
    if (check->window_peak > check->counted.live_bytes_peak)
        check->counted.live_bytes_peak = check->window_peak;
    if (window->op_count > check->counted.window_ops_max)
        check->counted.window_ops_max = window->op_count;
    check->ops += window->op_count;
    check->windows++;
    return true;
}

/* ---- the whole -------------------------------------------------------------------------------- */

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
