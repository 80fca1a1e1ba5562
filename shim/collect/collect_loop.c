/* collect_loop.c - rounds, rests, ends. */
#include "shim/collect/collect_loop.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "shim/collect/collect_control.h"
#include "shim/collect/collect_drain.h"
#include "shim/collect/collect_image.h"
#include "shim/collect/collect_proc.h"
#include "shim/collect/collect_reserve.h"
#include "shim/collect/collect_take.h"
#include "shim/collect/collect_tell.h"
#include "shim/shared/raw.h"

#define NAP_NS         4000000u  /* while there is work: a round takes some 25 us, whatever it finds */
#define WANTED_NS      200000u   /* while threads wait for a chunk: others give theirs back without a ring */
#define STEP_NS        1000000u  /* between two steps of the epoch words, where somebody orders by them */
#define SLEEP_NS       5000000u  /* while there is none */
#define LONG_SLEEP_NS  20000000u /* and has not been for long */
#define IDLE_ROUNDS    5u        /* of napping before sleeping */
#define SLEEP_ROUNDS   400u      /* of sleeping before sleeping long: two seconds */
#define EMPTY_RINGS    16u       /* in a row: a process that attaches rings without work for us */
#define LOOK_NS        50000000u /* between looks for execs */
#define SELDOM_NS      1000000000u /* and for threads that ended without a word, and for chunks that wait */
#define NOBODY_CAME_NS UINT64_C(10000000000)
#define JOIN_NS        UINT64_C(3000000000)
#define LAST_CALLS_NS  20000000u /* for stores under way when --duration has passed */

/* CMD has ended, says `mallab record`: nobody new will come. Without a control descriptor that is always so. */
static void watch_control(struct collector *collector)
{
    struct pollfd control = {collector->options.control_fd, POLLIN, 0};
    char byte;
    if (!collector->control_open || poll(&control, 1, 0) <= 0)
        return;
    ssize_t got = read(collector->options.control_fd, &byte, 1);
    if (got == 0 || (got == 1 && byte == 'e') || (got < 0 && errno != EINTR && errno != EAGAIN))
        collector->control_open = false;
}

/* An image that will join us is nobody's between its exec and its first call. */
static bool somebody_may_join(const struct collector *collector)
{
    return collector->options.join && collector->execed_pid != 0 &&
           clock_monotonic_ns() - collector->execed_ns < JOIN_NS &&
           kill((pid_t)collector->execed_pid, 0) == 0;
}

static bool nobody_is_left(struct collector *collector)
{
    if (image_some_remain(collector) || collector->control_open || somebody_may_join(collector))
        return false;
    if (collector->image_count + collector->removed_processes == 0 && collector->options.control_fd < 0) {
        /* Under a plain preload our starter attaches at once, or never. */
        if (clock_monotonic_ns() - collector->started_ns > NOBODY_CAME_NS)
            return true;
        return collector->options.leader_pid != 0 && kill((pid_t)collector->options.leader_pid, 0) != 0 &&
               errno == ESRCH;
    }
    return true;
}

static void set_closing(struct seg_header *segment, enum seg_closing closing)
{
    atomic_store_explicit(&segment->closing, closing, memory_order_seq_cst);
    raw_futex_wake(&segment->closing, INT_MAX);
}

static void finish_all(struct collector *collector)
{
    struct collect_image *image;
    for (uint32_t slot = 0; (image = collect_next_image(collector, &slot)) != NULL;)
        image_finish(collector, image, IMAGE_RUNNING);
}

/* Whoever claims a slot from here on sees `closing` and waits what becomes of it; whoever claimed one before is
 * found by this last look. */
static bool may_close(struct collector *collector)
{
    struct seg_header *segment = collector->segment.view.header;
    image_discover_all(collector); /* whose children are looked for next */
    if (image_some_remain(collector) || mapped_unattached_remain(collector))
        return false;
    set_closing(segment, SEG_CLOSING);
    collector->attaching = true; /* look at every slot: a claim may stand there without a serial yet */
    image_discover_all(collector);
    if (image_some_remain(collector) || collector->attaching || mapped_unattached_remain(collector)) {
        set_closing(segment, SEG_OPEN);
        return false;
    }
    set_closing(segment, SEG_CLOSED);
    finish_all(collector);
    return true;
}

