/* Shows: blocks decoded ahead are those that would be decoded on demand, whatever was wanted and asked for in which
 * order; one that is damaged is told when it is asked for, with its own error. */
#include "convert/order/process_image.h"

#include <fcntl.h>

#include "unit/append_block.h"
#include "unit/harness.h"
#include "unit/readers.h"
#include "unit/scratch.h"

#define BLOCKS 40u
#define MARKS  3000u

static const struct fp_shape SHAPES[] = {{FP_CALL_MALLOC, 10, 0}, {FP_CALL_FREE, 0, 0}};

static void write_footprint(const char *path)
{
    static struct fp_mark marks[MARKS];
    const struct fp_writer_options options = {.process_id = 7};
    const struct fp_meta meta = {"program", "ahead"};
    const struct fp_trailer trailer = {0};
    struct fp_writer *writer = NULL;
    CHECK_U64(fp_writer_create(AT_FDCWD, path, &options, &meta, 1, NULL, &writer), FP_OK);
    for (uint32_t i = 0; i < BLOCKS; i++) {
        const struct fp_block block = {.sequence = i,
                                       .base_epoch = i,
                                       .mark_count = MARKS - i,
                                       .shape_count = 2,
                                       .marks = marks,
                                       .shapes = SHAPES};
        for (uint32_t k = 0; k < MARKS; k++)
            marks[k] = (struct fp_mark){.address = 4096 * (i + 1) + 16 * (k / 2), .shape = k % 2};
        CHECK_U64(append_block(writer, &block), FP_OK);
    }
    CHECK_U64(fp_writer_finish(writer, &trailer, NULL), FP_OK);
}

static void damage(const char *path, uint64_t offset)
{
    size_t size;
    OWNED_TEXT *bytes = scratch_read(path, &size);
    CHECK(offset < size);
    bytes[offset] ^= 1;
    scratch_write(path, bytes, size);
}

/* Ask for blocks in the order that numbers gives, having wanted some of them; damaged[i]: block i is. */
static void check_order(const char *path, const uint32_t *numbers, uint32_t count, uint32_t every,
                        const bool *damaged)
{
    struct conv_ahead *ahead = conv_ahead_start(); /* NULL on a single processor: then without */
    OWNED(fp_block_buffer) buffer = {0};
    struct fp_block block;
    struct fp_error why;
    FP_READER *reader = fp_opened(path);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t number = numbers[i];
        const enum fp_status status = conv_ahead_block(ahead, reader, number, &buffer, &block, &why);
        CHECK_U64(status, damaged[number] ? FP_ERR_CHECKSUM : FP_OK);
        if (damaged[number]) {
            const uint64_t begin = fp_reader_info(reader)->blocks[number].offset;
            CHECK_U64(why.status, FP_ERR_CHECKSUM);
            CHECK(why.offset >= begin && why.offset < begin + 128);
        } else {
            CHECK_U64(block.base_epoch, number);
            CHECK_U64(block.mark_count, MARKS - number);
            CHECK_U64(block.marks[block.mark_count - 1].address,
                      4096 * (number + 1) + 16 * ((block.mark_count - 1) / 2));
        }
        for (uint32_t next = i + 1; every != 0 && next < count && next < i + 1 + every; next++)
            conv_ahead_want(ahead, reader, numbers[next]);
    }
    conv_ahead_stop(ahead);
}

TEST(blocks_come_in_any_order)
{
    static const bool WHOLE[BLOCKS];
    const char *path = scratch_path("order.fp");
    uint32_t forward[BLOCKS], mixed[BLOCKS];
    write_footprint(path);
    for (uint32_t i = 0; i < BLOCKS; i++) {
        forward[i] = i;
        mixed[i] = i * 7 % BLOCKS; /* 7 and BLOCKS have no common factor */
    }
    for (uint32_t every = 0; every < 2 * CONV_AHEAD_BLOCKS; every++) {
        check_order(path, forward, BLOCKS, every, WHOLE);
        check_order(path, mixed, BLOCKS, every, WHOLE);
    }
}

TEST(damage_is_told_when_it_is_asked_for)
{
    const char *path = scratch_path("damaged.fp");
    bool damaged[BLOCKS] = {false};
    uint64_t offsets[BLOCKS];
    uint32_t forward[BLOCKS];
    write_footprint(path);
    FP_READER *reader = fp_opened(path);
    for (uint32_t i = 0; i < BLOCKS; i++)
        offsets[i] = fp_reader_info(reader)->blocks[i].offset;
    for (uint32_t i = 0; i < BLOCKS; i++) {
        forward[i] = i;
        damaged[i] = i % 5 == 3 || i % 5 == 4;
        if (damaged[i])
            damage(path, offsets[i] + 64 + 60); /* in its payload */
    }
    for (uint32_t every = 0; every < 2 * CONV_AHEAD_BLOCKS; every++)
        check_order(path, forward, BLOCKS, every, damaged);
}

TEST(what_was_wanted_need_not_be_asked_for)
{
    const char *path = scratch_path("left.fp");
    struct conv_ahead *ahead = conv_ahead_start();
    write_footprint(path);
    FP_READER *reader = fp_opened(path);
    for (uint32_t i = 0; i < BLOCKS; i++)
        conv_ahead_want(ahead, reader, i);
    conv_ahead_stop(ahead); /* in the midst of it */
    conv_ahead_want(NULL, reader, 0);
    conv_ahead_stop(NULL);
}
