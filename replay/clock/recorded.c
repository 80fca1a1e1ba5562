/* recorded.c - one number that moves, the clocks made of it, the sleepers and their moments. Laws of this file:
 *
 *   - nothing allocates: it runs in the midst of the allocator's waits;
 *   - `lock` is held for a few instructions and never while waiting. A sleeper takes it with its own mutex held, so
 *     nobody who has it may want a sleeper's mutex. Conditions are therefore signalled without their mutex, and again
 *     until the sleeper has answered: it may have been about to wait when the first signal passed. */
#include "replay/clock/recorded.h"

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "replay/clock/real.h"

#define CLOCKS 12 /* ids 0 .. 11: all that Linux has by number */

enum mode {
    UNDECIDED = 0, /* libraries are being initialised, or the run has not begun */
    REAL = 1,
    RECORDED = 2,
};

static _Atomic int mode;
static _Atomic uint64_t elapsed; /* now */
static _Atomic uint64_t asked, served;
static uint64_t origin;          /* like base: written before mode becomes RECORDED */
static uint64_t base_ns[CLOCKS]; /* what the machine's clocks told then */
static _Thread_local bool worker;

static bool is_served(clockid_t clock)
{
    return clock >= 0 && clock < CLOCKS && clock != CLOCK_PROCESS_CPUTIME_ID &&
           clock != CLOCK_THREAD_CPUTIME_ID &&
           clock != 10; /* CLOCK_SGI_CYCLE, which no kernel has any more */
}

void rep_recorded_decline(void)
{
    atomic_store_explicit(&mode, REAL, memory_order_relaxed);
}

static bool runs(void)
{
    return atomic_load_explicit(&mode, memory_order_acquire) == RECORDED;
}

uint64_t rep_recorded_now(void)
{
    return atomic_load(&elapsed);
}

/* Moves now there unless it is there already; wakes nobody. */
static void raise_now(uint64_t elapsed_ns)
{
    uint64_t now = atomic_load_explicit(&elapsed, memory_order_relaxed);
    while (now < elapsed_ns && !atomic_compare_exchange_weak(&elapsed, &now, elapsed_ns))
        continue;
}

void rep_recorded_worker(void)
{
    worker = true;
}

bool rep_recorded_is_worker(void)
{
    return worker;
}

/* ---- sleepers -------------------------------------------------------------------------------- */

#define SLEEPERS_MAX 256 /* jemalloc has one for each processor at most */
#define YIELDS       32  /* then real sleeps: the thread may need our processor */
#define NAP_NS       20000
#define LOST_MAX     3u /* then nobody is waited for any more, or a run could take hours */

enum sleeper_state {
    UNUSED = 0,
    AWAKE = 1,
    ASLEEP = 2,
    DUE = 3,       /* its moment has come; it has not returned from its wait yet */
    SIGNALLED = 4, /* its condition was signalled; likewise */
    LOST = 5,
};

struct sleeper {
    enum sleeper_state state;
    uint64_t moment;      /* of rep_recorded_now; REP_NEVER */
    uint64_t real_moment; /* of CLOCK_MONOTONIC, for a sleep that began before the recorded clock */
    pthread_cond_t *cond;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of sleepers[] */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER; /* one at a time wakes sleepers; taken before lock */
static struct sleeper sleepers[SLEEPERS_MAX];
static _Atomic unsigned lost;
/* Giving back gigabytes takes a second: who needs longer waits for something else. */
static uint64_t patience_ns = 5000000000u;
static _Atomic uint64_t earliest = REP_NEVER; /* moment of those asleep */
static _Atomic unsigned awake;                /* AWAKE, DUE, SIGNALLED */

static _Thread_local struct sleeper *own;
static pthread_key_t at_exit;
static pthread_once_t at_exit_made = PTHREAD_ONCE_INIT;

static bool counts_as_awake(enum sleeper_state state)
{
    return state == AWAKE || state == DUE || state == SIGNALLED;
}

/* Sets the state; the caller has the lock. */
static void set_state(struct sleeper *sleeper, enum sleeper_state state)
{
    uint64_t first = REP_NEVER;
    const bool rises = counts_as_awake(state) && !counts_as_awake(sleeper->state);
    const bool rests = !counts_as_awake(state) && counts_as_awake(sleeper->state);
    /* Without a lock rep_sleepers_let_pass must see it all the time: as awake, or by its moment. */
    if (rises)
        atomic_fetch_add(&awake, 1);
    sleeper->state = state;
    for (size_t i = 0; i < SLEEPERS_MAX; i++) {
        if (sleepers[i].state == ASLEEP && sleepers[i].moment < first)
            first = sleepers[i].moment;
    }
    atomic_store(&earliest, first);
    if (rests)
        atomic_fetch_sub(&awake, 1);
}

static void forget(void *sleeper)
{
    pthread_mutex_lock(&lock);
    set_state(sleeper, UNUSED);
    pthread_mutex_unlock(&lock);
}

static void make_at_exit(void)
{
    (void)pthread_key_create(&at_exit, forget); /* without it, threads that ended would be called lost */
}

/* The calling thread's entry; NULL for workers, the first thread, and when all entries are taken. */
static struct sleeper *entry_of_thread(void)
{
    if (own != NULL || rep_recorded_is_worker() || gettid() == getpid())
        return own;
    (void)pthread_once(&at_exit_made, make_at_exit);
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < SLEEPERS_MAX && own == NULL; i++) {
        if (sleepers[i].state == UNUSED) {
            own = &sleepers[i];
            set_state(own, AWAKE);
        }
    }
    if (own == NULL)
        lost++;
    pthread_mutex_unlock(&lock);
    if (own != NULL)
        (void)pthread_setspecific(at_exit, own); /* the first keys of a thread need no memory */
    return own;
}

