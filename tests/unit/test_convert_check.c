/* test_convert_check.c - the oracle itself: each change of a legal workload is found, of windows as they are decoded and of patched files. */
#include "convert/check/verify.h"
#include "footprint/wl/window.h"
#include "golden/patch.h"
#include "unit/paper.h"

/* The first op of a window that is of a kind, at or after index `from`. */
static struct wl_op *find_op(struct paper *paper, unsigned window, enum fp_call_kind kind)
{
    for (unsigned i = 0; i < 64; i++)
        if (fp_call_kind_of(paper->windows[window].ops[i].call) == kind)
            return &paper->windows[window].ops[i];
    abort(); /* the seed is fixed */
}

static uint32_t live_id(struct paper *paper, unsigned window)
{
    return find_op(paper, window, FP_KIND_RELEASE)->id;
}

/* ---- one change each ---------------------------------------------------------------------------- */

#define W(field) paper->windows[3].window.field

static void two_hands(struct paper *paper)
{
    find_op(paper, 3, FP_KIND_ALLOCATE)->id = live_id(paper, 4); /* alive meanwhile, or the test says so */
}

/* A release names what the release before it did. */
static void release_again(struct paper *paper)
{
    struct wl_op *ops = paper->windows[3].ops, *before = NULL;
    for (unsigned i = 0; i < 64; i++) {
        if (fp_call_kind_of(ops[i].call) == FP_KIND_RELEASE && before != NULL) {
            ops[i].id = before->id;
            return;
        }
        if (fp_call_kind_of(ops[i].call) == FP_KIND_RELEASE)
            before = &ops[i];
        else if (before != NULL && ops[i].id == before->id)
            before = NULL; /* it was taken again */
    }
    abort(); /* the seed is fixed */
}

static void resize_of_dead(struct paper *paper)
{
    struct wl_op *op = find_op(paper, 0, FP_KIND_RESIZE);
    op->id = paper->summary.id_max; /* not in use so early */
}

static void id_beyond(struct paper *paper)
{
    find_op(paper, 3, FP_KIND_ALLOCATE)->id = paper->summary.id_max + 1;
}

static void no_call(struct paper *paper)
{
    paper->windows[3].ops[5].call = FP_MARK_GAP;
}

static void wait_for_itself(struct paper *paper)
{
    paper->windows[3].waits[2].on = paper->windows[3].waits[2].op;
}

static void wait_for_own(struct paper *paper)
{
    W(run_count) = 1; /* all ops are one thread's now */
    paper->windows[3].runs[0].op_count = 64;
}

static void time_falls(struct paper *paper)
{
    paper->windows[3].times_ns[2] = paper->windows[3].times_ns[1] - 64;
}

static void window_overlaps(struct paper *paper)
{
    W(facts).start_ns = paper->windows[2].window.facts.end_ns - 64;
}

static void window_ends_early(struct paper *paper)
{
    W(facts).end_ns = paper->windows[3].times_ns[3] - 64;
}

static void window_ends_late(struct paper *paper)
{
    W(facts).end_ns = paper->summary.duration_ns + 64;
}

static void waits_out_of_turn(struct paper *paper)
{
    const struct wl_wait first = paper->windows[3].waits[0];
    paper->windows[3].waits[0] = paper->windows[3].waits[1];
    paper->windows[3].waits[1] = first;
}

static void run_too_long(struct paper *paper)
{
    paper->windows[3].runs[W(run_count) - 1].op_count++;
}

static void no_waits(struct paper *paper)
{
    W(wait_count) = 0;
}

static void run_empty(struct paper *paper)
{
    paper->windows[3].runs[0].op_count = 0;
}

#define NOWHERE 99u /* not about a window */

/* What is changed: by a function, a number by so much, or a member of the first op of a kind in window 3, which becomes n. */
#define BY(change)    change, 0, 0, 0, 0
#define OF(member, n) NULL, 0, offsetof(struct paper, member), sizeof(((struct paper *)NULL)->member), n
#define OP(kind, member, n)                                                                                  \
    NULL, FP_KIND_##kind, offsetof(struct wl_op, member), sizeof(((struct wl_op *)NULL)->member), n
#define IN(member, n) OF(windows[3].window.member, n)

