/* lane.h - one thread's way into the segment: state of a lane, and the fast path that stores a record.
 *
 *   lane   per-thread state, in memory that fork wipes (MADV_WIPEONFORK): a child finds zeroes, notices at its
 *          next record, and attaches as a process of its own. Nothing of ours can be held locked across a fork.
 *   gate   what the thread is doing inside the shim; 0 when it is in the program's own code
 *   as     "record the nested call as": operator new is about to be served through malloc
 *
 * All of it belongs to its own thread; signal handlers of that thread see it between any two instructions.
 * No function here calls malloc, stdio, or changes errno. */
#ifndef MALLAB_SHIM_PRELOAD_LANE_H
#define MALLAB_SHIM_PRELOAD_LANE_H

#include "footprint/base/call.h"
#include "footprint/fp/record.h"
#include "shim/preload/chosen.h"
#include "shim/preload/shim.h"

enum lane_gate {
    GATE_OPEN = 0,
    GATE_FORWARD = 1, /* inside the next allocator: nested calls are its own business */
    GATE_RECORD = 2,  /* storing a record: a nested call comes from a signal handler */
    GATE_AS = 4,      /* an operator new is under way, see as_call; may be joined with the others */
    GATE_PASS = 8, /* with GATE_FORWARD: what that calls is ours (delete calls free, reallocarray realloc) */
    GATE_BUSY = GATE_FORWARD | GATE_RECORD,
};

#define LANE_NEST_MOST 3u

enum lane_state {
    LANE_FREE = 0, /* also what a forked child reads */
    LANE_LIVE = 1,
    LANE_EXITED = 2, /* its thread has run its destructors; calls may still come until it is gone */
    LANE_ASKED = 3,  /* likewise; somebody asks whether it is gone, to have the lane if so */
};

struct lane {
    uint64_t *cursor;     /* next word; NULL without a chunk */
    uintptr_t group_mask; /* a stamp is due where cursor & group_mask is 0: LANE_GROUP_* less 1; 0: always */
    uintptr_t make_mask;  /* likewise for allocations; with stacks 0: all go the slow way */
    _Atomic uint64_t *epoch_word; /* of our slot */
    uint64_t epoch;               /* of the records at the cursor */
    _Atomic uint32_t gate;        /* enum lane_gate; atomic for the thread's own signal handlers only */
    _Atomic uint32_t state;       /* enum lane_state */
    struct lane_sites *sites;     /* lane_chunk.h; NULL: stacks are not recorded */
    uint64_t seen_epoch;          /* docs/order.md: "remembered" epoch and clock */
    uint64_t seen_clock;
    uint64_t stamp_clock;  /* of the last stamp; 0: none yet */
    uint64_t sequence;     /* of the stream's next chunk */
    uint64_t lost_pending; /* calls lost since the last FP_MARK_GAP */
    uint32_t number;       /* within the slot, of the thread that has the lane now */
    uint32_t stream;       /* of all threads that had it, one after the other: whose chunks these are */
    uint32_t thread_id;
    uint32_t chunk;        /* index, while cursor is not NULL */
    uint32_t exit_rounds;  /* destructor iterations seen */
    uint32_t as_call;      /* 0: none, or recorded already */
    uint64_t cut;          /* the one that what we store stands behind; 0: none */
    uint32_t seldom_close; /* while `seldom`: records that followed each other closely */
    bool seldom;           /* it calls so seldom that each call may have its time: lane_record.c */
    bool gap_pending;
    bool gap_lost;       /* it is one of lost calls, not only of a pause */
    bool armed;          /* the thread-exit destructor is set */
    bool waiting;        /* counted among space_waiters */
    uint64_t gave_up;    /* clock at the last look for a chunk, after a wait in vain; 0: none */
    uint32_t generation; /* of the segment that the cursor is in (struct shim_process) */
    uint64_t as_size, as_extra;
    uintptr_t as_frame; /* stack address of the operator: a call from above it is not nested in it */
    uint32_t nested;    /* calls that a handler's interrupted in the allocator, and what they were doing */
    struct {
        uint32_t gate, as_call;
    } outer[LANE_NEST_MOST];
    uint64_t random; /* of the gaps between chosen objects */
};

#pragma GCC visibility push(hidden) /* for declarations too: no detour over the GOT */

/* The calling thread's lane, NULL before its first call. Initial-exec: the dynamic TLS model allocates. */
extern __thread struct lane *shim_lane __attribute__((tls_model("initial-exec")));

