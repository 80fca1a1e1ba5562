/* test_replay_slices - windows cut at points of recorded time: nothing is lost, moved or repeated, every point has its
 * sample, and times that a file made up lead nowhere. */
#include "harness.h"
#include "replay/exec/slices.h"
#include "replay/exec/window_plan.h"

#define STEP_NS   1000u
#define SPAN_NS   (REP_SLICE_POINTS * (uint64_t)STEP_NS)
#define START_NS  5000u
#define WINDOWS   3u
#define OPS       48u /* of a window: three times are noted */
#define PIECE_MAX 1000u

static struct wl_op ops[WINDOWS * OPS];
static struct wl_run runs[WINDOWS * OPS];
static struct wl_wait waits[WINDOWS * OPS];
static uint64_t times_ns[WINDOWS * OPS / WL_TIME_STRIDE];
static struct wl_touched touched[2] = {{.op = OPS + 5, .share = 7}, {.op = OPS + 40, .share = 9}};
static struct wl_window windows[WINDOWS];
static struct wl_summary summary;
static uint32_t window_count, next_of_windows;

static struct rep_slices slices;
static struct wl_window pieces[PIECE_MAX];
static size_t piece_count;

/* Window i holds OPS allocations of 100 bytes, two threads in turn with runs of five, and begins at start_ns[i]; its ops are
 * gap_ns apart. */
static void make_windows(const uint64_t *start_ns, uint64_t gap_ns, uint32_t count)
{
    window_count = count;
    for (uint32_t w = 0; w < count; w++) {
        struct wl_window *window = &windows[w];
        *window = (struct wl_window){
            .facts = {.first_op = w * OPS,
                      .start_ns = start_ns[w],
                      .end_ns = start_ns[w] + gap_ns * OPS,
                      .live_bytes = (w + 1) * OPS * 100,
                      .live_objects = (w + 1) * OPS,
                      .live_bytes_peak = (w + 1) * OPS * 100},
            .op_count = OPS,
            .ops = &ops[w * OPS],
            .runs = &runs[w * OPS],
            .waits = &waits[w * OPS],
            .times_ns = &times_ns[w * OPS / WL_TIME_STRIDE],
            .time_count = OPS / WL_TIME_STRIDE,
        };
        for (uint32_t i = 0; i < OPS; i++)
            ops[w * OPS + i] = (struct wl_op){.id = w * OPS + i + 1, .call = FP_CALL_MALLOC, .size = 100};
        for (uint32_t i = 0; i < OPS / WL_TIME_STRIDE; i++)
            times_ns[w * OPS / WL_TIME_STRIDE + i] = start_ns[w] + gap_ns * i * WL_TIME_STRIDE;
        for (uint32_t left = OPS; left > 0; left -= left < 5 ? left : 5) {
            runs[w * OPS + window->run_count] = (struct wl_run){.thread = window->run_count % 2,
                                                                .op_count = left < 5 ? left : 5};
            window->run_count++;
        }
        for (uint32_t i = 1; i < window->run_count;
             i++) { /* on the op right before, and on the first of all */
            const struct wl_wait wait = {.op = 5 * i, .on = i % 2 != 0 ? 5 * i - 1 : 0};
            waits[w * OPS + window->wait_count++] = wait;
        }
    }
    windows[1].touched = touched;
    windows[1].touched_count = count > 1 ? 2 : 0;
    summary = (struct wl_summary){.ops = count * OPS,
                                  .windows = count,
                                  .duration_ns = START_NS + SPAN_NS,
                                  .id_max = count * OPS,
                                  .window_ops_max = OPS,
                                  .thread_count = 2};
}

static enum fp_status next(void *context, struct wl_window *ret_window)
{
    if (next_of_windows == window_count)
        return FP_END;
    *ret_window = windows[next_of_windows++];
    return FP_OK;
}

/* What a window's end, and what points at an op of a piece, say: for pieces whose arrays are overwritten by then. */
struct seen {
    uint32_t thread;
    uint32_t waits;
    uint32_t share;
    uint64_t time_ns;
};
static struct seen seen[WINDOWS * OPS];

static void look_at(const struct wl_window *piece)
{
    uint32_t op = 0;
    CHECK_U64(piece->time_count, (piece->op_count + WL_TIME_STRIDE - 1) / WL_TIME_STRIDE);
    for (uint32_t i = 0; i < piece->run_count; i++)
        for (uint32_t k = 0; k < piece->runs[i].op_count; k++)
            seen[piece->facts.first_op + op++].thread = piece->runs[i].thread;
    CHECK_U64(op, piece->op_count);
    for (uint32_t i = 0; i < piece->wait_count; i++) {
        CHECK(piece->waits[i].op < piece->op_count && piece->waits[i].on < piece->waits[i].op);
        seen[piece->facts.first_op + piece->waits[i].op].waits = 1 + piece->waits[i].op - piece->waits[i].on;
    }
    for (uint32_t i = 0; i < piece->touched_count; i++)
        seen[piece->touched[i].op].share = piece->touched[i].share;
    for (uint32_t i = 0; i < piece->op_count; i++) {
        const uint64_t number = piece->facts.first_op + i;
        CHECK_U64(piece->ops[i].id, ops[number].id);
        seen[number].time_ns = wl_window_time(piece, i);
    }
}