/* deaf: the bell was rung again and again for nothing, by somebody who writes where he should not. */
static void rest(struct collector *collector, uint32_t idle_rounds, bool deaf)
{
    const struct timespec step = {0, STEP_NS};
    struct seg_shared *shared = collector->segment.view.shared;
    const bool wanted = collector->free_chunks == 0 && get_relaxed(&shared->space_waiters) > 0;
    const bool sleep = idle_rounds > IDLE_ROUNDS && !wanted;
    uint64_t duration = wanted                       ? WANTED_NS
                        : !sleep                     ? NAP_NS
                        : idle_rounds > SLEEP_ROUNDS ? LONG_SLEEP_NS
                                                     : SLEEP_NS;
    const uint32_t doorbell = get_acquire(&shared->doorbell);
    if (control_is_due())
        return; /* one that comes from here on is found after the time-out, unless it ends the sleep */
    if (deaf) {
        (void)nanosleep(&step, NULL); /* a signal only shortens it */
        return;
    }
    atomic_store_explicit(&shared->asleep, sleep ? SEG_SLEEP : SEG_NAP, memory_order_seq_cst);
    for (; !sleep && duration > STEP_NS && image_bump_epochs(collector) &&
           get_acquire(&shared->doorbell) == doorbell;
         duration -= STEP_NS)
        (void)raw_futex_wait(&shared->doorbell, doorbell, STEP_NS); /* as below */
    /* a ring that came before `asleep` was set has changed the doorbell, or is made up for by the time-out */
    (void)raw_futex_wait(&shared->doorbell, doorbell, duration);
    put_relaxed(&shared->asleep, SEG_AWAKE);
}

static void stop_recording(struct collector *collector, enum collect_stop why)
{
    const struct timespec last_calls = {0, LAST_CALLS_NS};
    stop_note(collector, why);
    atomic_store_explicit(&collector->segment.view.header->stopped, 1, memory_order_seq_cst);
    set_closing(collector->segment.view.header, SEG_CLOSED);
    (void)nanosleep(&last_calls, NULL); /* cut short only costs stores of other threads under way */
    collector->attaching = true;        /* look at every slot: one that was taken since this round began */
    image_discover(collector);
    (void)take_scan(collector);
    finish_all(collector);
}

/* What the loop remembers from round to round. */
struct pace {
    uint64_t looked_ns, seldom_ns,
        left_ns; /* CLOCK_MONOTONIC of the last look, rarer look, look for others */
    uint32_t doorbell, idle_rounds, empty_rings;
};

/* Returns how much work there was: chunks taken and freed. */
static uint32_t work(struct collector *collector, uint64_t now, struct pace *pace)
{
    const bool look = now - pace->looked_ns >= LOOK_NS;
    put_relaxed(&collector->segment.view.header->heartbeat_ns, now);
    clock_anchor(&collector->clock);
    clock_share(&collector->clock, collector->segment.view.header);
    if (look) { /* the counts of serials and of ready chunks may have been written over */
        pace->looked_ns = now;
        collector->attaching = true;
        (void)segment_ready_all(&collector->segment);
    }
    (void)image_discover(collector); /* the others in the next round */
    (void)image_bump_epochs(collector);
    const uint32_t taken = take_scan(collector), freed = drain_blocks(collector);
    segment_hold_more(&collector->segment);
    image_check_ends(collector, look);
    watch_control(collector);
    if (now - pace->seldom_ns >= SELDOM_NS) {
        pace->seldom_ns = now;
        take_dead_threads(collector);
        drain_waiting(collector);
        reserve_renew(collector);
    }
    return taken + freed;
}

static bool is_over(struct collector *collector, uint64_t now, struct pace *pace)
{
    const uint64_t duration_ns = collector->options.duration_ns;
    if (control_heed(collector)) {
        stop_recording(collector, STOP_ASKED);
        return true;
    }
    if (duration_ns != 0 && now - collector->started_ns >= duration_ns) {
        stop_recording(collector, STOP_DURATION);
        return true;
    }
    /* The walk over /proc is the dear part: not in every round while somebody unattached stays away. */
    if (!nobody_is_left(collector) || (pace->left_ns != 0 && now - pace->left_ns < LOOK_NS))
        return false;
    pace->left_ns = now;
    return may_close(collector);
}

void loop_run(struct collector *collector)
{
    struct pace pace = {0};
    for (;;) {
        const uint64_t now = clock_monotonic_ns();
        const uint32_t rung = get_acquire(&collector->segment.view.shared->doorbell);
        const bool rings = rung != pace.doorbell;
        const uint32_t done = work(collector, now, &pace);
        if (is_over(collector, now, &pace))
            return;
        pace.empty_rings = done == 0 && rings ? pace.empty_rings + 1 : 0;
        pace.idle_rounds = done > 0 || rings ? 0 : pace.idle_rounds + 1;
        pace.doorbell = rung;
        if (done < COLLECT_CHUNKS_PER_BLOCK)
            rest(collector, pace.idle_rounds, pace.empty_rings > EMPTY_RINGS);
    }
}
