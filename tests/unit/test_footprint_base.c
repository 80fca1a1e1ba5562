/* test_footprint_base.c - memory that a file may ask for: counted, refused, given back; numbers in words; names and messages, which are pinned. The
 * numbers of calls and losses are in the golden files. */
#include <errno.h>

#include "footprint/base/call.h"
#include "footprint/base/memory_bound.h"
#include "footprint/base/status.h"
#include "footprint/base/words.h"
#include "footprint/fp/footprint.h"
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

TEST(calls_have_names_that_lead_back)
{
    for (unsigned call = 0; call < 300; call++) {
        const char *name = fp_call_name(call);
        const bool is_call = call >= 1 && call < FP_CALL_COUNT;
        const bool is_mark = call >= 48 && call <= 52;
        CHECK(fp_mark_is_valid(call) == (is_call || is_mark));
        CHECK((name != NULL) == (is_call || is_mark));
        CHECK((fp_call_kind_of(call) != FP_KIND_NONE) == is_call);
        if (is_call)
            CHECK_U64(fp_call_from_name(name), call);
        if (!is_call)
            CHECK_U64(fp_call_extra_of(call), FP_EXTRA_NONE);
    }
    CHECK_U64(fp_call_from_name("mallocate"), FP_CALL_NONE);
    CHECK_U64(fp_call_from_name(""), FP_CALL_NONE);
    CHECK(fp_loss_name(FP_LOSS_COUNT) == NULL);
}

TEST(products_of_shapes_do_not_wrap)
{
    CHECK_U64(fp_shape_bytes(&(struct fp_shape){FP_CALL_MALLOC, 100, 7}), 100);
    CHECK_U64(fp_shape_bytes(&(struct fp_shape){FP_CALL_MEMALIGN, 100, 64}), 100);
    CHECK_U64(fp_shape_bytes(&(struct fp_shape){FP_CALL_CALLOC, 100, 7}), 700);
    CHECK_U64(fp_shape_bytes(&(struct fp_shape){FP_CALL_CALLOC, 0, UINT64_MAX}), 0);
    CHECK_U64(fp_shape_bytes(&(struct fp_shape){FP_CALL_CALLOC, UINT64_C(1) << 32, UINT64_C(1) << 32}),
              UINT64_MAX);
    CHECK_U64(fp_shape_bytes(&(struct fp_shape){FP_CALL_REALLOCARRAY, UINT64_MAX, 2}), UINT64_MAX);
}

TEST(statuses_have_pinned_values_and_names)
{
    static const char *const names[] = {"ok",       "end",     "open",    "read",      "write",
                                        "memory",   "foreign", "version", "truncated", "corrupt",
                                        "checksum", "exists",  "limit",   "argument"};
    for (unsigned i = 0; i < COUNT_OF(names); i++)
        CHECK_STR(fp_status_name((enum fp_status)i), names[i]);
    CHECK_STR(fp_status_name((enum fp_status)99), "unknown");
    CHECK_STR(fp_status_name((enum fp_status) - 1), "unknown");
    CHECK_U64(FP_ERR_ARGUMENT, 13);
}

TEST(errors_are_one_line_with_cause_place_and_remedy)
{
    const struct fp_error damaged = fp_error_make(FP_ERR_CHECKSUM, 0, 8192, "checksum of a block differs");
    const struct fp_error missing = fp_error_make(FP_ERR_OPEN, ENOENT, 0, "cannot open");
    const struct fp_error bare = {.status = FP_ERR_LIMIT};
    char text[256];
    char small[12];
    CHECK_STR(fp_error_text(&damaged, "web.fp", text, sizeof text),
              "'web.fp': checksum of a block differs at byte 8192; copy the file again, or make it anew");
    CHECK_STR(fp_error_text(&missing, "web.fp", text, sizeof text),
              "'web.fp': cannot open: No such file or directory");
    CHECK_STR(fp_error_text(&bare, NULL, text, sizeof text), "limit");
    CHECK_STR(fp_error_text(&damaged, "web.fp", small, sizeof small), "'web.fp': c");
    small[0] = 'x';
    CHECK(fp_error_text(&damaged, "web.fp", small, 0) == small && small[0] == 'x');
}

TEST(losses_add_up_to_no_more_than_all)
{
    uint64_t sum[FP_LOSS_COUNT] = {[FP_LOSS_DISK_FULL] = UINT64_C(1) << 63, [FP_LOSS_COLLECTOR] = 5};
    const uint64_t lost[FP_LOSS_COUNT] = {[FP_LOSS_DISK_FULL] = UINT64_C(1) << 63, [FP_LOSS_COLLECTOR] = 2};
    CHECK_U64(fp_loss_sum(lost), (UINT64_C(1) << 63) + 2);
    fp_loss_add(sum, lost);
    CHECK_U64(sum[FP_LOSS_DISK_FULL], UINT64_MAX);
    CHECK_U64(sum[FP_LOSS_COLLECTOR], 7);
    CHECK_U64(sum[FP_LOSS_RING_FULL], 0);
    CHECK_U64(fp_loss_sum(sum), UINT64_MAX);
}
