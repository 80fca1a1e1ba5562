/* test_shim_cuts.c - windows and pauses (docs/order.md): a chunk holds calls of one side of a cut only, and what a pause
 * leaves out is no loss. */
#include "unit/lane_stage.h"

/* As the collector announces it: behind that epoch. */
static void cut_at(uint64_t epoch, bool paused)
{
    note->cut_before = note->cut;
    note->cut = seg_cut(epoch, paused);
}

TEST(a_cut_not_come_to_changes_nothing)
{
    set_up(0);
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
    uint64_t first, second;
    set_up(0);
    release(16);
    cut_at(slot->epoch + 10, false);
    first = note->cut;
    slot->epoch += 10;
    release(32);
    CHECK_U64(state_of(0), own_word(SEG_CHUNK_FULL));
    CHECK_U64(decode(0)->mark_count, 1);
    CHECK_U64(decode(1)->mark_count, 1);
    CHECK_U64(seg_chunk(&shim_segment, 1)->cut, first);
    CHECK_U64(seg_chunk(&shim_segment, 1)->sequence, 1);
    cut_at(slot->epoch + 10, false);
    second = note->cut;
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
    const struct fp_block *block;
    set_up(0);
    release(16);
    cut_at(slot->epoch + 1, true);
    slot->epoch++;
    for (int i = 0; i < 100; i++)
        release(32);
    CHECK_U64(state_of(0), own_word(SEG_CHUNK_FULL));
    CHECK_U64(state_of(1), SEG_CHUNK_FREE);
    cut_at(slot->epoch + 1, false);
    slot->epoch++;
    release(48);
    block = decode(1);
    CHECK_U64(block->mark_count, 2);
    check_mark(block, 0, FP_MARK_GAP, 0, 0, FP_GAP_PAUSE);
    check_mark(block, 1, FP_CALL_FREE, 48, 0, 0);
    CHECK_U64(slot->lost[FP_LOSS_RING_FULL] + slot->lost[FP_LOSS_COLLECTOR] + slot->lost[FP_LOSS_REENTRANT],
              0);
}

/* What was lost before the pause stays told when recording goes on. */
TEST(a_pause_does_not_hide_a_loss)
{
    const struct fp_block *block;
    struct lane *inner;
    set_up(0);
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
    block = decode(1);
    check_mark(block, 0, FP_MARK_GAP, 0, 1, 0);
    CHECK_U64(slot->lost[FP_LOSS_REENTRANT], 1);
}
