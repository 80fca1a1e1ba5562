/* Shows: ops on both sides of a pause come back from a workload with the very times that they had, wherever in a window the
 * pause lies; the others lie between what is noted around them. */
#include <unistd.h>

#include "footprint/wl/workload.h"
#include "unit/harness.h"
#include "unit/random.h"
#include "unit/scratch.h"

#define OPS        1010u /* the last window is not full */
#define WINDOW_OPS 40u
#define END_NS     (100 * WL_PAUSE_NS)

static const char *path;
static uint64_t times_ns[OPS];
static uint64_t random_state = 5;

static void prepare(void)
{
    path = scratch_path("times.wl");
    (void)unlink(path); /* it may not be there */
}

/* One op in eight has a pause before it; the others follow within a microsecond. All are whole units of 64 ns. */
static void make_times(void)
{
    uint64_t now_ns = 0;
    for (uint32_t i = 0; i < OPS; i++) {
        const bool pauses = test_random(&random_state) % 8 == 0;
        now_ns += pauses ? WL_PAUSE_NS + test_random(&random_state) % 5000 * FP_TIME_UNIT_NS
                         : test_random(&random_state) % 16 * FP_TIME_UNIT_NS;
        times_ns[i] = now_ns / FP_TIME_UNIT_NS * FP_TIME_UNIT_NS;
        now_ns = times_ns[i];
    }
}

static void write_ops(uint64_t pause_ns, bool note_all)
{
    const struct wl_writer_options options = {.window_ops = WINDOW_OPS, .pause_ns = pause_ns};
    const struct fp_shape shape = {FP_CALL_MALLOC, 16, 0};
    struct wl_writer *writer = NULL;
    uint32_t thread, id;
    prepare();
    CHECK_U64(wl_writer_create(path, false, &options, NULL, 0, NULL, &writer), FP_OK);
    CHECK_U64(wl_writer_thread(writer, 1, true, &thread), FP_OK);
    for (uint32_t i = 0; i < OPS; i++) {
        if (note_all)
            wl_writer_note_time(writer);
        CHECK_U64(wl_writer_allocate(writer, thread, &shape, times_ns[i], &id), FP_OK);
    }
    CHECK_U64(wl_writer_finish(writer, times_ns[OPS - 1] + END_NS, NULL, NULL, NULL), FP_OK);
}

static bool pauses_before(uint32_t op)
{
    return op > 0 && op < OPS && times_ns[op] - times_ns[op - 1] >= WL_PAUSE_NS;
}

static void check_times(bool all)
{
    struct wl_reader *reader = NULL;
    struct wl_window window;
    uint64_t last_ns = 0;
    uint32_t seen = 0;
    CHECK_U64(wl_reader_open(path, NULL, &reader), FP_OK);
    while (wl_reader_next(reader, &window) == FP_OK) {
        for (uint32_t i = 0; i < window.op_count; i++, seen++) {
            const uint64_t time_ns = wl_window_time(&window, i);
            if (all || i % WL_TIME_STRIDE == 0 || pauses_before(seen) || pauses_before(seen + 1))
                CHECK_U64(time_ns, times_ns[seen]);
            CHECK(time_ns >= last_ns);
            last_ns = time_ns;
        }
    }
    CHECK_U64(seen, OPS);
    wl_reader_close(reader);
}

TEST(both_sides_of_a_pause_keep_their_times)
{
    make_times();
    write_ops(WL_PAUSE_NS, false);
    check_times(false);
}

TEST(told_times_are_kept_and_no_others)
{
    make_times();
    write_ops(0, true);
    check_times(true);
}

TEST(the_last_op_is_not_drawn_to_the_end)
{
    struct wl_reader *reader = NULL;
    struct wl_window window, last = {0};
    make_times();
    write_ops(WL_PAUSE_NS, false);
    CHECK_U64(wl_reader_open(path, NULL, &reader), FP_OK);
    while (wl_reader_next(reader, &window) == FP_OK)
        last = window;
    CHECK_U64(last.facts.end_ns, times_ns[OPS - 1] + END_NS);
    CHECK_U64(last.noted[last.noted_count - 1].time_ns, times_ns[OPS - 1]);
    wl_reader_close(reader);
    CHECK(unlink(path) == 0);
}
