/* test_shim_decode.c - chunks made by hand, whole, torn and hostile, to blocks. */
#include "shim/collect.h"
#include "unit/harness.h"

static _Alignas(SEG_CHUNK_BYTES) unsigned char chunk_bytes[SEG_CHUNK_BYTES];
static struct decode_block block;
static struct collect_lane lane;
static uint64_t damaged;
static uint32_t records, next_record;
static const struct collect_clock clock = {.kind = SEG_CLOCK_MONOTONIC, .first_ns = 0, .ns_per_tick = 1};

static void set_up(void)
{
    memset(chunk_bytes, 0, sizeof chunk_bytes);
    memset(&lane, 0, sizeof lane);
    if (block.marks == NULL)
        CHECK(decode_init(&block));
    decode_clear(&block);
    damaged = 0;
    next_record = SEG_CHUNK_HEADER / FP_RECORD_BYTES;
}

static void put(uint64_t word0, uint64_t word1)
{
    struct fp_record *record = (struct fp_record *)chunk_bytes + next_record++;
    record->word0 = word0;
    record->word1 = word1;
}

static void put_call(unsigned call, uint64_t address, uint64_t size, uint64_t epoch)
{
    put(fp_record_word0(call, epoch, address), fp_record_word1(epoch, size));
}

static void put_stamp(uint64_t epoch, uint64_t time)
{
    put((uint64_t)FP_RECORD_STAMP | epoch << 8, time);
}

static uint32_t decode(uint32_t first)
{
    return decode_chunk(&block, &lane, &clock, (const struct seg_chunk_header *)chunk_bytes, first, &damaged,
                        &records);
}

TEST(shapes_are_shared)
{
    set_up();
    put_stamp(7, 1000);
    for (uint64_t i = 0; i < 1000; i++)
        put_call(i % 2 ? FP_CALL_FREE : FP_CALL_MALLOC, i * 16, i % 2 ? 0 : 8 + i % 4, 7);
    CHECK_U64(decode(0), 0);
    CHECK_U64(block.mark_count, 1000);
    CHECK_U64(block.shape_count, 3); /* malloc(8), free, malloc(10) */
    CHECK_U64(block.base_epoch, 7);
    CHECK_U64(block.stamp_count, 1);
    CHECK_U64(block.stamps[0].time_ns, 1000);
    CHECK_U64(records, next_record);
}

/* Every shape different: the dictionary is full to the last entry, and each mark finds its own. */
TEST(shapes_all_different)
{
    uint64_t number = 0;
    set_up();
    for (int chunk = 0; chunk < 16; chunk++) {
        next_record = SEG_CHUNK_HEADER / FP_RECORD_BYTES;
        put_stamp(1, 1);
        while (next_record < SEG_CHUNK_BYTES / FP_RECORD_BYTES)
            put_call(FP_CALL_MALLOC, 16, number++ * 4096, 1);
        CHECK_U64(decode(0), 0);
    }
    CHECK_U64(block.mark_count, number);
    CHECK_U64(block.shape_count, number);
    for (uint32_t i = 0; i < block.mark_count; i++)
        if (block.shapes[block.marks[i].shape].size != (uint64_t)(uint32_t)(i * UINT64_C(4096))) {
            CHECK_U64(block.shapes[block.marks[i].shape].size, i * UINT64_C(4096));
            return;
        }
}

TEST(holes)
{
    set_up();
    put_stamp(1, 1);
    put_call(FP_CALL_MALLOC, 16, 1, 1);
    next_record++; /* one store that never came */
    put_call(FP_CALL_MALLOC, 32, 2, 1);
    next_record += 2; /* the end */
    put_call(FP_CALL_MALLOC, 48, 3, 1);
    CHECK_U64(decode(0), 0);
    CHECK_U64(block.mark_count, 2);
    set_up();
    CHECK_U64(decode(0), 0);
    CHECK_U64(block.mark_count, 0);
}

TEST(damaged_records_are_counted)
{
    set_up();
    put_stamp(1, 1);
    put_call(FP_CALL_COUNT, 16, 1, 1);
    put_call(255, 16, 1, 1);
    put_call(FP_CALL_FREE, 16, 0, 1);
    CHECK_U64(decode(0), 0);
    CHECK_U64(damaged, 2);
    CHECK_U64(block.mark_count, 1);
    CHECK_U64(block.events, 1);
}