static uint64_t later(uint64_t moment, uint64_t span)
{
    return span > REP_NEVER - moment ? REP_NEVER : moment + span;
}

/* Waits on the machine's clock. */
static int wait_really(pthread_cond_t *cond, pthread_mutex_t *mutex, uint64_t moment)
{
    if (moment == REP_NEVER)
        return rep_real_wait(cond, mutex);
    return rep_real_wait_until(cond, mutex, CLOCK_MONOTONIC, moment);
}

static void fall_asleep(struct sleeper *self, pthread_cond_t *cond, uint64_t span_ns)
{
    pthread_mutex_lock(&lock);
    self->cond = cond;
    self->real_moment = later(rep_real_ns(CLOCK_MONOTONIC), span_ns);
    self->moment = runs() ? later(rep_recorded_now(), span_ns) : REP_NEVER;
    set_state(self, ASLEEP);
    pthread_mutex_unlock(&lock);
}

/* Tells whether to wait on after the machine's wait returned, and sets what the caller is to be told. */
static bool sleeps_on(struct sleeper *self, int *result)
{
    bool on = false;
    pthread_mutex_lock(&lock);
    if (self->state == DUE)
        *result = ETIMEDOUT;
    else if (self->state == SIGNALLED)
        *result = 0;
    else if (*result == ETIMEDOUT && runs())
        on = true; /* it began to wait by the machine's clock, before this one ran */
    if (!on)
        set_state(self, AWAKE);
    pthread_mutex_unlock(&lock);
    return on;
}

int rep_sleepers_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, uint64_t span_ns)
{
    struct sleeper *self = entry_of_thread();
    int result;
    if (self == NULL)
        return wait_really(cond, mutex, later(rep_real_ns(CLOCK_MONOTONIC), span_ns));
    fall_asleep(self, cond, span_ns);
    do
        result = wait_really(cond, mutex, runs() ? REP_NEVER : self->real_moment);
    while (sleeps_on(self, &result));
    return result;
}

void rep_sleepers_sleep(uint64_t span_ns)
{
    if (entry_of_thread() == NULL) {
        rep_real_sleep_until(later(rep_real_ns(CLOCK_MONOTONIC), span_ns));
        return;
    }
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
    pthread_mutex_lock(&mutex);
    while (rep_sleepers_wait(&cond, &mutex, span_ns) == 0)
        continue; /* for no reason, as nobody else has this condition */
    pthread_mutex_unlock(&mutex);
}

void rep_sleepers_signal(const pthread_cond_t *cond)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < SLEEPERS_MAX; i++) {
        if (sleepers[i].state == ASLEEP && sleepers[i].cond == cond)
            set_state(&sleepers[i], SIGNALLED);
    }
    pthread_mutex_unlock(&lock);
}

/* The recorded clock begins: waits under way end by it. */
static void end_waits_under_way(void)
{
    const uint64_t now = rep_real_ns(CLOCK_MONOTONIC);
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < SLEEPERS_MAX; i++) {
        struct sleeper *sleeper = &sleepers[i];
        if (sleeper->state != ASLEEP)
            continue;
        sleeper->moment = sleeper->real_moment;
        if (sleeper->moment != REP_NEVER)
            sleeper->moment = sleeper->real_moment > now ? sleeper->real_moment - now : 0;
        set_state(sleeper, ASLEEP);
    }
    pthread_mutex_unlock(&lock);
}

