/* test_footprint_bound.c - memory that a file may ask for: asked, by the size of what is read, shared; counted, refused, given back. */
#include <stdlib.h>
#include <string.h>

#include "footprint/base/memory_bound.h"
#include "unit/harness.h"

TEST(what_is_asked_is_the_bound)
{
    CHECK(setenv(FP_MEMORY_VARIABLE, "1000", 1) == 0);
    CHECK(fp_memory_is_asked());
    CHECK_U64(fp_memory_bound(), 1000);
    CHECK_STR(fp_memory_reason(), "as was asked");
    CHECK(fp_memory_take(600) && !fp_memory_refused());
    CHECK(!fp_memory_take(401) && fp_memory_refused());
    CHECK_U64(fp_memory_held(), 600);
    fp_memory_forget();
    CHECK(!fp_memory_refused());
    CHECK(fp_memory_take(400) && !fp_memory_take(1) && !fp_memory_take(UINT64_MAX));
    CHECK(fp_memory_change(400, 100) && fp_memory_change(100, 400) && !fp_memory_change(400, 401));
    fp_memory_give(1000);
    CHECK_U64(fp_memory_held(), 0);
}

/* Any machine that tests run on has half a GiB and more. */
TEST(a_small_file_is_worth_little)
{
    CHECK(unsetenv(FP_MEMORY_VARIABLE) == 0);
    const uint64_t half = fp_memory_bound();
    CHECK(!fp_memory_is_asked() && half > 0);
    CHECK_STR(fp_memory_reason(), "half of what there is");
    fp_memory_input(212 << 10);
    const uint64_t worth = FP_MEMORY_BASE_BYTES + FP_MEMORY_RATIO * (212 << 10);
    CHECK_U64(fp_memory_bound(), worth < half ? worth : half);
    fp_memory_forget_input();
    CHECK_U64(fp_memory_bound(), half);
    fp_memory_input(212 << 10);
    CHECK_U64(fp_memory_bound(), worth < half ? worth : half);
    CHECK(worth > half || strstr(fp_memory_reason(), "1 GiB") != NULL);
    fp_memory_input(0); /* a pipe besides: nobody knows */
    CHECK_U64(fp_memory_bound(), half);
}
