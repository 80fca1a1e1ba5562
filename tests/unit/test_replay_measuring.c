/* test_replay_measuring.c - histograms beside the sorted values themselves, absences of a thread, and memory that is present before anything is
 * measured. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include "replay/base/own_process.h"
#include "replay/clock/real.h"
#include "replay/exec/latency_pass.h"
#include "unit/harness.h"
#include "unit/random.h"

#define VALUES 50000u

static uint64_t seed = 7;

static uint64_t pick(void)
{
    return test_random(&seed) >> 20;
}

static int by_value(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

TEST(buckets_are_adjacent_and_narrow)
{
    CHECK_U64(rep_histogram_low(0), 0);
    for (uint32_t i = 0; i < REP_HISTOGRAM_BUCKETS; i++) {
        const uint64_t low = rep_histogram_low(i), next = rep_histogram_low(i + 1);
        CHECK(next > low);
        CHECK_U64(rep_histogram_bucket(low), i);
        CHECK_U64(rep_histogram_bucket(next - 1), i);
        CHECK(next - low == 1 || (next - low) << REP_HISTOGRAM_BITS <= low);
    }
    CHECK_U64(rep_histogram_low(REP_HISTOGRAM_BUCKETS), UINT64_C(1) << REP_HISTOGRAM_VALUES);
    CHECK_U64(rep_histogram_bucket(UINT64_MAX), REP_HISTOGRAM_BUCKETS - 1);
}

/* Values over 30 powers of two, as latencies are. */
TEST(percentiles_are_within_the_stated_error)
{
    static struct rep_histogram histogram;
    static uint64_t values[VALUES];
    static const double SHARES[] = {0, 0.001, 0.5, 0.9, 0.99, 0.999, 1};
    uint64_t sum = 0;
    for (uint32_t i = 0; i < VALUES; i++) {
        values[i] = pick() >> (14 + pick() % 30);
        sum += values[i];
        rep_histogram_add(&histogram, values[i]);
    }
    qsort(values, VALUES, sizeof values[0], by_value);
    CHECK_U64(histogram.count, VALUES);
    CHECK_U64(histogram.sum, sum);
    CHECK_U64(histogram.max, values[VALUES - 1]);
    CHECK(rep_histogram_mean(&histogram) == (double)sum / VALUES);
    for (size_t i = 0; i < COUNT_OF(SHARES); i++) {
        const double exact_rank = SHARES[i] * VALUES;
        size_t rank = (size_t)exact_rank;
        rank += (double)rank < exact_rank || rank == 0;
        const double exact = (double)values[rank - 1];
        const double found = rep_histogram_percentile(&histogram, SHARES[i]);
        const double error = found > exact ? found - exact : exact - found;
        if (error > 0.5 + exact * REP_HISTOGRAM_REL_ERR)
            HARNESS_FAIL("percentile %g is %g, exactly %g", SHARES[i], found, exact);
    }
}

TEST(the_largest_is_not_exceeded)
{
    static struct rep_histogram histogram;
    CHECK(rep_histogram_percentile(&histogram, 0.5) == 0);
    CHECK(rep_histogram_mean(&histogram) == 0);
    rep_histogram_add(&histogram, 1000000);
    CHECK(rep_histogram_percentile(&histogram, 0.999) <= 1000000);
    rep_histogram_add(&histogram, UINT64_C(1) << 50); /* beyond the buckets */
    CHECK(rep_histogram_percentile(&histogram, 1) == (double)(UINT64_C(1) << 50));
    CHECK_U64(histogram.max, UINT64_C(1) << 50);
}

TEST(a_merge_is_as_if_all_had_been_added_to_one)
{
    static struct rep_histogram all, left, right;
    for (uint32_t i = 0; i < 1000; i++) {
        const uint64_t value = pick() >> (pick() % 44);
        rep_histogram_add(&all, value);
        rep_histogram_add(i % 3 == 0 ? &left : &right, value);
    }
    rep_histogram_merge(&left, &right);
    CHECK(memcmp(&left, &all, sizeof all) == 0);
}

#define MS UINT64_C(1000000)

static struct rep_clock clock_;

TEST(only_an_absence_without_a_wait_is_preempted)
{
    struct rep_absence absence = {0};
    rep_absence_add(&absence, 10 * MS, 6 * MS, false);
    rep_absence_add(&absence, 10 * MS, 7 * MS, true);
    rep_absence_add(&absence, 10 * MS, 10 * MS - 9000, false); /* two clocks and their rates: no absence */
    rep_absence_add(&absence, 1000, 0, false);
    rep_absence_add(&absence, 5 * MS, 5 * MS + 500, false); /* the processor's was read outside the wall's */
    CHECK_U64(absence.preempted_ns, 4 * MS);
    CHECK_U64(absence.blocked_ns, 3 * MS);
}