TEST(a_gap_cancels_a_wide_record)
{
    set_up();
    put_stamp(1, 1);
    put((uint64_t)FP_RECORD_WIDE | UINT64_C(2) << 16, 64);
    put_call(FP_MARK_GAP, 0, 5, 1);
    put_call(FP_CALL_MEMALIGN, 16, 9, 1);
    put((uint64_t)FP_RECORD_WIDE | UINT64_C(2) << 16, 64);
    put_call(FP_CALL_MEMALIGN, 16, 9, 1);
    CHECK_U64(decode(0), 0);
    CHECK_U64(block.mark_count, 3);
    CHECK_U64(block.shapes[block.marks[0].shape].size, 5);
    CHECK_U64(block.shapes[block.marks[1].shape].size, 9);
    CHECK_U64(block.shapes[block.marks[1].shape].extra, 0);
    CHECK_U64(block.shapes[block.marks[2].shape].size, UINT64_C(2) << 32 | 9);
    CHECK_U64(block.shapes[block.marks[2].shape].extra, 64);
    CHECK_U64(block.events, 2);
}

/* Epochs past 40 bits of a record, past 32 bits of a block, and backwards: the block ends before the mark. */
TEST(epochs)
{
    const uint64_t high = (UINT64_C(5) << 40) - 10;
    uint32_t next;
    set_up();
    put_stamp(high, 1);
    put_call(FP_CALL_FREE, 16, 0, high);
    put_call(FP_CALL_FREE, 16, 0, high + 20); /* its 40 bits have wrapped */
    put_stamp(high + (UINT64_C(1) << 33), 2);
    put_call(FP_CALL_FREE, 16, 0, high + (UINT64_C(1) << 33));
    next = decode(0);
    CHECK_U64(next, SEG_CHUNK_HEADER / FP_RECORD_BYTES + 4);
    CHECK_U64(block.base_epoch, high);
    CHECK_U64(block.mark_count, 2);
    CHECK_U64(block.marks[1].epoch, 20);
    decode_clear(&block);
    CHECK_U64(decode(next), 0);
    CHECK_U64(block.mark_count, 1);
    CHECK_U64(block.base_epoch, high + (UINT64_C(1) << 33));

    set_up();
    put_stamp(100, 1);
    put_call(FP_CALL_FREE, 16, 0, 100);
    put_call(FP_CALL_FREE, 16, 0, 90);
    CHECK_U64(decode(0), SEG_CHUNK_HEADER / FP_RECORD_BYTES + 2);
}

TEST(stamps_do_not_decrease)
{
    set_up();
    put_stamp(1, 5000);
    put_stamp(1, 4000); /* before the same mark: one stamp, and time stands still */
    put_call(FP_CALL_FREE, 16, 0, 1);
    put_stamp(1, 3000);
    put_call(FP_CALL_FREE, 16, 0, 1);
    put_stamp(1, 9000);
    CHECK_U64(decode(0), 0);
    CHECK_U64(block.stamp_count, 3);
    CHECK_U64(block.stamps[0].mark, 0);
    CHECK_U64(block.stamps[0].time_ns, 5000);
    CHECK_U64(block.stamps[1].time_ns, 5000);
    CHECK_U64(block.stamps[2].mark, 2);
    CHECK_U64(block.stamps[2].time_ns, 9000);
}

TEST(generations_of_the_dictionary)
{
    set_up();
    put_stamp(1, 1);
    put_call(FP_CALL_MALLOC, 16, 1, 1);
    for (uint32_t i = 0; i < 0x20000; i++) { /* past the wrap of the generation number */
        CHECK_U64(decode(0), 0);
        if (block.shape_count != 1 || block.mark_count != 1) {
            CHECK_U64(block.shape_count, 1);
            return;
        }
        decode_clear(&block);
    }
}

TEST(clock_line)
{
    struct collect_clock tsc = {.kind = SEG_CLOCK_TSC,
                                .first_ticks = 1000,
                                .first_ns = 50,
                                .last_ticks = 3000,
                                .last_ns = 1050,
                                .ns_per_tick = 0.5};
    CHECK_U64(clock_ns(&tsc, 0), 0);
    CHECK_U64(clock_ns(&tsc, 1000), 0);
    CHECK_U64(clock_ns(&tsc, 2000), 500);
    CHECK_U64(clock_ns(&tsc, 3000), 1000);
    CHECK_U64(clock_ns(&tsc, 5000), 2000);
}

RUN_TESTS(T(shapes_are_shared), T(shapes_all_different), T(holes), T(damaged_records_are_counted),
          T(a_gap_cancels_a_wide_record), T(epochs), T(stamps_do_not_decrease),
          T(generations_of_the_dictionary), T(clock_line))
