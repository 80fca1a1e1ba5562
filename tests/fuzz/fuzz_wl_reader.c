/* fuzz_wl_reader.c - any bytes as a workload. */
#include "fuzz/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    check_workload(bytes, size);
    return 0;
}
