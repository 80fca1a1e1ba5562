/* test_shim_decode.c - chunks made by hand, whole, torn and hostile, to blocks. */
#include "collect/steps.h"
#include "unit/columns_view.h"
#include "unit/harness.h"
#include "unit/random.h"

#define FIRST_WORD      ((uint32_t)(SEG_CHUNK_HEADER / sizeof(uint64_t)))
#define WORDS_PER_CHUNK ((uint32_t)(SEG_CHUNK_BYTES / sizeof(uint64_t)))

static _Alignas(SEG_CHUNK_BYTES) unsigned char chunk_bytes[SEG_CHUNK_BYTES];
static struct fp_columns columns;
static struct fp_block block; /* what is in it */
static struct collect_stream stream;
static uint64_t damaged;
static uint32_t words, next_word;
static const struct collect_clock ticking = {.kind = SEG_CLOCK_MONOTONIC, .first_ns = 0, .ns_per_tick = 1};

static void set_up(void)
{
    memset(chunk_bytes, 0, sizeof chunk_bytes);
    memset(&stream, 0, sizeof stream);
    if (columns.memory == NULL)
        CHECK(fp_columns_init(&columns));
    fp_columns_clear(&columns);
    damaged = 0;
    next_word = FIRST_WORD;
}

BEFORE_EACH
{
    set_up();
}

static void put(uint64_t word)
{
    ((uint64_t *)chunk_bytes)[next_word++] = word;
}

static void put_call(unsigned call, uint64_t address, uint64_t size)
{
    put(fp_record_short(fp_record_code(call), address, size));
}

static void put_long(unsigned call, uint64_t address, uint64_t size, uint64_t extra)
{
    put(fp_record_first(FP_RECORD_LONG, call, address));
    put(size | extra << 32);
}

static void put_wide(unsigned call, uint64_t address, uint64_t size, uint64_t extra)
{
    put(fp_record_first(FP_RECORD_WIDE, call, address));
    put(size);
    put(extra);
}

static void put_epoch(uint64_t epoch)
{
    put(fp_record_epoch(FP_RECORD_EPOCH, epoch));
}

static void put_stamp(uint64_t epoch, uint64_t time)
{
    put(fp_record_epoch(FP_RECORD_STAMP, epoch));
    put(time);
}

static uint32_t decode(uint32_t first)
{
    const uint32_t next = decode_chunk(&columns, &stream, &ticking,
                                       (const struct seg_chunk_header *)chunk_bytes, first, &damaged, &words);
    block = columns_view(&columns);
    return next;
}

static const struct fp_shape *shape_of(uint32_t mark)
{
    return &block.shapes[block.marks[mark].shape];
}

/* Every call and mark, in the shortest record that its numbers fit and in the others. */
TEST(records_of_all_lengths)
{
    uint32_t mark = 0;
    put_stamp(1, 1);
    for (unsigned call = 0; call < 64; call++) {
        const uint64_t address = UINT64_C(0xfffffffffff0) - 16 * call;
        if (!fp_mark_is_valid(call))
            continue;
        if (fp_record_code(call) != 0)
            put_call(call, address, 0xffff);
        put_long(call, address + 7, UINT32_MAX, UINT32_MAX);
        put_wide(call, address + 1, UINT64_MAX, UINT64_MAX - call);
    }
    CHECK_U64(decode(0), 0);
    CHECK_U64(damaged, 0);
    for (unsigned call = 0; call < 64; call++) {
        const uint64_t address = UINT64_C(0xfffffffffff0) - 16 * call;
        if (!fp_mark_is_valid(call))
            continue;
        if (fp_record_code(call) != 0) {
            CHECK_U64(block.marks[mark].address, address);
            CHECK_U64(shape_of(mark)->call, call);
            CHECK_U64(shape_of(mark)->size, 0xffff);
            CHECK_U64(shape_of(mark++)->extra, call == FP_CALL_CALLOC);
        }
        CHECK_U64(block.marks[mark].address, address + 7);
        CHECK_U64(shape_of(mark)->call, call);
        CHECK_U64(shape_of(mark)->size, UINT32_MAX);
        CHECK_U64(shape_of(mark++)->extra, UINT32_MAX);
        CHECK_U64(block.marks[mark].address, address + 1);
        CHECK_U64(shape_of(mark)->call, call);
        CHECK_U64(shape_of(mark)->size, UINT64_MAX);
        CHECK_U64(shape_of(mark++)->extra, UINT64_MAX - call);
    }
    CHECK_U64(block.mark_count, mark);
}

