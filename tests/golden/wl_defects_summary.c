/* wl_defects_summary.c - damaged workloads: what their summary says of them, and the shares of large objects. */
#include "footprint/base/bytes.h"
#include "footprint/wl/workload.h"
#include "golden/defects.h"

#define HEADER BLOCK_HEADER_BYTES

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

static size_t summary_at(const struct image *image)
{
    return image_find_block(image, BLOCK_SUMMARY, 0);
}

static size_t add_to_summary(struct image *image, unsigned index, uint64_t add)
{
    const size_t at = summary_at(image);
    return image_add_to_number(image, at, 0, index, add);
}

static size_t add_to_thread(struct image *image, unsigned thread, unsigned field, uint64_t add)
{
    const size_t at = summary_at(image);
    return image_add_to_number(image, at, 1, thread * 5 + field, add);
}

/* ---- the summary --------------------------------------------------------------------------- */

static size_t summary_more_ops(struct image *image)
{
    return add_to_summary(image, SUMMARY_OPS, 1);
}

static size_t summary_fewer_windows(struct image *image)
{
    return add_to_summary(image, SUMMARY_WINDOWS, UINT64_MAX);
}

static size_t summary_more_threads(struct image *image)
{
    return add_to_summary(image, SUMMARY_THREADS, 1);
}

static size_t summary_at_once(struct image *image)
{
    return add_to_summary(image, SUMMARY_AT_ONCE, 4);
}

static size_t summary_window_ops(struct image *image)
{
    return add_to_summary(image, SUMMARY_WINDOW_OPS, 1);
}

static size_t summary_calls_without_end(struct image *image)
{
    return add_to_summary(image, SUMMARY_CALLS, UINT64_C(1) << 60);
}

static size_t summary_call_counts(struct image *image)
{
    return add_to_summary(image, SUMMARY_FIRST_CALL + FP_CALL_FREE, 1);
}

static size_t id_max_huge(struct image *image)
{
    return add_to_summary(image, SUMMARY_ID_MAX, UINT64_C(1) << 40);
}

static size_t id_max_above_ops(struct image *image)
{
    return add_to_summary(image, SUMMARY_ID_MAX, 301);
}

static size_t header_more_threads(struct image *image)
{
    const size_t at = summary_at(image);
    put_u32(image->bytes + at + 12, WL_THREADS_MAX + 1);
    image_seal_block(image, at);
    return at;
}

static size_t second_main_thread(struct image *image)
{
    return add_to_thread(image, 0, 1, 1);
}

static size_t thread_beyond_windows(struct image *image)
{
    return add_to_thread(image, 3, 4, 1000);
}

static size_t thread_ops_sum(struct image *image)
{
    return add_to_thread(image, 2, 2, 1);
}

/* What follows agrees with itself; only the windows show the lie. Returns the offset of the window that does. */

static size_t refused_in(const struct image *image, unsigned window)
{
    return image_find_block(image, BLOCK_WINDOW, window) + HEADER;
}

static size_t thread_ops_moved(struct image *image)
{
    (void)add_to_thread(image, 0, 2, UINT64_MAX - 59); /* 60 fewer, which thread 1 gets */
    (void)add_to_thread(image, 1, 2, 60);
    return refused_in(image, 0);
}

static size_t id_max_too_small(struct image *image)
{
    (void)add_to_summary(image, SUMMARY_LIVE_OBJECTS_PEAK, UINT64_MAX - 3);
    (void)add_to_summary(image, SUMMARY_ID_MAX, UINT64_MAX - 6);
    return refused_in(image, 2); /* ids 23 to 33 are first given there */
}

static size_t largest_too_small(struct image *image)
{
    (void)add_to_summary(image, SUMMARY_LARGEST, UINT64_MAX);
    return refused_in(image, 4);
}

static size_t live_peak_too_small(struct image *image)
{
    (void)add_to_summary(image, SUMMARY_LIVE_BYTES_PEAK, UINT64_MAX);
    return refused_in(image, 4);
}

static size_t duration_too_short(struct image *image)
{
    (void)add_to_summary(image, SUMMARY_DURATION, UINT64_MAX - 63);
    return refused_in(image, 4);
}

static size_t live_end_differs(struct image *image)
{
    (void)add_to_summary(image, SUMMARY_LIVE_BYTES_END, 1);
    return image_find_block(image, BLOCK_WINDOW, 4);
}

