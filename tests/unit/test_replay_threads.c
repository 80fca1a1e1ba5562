/* test_replay_threads - threads execute every op once, in their order, never before what it waits for.
 *
 * Functions in place of the allocator's check each call. What they note is plain memory on purpose: under
 * the thread sanitizer an order that was only lucky is a reported race. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "harness.h"
#include "replay/exec/exec.h"
#include "replay/exec/slices.h"
#include "replay_windows.h"

#define SEEDS 20u /* enough for orders that are rare: an ended opener that closes one more window */

/* Objects are handed out as addresses of these; a resize gives the next one. */
struct handle {
    uint32_t op;  /* that made it, plus one */
    bool current; /* what the next op on the object must be called with */
};

static struct made *made;
static struct handle handles[SOME_OPS];
static bool executed[SOME_OPS];
static pthread_t runs_on[SOME_THREADS];
static uint32_t executed_by[SOME_THREADS];
static uint64_t windows_seen;
static bool serial;
static pthread_key_t exit_key;
static _Atomic uint32_t threads_exited;
static _Atomic bool exited[SOME_THREADS];

static void note_exit(void *value)
{
    atomic_fetch_add(&threads_exited, 1);
    atomic_store(&exited[(const uint32_t *)value - executed_by], true);
}

/* The last op of a window waits until the next window was asked for, which somebody else must then do. */
static bool insist_on_ahead;
static _Atomic uint32_t windows_asked;
static uint32_t insisted;

/* Whether the others of the window can finish while the thread of its last op does not: several there are, and none
 * waits for it. */
static bool others_go_on(uint32_t window)
{
    const uint32_t first = window * SOME_WINDOW_OPS, thread = made->thread_of[first + SOME_WINDOW_OPS - 1];
    bool others = false;
    for (uint32_t op = first; op < first + SOME_WINDOW_OPS; op++) {
        others |= made->thread_of[op] != thread;
        if (made->wait_on[op] != NO_OP && made->thread_of[made->wait_on[op]] == thread)
            return false;
    }
    return others;
}

static void insist(uint32_t op)
{
    const uint32_t window = op / SOME_WINDOW_OPS;
    const time_t patience = time(NULL) + 60;
    if (op % SOME_WINDOW_OPS != SOME_WINDOW_OPS - 1 || !others_go_on(window))
        return;
    while (atomic_load(&windows_asked) < window + 2) {
        if (time(NULL) > patience) {
            CHECK(!"the next window was prepared");
            insist_on_ahead = false; /* or this would go on for hours */
            return;
        }
        (void)sched_yield();
    }
    insisted++;
}

/* Whoever had ended before a thread's first op is no more: its exit is over. The last of its ops is the one before. */
static void check_former(uint32_t op, uint32_t thread)
{
    for (uint32_t i = 1; i < SOME_THREADS && thread != 0; i++)
        CHECK(i >= thread || atomic_load(&exited[i]));
    for (uint32_t i = 0; i < 100; i++)
        (void)sched_yield(); /* others that may begin do so */
}

/* Every call of the stand-ins comes here, with its op's number. */
static void note(size_t number)
{
    const uint32_t op = (uint32_t)number - 1;
    const uint32_t thread = made->thread_of[op];
    CHECK(!executed[op]);
    executed[op] = true;
    if (made->wait_on[op] != NO_OP)
        CHECK(executed[made->wait_on[op]]);
    if (executed_by[thread]++ == 0) {
        runs_on[thread] = pthread_self();
        (void)pthread_setspecific(exit_key, &executed_by[thread]);
        if (made->brief == 1)
            check_former(op, thread);
    }
    CHECK(pthread_equal(runs_on[thread], pthread_self()));
    if (insist_on_ahead)
        insist(op);
}

static void *begin_handle(size_t number)
{
    struct handle *handle = &handles[number - 1];
    *handle = (struct handle){(uint32_t)number, true};
    return handle;
}

static void end_handle(void *object)
{
    struct handle *handle = object;
    CHECK(handle != NULL && handle->current);
    if (handle != NULL)
        handle->current = false;
}

static void *check_malloc(size_t number)
{
    note(number);
    return begin_handle(number);
}

static void *check_realloc(void *object, size_t number)
{
    note(number);
    end_handle(object);
    return begin_handle(number);
}

static void check_free_sized(void *object, size_t number)
{
    note(number);
    end_handle(object);
}

static struct rep_slices slices;
static bool sliced;
static uint64_t rests_seen;

static enum fp_status next_made(void *context, struct wl_window *ret_window)
{
    return made_next(context, ret_window);
}

static enum fp_status next_window(void *context, struct wl_window *ret_window)
{
    atomic_fetch_add(&windows_asked, 1);
    return sliced ? rep_slices_next(&slices, next_made, context, ret_window) : made_next(context, ret_window);
}

static uint64_t untimed_ops;

