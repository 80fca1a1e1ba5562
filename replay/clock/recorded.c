/* recorded.c - one number that moves, and the clocks made of it. */
#include "replay/clock/recorded.h"

#include <assert.h>
#include <stdatomic.h>

#include "replay/clock/real.h"
#include "replay/clock/sleepers.h"

#define CLOCKS 12 /* ids 0 .. 11: all that Linux has by number */

enum state {
    UNDECIDED = 0, /* libraries are being initialised, or the run has not begun */
    REAL = 1,
    RECORDED = 2,
};

static _Atomic int state;
static _Atomic uint64_t elapsed; /* now */
static _Atomic uint64_t asked, served;
static uint64_t origin;          /* like base: written before state becomes RECORDED */
static uint64_t base_ns[CLOCKS]; /* what the machine's clocks told then */
static _Thread_local bool worker;

static bool is_served(clockid_t clock)
{
    return clock >= 0 && clock < CLOCKS && clock != CLOCK_PROCESS_CPUTIME_ID &&
           clock != CLOCK_THREAD_CPUTIME_ID &&
           clock != 10; /* CLOCK_SGI_CYCLE, which no kernel has any more */
}

void rep_recorded_begin(uint64_t origin_ns)
{
    assert(atomic_load(&state) == UNDECIDED);
    for (clockid_t clock = 0; clock < CLOCKS; clock++) {
        struct timespec now;
        if (is_served(clock) && rep_real_gettime(clock, &now) == 0)
            base_ns[clock] = rep_timespec_ns(&now);
    }
    origin = origin_ns;
    rep_sleepers_begin();
    /* Release: pairs with the acquire in rep_recorded_runs, for base and origin. */
    atomic_store_explicit(&state, RECORDED, memory_order_release);
}

void rep_recorded_decline(void)
{
    atomic_store_explicit(&state, REAL, memory_order_relaxed);
}

bool rep_recorded_runs(void)
{
    return atomic_load_explicit(&state, memory_order_acquire) == RECORDED;
}

uint64_t rep_recorded_now(void)
{
    return atomic_load(&elapsed);
}

void rep_recorded_raise(uint64_t elapsed_ns)
{
    uint64_t now = atomic_load_explicit(&elapsed, memory_order_relaxed);
    while (now < elapsed_ns && !atomic_compare_exchange_weak(&elapsed, &now, elapsed_ns))
        continue;
}

void rep_recorded_advance(uint64_t recorded_ns)
{
    if (!rep_recorded_runs() || recorded_ns <= origin)
        return;
    const uint64_t to = recorded_ns - origin;
    if (to <= atomic_load_explicit(&elapsed, memory_order_relaxed))
        return;
    if (rep_sleepers_let_pass(to))
        rep_recorded_raise(to);
    else
        rep_sleepers_wake_until(to);
}

void rep_recorded_pass(uint64_t span_ns)
{
    rep_recorded_advance(origin + rep_recorded_now() + span_ns);
}

void rep_recorded_worker(void)
{
    worker = true;
}

bool rep_recorded_is_worker(void)
{
    return worker;
}

int rep_recorded_gettime(clockid_t clock, struct timespec *ret_time)
{
    const int now = atomic_load_explicit(&state, memory_order_acquire);
    if (now == REAL || !is_served(clock))
        return rep_real_gettime(clock, ret_time);
    atomic_fetch_add_explicit(&asked, 1, memory_order_relaxed);
    if (now == UNDECIDED)
        return rep_real_gettime(clock, ret_time);
    atomic_fetch_add_explicit(&served, 1, memory_order_relaxed);
    *ret_time = rep_timespec(base_ns[clock] + rep_recorded_now());
    return 0;
}

struct rep_asks rep_recorded_asks(void)
{
    return (struct rep_asks){.asked = atomic_load(&asked), .served = atomic_load(&served)};
}

size_t rep_recorded_step(const uint64_t *times_ns, size_t count)
{
    const size_t most = count < REP_STEP_OPS ? count : REP_STEP_OPS;
    size_t step = 1;
    while (step < most && times_ns[step] - times_ns[0] <= REP_STEP_NS)
        step++;
    return step;
}
