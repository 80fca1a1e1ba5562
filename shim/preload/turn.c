/* turn.c - the hooks' common slow half; how a thread and its process attach, what forks and ends of threads leave in the record, and
 * loss.
 *
 * Laws of this file: those of shim.h; it runs inside malloc and free, where it attaches with the gate at GATE_RECORD. System calls
 * go through raw.h, so errno stays and no cancellation point is added.
 * Fork handlers run in the program's fork(); they store one record and take no lock. A child needs no handler of
 * ours at all: it finds its lane wiped (lane.h) and attaches at its first call, also after a raw clone. A child of
 * vfork shares our memory and goes on in its parent's lane until it execs. */
#include "shim/preload/turn.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>

#include "shim/preload/attach.h"
#include "shim/preload/boot.h"
#include "shim/preload/confine.h"
#include "shim/preload/lane_chunk.h"
#include "shim/preload/large.h"

#define KEYS_WITHOUT_MALLOC 32u /* glibc keeps the values of so many in the thread itself */

/* ---- how a thread and its process attach; forks and ends of threads ----------------------------- */

__thread struct lane *shim_lane __attribute__((tls_model("initial-exec")));

static __thread bool attaching __attribute__((tls_model("initial-exec")));
_Atomic uint32_t lane_starts;

/* Stands in for a lane where nothing is recorded; written to by everybody, read by nobody. */
static struct lane lane_dummy;

static pthread_key_t exit_key;
static _Atomic uint32_t armed; /* inherited by children, as the handlers are: 0 no, 1 under way, 2 armed */

/* A mark that is no call, outside any hook. */
static void write_mark(unsigned mark, uint64_t number)
{
    struct lane *lane = shim_lane;
    if (lane == NULL || lane_gate(lane) != GATE_OPEN)
        return;
    lane = lane_record(lane, false, mark, 0, number, 0);
    lane_set_gate(lane, GATE_OPEN);
}

/* The calling thread's lane, attaching thread and process as needed. NULL: nothing is to be recorded here: nested in our own slow
 * path, or switched off. */
static struct lane *attach(void);

/* Our handlers were registered at the first allocation, so they run last of all: next to the fork
 * itself. */
static void before_fork(void)
{
    if (shim_lane == NULL && attach() == NULL)
        return; /* not recorded, or in the middle of attaching */
    write_mark(FP_MARK_FORK, attach_fork_begins());
}

/* Its gap to the next chosen object is not the parent's. */
static void in_child(void)
{
    chosen_left = 0;
}

/* Destructors of other keys may free after ours has run, so wait for the last iteration. */
static void at_thread_exit(void *value)
{
    struct lane *lane = value;
    if (lane != shim_lane)
        return; /* a child's thread that still carries its parent's */
    if (++lane->exit_rounds < PTHREAD_DESTRUCTOR_ITERATIONS && pthread_setspecific(exit_key, lane) == 0)
        return;
    write_mark(FP_MARK_THREAD_EXIT, 0);
    /* libc frees a little more on this thread; the lane is given away only when the thread is gone. First the state: a signal
     * handler may open another chunk in between. */
    put_release(&lane->state, LANE_EXITED);
    lane_set_gate(lane, GATE_RECORD);
    lane_leave_chunk(lane);
    lane_set_gate(lane, GATE_OPEN);
}

/* The thread sanitizer's part of a thread is gone when the last destructor runs. Only unit tests are built with it. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HAS_THREAD_SANITIZER 1
#endif
#endif
#ifndef HAS_THREAD_SANITIZER
#define HAS_THREAD_SANITIZER 0
#endif

/* Register the handlers, once per address space. It may call malloc. */
static void arm_process(void)
{
    uint32_t expected = 0;
    if (HAS_THREAD_SANITIZER || !atomic_compare_exchange_strong(&armed, &expected, 1))
        return;
    if (pthread_key_create(&exit_key, at_thread_exit) != 0)
        return; /* 1024 keys in use: threads end without a mark, their chunks are found by the collector */
    if (pthread_atfork(before_fork, attach_fork_is_over, in_child) != 0)
        return;
    atomic_store(&armed, 2);
}

static void arm_thread(struct lane *lane)
{
    if (atomic_load(&armed) != 2 || lane->armed || (confine_is_on() && exit_key >= KEYS_WITHOUT_MALLOC))
        return;
    lane->armed = true;
    (void)pthread_setspecific(exit_key, lane); /* on failure as above */
}

/* ---- attaching -------------------------------------------------------------------------------------------- */

static uint32_t thread_id(void)
{
    if (!confine_may_call())
        return confine_thread_id();
    uint32_t id = raw_gettid();
    confine_called();
    return id;
}

