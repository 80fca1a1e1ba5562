/* test_convert_pair.c - the rules of docs/order.md, one by one: events in, ops of a workload out. */
#include "convert/ops/pair.h"

#include <unistd.h>

#include "unit/harness.h"
#include "unit/spell.h"

static char path[64];
static struct conv_survey survey;
static struct conv_pair pair;
static struct wl_writer *writer;
static uint64_t now_ns;

static void name_lane(void *data, uint32_t lane, uint32_t *ret_thread_id, bool *ret_is_main)
{
    (void)data;
    *ret_thread_id = 100 + lane;
    *ret_is_main = lane == 0;
}

static void begin(void)
{
    const struct wl_writer_options options = {0};
    const struct conv_namer namer = {.name = name_lane};
    snprintf(path, sizeof path, "test_convert_pair.%ld.wl", (long)getpid());
    memset(&survey, 0, sizeof survey);
    now_ns = 0;
    CHECK_U64(wl_writer_create(path, true, &options, NULL, 0, NULL, &writer), FP_OK);
    CHECK(conv_pair_init(&pair, writer, namer, &survey));
}

static void event_at(uint32_t lane, unsigned call, uint64_t address, uint64_t old_address, uint64_t size,
                     uint64_t extra)
{
    const struct conv_sink sink = conv_pair_sink(&pair);
    const struct conv_event event = {.time_ns = now_ns += 10,
                                     .address = address,
                                     .old_address = old_address,
                                     .size = size,
                                     .extra = extra,
                                     .lane = lane,
                                     .call = (uint8_t)call};
    CHECK_U64(sink.events(sink.data, &event, 1), FP_OK);
}

static void allocate(uint32_t lane, uint64_t address, uint64_t size)
{
    event_at(lane, FP_CALL_MALLOC, address, 0, size, 0);
}

static void release(uint32_t lane, uint64_t address)
{
    event_at(lane, FP_CALL_FREE, address, 0, 0, 0);
}

static void resize_from(uint32_t lane, uint64_t address)
{
    event_at(lane, FP_MARK_RESIZE_FROM, address, 0, 0, 0);
}

static void resized(uint32_t lane, uint64_t address, uint64_t old_address, uint64_t size)
{
    event_at(lane, FP_CALL_REALLOC, address, old_address, size, 0);
}

/* Finish, and spell the shares: "0:64 1:64" for op 0 and op 1. */
static const char *end_with_shares(void)
{
    static char text[1024];
    struct wl_reader *reader = NULL;
    struct wl_window window;
    size_t at = 0;
    CHECK_U64(wl_writer_finish(writer, now_ns, NULL, NULL, NULL), FP_OK);
    conv_pair_release(&pair);
    CHECK_U64(wl_reader_open(path, NULL, &reader), FP_OK);
    text[0] = '\0';
    while (wl_reader_next(reader, &window) == FP_OK)
        for (uint32_t i = 0; i < window.touched_count && at < sizeof text; i++)
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%u:%u", at > 0 ? " " : "",
                                   (unsigned)window.touched[i].op, window.touched[i].share);
    wl_reader_close(reader);
    unlink(path);
    return text;
}

/* Finish, and spell the ops. */
static const char *end(void)
{
    const char *text;
    CHECK_U64(wl_writer_finish(writer, now_ns, NULL, NULL, NULL), FP_OK);
    conv_pair_release(&pair);
    text = spell_ops(path);
    unlink(path);
    return text;
}

static void check_irregular(enum conv_irregularity which, uint64_t count)
{
    for (unsigned i = 0; i < CONV_IRREGULARITY_COUNT; i++)
        CHECK_U64(survey.irregular[i], i == which ? count : 0);
}

