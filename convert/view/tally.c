/* tally.c - count blocks, and keep what is live, without waiting for the order of threads. */
#include "convert/view/tally.h"

#include <stdlib.h>
#include <string.h>

#include "convert/base/grow.h"
#include "convert/base/source.h"

bool conv_tally_init(struct conv_tally *tally, struct conv_tally_sum *sum)
{
    *tally = (struct conv_tally){.sum = sum};
    return conv_balance_init(&tally->balance, &sum->live);
}

void conv_tally_release(struct conv_tally *tally)
{
    for (uint32_t i = 0; i < tally->lane_count; i++)
        free(tally->lanes[i].pending);
    free(tally->lanes);
    tally->lanes = NULL;
    tally->lane_count = 0;
    conv_balance_release(&tally->balance);
}

static struct conv_tally_lane *lane_at(struct conv_tally *tally, uint32_t number)
{
    struct conv_tally_lane *lanes = conv_grown(tally->lanes, sizeof *lanes, &tally->lane_capacity, number);
    if (lanes == NULL)
        return NULL;
    tally->lanes = lanes;
    if (number >= tally->lane_count)
        tally->lane_count = number + 1;
    return &lanes[number];
}

/* ---- realloc, by the rules of convert/ops/pair.c ------------------------------------------------ */

static enum fp_status restore(struct conv_tally *tally, const struct conv_tally_pending *pending,
                              struct conv_moment moment)
{
    return conv_balance_restore(&tally->balance, pending->address, pending->known, pending->bytes, moment)
               ? FP_OK
               : FP_ERR_MEMORY;
}

/* Reallocs that will not return: their objects stand as before. */
static enum fp_status drop_pending(struct conv_tally *tally, struct conv_tally_lane *lane, uint32_t leave,
                                   struct conv_moment moment)
{
    const uint32_t drop = lane->pending_count > leave ? lane->pending_count - leave : 0;
    enum fp_status status = FP_OK;
    for (uint32_t i = 0; i < drop && status == FP_OK; i++)
        status = restore(tally, &lane->pending[i], moment);
    lane->pending_count -= drop;
    if (lane->pending_count > 0)
        memmove(lane->pending, lane->pending + drop, lane->pending_count * sizeof *lane->pending);
    return status;
}

static enum fp_status resize_from(struct conv_tally *tally, struct conv_tally_lane *lane, uint64_t address,
                                  struct conv_moment moment)
{
    struct conv_tally_pending pending = {.address = address};
    enum fp_status status;
    if (lane->pending == NULL) {
        lane->pending = calloc(CONV_NEST_MAX, sizeof *lane->pending);
        if (lane->pending == NULL)
            return FP_ERR_MEMORY;
    }
    status = drop_pending(tally, lane, CONV_NEST_MAX - 1, moment);
    if (status != FP_OK)
        return status;
    if (!conv_balance_remove(&tally->balance, address, moment, &pending.known, &pending.bytes))
        return FP_ERR_MEMORY;
    lane->pending[lane->pending_count++] = pending;
    return FP_OK;
}

/* ---- marks ---------------------------------------------------------------------------------- */

static enum fp_status take_mark(struct conv_tally *tally, struct conv_tally_lane *lane,
                                const struct fp_shape *shape, uint64_t address, struct conv_moment moment)
{
    switch (shape->call) {
    case FP_MARK_RESIZE_FROM:
        return address != 0 ? resize_from(tally, lane, address, moment) : FP_OK;
    case FP_MARK_THREAD_EXIT:
        tally->threads_exited += !lane->exited;
        lane->exited = true;
        return FP_OK;
    case FP_MARK_GAP:
        if (shape->extra != FP_GAP_PAUSE) {
            tally->lost_calls = conv_add_saturating(tally->lost_calls, shape->size);
            tally->sum->lost_calls = conv_add_saturating(tally->sum->lost_calls, shape->size);
        }
        return drop_pending(tally, lane, 0, moment);
    default:
        return FP_OK;
    }
}