bool rep_sleepers_let_pass(uint64_t elapsed_ns)
{
    return (atomic_load(&awake) == 0 && atomic_load(&earliest) > elapsed_ns) ||
           atomic_load(&lost) >= LOST_MAX;
}

/* Call again those who may have missed it. With patience at its end, those who do not sleep are lost. */
static void call_again(bool patient)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < SLEEPERS_MAX; i++) {
        struct sleeper *sleeper = &sleepers[i];
        if (sleeper->state == DUE || sleeper->state == SIGNALLED)
            (void)rep_real_broadcast(sleeper->cond); /* it is within its wait until it has had the lock */
        if (!patient && counts_as_awake(sleeper->state)) {
            lost++;
            set_state(sleeper, LOST);
        }
    }
    pthread_mutex_unlock(&lock);
}

static void wait_until_all_sleep(void)
{
    const struct timespec nap = {.tv_nsec = NAP_NS};
    const uint64_t start = rep_real_ns(CLOCK_MONOTONIC);
    for (unsigned tries = 0; atomic_load(&awake) > 0 && atomic_load(&lost) < LOST_MAX; tries++) {
        call_again(rep_real_ns(CLOCK_MONOTONIC) - start < patience_ns);
        if (tries < YIELDS)
            (void)sched_yield();
        else
            (void)rep_real_sleep(CLOCK_MONOTONIC, 0, &nap, NULL); /* an interruption does not matter */
    }
}

/* Wake the first of those whose moment comes until then; false when there is none. */
static bool wake_first(uint64_t elapsed_ns)
{
    struct sleeper *first = NULL;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < SLEEPERS_MAX; i++) {
        struct sleeper *sleeper = &sleepers[i];
        if (sleeper->state == ASLEEP && sleeper->moment <= elapsed_ns &&
            (first == NULL || sleeper->moment < first->moment))
            first = sleeper;
    }
    if (first != NULL) {
        raise_now(first->moment);
        set_state(first, DUE);
        (void)rep_real_broadcast(first->cond);
    }
    pthread_mutex_unlock(&lock);
    return first != NULL;
}

/* Moves the clock to that moment and wakes on the way whose time comes. */
static void wake_until(uint64_t elapsed_ns)
{
    pthread_mutex_lock(&turn);
    do
        wait_until_all_sleep();
    while (wake_first(elapsed_ns));
    raise_now(elapsed_ns);
    pthread_mutex_unlock(&turn);
}

unsigned rep_sleepers_known(void)
{
    unsigned known = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < SLEEPERS_MAX; i++)
        known += sleepers[i].state != UNUSED;
    pthread_mutex_unlock(&lock);
    return known;
}

unsigned rep_sleepers_lost(void)
{
    return atomic_load(&lost);
}

void rep_sleepers_set_patience(uint64_t ns)
{
    patience_ns = ns;
}

/* ---- the clock ------------------------------------------------------------------------------- */

void rep_recorded_begin(uint64_t origin_ns)
{
    assert(atomic_load(&mode) == UNDECIDED);
    for (clockid_t clock = 0; clock < CLOCKS; clock++) {
        struct timespec now;
        if (is_served(clock) && rep_real_gettime(clock, &now) == 0)
            base_ns[clock] = rep_timespec_ns(&now);
    }
    origin = origin_ns;
    end_waits_under_way();
    /* Release: pairs with the acquire in runs, for base and origin. */
    atomic_store_explicit(&mode, RECORDED, memory_order_release);
}

void rep_recorded_advance(uint64_t recorded_ns)
{
    if (!runs() || recorded_ns <= origin)
        return;
    const uint64_t to = recorded_ns - origin;
    if (to <= atomic_load_explicit(&elapsed, memory_order_relaxed))
        return;
    if (rep_sleepers_let_pass(to))
        raise_now(to);
    else
        wake_until(to);
}

void rep_recorded_pass(uint64_t span_ns)
{
    rep_recorded_advance(origin + rep_recorded_now() + span_ns);
}

int rep_recorded_gettime(clockid_t clock, struct timespec *ret_time)
{
    const int now = atomic_load_explicit(&mode, memory_order_acquire);
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
