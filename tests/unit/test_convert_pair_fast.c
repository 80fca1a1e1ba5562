/* test_convert_pair_fast.c - the short cut for plain calls gives what the rules give, event by event: the same workload,
 * byte for byte, and the same figures, on footprints of mostly plain calls with every oddity among them. */
#include <fcntl.h>

#include "convert/convert.h"
#include "unit/append_block.h"
#include "unit/footprints.h"
#include "unit/random.h"

enum { ADDRESSES = 700, MARKS_MAX = 6000, SHAPES_MAX = 256, STAMPS_MAX = MARKS_MAX };

static uint64_t random_state;

static uint64_t chance(uint64_t below)
{
    return test_random(&random_state) % below;
}

/* A block being made, and what its lane knows of its addresses. */
struct making {
    struct fp_mark marks[MARKS_MAX];
    struct fp_shape shapes[SHAPES_MAX];
    struct fp_stamp stamps[STAMPS_MAX];
    struct fp_block block;
    uint64_t bytes[ADDRESSES]; /* 0: nothing lives there */
    uint64_t first_address;
    uint32_t epoch;
    uint64_t time_ns;
    uint32_t odd; /* one call in so many is none that a correct program makes; 0: none */
};

static void put(struct making *making, unsigned call, uint64_t address, uint64_t size, uint64_t extra)
{
    struct fp_block *block = &making->block;
    uint32_t shape = 0;
    while (shape < block->shape_count &&
           (making->shapes[shape].call != call || making->shapes[shape].size != size ||
            making->shapes[shape].extra != extra))
        shape++;
    if (shape == SHAPES_MAX)
        return;
    if (shape == block->shape_count)
        making->shapes[block->shape_count++] = (struct fp_shape){(uint8_t)call, size, extra};
    if (block->mark_count % 61 == 0 ||
        chance(30) == 0) { /* pauses between calls, halves of calls, and none */
        making->time_ns += chance(4) == 0 ? chance(5000) * 640 : chance(5000) * 64;
        making->stamps[block->stamp_count++] = (struct fp_stamp){block->mark_count, making->time_ns};
    }
    making->marks[block->mark_count++] = (struct fp_mark){
        .address = address, .shape = (uint16_t)shape, .epoch = making->epoch};
}

static uint64_t size_for(struct making *making)
{
    static const uint64_t huge[] = {0, 1, (UINT64_C(1) << 48) - 1, UINT64_C(1) << 48, UINT64_MAX};
    if (making->odd != 0 && chance(making->odd * 3) == 0)
        return huge[chance(5)];
    if (chance(10) == 0)
        return chance(2) == 0 ? FP_LARGE_BYTES + 16 * chance(10) : FP_MIDDLING_BYTES + 4096 * chance(12);
    return 16 * chance(20) + 1;
}

static void put_odd(struct making *making, uint64_t address, uint32_t slot)
{
    switch (chance(9)) {
    case 0: /* a release of what may live or not */
        put(making, FP_CALL_FREE, address, 0, 0);
        making->bytes[slot] = 0;
        break;
    case 1: /* an allocation over what may live */
        put(making, FP_CALL_NEW, address, 48, 0);
        making->bytes[slot] = 48;
        break;
    case 2: /* a realloc that does not return, or only later */
        put(making, FP_MARK_RESIZE_FROM, address, 0, 0);
        break;
    case 3: /* a result of nobody's */
        put(making, FP_CALL_REALLOC, address, size_for(making), 0);
        break;
    case 4:
        put(making, FP_MARK_GAP, 0, 3, chance(2) ? FP_GAP_PAUSE : 0);
        break;
    case 5:
        put(making, FP_CALL_DELETE_SIZED, address, 16 * chance(20) + 1, 0);
        making->bytes[slot] = 0;
        break;
    case 6: /* failed */
        put(making, FP_CALL_MALLOC, 0, size_for(making), 0);
        put(making, FP_MARK_RESIZE_FROM, address, 0, 0);
        put(making, FP_CALL_REALLOC, 0, chance(2) * 100, 0);
        break;
    case 7:
        put(making, FP_CALL_MALLOC, (UINT64_C(1) << 48) + address, 10, 0);
        put(making, FP_CALL_MEMALIGN, address + 8, 100, chance(300));
        break;
    default:
        put(making, FP_MARK_FORK, 0, 1, 0);
        put(making, FP_MARK_THREAD_EXIT, 0, 0, 0);
        break;
    }
}

