/* lane_chunk.h - the chunks that lanes fill: taken from the segment, waited for, handed to the collector; their records; and lanes. */
#ifndef MALLAB_SHIM_PRELOAD_LANE_CHUNK_H
#define MALLAB_SHIM_PRELOAD_LANE_CHUNK_H

#include <stdbool.h>
#include <stdint.h>

#include "footprint/fp/record.h"
#include "shim/preload/lane.h"
#include "shim/sites/nodes.h"
#include "shim/sites/walk.h"

#define RECORD_WORDS_MOST 3u

/* lane_open_chunk - make the cursor point behind the header of a new chunk, waiting for one if need be.
 * call     what is lost when there is none.
 * Returns  whether there is one; else the loss is counted. */
bool lane_open_chunk(struct lane *lane, unsigned call);

/* lane_close_chunk - hand the lane's chunk to the collector; the next record opens another. */
void lane_close_chunk(struct lane *lane);

/* lane_leave_chunk - the thread has run its last destructor: what libc still frees on it goes into the chunk that is open. The thread
 *                    that has the lane next goes on in it, or the collector takes it.
 * lane_inherit_chunk - take over the chunk that the lane's last thread, which is gone, has left: a page and a chunk for each of
 *                      many threads that make few calls would be most of what they cost.
 *                      former: that thread's id.
 *                      Returns whether the lane goes on in it; else its cursor is NULL. */
void lane_leave_chunk(struct lane *lane);
bool lane_inherit_chunk(struct lane *lane, uint32_t former);

/* lane_repair - a jump has left the storing of a record: what is half in place goes, and the lane can be stored into again. */
void lane_repair(struct lane *lane);

/* lane_lose - count a call that is not recorded; a gap stands in its place. A mark that is no call is not counted. */
void lane_lose(struct lane *lane, unsigned call, enum fp_loss cause);

/* lane_ring - wake the collector; a confined process' ring it notices at its next round.
 * lane_wake - lane_ring, where the collector sleeps at least so deep. */
void lane_ring(void);
void lane_wake(enum seg_sleep least);

/* ---- records that the fast path (lane.h) leaves over: stamps, wide numbers, gaps, cuts, the first one of a chunk ---- */

/* lane_clock - the clock that stamps are read from: ticks or nanoseconds, rising. */
uint64_t lane_clock(void);

/* lane_put - store a record of any kind, of a live lane with its gate at GATE_RECORD. What cannot be stored is counted. */
void lane_put(struct lane *lane, unsigned call, uintptr_t address, uint64_t size, uint64_t extra);

/* lane_put_sited - likewise an allocation with its site, which is not 0, where that is not the one that is guessed; without memory for guesses always. */
void lane_put_sited(struct lane *lane, unsigned call, uintptr_t address, uint64_t size, uint64_t extra,
                    uint32_t site);

/* lane_begin_thread - say in the chunk at the cursor, which is not NULL, that what follows is the present thread's. */
void lane_begin_thread(struct lane *lane);

/* ---- where lanes come from, and go to when their threads have ended ---- */

/* The id of the calling thread, as it was when it got its lane; a forked child reads its parent's until it has one. */
extern __thread uint32_t lane_thread __attribute__((tls_model("initial-exec")));

/* lane_take - a lane for the calling thread, live; of a thread that is gone, or one that nobody had. NULL: no memory. */
struct lane *lane_take(void);

/* lane_forget_inherited - in a forked child: never hand out a lane that the parent may have used. */
void lane_forget_inherited(void);

/* lane_keep_out - let each lane's next record go the slow way, whatever its epoch word says. Returns whether a thread but that of `mine`
 * has one of these gates: then it is to be called again.
 * lane_retire_all - all lanes are nobody's: their threads' next records find that, and touch no shared memory.
 * lane_wipe_all - make them what a forked child finds, behind that: for a moment at which no thread has a gate that is not open.
 * lane_starts - so many threads are about to have a lane. */
