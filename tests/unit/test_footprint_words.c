/* test_footprint_words.c - numbers in words: grouped digits, and bytes in the unit that fits, in replay's lines as in tables. */
#include "footprint/base/words.h"
#include "unit/harness.h"

TEST(digits_are_grouped)
{
    char text[FP_TEXT_BYTES];
    CHECK_STR(fp_text_grouped(0, text), "0");
    CHECK_STR(fp_text_grouped(999, text), "999");
    CHECK_STR(fp_text_grouped(1000, text), "1,000");
    CHECK_STR(fp_text_grouped(1012345, text), "1,012,345");
    CHECK_STR(fp_text_grouped(UINT64_MAX, text), "18,446,744,073,709,551,615");
}

TEST(bytes_have_the_unit_that_fits)
{
    char text[FP_TEXT_BYTES];
    CHECK_STR(fp_text_bytes(0, text), "0 B");
    CHECK_STR(fp_text_bytes(999, text), "999 B");
    CHECK_STR(fp_text_bytes(1000, text), "1.0 kB");
    CHECK_STR(fp_text_bytes(61234567, text), "61.2 MB");
    CHECK_STR(fp_text_bytes(612345678, text), "612 MB"); /* replay said 612.3 */
    CHECK_STR(fp_text_bytes(999999, text), "1.0 MB");    /* and 1000.0 kB */
    CHECK_STR(fp_text_bytes(-4096, text), "-4.1 kB");
    CHECK_STR(fp_text_bytes(1.8e19, text), "18.0 EB");
}