/* Every shape different: the dictionary is full to the last entry, and each mark finds its own. */
TEST(shapes_all_different)
{
    uint64_t number = 0;
    for (unsigned chunk = 0; chunk < COLLECT_CHUNKS_PER_BLOCK; chunk++) {
        next_word = FIRST_WORD;
        put_stamp(1, 1);
        for (; next_word < WORDS_PER_CHUNK; number++)
            put_call(FP_CALL_MALLOC, 16, number & 0xffff);
        CHECK_U64(decode(0), 0);
    }
    CHECK_U64(block.mark_count, number);
    CHECK_U64(block.shape_count, number);
    for (uint32_t i = 0; i < block.mark_count; i++)
        if (shape_of(i)->size != i) {
            CHECK_U64(shape_of(i)->size, i);
            return;
        }
}

/* The first word that is 0 is the end. What a killed writer left behind it is no record, but must be wiped. */
TEST(a_record_cut_short_is_none)
{
    put_stamp(1, 1);
    put_call(FP_CALL_MALLOC, 16, 1);
    put(0);
    put(fp_record_short(fp_record_code(FP_CALL_MALLOC), 32, 2)); /* could be a size, or an extra */
    put(fp_record_short(fp_record_code(FP_CALL_MALLOC), 32, 2));
    CHECK_U64(decode(0), 0);
    CHECK_U64(block.mark_count, 1);
    CHECK(words + 3 >= next_word); /* its later words, to be zeroed with the rest */
    set_up();
    CHECK_U64(decode(0), 0);
    CHECK_U64(block.mark_count, 0);
}

TEST(damaged_records_are_counted)
{
    put_stamp(1, 1);
    put(fp_record_first(FP_RECORD_LONG, FP_CALL_COUNT, 16));
    put(fp_record_first(FP_RECORD_WIDE, 255, 16));
    put_call(FP_CALL_FREE, 16, 0);
    next_word = WORDS_PER_CHUNK - 1;
    put(fp_record_first(FP_RECORD_LONG, FP_CALL_MALLOC, 16)); /* the chunk ends within it */
    CHECK_U64(decode(0), 0);
    CHECK_U64(damaged, 2);
    CHECK_U64(block.mark_count, 1);
    CHECK_U64(fp_columns_events(&columns), 1);
    fp_columns_clear(&columns);
    CHECK_U64(decode(WORDS_PER_CHUNK - 1), 0);
    CHECK_U64(damaged, 3);
    CHECK_U64(words, WORDS_PER_CHUNK);
    ((uint64_t *)chunk_bytes)[WORDS_PER_CHUNK - 1] = FP_RECORD_STAMP;
    CHECK_U64(decode(WORDS_PER_CHUNK - 1), 0);
    CHECK_U64(damaged, 4);
}

/* Epochs past 32 bits of a block, and backwards: the block ends before the mark. */
TEST(epochs)
{
    const uint64_t high = (UINT64_C(5) << 40) - 10;
    put_stamp(high, 1);
    put_call(FP_CALL_FREE, 16, 0);
    put_epoch(high + 20);
    put_call(FP_CALL_FREE, 16, 0);
    put_stamp(high + (UINT64_C(1) << 33), 2);
    put_call(FP_CALL_FREE, 16, 0);
    uint32_t next = decode(0);
    CHECK_U64(next, FIRST_WORD + 7);
    CHECK_U64(block.base_epoch, high);
    CHECK_U64(block.mark_count, 2);
    CHECK_U64(block.marks[1].epoch, 20);
    fp_columns_clear(&columns);
    CHECK_U64(decode(next), 0);
    CHECK_U64(block.mark_count, 1);
    CHECK_U64(block.base_epoch, high + (UINT64_C(1) << 33));

    set_up();
    put_stamp(100, 1);
    put_call(FP_CALL_FREE, 16, 0);
    put_epoch(90);
    put_call(FP_CALL_FREE, 16, 0);
    CHECK_U64(decode(0), FIRST_WORD + 4);
}