static enum fp_status allocate(struct conv_tally *tally, struct conv_tally_lane *lane,
                               const struct fp_shape *shape, uint64_t address, struct conv_moment moment)
{
    const bool is_resize = fp_call_kind_of(shape->call) == FP_KIND_RESIZE;
    const uint64_t bytes = fp_shape_bytes(shape);
    if (address != 0 && bytes >= CONV_ADDRESS_LIMIT)
        return FP_OK; /* no allocator could */
    if (is_resize && lane->pending_count > 0) {
        const struct conv_tally_pending pending = lane->pending[--lane->pending_count];
        if (address == 0 && bytes > 0)
            return restore(tally, &pending, moment);
    }
    if (address == 0)
        return FP_OK;
    tally->sum->class_allocations[conv_size_class(bytes)]++;
    return conv_balance_add(&tally->balance, address, bytes, moment) ? FP_OK : FP_ERR_MEMORY;
}

static enum fp_status take(struct conv_tally *tally, struct conv_tally_lane *lane,
                           const struct fp_shape *shape, uint64_t address, struct conv_moment moment)
{
    bool known;
    uint64_t bytes;
    tally->sum->events_by_call[shape->call % CONV_CALLS]++;
    if (address >= CONV_ADDRESS_LIMIT)
        return FP_OK;
    switch (fp_call_kind_of(shape->call)) {
    case FP_KIND_NONE:
        return take_mark(tally, lane, shape, address, moment);
    case FP_KIND_RELEASE:
        lane->events++;
        if (address == 0 || conv_balance_remove(&tally->balance, address, moment, &known, &bytes))
            return FP_OK;
        return FP_ERR_MEMORY;
    default:
        lane->events++;
        return allocate(tally, lane, shape, address, moment);
    }
}

enum fp_status conv_tally_block(struct conv_tally *tally, const struct fp_block *block)
{
    struct conv_tally_lane *lane = lane_at(tally, block->lane);
    enum fp_status status = FP_OK;
    uint64_t before;
    if (lane == NULL)
        return FP_ERR_MEMORY;
    tally->threads += !lane->seen;
    lane->seen = true;
    before = lane->events;
    if (block->sequence != lane->sequence) /* blocks between were lost */
        status = drop_pending(tally, lane, 0, (struct conv_moment){lane->epoch, block->lane});
    lane->sequence = block->sequence + 1;
    for (uint32_t i = 0; i < block->mark_count && status == FP_OK; i++) {
        const struct fp_mark *mark = &block->marks[i];
        const uint64_t epoch = block->base_epoch + mark->epoch;
        if (epoch > lane->epoch) /* a signal handler's mark may be ahead of the one it interrupted */
            lane->epoch = epoch;
        status = take(tally, lane, &block->shapes[mark->shape], mark->address,
                      (struct conv_moment){lane->epoch, block->lane});
        if (tally->balance.alone)
            conv_live_sum_peak(&tally->sum->live);
    }
    tally->events += lane->events - before;
    tally->sum->events += lane->events - before;
    if (block->stamp_count > 0 && block->stamps[block->stamp_count - 1].time_ns > tally->sum->last_time_ns)
        tally->sum->last_time_ns = block->stamps[block->stamp_count - 1].time_ns;
    return status;
}

enum fp_status conv_tally_end(struct conv_tally *tally)
{
    enum fp_status status = FP_OK;
    for (uint32_t i = 0; i < tally->lane_count && status == FP_OK; i++)
        status = drop_pending(tally, &tally->lanes[i], 0, (struct conv_moment){tally->lanes[i].epoch, i});
    for (uint32_t i = 0; i < tally->lane_count; i++) {
        free(tally->lanes[i].pending);
        tally->lanes[i].pending = NULL;
    }
    conv_balance_release(&tally->balance);
    tally->ended = true;
    return status;
}

void conv_tally_mark(struct conv_tally *tally)
{
    tally->events_before = tally->events;
    for (uint32_t i = 0; i < tally->lane_count; i++)
        tally->lanes[i].events_before = tally->lanes[i].events;
}
