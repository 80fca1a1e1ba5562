/* test_convert_pair.c - the rules of docs/order.md, one by one: events in, ops of a workload out. */
#include "convert/ops/pair.h"

#include <unistd.h>

#include "unit/events.h"
#include "unit/harness.h"
#include "unit/random.h"
#include "unit/readers.h"
#include "unit/spell.h"

static char path[64];
static struct conv_survey survey;
static struct conv_pair pair;
static struct wl_writer *writer;
static uint64_t now_ns;

static void name_lane(void *data, uint32_t lane, uint32_t *ret_thread_id, bool *ret_is_main)
{
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

BEFORE_EACH
{
    begin();
}

static void take(struct conv_event event)
{
    const struct conv_sink sink = conv_pair_sink(&pair);
    event.time_ns = now_ns += 10;
    CHECK_U64(sink.events(sink.data, &event, 1), FP_OK);
}

/* One that events.h has no letter for. */
static void event_at(unsigned call, uint64_t address, uint64_t size, uint64_t extra)
{
    take((struct conv_event){.address = address, .size = size, .extra = extra, .call = (uint8_t)call});
}

static void events(const char *text)
{
    static struct conv_event list[64];
    const size_t count = events_of(text, list);
    for (size_t i = 0; i < count; i++)
        take(list[i]);
}

/* Finish, and spell the shares: "0:64 1:64" for op 0 and op 1. */
static const char *end_with_shares(void)
{
    static char text[1024];
    struct wl_window window;
    size_t at = 0;
    CHECK_U64(wl_writer_finish(writer, now_ns, NULL, NULL, NULL), FP_OK);
    conv_pair_release(&pair);
    WL_READER *reader = wl_opened(path);
    text[0] = '\0';
    while (wl_reader_next(reader, &window) == FP_OK)
        for (uint32_t i = 0; i < window.touched_count && at < sizeof text; i++)
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%u:%u", at > 0 ? " " : "",
                                   (unsigned)window.touched[i].op, window.touched[i].share);
    unlink(path);
    return text;
}