TEST(plain_life)
{
    begin();
    allocate(0, 0x1000, 100);
    resize_from(0, 0x1000);
    resized(0, 0x2000, 0x1000, 300);
    allocate(1, 0x1000, 7);
    release(0, 0x2000);
    release(1, 0);
    CHECK_STR(end(), "m1:100 r1:300 m2:7@1 f1 f0@1");
    check_irregular(CONV_IRREGULARITY_COUNT, 0);
    CHECK_U64(survey.events, 5);
    CHECK_U64(survey.threads, 2);
    CHECK_U64(survey.requested_bytes, 407);
    CHECK_U64(survey.live_bytes_peak, 307);
    CHECK_U64(survey.live_objects_end, 1);
    CHECK_U64(survey.class_count[7], 1); /* 100: 64 .. 127 */
    CHECK_U64(survey.class_bytes[9], 300);
}

TEST(a_realloc_of_null_allocates)
{
    begin();
    resized(0, 0x1000, 0, 50);
    release(0, 0x1000);
    CHECK_STR(end(), "R1:50 f1");
    check_irregular(CONV_IRREGULARITY_COUNT, 0);
}

TEST(others_may_take_the_address_while_a_realloc_runs)
{
    begin();
    allocate(0, 0x1000, 8);
    resize_from(0, 0x1000);
    allocate(1, 0x1000, 16);
    release(1, 0x1000);
    resized(0, 0x3000, 0x1000, 24);
    release(0, 0x3000);
    CHECK_STR(end(), "m1:8 m2:16@1 f2@1 r1:24 f1");
    check_irregular(CONV_IRREGULARITY_COUNT, 0);
}

/* A signal handler's realloc within a realloc. */
TEST(reallocs_nest)
{
    begin();
    allocate(0, 0x1000, 1);
    allocate(0, 0x2000, 2);
    resize_from(0, 0x1000);
    resize_from(0, 0x2000);
    resized(0, 0x2100, 0x2000, 20);
    resized(0, 0x1100, 0x1000, 10);
    CHECK_STR(end(), "m1:1 m2:2 r2:20 r1:10");
    check_irregular(CONV_IRREGULARITY_COUNT, 0);
}

/* More reallocs under way than a lane keeps: the oldest is given up, here the one of the address that comes next. */
TEST(too_many_reallocs_under_way)
{
    begin();
    for (uint32_t i = 1; i <= CONV_NEST_MAX; i++) {
        allocate(0, 0x1000 * i, i);
        resize_from(0, 0x1000 * i);
    }
    resize_from(0, 0x1000);
    resized(0, 0x100000, 0x1000, 100);
    for (uint32_t i = 2; i <= CONV_NEST_MAX; i++)
        resized(0, 0x100000 * i, 0x1000 * i, 100);
    for (uint32_t i = 1; i <= CONV_NEST_MAX; i++)
        release(0, 0x100000 * i);
    (void)end();
    check_irregular(CONV_UNFINISHED_CALLS, 1);
    CHECK_U64(survey.live_objects_end, 0);
}

TEST(a_failed_realloc_leaves_its_object)
{
    begin();
    allocate(0, 0x1000, 8);
    resize_from(0, 0x1000);
    resized(0, 0, 0x1000, 1000);
    release(0, 0x1000);
    CHECK_STR(end(), "m1:8 f1");
    check_irregular(CONV_FAILED_CALLS, 1);
}

TEST(a_realloc_to_zero_is_a_free)
{
    begin();
    allocate(0, 0x1000, 8);
    resize_from(0, 0x1000);
    resized(0, 0, 0x1000, 0);
    allocate(0, 0x1000, 9);
    CHECK_STR(end(), "m1:8 f1 m1:9");
    check_irregular(CONV_REALLOC_TO_ZERO, 1);
}

TEST(a_realloc_that_never_returned_leaves_its_object)
{
    begin();
    allocate(0, 0x1000, 8);
    resize_from(0, 0x1000);
    event_at(0, CONV_MARK_LANE_END, 0, 0, 0, 0);
    release(1, 0x1000);
    CHECK_STR(end(), "m1:8 f1@1");
    check_irregular(CONV_UNFINISHED_CALLS, 1);
}

