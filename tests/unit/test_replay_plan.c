/* test_replay_plan - a plan holds every op once, in its thread's order, and posts and waits where it must. */
#include "harness.h"
#include "replay/exec/loop.h"
#include "replay/exec/window_plan.h"
#include "replay_windows.h"

/* Number within the window of a thread's ops, in turn. */
static uint32_t next_of_thread(const struct made *made, const struct wl_window *window, uint32_t thread,
                               uint32_t from)
{
    while (made->thread_of[window->facts.first_op + from] != thread)
        from++;
    return from;
}

static void check_parts(const struct made *made, const struct rep_plan *plan, const struct wl_window *window)
{
    uint32_t total = 0;
    for (uint32_t i = 0; i < plan->part_count; i++) {
        const struct rep_part *part = &plan->parts[i];
        uint32_t number = 0;
        CHECK_U64(part->op_first, total);
        for (uint32_t j = 0; j < part->op_count; j++) {
            const uint32_t at = part->op_first + j;
            number = next_of_thread(made, window, part->thread, number);
            CHECK_U64(plan->ops[at].id, window->ops[number].id);
            CHECK_U64(plan->ops[at].size, window->ops[number].size);
            CHECK_U64(rep_plan_locate(plan, window, at), number);
            number++;
        }
        total += part->op_count;
    }
    CHECK_U64(total, window->op_count);
}

/* Segments follow each other through the part, and only first ops of segments wait. */
static void check_segments(const struct made *made, const struct rep_plan *plan,
                           const struct wl_window *window)
{
    uint32_t waits = 0;
    for (uint32_t i = 0; i < plan->part_count; i++) {
        const struct rep_part *part = &plan->parts[i];
        uint32_t at = part->op_first;
        for (uint32_t j = 0; j < part->segment_count; j++) {
            const struct rep_segment *segment = &plan->segments[part->segment_first + j];
            CHECK_U64(segment->op_first, at);
            CHECK(segment->op_count > 0);
            for (uint32_t k = 0; k < segment->op_count; k++) {
                const uint64_t op = window->facts.first_op + rep_plan_locate(plan, window, at + k);
                const bool should = made->wait_on[op] != NO_OP;
                CHECK_U64(k == 0 ? segment->wait_count : 0, should);
                waits += should;
            }
            at += segment->op_count;
        }
        CHECK_U64(at, part->op_first + part->op_count);
    }
    CHECK_U64(waits, window->wait_count);
}

/* Whether the thread of the op has posted it by the end of its segment, and that this end is not far. */
static void check_posted(const struct rep_plan *plan, uint32_t index, uint32_t count)
{
    for (uint32_t i = 0; i < plan->segment_count; i++) {
        const struct rep_segment *segment = &plan->segments[i];
        if (index < segment->op_first || index - segment->op_first >= segment->op_count)
            continue;
        CHECK(segment->post);
        CHECK(segment->op_first + segment->op_count - index <= REP_POST_DELAY_OPS);
        return;
    }
    HARNESS_FAIL("op %u of the plan is in no segment", index);
}

static void check_waits(const struct made *made, const struct rep_plan *plan, const struct wl_window *window)
{
    for (uint32_t i = 0; i < plan->segment_count; i++) {
        const struct rep_segment *segment = &plan->segments[i];
        for (uint32_t j = 0; j < segment->wait_count; j++) {
            const struct rep_wait *wait = &plan->waits[segment->wait_first + j];
            const struct rep_part *source = plan->parts;
            while (source->thread != wait->thread)
                source++;
            const uint32_t index = source->op_first + wait->count - 1;
            const uint64_t op = window->facts.first_op + rep_plan_locate(plan, window, segment->op_first);
            CHECK_U64(window->facts.first_op + rep_plan_locate(plan, window, index), made->wait_on[op]);
            check_posted(plan, index, wait->count);
        }
    }
}

TEST(plans_of_random_windows)
{
    for (uint64_t seed = 30; seed < 33; seed++) {
        struct made *made = make_workload(seed);
        struct rep_plan plan;
        struct wl_window window;
        CHECK(rep_plan_init(&plan, &made->summary, false, NULL));
        for (unsigned i = 0; i < 60; i++) {
            CHECK_U64(made_next(made, &window), FP_OK);
            CHECK_U64(rep_plan_make(&plan, &window), FP_OK);
            check_parts(made, &plan, &window);
            check_segments(made, &plan, &window);
            check_waits(made, &plan, &window);
        }
        free(made);
    }
}

