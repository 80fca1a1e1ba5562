/* test_replay_latency - each call's ticks are counted for its own call, size and time, with threads and without; and
 * what stands in for an allocator's function passes everything on. */
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

TEST(calls_of_one_thread_are_sorted)
{
    sort_workload(true, 0);
}

TEST(calls_of_threads_are_sorted_as_recorded)
{
    sort_workload(false, 0);
}

TEST(what_is_not_timed_is_not_counted_but_its_sizes_are_known)
{
    sort_workload(false, 50);
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

/* ---- the stand-ins -------------------------------------------------------------------------- */

static uintptr_t heard[4];

static void *hear(uintptr_t which, uintptr_t first, uintptr_t second, uintptr_t third)
{
    heard[0] = which;
    heard[1] = first;
    heard[2] = second;
    heard[3] = third;
    return heard;
}

static void *one(size_t a)
{
    return hear(1, a, 0, 0);
}

static void *two(size_t a, size_t b)
{
    return hear(2, a, b, 0);
}

static void *resize(void *a, size_t b)
{
    return hear(3, (uintptr_t)a, b, 0);
}

static void *resize_array(void *a, size_t b, size_t c)
{
    return hear(4, (uintptr_t)a, b, c);
}

static int align(void **a, size_t b, size_t c)
{
    (void)hear(5, (uintptr_t)a, b, c);
    return 22;
}

static void gone(void *a)
{
    (void)hear(6, (uintptr_t)a, 0, 0);
}

static void gone_2(void *a, size_t b)
{
    (void)hear(7, (uintptr_t)a, b, 0);
}

static void gone_3(void *a, size_t b, size_t c)
{
    (void)hear(8, (uintptr_t)a, b, c);
}

static void *new_2(size_t a, const void *b)
{
    return hear(9, a, (uintptr_t)b, 0);
}

static void *new_3(size_t a, size_t b, const void *c)
{
    return hear(10, a, b, (uintptr_t)c);
}

static void gone_nothrow(void *a, const void *b)
{
    (void)hear(11, (uintptr_t)a, (uintptr_t)b, 0);
}

static void gone_aligned_nothrow(void *a, size_t b, const void *c)
{
    (void)hear(12, (uintptr_t)a, b, (uintptr_t)c);
}

/* The op's entry is written, the next one is not, and the function heard what it was told. */
#define PASSES_ON(call, which, first, second, third)                                                         \
    do {                                                                                                     \
        latency.ticks[at] = latency.ticks[at + 1] = UINT64_MAX;                                              \
        memset(heard, 0, sizeof heard);                                                                      \
        rep_latency_enter(&latency, at);                                                                     \
        call;                                                                                                \
        CHECK(latency.ticks[at] != UINT64_MAX);                                                              \
        CHECK_U64(latency.ticks[at + 1], UINT64_MAX);                                                        \
        CHECK_U64(heard[0], which);                                                                          \
        CHECK_U64(heard[1], first);                                                                          \
        CHECK_U64(heard[2], second);                                                                         \
        CHECK_U64(heard[3], third);                                                                          \
        at++;                                                                                                \
    } while (0)

TEST(a_stand_in_passes_everything_on)
{
    const struct wl_summary summary = {.window_ops_max = 64, .thread_count = 1};
    struct rep_calls calls = {
        .malloc = one,
        .calloc = two,
        .realloc = resize,
        .reallocarray = resize_array,
        .free = gone,
        .free_sized = gone_2,
        .free_aligned_sized = gone_3,
        .posix_memalign = align,
        .aligned_alloc = two,
        .memalign = two,
        .valloc = one,
        .pvalloc = one,
        .new_plain = {one, one},
        .new_nothrow = {new_2, new_2},
        .new_aligned = {two, two},
        .new_aligned_nothrow = {new_3, new_3},
        .delete_plain = {gone, gone},
        .delete_nothrow = {gone_nothrow, gone_nothrow},
        .delete_sized = {gone_2, gone_2},
        .delete_aligned = {gone_2, gone_2},
        .delete_sized_aligned = {gone_3, gone_3},
        .delete_aligned_nothrow = {gone_aligned_nothrow, gone_aligned_nothrow},
    };
    struct rep_clock clock;
    void *object = &clock;
    const uintptr_t address = (uintptr_t)object;
    uint32_t at = 0;
    rep_clock_init(&clock);
    CHECK(rep_latency_init(&latency, &summary, 0, &calls));
    rep_latency_calibrate(&latency, &clock);
    PASSES_ON(CHECK(calls.malloc(3) == heard), 1, 3, 0, 0);
    PASSES_ON(CHECK(calls.calloc(3, 4) == heard), 2, 3, 4, 0);
    PASSES_ON(CHECK(calls.realloc(object, 4) == heard), 3, address, 4, 0);
    PASSES_ON(CHECK(calls.reallocarray(object, 4, 5) == heard), 4, address, 4, 5);
    PASSES_ON(calls.free(object), 6, address, 0, 0);
    PASSES_ON(calls.free_sized(object, 4), 7, address, 4, 0);
    PASSES_ON(calls.free_aligned_sized(object, 4, 5), 8, address, 4, 5);
    PASSES_ON(CHECK(calls.posix_memalign(&object, 4, 5) == 22), 5, (uintptr_t)&object, 4, 5);
    PASSES_ON(CHECK(calls.aligned_alloc(4, 5) == heard), 2, 4, 5, 0);
    PASSES_ON(CHECK(calls.memalign(4, 5) == heard), 2, 4, 5, 0);
    PASSES_ON(CHECK(calls.valloc(4) == heard), 1, 4, 0, 0);
    PASSES_ON(CHECK(calls.pvalloc(4) == heard), 1, 4, 0, 0);
    for (int array = 0; array < 2; array++) {
        PASSES_ON(CHECK(calls.new_plain[array](4) == heard), 1, 4, 0, 0);
        PASSES_ON(CHECK(calls.new_nothrow[array](4, object) == heard), 9, 4, address, 0);
        PASSES_ON(CHECK(calls.new_aligned[array](4, 5) == heard), 2, 4, 5, 0);
        PASSES_ON(CHECK(calls.new_aligned_nothrow[array](4, 5, object) == heard), 10, 4, 5, address);
        PASSES_ON(calls.delete_plain[array](object), 6, address, 0, 0);
        PASSES_ON(calls.delete_nothrow[array](object, &at), 11, address, (uintptr_t)&at, 0);
        PASSES_ON(calls.delete_sized[array](object, 4), 7, address, 4, 0);
        PASSES_ON(calls.delete_aligned[array](object, 4), 7, address, 4, 0);
        PASSES_ON(calls.delete_sized_aligned[array](object, 4, 5), 8, address, 4, 5);
        PASSES_ON(calls.delete_aligned_nothrow[array](object, 4, &at), 12, address, 4, (uintptr_t)&at);
    }
}