/* All threads rest: exactly the ops of the windows so far have been executed. */
static void at_rest(void *context, const struct wl_window *window, const struct rep_window_times *times)
{
    const uint64_t end = window->facts.first_op + window->op_count;
    uint64_t live = 0;
    windows_seen++;
    rests_seen += window->op_count == 0;
    CHECK(end == 0 || executed[end - 1]);
    CHECK(end == SOME_OPS || !executed[end]);
    CHECK(window->op_count == 0 || times->runs > 0);
    CHECK(times->timed == (end > untimed_ops));
    for (uint64_t i = 0; i < end; i++) {
        if (!executed[i])
            HARNESS_FAIL("op %" PRIu64 " was left out", i);
        live += handles[i].current;
    }
    CHECK_U64(live, window->facts.live_objects);
}

__attribute__((noreturn)) static void fail(void *context, const struct rep_failure *failure)
{
    abort();
}

static struct rep_exec_totals run_once(const struct rep_calls *calls, unsigned processors)
{
    static struct rep_clock clock;
    void **slots = calloc(made->summary.id_max + 1, sizeof *slots);
    const struct rep_loop loop = {.calls = *calls, .slots = slots, .touch = REP_TOUCH_NONE};
    const struct rep_exec_options options = {
        .loop = &loop,
        .clock = &clock,
        .summary = &made->summary,
        .untimed_ops = untimed_ops,
        .serial = serial,
        .processors = processors,
        .next = next_window,
        .at_rest = at_rest,
        .fail = fail,
        .context = made,
    };
    struct rep_exec_totals totals = {0};
    rep_clock_init(&clock);
    memset(handles, 0, sizeof handles);
    memset(executed, 0, sizeof executed);
    memset(executed_by, 0, sizeof executed_by);
    for (uint32_t i = 0; i < SOME_THREADS; i++)
        atomic_store(&exited[i], false);
    windows_seen = rests_seen = 0;
    atomic_store(&windows_asked, 0);
    made->next = 0;
    struct rep_exec *exec = rep_exec_init(&options);
    CHECK(exec != NULL);
    CHECK_U64(rep_exec_run(exec), FP_OK);
    rep_exec_end(exec, &totals);
    CHECK(sliced ? windows_seen > SOME_WINDOWS : windows_seen == SOME_WINDOWS);
    CHECK_U64(totals.ops, SOME_OPS);
    free(slots);
    return totals;
}

static const struct rep_calls CHECKING = {
    .malloc = check_malloc,
    .realloc = check_realloc,
    .free_sized = check_free_sized,
};

/* As many threads as were alive at once, each from its first op to its last or, where it did not end, to the end; and the first. */
static uint32_t recorded_at_once(void)
{
    uint32_t left[SOME_THREADS], alive = 0, most = 0;
    for (uint32_t i = 0; i < SOME_THREADS; i++)
        left[i] = (uint32_t)made->threads[i].ops;
    for (uint32_t op = 0; op < SOME_OPS; op++) {
        const struct wl_thread *thread = &made->threads[made->thread_of[op]];
        uint32_t *ops = &left[made->thread_of[op]];
        if (thread->is_main)
            continue;
        alive += *ops == thread->ops;
        most = alive > most ? alive : most;
        alive -= --*ops == 0 && thread->exited;
    }
    return most + 1;
}

TEST(every_wait_is_honoured)
{
    uint32_t births = 0, mains = 0;
    serial = false;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        made = make_workload(seed);
        const unsigned processors = 1 + (unsigned)seed % 5;
        const unsigned failed = harness_failures;
        const bool has_main = seed % 4 != 0;
        made->threads[0].is_main = has_main;
        births += run_once(&CHECKING, processors).threads_started + has_main;
        CHECK_U64(pthread_equal(runs_on[0], pthread_self()) != 0, has_main);
        mains += has_main;
        for (uint32_t i = 0; i < SOME_THREADS; i++)
            CHECK_U64(executed_by[i], made->threads[i].ops);
        if (harness_failures != failed)
            fprintf(stderr, "with seed %" PRIu64 " and %u processors\n", seed, processors);
        free(made);
    }
    CHECK_U64(births, SEEDS * SOME_THREADS);
    CHECK_U64(threads_exited, births - mains); /* each through the C library's thread exit */
}

/* A thread is born after those that had ended before, and ends after those are born that were born before its end. */
TEST(as_many_are_alive_at_once_as_were)
{
    serial = false;
    for (uint64_t seed = 1; seed <= 2 * SEEDS; seed++) {
        made = make_workload_of(seed, 1 + seed % 2);
        made->threads[0].is_main = seed % 4 > 1;
        CHECK_U64(run_once(&CHECKING, 1 + (unsigned)seed % 7).threads_at_once, recorded_at_once());
        for (uint32_t i = 0; i < SOME_THREADS; i++)
            CHECK_U64(executed_by[i], made->threads[i].ops);
        free(made);
    }
}

/* As long as two processors have one part left between them, the next window is prepared beside it. */
TEST(the_next_window_is_prepared_beside_the_current)
{
    serial = false;
    insist_on_ahead = true;
    insisted = 0;
    for (uint64_t seed = 31; seed < 34; seed++) {
        made = make_workload(seed);
        (void)run_once(&CHECKING, 2 + (unsigned)seed % 2);
        free(made);
    }
    CHECK(insisted > 20);
    insist_on_ahead = false;
}

