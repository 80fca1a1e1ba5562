/* Shows: blocks whose sites are told by what the blocks before had come back in any order of reading; behind a block that is
 * damaged their sites are lost, and nothing else; chains end, and a writer that goes on behind another begins anew. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "footprint/base/blockio.h"
#include "footprint/fp/columns.h"
#include "unit/append_block.h"
#include "unit/harness.h"
#include "unit/random.h"
#include "unit/scratch.h"

#define BLOCKS 140u /* two chains, and the begin of a third */
#define MARKS  300u
#define SIZES  8u

static const char *path;
static uint32_t told[BLOCKS][MARKS];
static uint64_t random_state;

static void prepare(void)
{
    path = scratch_path("chain.fp");
    (void)unlink(path); /* it may not be there */
    random_state = 5;
}

/* Some sites follow each other, some come by chance; each third mark is a release. */
static enum fp_status write_block(struct fp_writer *writer, uint32_t number, uint32_t lane, uint64_t sequence)
{
    static struct fp_mark marks[MARKS];
    static struct fp_shape shapes[MARKS];
    static uint32_t sites[MARKS];
    for (uint32_t i = 0; i < MARKS; i++) {
        const uint64_t chance = test_random(&random_state);
        const bool frees = i % 3 == 2;
        told[number][i] = frees             ? 0
                          : chance % 5 == 0 ? (uint32_t)(chance >> 8) % FP_SITES_MAX
                                            : FP_SITE_FIRST + i % 40;
        marks[i] = (struct fp_mark){.address = 0x1000 + i / 3 * 16, .shape = (uint16_t)i, .epoch = i};
        shapes[i] = (struct fp_shape){frees ? FP_CALL_FREE : FP_CALL_MALLOC, frees ? 0 : i % SIZES * 16, 0};
        sites[i] = told[number][i];
    }
    return append_block(writer, &(struct fp_block){.lane = lane,
                                                   .sequence = sequence,
                                                   .base_epoch = 1 + sequence * MARKS,
                                                   .mark_count = MARKS,
                                                   .shape_count = MARKS,
                                                   .marks = marks,
                                                   .shapes = shapes,
                                                   .sites = sites});
}

static const struct fp_writer_options OPTIONS = {.process_id = 42};

static struct fp_writer *create(void)
{
    struct fp_writer *writer = NULL;
    CHECK_U64(fp_writer_create(AT_FDCWD, path, &OPTIONS, NULL, 0, NULL, &writer), FP_OK);
    return writer;
}

static struct fp_reader *open_file(void)
{
    struct fp_reader *reader = NULL;
    CHECK_U64(fp_reader_open(path, NULL, &reader), FP_OK);
    return reader;
}

/* The sites of a block are those that were told, or all lost. */
static void check_sites(struct fp_reader *reader, uint32_t number, bool lost)
{
    static struct fp_block_buffer buffer;
    struct fp_block block;
    CHECK_U64(fp_reader_block(reader, number, &buffer, &block), FP_OK);
    CHECK_U64(block.mark_count, MARKS);
    CHECK(block.sites != NULL && block.shape_count <= block.mark_count);
    for (uint32_t i = 0; i < MARKS; i++) {
        const uint32_t shape = block.marks[i].shape;
        CHECK_U64(block.shapes[shape].size, i % 3 == 2 ? 0 : i % SIZES * 16);
        CHECK_U64(block.sites[i], i % 3 == 2 ? 0 : lost ? FP_CUT_LOST : told[number][i]);
    }
}

TEST(blocks_are_read_in_any_order)
{
    prepare();
    struct fp_writer *writer = create();
    for (uint32_t i = 0; i < BLOCKS; i++)
        CHECK_U64(write_block(writer, i, 0, i), FP_OK);
    fp_writer_abandon(writer);
    struct fp_reader *reader = open_file();
    const struct fp_reader_info *info = fp_reader_info(reader);
    CHECK_U64(info->block_count, BLOCKS);
    for (uint32_t i = 0; i < BLOCKS; i++)
        CHECK(info->blocks[i].continues == (i % MARKS_CHAIN_MOST != 0));
    for (uint32_t i = 0; i < BLOCKS; i++)
        check_sites(reader, i, false);
    for (uint32_t i = BLOCKS; i-- > 0;)
        check_sites(reader, i, false);
    for (uint32_t i = 0; i < BLOCKS; i++)
        check_sites(reader, i * 37 % BLOCKS, false);
    fp_reader_close(reader);
}

TEST(lanes_in_turn_are_no_chain)
{
    prepare();
    struct fp_writer *writer = create();
    static const uint32_t lanes[] = {0, 0, 1, 0, 1, 1};
    static const uint64_t sequences[] = {0, 1, 0, 2, 1, 2};
    static const bool continues[] = {false, true, false, false, false, true};
    for (uint32_t i = 0; i < 6; i++)
        CHECK_U64(write_block(writer, i, lanes[i], sequences[i]), FP_OK);
    fp_writer_abandon(writer);
    struct fp_reader *reader = open_file();
    static const uint32_t by_lane[] = {0, 2, 1, 4, 3, 5};
    for (uint32_t i = 0; i < 6; i++) {
        CHECK(fp_reader_info(reader)->blocks[i].continues == continues[i]);
        check_sites(reader, by_lane[i], false);
    }
    fp_reader_close(reader);
}

TEST(behind_a_damaged_block_sites_are_lost)
{
    prepare();
    struct fp_writer *writer = create();
    for (uint32_t i = 0; i < MARKS_CHAIN_MOST + 2; i++)
        CHECK_U64(write_block(writer, i, 0, i), FP_OK);
    fp_writer_abandon(writer);
    struct fp_reader *reader = open_file();
    const uint64_t at = fp_reader_info(reader)->blocks[2].offset + BLOCK_HEADER_BYTES + 100;
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    uint8_t byte;
    CHECK(pread(fd, &byte, 1, (off_t)at) == 1);
    byte ^= 1;
    CHECK(pwrite(fd, &byte, 1, (off_t)at) == 1);
    CHECK(close(fd) == 0);
    OWNED(fp_block_buffer) buffer = {0};
    struct fp_block block;
    for (unsigned turn = 0; turn < 2; turn++) {
        check_sites(reader, 1, false);
        CHECK_U64(fp_reader_block(reader, 2, &buffer, &block), FP_ERR_CHECKSUM);
        check_sites(reader, 3, true);
        check_sites(reader, MARKS_CHAIN_MOST - 1, true);
        check_sites(reader, MARKS_CHAIN_MOST + 1, false);
    }
    fp_reader_close(reader);
}

TEST(a_writer_behind_another_begins_anew)
{
    prepare();
    struct fp_writer *writer = create();
    for (uint32_t i = 0; i < 2; i++)
        CHECK_U64(write_block(writer, i, 0, i), FP_OK);
    const uint64_t whole = fp_writer_bytes(writer);
    fp_writer_abandon(writer);
    CHECK_U64(fp_writer_resume(AT_FDCWD, path, &OPTIONS, whole, NULL, &writer), FP_OK);
    for (uint32_t i = 2; i < 4; i++)
        CHECK_U64(write_block(writer, i, 0, i), FP_OK);
    fp_writer_abandon(writer);
    struct fp_reader *reader = open_file();
    CHECK(!fp_reader_info(reader)->blocks[2].continues && fp_reader_info(reader)->blocks[3].continues);
    for (uint32_t i = 0; i < 4; i++)
        check_sites(reader, i, false);
    fp_reader_close(reader);
    (void)unlink(path);
}
