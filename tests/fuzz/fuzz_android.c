/* fuzz_android.c - any text as a trace of Android's malloc_debug. */
#include "fuzz/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    check_convert(bytes, size, "android");
    return 0;
}
