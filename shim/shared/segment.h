/* segment.h - the shared memory between the recorded processes and their collector.
 *
 *   segment  shared memory of the processes of one user, mapped MAP_SHARED, held open by none of them. The recording's user has a
 *            file in /dev/shm, which outlives us all; each other user two files without names, which that user cannot cut
 *   slot     one process image's line in the process table
 *   lane     one thread's records; numbered within its slot
 *   stream   the records of threads that had one struct lane, one after the other; likewise
 *   chunk    SEG_CHUNK_BYTES of one stream: a header, then records (footprint/fp/record.h)
 *
 * A segment is two parts, each of them whole pages:
 *
 *   told    seg_header, seg_slot_note by slot, seg_chunk_note by chunk: what the collector alone writes. The processes have it
 *           mapped for reading; those of other users by a file of its own that they cannot open, map or remap for writing
 *   shared  seg_shared, slots, chunk state words, chunks: what the processes write. Chunks stand at multiples of their
 *           size so that a cursor's low bits tell where in its chunk it stands
 *
 * Any recorded process can write anything into the shared part, of other processes of its user too: see seg_view below.
 *
 * Chunk life:  FREE -> OPEN (a process, compare-and-swap, owner in the same word)
 *                   -> LEFT (its thread, which ends: libc still frees a little on it)
 *                   -> OPEN (from LEFT: the thread that has the lane next, once the former is gone)
 *                   -> FULL (its thread; or the collector, once the thread is dead)
 *                   -> FREE (the collector, after writing and zeroing it, whatever it was when its process died)
 * A claim and its owner are one word, so a SIGKILL at any instruction leaves a state that tells whose chunk
 * it is. Records become visible by their first word, which is stored last; the collector reads a chunk only when it is
 * FULL (acquire, with the release that stored FULL) or when its writer is dead. */
#ifndef MALLAB_SHIM_SHARED_SEGMENT_H
#define MALLAB_SHIM_SHARED_SEGMENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "footprint/fp/footprint.h"
#include "footprint/fp/record.h"

/* Short names for atomic accesses, in which the order stands: C's own fill a line each. */
#define get_relaxed(word)        atomic_load_explicit(word, memory_order_relaxed)
#define get_acquire(word)        atomic_load_explicit(word, memory_order_acquire)
#define put_relaxed(word, value) atomic_store_explicit(word, value, memory_order_relaxed)
#define put_release(word, value) atomic_store_explicit(word, value, memory_order_release)
#define add_relaxed(word, value) atomic_fetch_add_explicit(word, value, memory_order_relaxed)
#define sub_relaxed(word, value) atomic_fetch_sub_explicit(word, value, memory_order_relaxed)
#define add_acq_rel(word, value) atomic_fetch_add_explicit(word, value, memory_order_acq_rel)

/* The compare-and-swaps, named by the order of success; a failure is relaxed. Only the last may fail for nothing. */
#define swap_relaxed(word, seen, value)                                                                      \
    atomic_compare_exchange_strong_explicit(word, seen, value, memory_order_relaxed, memory_order_relaxed)
#define swap_acquire(word, seen, value)                                                                      \
    atomic_compare_exchange_strong_explicit(word, seen, value, memory_order_acquire, memory_order_relaxed)
#define swap_acq_rel(word, seen, value)                                                                      \
    atomic_compare_exchange_strong_explicit(word, seen, value, memory_order_acq_rel, memory_order_relaxed)
#define try_swap_relaxed(word, seen, value)                                                                  \
    atomic_compare_exchange_weak_explicit(word, seen, value, memory_order_relaxed, memory_order_relaxed)

#define SEG_MAGIC        UINT64_C(0x31474553424c4c4d) /* "MLLBSEG1" in memory order */
#define SEG_VERSION      15u                          /* bump with any change of this file's layouts */
#define SEG_CHUNK_BYTES  32768u
#define SEG_SLOT_COUNT   1024u /* process images at one time */
#define SEG_CHUNKS_LEAST 4u
#define SEG_CHUNKS_MOST  (1u << 21)
#define SEG_CHUNK_HEADER 64u
#define SEG_CHUNK_WORDS  (SEG_CHUNK_BYTES / 8)
#define SEG_FIRST_WORD   (SEG_CHUNK_HEADER / 8) /* of a chunk's records */
#if defined(__aarch64__)
#define SEG_PAGE_BYTES 65536u /* the largest that its kernels have */
#else
#define SEG_PAGE_BYTES 4096u
#endif
#define SEG_EXECUTABLE   256u
#define SEG_PROGRAM      64u
#define SEG_FILE         160u
#define SEG_DIRECTORY    2048u
#define SEG_THREAD_SHIFT 42u
#define SEG_NOBODY       UINT64_C(0) /* serial of no process */
#define SEG_OTHERS       8u          /* names of programs that --only leaves out, as examples */