TEST(stamps_do_not_decrease)
{
    put_stamp(1, 5000);
    put_stamp(1, 4000); /* before the same mark: one stamp, and time stands still */
    put_call(FP_CALL_FREE, 16, 0);
    put_stamp(1, 3000);
    put_call(FP_CALL_FREE, 16, 0);
    put_stamp(1, 9000);
    CHECK_U64(decode(0), 0);
    CHECK_U64(block.stamp_count, 3);
    CHECK_U64(block.stamps[0].mark, 0);
    CHECK_U64(block.stamps[0].time_ns, 5000);
    CHECK_U64(block.stamps[1].time_ns, 5000);
    CHECK_U64(block.stamps[2].mark, 2);
    CHECK_U64(block.stamps[2].time_ns, 9000);
}

/* Few and many shapes that are no calls are counted in different ways. */
TEST(events_are_calls)
{
    for (unsigned kinds = 1; kinds <= 8; kinds++) {
        set_up();
        put_stamp(1, 1);
        for (uint64_t i = 0; i < 300; i++) {
            put_call(FP_MARK_RESIZE_FROM, 16 * i, 0);
            put_call(FP_CALL_REALLOC, 16 * i, i);
            put_long(FP_MARK_GAP, 0, i % kinds, 0);
        }
        CHECK_U64(decode(0), 0);
        CHECK_U64(block.mark_count, 900);
        CHECK_U64(fp_columns_events(&columns), 300);
    }
}

/* Addresses near and far, NULL, never aligned twice alike, each named again after up to a block: all come back, whatever
 * the encoder took for known. */
TEST(addresses_come_back)
{
    static uint64_t given[FP_BLOCK_MARKS_MAX];
    uint32_t count = 0, wrong = 0;
    uint64_t state = 1;
    for (unsigned chunk = 0; chunk < COLLECT_CHUNKS_PER_BLOCK; chunk++) {
        memset(chunk_bytes, 0, sizeof chunk_bytes);
        next_word = FIRST_WORD;
        put_stamp(1 + chunk, 1);
        while (next_word + 2 < WORDS_PER_CHUNK) {
            const uint64_t random = test_random(&state);
            uint64_t address = random >> 60 == 0 || count == 0 ? random >> (16 + (random >> 32 & 31))
                                                               : given[(random >> 33) % count];
            given[count++] = address;
            if (random >> 63 == 0 && address % 16 == 0)
                put_call(FP_CALL_MALLOC, address, 8);
            else
                put_long(FP_CALL_MALLOC, address, 8, 0);
        }
        CHECK_U64(decode(0), 0);
    }
    CHECK_U64(block.mark_count, count);
    for (uint32_t i = 0; i < block.mark_count; i++)
        wrong += block.marks[i].address != given[i];
    CHECK_U64(wrong, 0);
}

/* Whatever stands in a chunk, what comes out is a block that reads back, and the chunk is done after so many blocks. */
TEST(hostile_words)
{
    uint64_t state = 7;
    for (unsigned turn = 0; turn < 300; turn++) {
        uint32_t next = 0;
        if (turn % COLLECT_CHUNKS_PER_BLOCK == 0)
            set_up();
        for (uint32_t i = FIRST_WORD; i < WORDS_PER_CHUNK; i++) {
            const uint64_t random = test_random(&state);
            /* Few bits and many: epochs and sizes near and far, every code. */
            ((uint64_t *)chunk_bytes)[i] = (random >> 8) >> (random & 31) |
                                           (turn % 3 == 0 ? FP_RECORD_LONG : 1);
        }
        /* A block may be empty, as where two threads' begins follow each other. */
        for (uint32_t before = 0; (next = decode(next)) != 0; before = next) {
            CHECK(next < WORDS_PER_CHUNK);
            if (next <= before) {
                HARNESS_FAIL("turn %u: no progress at word %u", turn, next);
                return;
            }
            fp_columns_clear(&columns);
        }
        CHECK(fp_columns_events(&columns) <= block.mark_count);
    }
}

TEST(generations_of_the_dictionary)
{
    put_stamp(1, 1);
    put_call(FP_CALL_MALLOC, 16, 1);
    for (uint32_t i = 0; i < 0x20000; i++) { /* past the wrap of the generation number */
        CHECK_U64(decode(0), 0);
        if (block.shape_count != 1 || block.mark_count != 1) {
            CHECK_U64(block.shape_count, 1);
            return;
        }
        fp_columns_clear(&columns);
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
