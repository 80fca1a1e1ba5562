/* fuzz_fp_sealed.c - any bytes as a footprint whose frame is made right first, so that what is tried is what
 * lies behind the checksums. */
#include "fuzz/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct image image = {0};
    image_set(&image, bytes, size);
    image_seal_all(&image, IMAGE_FOOTPRINT);
    check_footprint(image.bytes, image.size);
    image_release(&image);
    return 0;
}
