/* lane_cursor.h - one cursor per lane over its blocks: events in the lane's order, with epoch and time.
 *
 *   head    the lane's next event. `epoch` is a lower bound of the head's; exact while a block is held
 *   epoch   within a lane never decreasing: a signal handler's mark may stand before the mark it
 *           interrupted with a higher epoch, and raising the later one is what its thread could have read
 *   time    of a source of one lane: interpolated by position between its stamps. Of several: that of the last stamp. A lane
 *           that waits for long between two stamps would have the marks before the wait within it, and as time in the order
 *           of all lanes does not fall, so would every mark of the others: all that was done while main() was in
 *           pthread_join came at once. What is held back by one lane's stamps is told by the next lane's
 *
 * A block is asked for when the order reaches it, and its buffer goes back to a common pool at its end; so memory
 * follows the lanes that are inside a block, not the lanes that exist. */
#ifndef MALLAB_CONVERT_ORDER_LANE_CURSOR_H
#define MALLAB_CONVERT_ORDER_LANE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "convert/base/source.h"
#include "footprint/fp/footprint.h"

/* One block of a lane, as the index has it. */
struct conv_block_note {
    size_t index;        /* whatever load() wants */
    uint64_t base_epoch; /* no mark of the block is below */
    bool after_missing;  /* blocks before it are lost */
};

/* A source of blocks: a footprint, or a test's arrays. */
struct conv_blocks {
    void *data;
    uint32_t lane_count;
    uint64_t base_ns; /* times of the blocks are this much above those of the events */
    /* Notes of a lane's blocks in the lane's order; *ret_count may be 0. Lasts as long as the source. */
    const struct conv_block_note *(*notes)(void *data, uint32_t lane, size_t *ret_count);
    /* Decode; ret_block is valid until buffer is used again. FP_END: leave this block out, it is
     * counted by the source. Other statuses but FP_OK end the pass. */
    enum fp_status (*load)(void *data, size_t index, struct fp_block_buffer *buffer,
                           struct fp_block *ret_block);
    /* Announces the block that will be asked for next of its lane: decode it meanwhile, or not. May be NULL. */
    void (*want)(void *data, size_t index);
};

/* Buffers of lanes that are inside a block, bounded together. */
struct conv_buffer_pool {
    struct fp_block_buffer *spare;
    size_t spare_count, spare_capacity;
    uint64_t held_bytes, limit_bytes; /* of buffers lent out */
    uint64_t counted_bytes;           /* of them, the most so far (footprint/base/memory_bound.h) */
    uint64_t lent;                    /* so many times: numbers the blocks of the pass */
};

struct conv_lane_cursor {
    uint32_t number;
    bool ended; /* every event was taken */
    bool has_block;
    uint64_t epoch;
    uint64_t base_ns;
    bool holds_time;                     /* from stamp to stamp */
    const struct conv_block_note *notes; /* not yet loaded */
    size_t notes_left;
    struct fp_block_buffer buffer;
    struct fp_block block;
    uint64_t buffer_bytes;
    uint64_t block_number;
    uint32_t position;    /* of the head within the block */
    uint32_t segment_end; /* first mark that the present times do not reach */
    uint32_t stamp_next;
    uint64_t time_q8; /* of the head, in 1/256 ns */
    uint64_t step_q8;
    uint64_t pending[CONV_NEST_MAX]; /* RESIZE_FROM without a result yet */
    uint32_t pending_count;
    bool gap_due; /* a mark of lost blocks comes before the head */
};

void conv_buffer_pool_init(struct conv_buffer_pool *pool, uint64_t limit_bytes);
void conv_buffer_pool_release(struct conv_buffer_pool *pool);

/* conv_cursor_init - at the lane's first block; `ended` at once when it has none. */
void conv_cursor_init(struct conv_lane_cursor *lane, const struct conv_blocks *blocks, uint32_t number);
void conv_cursor_release(struct conv_lane_cursor *lane);

/* conv_cursor_take - take events while their epoch is not above limit.
 * ret_count  events stored, at most capacity (> 1). Less than capacity: the lane has ended, or
 *            lane->epoch is above limit now.
 * Returns    FP_OK; what load() returned; FP_ERR_MEMORY (the pool's bound too). */
enum fp_status conv_cursor_take(struct conv_lane_cursor *lane, const struct conv_blocks *blocks,
                                struct conv_buffer_pool *pool, uint64_t limit, struct conv_event *events,
                                size_t capacity, size_t *ret_count);

/* conv_cursor_slice - the marks from the head on whose epoch is not above limit, up to the block's or the clock's next
 * stamp. None (begin == end) where an event comes that is no mark, or the lane has ended, or is beyond the limit.
 * ret_slice  lasts until the lane is asked for something else than conv_cursor_skip.
 * Returns    as conv_cursor_take. */
enum fp_status conv_cursor_slice(struct conv_lane_cursor *lane, const struct conv_blocks *blocks,
                                 struct conv_buffer_pool *pool, uint64_t limit, struct conv_slice *ret_slice);

/* conv_cursor_skip - count of the slice's marks were taken. */
void conv_cursor_skip(struct conv_lane_cursor *lane, struct conv_buffer_pool *pool, uint32_t count);

/* ---- merge lanes into one legal order (docs/order.md) -----------------------------------------------
 *
 * Lanes wait in a heap by the epoch of their heads. A lane alone below all others runs until it meets the
 * next epoch; lanes that meet in one epoch form a group (epoch_steps.h). Groups follow each other, so the state
 * between them is exact and memory is that of one group and the blocks under way. */

#define CONV_GROUP_EVENTS (1u << 17) /* of all lanes; more are cut by time: CONV_OVERSIZED_GROUPS */

/* conv_order_run - hand all events of all lanes to the sink, in order.
 * blocks        borrowed. buffer_bytes: bound of decoded blocks held at once.
 * group_events  most events of one epoch to look at together; 0: CONV_GROUP_EVENTS.
 * survey        counts of groups and repairs are added there.
 * Returns       FP_OK; what load() or the sink returned; FP_ERR_MEMORY. */
enum fp_status conv_order_run(const struct conv_blocks *blocks, uint64_t buffer_bytes, uint32_t group_events,
                              const struct conv_sink *sink, struct conv_survey *survey);

#endif
