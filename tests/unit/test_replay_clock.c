/* test_replay_clock - recorded time moves with the ops, tells every clock, and wakes sleepers at their moments.
 *
 * The recorded clock begins once in a process: the tests below share it, in their order. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "harness.h"
#include "replay/clock/real.h"
#include "replay/clock/recorded.h"
#include "replay/exec/idle.h"
#include "replay/exec/window_plan.h"
#include "replay/outcome/outcome.h"

#define SECOND REP_SECOND_NS
#define ORIGIN (1000 * SECOND) /* of the recording */

#if defined(__SANITIZE_THREAD__)
#define UNDER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_TSAN 1
#endif
#endif

PREPARE
{
#ifdef UNDER_TSAN
    SKIP(
        "the thread sanitizer does not see the C library's own waits, and takes their locks for taken twice");
#endif
}

TEST(a_step_is_short_in_ops_and_in_time)
{
    uint64_t times[200] = {0};
    CHECK_U64(rep_recorded_step(times, 200), REP_STEP_OPS);
    CHECK_U64(rep_recorded_step(times, 3), 3);
    for (uint64_t i = 0; i < 200; i++)
        times[i] = i * REP_STEP_NS / 4;
    CHECK_U64(rep_recorded_step(times, 200), 5);
    for (uint64_t i = 0; i < 200; i++)
        times[i] = i * SECOND;
    CHECK_U64(rep_recorded_step(times, 200), 1);
}

/* Two threads take turns; times are noted every 16th op, and the last ops reach to the window's end. */
TEST(each_op_has_its_time)
{
    enum { OPS = 40 };
    static struct wl_op ops[OPS];
    static struct wl_thread threads[2] = {{.ops = OPS / 2}, {.ops = OPS / 2}};
    static struct wl_run runs[OPS];
    static const uint64_t times[] = {1600, 3200, 3200};
    struct wl_summary summary = {.window_ops_max = OPS, .thread_count = 2, .id_max = OPS, .threads = threads};
    const struct wl_window window = {.facts = {.start_ns = 1600, .end_ns = 4000},
                                     .op_count = OPS,
                                     .run_count = OPS,
                                     .time_count = 3,
                                     .ops = ops,
                                     .runs = runs,
                                     .times_ns = times};
    for (uint32_t i = 0; i < OPS; i++) {
        ops[i] = (struct wl_op){.id = i + 1, .call = FP_CALL_MALLOC, .size = i + 1};
        runs[i] = (struct wl_run){i % 2, 1};
    }
    for (unsigned serial = 0; serial < 2; serial++) {
        struct rep_plan plan;
        CHECK(rep_plan_init(&plan, &summary, serial != 0, NULL) && rep_plan_keep_times(&plan));
        CHECK_U64(rep_plan_make(&plan, &window), FP_OK);
        for (uint32_t at = 0; at < OPS; at++) {
            const uint32_t op = (uint32_t)plan.ops[at].size - 1;
            const uint64_t expected = op < 16 ? 1600 + op * 100 : op < 32 ? 3200 : 3200 + (op - 32) * 100;
            CHECK_U64(plan.times_ns[at], expected);
        }
    }
}

static uint64_t told(clockid_t clock)
{
    struct timespec now = {0};
    CHECK(rep_recorded_gettime(clock, &now) == 0);
    return rep_timespec_ns(&now);
}

TEST(before_the_begin_the_machine_is_told)
{
    const uint64_t before = rep_real_ns(CLOCK_MONOTONIC);
    const uint64_t now = told(CLOCK_MONOTONIC);
    CHECK(now >= before && now <= rep_real_ns(CLOCK_MONOTONIC));
    CHECK_U64(rep_recorded_asks().asked, 1);
    CHECK_U64(rep_recorded_asks().served, 0);
    rep_recorded_advance(5 * SECOND); /* nothing moves yet */
    CHECK_U64(rep_recorded_now(), 0);
}

/* ---- a sleeper that began before the recorded clock ----------------------------------------- */

#define WAKINGS 12

