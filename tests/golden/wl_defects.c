/* wl_defects.c - damaged workloads. */
#include "footprint/fp/site_model.h"
#include "footprint/wl/window.h"
#include "footprint/wl/workload.h"
#include "golden/defects.h"

#define HEADER  BLOCK_HEADER_BYTES
#define SITES   "sites.wl"
#define TOUCHED "touched.wl"
#define THREADS "threads.wl"
#define PAUSES  "pauses.wl"

/* Numbers of the summary's first column (docs/format.md, "Summary and footer"). */
enum {
    SUMMARY_OPS = 0,
    SUMMARY_WINDOWS = 1,
    SUMMARY_DURATION = 2,
    SUMMARY_LIVE_BYTES_PEAK = 4,
    SUMMARY_LIVE_OBJECTS_PEAK = 5,
    SUMMARY_LIVE_BYTES_END = 6,
    SUMMARY_LARGEST = 8,
    SUMMARY_ID_MAX = 9,
    SUMMARY_WINDOW_OPS = 10,
    SUMMARY_THREADS = 11,
    SUMMARY_AT_ONCE = 12,
    SUMMARY_CALLS = 13,
    SUMMARY_FIRST_CALL = 14,
};
#define OF_ALL(number, add)            NUMBER(IN(BLOCK_SUMMARY, 0, 0), number, add)
#define OF_THREAD(thread, number, add) NUMBER(IN(BLOCK_SUMMARY, 0, 1), (thread)*5 + (number), add)

/* Of the first window, which has 64 ops. */
#define OPS          64
#define FIRST(which) IN(BLOCK_WINDOW, 0, WINDOW_##which)

/* Its ops become: one malloc, then frees named by codes and literals, then mallocs. The shapes are malloc 8, free, realloc 8; `low` is the first
 * ops' shapes. */
#define FREES(low, literals, codes)                                                                          \
    {COLUMN(FIRST(SHAPES), "\1\10\0\5\0\0\3\10\0")}, {PADDED(FIRST(SHAPE_LOW), OPS, low)},                   \
        {COLUMN(FIRST(LITERALS), literals)},                                                                 \
    {                                                                                                        \
        COLUMN(FIRST(IDS), codes)                                                                            \
    }

/* -1 and -2 as varints */
#define MINUS_1 "\377\377\377\377\377\377\377\377\377\1"
#define MINUS_2 "\376\377\377\377\377\377\377\377\377\1"

/* 128 waits of op 63, again and again. */
static void waits_without_end(struct image *image, size_t at, const struct edit *edit)
{
    char waits[256] = {OPS - 1};
    struct edit column = *edit;
    for (size_t i = 1; i < sizeof waits; i += 2)
        waits[i] = 1;
    column.bytes = waits;
    column.size = sizeof waits;
    edit_column(image, at, &column);
}

/* One module: start, bytes, base, number, no build id, a path of one byte. */
#define MODULE(text)                                                                                         \
    {SET(AT(BLOCK_MODULES, 0), 12, 4, 1)},                                                                   \
    {                                                                                                        \
        COLUMN(IN(BLOCK_MODULES, 0, 0), text)                                                                \
    }

