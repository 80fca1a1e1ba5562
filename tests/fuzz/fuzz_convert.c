/* fuzz_convert.c - any bytes as a footprint whose frame is made right, converted: what order and pairing do with
 * recordings that no program could have made. */
#include "fuzz/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct image image = {0};
    image_set(&image, bytes, size);
    image_seal_all(&image, IMAGE_FOOTPRINT);
    check_convert(image.bytes, image.size, "footprint");
    image_release(&image);
    return 0;
}