static void lane_start(struct lane *lane)
{
    lane->generation = get_acquire(&shim_process->generation) & ~1u; /* first: the slot may become another */
    struct seg_slot *slot = shim_process->slot;
    const uint32_t number = add_relaxed(&shim_process->lane_count, 1);
    const uint32_t former = lane->thread_id;
    put_relaxed(&slot->lane_count, number + 1);
    lane->number = number;
    lane->thread_id = lane_thread = thread_id();
    if (lane_inherit_chunk(lane, former))
        lane_begin_thread(lane);
    if (lane->cursor == NULL)
        lane->cut = 0;
    lane_sites_begin(lane);
    lane_set_groups(lane, (number == 0 ? LANE_GROUP_ALONE : LANE_GROUP_MANY) - 1);
    lane->epoch_word = &slot->epoch;
    lane->stamp_clock = 0;
    lane->seldom_close = 0;
    lane->seldom = false;
    lane->lost_pending = 0;
    lane->gap_pending = false;
    lane->gap_lost = false;
    lane->waiting = false;
    lane->gave_up = 0;
    lane->armed = false;
    lane->exit_rounds = 0;
    lane->as_call = lane->nested = 0;
    lane->seen_clock = 0;
    /* The events so far were of fewer threads and may be millions: keep them out of the new thread's group. */
    lane->epoch = 0; /* no word's value: the first record goes the slow way */
    lane->seen_epoch = number == 0 ? 0 : add_acq_rel(&slot->epoch, 1) + 1;
    lane_set_gate(lane, GATE_OPEN);
}

cold_path static struct lane *attach(void)
{
    struct lane *lane = NULL;
    if (attaching)
        return NULL;
    attaching = true;
    add_acq_rel(&lane_starts, 1);
    int saved = errno;
    shim_lane = NULL;
    if (attach_process()) {
        lane = lane_take();
        if (lane != NULL) {
            lane_start(lane);
            shim_lane = lane;
        }
    }
    attaching = false;
    sub_relaxed(&lane_starts, 1);
    if (lane != NULL && lane->number < FP_LANES_MAX) {
        /* May allocate, and those calls are recorded like the program's: they will be freed in its sight. */
        arm_process();
        arm_thread(lane);
    }
    errno = saved;
    return lane;
}

/* A jump has left attaching, by the calling thread; it tries again at its next call. */
static void attach_left(void)
{
    sub_relaxed(&lane_starts, attaching);
    attaching = false;
    confine_left();
}

/* Count a call of a thread that has no lane because its process is confined, or has no memory for one. */
static void count_without_lane(void)
{
    if (attaching || shim_process == NULL)
        return;
    if (get_acquire(&shim_process->state) == PROCESS_ON)
        add_relaxed(&shim_process->slot->lost[confine_is_on() ? FP_LOSS_CONFINED : FP_LOSS_RING_FULL], 1);
    else if (confine_is_on())
        (void)attach_count_for_parent(1); /* else the process has been counted as one without a slot */
}

/* A program that never allocates is listed all the same. Most have allocated long before this runs. */
__attribute__((constructor)) static void attach_at_start(void)
{
    if (shim_lane == NULL)
        (void)attach(); /* off is fine: said once already */
}

/* ---- records ------------------------------------------------------------------------------------------------ */

__attribute__((noinline)) struct lane *lane_record_slow(struct lane *lane, unsigned call, uintptr_t address,
                                                        uint64_t size, uint64_t extra)
{
    if (unlikely(lane->cursor == NULL && get_relaxed(&lane->state) == LANE_LIVE &&
                 get_relaxed(&shim_segment.header->stopped))) {
        lane_set_gate(lane, GATE_RECORD); /* for good: the program is to notice it as little as can be */
        return lane;
    }
    large_made(call, address, size, extra);
    if (unlikely(get_relaxed(&lane->state) == LANE_FREE)) {
        /* Wiped: this is a forked child's first record. */
        lane_set_gate(lane, GATE_OPEN);
        lane = attach();
        if (lane == NULL) {
            if (call < FP_CALL_COUNT)
                count_without_lane();
            return &lane_dummy;
        }
    }
    if (unlikely(lane->generation != get_acquire(&shim_process->generation)))
        user_follow(lane);
    lane_set_gate(lane, GATE_RECORD);
    if (unlikely(lane->sites != NULL || shim_chosen.mean != 0))
        lane_sites_put(lane, call, address, size, extra);
    else
        lane_put(lane, call, address, size, extra);
    return lane;
}

/* ---- turns ------------------------------------------------------------------------------------------- */

/* A longjmp out of a new_handler leaves a note behind that no unwinder has ended; then the operator's frame lies
 * below ours. The stack grows down; on another stack (a signal's, a coroutine's) the guess may be wrong either way,
 * and costs one call recorded as malloc instead of operator new, or the reverse, of the right size and address. */
static bool operator_was_left(const struct lane *lane)
{
    return (uintptr_t)__builtin_frame_address(0) >= lane->as_frame;
}

void turn_count_reentrant(struct lane *lane)
{
    lane_lose(lane, FP_CALL_MALLOC, FP_LOSS_REENTRANT);
}

void turn_operator_left(struct lane *lane)
{
    if (lane == NULL || lane->as_call == 0)
        return;
    unsigned call = lane->as_call;
    lane->as_call = 0;
    lane = lane_record_slow(lane, call, 0, lane->as_size, lane->as_extra);
    lane_set_gate(lane, GATE_OPEN);
}