const struct defect WL_DEFECTS[] = {
    /* Shares of large objects: the gaps between them are all 1 but one, so they are of op 4 and those behind it. */
    {"touched-twice.wl",
     TOUCHED,
     {{COLUMN(IN(BLOCK_TOUCHED, 0, 0), "\0\1\1\0\1\1\1\1\1\1\1\1\1\1\1\1\1\1")}}},
    {"touched-beyond-ops.wl",
     TOUCHED,
     {{COLUMN(IN(BLOCK_TOUCHED, 0, 0), "\0\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\144")}}},
    {"touched-too-few-shares.wl", TOUCHED, {{COLUMN(IN(BLOCK_TOUCHED, 0, 1), "123")}}},
    {"touched-of-release.wl",
     TOUCHED,
     {{COLUMN(IN(BLOCK_TOUCHED, 0, 0), "\0\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\6")}}},
    {"touched-out-of-order.wl", TOUCHED, {{SET(AT(BLOCK_TOUCHED, 0), 24, 1, 1)}}}, /* its sequence */

    /* Call sites. */
    {"coded-sites-cut.wl", SITES, {{RESIZE(FIRST(SITES), -1)}}},
    {"coded-sites-too-many.wl", SITES, {{RESIZE(FIRST(SITES), 1)}}},
    {"nodes-out-of-order.wl", SITES, {{SET(AT(BLOCK_SITES, 0), 32, 8, 17)}}}, /* its base */
    {"nodes-after-modules.wl",
     SITES,
     {{REPEAT(AT(BLOCK_SITES, 0), BLOCK_SUMMARY)}, {REMOVE(AT(BLOCK_SITES, 0))}}},
    {"module-with-directory.wl", SITES, {MODULE("\1\1\2\0\0\1/")}},
    {"module-with-load-address.wl", SITES, {MODULE("\20\20\2\0\0\1x")}},
    {"module-of-no-length.wl", SITES, {MODULE("\1\0\2\0\0\1x")}},
    {"modules-twice.wl", SITES, {{REPEAT(AT(BLOCK_MODULES, 0), BLOCK_SUMMARY)}}},

    /* The frame. */
    {"truncated-header.wl", THREADS, {{CUT(BEGIN, 40)}}},
    {"foreign.wl", THREADS, {{WRITE(BEGIN, 0, "\177ELF\2\1\1\0")}}},
    {"newer-version.wl", THREADS, {{SET(BEGIN, 8, 2, 99)}}},
    {"header-checksum.wl", THREADS, {{FLIP(BEGIN, 57, 1)}}},
    {"units.wl", THREADS, {{SET(BEGIN, 20, 4, 8)}}},
    {"cut-in-block.wl", THREADS, {{CUT(AT(BLOCK_WINDOW, 2), HEADER + 40)}}},
    {"no-footer.wl", THREADS, {{CUT(END, -(int)WORKLOAD_FOOTER_BYTES)}}},
    {"bytes-after-footer.wl", THREADS, {{INSERT(END, "more")}}},
    {"footer-outside.wl", THREADS, {{FOOTER(BEGIN, -9)}}},
    {"footer-in-header.wl", THREADS, {{FOOTER(BEGIN, 8)}}},
    {"footer-in-window.wl", THREADS, {{FOOTER(AT(BLOCK_WINDOW, 2), 100)}}},
    {"footer-at-window.wl", THREADS, {{FOOTER(AT(BLOCK_WINDOW, 2), 0)}}},
    {"window-without-ops.wl", THREADS, {{SET(AT(BLOCK_WINDOW, 2), 12, 4, 0)}}},
    {"window-beyond-limit.wl", THREADS, {{SET(AT(BLOCK_WINDOW, 2), 12, 4, WL_WINDOW_OPS_MAX + 1)}}},
    {"window-number.wl", THREADS, {{SET(AT(BLOCK_WINDOW, 2), 24, 4, 3)}}},
    {"window-missing.wl", THREADS, {{REMOVE(AT(BLOCK_WINDOW, 1))}}},
    {"window-before-its-time.wl", THREADS, {{SET(AT(BLOCK_WINDOW, 2), 40, 8, 0)}}},
    {"payload-checksum.wl", THREADS, {{FLIP(AT(BLOCK_WINDOW, 1), HEADER + 80, 1)}}},
    {"block-header-checksum.wl", THREADS, {{FLIP(AT(BLOCK_WINDOW, 1), 30, 1)}}},
    {"column-beyond-payload.wl", THREADS, {{TABLE(IN(BLOCK_WINDOW, 1, WINDOW_IDS), 500, 0x7fffffff)}}},
    {"column-raw-huge.wl", THREADS, {{TABLE(IN(BLOCK_WINDOW, 1, WINDOW_FACTS), UINT32_MAX, 3)}}},
    {"window-bomb.wl", THREADS, {{BOMB(IN(BLOCK_WINDOW, 1, WINDOW_WAITS), 64u << 20, 64u << 20)}}},
    {"bomb-in-small-column.wl", THREADS, {{BOMB(IN(BLOCK_WINDOW, 1, WINDOW_WAITS), 4u << 20, 200)}}},
    {"stream-too-small.wl", THREADS, {{BOMB(IN(BLOCK_WINDOW, 1, WINDOW_SHAPE_LOW), 20, 64)}}},
    {"summary-bomb.wl", THREADS, {{BOMB(IN(BLOCK_SUMMARY, 0, 1), 64u << 20, 64u << 20)}}},
    {"meta-bomb.wl", THREADS, {{BOMB(IN(BLOCK_META, 0, 0), 1u << 20, 1u << 20)}}},
    {"meta-without-equals.wl", THREADS, {{COLUMN(IN(BLOCK_META, 0, 0), "program scene\n")}}},
    {"meta-without-end.wl", THREADS, {{COLUMN(IN(BLOCK_META, 0, 0), "program=scene")}}},
    /* Notes that would make the meta text of both places too long together. */
    {"notes-too-long.wl", THREADS, {{BOMB(IN(BLOCK_SUMMARY, 0, 2), META_BYTES_MAX - 8, META_BYTES_MAX - 8)}}},

    /* Ops of the first window. */
    {"id-released-twice.wl", THREADS, {FREES("\0\1\1", "", "\2\2")}},
    {"id-never-given.wl", THREADS, {FREES("\0\1", "\22", "\0")}},  /* 9; only 1 is in use */
    {"id-beyond-all.wl", THREADS, {FREES("\0\1", MINUS_2, "\0")}}, /* 2^31 - 1, cut to 32 bits */
    {"id-before-start.wl", THREADS, {FREES("\0\1", "", "\7")}},
    {"id-beyond-history.wl", THREADS, {FREES("\0\1", "", "\201\200\10")}}, /* WINDOW_HISTORY + 1 */
    {"ids-left-over.wl", THREADS, {FREES("\0\1", "", "\2\1")}},
    {"resize-of-null.wl", THREADS, {FREES("\0\2", "", "\1")}},
    {"shape-out-of-range.wl", THREADS, {{BEHIND(FIRST(SHAPE_LOW), OPS - 1, "\310")}}},
    {"shape-of-no-call.wl", THREADS, {{COLUMN(FIRST(SHAPES), "\63\1\0")}}}, /* a gap, which is no call */
    {"shape-too-large.wl",
     THREADS,
     {{COLUMN(FIRST(SHAPES), "\1\200\200\200\200\200\200\100\0")}}}, /* malloc 2^48 */
    {"shape-product-too-large.wl",                                   /* calloc 2^63, 6 */
     THREADS,
     {{COLUMN(FIRST(SHAPES), "\2\200\200\200\200\200\200\200\200\200\1\6")}}},
    {"alignment-no-power-of-two.wl", THREADS, {{COLUMN(FIRST(SHAPES), "\12\1\30")}}}, /* memalign to 24 */
    {"fresh-malloc.wl", THREADS, {{COLUMN(FIRST(SHAPES), "\201\1\0")}}},
    {"thread-beyond-count.wl", THREADS, {{COLUMN(FIRST(RUNS), "\4\100")}}},
    {"run-too-long.wl", THREADS, {{COLUMN(FIRST(RUNS), "\0\101")}}},
    {"run-empty.wl", THREADS, {{COLUMN(FIRST(RUNS), "\0\0")}}},
    {"run-before-thread-starts.wl", THREADS, {{COLUMN(FIRST(RUNS), "\3\100")}}}, /* thread 3 begins later */
    {"wait-forward.wl", THREADS, {{COLUMN(FIRST(WAITS), "\5\6")}}},              /* op 5 for op -1 */
    {"wait-for-itself.wl", THREADS, {{COLUMN(FIRST(WAITS), "\5\0")}}},
    {"wait-beyond-window.wl", THREADS, {{COLUMN(FIRST(WAITS), "\100\1")}}},
    {"waits-without-end.wl", THREADS, {{waits_without_end, FIRST(WAITS), 0, 0, NULL, 0}}},
    {"waits-missing.wl", THREADS, {{COLUMN(FIRST(WAITS), "")}}},
    {"wait-for-own-thread.wl",
     THREADS,
     {{COLUMN(FIRST(WAITS), "\1\1")}}}, /* thread 0 makes the first nine ops */
    /* Behind the times of the 16th ops: an op's distance to the noted one before, and its time's. */
    {"noted-beyond-ops.wl", PAUSES, {{BEHIND(FIRST(TIMES), 3, "\50\0")}}},
    {"noted-twice.wl", PAUSES, {{BEHIND(FIRST(TIMES), 3, "\5\0\0\1")}}},
    {"noted-has-a-time.wl", PAUSES, {{BEHIND(FIRST(TIMES), 3, "\20\0")}}},
    {"noted-beyond-next.wl", PAUSES, {{BEHIND(FIRST(TIMES), 3, "\5\1")}}},
    {"times-beyond-window.wl", THREADS, {{BEHIND(FIRST(TIMES), 3, MINUS_1)}}},
    {"facts-overflow.wl", THREADS, {{NUMBER(FIRST(FACTS), 0, UINT64_MAX / 2)}}},
    {"facts-live-objects.wl", THREADS, {{NUMBER(IN(BLOCK_WINDOW, 1, WINDOW_FACTS), 2, 1)}}},

    /* The summary. */
    {"summary-more-ops.wl", THREADS, {{OF_ALL(SUMMARY_OPS, 1)}}},
    {"summary-fewer-windows.wl", THREADS, {{OF_ALL(SUMMARY_WINDOWS, UINT64_MAX)}}},
    {"summary-more-threads.wl", THREADS, {{OF_ALL(SUMMARY_THREADS, 1)}}},
    {"summary-at-once.wl", THREADS, {{OF_ALL(SUMMARY_AT_ONCE, 4)}}},
    {"summary-window-ops.wl", THREADS, {{OF_ALL(SUMMARY_WINDOW_OPS, 1)}}},
    {"summary-calls-without-end.wl", THREADS, {{OF_ALL(SUMMARY_CALLS, UINT64_C(1) << 60)}}},
    {"summary-call-counts.wl", THREADS, {{OF_ALL(SUMMARY_FIRST_CALL + FP_CALL_FREE, 1)}}},
    {"id-max-huge.wl", THREADS, {{OF_ALL(SUMMARY_ID_MAX, UINT64_C(1) << 40)}}},
    {"id-max-above-ops.wl", THREADS, {{OF_ALL(SUMMARY_ID_MAX, 301)}}},
    {"header-more-threads.wl", THREADS, {{SET(AT(BLOCK_SUMMARY, 0), 12, 4, WL_THREADS_MAX + 1)}}},
    {"second-main-thread.wl", THREADS, {{OF_THREAD(0, 1, 1)}}},
    {"thread-beyond-windows.wl", THREADS, {{OF_THREAD(3, 4, 1000)}}},
    {"thread-ops-sum.wl", THREADS, {{OF_THREAD(2, 2, 1)}}},
    /* What follows agrees with itself; only the windows show the lie. */
    {"thread-ops-moved.wl",
     THREADS,
     {{OF_THREAD(0, 2, UINT64_MAX - 59)}, {OF_THREAD(1, 2, 60)}}}, /* 60 ops */
    {"id-max-too-small.wl", /* ids 23 to 33 are first given in the third window */
     THREADS,
     {{OF_ALL(SUMMARY_LIVE_OBJECTS_PEAK, UINT64_MAX - 3)}, {OF_ALL(SUMMARY_ID_MAX, UINT64_MAX - 6)}}},
    {"largest-too-small.wl", THREADS, {{OF_ALL(SUMMARY_LARGEST, UINT64_MAX)}}},
    {"live-peak-too-small.wl", THREADS, {{OF_ALL(SUMMARY_LIVE_BYTES_PEAK, UINT64_MAX)}}},
    {"duration-too-short.wl", THREADS, {{OF_ALL(SUMMARY_DURATION, UINT64_MAX - 63)}}},
    {"live-end-differs.wl", THREADS, {{OF_ALL(SUMMARY_LIVE_BYTES_END, 1)}}},
    {0},
};
