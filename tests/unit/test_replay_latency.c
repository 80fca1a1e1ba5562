/* test_replay_latency - each call's ticks are counted for its own call, size and time, with threads and without. */
#include "harness.h"
#include "replay/exec/latency_pass.h"
#include "replay_windows.h"

static struct rep_latency latency;

/* The size that an op is about: what a release frees was last asked for. In the recorded order. */
static uint64_t size_about(const struct made *made, uint32_t op, uint64_t *sizes)
{
    const struct wl_op *made_op = &made->ops[op];
    if (made_op->call != FP_CALL_FREE_SIZED)
        sizes[made_op->id] = made_op->size;
    return sizes[made_op->id];
}

/* Every op is said to have taken its number in the workload, plus one. */
static void pretend_ticks(const struct rep_plan *plan, const struct wl_window *window)
{
    for (uint32_t index = 0; index < window->op_count; index++)
        latency.ticks[index] = window->ops[rep_plan_locate(plan, window, index)].size;
}

static void sort_workload(bool serial, uint32_t untimed_windows)
{
    static uint64_t counts[FP_CALL_COUNT][REP_CLASSES], sums[FP_CALL_COUNT][REP_CLASSES];
    struct made *made = make_workload(serial ? 3 : 4);
    struct rep_plan plan;
    struct rep_calls calls = {0};
    uint64_t *sizes = calloc(SOME_OPS + 2, sizeof *sizes);
    memset(counts, 0, sizeof counts);
    memset(sums, 0, sizeof sums);
    const uint32_t untimed = untimed_windows * SOME_WINDOW_OPS;
    CHECK(rep_plan_init(&plan, &made->summary, serial, NULL));
    CHECK(rep_latency_init(&latency, &made->summary, untimed, &calls));
    CHECK_U64(latency.cost_ticks, 0);
    for (uint32_t i = 0; i < SOME_WINDOWS; i++) {
        struct wl_window window;
        CHECK(made_next(made, &window) == FP_OK);
        CHECK(rep_plan_make(&plan, &window) == FP_OK);
        pretend_ticks(&plan, &window);
        rep_latency_window(&latency, &plan, &window, i >= untimed_windows);
    }
    for (uint32_t op = 0; op < SOME_OPS; op++) {
        const uint32_t size_class = rep_size_class(size_about(made, op, sizes));
        if (op < untimed)
            continue;
        counts[made->ops[op].call][size_class]++;
        sums[made->ops[op].call][size_class] += op + 1;
    }
    for (unsigned call = 1; call < FP_CALL_COUNT; call++) {
        for (uint32_t i = 0; latency.by_call[call] != NULL && i < REP_CLASSES; i++) {
            CHECK_U64(latency.by_call[call][i].count, counts[call][i]);
            CHECK_U64(latency.by_call[call][i].sum, sums[call][i]);
        }
    }
    CHECK_U64(latency.all->count, SOME_OPS - untimed);
    CHECK_U64(latency.all->max, SOME_OPS);
    free(sizes);
    free(made);
}

TEST(calls_are_sorted_as_recorded)
{
    sort_workload(true, 0);   /* of one thread */
    sort_workload(false, 0);  /* of threads */
    sort_workload(false, 50); /* what is not timed is not counted, but its sizes are known */
}

/* Over recorded time: each window of the made workloads takes 1000 ns, and the map has a step for two. */
TEST(the_map_is_over_recorded_time)
{
    struct made *made = make_workload(5);
    struct rep_plan plan;
    struct rep_calls calls = {0};
    made->summary.duration_ns = SOME_WINDOWS * UINT64_C(1000);
    CHECK(rep_plan_init(&plan, &made->summary, false, NULL));
    CHECK(rep_latency_init(&latency, &made->summary, 0, &calls));
    CHECK(latency.by_time);
    CHECK_U64(latency.steps, REP_STEPS_MAX);
    for (uint32_t i = 0; i < SOME_WINDOWS; i++) {
        struct wl_window window;
        CHECK(made_next(made, &window) == FP_OK);
        CHECK(rep_plan_make(&plan, &window) == FP_OK);
        for (uint32_t index = 0; index < window.op_count; index++)
            latency.ticks[index] = 100;
        rep_latency_window(&latency, &plan, &window, true);
    }
    for (uint32_t step = 0; step < latency.steps; step++) {
        const uint32_t windows = SOME_WINDOWS / REP_STEPS_MAX;
        CHECK_U64(latency.map[step][rep_histogram_bucket(100) >> REP_MAP_SHIFT], windows * SOME_WINDOW_OPS);
    }
    free(made);
}

TEST(classes_are_powers_of_two)
{
    CHECK_U64(rep_size_class(0), 0);
    CHECK_U64(rep_size_class(1), 1);
    for (uint32_t i = 1; i < REP_CLASSES; i++) {
        CHECK_U64(rep_size_class(rep_size_class_max(i)), i);
        CHECK_U64(rep_size_class(rep_size_class_max(i - 1) + 1), i);
    }
    CHECK_U64(rep_size_class_max(REP_CLASSES - 1), UINT64_C(1) << 48);
    CHECK_U64(rep_size_class(UINT64_MAX), REP_CLASSES - 1);
}