/* lane_record_slow - the whole work of a record: group boundaries, wide numbers, chunk change, forked children (turn.c).
 * extra     FP_EXTRA_*'s number.
 * Returns   the lane that the thread has now, with its gate at GATE_RECORD; a dummy one when off. */
struct lane *lane_record_slow(struct lane *lane, unsigned call, uintptr_t address, uint64_t size,
                              uint64_t extra);

/* lane_set_gate - the signal fences keep the stores of a record between the two gates around it, as seen by a
 * handler on this thread; they cost no instruction. */
static inline void lane_set_gate(struct lane *lane, uint32_t gate)
{
    atomic_signal_fence(memory_order_seq_cst);
    put_relaxed(&lane->gate, gate);
    atomic_signal_fence(memory_order_seq_cst);
}

static inline uint32_t lane_gate(const struct lane *lane)
{
    return get_relaxed(&lane->gate);
}

#define LANE_PREFETCH_BYTES 512 /* ahead of the cursor; past a chunk's end it does no harm */

/* lane_prefetch - the collector zeroed the lines ahead on another processor: ask for them, and for leave to write,
 * before the stores need them. gcc knows prefetchw only for processors that promise it; others take it for a
 * no-operation (Intel SDM vol. 2, PREFETCHW; AMD64 manual vol. 3). */
static inline void lane_prefetch(const uint64_t *cursor)
{
    const char *ahead = (const char *)cursor + LANE_PREFETCH_BYTES;
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*ahead));
#else
    __builtin_prefetch(ahead, 1);
#endif
}

/* A lane that is alone in its process has its own order, and needs stamps for the time only. */
#define LANE_GROUP_MANY  FP_RECORD_GROUP_BYTES
#define LANE_GROUP_ALONE (4 * FP_RECORD_GROUP_BYTES)

/* lane_set_groups - how long the groups are from now on. */
static inline void lane_set_groups(struct lane *lane, uintptr_t mask)
{
    lane->group_mask = mask;
    lane->make_mask = lane->sites != NULL || shim_chosen.mean != 0 ? 0 : mask;
}

#define LANE_SIZE_BITS 14u
#define LANE_LARGE     (~UINT64_C(0) << LANE_SIZE_BITS)
_Static_assert(FP_MIDDLING_BYTES == 1u << LANE_SIZE_BITS && LANE_SIZE_BITS <= FP_RECORD_SHORT_SIZE_BITS,
               "the one test says all");

/* lane_store - put a call of one word at the cursor, with the gate at GATE_RECORD; the fast path. A cursor at a group's end needs a
 * stamp, at a chunk's end a chunk; NULL looks like both.
 * The epoch is read here, so callers keep the law of order by calling it after the allocator returned
 * (allocations) or before it is entered (releases). Acquire, with fetch_add of other lanes: see docs/order.md.
 * allocates whether the call may have a site.
 * code      fp_record_code's; 0 never fits.
 * Returns   whether it was stored; if not, lane_record_slow has to. */
static inline bool lane_store(struct lane *lane, bool allocates, unsigned code, uintptr_t address,
                              uint64_t size)
{
    uint64_t *cursor = lane->cursor;
    uint64_t epoch;
    if (unlikely(code == 0 || ((uintptr_t)cursor & (allocates ? lane->make_mask : lane->group_mask)) == 0))
        return false;
    epoch = get_acquire(lane->epoch_word);
    /* Numbers that do not fit one word, and objects of which something is to be noted (large.h). */
    if (unlikely(epoch != lane->epoch || ((size & LANE_LARGE) | address >> FP_RECORD_ADDRESS_BITS |
                                          (address & FP_RECORD_CODE_MASK)) != 0))
        return false;
    /* One word, so whole or absent; the collector reads it after an acquire of the chunk's state, or when the
     * writer is dead. */
    __atomic_store_n(cursor, fp_record_short(code, address, size), __ATOMIC_RELAXED);
    lane->cursor = cursor + 1;
    lane_prefetch(cursor);
    return true;
}

/* lane_record - store a call; allocates as in lane_store. Returns the lane to go on with, gate at GATE_RECORD. */
static inline struct lane *lane_record(struct lane *lane, bool allocates, unsigned call, uintptr_t address,
                                       uint64_t size, uint64_t extra)
{
    lane_set_gate(lane, GATE_RECORD);
    if (unlikely(extra != fp_record_extra(call) ||
                 !lane_store(lane, allocates, fp_record_code(call), address, size)))
        return lane_record_slow(lane, call, address, size, extra);
    return lane;
}

#pragma GCC visibility pop

#endif
