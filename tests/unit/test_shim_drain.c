/* test_shim_drain.c - chunks that the collector has no memory for: those of a program that runs wait and are written later, whole and
 * in order; those of one that has ended are counted as lost. */
#include "shim/collect.h"
#include "unit/failing.h"
#include "unit/harness.h"

#define FIRST_WORD (SEG_CHUNK_HEADER / sizeof(uint64_t))
#define CHUNKS     80u /* more than a lane's queue begins with */
#define SLOT       3u
#define LOOKS      20u /* rounds without memory */

static struct collector collector;
static struct collect_image image;
static struct collect_lane lane;
static bool lane_fails;
static uint64_t stored, looked_for;

/* ---- the rest of the collector ------------------------------------------------------------------- */

bool image_discover(struct collector *of)
{
    (void)of;
    looked_for++;
    return true;
}

void image_discover_all(struct collector *of)
{
    (void)image_discover(of);
}

struct collect_lane *image_lane(struct collect_image *of, uint32_t number)
{
    (void)of;
    (void)number;
    return lane_fails ? NULL : &lane;
}

void image_store(struct collector *of, struct collect_image *to, struct collect_lane *by,
                 struct fp_columns *block)
{
    (void)of;
    (void)to;
    by->next_block++;
    stored += fp_columns_events(block);
    fp_columns_clear(block);
}

uint32_t reserve_block_chunks(const struct collector *of)
{
    (void)of;
    return COLLECT_CHUNKS_PER_BLOCK;
}

bool segment_grow(struct collect_segment *segment, uint32_t count)
{
    (void)segment;
    (void)count;
    return false;
}

/* ---- a segment ------------------------------------------------------------------------------------- */

static void set_up(void)
{
    const uint64_t bytes = seg_view_at(NULL, CHUNKS).bytes; /* a multiple of a chunk's */
    free(collector.segment.view.header);
    free(collector.taken);
    free(collector.images);
    free(lane.queue);
    memset(&collector, 0, sizeof collector);
    memset(&image, 0, sizeof image);
    memset(&lane, 0, sizeof lane);
    collector.segment.view = seg_view_at(aligned_alloc(SEG_CHUNK_BYTES, bytes), CHUNKS);
    memset(collector.segment.view.header, 0, bytes);
    collector.segment.view.header->held = collector.segment.view.shared->ready = CHUNKS;
    collector.taken = calloc(CHUNKS, 1);
    collector.images = calloc(1, sizeof *collector.images);
    collector.images[0] = &image;
    collector.image_count = 1;
    collector.image_of_slot[SLOT] = 1;
    collector.segment.view.slots[SLOT].state = seg_slot_word(SEG_SLOT_ATTACHED, 1);
    image.slot = SLOT;
    lane_fails = false;
    stored = looked_for = 0;
}

/* Three calls in three forms, a mark that is none, an epoch and a stamp. */
static void fill(uint32_t index, uint64_t sequence)
{
    struct seg_chunk_header *chunk = seg_chunk(&collector.segment.view, index);
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
    collector.segment.view.states[index] = seg_chunk_word(SEG_CHUNK_FULL, SLOT, 0);
}

static uint64_t count_free(void)
{
    uint64_t count = 0;
    for (uint32_t index = 0; index < CHUNKS; index++)
        count += collector.segment.view.states[index] == SEG_CHUNK_FREE;
    return count;
}

TEST(chunks_wait_for_a_lane)
{
    set_up();
    for (uint32_t i = 0; i < CHUNKS; i++)
        fill(i, i);
    lane_fails = true;
    for (unsigned round = 0; round < LOOKS; round++)
        CHECK_U64(drain_scan(&collector), 0);
    CHECK_U64(count_free(), 0);
    lane_fails = false;
    CHECK_U64(drain_scan(&collector), CHUNKS);
    CHECK_U64(collector.taken_chunks, CHUNKS);
    CHECK_U64(image.lost[FP_LOSS_COLLECTOR], 0);
}

TEST(chunks_wait_for_room_in_the_queue)
{
    struct collect_lane *lanes[] = {&lane};
    uint32_t taken;
    set_up();
    for (uint32_t i = 0; i < CHUNKS; i++)
        fill(i, i);
    failing_arm(0);
    taken = drain_scan(&collector); /* the first one's queue fails, the others' does not */
    failing_disarm();
    CHECK(failing_failed);
    CHECK_U64(taken, CHUNKS - 1);
    CHECK_U64(drain_scan(&collector), 1);
    image.lanes = lanes;
    image.lane_count = 1;
    drain_image(&collector, &image);
    CHECK_U64(stored, 3 * CHUNKS);
    CHECK_U64(image.lost[FP_LOSS_COLLECTOR], 0);
    CHECK_U64(count_free(), CHUNKS);
}

TEST(what_ended_is_counted)
{
    set_up();
    for (uint32_t i = 0; i < CHUNKS; i++)
        fill(i, i);
    collector.segment.view.chunk_notes[5].split = FIRST_WORD + 3; /* its malloc is written */
    lane_fails = true;
    drain_image(&collector, &image);
    CHECK_U64(image.lost[FP_LOSS_COLLECTOR], 3 * CHUNKS - 1);
    CHECK_U64(count_free(), CHUNKS);
}

TEST(chunks_wait_for_their_image)
{
    set_up();
    fill(0, 0);
    collector.image_of_slot[SLOT] = 0;
    CHECK_U64(drain_scan(&collector), 0);
    CHECK_U64(looked_for, 1);
    CHECK_U64(count_free(), CHUNKS - 1);
    collector.image_of_slot[SLOT] = 1;
    CHECK_U64(drain_scan(&collector), 1);
    /* Of a process that is gone and written nobody waits for anything. */
    fill(1, 1);
    collector.image_of_slot[SLOT] = 0;
    collector.segment.view.slots[SLOT].state = seg_slot_word(SEG_SLOT_FREE, 0);
    CHECK_U64(drain_scan(&collector), 1);
    CHECK_U64(count_free(), CHUNKS - 1);
}

RUN_TESTS(T(chunks_wait_for_a_lane), T(chunks_wait_for_room_in_the_queue), T(what_ended_is_counted),
          T(chunks_wait_for_their_image))
