/* test_convert_lane.c - what a lane's cursor puts to its marks: time between stamps, epochs that never
 * decrease, old addresses of reallocs, gaps, and buffers that go back. */
#include "convert/order/lane_cursor.h"

#include "unit/harness.h"
#include "unit/history.h"

#define EVENTS_MAX 4096u

static struct conv_event events[EVENTS_MAX];

static size_t take_all(struct history *history, struct conv_buffer_pool *pool)
{
    const struct conv_blocks blocks = history_blocks(history);
    struct conv_lane_cursor lane;
    size_t count = 0, more = 0;
    conv_cursor_init(&lane, &blocks, 0);
    do {
        CHECK_U64(conv_cursor_take(&lane, &blocks, pool, UINT64_MAX, events + count, 7, &more), FP_OK);
        count += more;
    } while (more > 0);
    CHECK(lane.ended);
    conv_cursor_release(&lane);
    return count;
}

static size_t take_plainly(struct history *history)
{
    OWNED(conv_buffer_pool) pool;
    conv_buffer_pool_init(&pool, UINT64_C(1) << 20);
    size_t count = take_all(history, &pool);
    CHECK_U64(pool.held_bytes, 0);
    return count;
}

TEST(times_are_interpolated_by_position)
{
    static const struct history_mark marks[] = {
        {16, {FP_CALL_MALLOC, 1, 0}, 0, 640},        {32, {FP_CALL_MALLOC, 1, 0}, 0, UINT64_MAX},
        {48, {FP_CALL_MALLOC, 1, 0}, 0, UINT64_MAX}, {64, {FP_CALL_MALLOC, 1, 0}, 0, UINT64_MAX},
        {80, {FP_CALL_MALLOC, 1, 0}, 0, 1040},       {96, {FP_CALL_MALLOC, 1, 0}, 0, UINT64_MAX}};
    OWNED(history) history;
    history_init(&history, 1, 1);
    for (size_t i = 0; i < COUNT_OF(marks); i++)
        history_add(&history, 0, FP_CALL_MALLOC, marks[i].address, 1, 0, marks[i].stamp_ns);
    history_cut(&history, 1); /* to have the arrays; then one block of all */
    history.lanes[0].note_count = 1;
    history.lanes[0].starts[1] = COUNT_OF(marks);
    CHECK_U64(take_plainly(&history), 7);
    CHECK_U64(events[0].time_ns, 640);
    CHECK_U64(events[1].time_ns, 740);
    CHECK_U64(events[2].time_ns, 840);
    CHECK_U64(events[3].time_ns, 940);
    CHECK_U64(events[4].time_ns, 1040);
    CHECK_U64(events[5].time_ns, 1040); /* nothing says how long after */
}

/* A main thread that starts another and waits for it: what it did before stands before the wait. */
TEST(times_of_several_lanes_rest_between_stamps)
{
    OWNED(history) history;
    history_init(&history, 2, 1);
    for (unsigned i = 0; i < 10; i++)
        history_add(&history, 0, FP_CALL_MALLOC, 16 + i, 1, 0, i % 5 == 0 ? 1000000 * (i + 1) : UINT64_MAX);
    history_add(&history, 1, FP_CALL_MALLOC, 4096, 1, 0, 1500000);
    history_cut(&history, 1);
    history.lanes[0].note_count = 1;
    history.lanes[0].starts[1] = 10;
    CHECK_U64(take_plainly(&history), 11);
    for (unsigned i = 0; i < 10; i++)
        CHECK_U64(events[i].time_ns, i < 5 ? 1000000 : 6000000);
}

