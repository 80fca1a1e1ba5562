/* fuzz_frames.c - any bytes as a file; FUZZ_FRAME, by the build: which.
 *
 *   FP_READER, WL_READER   as a footprint or a workload
 *   FP_SEALED, WL_SEALED   the same with a frame that is made right first, of a workload the summary too: what is tried is what lies behind the
 *                          checksums and totals
 *   CONVERT                as a footprint whose frame is made right, converted: what order and pairing do with recordings that no program could
 *                          have made
 *   ANDROID                any text as a trace of Android's malloc_debug */
#include "fuzz/target.h"

enum frame { FP_READER, WL_READER, FP_SEALED, WL_SEALED, CONVERT, ANDROID };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const enum frame frame = FUZZ_FRAME;
    const bool is_workload = frame == WL_READER || frame == WL_SEALED;
    struct image image = {0};
    image_set(&image, bytes, size);
    if (frame == FP_SEALED || frame == WL_SEALED || frame == CONVERT)
        image_seal_all(&image, is_workload ? IMAGE_WORKLOAD : IMAGE_FOOTPRINT);
    if (frame == WL_SEALED)
        repair_summary(&image);
    if (frame == CONVERT || frame == ANDROID)
        check_convert(image.bytes, image.size, frame == CONVERT ? "footprint" : "android");
    else if (is_workload)
        (void)check_workload(image.bytes, image.size);
    else
        (void)check_footprint(image.bytes, image.size);
    image_release(&image);
    return 0;
}