TEST(timed_code_has_its_share_of_an_absence)
{
    const struct rep_absence absence = {.span_ticks = 1000, .preempted_ns = 4 * MS};
    CHECK_U64(rep_absence_preempted_ns(&absence, 250), MS);
    CHECK_U64(rep_absence_preempted_ns(&absence, 1001), 4 * MS);
    CHECK_U64(rep_absence_preempted_ns(&(struct rep_absence){0}, 0), 0);
}

TEST(a_thread_that_sleeps_is_blocked)
{
    struct rep_absence absence = {0};
    const struct timespec time = {.tv_nsec = 5 * MS};
    const struct rep_presence begun = rep_presence_begin(&clock_);
    CHECK(clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL) == 0);
    rep_presence_end(&clock_, &begun, &absence);
    CHECK(absence.blocked_ns >= 4 * MS);
    CHECK_U64(absence.preempted_ns, 0);
    CHECK(absence.span_ticks > 0);
}

/* ---- two threads on one processor ----------------------------------------------------------- */

static atomic_bool over;

static void *keep_busy(void *unused)
{
    while (!atomic_load_explicit(&over, memory_order_relaxed))
        continue;
    return NULL;
}

static long losses(void)
{
    struct rusage usage;
    CHECK(getrusage(RUSAGE_THREAD, &usage) == 0);
    return usage.ru_nivcsw;
}

TEST(a_thread_that_lost_its_processor_is_preempted)
{
    cpu_set_t one, before;
    pthread_t other;
    struct rep_absence absence = {0};
    CHECK(sched_getaffinity(0, sizeof before, &before) == 0);
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        SKIP("the processor cannot be chosen here");
    CHECK(pthread_create(&other, NULL, keep_busy, NULL) == 0); /* inherits the processor */
    const struct rep_presence begun = rep_presence_begin(&clock_);
    const long first = losses();
    while (losses() < first + 3)
        continue;
    rep_presence_end(&clock_, &begun, &absence);
    atomic_store(&over, true);
    CHECK(pthread_join(other, NULL) == 0);
    (void)sched_setaffinity(0, sizeof before, &before); /* it was so */
    CHECK(absence.preempted_ns > 0);
    CHECK_U64(absence.blocked_ns, 0);
}

PREPARE
{
    rep_clock_init(&clock_);
}

TEST(mappings_are_present)
{
    unsigned char present[16];
    char *memory = rep_storage_map(15, 4096);
    CHECK(memory != NULL);
    CHECK_U64(mincore(memory, 15 * 4096, present), 0);
    for (unsigned i = 0; i < 15; i++) {
        CHECK(present[i] & 1);
        CHECK_U64(memory[i * 4096], 0);
    }
    rep_storage_unmap(memory, 15, 4096);
    memory = rep_storage_map(0, 8);
    CHECK(memory != NULL);
    rep_storage_unmap(memory, 0, 8);
    rep_storage_unmap(NULL, 1, 8);
}

TEST(absurd_sizes_are_refused)
{
    CHECK(rep_storage_map(SIZE_MAX, 16) == NULL);
    CHECK(rep_storage_map(SIZE_MAX, 1) == NULL);
    CHECK(rep_storage_map((size_t)1 << 50, 1) == NULL);
}

TEST(stacks_are_distinct)
{
    enum { COUNT = 5 };
    struct rep_stacks stacks;
    char *taken[COUNT];
    uint32_t numbers[COUNT], again;
    CHECK(rep_stacks_init(&stacks, COUNT));
    CHECK(stacks.stack_bytes >= REP_STACK_BYTES);
    for (unsigned i = 0; i < COUNT; i++) {
        taken[i] = rep_stacks_take(&stacks, &numbers[i]);
        CHECK(taken[i] != NULL);
        memset(taken[i], 1, stacks.stack_bytes); /* all of it is there, and below it no other stack's */
        for (unsigned j = 0; j < i; j++)
            CHECK(taken[j] + stacks.stack_bytes < taken[i] || taken[i] + stacks.stack_bytes < taken[j]);
    }
    CHECK(rep_stacks_take(&stacks, &again) == NULL);
    rep_stacks_give(&stacks, numbers[3]);
    CHECK(rep_stacks_take(&stacks, &again) == taken[3]);
    CHECK_U64(again, numbers[3]);
}
