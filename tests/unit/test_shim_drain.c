/* test_shim_drain.c - chunks that the collector has no memory for: those of a program that runs wait and are written later, whole and
 * in order; those of one that has ended are counted as lost. */
#include "collect/steps.h"
#include "unit/harness.h"

#define FIRST_WORD (SEG_CHUNK_HEADER / sizeof(uint64_t))
#define HELD       80u
#define CHUNKS     (HELD / SEG_KEPT_EACH * (SEG_KEPT_EACH - 1)) /* those of them that are kept for no slot */
#define SLOT       3u
#define LOOKS      20u /* rounds without memory */

static struct collector collector;
static struct collect_image image;
static struct collect_lane lanes[4];
static struct collect_stream stream;
static bool lane_fails, stream_fails;
static uint64_t stored[4];

/* ---- the rest of the collector ------------------------------------------------------------------- */

struct collect_lane *image_lane(struct collect_image *of, uint32_t number)
{
    return lane_fails && number != 0 ? NULL : &lanes[number];
}

struct collect_stream *image_stream(struct collect_image *of, uint32_t number)
{
    stream.image = of;
    return stream_fails ? NULL : &stream;
}

void image_store(struct collector *of, struct collect_image *to, struct collect_lane *by,
                 struct fp_columns *block)
{
    by->next_block++;
    stored[by - lanes] += fp_columns_events(block);
    fp_columns_clear(block);
}

uint32_t reserve_block_chunks(const struct collector *of)
{
    return COLLECT_CHUNKS_PER_BLOCK;
}

bool segment_grow(struct collect_segment *segment, uint32_t count)
{
    return false;
}

/* ---- a segment ------------------------------------------------------------------------------------- */

static void set_up(void)
{
    const uint64_t bytes = seg_view_at(NULL, HELD).bytes; /* a multiple of a chunk's */
    free(collector.segments[0].view.header);
    free(collector.segments[0].chunks);
    free(collector.images);
    memset(&collector, 0, sizeof collector);
    memset(&image, 0, sizeof image);
    memset(lanes, 0, sizeof lanes);
    memset(&stream, 0, sizeof stream);
    collector.segments[0].view = seg_view_at(aligned_alloc(SEG_CHUNK_BYTES, bytes), HELD);
    memset(collector.segments[0].view.header, 0, bytes);
    collector.segments[0].view.header->held = HELD;
    collector.segments[0].chunks = calloc(HELD, sizeof *collector.segments[0].chunks);
    collector.images = calloc(1, sizeof *collector.images);
    collector.images[0] = &image;
    collector.image_count = 1;
    collector.segments[0].image_of_slot[SLOT] = 1;
    collector.segments[0].view.slots[SLOT].state = seg_slot_word(SEG_SLOT_ATTACHED, 1);
    image.slot = SLOT;
    image.segment = &collector.segments[0];
    collector.segment_count = 1;
    lane_fails = stream_fails = false;
    memset(stored, 0, sizeof stored);
}

BEFORE_EACH
{
    set_up();
}

/* The nth chunk that is kept for no slot. */
static uint32_t place_of(uint32_t number)
{
    return number + number / (SEG_KEPT_EACH - 1);
}

/* Three calls in three forms, a mark that is none, an epoch and a stamp. */
static void fill(uint32_t index, uint64_t sequence)
{
    struct seg_chunk_header *chunk = seg_chunk(&collector.segments[0].view, place_of(index));
    uint64_t *words = (uint64_t *)chunk + FIRST_WORD;
    const uint64_t records[] = {
        fp_record_epoch(FP_RECORD_STAMP, 1),
        1000,
        fp_record_short(fp_record_code(FP_CALL_MALLOC), 0x1000, 8),
        fp_record_short(fp_record_code(FP_MARK_RESIZE_FROM), 0x1000, 0),
        fp_record_epoch(FP_RECORD_EPOCH, 2),
        fp_record_first(FP_RECORD_LONG, FP_CALL_REALLOC, 0x2000),
        (uint64_t)1 << 20,
        fp_record_first(FP_RECORD_WIDE, FP_CALL_MEMALIGN, 0x3000),
        (uint64_t)5 << 33,
        64,
        fp_record_first(FP_RECORD_LONG, FP_MARK_RESIDENT, 0x3000),
        1,
    };
    memcpy(words, records, sizeof records);
    chunk->sequence = sequence;
    chunk->magic = SEG_CHUNK_MAGIC;
    collector.segments[0].view.states[place_of(index)] = seg_chunk_word(SEG_CHUNK_FULL, SLOT, 0, 0);
}

static uint64_t count_free(void)
{
    uint64_t count = 0;
    for (uint32_t index = 0; index < CHUNKS; index++)
        count += collector.segments[0].view.states[place_of(index)] == SEG_CHUNK_FREE;
    return count;
}

