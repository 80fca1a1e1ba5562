/* lane_cursor.c - decode a lane's blocks one by one and put epoch, time and old addresses to its marks. */
#include "convert/order/lane_cursor.h"

#include <assert.h>
#include <stdlib.h>

#include "footprint/base/arrays.h"
#include "footprint/base/memory_bound.h"

#define TIME_LIMIT_NS (UINT64_C(1) << 55) /* a year; what is above it in a damaged file stays there */

/* ---- buffers ------------------------------------------------------------------------------- */

static uint64_t bytes_of(const struct fp_block_buffer *buffer)
{
    return buffer->marks_capacity * sizeof *buffer->marks + buffer->shapes_capacity * sizeof *buffer->shapes +
           buffer->stamps_capacity * sizeof *buffer->stamps;
}

void conv_buffer_pool_init(struct conv_buffer_pool *pool, uint64_t limit_bytes)
{
    *pool = (struct conv_buffer_pool){.limit_bytes = limit_bytes};
}

void conv_buffer_pool_release(struct conv_buffer_pool *pool)
{
    for (size_t i = 0; i < pool->spare_count; i++)
        fp_block_buffer_release(&pool->spare[i]);
    free(pool->spare);
    fp_memory_give(pool->counted_bytes);
    *pool = (struct conv_buffer_pool){0};
}

static void lend(struct conv_buffer_pool *pool, struct conv_lane_cursor *lane)
{
    if (pool->spare_count > 0)
        lane->buffer = pool->spare[--pool->spare_count];
    lane->buffer_bytes = 0;
    lane->block_number = ++pool->lent;
}

/* The capacities may have grown in load(): note what the lane holds now. */
static bool account(struct conv_buffer_pool *pool, struct conv_lane_cursor *lane)
{
    const uint64_t bytes = bytes_of(&lane->buffer);
    pool->held_bytes += bytes - lane->buffer_bytes;
    lane->buffer_bytes = bytes;
    if (pool->held_bytes > pool->limit_bytes)
        return false;
    /* A buffer that is given back stays allocated: as much is taken as was lent at most. */
    if (pool->held_bytes > pool->counted_bytes) {
        if (!fp_memory_take(pool->held_bytes - pool->counted_bytes))
            return false;
        pool->counted_bytes = pool->held_bytes;
    }
    return true;
}

static void give_back(struct conv_buffer_pool *pool, struct conv_lane_cursor *lane)
{
    pool->held_bytes -= lane->buffer_bytes;
    lane->buffer_bytes = 0;
    if (!FP_GROW(pool->spare, pool->spare_capacity, pool->spare_count + 1)) {
        fp_block_buffer_release(&lane->buffer);
        return;
    }
    pool->spare[pool->spare_count++] = lane->buffer;
    lane->buffer = (struct fp_block_buffer){0};
}

/* ---- time ---------------------------------------------------------------------------------- */

static uint64_t time_of(const struct conv_lane_cursor *lane, const struct fp_stamp *stamp)
{
    const uint64_t time_ns = stamp->time_ns < TIME_LIMIT_NS ? stamp->time_ns : TIME_LIMIT_NS;
    return time_ns > lane->base_ns ? time_ns - lane->base_ns : 0;
}

/* Set out from the head towards the next stamp, if it is not under way. */
static void next_segment(struct conv_lane_cursor *lane)
{
    const struct fp_block *block = &lane->block;
    if (lane->position < lane->segment_end)
        return;
    while (lane->stamp_next < block->stamp_count) {
        const struct fp_stamp *stamp = &block->stamps[lane->stamp_next];
        const uint64_t time_q8 = time_of(lane, stamp) << 8;
        if (stamp->mark > lane->position) {
            lane->segment_end = stamp->mark;
            lane->step_q8 = !lane->holds_time && time_q8 > lane->time_q8
                                ? (time_q8 - lane->time_q8) / (stamp->mark - lane->position)
                                : 0;
            return;
        }
        if (time_q8 > lane->time_q8)
            lane->time_q8 = time_q8;
        lane->stamp_next++;
    }
    /* After a block's last stamp the clock rests: the next block begins with a stamp. */
    lane->segment_end = UINT32_MAX;
    lane->step_q8 = 0;
}

/* Go on by some marks of the block. */
static void walk(struct conv_lane_cursor *lane, uint32_t count)
{
    while (count > 0) {
        uint32_t marks = count;
        next_segment(lane);
        if (marks > lane->segment_end - lane->position)
            marks = lane->segment_end - lane->position;
        lane->position += marks;
        lane->time_q8 += marks * lane->step_q8;
        count -= marks;
    }
}