enum seg_clock {
    SEG_CLOCK_TSC = 1,       /* rdtsc ticks */
    SEG_CLOCK_MONOTONIC = 2, /* ns of CLOCK_MONOTONIC */
};

enum seg_flag {
    SEG_FLAG_DROP = 1u << 0,      /* with no chunk free, lose the call instead of waiting */
    SEG_FLAG_NO_FOLLOW = 1u << 1, /* only leader_pid is recorded */
    SEG_FLAG_RESIDENT = 1u << 3,  /* how much of large objects is in memory is noted (large.h) */
    SEG_FLAG_SITES = 1u << 5,     /* the call stack of each allocation is recorded (lane_sites.c) */
};

/* A cut: the epoch from which on all lanes of a process begin other chunks, and whether they record from there on or
 * not. It is stored before the epoch word comes to it, so that every record of that epoch or a later one stands
 * behind the cut, and all others before it (docs/notes/order.md, "Cuts"). */
#define SEG_CUT_PAUSED   1u
#define SEG_CUT_DISTANCE (UINT64_C(1) << 20) /* epochs: a second of steps; the collector needs a moment */

/* These never change once the collector has published magic. Whoever maps the segment copies them,
 * checked, into memory of its own (struct seg_view), and reads them there only. */
struct seg_fixed {
    uint32_t version;
    uint32_t collector_pid;
    uint32_t clock;       /* enum seg_clock */
    uint32_t flags;       /* enum seg_flag */
    uint32_t chunk_count; /* with it, all offsets are known: seg_view_at */
    uint32_t filters; /* behind how many seccomp filters the collector tried what SEG_FLAG_RESIDENT takes */
    uint64_t bump_ticks;   /* clock units between two steps of the epoch word by one lane */
    uint64_t seldom_ticks; /* clock units: a lane whose group took as long calls seldom; 0: none does */
    uint64_t clock_first_ticks, clock_first_ns, clock_start_unix_ns; /* struct collect_clock */
    uint64_t pid_namespace; /* inode of the collector's, 0 unknown: process ids mean nothing elsewhere */
    uint64_t sites_bytes;   /* with SEG_FLAG_SITES: the mean of a sample (footprint/fp/fp_sites.h); 0: all */
};

/* The first page, in cache lines by writer. */
struct seg_header {
    _Atomic uint64_t magic; /* stored last, release */
    struct seg_fixed fixed;
    char directory[SEG_DIRECTORY]; /* of the recording, absolute; "" when it does not fit */

    /* Stepped while recording goes on. */
    _Alignas(64) _Atomic uint32_t stopped; /* nothing more is recorded (--duration has passed) */
    _Atomic uint32_t closing;              /* enum seg_closing; futex */
    _Atomic uint32_t space;                /* futex: stepped when chunks became free and somebody waits */
    _Atomic uint64_t heartbeat_ns;         /* CLOCK_MONOTONIC at the collector's last round */
    _Atomic uint64_t clock_last_ticks, clock_last_ns; /* struct collect_clock, likewise */
    _Atomic uint32_t starved; /* every chunk is open in some lane: waiting for one may last for ever */
    _Atomic uint32_t crowded; /* every slot is a live process's: likewise */
    _Atomic uint32_t paused;  /* nothing is recorded at present; for slots that are being taken */
    _Atomic uint32_t window;  /* the present one, from 1; 0: the recording is not cut into windows */
    _Atomic uint32_t held; /* chunks below this index have memory behind them: a store there is no SIGBUS */
};