static void write_all(void)
{
    void *streams[] = {&stream};
    image.streams.items = streams;
    image.streams.count = 1;
    drain_image(&collector, &image);
    image.streams.items = NULL;
    image.streams.count = 0;
}

TEST(chunks_wait_for_a_stream)
{
    for (uint32_t i = 0; i < CHUNKS; i++)
        fill(i, i);
    stream_fails = true;
    for (unsigned round = 0; round < LOOKS; round++)
        CHECK_U64(take_scan(&collector), 0);
    CHECK_U64(count_free(), 0);
    stream_fails = false;
    CHECK_U64(take_scan(&collector), CHUNKS);
    CHECK_U64(collector.segments[0].taken_chunks, CHUNKS);
    CHECK_U64(image.lost[FP_LOSS_COLLECTOR], 0);
}

/* In whatever order they are found, they are written in that of their sequence, and none before one that is missing. */
TEST(chunks_are_written_in_their_order)
{
    for (uint32_t i = 0; i < CHUNKS; i++)
        fill(i, i * 37 % CHUNKS); /* 37 and 70 have no common divisor */
    collector.segments[0].view.states[place_of(CHUNKS - 1)] = SEG_CHUNK_FREE;
    CHECK_U64(take_scan(&collector), CHUNKS - 1);
    while (drain_blocks(&collector) > 0)
        ;
    CHECK_U64(stream.next_chunk, (CHUNKS - 1) * 37 % CHUNKS); /* the one that is missing */
    CHECK_U64(stored[0], 3 * stream.next_chunk);
    fill(CHUNKS - 1, stream.next_chunk);
    CHECK_U64(take_scan(&collector), 1);
    write_all();
    CHECK_U64(stored[0], 3 * CHUNKS);
    CHECK_U64(count_free(), CHUNKS);
    CHECK(queue_longest(&collector, &collector.segments[0], 1) == NULL);
}

/* Whoever maps a page for writing can take it out of the file; what comes back has zeros. */
TEST(what_was_taken_out_of_full_chunks_is_told)
{
    const uint64_t words = (uint64_t)(FIRST_WORD + 12) << SEG_THREAD_SHIFT;
    for (uint32_t i = 0; i < 4; i++) {
        fill(i, i);
        collector.segments[0].view.states[place_of(i)] = seg_chunk_word(SEG_CHUNK_FULL, SLOT, 0, 0) | words;
    }
    memset((uint64_t *)seg_chunk(&collector.segments[0].view, place_of(1)) + FIRST_WORD + 3, 0,
           9 * 8);                                                  /* the end of it */
    seg_chunk(&collector.segments[0].view, place_of(3))->magic = 0; /* its first page */
    CHECK_U64(take_scan(&collector), 4);
    write_all();
    CHECK_U64(image.lost[FP_LOSS_SPOILED], 2);
    CHECK_U64(stored[0], 7);
    CHECK_U64(count_free(), CHUNKS);
}

/* ---- chunks of several threads --------------------------------------------------------------------- */

/* A chunk in which three threads call after each other: twice, never, and three times. */
static void fill_shared(uint32_t index, uint64_t sequence)
{
    const uint64_t call = fp_record_short(fp_record_code(FP_CALL_MALLOC), 0x1000, 8);
    const uint64_t records[] = {
        fp_record_epoch(FP_RECORD_STAMP, 1),
        1000,
        call,
        call,
        fp_record_first(FP_RECORD_LONG, FP_RECORD_THREAD, 0),
        (uint64_t)502 << 32 | 2,
        fp_record_first(FP_RECORD_LONG, FP_RECORD_THREAD, 0),
        (uint64_t)503 << 32 | 3,
        fp_record_epoch(FP_RECORD_STAMP, 2),
        2000,
        call,
        call,
        call,
    };
    struct seg_chunk_header *chunk = seg_chunk(&collector.segments[0].view, place_of(index));
    memcpy((uint64_t *)chunk + FIRST_WORD, records, sizeof records);
    chunk->sequence = sequence;
    chunk->lane = 1;
    chunk->thread_id = 501;
    chunk->magic = SEG_CHUNK_MAGIC;
    collector.segments[0].view.states[place_of(index)] = seg_chunk_word(SEG_CHUNK_FULL, SLOT, 0, 0);
}

TEST(each_thread_of_a_chunk_has_blocks_of_its_own)
{
    fill_shared(0, 0);
    fill_shared(1, 1);
    CHECK_U64(take_scan(&collector), 2);
    write_all();
    CHECK_U64(stored[1], 4);
    CHECK_U64(stored[2], 0);
    CHECK_U64(stored[3], 6);
    CHECK_U64(lanes[1].next_block, 2);
    CHECK_U64(lanes[1].thread_id, 501);
    CHECK_U64(lanes[2].thread_id, 502);
    CHECK_U64(lanes[3].thread_id, 503);
    CHECK_U64(image.lost[FP_LOSS_COLLECTOR], 0);
    CHECK_U64(count_free(), CHUNKS);
}

