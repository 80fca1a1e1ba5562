/* paper.h - a legal workload that can be changed: windows as they were decoded, since neither writer nor reader would let
 * most changes through. */
#ifndef MALLAB_TESTS_PAPER_H
#define MALLAB_TESTS_PAPER_H

#include "unit/harness.h"
#include "unit/ops_check.h"
#include "unit/random.h"
#include "unit/scratch.h"

#define WINDOWS_MAX 64u
#define THREADS     5u

static uint64_t paper_random;

static inline uint64_t random_below(uint64_t bound)
{
    return test_random(&paper_random) % bound;
}

/* Five threads that hand objects to each other, in windows of 64 ops. */
static inline void write_busy(const char *path)
{
    const struct wl_writer_options options = {.window_ops = 64};
    struct wl_writer *writer = NULL;
    uint32_t live[64], live_count = 0, thread;
    uint64_t bytes[64], now = 0;
    paper_random = 5;
    CHECK_U64(wl_writer_create(path, true, &options, NULL, 0, NULL, &writer), FP_OK);
    for (uint32_t i = 0; i < THREADS; i++)
        CHECK_U64(wl_writer_thread(writer, 100 + i, i == 0, &thread), FP_OK);
    for (uint32_t i = 0; i < 1000; i++) {
        const uint64_t choice = random_below(4);
        const uint32_t victim = live_count > 0 ? (uint32_t)random_below(live_count) : 0;
        struct fp_shape shape = {FP_CALL_MALLOC, 1 + random_below(500), 0};
        enum fp_status status;
        /* Thread 4 comes late and goes early. */
        thread = (uint32_t)random_below(i > 300 && i < 500 ? THREADS : THREADS - 1);
        now += 200;
        if (live_count == 0 || (choice < 2 && live_count < 64)) {
            status = wl_writer_allocate(writer, thread, &shape, now, &live[live_count]);
            bytes[live_count++] = shape.size;
        } else if (choice == 2) {
            shape.call = FP_CALL_REALLOC;
            status = wl_writer_resize(writer, thread, &shape, now, live[victim], bytes[victim]);
            bytes[victim] = shape.size;
        } else {
            shape = (struct fp_shape){FP_CALL_FREE, 0, 0};
            status = wl_writer_release(writer, thread, &shape, now, live[victim], bytes[victim]);
            live[victim] = live[--live_count];
            bytes[victim] = bytes[live_count];
        }
        CHECK_U64(status, FP_OK);
    }
    wl_writer_thread_exit(writer, 4);
    CHECK_U64(wl_writer_finish(writer, now + 5000, NULL, NULL, NULL), FP_OK);
}

struct paper {
    struct wl_summary summary;
    struct wl_thread threads[THREADS];
    struct {
        struct wl_window window;
        struct wl_op ops[64];
        struct wl_run runs[64];
        struct wl_wait waits[64];
        uint64_t times_ns[8];
        struct wl_noted noted[64];
    } windows[WINDOWS_MAX];
};

static inline void paper_point_to_own(struct paper *paper)
{
    paper->summary.threads = paper->threads;
    for (unsigned i = 0; i < WINDOWS_MAX; i++) {
        paper->windows[i].window.ops = paper->windows[i].ops;
        paper->windows[i].window.runs = paper->windows[i].runs;
        paper->windows[i].window.waits = paper->windows[i].waits;
        paper->windows[i].window.times_ns = paper->windows[i].times_ns;
        paper->windows[i].window.noted = paper->windows[i].noted;
    }
}

static inline void paper_read(struct paper *paper)
{
    const char *path = scratch_path("busy.wl");
    struct wl_reader *reader = NULL;
    struct wl_window window;
    unsigned count = 0;
    write_busy(path);
    CHECK_U64(wl_reader_open(path, NULL, &reader), FP_OK);
    paper->summary = *wl_reader_summary(reader);
    memcpy(paper->threads, paper->summary.threads, sizeof paper->threads);
    for (; wl_reader_next(reader, &window) == FP_OK && count < WINDOWS_MAX; count++) {
        paper->windows[count].window = window;
        memcpy(paper->windows[count].ops, window.ops, window.op_count * sizeof *window.ops);
        memcpy(paper->windows[count].runs, window.runs, window.run_count * sizeof *window.runs);
        memcpy(paper->windows[count].waits, window.waits, window.wait_count * sizeof *window.waits);
        memcpy(paper->windows[count].times_ns, window.times_ns, window.time_count * sizeof *window.times_ns);
        memcpy(paper->windows[count].noted, window.noted, window.noted_count * sizeof *window.noted);
    }
    CHECK_U64(count, paper->summary.windows);
    wl_reader_close(reader);
}

/* paper_load - that of write_busy, unchanged. */
static inline void paper_load(struct paper *paper)
{
    static struct paper unchanged;
    if (unchanged.summary.windows == 0)
        paper_read(&unchanged);
    *paper = unchanged;
    paper_point_to_own(paper);
}

/* paper_judge - what the checker says. */
static inline struct conv_violation paper_judge(const struct paper *paper)
{
    struct check check;
    struct conv_violation violation;
    bool legal = true;
    CHECK(check_init(&check, &paper->summary));
    for (uint64_t i = 0; i < paper->summary.windows && legal; i++)
        legal = check_window(&check, &paper->windows[i].window, 1000 + i);
    if (legal)
        legal = check_end(&check);
    violation = check.violation;
    CHECK_U64(legal, violation.fault == CONV_FAULT_NONE);
    check_release(&check);
    return violation;
}

#endif