TEST(digest_does_not_depend_on_threads)
{
    made = make_workload(77);
    serial = false;
    const uint64_t with_threads = run_once(&CHECKING, 2).digest;
    CHECK_U64(run_once(&CHECKING, 4).digest, with_threads);
    memset(made->thread_of, 0, sizeof made->thread_of); /* who executes an op is not looked at */
    serial = true;
    CHECK_U64(run_once(&CHECKING, 2).digest, with_threads);
    free(made);
}

/* Windows before the start are executed as any, and count in ops and digest only. */
TEST(the_begin_may_be_untimed)
{
    static const uint64_t untimed[] = {
        1, SOME_WINDOW_OPS - 1, SOME_WINDOW_OPS, 2 * SOME_WINDOW_OPS + 1, SOME_OPS, UINT64_MAX};
    static const uint32_t windows[] = {0, 0, 1, 2, SOME_WINDOWS, SOME_WINDOWS};
    made = make_workload(78);
    serial = false;
    uint64_t digest = run_once(&CHECKING, 2).digest;
    for (unsigned pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < COUNT_OF(untimed); i++) {
            untimed_ops = untimed[i];
            struct rep_exec_totals totals = run_once(&CHECKING, 2);
            CHECK_U64(totals.digest, digest);
            CHECK_U64(totals.windows, SOME_WINDOWS - windows[i]);
            CHECK_U64(totals.untimed_ops,
                      windows[i] == SOME_WINDOWS ? SOME_OPS : windows[i] * SOME_WINDOW_OPS);
            CHECK(totals.timed_runs > 0 || windows[i] == SOME_WINDOWS);
        }
        memset(made->thread_of, 0, sizeof made->thread_of); /* as a serial plan wants it */
        serial = true;
    }
    untimed_ops = 0;
    free(made);
}

/* Windows that are cut at points of recorded time, and rests between them, are windows as any: every op once, threads begin
 * and end where they did, and at each end exactly the ops before it are done. */
TEST(slices_are_windows)
{
    sliced = true;
    for (uint64_t seed = 51; seed < 59; seed++) {
        made = make_workload(seed);
        made->summary.duration_ns += 40000; /* it waits at the end */
        untimed_ops = seed % 2 * 2 * SOME_WINDOW_OPS;
        serial = false;
        CHECK(rep_slices_init(&slices, &made->summary, untimed_ops));
        uint64_t digest = run_once(&CHECKING, 1 + (unsigned)seed % 4).digest;
        for (uint32_t i = 0; i < SOME_THREADS; i++)
            CHECK_U64(executed_by[i], made->threads[i].ops);
        CHECK(rests_seen > 10);
        CHECK(windows_seen >= SOME_WINDOWS + REP_SLICE_POINTS * 3 / 4);
        CHECK(windows_seen <= rep_slices_count_max(&made->summary));
        memset(made->thread_of, 0, sizeof made->thread_of); /* as a serial plan wants it */
        serial = true;
        CHECK(rep_slices_init(&slices, &made->summary, untimed_ops));
        CHECK_U64(run_once(&CHECKING, 1).digest, digest);
        free(made);
    }
    untimed_ops = 0;
    sliced = false;
}

/* Two neighbouring allocations of one thread: swapping them is as legal, and another workload. */
static bool swap_two(void)
{
    for (uint32_t i = 0; i + 1 < SOME_OPS; i++) {
        struct wl_op *op = &made->ops[i];
        if (op[0].call == FP_CALL_MALLOC && op[1].call == FP_CALL_MALLOC && op[0].id != op[1].id &&
            made->thread_of[i] == made->thread_of[i + 1] && (i + 1) % SOME_WINDOW_OPS != 0 &&
            made->wait_on[i] == NO_OP && made->wait_on[i + 1] == NO_OP) {
            const uint32_t id = op[0].id;
            op[0].id = op[1].id;
            op[1].id = id;
            return true;
        }
    }
    return false;
}

static void *plain_malloc(size_t number)
{
    executed[number - 1] = true;
    return begin_handle(number);
}

static void *plain_realloc(void *object, size_t number)
{
    executed[number - 1] = true;
    end_handle(object);
    return begin_handle(number);
}

static void plain_free_sized(void *object, size_t number)
{
    executed[number - 1] = true;
    end_handle(object);
}

TEST(digest_depends_on_order)
{
    static const struct rep_calls plain = {
        .malloc = plain_malloc, .realloc = plain_realloc, .free_sized = plain_free_sized};
    made = make_workload(78);
    serial = true;
    const uint64_t before = run_once(&plain, 1).digest;
    CHECK_U64(run_once(&plain, 1).digest, before);
    CHECK(swap_two());
    CHECK(run_once(&plain, 1).digest != before);
    free(made);
}

static bool make_key(void)
{
    return pthread_key_create(&exit_key, note_exit) == 0;
}

PREPARE
{
    CHECK(make_key());
}