bool lane_keep_out(const struct lane *mine, uint32_t gates);
void lane_retire_all(void);
void lane_wipe_all(void);
extern _Atomic uint32_t lane_starts;

/* lane_make_ready - memory for the lanes of threads that begin when none can be mapped any more (confine.h). */
void lane_make_ready(void);

/* ---- how long a program waits for a collector that does not work.
 *   heartbeat  the collector's clock in the segment, stepped in every round and after every block: some 10 ms apart
 *   silence    the time since the last heartbeat: the collector is stopped, blocked by its disk, starved, or dead
 * Waiting for a collector that works is the user's choice (--on-full); a silent one would delay the program for nothing
 * that can be foreseen. So a silence is waited for once, PATIENCE_NS from its begin; then calls are lost and counted,
 * without any wait, until the heartbeat steps. Each further silence that a process gave up on halves its patience: a
 * disk that hangs again and again costs a program 2 s of its life and LATE_NS each time, not PATIENCE_NS each time. */

/* patience_collector_is_gone - whether the collector is dead, or silent for longer than this process waits for it. Steps
 * the process's count of silences: for slow paths that can do without an answer only. */
bool patience_collector_is_gone(void);

/* patience_is_given_up - whether the present silence was given up on already. patience_give_up - give up on the silence that
 * began with this heartbeat. patience_ns - how long this process waits in the next one. Without a system call. */
bool patience_is_given_up(void);
void patience_give_up(uint64_t heartbeat);
uint64_t patience_ns(void);

/* ---- whose shared memory a process is in */

/* user_take_segment - what is mapped from here on is this user's.
 * user_check - be in the own user's memory; `attaches`: the process is about to take a slot.
 * user_leave - nothing is recorded any more, for good: take the lanes back, and the shared memory out of the process. Returns false
 *              while a thread is at it: then it is to be called again, behind a membarrier(2). Where no thread attaches any more.
 * user_may_have_changed - behind a call by which a process becomes another user; user_by_calls_only: nothing else tells it. */
void user_take_segment(uint32_t user);
void user_check(bool attaches);
bool user_leave(void);
void user_may_have_changed(void);
extern bool user_by_calls_only;

/* user_looks - before a chunk is taken, with the gate at GATE_RECORD: whether the process became another user.
 * user_follow - the process moved, or is about to: the lane goes on there, without a chunk. */
void user_looks(struct lane *lane);
void user_follow(struct lane *lane);

/* ---- the call stack of an allocation, as a number that its record has (fp_sites.h). Only where SEG_FLAG_SITES is set:
 * then each lane has a struct lane_sites, and takes the slow way with every allocation that is recorded.
 *
 * Laws: those of shim/sites/walk.h while a stack is walked. Memory comes from the kernel when a process or thread attaches; where
 * it cannot (a confined one), allocations have no site. */

#define LANE_SEEN_MOST  208u
#define LANE_INDEX_BITS 10u

/* Stacks in memory that a fork wipes, as the lane itself: 63 KiB, of which comes into use what the thread's stacks need. */
struct lane_sites {
    struct sites_process *process;
    struct fp_site_predictor predictor;
    struct walk walk;
    uint16_t own_index[1u << LANE_INDEX_BITS];
    struct seen own_seen[LANE_SEEN_MOST];
};

#pragma GCC visibility push(hidden)

/* sites_begin - a process has attached: its tables, where the recording wants stacks and this machine can have them. */
void sites_begin(void);

/* sites_forget - they are given back, behind those of all lanes (lane_wipe_all): no thread is in a hook. */
void sites_forget(void);

/* lane_sites_begin - a thread begins with this lane. */
void lane_sites_begin(struct lane *lane);

/* lane_sites_put - lane_put, of a lane that has sites or a sample: the site of an allocation, if it is in the sample, is found and told. */
void lane_sites_put(struct lane *lane, unsigned call, uintptr_t address, uint64_t size, uint64_t extra);

/* sites_check - modules may have gone. */
void sites_check(bool thorough);

#pragma GCC visibility pop

#endif