static void put_call(struct making *making)
{
    const uint32_t slot = (uint32_t)chance(ADDRESSES);
    const uint64_t address = making->first_address + slot * 16;
    uint64_t *bytes = &making->bytes[slot];
    if (chance(12) == 0) /* of what is large and lives, or not */
        put(making, FP_MARK_RESIDENT, address, 0, chance(FP_SHARE_WHOLE + 2));
    if (chance(40) == 0)
        making->epoch += (uint32_t)chance(3);
    if (making->odd != 0 && chance(making->odd) == 0) {
        put_odd(making, address, slot);
    } else if (*bytes == 0) {
        const uint64_t size = size_for(making);
        const unsigned calls[] = {FP_CALL_MALLOC, FP_CALL_CALLOC, FP_CALL_REALLOC, FP_CALL_POSIX_MEMALIGN};
        const unsigned call = calls[chance(4)];
        put(making, call, address, size,
            call == FP_CALL_CALLOC           ? chance(3)
            : call == FP_CALL_POSIX_MEMALIGN ? 64
                                             : 0);
        *bytes = size + 1;
    } else if (chance(6) == 0) { /* to where nothing lives, mostly */
        const uint32_t other = (uint32_t)chance(ADDRESSES);
        const uint64_t size = size_for(making);
        if (making->bytes[other] != 0 && other != slot)
            return;
        put(making, FP_MARK_RESIZE_FROM, address, 0, 0);
        put(making, FP_CALL_REALLOC, making->first_address + other * 16, size, 0);
        *bytes = 0;
        making->bytes[other] = size + 1;
    } else {
        const bool sized = chance(3) == 0;
        put(making, sized ? FP_CALL_DELETE_SIZED : FP_CALL_FREE, address, sized ? *bytes - 1 : 0, 0);
        *bytes = 0;
        if (chance(20) == 0)
            put(making, FP_CALL_FREE, 0, 0, 0);
    }
}

/* Lanes take turns of a block each: apart in their epochs, or together. */
static const char *make_odd_footprint(uint32_t lanes, uint32_t odd, bool together)
{
    static struct making makings[3];
    const char *path = scratch_path("made.fp");
    const struct fp_writer_options options = {.process_id = 5};
    struct fp_lane facts[3] = {{.thread_id = 5, .is_main = true}, {.thread_id = 6}, {.thread_id = 7}};
    struct fp_trailer trailer = {.end_time_ns = UINT64_C(1) << 40, .lane_count = lanes, .lanes = facts};
    struct fp_writer *writer = NULL;
    uint32_t epoch = 1;
    memset(makings, 0, sizeof makings);
    (void)unlink(path);
    CHECK_U64(fp_writer_create(AT_FDCWD, path, &options, NULL, 0, NULL, &writer), FP_OK);
    for (uint32_t number = 0; number < 4 * lanes; number++) {
        struct making *making = &makings[number % lanes];
        const uint32_t calls = 1500 + (uint32_t)chance(2000);
        making->first_address = 0x10000 + (together ? 0 : UINT64_C(0x100000) * (number % lanes));
        making->odd = odd;
        making->block = (struct fp_block){.lane = number % lanes,
                                          .sequence = number / lanes,
                                          .base_epoch = together ? 1 + number / lanes * 1000 : epoch,
                                          .marks = making->marks,
                                          .shapes = making->shapes,
                                          .stamps = making->stamps};
        making->epoch = 0;
        for (uint32_t i = 0; i < calls && making->block.mark_count + 3 < MARKS_MAX; i++)
            put_call(making);
        epoch += making->epoch + 1;
        facts[number % lanes].marks += making->block.mark_count;
        CHECK_U64(append_block(writer, &making->block), FP_OK);
    }
    CHECK_U64(fp_writer_finish(writer, &trailer, NULL), FP_OK);
    return path;
}

static void check_both_ways(const char *fp, uint32_t window_ops)
{
    const struct conv_options fast = {.overwrite = true, .window_ops = window_ops};
    const struct conv_options by_event = {.overwrite = true, .window_ops = window_ops, .by_event = true};
    const char *paths[] = {scratch_path("fast.wl"), scratch_path("by-event.wl")};
    OWNED(conv_report) one, other;
    size_t size, size_by_event;
    CHECK_U64(convert(fp, paths[0], &fast, &one), FP_OK);
    CHECK_U64(convert(fp, paths[1], &by_event, &other), FP_OK);
    check_same_survey(&one.survey, &other.survey);
    CHECK_U64(one.survey.events, other.survey.events);
    CHECK(memcmp(one.survey.events_by_call, other.survey.events_by_call, sizeof one.survey.events_by_call) ==
          0);
    CHECK(memcmp(&one.survey.large, &other.survey.large, sizeof one.survey.large) == 0);
    CHECK(memcmp(one.survey.irregular, other.survey.irregular, sizeof one.survey.irregular) == 0);
    OWNED_TEXT *bytes = scratch_read(paths[0], &size),
               *bytes_by_event = scratch_read(paths[1], &size_by_event);
    CHECK_U64(size, size_by_event);
    CHECK(size == size_by_event && memcmp(bytes, bytes_by_event, size) == 0);
}

TEST(both_ways_give_the_same)
{
    static const struct {
        uint32_t lanes, odd;
        bool together; /* else one after the other */
    } CASES[] = {{1, 0, false},   {1, 200, false}, {1, 10, false},
                 {3, 100, false}, {2, 0, true},    {3, 50, true}};
    for (size_t i = 0; i < COUNT_OF(CASES); i++)
        for (uint64_t seed = 1; seed <= 8; seed++) {
            random_state = seed << 32;
            check_both_ways(make_odd_footprint(CASES[i].lanes, CASES[i].odd, CASES[i].together),
                            seed % 2 ? 0 : 100);
        }
}
