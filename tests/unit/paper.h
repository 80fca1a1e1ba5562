/* paper.h - a legal workload that can be changed: windows as they were decoded, since neither writer nor reader would let
 * most changes through. */
#ifndef MALLAB_TESTS_PAPER_H
#define MALLAB_TESTS_PAPER_H

#include "unit/busy.h"
#include "unit/harness.h"
#include "unit/ops_check.h"
#include "unit/readers.h"
#include "unit/scratch.h"

#define WINDOWS_MAX 64u
#define THREADS     5u

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
    struct wl_window window;
    unsigned count = 0;
    write_busy(path, THREADS, 64, 1000);
    WL_READER *reader = wl_opened(path);
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
    bool legal = true;
    CHECK(check_init(&check, &paper->summary));
    for (uint64_t i = 0; i < paper->summary.windows && legal; i++)
        legal = check_window(&check, &paper->windows[i].window, 1000 + i);
    if (legal)
        legal = check_end(&check);
    struct conv_violation violation = check.violation;
    CHECK_U64(legal, violation.fault == CONV_FAULT_NONE);
    check_release(&check);
    return violation;
}

#endif
