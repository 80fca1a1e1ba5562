/* test_shim_cuts.c - windows and pauses (docs/order.md): a chunk holds calls of one side of a cut only, and what a pause leaves out is no loss; and
 * threads that have a lane one after the other. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include "unit/lane_stage.h"

/* As the collector announces it: behind that epoch. */
static void cut_at(uint64_t epoch, bool paused)
{
    note->cut_before = note->cut;
    note->cut = seg_cut(epoch, paused);
}

TEST(a_cut_not_come_to_changes_nothing)
{
    release(16);
    cut_at(slot->epoch + 10, false);
    slot->epoch += 9;
    release(32);
    CHECK_U64(decode(0)->mark_count, 2);
    CHECK_U64(state_of(1), SEG_CHUNK_FREE);
    CHECK_U64(seg_chunk(&shim_segment, 0)->cut, 0);
}

TEST(behind_a_cut_begins_another_chunk)
{
    release(16);
    cut_at(slot->epoch + 10, false);
    uint64_t first = note->cut;
    slot->epoch += 10;
    release(32);
    CHECK_U64(state_of(0), own_word(SEG_CHUNK_FULL));
    CHECK_U64(decode(0)->mark_count, 1);
    CHECK_U64(decode(1)->mark_count, 1);
    CHECK_U64(seg_chunk(&shim_segment, 1)->cut, first);
    CHECK_U64(seg_chunk(&shim_segment, 1)->sequence, 1);
    cut_at(slot->epoch + 10, false);
    uint64_t second = note->cut;
    slot->epoch += 5; /* between the two: behind the first, before the second */
    shim_lane = NULL; /* a thread that begins there */
    release(48);
    CHECK_U64(seg_chunk(&shim_segment, 2)->cut, first);
    slot->epoch += 5;
    release(64);
    CHECK_U64(seg_chunk(&shim_segment, 3)->cut, second);
    CHECK_U64(decode(2)->mark_count, 1);
    CHECK_U64(decode(3)->mark_count, 1);
}

TEST(a_pause_is_a_gap_of_nothing_lost)
{
    release(16);
    cut_at(slot->epoch + 1, true);
    slot->epoch++;
    release_times(100, 32);
    CHECK_U64(state_of(0), own_word(SEG_CHUNK_FULL));
    CHECK_U64(state_of(1), SEG_CHUNK_FREE);
    cut_at(slot->epoch + 1, false);
    slot->epoch++;
    release(48);
    const struct fp_block *block = decode(1);
    CHECK_U64(block->mark_count, 2);
    check_mark(block, 0, FP_MARK_GAP, 0, 0, FP_GAP_PAUSE);
    check_mark(block, 1, FP_CALL_FREE, 48, 0, 0);
    CHECK_U64(slot->lost[FP_LOSS_RING_FULL] + slot->lost[FP_LOSS_COLLECTOR] + slot->lost[FP_LOSS_REENTRANT],
              0);
}

/* What was lost before the pause stays told when recording goes on. */
TEST(a_pause_does_not_hide_a_loss)
{
    struct lane *inner;
    release(16);
    lane_set_gate(shim_lane, GATE_RECORD);
    CHECK_U64(turn_take(&inner, NULL), TURN_FORWARD);
    lane_set_gate(shim_lane, GATE_OPEN);
    cut_at(slot->epoch + 1, true);
    slot->epoch++;
    release(32);
    cut_at(slot->epoch + 1, false);
    slot->epoch++;
    release(48);
    const struct fp_block *block = decode(1);
    check_mark(block, 0, FP_MARK_GAP, 0, 1, 0);
    CHECK_U64(slot->lost[FP_LOSS_REENTRANT], 1);
}

/* ---- threads that have a lane one after the other ------------------------------------------------------- */

static uint32_t last_thread;

static void call_and_leave(uintptr_t calls)
{
    for (uintptr_t i = 0; i < calls; i++)
        release(16);
    /* as turn.c does in the last destructor */
    atomic_store(&shim_lane->state, LANE_EXITED);
    lane_leave_chunk(shim_lane);
}

static void *call_and_end(void *calls)
{
    last_thread = (uint32_t)gettid();
    call_and_leave((uintptr_t)calls);
    release(32); /* what libc frees behind it */
    return NULL;
}

/* pthread_join returns when the thread has left its memory. The kernel knows its id for a moment longer, and as long as
 * it does, the lane is not given to another thread: lane_pool.c asks by the same tgkill. */
static void run_thread(uintptr_t calls)
{
    pthread_t thread;
    CHECK_U64(pthread_create(&thread, NULL, call_and_end, (void *)calls), 0);
    (void)pthread_join(thread, NULL); /* it was created */
    while (tgkill(getpid(), (pid_t)last_thread, 0) == 0)
        (void)sched_yield(); /* it cannot fail */
}

