/* loss.c - names of the causes of loss. */
#include "footprint/footprint.h"

const char *fp_loss_name(unsigned loss)
{
    static const char *const NAMES[FP_LOSS_COUNT] = {
        [FP_LOSS_RING_FULL] = "ring_full",       [FP_LOSS_REENTRANT] = "reentrant",
        [FP_LOSS_DISK_FULL] = "disk_full",       [FP_LOSS_SIZE_LIMIT] = "size_limit",
        [FP_LOSS_BEFORE_START] = "before_start", [FP_LOSS_COLLECTOR] = "collector",
    };
    return loss < FP_LOSS_COUNT ? NAMES[loss] : NULL;
}
