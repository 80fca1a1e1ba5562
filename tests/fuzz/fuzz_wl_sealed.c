/* fuzz_wl_sealed.c - any bytes as a workload whose frame and summary are made right first, so that what is
 * tried is what lies behind the checksums and totals. */
#include "fuzz/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct image image = {0};
    image_set(&image, bytes, size);
    image_seal_all(&image, IMAGE_WORKLOAD);
    repair_summary(&image);
    check_workload(image.bytes, image.size);
    image_release(&image);
    return 0;
}