/* Of one window. */
static struct rep_plan planned(const struct wl_summary *summary, bool serial, const struct wl_window *window)
{
    struct rep_plan plan;
    CHECK(rep_plan_init(&plan, summary, serial, NULL));
    CHECK_U64(rep_plan_make(&plan, window), FP_OK);
    return plan;
}

/* A thread whose ops all are waited for, by one that waits once: the post may not wait for the end. */
TEST(late_posts_are_bounded)
{
    enum { OPS = 1000 };
    static struct wl_op ops[OPS];
    static struct wl_thread threads[2] = {{.ops = OPS - 1}, {.ops = 1}};
    static const struct wl_run runs[] = {{0, OPS - 1}, {1, 1}};
    static const struct wl_wait waits[] = {{OPS - 1, 10}};
    struct wl_summary summary = {.window_ops_max = OPS, .thread_count = 2, .id_max = OPS, .threads = threads};
    const struct wl_window window = {
        .op_count = OPS, .run_count = 2, .wait_count = 1, .ops = ops, .runs = runs, .waits = waits};
    for (uint32_t i = 0; i < OPS; i++)
        ops[i] = (struct wl_op){.id = i + 1, .call = FP_CALL_MALLOC, .size = 8};
    const struct rep_plan plan = planned(&summary, false, &window);
    CHECK_U64(plan.segment_count, 3);
    CHECK_U64(plan.segments[0].op_count, 10 + REP_POST_DELAY_OPS);
    CHECK(plan.segments[0].post);
    CHECK(!plan.segments[1].post);
    CHECK_U64(plan.segments[2].wait_count, 1);
    CHECK_U64(plan.waits[plan.segments[2].wait_first].count, 11);
}

/* How much of a resized object is old is known from the ops before, of whichever thread. */
TEST(resizes_know_what_was_touched)
{
    static const struct wl_op ops[] = {
        {.id = 1, .call = FP_CALL_MALLOC, .size = 10000},
        {.id = 2, .call = FP_CALL_CALLOC, .count = 3, .size = 4096},
        {.id = 1, .call = FP_CALL_REALLOC, .size = 20000},
        {.id = 2, .call = FP_CALL_REALLOCARRAY, .count = 10, .size = 1000},
        {.id = 1, .call = FP_CALL_REALLOC, .size = 100},
        {.id = 2, .call = FP_CALL_REALLOC, .size = UINT64_C(1) << 40},
        {.id = 2, .call = FP_CALL_REALLOCARRAY, .count = 1, .size = (UINT64_C(1) << 48) - 1},
        {.id = 3, .call = FP_CALL_REALLOC, .align_log2 = WL_OP_FRESH, .size = 5000},
        {.id = 3, .call = FP_CALL_REALLOC, .size = 0},
    };
    static const struct wl_run runs[] = {{0, 2}, {1, 7}};
    static const struct wl_thread threads[2] = {{.ops = 2}, {.ops = 7}};
    struct wl_summary summary = {.window_ops_max = 9, .thread_count = 2, .id_max = 3, .threads = threads};
    const struct wl_window window = {.op_count = 9, .run_count = 2, .ops = ops, .runs = runs};
    summary.ops_by_call[FP_CALL_REALLOC] = 1;
    const struct rep_plan plan = planned(&summary, false, &window);
    CHECK_U64(plan.ops[2].count, 3);
    CHECK_U64(plan.ops[3].size, UINT64_C(3) << REP_OP_SIZE_BITS | 1000);
    CHECK_U64(plan.ops[3].count, 10);
    CHECK_U64(plan.ops[4].count, 5);
    CHECK_U64(plan.ops[5].count, 3);
    CHECK_U64(plan.ops[6].size >> REP_OP_SIZE_BITS, REP_OP_PAGES_MAX);
    CHECK_U64(plan.ops[6].size & REP_OP_SIZE_MASK, REP_OP_SIZE_MASK);
    CHECK_U64(plan.ops[7].count, 0);
    CHECK_U64(plan.ops[8].count, 2);
}