TEST(a_gap_ends_what_was_under_way)
{
    begin();
    allocate(0, 0x1000, 8);
    resize_from(0, 0x1000);
    event_at(0, FP_MARK_GAP, 0, 0, 12, 0);
    resized(0, 0x2000, 0, 30); /* its RESIZE_FROM was lost */
    CHECK_U64(pair.gap_calls, 12);
    CHECK_STR(end(), "m1:8 R2:30");
    CHECK_U64(survey.irregular[CONV_GAPS], 1);
    CHECK_U64(survey.irregular[CONV_UNFINISHED_CALLS], 1);
}

TEST(failed_allocations_are_counted_only)
{
    begin();
    allocate(0, 0, 100);
    event_at(0, FP_CALL_ALIGNED_ALLOC, 0, 0, 100, 64);
    event_at(0, FP_CALL_CALLOC, 0, 0, UINT64_MAX, 8); /* overflows, as the program asked */
    CHECK_STR(end(), "");
    check_irregular(CONV_FAILED_CALLS, 3);
    CHECK_U64(survey.events, 3);
}

TEST(frees_of_unknown_addresses_are_left_out)
{
    begin();
    release(0, 0x5000);
    allocate(0, 0x5000, 4);
    release(0, 0x5000);
    release(0, 0x5000);
    CHECK_STR(end(), "m1:4 f1");
    check_irregular(CONV_FREE_OF_UNKNOWN, 2);
}

TEST(reallocs_of_unknown_addresses_allocate)
{
    begin();
    resize_from(0, 0x5000);
    resized(0, 0x6000, 0x5000, 40);
    CHECK_STR(end(), "R1:40");
    check_irregular(CONV_RESIZE_OF_UNKNOWN, 1);
}

TEST(an_allocation_over_a_live_object_releases_it)
{
    begin();
    allocate(0, 0x1000, 8);
    allocate(1, 0x1000, 16);
    release(0, 0x1000);
    CHECK_STR(end(), "m1:8 f1@1 m1:16@1 f1");
    check_irregular(CONV_LOST_FREE, 1);
    CHECK_U64(survey.live_objects_end, 0);
    CHECK_U64(survey.live_bytes_peak, 16);
}

TEST(addresses_and_sizes_beyond_48_bits_are_left_out)
{
    begin();
    allocate(0, UINT64_C(1) << 48, 8);
    allocate(0, 0x1000, UINT64_C(1) << 48);
    event_at(0, FP_CALL_CALLOC, 0x2000, 0, UINT64_C(1) << 40, 1 << 20);
    CHECK_STR(end(), "");
    check_irregular(CONV_IMPOSSIBLE_CALLS, 3);
}

/* Allocators believe the size: what is replayed is the object's own. */
TEST(a_release_of_another_size_gets_its_objects)
{
    static const unsigned SIZED[] = {FP_CALL_FREE_SIZED,           FP_CALL_FREE_ALIGNED_SIZED,
                                     FP_CALL_DELETE_SIZED,         FP_CALL_DELETE_ARRAY_SIZED,
                                     FP_CALL_DELETE_SIZED_ALIGNED, FP_CALL_DELETE_ARRAY_SIZED_ALIGNED};
    begin();
    for (size_t i = 0; i < sizeof SIZED / sizeof SIZED[0]; i++) {
        const uint64_t alignment = fp_call_extra_of(SIZED[i]) == FP_EXTRA_ALIGNMENT ? 64 : 0;
        allocate(0, 0x1000, 100);
        event_at(0, SIZED[i], 0x1000, 0, 32, alignment);
        allocate(0, 0x1000, 64);
        event_at(0, SIZED[i], 0x1000, 0, 64, alignment);
    }
    CHECK_STR(end(), "m1:100 f1:100 m1:64 f1:64 m1:100 f1:100 m1:64 f1:64 m1:100 o1:100 m1:64 o1:64 "
                     "m1:100 o1:100 m1:64 o1:64 m1:100 o1:100 m1:64 o1:64 m1:100 o1:100 m1:64 o1:64");
    check_irregular(CONV_SIZE_DIFFERS, 6);
}

