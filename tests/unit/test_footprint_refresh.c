/* Shows: a footprint that grows is read on from where it ended, at any byte; blocks keep their numbers, the trailer ends
 * it, damage is told and whole blocks taken away are too. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "footprint/fp/footprint.h"
#include "unit/append_block.h"
#include "unit/harness.h"
#include "unit/scratch.h"

#define BLOCKS 5

static void write_footprint(const char *path)
{
    static const struct fp_shape shape = {FP_CALL_MALLOC, 10, 0};
    const struct fp_writer_options options = {.process_id = 7};
    const struct fp_meta meta = {"program", "grows"};
    const struct fp_lane lanes[] = {{7, true, 60}, {8, false, 40}};
    const struct fp_trailer trailer = {.lane_count = 2, .lanes = lanes, .lost = {[FP_LOSS_RING_FULL] = 3}};
    struct fp_writer *writer = NULL;
    CHECK_U64(fp_writer_create(AT_FDCWD, path, &options, &meta, 1, NULL, &writer), FP_OK);
    for (uint64_t i = 0; i < BLOCKS; i++) {
        struct fp_mark marks[20];
        const struct fp_block block = {.lane = i % 2,
                                       .sequence = i / 2,
                                       .base_epoch = i,
                                       .mark_count = 20,
                                       .shape_count = 1,
                                       .marks = marks,
                                       .shapes = &shape};
        for (uint32_t k = 0; k < 20; k++)
            marks[k] = (struct fp_mark){.address = 4096 * (i + 1) + 16 * k};
        CHECK_U64(append_block(writer, &block), FP_OK);
    }
    CHECK_U64(fp_writer_finish(writer, &trailer, NULL), FP_OK);
}

static void append(const char *path, const char *bytes, size_t size)
{
    FILE *file = fopen(path, "ab");
    CHECK(file != NULL && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
}

static void check_blocks(struct fp_reader *reader, size_t from)
{
    struct fp_block_buffer buffer = {0};
    struct fp_block block;
    for (size_t i = from; i < fp_reader_info(reader)->block_count; i++) {
        CHECK_U64(fp_reader_block(reader, i, &buffer, &block), FP_OK);
        CHECK_U64(block.base_epoch, i);
        CHECK_U64(block.marks[0].address, 4096 * (i + 1));
    }
    fp_block_buffer_release(&buffer);
}

TEST(a_file_grows_byte_by_byte)
{
    const char *whole = scratch_path("whole.fp"), *path = scratch_path("grows.fp");
    size_t size, blocks = 0;
    char *bytes;
    struct fp_reader *reader = NULL;
    const struct fp_reader_info *info;
    write_footprint(whole);
    bytes = scratch_read(whole, &size);
    scratch_write(path, bytes, 64);
    CHECK_U64(fp_reader_open(path, NULL, &reader), FP_OK);
    info = fp_reader_info(reader);
    CHECK(fp_reader_meta(reader, "program") == NULL);
    for (size_t at = 64; at < size; at++) {
        CHECK(!info->has_trailer);
        CHECK_U64(info->tail_error.status, FP_ERR_TRUNCATED);
        append(path, bytes + at, 1);
        CHECK_U64(fp_reader_refresh(reader), FP_OK);
        CHECK_U64(info->file_bytes, at + 1);
        CHECK(info->block_count - blocks <= 1);
        check_blocks(reader, blocks);
        blocks = info->block_count;
    }
    CHECK_U64(blocks, BLOCKS);
    CHECK_U64(info->mark_count, 20 * BLOCKS);
    CHECK_STR(fp_reader_meta(reader, "program"), "grows");
    CHECK(info->has_trailer);
    CHECK_U64(info->tail_error.status, FP_OK);
    CHECK_U64(info->trailer.lost[FP_LOSS_RING_FULL], 3);
    CHECK_U64(info->trailer.lane_count, 2);
    append(path, "x", 1); /* after the end nothing is looked at */
    CHECK_U64(fp_reader_refresh(reader), FP_OK);
    CHECK_U64(info->file_bytes, size);
    check_blocks(reader, 0);
    fp_reader_close(reader);
    free(bytes);
}

TEST(damage_is_told_and_may_be_mended)
{
    const char *whole = scratch_path("whole2.fp"), *path = scratch_path("mended.fp");
    size_t size;
    char *bytes;
    struct fp_reader *reader = NULL;
    const struct fp_reader_info *info;
    uint64_t second;
    write_footprint(whole);
    bytes = scratch_read(whole, &size);
    CHECK_U64(fp_reader_open(whole, NULL, &reader), FP_OK);
    second = fp_reader_info(reader)->blocks[1].offset;
    fp_reader_close(reader);
    scratch_write(path, bytes, second);
    CHECK_U64(fp_reader_open(path, NULL, &reader), FP_OK);
    info = fp_reader_info(reader);
    CHECK_U64(info->block_count, 1);
    bytes[second] ^= 1;
    append(path, bytes + second, size - second);
    CHECK_U64(fp_reader_refresh(reader), FP_OK);
    CHECK_U64(info->tail_error.status, FP_ERR_CORRUPT);
    CHECK_U64(info->tail_error.offset, second);
    /* As a writer does that found the disk full: cut back to whole blocks, then on. */
    CHECK(truncate(path, (off_t)second) == 0);
    bytes[second] ^= 1;
    append(path, bytes + second, size - second);
    CHECK_U64(fp_reader_refresh(reader), FP_OK);
    CHECK(info->has_trailer);
    CHECK_U64(info->block_count, BLOCKS);
    fp_reader_close(reader);
    free(bytes);
}

TEST(whole_blocks_taken_away_are_told)
{
    const char *path = scratch_path("shorter.fp");
    struct stat facts;
    struct fp_reader *reader = NULL;
    write_footprint(path);
    CHECK(stat(path, &facts) == 0);
    CHECK(truncate(path, facts.st_size - 1) == 0); /* its trailer is not whole */
    CHECK_U64(fp_reader_open(path, NULL, &reader), FP_OK);
    CHECK(truncate(path, 300) == 0);
    CHECK_U64(fp_reader_refresh(reader), FP_ERR_CORRUPT);
    CHECK_U64(fp_reader_error(reader)->offset, 300);
    fp_reader_close(reader);
}

RUN_TESTS(T(a_file_grows_byte_by_byte), T(damage_is_told_and_may_be_mended),
          T(whole_blocks_taken_away_are_told))