static struct {
    pthread_t thread;
    uint64_t moments[WAKINGS];
    _Atomic unsigned wakings, signals;
    atomic_bool asleep;
    pthread_mutex_t mutex;
    pthread_cond_t cond, poke;
    atomic_bool stop, hang;
} sleeper = {
    .mutex = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER, .poke = PTHREAD_COND_INITIALIZER};

/* Sleeps by the second, then until it is poked. */
static void *sleeps(void *unused)
{
    pthread_mutex_lock(&sleeper.mutex);
    atomic_store(&sleeper.asleep, true);
    for (unsigned i = 0; i < WAKINGS; i++) {
        while (rep_sleepers_wait(&sleeper.cond, &sleeper.mutex, i == 0 ? 3600 * SECOND : SECOND) != ETIMEDOUT)
            continue;
        sleeper.moments[i] = rep_recorded_now();
        atomic_store(&sleeper.wakings, i + 1);
    }
    while (!atomic_load(&sleeper.stop)) {
        (void)rep_sleepers_wait(&sleeper.poke, &sleeper.mutex, REP_NEVER);
        atomic_fetch_add(&sleeper.signals, 1);
        while (atomic_load(&sleeper.hang))
            rep_real_sleep_until(rep_real_ns(CLOCK_MONOTONIC) + 1000000);
    }
    pthread_mutex_unlock(&sleeper.mutex);
    return NULL;
}

static void start_sleeper(void)
{
    CHECK(pthread_create(&sleeper.thread, NULL, sleeps, NULL) == 0);
    while (rep_sleepers_known() == 0 || rep_sleepers_let_pass(0) == false || !atomic_load(&sleeper.asleep))
        rep_real_sleep_until(rep_real_ns(CLOCK_MONOTONIC) + 1000000);
    pthread_mutex_lock(&sleeper.mutex); /* free only while it waits */
    pthread_mutex_unlock(&sleeper.mutex);
}

TEST(from_the_begin_on_recorded_time_is_told)
{
    const uint64_t monotonic = rep_real_ns(CLOCK_MONOTONIC), realtime = rep_real_ns(CLOCK_REALTIME);
    rep_recorded_worker();
    start_sleeper();
    rep_recorded_begin(ORIGIN);
    const uint64_t start = told(CLOCK_MONOTONIC);
    CHECK(start >= monotonic && start <= rep_real_ns(CLOCK_MONOTONIC));
    CHECK(told(CLOCK_REALTIME) >= realtime && told(CLOCK_REALTIME) <= rep_real_ns(CLOCK_REALTIME));
    CHECK_U64(told(CLOCK_MONOTONIC), start); /* it stands until an op comes */
    rep_recorded_advance(ORIGIN + 10 * SECOND);
    CHECK_U64(told(CLOCK_MONOTONIC), start + 10 * SECOND);
    rep_recorded_advance(ORIGIN + 4 * SECOND); /* another thread's op, of before */
    rep_recorded_advance(3 * SECOND);          /* and of before the begin: a damaged file */
    CHECK_U64(told(CLOCK_MONOTONIC), start + 10 * SECOND);
    CHECK(told(CLOCK_MONOTONIC_COARSE) >= 10 * SECOND && told(CLOCK_MONOTONIC_RAW) >= 10 * SECOND);
    CHECK(told(CLOCK_PROCESS_CPUTIME_ID) <= rep_real_ns(CLOCK_PROCESS_CPUTIME_ID));
    CHECK(rep_recorded_asks().served > 5);
    CHECK(rep_recorded_asks().asked > rep_recorded_asks().served);
    struct timespec now;
    errno = 0;
    CHECK(rep_recorded_gettime(10000, &now) == -1 && errno == EINVAL);
}