/* The collector's of a slot: what its process heeds, and what whoever recovers a killed collector's recording needs. */
struct seg_slot_note {
    _Alignas(64) _Atomic uint64_t cut; /* newest one, 0: none; see seg_cut */
    _Atomic uint64_t cut_before;
    _Atomic uint64_t events; /* calls written to the footprint */
    char file[SEG_FILE];     /* of the footprint; "": none yet */
};

/* The collector's of a chunk, so that it is not written twice when the collector dies between writing and freeing it. */
struct seg_chunk_note {
    uint64_t block; /* 1 + number of the block that its records go into, from `split` on; 0: none yet */
    uint64_t split; /* word at which that block begins in this chunk; 0: at its first record */
    uint64_t rest;  /* word at which the block after that one begins; 0: that one takes all */
};

/* The shared part's first page. */
struct seg_shared {
    _Alignas(128) _Atomic uint32_t doorbell; /* futex the collector sleeps on */
    _Atomic uint32_t asleep;                 /* enum seg_sleep */
    _Atomic uint32_t space_waiters;
    _Atomic uint32_t leader_pid; /* the first process that attached; 0 none yet */
    _Atomic uint64_t serials;    /* processes attached so far */
    _Atomic uint64_t unattached; /* processes that found no slot */
    _Atomic uint64_t others;     /* processes whose names --only leaves out */
    char other_names[SEG_OTHERS][SEG_PROGRAM];
};

/* A process of another user than the segment that it knows asks for one by a datagram to the recording's socket; the kernel says who it is.
 * The answer has two descriptors, of what is told and of what is shared, or none: it is not to be recorded. It says which slot the process
 * has there (uint32_t), with all that stood in the one before; SEG_SLOT_COUNT: none yet. */
struct seg_ask {
    uint64_t mark;   /* SEG_ASK_MARK: no name of a program begins so */
    uint64_t serial; /* of the slot that it has; SEG_NOBODY: none */
};

#define SEG_ASK_MARK UINT64_C(1)

enum seg_closing {
    SEG_OPEN = 0,
    SEG_CLOSING = 1, /* the collector is taking a last look: wait what becomes of it */
    SEG_CLOSED = 2,  /* for good: nobody drains any more */
};

enum seg_sleep {
    SEG_AWAKE = 0,
    SEG_NAP = 1,  /* about a millisecond: ring only when chunks run short */
    SEG_SLEEP = 2 /* long: ring when there is work */
};

enum seg_slot_state {
    SEG_SLOT_FREE = 0,
    SEG_SLOT_ATTACHING = 1, /* claimed, fields not yet valid */
    SEG_SLOT_ATTACHED = 2,
    SEG_SLOT_ENDED = 3, /* the collector has taken it out of use, records not yet drained */
};

/* A process's usage as it tells it, by getrusage(2) and /proc/self/status. Since it began: an exec changes nothing but the
 * memory's figures. 0: not known, where a process cannot have used nothing. */
struct seg_usage {
    uint64_t at_ns; /* CLOCK_MONOTONIC */
    uint64_t user_us, system_us, faults_minor, faults_major;
    uint64_t peak_kib, rss_kib, anon_kib, file_kib, shared_kib;
};

enum seg_usage_end {
    SEG_USAGE_NONE = 0,
    SEG_USAGE_EXIT = 1,
    SEG_USAGE_EXEC = 2, /* of this image nothing comes any more; NONE again where it failed */
};

/* The allocator under the program. */
struct seg_allocator {
    _Atomic uint32_t how; /* enum fp_runs_on; stored last, release */
    uint32_t in_front;    /* not 0: it is asked before us, and we see no call that it does not pass on */
    uint32_t cxx_library; /* not 0: libstdc++ was loaded at the start, for no allocator */
    char name[32], version[64];
    char library[SEG_EXECUTABLE]; /* "": the program itself */
};