/* A signal handler's mark stands before the one it interrupted, with a higher epoch. */
TEST(epochs_never_decrease)
{
    OWNED(history) history;
    OWNED(conv_buffer_pool) pool;
    struct conv_lane_cursor lane;
    size_t count;
    history_init(&history, 1, 1);
    history_add(&history, 0, FP_CALL_MALLOC, 16, 1, 3, 0);
    history_add(&history, 0, FP_CALL_MALLOC, 32, 1, 9, UINT64_MAX);
    history_add(&history, 0, FP_CALL_MALLOC, 48, 1, 4, UINT64_MAX);
    history_add(&history, 0, FP_CALL_MALLOC, 64, 1, 12, UINT64_MAX);
    history_cut(&history, 2);
    struct conv_blocks blocks = history_blocks(&history);
    conv_buffer_pool_init(&pool, UINT64_C(1) << 20);
    conv_cursor_init(&lane, &blocks, 0);
    CHECK_U64(conv_cursor_take(&lane, &blocks, &pool, 8, events, 10, &count), FP_OK);
    CHECK_U64(count, 1);
    CHECK_U64(lane.epoch, 9);
    CHECK_U64(conv_cursor_take(&lane, &blocks, &pool, 9, events, 10, &count), FP_OK);
    CHECK_U64(count, 2);
    CHECK_U64(lane.epoch, 12);
    CHECK(!lane.ended);
    conv_cursor_release(&lane);
}

TEST(results_know_their_old_address)
{
    OWNED(history) history;
    history_init(&history, 1, 1);
    history_add(&history, 0, FP_MARK_RESIZE_FROM, 16, 0, 0, 0);
    history_add(&history, 0, FP_MARK_RESIZE_FROM, 32, 0, 0, UINT64_MAX);
    history_add(&history, 0, FP_CALL_REALLOC, 48, 1, 0, UINT64_MAX);
    history_add(&history, 0, FP_CALL_REALLOC, 64, 1, 0, UINT64_MAX);
    history_add(&history, 0, FP_CALL_REALLOC, 80, 1, 0, UINT64_MAX);
    history_add(&history, 0, FP_MARK_RESIZE_FROM, 80, 0, 0, UINT64_MAX);
    history_cut(&history, 2);
    CHECK_U64(take_plainly(&history), 7);
    CHECK_U64(events[2].old_address, 32);
    CHECK_U64(events[3].old_address, 16);
    CHECK_U64(events[4].old_address, 0);
    CHECK_U64(events[6].call, CONV_MARK_LANE_END); /* the last realloc never returned */
}

static enum fp_status load_all_but_one(void *data, size_t index, struct fp_block_buffer *buffer,
                                       struct fp_block *ret_block)
{
    return (index & 0xffffffff) == 1 ? FP_END : history_load(data, index, buffer, ret_block);
}

TEST(missing_blocks_are_gaps)
{
    OWNED(history) history;
    OWNED(conv_buffer_pool) pool;
    struct conv_lane_cursor lane;
    size_t count;
    history_init(&history, 1, 1);
    for (unsigned i = 0; i < 4; i++)
        history_add(&history, 0, FP_CALL_MALLOC, 16 + i, 1, i, i);
    history_cut(&history, 1);
    history.lanes[0].notes[3].after_missing = true;
    struct conv_blocks blocks = history_blocks(&history);
    blocks.load = load_all_but_one;
    conv_buffer_pool_init(&pool, UINT64_C(1) << 20);
    conv_cursor_init(&lane, &blocks, 0);
    CHECK_U64(conv_cursor_take(&lane, &blocks, &pool, UINT64_MAX, events, 10, &count), FP_OK);
    CHECK_U64(count, 6);
    CHECK_U64(events[0].address, 16);
    CHECK_U64(events[1].call, FP_MARK_GAP);
    CHECK_U64(events[2].address, 18);
    CHECK_U64(events[3].call, FP_MARK_GAP);
    CHECK_U64(events[4].address, 19);
    conv_cursor_release(&lane);
}

TEST(buffers_are_bounded)
{
    OWNED(history) history;
    OWNED(conv_buffer_pool) pool;
    struct conv_lane_cursor lane;
    size_t count;
    history_init(&history, 1, 1);
    for (unsigned i = 0; i < 1000; i++)
        history_add(&history, 0, FP_CALL_MALLOC, 16 + i, i, 0, i);
    history_cut(&history, 1);
    history.lanes[0].note_count = 1;
    history.lanes[0].starts[1] = 1000;
    struct conv_blocks blocks = history_blocks(&history);
    conv_buffer_pool_init(&pool, 10000);
    conv_cursor_init(&lane, &blocks, 0);
    CHECK_U64(conv_cursor_take(&lane, &blocks, &pool, UINT64_MAX, events, 10, &count), FP_ERR_MEMORY);
    conv_cursor_release(&lane);
}