TEST(sleepers_wake_at_their_moments)
{
    CHECK_U64(atomic_load(&sleeper.wakings), 0);
    rep_recorded_advance(ORIGIN + 3599 * SECOND);
    CHECK_U64(atomic_load(&sleeper.wakings), 0);
    rep_recorded_advance(ORIGIN + 7200 * SECOND); /* over all its wakings at once */
    CHECK_U64(atomic_load(&sleeper.wakings), WAKINGS);
    /* The first sleep began by the machine's clock, some moments before this one: an hour less those. */
    CHECK(sleeper.moments[0] <= 3600 * SECOND && sleeper.moments[0] > 3599 * SECOND);
    for (unsigned i = 1; i < WAKINGS; i++)
        CHECK_U64(sleeper.moments[i], sleeper.moments[0] + i * SECOND);
    CHECK_U64(rep_recorded_now(), 7200 * SECOND);
    CHECK_U64(rep_sleepers_known(), 1);
    CHECK_U64(rep_sleepers_lost(), 0);
}

static void poke(void)
{
    pthread_mutex_lock(&sleeper.mutex);
    rep_sleepers_signal(&sleeper.poke);
    (void)rep_real_signal(&sleeper.poke);
    pthread_mutex_unlock(&sleeper.mutex);
}

TEST(the_clock_stands_for_who_was_signalled)
{
    for (unsigned i = 1; i <= 50; i++) {
        poke();
        rep_recorded_pass(SECOND);
        CHECK_U64(atomic_load(&sleeper.signals), i);
    }
    CHECK_U64(rep_recorded_now(), 7250 * SECOND);
}

TEST(who_does_not_sleep_again_is_lost)
{
    struct rep_account account;
    rep_account_take(&account, true, true, 2);
    CHECK(rep_account_doubt(&account) == NULL);
    CHECK_U64(account.threads, 1);
    rep_account_take(&account, true, true, 3); /* one that never slept by what is served */
    CHECK_U64(account.unseen, 1);
    CHECK(rep_account_doubt(&account) != NULL);
    rep_sleepers_set_patience(1000000);
    atomic_store(&sleeper.hang, true);
    poke();
    rep_recorded_pass(SECOND);
    CHECK_U64(rep_recorded_now(), 7251 * SECOND);
    CHECK(rep_sleepers_lost() > 0);
    rep_account_take(&account, true, true, 2);
    CHECK(rep_account_doubt(&account) != NULL);
    atomic_store(&sleeper.stop, true);
    atomic_store(&sleeper.hang, false);
    pthread_join(sleeper.thread, NULL);
    CHECK_U64(rep_sleepers_known(), 0);
}

/* ---- rest ----------------------------------------------------------------------------------- */

static unsigned mallocs, frees;

static void *count_malloc(size_t size)
{
    CHECK(size >= 16 && size <= 1024);
    mallocs++;
    return malloc(size);
}

static void count_free(void *object)
{
    frees++;
    free(object);
}

TEST(rest_passes_in_steps)
{
    static void *slots[REP_IDLE_OBJECTS];
    const struct rep_calls calls = {.malloc = count_malloc, .free = count_free};
    const uint64_t start = rep_recorded_now();
    rep_idle(true, &calls, NULL, 3600 * SECOND);
    CHECK_U64(rep_recorded_now() - start, 3600 * SECOND);
    CHECK_U64(mallocs, 0);
    rep_idle(true, &calls, slots, SECOND + 30000000);
    CHECK_U64(rep_recorded_now() - start, 3601 * SECOND + 30000000);
    CHECK_U64(mallocs, 10 * REP_IDLE_OBJECTS);
    rep_idle(true, &calls, slots, 1000);
    CHECK_U64(rep_recorded_now() - start, 3601 * SECOND + 30001000);
    CHECK_U64(mallocs, 11 * REP_IDLE_OBJECTS);
    CHECK_U64(frees, mallocs);
}

/* On the real clock, what asks for the time is not predicted. */
TEST(doubts_are_told)
{
    struct rep_account account = {.has_time = true};
    CHECK(rep_account_doubt(&account) == NULL);
    account.asks.asked = 1;
    CHECK(rep_account_doubt(&account) != NULL);
    account.recorded = true;
    CHECK(rep_account_doubt(&account) == NULL);
}