TEST(a_release_without_a_size_fits_any)
{
    begin();
    allocate(0, 0x1000, 100);
    event_at(0, FP_CALL_DELETE_ALIGNED, 0x1000, 0, 0, 64);
    allocate(0, 0x1000, 100);
    event_at(0, FP_CALL_DELETE, 0x1000, 0, 0, 0);
    CHECK_STR(end(), "m1:100 o1 m1:100 o1");
    check_irregular(CONV_IRREGULARITY_COUNT, 0);
}

/* The table keeps what it holds while it grows and while entries move back over removed ones. */
TEST(the_table_holds_many)
{
    struct conv_live_table live;
    uint64_t state = 1;
    size_t wrong = 0;
    CHECK(conv_live_init(&live));
    for (uint32_t i = 1; i <= 300000; i++)
        CHECK(conv_live_insert(&live, (uint64_t)i * 16, (struct conv_object){.id = i, .bytes = i * 3ull}));
    for (uint32_t i = 1; i <= 300000; i++) {
        state = state * 6364136223846793005u + 1;
        if (state >> 63)
            conv_live_remove(&live, conv_live_find(&live, (uint64_t)i * 16));
    }
    state = 1;
    for (uint32_t i = 1; i <= 300000; i++) {
        struct conv_live_entry *entry = conv_live_find(&live, (uint64_t)i * 16);
        state = state * 6364136223846793005u + 1;
        if (state >> 63)
            wrong += entry != NULL;
        else
            wrong += entry == NULL || conv_live_object(entry).id != i ||
                     conv_live_object(entry).bytes != i * 3ull;
    }
    CHECK_U64(wrong, 0);
    CHECK((live.mask + 1) * sizeof *live.entries <= 300000 * 64); /* a quarter full at the least */
    conv_live_release(&live);
}

static void resident(uint64_t address, uint64_t share)
{
    event_at(0, FP_MARK_RESIDENT, address, 0, 0, share);
}

TEST(shares_are_those_of_the_object_or_of_its_kin)
{
    begin();
    allocate(0, 0x10000, 20000); /* 0: nobody of its kin came before, so as the first that is told of */
    allocate(0, 0x20000, 20001); /* 1 */
    resident(0x20000, 64);
    release(0, 0x20000);         /* 2 */
    allocate(0, 0x20000, 20479); /* 3: as many pages, as 1 */
    allocate(0, 0x30000, 20480); /* 4: a page more, of which nothing is told */
    allocate(0, 0x40000, 20000); /* 5: all of it, and whoever comes behind */
    resident(0x40000, FP_SHARE_WHOLE);
    allocate(0, 0x50000, 20000); /* 6 */
    allocate(0, 0x60000, 16383); /* 7: small, whatever is said */
    resident(0x60000, 10);
    allocate(0, 0x70000, 65536); /* 8: large, and nobody's kin */
    allocate(0, 0x80000, 65536); /* 9 */
    resident(0x80000, 100);
    CHECK_STR(end_with_shares(), "0:64 1:64 3:64 9:100");
}

TEST(of_calloc_only_the_first_page_unless_told)
{
    begin();
    event_at(0, FP_CALL_CALLOC, 0x10000, 0, 4096, 1);   /* 0 */
    event_at(0, FP_CALL_CALLOC, 0x20000, 0, 4095, 1);   /* 1: its first byte anyway */
    event_at(0, FP_CALL_CALLOC, 0x30000, 0, 100, 1000); /* 2: large */
    event_at(0, FP_CALL_CALLOC, 0x40000, 0, 20000, 1);  /* 3 */
    resident(0x40000, FP_SHARE_WHOLE);
    event_at(0, FP_CALL_CALLOC, 0x50000, 0, 20000, 1); /* 4: as 3 */
    event_at(0, FP_CALL_CALLOC, 0x60000, 0, 30000, 1); /* 5 */
    resize_from(0, 0x60000);
    resized(0, 0x60000, 0x60000, 40000); /* 6: of resizes nothing is told */
    allocate(0, 0x70000, 20000);         /* 7: no kin of 3 */
    CHECK_STR(end_with_shares(), "0:1 2:1 5:1");
}
