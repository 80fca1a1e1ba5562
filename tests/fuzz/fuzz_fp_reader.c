/* fuzz_fp_reader.c - any bytes as a footprint. */
#include "fuzz/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    check_footprint(bytes, size);
    return 0;
}