static const struct {
    const char *name;
    void (*change)(struct paper *paper);
    int kind; /* 0: of no op */
    size_t at, bytes;
    int64_t add;
    enum conv_fault fault;
    unsigned window;
    bool has_op;
} CHANGES[] = {
    {"two_hands", BY(two_hands), CHECK_TWO_HANDS, 3, true},
    {"release_again", BY(release_again), CHECK_RELEASE_OF_DEAD, 3, true},
    {"resize_of_dead", BY(resize_of_dead), CHECK_RESIZE_OF_DEAD, 0, true},
    {"allocate_null", OP(ALLOCATE, id, 0), CHECK_ID, 3, true},
    {"id_beyond", BY(id_beyond), CHECK_ID, 3, true},
    {"resize_null", OP(RESIZE, id, 0), CHECK_RESIZE_OF_DEAD, 3, true},
    {"no_call", BY(no_call), CHECK_CALL, 3, true},
    {"fresh_free", OP(RELEASE, align_log2, WL_OP_FRESH), CHECK_CALL, 3, true},
    {"huge", OP(ALLOCATE, size, INT64_C(1) << 48), CHECK_CALL, 3, true},
    {"wait_for_itself", BY(wait_for_itself), CHECK_WAIT, 3, true},
    {"wait_for_own", BY(wait_for_own), CHECK_WAIT, 3, true},
    {"waits_out_of_turn", BY(waits_out_of_turn), CHECK_WAIT, 3, false},
    {"no_waits", BY(no_waits), CHECK_RACE, 3, true},
    {"time_falls", BY(time_falls), CHECK_TIME, 3, true},
    {"window_overlaps", BY(window_overlaps), CHECK_TIME, 3, false},
    {"window_ends_early", BY(window_ends_early), CHECK_TIME, 3, true},
    {"window_ends_late", BY(window_ends_late), CHECK_TIME, 3, false},
    {"live_bytes", IN(facts.live_bytes, 1), CONV_FAULT_FACTS, 3, false},
    {"live_objects", IN(facts.live_objects, -1), CONV_FAULT_FACTS, 3, false},
    {"peak", IN(facts.live_bytes_peak, 1), CONV_FAULT_FACTS, 3, false},
    {"first_op", IN(facts.first_op, 1), CHECK_FRAME, 3, false},
    {"too_many_ops", OF(summary.window_ops_max, -1), CHECK_FRAME, 0, false},
    {"too_few_times", IN(time_count, -1), CHECK_FRAME, 3, false},
    {"run_missing", IN(run_count, -1), CHECK_FRAME, 3, false},
    {"run_too_long", BY(run_too_long), CHECK_FRAME, 3, false},
    {"run_empty", BY(run_empty), CHECK_FRAME, 3, false},
    {"thread_beyond", OF(windows[3].runs[0].thread, THREADS), CONV_FAULT_THREAD, 3, false},
    {"thread_ops", OF(threads[2].ops, 1), CONV_FAULT_THREAD, NOWHERE, false},
    {"thread_begins", OF(threads[4].first_window, -1), CONV_FAULT_THREAD, NOWHERE, false},
    {"thread_ends", OF(threads[4].last_window, 1), CONV_FAULT_THREAD, NOWHERE, false},
    {"second_main", OF(threads[3].is_main, 1), CONV_FAULT_THREAD, NOWHERE, false},
    {"summary_ops", OF(summary.ops, 1), CONV_FAULT_SUMMARY, NOWHERE, false},
    {"requested_bytes", OF(summary.requested_bytes, 1), CONV_FAULT_SUMMARY, NOWHERE, false},
    {"live_bytes_peak", OF(summary.live_bytes_peak, 1), CONV_FAULT_SUMMARY, NOWHERE, false},
    {"live_objects_peak", OF(summary.live_objects_peak, 1), CONV_FAULT_SUMMARY, NOWHERE, false},
    {"live_bytes_end", OF(summary.live_bytes_end, 1), CONV_FAULT_SUMMARY, NOWHERE, false},
    {"live_objects_end", OF(summary.live_objects_end, 1), CONV_FAULT_SUMMARY, NOWHERE, false},
    {"largest_size", OF(summary.largest_size, 1), CONV_FAULT_SUMMARY, NOWHERE, false},
    {"id_max", OF(summary.id_max, 1), CONV_FAULT_SUMMARY, NOWHERE, false},
    {"window_ops_max", OF(summary.window_ops_max, 1), CONV_FAULT_SUMMARY, NOWHERE, false},
    {"threads_at_once_max", OF(summary.threads_at_once_max, 1), CONV_FAULT_SUMMARY, NOWHERE, false},
    {"calls", OF(summary.ops_by_call[FP_CALL_MALLOC], -1), CONV_FAULT_SUMMARY, NOWHERE, false},
};