/* Nobody knows what the interrupted call did: the allocator may have given out an object that
 * nobody has. */
void turn_left(void)
{
    struct lane *lane = shim_lane;
    attach_left();
    if (lane == NULL || get_relaxed(&lane->state) == LANE_FREE)
        return; /* a forked child, in its parent's handler */
    uint32_t gate = lane_gate(lane);
    if (!(gate & GATE_BUSY))
        return;
    lane_set_gate(lane, GATE_RECORD);
    if (gate & GATE_RECORD)
        lane_repair(lane);
    lane->as_call = lane->nested = 0;
    turn_count_reentrant(lane);
    lane_set_gate(lane, GATE_OPEN);
}

void turn_back(struct lane *lane)
{
    const uint32_t outer = --lane->nested;
    lane->as_call = lane->outer[outer].as_call;
    lane_set_gate(lane, lane->outer[outer].gate);
}

/* A call in the midst of the allocator that is not the allocator's: its record stands before what the interrupted call has
 * to say yet. Returns whether it is to be recorded; else it is counted. */
static bool interrupt(struct lane *lane, uint32_t gate)
{
    const uint32_t outer = lane->nested;
    if (gate & GATE_RECORD || outer == LANE_NEST_MOST) {
        turn_count_reentrant(lane);
        return false;
    }
    lane->outer[outer].gate = gate;
    lane->outer[outer].as_call = lane->as_call;
    atomic_signal_fence(memory_order_seq_cst); /* as lane_set_gate: for handlers */
    lane->nested = outer + 1;
    lane->as_call = 0;
    lane_set_gate(lane, GATE_FORWARD);
    return true;
}

cold_path static bool attach_or_not(struct lane **ret_lane)
{
    *ret_lane = attach();
    return *ret_lane != NULL;
}

__attribute__((noinline)) enum turn turn_slow(struct lane **ret_lane, const void *caller)
{
    struct lane *lane = shim_lane;
    if (lane == NULL && !attach_or_not(&lane)) {
        if (!boot_resolve())
            return TURN_BOOT;
        count_without_lane();
        return TURN_FORWARD;
    }
    uint32_t gate = lane_gate(lane);
    /* libc's allocator calls none of its exported names but for GATE_PASS. Other allocators' calls may be their own; what they
     * have libc allocate for them is recorded, too. */
    if ((gate & GATE_RECORD) ||
        ((gate & (GATE_FORWARD | GATE_PASS)) == GATE_FORWARD && !boot_is_allocators(caller))) {
        *ret_lane = lane;
        return interrupt(lane, gate) ? TURN_RECORD : TURN_FORWARD;
    }
    if (gate & GATE_BUSY)
        return TURN_FORWARD;
    if ((gate & GATE_AS) && operator_was_left(lane)) {
        turn_operator_left(lane);
        lane = shim_lane; /* a forked child got another one */
        if (lane == NULL)
            return TURN_FORWARD;
        gate = GATE_OPEN;
    }
    lane_set_gate(lane, gate | GATE_FORWARD);
    *ret_lane = lane;
    return TURN_RECORD;
}

void turn_allocated(struct lane *lane, unsigned call, const void *address, size_t size, size_t extra)
{
    /* A smaller request than the operator's own is not the one that serves it. */
    if (unlikely(lane->as_call != 0) && size >= lane->as_size) {
        call = lane->as_call;
        size = lane->as_size;
        extra = lane->as_extra;
        lane->as_call = 0;
    }
    lane = lane_record(lane, true, call, (uintptr_t)address, size, extra);
    turn_done(lane);
}

/* Note how much of an object that goes is in memory, if it is a large one. */
cold_path static struct lane *note_resident(struct lane *lane, const void *address)
{
    uint32_t share;
    if (!large_take(address, &share))
        return lane;
    return lane_record(lane, false, FP_MARK_RESIDENT, (uintptr_t)address, 0, share);
}

struct lane *turn_record(struct lane *lane, unsigned call, const void *address, size_t size, size_t extra)
{
    if (unlikely(large_suspects(address)))
        lane = note_resident(lane, address);
    lane = lane_record(lane, false, call, (uintptr_t)address, size, extra);
    lane_set_gate(lane, GATE_FORWARD | (lane->as_call != 0 ? GATE_AS : 0));
    return lane;
}

/* Objects that are never released. After the program's own handlers of exit(3), so that what those release is told; not
 * after _exit(2) nor a signal, and not for a child that made no call. */
__attribute__((destructor)) static void note_the_rest(void)
{
    struct lane *lane = shim_lane;
    uintptr_t address;
    uint32_t share;
    if (lane == NULL || lane_gate(lane) != GATE_OPEN || get_relaxed(&lane->state) != LANE_LIVE)
        return;
    for (uint32_t at = 0; large_left(&at, &address, &share);) {
        lane = lane_record(lane, false, FP_MARK_RESIDENT, address, 0, share);
        lane_set_gate(lane, GATE_OPEN);
    }
}
