/* test_replay_presence - what other work takes is told from what a thread waits for, and neither from work of its own. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <time.h>

#include "harness.h"
#include "replay/clock/real.h"

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
    (void)unused;
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