TEST(each_change_is_found)
{
    static struct paper paper;
    paper_load(&paper);
    CHECK_STR(conv_fault_name(paper_judge(&paper).fault), "none");
    for (size_t i = 0; i < COUNT_OF(CHANGES); i++) {
        paper_load(&paper);
        uint64_t number = 0;
        if (CHANGES[i].change != NULL)
            CHANGES[i].change(&paper);
        char *place = CHANGES[i].kind == 0 ? (char *)&paper
                                           : (char *)find_op(&paper, 3, (enum fp_call_kind)CHANGES[i].kind);
        place += CHANGES[i].at;
        if (CHANGES[i].kind == 0)
            memcpy(&number, place, CHANGES[i].bytes);
        number += (uint64_t)CHANGES[i].add;
        memcpy(place, &number, CHANGES[i].bytes);
        struct conv_violation violation = paper_judge(&paper);
        if (violation.fault != CHANGES[i].fault)
            HARNESS_FAIL("%s is found as %u: %s", CHANGES[i].name, (unsigned)violation.fault, violation.what);
        CHECK_U64(violation.has_window, CHANGES[i].window != NOWHERE);
        CHECK_U64(violation.has_op, CHANGES[i].has_op);
        if (violation.has_window) {
            CHECK_U64(violation.window, CHANGES[i].window);
            CHECK_U64(violation.offset, 1000 + CHANGES[i].window);
        }
        if (violation.has_op)
            CHECK_U64(violation.op, 64 * violation.window + violation.op_in_window);
    }
}

/* ---- files ------------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    unsigned type, block, column, index;
    uint64_t add;
    const char *fault;
    bool has_op;
    const char *what; /* begins with it; NULL: the reader's words */
} PATCHES[] = {
    {"window's live bytes", BLOCK_WINDOW, 3, WINDOW_FACTS, 1, UINT64_MAX, "facts", false,
     "live bytes at its end: "},
    {"window's peak", BLOCK_WINDOW, 3, WINDOW_FACTS, 3, 1, "facts", false, "most live bytes within it: "},
    {"window's live objects", BLOCK_WINDOW, 3, WINDOW_FACTS, 2, 1, "refused", false, NULL},
    {"a wait for an op before", BLOCK_WINDOW, 3, WINDOW_WAITS, 1, 1, "refused", true, NULL},
    {"an object of another op", BLOCK_WINDOW, 3, WINDOW_IDS, 0, 1, "refused", true, NULL},
    {"time beyond the window", BLOCK_WINDOW, 3, WINDOW_TIMES, 3, 100000, "refused", false, NULL},
    {"bytes requested", BLOCK_SUMMARY, 0, 0, 3, 1, "summary", false, "bytes requested: "},
    {"peak of live bytes", BLOCK_SUMMARY, 0, 0, 4, 1, "summary", false, "live bytes at the peak: "},
    {"peak of live objects", BLOCK_SUMMARY, 0, 0, 5, UINT64_MAX, "refused", false, NULL},
    {"live bytes at the end", BLOCK_SUMMARY, 0, 0, 6, 1, "refused", false, NULL},
    {"largest request", BLOCK_SUMMARY, 0, 0, 8, 1, "summary", false, "bytes of the largest request: "},
    {"highest object", BLOCK_SUMMARY, 0, 0, 9, 1, "summary", false, "highest object: "},
    {"threads at once", BLOCK_SUMMARY, 0, 0, 12, UINT64_MAX, "summary", false, "threads at once: 5, not 4"},
    {"a thread's last window", BLOCK_SUMMARY, 0, 1, 4 * 5 + 4, 1, "thread", false,
     "a thread's last window: "},
    {"a thread's first window", BLOCK_SUMMARY, 0, 1, 4 * 5 + 3, UINT64_MAX, "thread", false,
     "a thread's first window: "},
};