static void cut_all(uint64_t untimed_ops)
{
    struct wl_window piece;
    enum fp_status status;
    memset(seen, 0, sizeof seen);
    next_of_windows = 0;
    piece_count = 0;
    CHECK(rep_slices_init(&slices, &summary, untimed_ops));
    while ((status = rep_slices_next(&slices, next, NULL, &piece)) == FP_OK) {
        if (piece_count == PIECE_MAX)
            HARNESS_FAIL("%u pieces, and no end", PIECE_MAX);
        CHECK_U64(piece.facts.first_op, piece_count == 0 ? 0
                                                         : pieces[piece_count - 1].facts.first_op +
                                                               pieces[piece_count - 1].op_count);
        CHECK(piece_count == 0 || piece.facts.start_ns >= pieces[piece_count - 1].facts.end_ns);
        CHECK(piece.facts.end_ns >= piece.facts.start_ns);
        look_at(&piece);
        pieces[piece_count++] = piece;
    }
    CHECK_U64(status, FP_END);
    CHECK(piece_count <= rep_slices_count_max(&summary));
}

/* The ops as a whole are those of the windows. */
static void check_ops(void)
{
    for (uint32_t w = 0; w < window_count; w++) {
        uint32_t op = w * OPS;
        for (uint32_t i = 0; i < windows[w].run_count; i++)
            for (uint32_t k = 0; k < windows[w].runs[i].op_count; k++)
                CHECK_U64(seen[op++].thread, windows[w].runs[i].thread);
    }
    CHECK_U64(pieces[piece_count - 1].facts.first_op + pieces[piece_count - 1].op_count, summary.ops);
}

/* Whether a piece ends there, with so many objects live. */
static bool ends_at(uint64_t time_ns, uint64_t objects)
{
    for (size_t i = 0; i < piece_count; i++)
        if (pieces[i].facts.end_ns == time_ns && pieces[i].facts.live_objects == objects &&
            pieces[i].facts.live_bytes == 100 * objects)
            return true;
    return false;
}

TEST(a_window_has_a_slice_for_each_point)
{
    const uint64_t start[] = {START_NS};
    make_windows(start, SPAN_NS / OPS, 1); /* an op each 4.17 points */
    cut_all(0);
    check_ops();
    for (uint64_t point = 1; point < REP_SLICE_POINTS; point++) {
        /* Of the ops of a stride the times lie on a line. */
        uint64_t before = 0;
        while (before < OPS && wl_window_time(&windows[0], (uint32_t)before) < START_NS + point * STEP_NS)
            before++;
        CHECK(ends_at(START_NS + point * STEP_NS, before));
    }
    CHECK(piece_count >= REP_SLICE_POINTS);
    CHECK_U64(pieces[piece_count - 1].facts.end_ns, START_NS + SPAN_NS);
    for (uint32_t i = 0; i < OPS; i++)
        CHECK_U64(seen[i].time_ns, wl_window_time(&windows[0], i));
}

/* Between windows, and behind the last one: memory stays as it is, and the clock goes on. */
TEST(pauses_have_rests)
{
    const uint64_t start[] = {START_NS, START_NS + 50 * STEP_NS, START_NS + 120 * STEP_NS};
    size_t rests = 0;
    make_windows(start, 10, 3);
    cut_all(0);
    check_ops();
    for (uint64_t point = 1; point <= REP_SLICE_POINTS; point++)
        CHECK(ends_at(START_NS + point * STEP_NS, point <= 50 ? OPS : point <= 120 ? 2 * OPS : 3 * OPS));
    for (size_t i = 0; i < piece_count; i++)
        rests += pieces[i].op_count == 0;
    CHECK_U64(rests, REP_SLICE_POINTS);
    CHECK_U64(piece_count, REP_SLICE_POINTS + 3); /* no window is longer than a step: none is cut */
    CHECK_U64(seen[OPS + 5].share, 7);
    CHECK_U64(seen[OPS + 40].share, 9);
}