/* Shares of large objects: all gaps made 1 but one, so they are of op 4 and those behind it. */

static size_t touched_gaps(struct image *image, unsigned at, uint8_t gap)
{
    uint8_t gaps[18] = {0};
    memset(gaps + 1, 1, sizeof gaps - 1);
    gaps[at] = gap;
    return defect_column(image, BLOCK_TOUCHED, 0, 0, gaps, sizeof gaps) + HEADER;
}

static size_t touched_twice(struct image *image)
{
    return touched_gaps(image, 3, 0);
}

static size_t touched_beyond_ops(struct image *image)
{
    return touched_gaps(image, 17, 100);
}

static size_t touched_too_few_shares(struct image *image)
{
    return defect_column(image, BLOCK_TOUCHED, 0, 1, "123", 3) + HEADER;
}

static size_t touched_of_release(struct image *image)
{
    (void)touched_gaps(image, 17, 6);
    return image_find_block(image, BLOCK_WINDOW, 2);
}

static size_t touched_out_of_order(struct image *image)
{
    const size_t at = image_find_block(image, BLOCK_TOUCHED, 0);
    image->bytes[at + 24] = 1; /* its sequence */
    image_seal_block(image, at);
    return at;
}

#define TOUCHED "touched.wl"
#define THREADS "threads.wl"

const struct defect WL_TOUCHED_DEFECTS[] = {
    {"touched-twice.wl", TOUCHED, "open", FP_ERR_CORRUPT, touched_twice},
    {"touched-beyond-ops.wl", TOUCHED, "open", FP_ERR_CORRUPT, touched_beyond_ops},
    {"touched-too-few-shares.wl", TOUCHED, "open", FP_ERR_CORRUPT, touched_too_few_shares},
    {"touched-of-release.wl", TOUCHED, "window", FP_ERR_CORRUPT, touched_of_release},
    {"touched-out-of-order.wl", TOUCHED, "open", FP_ERR_CORRUPT, touched_out_of_order},
    {0},
};

const struct defect WL_SUMMARY_DEFECTS[] = {
    {"summary-more-ops.wl", THREADS, "open", FP_ERR_CORRUPT, summary_more_ops},
    {"summary-fewer-windows.wl", THREADS, "open", FP_ERR_CORRUPT, summary_fewer_windows},
    {"summary-more-threads.wl", THREADS, "open", FP_ERR_CORRUPT, summary_more_threads},
    {"summary-at-once.wl", THREADS, "open", FP_ERR_CORRUPT, summary_at_once},
    {"summary-window-ops.wl", THREADS, "open", FP_ERR_CORRUPT, summary_window_ops},
    {"summary-calls-without-end.wl", THREADS, "open", FP_ERR_CORRUPT, summary_calls_without_end},
    {"summary-call-counts.wl", THREADS, "open", FP_ERR_CORRUPT, summary_call_counts},
    {"id-max-huge.wl", THREADS, "open", FP_ERR_CORRUPT, id_max_huge},
    {"id-max-above-ops.wl", THREADS, "open", FP_ERR_CORRUPT, id_max_above_ops},
    {"header-more-threads.wl", THREADS, "open", FP_ERR_CORRUPT, header_more_threads},
    {"second-main-thread.wl", THREADS, "open", FP_ERR_CORRUPT, second_main_thread},
    {"thread-beyond-windows.wl", THREADS, "open", FP_ERR_CORRUPT, thread_beyond_windows},
    {"thread-ops-sum.wl", THREADS, "open", FP_ERR_CORRUPT, thread_ops_sum},
    {"thread-ops-moved.wl", THREADS, "window", FP_ERR_CORRUPT, thread_ops_moved},
    {"id-max-too-small.wl", THREADS, "window", FP_ERR_CORRUPT, id_max_too_small},
    {"largest-too-small.wl", THREADS, "window", FP_ERR_CORRUPT, largest_too_small},
    {"live-peak-too-small.wl", THREADS, "window", FP_ERR_CORRUPT, live_peak_too_small},
    {"duration-too-short.wl", THREADS, "window", FP_ERR_CORRUPT, duration_too_short},
    {"live-end-differs.wl", THREADS, "window", FP_ERR_CORRUPT, live_end_differs},
    {0},
};