/* A lane's first marks have no stamp behind them to set out from. */
static void begin_time(struct conv_lane_cursor *lane)
{
    const struct fp_block *block = &lane->block;
    if (lane->time_q8 == 0 && block->stamp_count > 0 && block->stamps[0].time_ns < TIME_LIMIT_NS)
        lane->time_q8 = time_of(lane, &block->stamps[0]) << 8;
    lane->stamp_next = lane->segment_end = 0;
    next_segment(lane);
}

/* ---- blocks -------------------------------------------------------------------------------- */

void conv_cursor_init(struct conv_lane_cursor *lane, const struct conv_blocks *blocks, uint32_t number)
{
    *lane = (struct conv_lane_cursor){
        .number = number, .base_ns = blocks->base_ns, .holds_time = blocks->lane_count > 1};
    lane->notes = blocks->notes(blocks->data, number, &lane->notes_left);
    lane->ended = lane->notes_left == 0;
    if (!lane->ended)
        lane->epoch = lane->notes[0].base_epoch;
}

void conv_cursor_release(struct conv_lane_cursor *lane)
{
    fp_block_buffer_release(&lane->buffer);
}

static void leave_block(struct conv_lane_cursor *lane, struct conv_buffer_pool *pool)
{
    lane->has_block = false;
    give_back(pool, lane);
    if (lane->notes_left > 0 && lane->notes[0].base_epoch > lane->epoch)
        lane->epoch = lane->notes[0].base_epoch;
}

/* Decode the next block and set the head to its first mark. */
static enum fp_status enter_block(struct conv_lane_cursor *lane, const struct conv_blocks *blocks,
                                  struct conv_buffer_pool *pool)
{
    const struct conv_block_note *note = lane->notes;
    enum fp_status status;
    assert(lane->notes_left > 0);
    lend(pool, lane);
    status = blocks->load(blocks->data, note->index, &lane->buffer, &lane->block);
    if (!account(pool, lane) && status == FP_OK)
        status = FP_ERR_MEMORY;
    if (note->after_missing || status == FP_END)
        lane->gap_due = true;
    lane->notes++;
    lane->notes_left--;
    if (status == FP_END) {
        leave_block(lane, pool);
        return FP_OK;
    }
    if (status != FP_OK)
        return status;
    if (blocks->want != NULL && lane->notes_left > 0)
        blocks->want(blocks->data, lane->notes[0].index);
    lane->has_block = true;
    lane->position = 0;
    begin_time(lane);
    return FP_OK;
}

/* ---- events -------------------------------------------------------------------------------- */

static void push_pending(struct conv_lane_cursor *lane, uint64_t address)
{
    if (lane->pending_count == CONV_NEST_MAX) {
        for (uint32_t i = 1; i < CONV_NEST_MAX; i++) /* the outermost is given up, as in pair.c */
            lane->pending[i - 1] = lane->pending[i];
        lane->pending_count--;
    }
    lane->pending[lane->pending_count++] = address;
}

/* The rarer calls need more than their mark has. */
static void complete_event(struct conv_lane_cursor *lane, struct conv_event *event)
{
    switch (event->call) {
    case FP_CALL_REALLOC:
    case FP_CALL_REALLOCARRAY:
        if (lane->pending_count > 0)
            event->old_address = lane->pending[--lane->pending_count];
        break;
    case FP_MARK_RESIZE_FROM:
        push_pending(lane, event->address);
        break;
    case FP_MARK_GAP:
        lane->pending_count = 0;
        break;
    default:
        break;
    }
}

/* Events of the present block, until its end, the limit or the capacity. */
static size_t take_from_block(struct conv_lane_cursor *lane, uint64_t limit, struct conv_event *events,
                              size_t capacity)
{
    const struct fp_block *block = &lane->block;
    const uint64_t base = block->base_epoch;
    uint64_t epoch = lane->epoch;
    size_t count = 0;
    while (count < capacity && lane->position < block->mark_count) {
        const struct fp_mark *mark = &block->marks[lane->position];
        const struct fp_shape *shape = &block->shapes[mark->shape];
        struct conv_event *event = &events[count];
        if (base + mark->epoch > epoch) {
            epoch = base + mark->epoch;
            if (epoch > limit)
                break;
        }
        if (lane->position >= lane->segment_end)
            next_segment(lane);
        event->time_ns = lane->time_q8 >> 8;
        event->address = mark->address;
        event->old_address = 0;
        event->size = shape->size;
        event->extra = shape->extra;
        event->lane = lane->number;
        event->call = shape->call;
        event->site = block->sites != NULL ? block->sites[lane->position] : 0;
        if (__builtin_expect(shape->call >= FP_CALL_COUNT || shape->call == FP_CALL_REALLOC ||
                                 shape->call == FP_CALL_REALLOCARRAY,
                             0))
            complete_event(lane, event);
        lane->time_q8 += lane->step_q8;
        lane->position++;
        count++;
    }
    lane->epoch = epoch;
    return count;
}

