/* loss.c - the causes of loss: their names, sums over them. */
#include "footprint/fp/footprint.h"

const char *fp_loss_name(unsigned loss)
{
    static const char *const NAMES[FP_LOSS_COUNT] = {
        [FP_LOSS_RING_FULL] = "ring_full",       [FP_LOSS_REENTRANT] = "reentrant",
        [FP_LOSS_DISK_FULL] = "disk_full",       [FP_LOSS_SIZE_LIMIT] = "size_limit",
        [FP_LOSS_BEFORE_START] = "before_start", [FP_LOSS_COLLECTOR] = "collector",
        [FP_LOSS_CONFINED] = "confined",         [FP_LOSS_SPOILED] = "spoiled",
    };
    return loss < FP_LOSS_COUNT ? NAMES[loss] : NULL;
}

static uint64_t add(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

uint64_t fp_loss_sum(const uint64_t *lost)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < FP_LOSS_COUNT; i++)
        sum = add(sum, lost[i]);
    return sum;
}

void fp_loss_add(uint64_t *sum, const uint64_t *lost)
{
    for (unsigned i = 0; i < FP_LOSS_COUNT; i++)
        sum[i] = add(sum[i], lost[i]);
}
