/* test_convert_expand.c - a sample of objects becomes about as many as there were: copies with the life of theirs, of each object as many
 * as its size stands for; resizes, growth, ends of threads and of the file; the same events each time. */
#include <string.h>

#include "convert/select/expand.h"
#include "footprint/fp/object_sample.h"
#include "unit/harness.h"

#define ONE_IN 16

struct heap {
    struct conv_track track;
    uint64_t births, ends, odd, most, digest;
    uint32_t number;
};

static enum fp_status see(void *data, const struct conv_event *events, size_t count)
{
    struct heap *heap = data;
    for (size_t i = 0; i < count; i++) {
        struct conv_track_step step;
        CHECK(conv_track_take(&heap->track, &events[i], &step) == FP_OK);
        heap->digest = heap->digest * 31 + events[i].address + events[i].call;
        heap->births += step.what == CONV_TRACK_BORN;
        heap->ends += step.what == CONV_TRACK_GONE;
        heap->odd += step.what == CONV_TRACK_UNKNOWN || step.evicted || step.what == CONV_TRACK_STAYED;
        if (step.what == CONV_TRACK_BORN || step.what == CONV_TRACK_MOVED)
            CHECK(conv_track_put_step(&heap->track, &step, events[i].address, ++heap->number));
        heap->most = heap->track.live.count > heap->most ? heap->track.live.count : heap->most;
    }
    return FP_OK;
}

static struct heap heap;
static struct conv_expand expand;
static struct conv_sink sink;

static void set_up(void)
{
    const struct conv_sink last = {.data = &heap, .events = see};
    heap = (struct heap){0};
    CHECK(conv_track_init(&heap.track));
    CHECK(conv_expand_init(&expand, ONE_IN, &last));
    sink = conv_expand_sink(&expand);
}

static void end(void)
{
    CHECK(conv_expand_end(&expand) == FP_OK);
    conv_expand_release(&expand);
    conv_track_release(&heap.track);
}

static void take(unsigned call, uint64_t address, uint64_t old, uint64_t size)
{
    const struct conv_event event = {.address = address, .old_address = old, .size = size, .call = call};
    CHECK(sink.events(sink.data, &event, 1) == FP_OK);
}

TEST(an_object_stands_for_as_many_as_its_size_says)
{
    set_up();
    for (uint64_t i = 1; i <= 1000; i++)
        take(FP_CALL_MALLOC, i << 20, 0, 40);
    end();
    CHECK(heap.births > 16400 && heap.births < 16600); /* 1 / (1 - exp(-1 / 16)) is 16.505 */
    set_up();
    for (uint64_t i = 1; i <= 1000; i++)
        take(FP_CALL_MALLOC, i << 20, 0, FP_SAMPLE_ALL_BYTES);
    end();
    CHECK_U64(heap.births, 1000);
}

/* A loop of malloc and free has one object at a time, and so has what is made of its sample. */
TEST(short_lives_stay_short)
{
    set_up();
    for (uint64_t i = 1; i <= 1000; i++) {
        take(FP_CALL_MALLOC, 4096, 0, 40);
        take(FP_CALL_FREE, 4096, 0, 0);
    }
    end();
    CHECK_U64(heap.births, heap.ends);
    CHECK(heap.births > 16400 && heap.most <= 2);
    CHECK_U64(heap.odd, 0);
}

static uint64_t churn(void)
{
    uint64_t random = 7, at[64] = {0};
    set_up();
    for (uint64_t i = 1; i <= 20000; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        const uint64_t which = random >> 58, size = 16 << (random >> 50) % 12, address = i << 16;
        if (at[which] == 0) {
            take(FP_CALL_MALLOC, at[which] = address, 0, size);
        } else if (random >> 40 & 1) {
            take(FP_MARK_RESIZE_FROM, at[which], 0, 0);
            take(FP_CALL_REALLOC, address, at[which], size);
            at[which] = address;
        } else {
            take(FP_CALL_FREE, at[which], 0, 0);
            at[which] = 0;
        }
        if (i % 1000 == 0)
            take(FP_MARK_THREAD_EXIT, 0, 0, 0);
    }
    for (unsigned which = 0; which < 64; which++)
        if (at[which] != 0)
            take(FP_CALL_FREE, at[which], 0, 0);
    CHECK(conv_expand_end(&expand) == FP_OK);
    CHECK_U64(heap.track.live.count, 0);
    CHECK(expand.live < 1e-3 * expand.live_peak && conv_expand_error(&expand) > 0);
    end();
    CHECK_U64(heap.odd, 0);
    CHECK_U64(heap.births, heap.ends);
    return heap.digest;
}

TEST(copies_live_and_move_and_end_as_theirs)
{
    CHECK_U64(churn(), churn());
}

TEST(growth_ends_those_that_are_too_many)
{
    set_up();
    take(FP_CALL_MALLOC, 4096, 0, 40);
    take(FP_MARK_RESIZE_FROM, 4096, 0, 0);
    take(FP_CALL_REALLOC, 8192, 4096, 1 << 20);
    CHECK(conv_expand_end(&expand) == FP_OK);
    CHECK_U64(heap.track.live.count, 1);
    end();
    CHECK_U64(heap.odd, 0);
}

/* Releases that were not seen, of objects of one address: none of the copies stays. */
TEST(what_is_lost_ends_with_its_copies)
{
    set_up();
    for (uint64_t i = 1; i <= 100; i++)
        take(FP_CALL_MALLOC, 4096, 0, 40);
    take(FP_CALL_FREE, 4096, 0, 0);
    take(FP_CALL_FREE, 4096, 0, 0);
    CHECK(conv_expand_end(&expand) == FP_OK);
    CHECK_U64(heap.track.live.count, 0);
    end();
}

/* Trains that no birth moves on do not gather. */
TEST(a_long_line_of_ends_is_worked_off)
{
    set_up();
    for (uint64_t i = 1; i <= 20000; i++)
        take(FP_CALL_MALLOC, i << 12, 0, 40);
    for (uint64_t i = 1; i <= 20000; i++)
        take(FP_CALL_FREE, i << 12, 0, 0);
    CHECK(expand.train_capacity < 10000);
    end();
    CHECK_U64(heap.births, heap.ends);
}

TEST(what_part_it_is_must_be_one)
{
    static const char *const wrong[] = {"", "0", "1", "-2", "16x", " 16", "1025", "99999999999999999999999"};
    uint64_t one_in = 5;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        CHECK(!fp_one_in_parse(wrong[i], &one_in));
    CHECK_U64(one_in, 5);
    CHECK(fp_one_in_parse("1024", &one_in) && one_in == 1024);
}

RUN_TESTS(T(an_object_stands_for_as_many_as_its_size_says), T(short_lives_stay_short),
          T(copies_live_and_move_and_end_as_theirs), T(growth_ends_those_that_are_too_many),
          T(what_is_lost_ends_with_its_copies), T(a_long_line_of_ends_is_worked_off),
          T(what_part_it_is_must_be_one))