/* What a collector had written of such a chunk when it was killed, told by its note and the blocks in the file. */
TEST(a_shared_chunk_is_recovered_where_it_was_left)
{
    static const struct {
        struct seg_chunk_note note;
        uint64_t blocks[4];
        uint64_t first, third; /* calls that were not written */
    } cases[] = {
        {{0, 0, 0}, {0, 0, 0, 0}, 2, 3},                           /* not looked at */
        {{1, 0, 0}, {0, 0, 0, 0}, 2, 3},                           /* read, not written */
        {{1, 0, FIRST_WORD + 4}, {0, 0, 0, 0}, 2, 3},              /* about to write the first block */
        {{1, 0, FIRST_WORD + 4}, {0, 1, 0, 0}, 0, 3},              /* it stands */
        {{1, FIRST_WORD + 4, FIRST_WORD + 4}, {0, 1, 0, 0}, 0, 3}, /* and is being noted */
        {{1, FIRST_WORD + 4, 0}, {0, 1, 0, 0}, 0, 3},
        {{1, FIRST_WORD + 6, FIRST_WORD + 6}, {0, 1, 0, 0}, 0, 3}, /* the second has no calls */
        {{1, FIRST_WORD + 6, 0}, {0, 1, 0, 0}, 0, 3},
        {{1, FIRST_WORD + 6, 0}, {0, 1, 0, 1}, 0, 0}, /* all written, not freed */
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        set_up();
        collector.options.recover = true;
        fill_shared(0, 0);
        collector.segments[0].view.chunk_notes[place_of(0)] = cases[i].note;
        for (unsigned k = 0; k < 4; k++)
            lanes[k].next_block = cases[i].blocks[k];
        (void)take_scan(&collector);
        write_all();
        CHECK_U64(stored[1], cases[i].first);
        CHECK_U64(stored[3], cases[i].third);
        CHECK_U64(count_free(), CHUNKS);
        CHECK_U64(image.lost[FP_LOSS_COLLECTOR], 0);
    }
}

/* A thread's blocks that there is no memory for are lost, and counted; those before them are not. */
TEST(a_lane_without_memory_is_counted)
{
    fill_shared(0, 0);
    fill(1, 1);
    seg_chunk(&collector.segments[0].view, place_of(0))->lane = 0;
    CHECK_U64(take_scan(&collector), 2);
    lane_fails = true;
    write_all();
    CHECK_U64(stored[0], 2 + 3);
    CHECK_U64(image.lost[FP_LOSS_COLLECTOR], 3);
    CHECK_U64(count_free(), CHUNKS);
}

TEST(what_ended_is_counted)
{
    for (uint32_t i = 0; i < CHUNKS; i++)
        fill(i, i);
    collector.segments[0].view.chunk_notes[place_of(5)].split = FIRST_WORD + 3; /* its malloc is written */
    stream_fails = true;
    drain_image(&collector, &image);
    CHECK_U64(image.lost[FP_LOSS_COLLECTOR], 3 * CHUNKS - 1);
    CHECK_U64(count_free(), CHUNKS);
}

TEST(chunks_wait_for_their_image)
{
    fill(0, 0);
    collector.segments[0].image_of_slot[SLOT] = 0;
    CHECK_U64(take_scan(&collector), 0);
    CHECK_U64(count_free(), CHUNKS - 1);
    collector.segments[0].image_of_slot[SLOT] = 1;
    CHECK_U64(take_scan(&collector), 1);
    /* Of a process that is gone and written nobody waits for anything. */
    fill(1, 1);
    collector.segments[0].image_of_slot[SLOT] = 0;
    collector.segments[0].view.slots[SLOT].state = seg_slot_word(SEG_SLOT_FREE, 0);
    CHECK_U64(take_scan(&collector), 1);
    CHECK_U64(count_free(), CHUNKS - 1);
}

/* Somebody wrote over the first chunk: those behind it must not keep the pool for ever. */
TEST(a_missing_chunk_does_not_stop_all)
{
    for (uint32_t i = 0; i + 1 < CHUNKS; i++)
        fill(i, i + 1);
    collector.segments[0].view.states[place_of(CHUNKS - 1)] = seg_chunk_word(SEG_CHUNK_OPEN, SLOT, 0, 1);
    CHECK_U64(take_scan(&collector), CHUNKS - 1);
    collector.images[0]->streams.items = (void *[]){&stream};
    collector.images[0]->streams.count = 1;
    CHECK_U64(drain_blocks(&collector), 0);
    CHECK(collector.segments[0].stuck_ns != 0);
    for (unsigned scan = 0; scan < 2; scan++) { /* it may have been passed by */
        collector.segments[0].stuck_ns = 1;     /* long ago */
        CHECK_U64(drain_blocks(&collector), 0);
    }
    CHECK(drain_blocks(&collector) > 0);
    CHECK_U64(image.lost[FP_LOSS_SPOILED], 1);
    image.streams.items = NULL;
    image.streams.count = 0;
}
