/* pair_state.c - threads announced to the writer, and how much of large objects was in memory. */
#include "convert/ops/pair_state.h"

#include "convert/base/grow.h"

/* Tell the writer of a thread. */
static enum fp_status announce(struct conv_pair *pair, uint32_t lane)
{
    const size_t before = pair->lane_capacity;
    uint32_t thread_id = 0;
    bool is_main = false;
    if (!CONV_RESERVE(pair->threads, pair->lane_capacity, (size_t)lane + 1))
        return FP_ERR_MEMORY;
    for (size_t i = before; i < pair->lane_capacity; i++)
        pair->threads[i] = NOT_ANNOUNCED;
    if (pair->threads[lane] != NOT_ANNOUNCED)
        return FP_OK;
    pair->threads[lane] = 0;
    pair->survey->threads++;
    if (pair->writer == NULL)
        return FP_OK;
    pair->namer.name(pair->namer.data, lane, &thread_id, &is_main);
    return wl_writer_thread(pair->writer, thread_id, is_main, &pair->threads[lane]);
}

enum fp_status conv_pair_thread(struct conv_pair *pair, uint32_t lane, uint32_t *ret_thread)
{
    if (__builtin_expect(lane >= pair->lane_capacity || pair->threads[lane] == NOT_ANNOUNCED, 0)) {
        const enum fp_status status = announce(pair, lane);
        if (status != FP_OK)
            return status;
    }
    *ret_thread = pair->threads[lane];
    return FP_OK;
}

/* A shim's table may lag behind, and a mark may come before others of its epoch: then another object stands there. */
enum fp_status conv_pair_resident(struct conv_pair *pair, struct conv_object object, uint64_t share)
{
    struct conv_large *large = &pair->survey->large;
    if (object.bytes < FP_LARGE_BYTES || share > FP_SHARE_WHOLE)
        return FP_OK;
    large->noted++;
    large->noted_bytes = conv_add_saturating(large->noted_bytes, object.bytes);
    large->resident_bytes = conv_add_saturating(large->resident_bytes,
                                                object.bytes / FP_SHARE_WHOLE * share +
                                                    object.bytes % FP_SHARE_WHOLE * share / FP_SHARE_WHOLE);
    return pair->writer != NULL ? wl_writer_touched(pair->writer, object.id, (uint32_t)share) : FP_OK;
}