/* All calls that stand in the chunks. */
static uint64_t calls_found(void)
{
    uint64_t found = 0;
    for (uint32_t index = 0; index < CHUNKS; index++)
        found += fp_records_calls((const uint64_t *)seg_chunk(&shim_segment, index),
                                  SEG_CHUNK_BYTES / sizeof(uint64_t), SEG_CHUNK_HEADER / sizeof(uint64_t));
    return found;
}

TEST(a_lane_goes_on_in_the_chunk_that_its_last_thread_left)
{
    struct decode_thread thread;
    uint64_t epoch = 0;
    uint32_t begun = 0;
    shim_lane = NULL;
    for (uintptr_t i = 0; i < 3; i++)
        run_thread(10);
    CHECK_U64(slot->lane_count, 3);
    const struct seg_chunk_header *chunk = seg_chunk(&shim_segment, 0);
    CHECK_U64(seg_chunk_state_of(state_of(0)), SEG_CHUNK_LEFT);
    CHECK_U64(state_of(1), SEG_CHUNK_FREE);
    CHECK_U64(chunk->lane, 0);
    for (uint32_t at = 0; at < SEG_CHUNK_BYTES / sizeof(uint64_t); at++)
        if (decode_thread_at(chunk, at, &thread)) {
            begun++;
            CHECK_U64(thread.lane, begun);
            CHECK(thread.thread_id != chunk->thread_id);
            CHECK_U64((at + 2) * sizeof(uint64_t) % FP_RECORD_GROUP_BYTES, 0);
            CHECK_U64(decode_skip(chunk, at, NULL, &epoch).lane, begun);
            CHECK_U64(decode_skip(chunk, at - 1, NULL, &epoch).lane, begun - 1);
        }
    CHECK_U64(begun, 2);
    CHECK_U64(seg_chunk_thread_of(state_of(0)), thread.thread_id);
    CHECK_U64(calls_found(), 3 * 11);
}

/* At each place in a chunk the next thread may find its end: no record is lost there, and none crosses it. */
TEST(a_chunk_may_be_left_anywhere)
{
    for (uintptr_t calls = 3540; calls < 3600; calls++) {
        set_up(0);
        shim_lane = NULL;
        run_thread(calls);
        run_thread(5);
        CHECK_U64(calls_found(), calls + 1 + 5 + 1);
    }
}

static pthread_t passer;
static pthread_barrier_t passer_has_left, passer_may_end;
static const struct lane *passer_lane;
static bool passer_is_due;

static void *pass_by(void *calls)
{
    call_and_leave((uintptr_t)calls);
    passer_lane = shim_lane;
    (void)pthread_barrier_wait(&passer_has_left);
    (void)pthread_barrier_wait(&passer_may_end);
    release(32); /* as above */
    return NULL;
}

/* Here, between asking the kernel whether a lane's thread is gone and claiming the lane, a thread lives and comes to its last
 * calls. */
void __real_confine_called(void);
void __wrap_confine_called(void);

void __wrap_confine_called(void)
{
    __real_confine_called();
    if (!passer_is_due)
        return;
    passer_is_due = false;
    CHECK_U64(pthread_create(&passer, NULL, pass_by, (void *)5), 0);
    (void)pthread_barrier_wait(&passer_has_left);
}

/* Else both write at one cursor, and one's last call is lost without a word. */
TEST(a_lane_is_not_taken_from_a_thread_that_came_between)
{
    CHECK_U64(
        pthread_barrier_init(&passer_has_left, NULL, 2) + pthread_barrier_init(&passer_may_end, NULL, 2), 0);
    run_thread(10);
    passer_is_due = true;
    release(48);
    CHECK(!passer_is_due);
    CHECK(shim_lane != passer_lane);
    (void)pthread_barrier_wait(&passer_may_end);
    (void)pthread_join(passer, NULL);
    release(64);
    CHECK_U64(calls_found(), 10 + 1 + 5 + 1 + 2);
}

TEST(a_chunk_that_the_collector_took_is_not_gone_on_in)
{
    shim_lane = NULL;
    run_thread(10);
    shim_segment.states[0] = seg_chunk_word(SEG_CHUNK_FULL, 3, 0, 0);
    run_thread(10);
    CHECK_U64(state_of(0), own_word(SEG_CHUNK_FULL));
    CHECK_U64(seg_chunk(&shim_segment, 1)->lane, 1);
    CHECK_U64(seg_chunk(&shim_segment, 1)->sequence, 1); /* of the stream, which goes on */
}
