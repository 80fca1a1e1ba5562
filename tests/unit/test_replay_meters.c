/* test_replay_meters - resident memory is what this process touched since the start, and nothing else. */
#include <sys/mman.h>

#include "harness.h"
#include "replay/meters/meters.h"

#define MIB UINT64_C(1048576)

/* What the process touches of its own accord while it measures: stacks, buffers of the harness. */
#define SLACK_BYTES (256 * UINT64_C(1024))

#define WINDOWS 4u

static struct rep_meters meters;

static void *touched(size_t bytes)
{
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    /* Small pages, or the kernel might round up what is touched. */
    (void)madvise(memory, bytes, MADV_NOHUGEPAGE);
    for (size_t at = 0; at < bytes; at += 4096)
        ((volatile char *)memory)[at] = 1;
    return memory;
}

static void window_ends(uint64_t start_ns, uint64_t end_ns, uint32_t ops)
{
    const struct wl_window window = {.facts = {.start_ns = start_ns, .end_ns = end_ns, .live_bytes = end_ns},
                                     .op_count = ops};
    rep_meters_window(&meters, &window, 5, 0, 0);
}

static bool is_about(uint64_t actual, uint64_t expected)
{
    const bool is = actual + SLACK_BYTES >= expected && actual <= expected + SLACK_BYTES;
    if (!is)
        fprintf(stderr, "%" PRIu64 " is not about %" PRIu64 "\n", actual, expected);
    return is;
}

TEST(samples_peak_and_mean)
{
    void *before = touched(4 * MIB); /* held at the start: never counted */
    CHECK(rep_meters_init(&meters, WINDOWS));
    rep_meters_start(&meters);
    void *first = touched(8 * MIB);
    window_ends(100, 200, 10);
    void *second = touched(16 * MIB);
    (void)munmap(second, 16 * MIB); /* between samples: only the kernel saw it */
    window_ends(200, 500, 10);
    (void)munmap(first, 8 * MIB);
    window_ends(500, 600, 10);
    rep_meters_stop(&meters);
    CHECK_U64(meters.window_count, 3);
    CHECK(is_about(meters.resident_bytes[0], 8 * MIB));
    CHECK(is_about(meters.resident_bytes[1], 8 * MIB));
    CHECK(is_about(meters.resident_bytes[2], 0));
    CHECK(is_about(meters.end_bytes, 0));
    CHECK(meters.peak_by_kernel);
    CHECK(is_about(meters.peak_bytes, 24 * MIB));
    CHECK(meters.mean_by_time);
    CHECK(is_about((uint64_t)meters.mean_bytes, 8 * MIB * 4 / 5));
    CHECK_U64(meters.live_bytes[1], 500);
    CHECK_U64(meters.time_ns[2], 600);
    CHECK_U64(meters.ticks[0], 5);
    CHECK(meters.faults_minor >= 24 * MIB / 4096);
    (void)munmap(before, 4 * MIB);
}

TEST(mean_over_ops_without_times)
{
    CHECK(rep_meters_init(&meters, WINDOWS));
    rep_meters_start(&meters);
    window_ends(0, 0, 300);
    void *memory = touched(8 * MIB);
    window_ends(0, 0, 100);
    rep_meters_stop(&meters);
    CHECK(!meters.mean_by_time);
    CHECK(is_about((uint64_t)meters.mean_bytes, 2 * MIB));
    (void)munmap(memory, 8 * MIB);
}

TEST(memory_that_shrinks_below_the_start)
{
    void *memory = touched(8 * MIB);
    CHECK(rep_meters_init(&meters, WINDOWS));
    rep_meters_start(&meters);
    (void)munmap(memory, 8 * MIB);
    window_ends(0, 10, 1);
    rep_meters_stop(&meters);
    CHECK_U64(meters.resident_bytes[0], 0);
    CHECK_U64(meters.end_bytes, 0);
}

TEST(more_windows_than_announced)
{
    CHECK(rep_meters_init(&meters, WINDOWS));
    rep_meters_start(&meters);
    for (uint64_t i = 0; i < 6; i++)
        window_ends(i, i + 1, 1);
    rep_meters_stop(&meters);
    CHECK_U64(meters.window_count, 4);
}

TEST(idle_looks_again)
{
    CHECK(rep_meters_init(&meters, WINDOWS));
    rep_meters_start(&meters);
    window_ends(0, 1, 1);
    rep_meters_stop(&meters);
    void *memory = touched(8 * MIB);
    rep_meters_idle(&meters, false);
    CHECK(is_about(meters.idle_bytes, 8 * MIB));
    CHECK_U64(meters.idle_own_bytes, 0);
    CHECK(is_about(meters.end_bytes, 0));
    /* The program is at its end: what calls of the harness leave is the harness' own. */
    rep_meters_idle(&meters, true);
    CHECK(is_about(meters.idle_bytes, 0));
    CHECK(is_about(meters.idle_own_bytes, 8 * MIB));
    (void)munmap(memory, 8 * MIB);
    rep_meters_idle(&meters, true);
    CHECK(is_about(meters.idle_own_bytes, 0));
}

PREPARE
{
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SHADOWED
#endif
#endif
#if defined(SHADOWED) || defined(__SANITIZE_THREAD__)
    SKIP("the thread sanitizer touches shadow memory of its own for every write");
#endif
}