/* Finish, and spell the ops. */
static const char *end(void)
{
    CHECK_U64(wl_writer_finish(writer, now_ns, NULL, NULL, NULL), FP_OK);
    conv_pair_release(&pair);
    const char *text = spell_ops(path);
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
    events("a1000:100 s1000 r2000<1000:300 1a1000:7 f2000 1f0");
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

#define NONE CONV_IRREGULARITY_COUNT

TEST(each_rule)
{
    static const struct {
        const char *events, *ops;
        enum conv_irregularity irregular;
        unsigned count;
    } RULES[] = {
        /* A realloc of NULL allocates. */
        {"r1000:50 f1000", "R1:50 f1", NONE, 0},
        /* Others may take the address while a realloc runs. */
        {"a1000:8 s1000 1a1000:16 1f1000 r3000<1000:24 f3000", "m1:8 m2:16@1 f2@1 r1:24 f1", NONE, 0},
        /* Reallocs nest: a signal handler's realloc within a realloc. */
        {"a1000:1 a2000:2 s1000 s2000 r2100<2000:20 r1100<1000:10", "m1:1 m2:2 r2:20 r1:10", NONE, 0},
        /* One that failed leaves its object, one to zero is a free, one that never returned leaves its object. */
        {"a1000:8 s1000 r0<1000:1000 f1000", "m1:8 f1", CONV_FAILED_CALLS, 1},
        {"a1000:8 s1000 r0<1000:0 a1000:9", "m1:8 f1 m1:9", CONV_REALLOC_TO_ZERO, 1},
        {"a1000:8 s1000 e 1f1000", "m1:8 f1@1", CONV_UNFINISHED_CALLS, 1},
        /* Of unknown addresses frees are left out, and reallocs allocate. */
        {"f5000 a5000:4 f5000 f5000", "m1:4 f1", CONV_FREE_OF_UNKNOWN, 2},
        {"s5000 r6000<5000:40", "R1:40", CONV_RESIZE_OF_UNKNOWN, 1},
        /* An allocation over a live object releases it. */
        {"a1000:8 1a1000:16 f1000", "m1:8 f1@1 m1:16@1 f1", CONV_LOST_FREE, 1},
    };
    for (size_t i = 0; i < COUNT_OF(RULES); i++) {
        if (i > 0)
            begin();
        events(RULES[i].events);
        CHECK_STR(end(), RULES[i].ops);
        check_irregular(RULES[i].irregular, RULES[i].count);
    }
    CHECK_U64(survey.live_objects_end, 0); /* of the last one */
    CHECK_U64(survey.live_bytes_peak, 16);
}

/* More reallocs under way than a lane keeps: the oldest is given up, here the one of the address that comes next. */
TEST(too_many_reallocs_under_way)
{
    char text[64];
    for (uint32_t i = 1; i <= CONV_NEST_MAX; i++) {
        snprintf(text, sizeof text, "a%x:%u s%x", 0x1000 * i, i, 0x1000 * i);
        events(text);
    }
    events("s1000 r100000<1000:100");
    for (uint32_t i = 2; i <= CONV_NEST_MAX; i++) {
        snprintf(text, sizeof text, "r%x<%x:100", 0x100000 * i, 0x1000 * i);
        events(text);
    }
    for (uint32_t i = 1; i <= CONV_NEST_MAX; i++) {
        snprintf(text, sizeof text, "f%x", 0x100000 * i);
        events(text);
    }
    (void)end();
    check_irregular(CONV_UNFINISHED_CALLS, 1);
    CHECK_U64(survey.live_objects_end, 0);
}

TEST(a_gap_ends_what_was_under_way)
{
    events("a1000:8 s1000 g0:12 r2000:30"); /* whose RESIZE_FROM was lost */
    CHECK_U64(pair.gap_calls, 12);
    CHECK_STR(end(), "m1:8 R2:30");
    CHECK_U64(survey.irregular[CONV_GAPS], 1);
    CHECK_U64(survey.irregular[CONV_UNFINISHED_CALLS], 1);
}

TEST(failed_allocations_are_counted_only)
{
    events("a0:100");
    event_at(FP_CALL_ALIGNED_ALLOC, 0, 100, 64);
    event_at(FP_CALL_CALLOC, 0, UINT64_MAX, 8); /* overflows, as the program asked */
    CHECK_STR(end(), "");
    check_irregular(CONV_FAILED_CALLS, 3);
    CHECK_U64(survey.events, 3);
}

TEST(addresses_and_sizes_beyond_48_bits_are_left_out)
{
    events("a1000000000000:8 a1000:281474976710656");
    event_at(FP_CALL_CALLOC, 0x2000, UINT64_C(1) << 40, 1 << 20);
    CHECK_STR(end(), "");
    check_irregular(CONV_IMPOSSIBLE_CALLS, 3);
}

/* Allocators believe the size: what is replayed is the object's own. */
TEST(a_release_of_another_size_gets_its_objects)
{
    static const unsigned SIZED[] = {FP_CALL_FREE_SIZED,           FP_CALL_FREE_ALIGNED_SIZED,
                                     FP_CALL_DELETE_SIZED,         FP_CALL_DELETE_ARRAY_SIZED,
                                     FP_CALL_DELETE_SIZED_ALIGNED, FP_CALL_DELETE_ARRAY_SIZED_ALIGNED};
    for (size_t i = 0; i < COUNT_OF(SIZED); i++) {
        const uint64_t alignment = fp_call_extra_of(SIZED[i]) == FP_EXTRA_ALIGNMENT ? 64 : 0;
        events("a1000:100");
        event_at(SIZED[i], 0x1000, 32, alignment);
        events("a1000:64");
        event_at(SIZED[i], 0x1000, 64, alignment);
    }
    CHECK_STR(end(), "m1:100 f1:100 m1:64 f1:64 m1:100 f1:100 m1:64 f1:64 m1:100 o1:100 m1:64 o1:64 "
                     "m1:100 o1:100 m1:64 o1:64 m1:100 o1:100 m1:64 o1:64 m1:100 o1:100 m1:64 o1:64");
    check_irregular(CONV_SIZE_DIFFERS, 6);
}

TEST(a_release_without_a_size_fits_any)
{
    events("a1000:100");
    event_at(FP_CALL_DELETE_ALIGNED, 0x1000, 0, 64);
    events("a1000:100");
    event_at(FP_CALL_DELETE, 0x1000, 0, 0);
    CHECK_STR(end(), "m1:100 o1 m1:100 o1");
    check_irregular(CONV_IRREGULARITY_COUNT, 0);
}

/* The table keeps what it holds while it grows and while entries move back over removed ones. */
TEST(the_table_holds_many)
{
    (void)end(); /* no workload */
    struct conv_live_table live;
    uint64_t state = 1;
    size_t wrong = 0;
    CHECK(conv_live_init(&live));
    for (uint32_t i = 1; i <= 300000; i++)
        CHECK(conv_live_insert(&live, (uint64_t)i * 16, (struct conv_object){.id = i, .bytes = i * 3ull}));
    for (uint32_t i = 1; i <= 300000; i++) {
        if (test_random(&state) >> 63)
            conv_live_remove(&live, conv_live_find(&live, (uint64_t)i * 16));
    }
    state = 1;
    for (uint32_t i = 1; i <= 300000; i++) {
        uint64_t *entry = conv_live_find(&live, (uint64_t)i * 16);
        if (test_random(&state) >> 63)
            wrong += entry != NULL;
        else
            wrong += entry == NULL || conv_live_object(&live, entry).id != i ||
                     conv_live_object(&live, entry).bytes != i * 3ull;
    }
    CHECK_U64(wrong, 0);
    CHECK((live.mask + 1) * sizeof *live.entries <= 300000 * 26); /* five sixteenths full at the least */
    conv_live_release(&live);
}

/* An entry says in 8 bits how far from home it stands: more of one home make the table grow, and are not taken for others. */
TEST(the_table_tells_addresses_of_one_home_apart)
{
    enum { ADDRESSES = 600 };
    static uint64_t of_one_home[ADDRESSES];
    struct conv_live_table live;
    uint64_t address = 0;
    size_t wrong = 0;
    uint32_t count = 0;
    CHECK(conv_live_init(&live));
    for (address = 16; count < ADDRESSES; address += 16)
        if ((conv_mix(address, live.seed) & live.mask) == 7)
            of_one_home[count++] = address;
    for (uint32_t i = 0; i < ADDRESSES; i += 2)
        CHECK(conv_live_insert(&live, of_one_home[i], (struct conv_object){i + 1, i}));
    CHECK_U64(live.count, ADDRESSES / 2);
    CHECK(live.mask + 1 > 4096);
    for (uint32_t i = 0; i < ADDRESSES; i++) {
        const uint64_t *entry = conv_live_find(&live, of_one_home[i]);
        wrong += i % 2 != 0 ? entry != NULL : entry == NULL || conv_live_object(&live, entry).id != i + 1;
    }
    for (uint32_t i = 0; i < ADDRESSES; i += 2) {
        struct conv_object object = {0};
        wrong += !conv_live_take_out(&live, of_one_home[i], &object) || object.bytes != i;
    }
    CHECK_U64(wrong, 0);
    CHECK_U64(live.count, 0);
    conv_live_release(&live);
}

/* A number that a small table's entries have no bits for makes it grow. */
TEST(the_table_has_room_for_large_numbers)
{
    static const uint32_t numbers[] = {1, 524287, 524288, 3000000};
    struct conv_live_table live;
    CHECK(conv_live_init(&live));
    for (uint32_t i = 0; i < 4; i++)
        CHECK(conv_live_insert(&live, 16 + i, (struct conv_object){numbers[i], i}));
    for (uint32_t i = 0; i < 4; i++) {
        const uint64_t *entry = conv_live_find(&live, 16 + i);
        CHECK(entry != NULL && conv_live_object(&live, entry).id == numbers[i]);
    }
    conv_live_release(&live);
}

/* An object that stood where another is put in is told; its number is free for the next. */
TEST(the_table_makes_place)
{
    struct conv_live_table live;
    struct conv_object before = {0};
    uint32_t first, second;
    CHECK(conv_live_init(&live));
    CHECK(conv_live_take_number(&live, &first) && conv_live_make_place(&live, 16, &before));
    CHECK_U64(before.id, 0);
    CHECK(conv_live_insert(&live, 16, (struct conv_object){first, 100}));
    CHECK(conv_live_make_place(&live, 16, &before));
    CHECK_U64(before.id, first);
    CHECK_U64(before.bytes, 100);
    CHECK(conv_live_take_number(&live, &second));
    CHECK(second != first);
    conv_live_give_number(&live, first);
    CHECK(conv_live_insert(&live, 16, (struct conv_object){second, 200}));
    CHECK(conv_live_take_number(&live, &second));
    CHECK_U64(second, first);
    CHECK_U64(live.count, 1);
    CHECK_U64(conv_live_object(&live, conv_live_find(&live, 16)).bytes, 200);
    conv_live_release(&live);
}

static void resident(uint64_t address, uint64_t share)
{
    event_at(FP_MARK_RESIDENT, address, 0, share);
}

TEST(shares_are_those_of_the_object_or_of_its_kin)
{
    events("a10000:20000"); /* 0: nobody of its kin came before, so as the first that is told of */
    events("a20000:20001"); /* 1 */
    resident(0x20000, 64);
    events("f20000");       /* 2 */
    events("a20000:20479"); /* 3: as many pages, as 1 */
    events("a30000:20480"); /* 4: a page more, of which nothing is told */
    events("a40000:20000"); /* 5: all of it, and whoever comes behind */
    resident(0x40000, FP_SHARE_WHOLE);
    events("a50000:20000"); /* 6 */
    events("a60000:16383"); /* 7: small, whatever is said */
    resident(0x60000, 10);
    events("a70000:65536"); /* 8: large, and nobody's kin */
    events("a80000:65536"); /* 9 */
    resident(0x80000, 100);
    CHECK_STR(end_with_shares(), "0:64 1:64 3:64 9:100");
}

TEST(of_calloc_only_the_first_page_unless_told)
{
    event_at(FP_CALL_CALLOC, 0x10000, 4096, 1);   /* 0 */
    event_at(FP_CALL_CALLOC, 0x20000, 4095, 1);   /* 1: its first byte anyway */
    event_at(FP_CALL_CALLOC, 0x30000, 100, 1000); /* 2: large */
    event_at(FP_CALL_CALLOC, 0x40000, 20000, 1);  /* 3 */
    resident(0x40000, FP_SHARE_WHOLE);
    event_at(FP_CALL_CALLOC, 0x50000, 20000, 1); /* 4: as 3 */
    event_at(FP_CALL_CALLOC, 0x60000, 30000, 1); /* 5 */
    events("s60000 r60000<60000:40000");         /* 6: of resizes nothing is told */
    events("a70000:20000");                      /* 7: no kin of 3 */
    CHECK_STR(end_with_shares(), "0:1 2:1 5:1");
}