/* By recorded op, wherever the plan has put it; what was touched before a resize is what was, not all. */
TEST(shares_reach_their_ops)
{
    enum { LARGE = 1000000 };
    static const struct wl_op ops[] = {
        {1, FP_CALL_MALLOC, 0, 1, LARGE},      {2, FP_CALL_CALLOC, 0, 10, LARGE},
        {3, FP_CALL_MALLOC, 0, 1, LARGE},      {1, FP_CALL_REALLOC, 0, 1, 2 * LARGE},
        {3, FP_CALL_REALLOC, 0, 1, 2 * LARGE}, {2, FP_CALL_REALLOCARRAY, 0, 20, LARGE},
    };
    static const struct wl_run runs[] = {{0, 1}, {1, 2}, {0, 1}, {1, 2}};
    static const struct wl_thread threads[2] = {{.ops = 2}, {.ops = 4}};
    static const struct wl_touched touched[] = {{100, 64}, {101, 128}, {104, 0}, {105, 255}};
    const struct wl_summary summary = {.ops = 200,
                                       .window_ops_max = 6,
                                       .thread_count = 2,
                                       .id_max = 3,
                                       .threads = threads,
                                       .ops_by_call = {[FP_CALL_REALLOC] = 2}};
    const struct wl_window window = {.facts.first_op = 100,
                                     .op_count = 6,
                                     .run_count = 4,
                                     .ops = ops,
                                     .runs = runs,
                                     .touched_count = 4,
                                     .touched = touched};
    for (int serial = 0; serial < 2; serial++) {
        const unsigned at[2][6] = {{0, 2, 3, 1, 4, 5}, {0, 1, 2, 3, 4, 5}};
        const unsigned *places = at[serial];
        const struct rep_plan plan = planned(&summary, serial != 0, &window);
        CHECK(plan.ops[places[0]].align_log2 & REP_OP_SPARSE);
        CHECK_U64(rep_op_touched(&plan.ops[places[0]], LARGE), LARGE / 4);
        CHECK_U64(rep_op_touched(&plan.ops[places[1]], 10 * LARGE), 5 * LARGE);
        CHECK_U64(plan.ops[places[1]].size & REP_OP_SIZE_MASK, LARGE);
        CHECK_U64(plan.ops[places[1]].count, 10);
        CHECK(!(plan.ops[places[2]].align_log2 & REP_OP_SPARSE));
        CHECK_U64(plan.ops[places[3]].count, LARGE / 4 / 4096 + 1); /* pages touched before */
        CHECK_U64(rep_op_touched(&plan.ops[places[4]], 2 * LARGE), 0);
        CHECK_U64(rep_op_touched(&plan.ops[places[5]], 20 * LARGE), UINT64_C(20) * LARGE * 255 / 256);
    }
}

/* What the program did not write to of an object from calloc, its resize does not write to either. */
TEST(resizes_of_calloc_touch_what_they_grow_by)
{
    static const struct wl_op ops[] = {{1, FP_CALL_CALLOC, 0, 1, 40960}, {1, FP_CALL_REALLOC, 0, 1, 81920}};
    static const struct wl_run run = {0, 2};
    static const struct wl_thread thread = {.ops = 2};
    static const struct wl_touched touched = {0, 1};
    const struct wl_summary summary = {.ops = 2,
                                       .window_ops_max = 2,
                                       .thread_count = 1,
                                       .id_max = 1,
                                       .threads = &thread,
                                       .ops_by_call = {[FP_CALL_REALLOC] = 1}};
    const struct wl_window window = {
        .op_count = 2, .run_count = 1, .ops = ops, .runs = &run, .touched_count = 1, .touched = &touched};
    const struct rep_plan plan = planned(&summary, true, &window);
    CHECK_U64(plan.ops[1].count, 10); /* pages that are not touched again */
}

TEST(windows_beyond_the_summary_are_refused)
{
    struct made *made = make_workload(41);
    struct rep_plan plan;
    struct wl_window window;
    made->summary.window_ops_max = SOME_WINDOW_OPS - 1;
    CHECK(rep_plan_init(&plan, &made->summary, false, NULL));
    CHECK_U64(made_next(made, &window), FP_OK);
    CHECK_U64(rep_plan_make(&plan, &window), FP_ERR_CORRUPT);
    free(made);
}