struct seg_slot {
    _Atomic uint64_t state; /* enum seg_slot_state, pid in bits 32-63: 0 for one of another pid namespace */
    uint64_t serial;        /* of this process image, from 1, never used twice in a segment */
    uint64_t parent_serial; /* of the process that forked this one; SEG_NOBODY for a fresh image */
    uint64_t map_address;   /* of the segment here, which proves that a pid is this image; 0: not yet */
    uint32_t parent_pid;
    uint32_t fork_number; /* FP_MARK_FORK that the parent wrote before this process came to be */
    _Atomic uint32_t lane_count;
    uint32_t inner_pid;     /* as the process knows it */
    uint64_t pid_namespace; /* inode of the process's, 0 unknown */
    _Atomic uint64_t lost[FP_LOSS_COUNT];
    _Atomic uint64_t stalls; /* waits for a free chunk */
    _Atomic uint64_t stall_ns;
    char executable[SEG_EXECUTABLE];
    char program[SEG_PROGRAM]; /* the name that the program was called by */
    struct seg_allocator allocator;
    struct seg_usage begin, end; /* end: with usage_end only */
    _Atomic uint32_t usage_end;  /* enum seg_usage_end; stored behind `end`, release */
    uint64_t first_cut; /* the one that its records stand behind until the collector announces another */
    _Alignas(128) _Atomic uint64_t epoch; /* the order word (docs/order.md), in a pair of lines of its own */
};

enum seg_chunk_state {
    SEG_CHUNK_FREE = 0,
    SEG_CHUNK_OPEN = 1,
    SEG_CHUNK_FULL = 2,
    SEG_CHUNK_LEFT = 3, /* open, of a thread that has run its destructors: it is about to end */
};

/* First 64 bytes of a chunk. magic is stored last (release): without it there are no records. */
struct seg_chunk_header {
    _Atomic uint64_t magic;
    uint64_t sequence; /* of this chunk within its stream, from 0 */
    uint64_t serial;   /* of the process; for whoever looks at a segment by hand */
    uint32_t lane;     /* of the first record; FP_RECORD_THREAD begins another's; likewise the next */
    uint32_t thread_id;
    uint64_t cut; /* behind which cut of its slot it stands */
    uint64_t unused[3];
};

#define SEG_CHUNK_MAGIC UINT64_C(0x6b6e756863626c6d)

_Static_assert(sizeof(struct seg_chunk_header) == SEG_CHUNK_HEADER, "records start after the header");
_Static_assert(sizeof(struct seg_slot) % 128 == 0, "slots must not share the epoch's cache line");
_Static_assert(sizeof(struct seg_header) % 64 == 0 && sizeof(struct seg_slot_note) % 64 == 0 &&
                   sizeof(struct seg_shared) % 128 == 0,
               "what follows them is aligned");

static inline uint64_t seg_cut(uint64_t epoch, bool paused)
{
    return epoch << 1 | (paused ? SEG_CUT_PAUSED : 0);
}

static inline uint64_t seg_cut_epoch(uint64_t cut)
{
    return cut >> 1;
}

/* seg_chunk_word - a chunk's state word: state in bits 0-3, slot in 4-19, stream in 20-41; and in 42-63 the id of the thread that has
 * it, which is below 2^22 (proc(5), pid_max): 0 where none has. Of a full one, whose thread closed it, how many words it has. */
static inline uint64_t seg_chunk_word(enum seg_chunk_state state, uint32_t slot, uint32_t stream,
                                      uint32_t thread_id)
{
    return (uint64_t)state | (uint64_t)slot << 4 | (uint64_t)stream << 20 |
           (uint64_t)thread_id << SEG_THREAD_SHIFT;
}

static inline enum seg_chunk_state seg_chunk_state_of(uint64_t word)
{
    return (enum seg_chunk_state)(word & 15);
}

static inline uint32_t seg_chunk_slot_of(uint64_t word)
{
    return (uint32_t)(word >> 4 & 0xffff);
}

static inline uint32_t seg_chunk_stream_of(uint64_t word)
{
    return (uint32_t)(word >> 20 & 0x3fffff);
}

static inline uint32_t seg_chunk_thread_of(uint64_t word)
{
    return (uint32_t)(word >> SEG_THREAD_SHIFT);
}

static inline uint64_t seg_slot_word(enum seg_slot_state state, uint32_t pid)
{
    return (uint64_t)state | (uint64_t)pid << 32;
}

/* ---- the view ----------------------------------------------------------------------------------
 *
 * Where a mapped segment's parts are, and how long, in memory that nobody else can write. Addresses, indexes and lengths come
 * from here: a word in shared memory is never one before it is held against these bounds, and is read once for that. */