/* A pause within a stride stays between the two ops that it lies between, wherever slices are cut. */
TEST(noted_times_follow_their_ops)
{
    static struct wl_noted noted[2];
    const uint64_t start[] = {START_NS}, pause_ns = 100 * (uint64_t)STEP_NS;
    make_windows(start, 300, 1);
    noted[0] = (struct wl_noted){19, START_NS + 19 * 300};
    noted[1] = (struct wl_noted){20, START_NS + 20 * 300 + pause_ns};
    times_ns[2] += pause_ns;
    windows[0].facts.end_ns += pause_ns;
    windows[0].noted = noted;
    windows[0].noted_count = 2;
    cut_all(0);
    check_ops();
    CHECK_U64(seen[19].time_ns, noted[0].time_ns);
    CHECK_U64(seen[20].time_ns, noted[1].time_ns);
    for (uint32_t i = 0; i < OPS; i++)
        CHECK(seen[i].time_ns < noted[0].time_ns + STEP_NS || seen[i].time_ns >= noted[1].time_ns);
    CHECK(ends_at(START_NS + 50 * STEP_NS, 20));
}

/* A wait for an op of an earlier slice is met by the rest between; others stay, and so do shares. */
TEST(waits_and_shares_follow_their_ops)
{
    const uint64_t start[] = {START_NS, START_NS + 100 * STEP_NS};
    uint32_t kept = 0, met = 0;
    make_windows(start, 300, 2); /* slices of three or four ops */
    cut_all(0);
    check_ops();
    for (size_t i = 0; i < piece_count; i++) {
        const uint64_t begin = pieces[i].facts.first_op, end = begin + pieces[i].op_count;
        for (uint32_t w = 0; w < 2; w++) {
            for (uint32_t k = 0; k < windows[w].wait_count; k++) {
                const struct wl_wait *wait = &windows[w].waits[k];
                const uint64_t op = windows[w].facts.first_op + wait->op;
                const bool here = begin <= op && op < end;
                const bool within = here && windows[w].facts.first_op + wait->on >= begin;
                if (here)
                    CHECK_U64(seen[op].waits, within ? 1 + wait->op - wait->on : 0);
                kept += within;
                met += here && !within;
            }
        }
    }
    CHECK(kept > 2);
    CHECK(met > 2);
    CHECK_U64(seen[OPS + 5].share, 7);
    CHECK_U64(seen[OPS + 40].share, 9);
}

/* Who follows the workload by whole windows finds the highest live bytes with the last piece of their window. */
TEST(the_peak_stays_at_the_window_s_end)
{
    const uint64_t start[] = {START_NS, START_NS + 100 * STEP_NS};
    make_windows(start, 300, 2);
    cut_all(0);
    for (size_t i = 0; i < piece_count; i++) {
        const uint64_t end = pieces[i].facts.first_op + pieces[i].op_count;
        const bool last = pieces[i].op_count > 0 && end % OPS == 0;
        CHECK_U64(pieces[i].facts.live_bytes_peak, last ? end * 100 : 0);
    }
}

/* What was there before comes as it is; points begin with the first op behind it. */
TEST(inherited_objects_are_no_time)
{
    const uint64_t start[] = {0, START_NS};
    make_windows(start, 1, 2);
    cut_all(OPS);
    check_ops();
    CHECK_U64(pieces[0].op_count, OPS);
    CHECK_U64(pieces[0].facts.end_ns, OPS);
    CHECK_U64(pieces[1].facts.start_ns, START_NS);
    CHECK(ends_at(START_NS + STEP_NS, 2 * OPS));
}

TEST(no_time_no_cuts)
{
    const uint64_t start[] = {0, 0, 0};
    make_windows(start, 0, 3);
    summary.duration_ns = 0;
    cut_all(0);
    check_ops();
    CHECK_U64(piece_count, 3);
}

/* A recording of 13 ns has points of 1 ns. */
TEST(shorter_than_its_points)
{
    const uint64_t start[] = {0};
    make_windows(start, 0, 1);
    summary.duration_ns = 13;
    cut_all(0);
    check_ops();
    CHECK(piece_count <= 14);
    CHECK_U64(pieces[piece_count - 1].facts.end_ns, 13);
}

/* Nothing that a file may say of its times keeps it from ending, or lets an op fall out. */
TEST(wild_times)
{
    static const uint64_t starts[][3] = {{UINT64_MAX, UINT64_MAX, UINT64_MAX},
                                         {UINT64_MAX - 5, 3, 0},
                                         {0, UINT64_MAX, 1},
                                         {0, UINT64_MAX / 2, UINT64_MAX - 1}};
    static const uint64_t durations[] = {1, 199, 201, SPAN_NS, UINT64_MAX / 2, UINT64_MAX - 1, UINT64_MAX};
    for (size_t i = 0; i < COUNT_OF(starts); i++) {
        for (size_t k = 0; k < COUNT_OF(durations); k++) {
            make_windows(starts[i], 0, 3);
            times_ns[1] = UINT64_MAX; /* and back again */
            summary.duration_ns = durations[k];
            cut_all(0);
            check_ops();
        }
    }
}