static struct conv_event mark_of(const struct conv_lane_cursor *lane, uint8_t call)
{
    return (struct conv_event){.time_ns = lane->time_q8 >> 8, .lane = lane->number, .call = call};
}

enum fp_status conv_cursor_take(struct conv_lane_cursor *lane, const struct conv_blocks *blocks,
                                struct conv_buffer_pool *pool, uint64_t limit, struct conv_event *events,
                                size_t capacity, size_t *ret_count)
{
    size_t count = 0;
    while (!lane->ended && count < capacity && lane->epoch <= limit) {
        if (lane->gap_due) {
            lane->gap_due = false;
            lane->pending_count = 0;
            events[count++] = mark_of(lane, FP_MARK_GAP);
            continue;
        }
        if (lane->has_block) {
            count += take_from_block(lane, limit, events + count, capacity - count);
            if (lane->position == lane->block.mark_count)
                leave_block(lane, pool);
        } else if (lane->notes_left > 0) {
            const enum fp_status status = enter_block(lane, blocks, pool);
            if (status != FP_OK)
                return status;
        } else {
            events[count++] = mark_of(lane, CONV_MARK_LANE_END);
            lane->ended = true;
        }
    }
    *ret_count = count;
    return FP_OK;
}

/* ---- slices -------------------------------------------------------------------------------- */

/* The first mark of the block whose epoch is above limit, or their count. Epochs do not decrease. */
static uint32_t bound_of(const struct conv_lane_cursor *lane, uint64_t limit)
{
    const struct fp_block *block = &lane->block;
    uint32_t low = lane->position, high = block->mark_count;
    if (limit < block->base_epoch)
        return low;
    limit -= block->base_epoch;
    if (block->marks[high - 1].epoch <= limit)
        return high;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (block->marks[middle].epoch <= limit)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

enum fp_status conv_cursor_slice(struct conv_lane_cursor *lane, const struct conv_blocks *blocks,
                                 struct conv_buffer_pool *pool, uint64_t limit, struct conv_slice *ret_slice)
{
    *ret_slice = (struct conv_slice){0};
    while (!lane->has_block && !lane->ended && !lane->gap_due && lane->notes_left > 0 &&
           lane->epoch <= limit) {
        const enum fp_status status = enter_block(lane, blocks, pool);
        if (status != FP_OK)
            return status;
    }
    if (!lane->has_block || lane->gap_due || lane->epoch > limit)
        return FP_OK;
    next_segment(lane);
    ret_slice->block = &lane->block;
    ret_slice->block_number = lane->block_number;
    ret_slice->lane = lane->number;
    ret_slice->begin = lane->position;
    ret_slice->bound = bound_of(lane, limit);
    ret_slice->end = ret_slice->bound < lane->segment_end ? ret_slice->bound : lane->segment_end;
    ret_slice->stamp = ret_slice->end;
    ret_slice->time_q8 = lane->time_q8;
    ret_slice->step_q8 = lane->step_q8;
    ret_slice->resizes = lane->pending_count > 0;
    /* A stamp does not part the two marks of a realloc. */
    if (ret_slice->end < ret_slice->bound &&
        lane->block.shapes[lane->block.marks[ret_slice->end - 1].shape].call == FP_MARK_RESIZE_FROM) {
        struct conv_lane_cursor after = *lane;
        walk(&after, ret_slice->end - ret_slice->begin);
        next_segment(&after);
        ret_slice->stamp_q8 = after.time_q8;
        ret_slice->end++;
    }
    return FP_OK;
}

void conv_cursor_skip(struct conv_lane_cursor *lane, struct conv_buffer_pool *pool, uint32_t count)
{
    uint64_t epoch;
    if (count == 0)
        return;
    walk(lane, count);
    epoch = lane->block.base_epoch + lane->block.marks[lane->position - 1].epoch;
    if (epoch > lane->epoch)
        lane->epoch = epoch;
    if (lane->position == lane->block.mark_count)
        leave_block(lane, pool);
}