struct seg_view {
    struct seg_header *header;          /* NULL: nothing is mapped */
    struct seg_slot_note *slot_notes;   /* SEG_SLOT_COUNT, as slots */
    struct seg_chunk_note *chunk_notes; /* fixed.chunk_count, as states and chunks */
    struct seg_shared *shared;
    struct seg_slot *slots;
    _Atomic uint64_t *states;
    char *chunks;
    uint64_t shared_offset; /* bytes from the segment's beginning: so many are only told */
    uint64_t chunks_offset; /* bytes from the segment's beginning */
    uint64_t bytes;         /* of all of it */
    struct seg_fixed fixed; /* the header's, copied once */
};

/* seg_chunk_count_is_valid - whether a segment may have so many chunks. */
static inline bool seg_chunk_count_is_valid(uint32_t chunk_count)
{
    return chunk_count >= SEG_CHUNKS_LEAST && chunk_count <= SEG_CHUNKS_MOST;
}

/* seg_view_at - the view of a segment of chunk_count chunks, a valid number of them, that begins at an address; `fixed` is zero
 * but for that number. With NULL only the sizes are of use. */
static inline struct seg_view seg_view_at(void *base, uint32_t chunk_count)
{
    const uint64_t mask = SEG_CHUNK_BYTES - 1;
    const uint64_t slot_notes = sizeof(struct seg_header);
    const uint64_t chunk_notes = slot_notes + SEG_SLOT_COUNT * sizeof(struct seg_slot_note);
    const uint64_t told = chunk_notes + (uint64_t)chunk_count * sizeof(struct seg_chunk_note);
    struct seg_view view = {.header = (struct seg_header *)base};
    view.shared_offset = (told + SEG_PAGE_BYTES - 1) & ~(uint64_t)(SEG_PAGE_BYTES - 1);
    const uint64_t slots = view.shared_offset + sizeof(struct seg_shared);
    const uint64_t states = slots + SEG_SLOT_COUNT * sizeof(struct seg_slot);
    view.chunks_offset = (states + (uint64_t)chunk_count * 8 + mask) & ~mask;
    view.bytes = view.chunks_offset + (uint64_t)chunk_count * SEG_CHUNK_BYTES;
    view.fixed.chunk_count = chunk_count;
    if (base == NULL)
        return view;
    view.slot_notes = (struct seg_slot_note *)((char *)base + slot_notes);
    view.chunk_notes = (struct seg_chunk_note *)((char *)base + chunk_notes);
    view.shared = (struct seg_shared *)((char *)base + view.shared_offset);
    view.slots = (struct seg_slot *)((char *)base + slots);
    view.states = (_Atomic uint64_t *)((char *)base + states);
    view.chunks = (char *)base + view.chunks_offset;
    return view;
}

/* Each eighth chunk is kept for one slot of 64, in turn: a process that claims all chunks that it can leaves those of other slots
 * theirs. They take them also from a word of a slot that may not have them, and the collector heeds no such word.
 * seg_is_kept    whether a chunk is kept for some.
 * seg_for_all    how many of the first `count` chunks are not.
 * seg_may_have   whether a slot's process may claim it. */
#define SEG_KEPT_EACH 8u

static inline bool seg_is_kept(uint32_t index)
{
    return index % SEG_KEPT_EACH == SEG_KEPT_EACH - 1;
}

static inline uint32_t seg_for_all(uint32_t count)
{
    return count - count / SEG_KEPT_EACH;
}

static inline bool seg_may_have(uint32_t index, uint32_t slot)
{
    return !seg_is_kept(index) || index / SEG_KEPT_EACH % 64 == slot % 64;
}

/* seg_word - a chunk's state word; a free one's where the slot in it may not have that chunk. */
static inline uint64_t seg_word(const struct seg_view *view, uint32_t index)
{
    const uint64_t word = get_acquire(&view->states[index]);
    return seg_may_have(index, seg_chunk_slot_of(word)) ? word : (uint64_t)SEG_CHUNK_FREE;
}

static inline struct seg_chunk_header *seg_chunk(const struct seg_view *view, uint32_t index)
{
    return (struct seg_chunk_header *)(view->chunks + (uint64_t)index * SEG_CHUNK_BYTES);
}

/* seg_held - chunks below this index may be used. */
static inline uint32_t seg_held(const struct seg_view *view)
{
    const uint32_t held = get_acquire(&view->header->held);
    return held < view->fixed.chunk_count ? held : view->fixed.chunk_count;
}

#endif