TEST(each_patched_file_is_found)
{
    const char *wl = scratch_path("legal.wl"), *bad = scratch_path("bad.wl");
    static struct conv_verdict verdict;
    static struct conv_error error;
    write_busy(wl, THREADS, 64, 1000);
    CHECK_U64(conv_verify_file(wl, NULL, &verdict, &error), FP_OK);
    CHECK_STR(verdict.violation.what, "");
    CHECK_U64(verdict.ops, 1000);
    CHECK_U64(verdict.windows, 16);
    CHECK(verdict.waits > 100 && verdict.allocations > 300 && verdict.threads == THREADS);
    for (size_t i = 0; i < COUNT_OF(PATCHES); i++) {
        OWNED(image) image = {0};
        CHECK(image_load(&image, wl));
        size_t at = image_find_block(&image, PATCHES[i].type, PATCHES[i].block);
        (void)image_add_to_number(&image, at, PATCHES[i].column, PATCHES[i].index, PATCHES[i].add);
        CHECK(image_store(&image, bad));
        CHECK_U64(conv_verify_file(bad, NULL, &verdict, &error), FP_OK);
        if (strcmp(conv_fault_name(verdict.violation.fault), PATCHES[i].fault) != 0)
            HARNESS_FAIL("%s is found as %s: %s", PATCHES[i].name, conv_fault_name(verdict.violation.fault),
                         verdict.violation.what);
        if (PATCHES[i].what != NULL &&
            strncmp(verdict.violation.what, PATCHES[i].what, strlen(PATCHES[i].what)) != 0)
            HARNESS_FAIL("%s: '%s' is said, not '%s'", PATCHES[i].name, verdict.violation.what,
                         PATCHES[i].what);
        if (verdict.violation.has_op != PATCHES[i].has_op)
            HARNESS_FAIL("%s: op known: %d, %s", PATCHES[i].name, verdict.violation.has_op,
                         verdict.violation.what);
        if (PATCHES[i].type == BLOCK_WINDOW) {
            CHECK_U64(verdict.violation.window, PATCHES[i].block);
            CHECK(verdict.violation.offset >= at && verdict.violation.offset <= at + BLOCK_HEADER_BYTES);
        }
        CHECK(unlink(bad) == 0);
    }
    CHECK_U64(conv_verify_file(scratch_path("none.wl"), NULL, &verdict, &error), FP_ERR_OPEN);
}

/* 0 makes an object, 1 waits for that, 2 waits for 1 and releases it. */
TEST(orders_by_way_of_a_third_thread_count)
{
    const struct wl_op ops[] = {{.id = 1, .call = FP_CALL_MALLOC, .size = 8},
                                {.id = 2, .call = FP_CALL_MALLOC, .size = 8},
                                {.id = 3, .call = FP_CALL_MALLOC, .size = 8},
                                {.id = 1, .call = FP_CALL_FREE}};
    const struct wl_run runs[] = {{0, 1}, {1, 2}, {2, 1}};
    const struct wl_thread threads[] = {{.ops = 1}, {.ops = 2}, {.ops = 1}};
    const struct wl_summary summary = {
        .id_max = 3, .window_ops_max = 4, .thread_count = 3, .duration_ns = 640, .threads = threads};
    const uint64_t times[] = {0};
    for (uint32_t on = 1; on <= 2; on++) { /* op 1 does not wait for op 0, op 2 does */
        const struct wl_wait waits[] = {{2, 0}, {3, on}};
        const struct wl_window window = {
            .facts = {.live_bytes = 16, .live_objects = 2, .live_bytes_peak = 24},
            .op_count = 4,
            .run_count = 3,
            .wait_count = 2,
            .time_count = 1,
            .ops = ops,
            .runs = runs,
            .waits = waits,
            .times_ns = times};
        OWNED(check) check;
        CHECK(check_init(&check, &summary));
        CHECK_U64(check_window(&check, &window, 0), on == 2);
        CHECK_U64(check.violation.fault, on == 2 ? CONV_FAULT_NONE : CHECK_RACE);
    }
}
