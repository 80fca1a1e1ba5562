/* Shows: what a writer was given is what a reader hands out, mark for mark; files that are cut, changed,
 * foreign or newer are told apart with their offset; a size limit keeps the file whole. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "footprint/base/bytes.h"
#include "footprint/fp/footprint.h"
#include "unit/append_block.h"
#include "unit/harness.h"
#include "unit/random.h"
#include "unit/scratch.h"

static char path[512];

static uint64_t random_state;

static uint64_t random_next(void)
{
    return test_random(&random_state);
}

static void fresh_path(void)
{
    static unsigned number;
    char name[32];
    snprintf(name, sizeof name, "%u.fp", number++);
    snprintf(path, sizeof path, "%s", scratch_path(name));
}

static struct fp_writer *create(uint64_t size_limit)
{
    const struct fp_writer_options options = {
        .process_id = 42, .start_unix_ns = 7, .size_limit_bytes = size_limit};
    const struct fp_meta meta[] = {{"program", "a = b"}, {"clock", "tsc"}};
    struct fp_writer *writer = NULL;
    fresh_path();
    CHECK_U64(fp_writer_create(AT_FDCWD, path, &options, meta, 2, NULL, &writer), FP_OK);
    return writer;
}

struct made {
    struct fp_mark marks[3000];
    struct fp_shape shapes[700];
    struct fp_stamp stamps[200];
    struct fp_block block;
};

static void make_block(struct made *made, uint32_t lane, uint64_t sequence, uint32_t marks, uint32_t shapes)
{
    uint32_t epoch = 0;
    uint64_t time_ns = 64000;
    uint32_t stamps = 0;
    for (uint32_t i = 0; i < shapes; i++)
        made->shapes[i] = (struct fp_shape){(uint8_t)(1 + i % 12), i == 3 ? UINT64_MAX : i * 7, i % 3};
    for (uint32_t i = 0; i < marks; i++) {
        uint64_t address = random_next() % 5 == 0 ? 0 : 0x7f0000000000 + random_next() % 500 * 16;
        if (random_next() % 50 == 0)
            address = random_next() >> 16;
        epoch += (uint32_t)(random_next() % 3 == 0 ? random_next() % 300 : 0);
        made->marks[i] = (struct fp_mark){
            .address = address, .shape = (uint16_t)(random_next() % shapes), .epoch = epoch};
        if (i % 15 == 0) {
            made->stamps[stamps++] = (struct fp_stamp){i, time_ns};
            time_ns += random_next() % 10000 * 64;
        }
    }
    made->block = (struct fp_block){.lane = lane,
                                    .sequence = sequence,
                                    .base_epoch = 1000000007,
                                    .mark_count = marks,
                                    .shape_count = shapes,
                                    .stamp_count = stamps,
                                    .marks = made->marks,
                                    .shapes = made->shapes,
                                    .stamps = made->stamps};
}

static void check_block(const struct fp_block *actual, const struct fp_block *expected)
{
    CHECK_U64(actual->lane, expected->lane);
    CHECK_U64(actual->sequence, expected->sequence);
    CHECK_U64(actual->base_epoch, expected->base_epoch);
    CHECK_U64(actual->mark_count, expected->mark_count);
    CHECK_U64(actual->shape_count, expected->shape_count);
    CHECK_U64(actual->stamp_count, expected->stamp_count);
    for (uint32_t i = 0; i < expected->mark_count; i++) {
        CHECK_U64(actual->marks[i].address, expected->marks[i].address);
        CHECK_U64(actual->marks[i].shape, expected->marks[i].shape);
        CHECK_U64(actual->marks[i].epoch, expected->marks[i].epoch);
    }
    for (uint32_t i = 0; i < expected->shape_count; i++) {
        CHECK_U64(actual->shapes[i].call, expected->shapes[i].call);
        CHECK_U64(actual->shapes[i].size, expected->shapes[i].size);
        CHECK_U64(actual->shapes[i].extra, expected->shapes[i].extra);
    }
    for (uint32_t i = 0; i < expected->stamp_count; i++) {
        CHECK_U64(actual->stamps[i].mark, expected->stamps[i].mark);
        CHECK_U64(actual->stamps[i].time_ns, expected->stamps[i].time_ns);
    }
}

TEST(blocks_come_back_as_written)
{
    static struct made made[6];
    static const uint32_t marks[6] = {1, 2, 256, 2999, 3000, 777}, shapes[6] = {1, 2, 256, 257, 700, 13};
    const struct fp_lane lanes[] = {{42, true, 3000}, {43, false, 9}};
    struct fp_trailer trailer = {.end_time_ns = 99, .lane_count = 2, .lanes = lanes};
    struct fp_writer *writer = create(0);
    struct fp_reader *reader = NULL;
    struct fp_block_buffer buffer = {0};
    const struct fp_reader_info *info;
    struct stat stat_;
    trailer.lost[FP_LOSS_DISK_FULL] = 5;
    for (uint32_t i = 0; i < 6; i++) {
        make_block(&made[i], i % 2, i / 2, marks[i], shapes[i]);
        CHECK_U64(append_block(writer, &made[i].block), FP_OK);
    }
    CHECK_U64(fp_writer_finish(writer, &trailer, NULL), FP_OK);
    CHECK(stat(path, &stat_) == 0);
    CHECK_U64(stat_.st_mode & 0777, 0600);

    CHECK_U64(fp_reader_open(path, NULL, &reader), FP_OK);
    info = fp_reader_info(reader);
    CHECK(info->has_trailer);
    CHECK_U64(info->tail_error.status, FP_OK);
    CHECK_U64(info->process_id, 42);
    CHECK_U64(info->start_unix_ns, 7);
    CHECK_U64(info->block_count, 6);
    CHECK_U64(info->lane_count, 2);
    CHECK_U64(info->mark_count, 1 + 2 + 256 + 2999 + 3000 + 777);
    CHECK_U64(info->trailer.lost[FP_LOSS_DISK_FULL], 5);
    CHECK_U64(info->trailer.lanes[0].thread_id, 42);
    CHECK(info->trailer.lanes[0].is_main && !info->trailer.lanes[1].is_main);
    CHECK_STR(fp_reader_meta(reader, "program"), "a = b");
    CHECK(fp_reader_meta(reader, "absent") == NULL);
    for (size_t i = 6; i-- > 0;) { /* any order of reading */
        struct fp_block block;
        CHECK_U64(fp_reader_block(reader, i, &buffer, &block), FP_OK);
        check_block(&block, &made[i].block);
    }
    fp_block_buffer_release(&buffer);
    fp_reader_close(reader);
}

TEST(blocks_that_break_the_rules_are_refused)
{
    static struct made made;
    struct fp_writer *writer = create(0);
    struct fp_block bad;
    make_block(&made, 0, 0, 100, 10);
    bad = made.block;
    bad.mark_count = 0;
    CHECK_U64(append_block(writer, &bad), FP_ERR_ARGUMENT);
    bad = made.block;
    bad.lane = FP_LANES_MAX;
    CHECK_U64(append_block(writer, &bad), FP_ERR_ARGUMENT);
    CHECK_U64(append_block(writer, &made.block), FP_OK);
    fp_writer_abandon(writer);
}

TEST(existing_files_and_links_are_left_alone)
{
    const struct fp_writer_options options = {0};
    struct fp_writer *writer = create(0);
    struct fp_error error = {0};
    char link[sizeof path + 8];
    fp_writer_abandon(writer);
    writer = NULL;
    CHECK_U64(fp_writer_create(AT_FDCWD, path, &options, NULL, 0, &error, &writer), FP_ERR_EXISTS);
    snprintf(link, sizeof link, "%s.link", path);
    CHECK(symlink("/tmp/mallab-never-made", link) == 0);
    CHECK_U64(fp_writer_create(AT_FDCWD, link, &options, NULL, 0, &error, &writer), FP_ERR_EXISTS);
    CHECK(access("/tmp/mallab-never-made", F_OK) != 0);
    CHECK_U64(fp_writer_create(AT_FDCWD, "/nonexistent/x.fp", &options, NULL, 0, &error, &writer),
              FP_ERR_OPEN);
    CHECK_U64(error.sys_errno, ENOENT);
    CHECK(writer == NULL);
}

TEST(a_size_limit_leaves_a_whole_file)
{
    static struct made made;
    struct fp_writer *writer = create(20000);
    struct fp_trailer trailer = {0};
    struct fp_reader *reader = NULL;
    struct fp_lane lane = {1, true, 0};
    unsigned stored = 0;
    enum fp_status status = FP_OK;
    for (unsigned i = 0; i < 100 && status == FP_OK; i++) {
        make_block(&made, 0, i, 3000, 10);
        status = append_block(writer, &made.block);
        stored += status == FP_OK;
    }
    CHECK_U64(status, FP_ERR_LIMIT);
    CHECK(stored > 0);
    trailer.lanes = &lane;
    trailer.lane_count = 1;
    CHECK_U64(fp_writer_finish(writer, &trailer, NULL), FP_OK);
    CHECK_U64(fp_reader_open(path, NULL, &reader), FP_OK);
    CHECK_U64(fp_reader_info(reader)->block_count, stored);
    CHECK(fp_reader_info(reader)->has_trailer);
    CHECK(fp_reader_info(reader)->file_bytes <= 20000);
    fp_reader_close(reader);
}

/* Write a small good footprint, hand back its bytes. */
static size_t good_file(uint8_t *bytes, size_t room)
{
    static struct made made;
    struct fp_lane lane = {1, true, 0};
    struct fp_trailer trailer = {.lane_count = 1, .lanes = &lane};
    struct fp_writer *writer = create(0);
    FILE *file;
    size_t size;
    make_block(&made, 0, 0, 400, 9);
    CHECK_U64(append_block(writer, &made.block), FP_OK);
    make_block(&made, 0, 1, 400, 9);
    CHECK_U64(append_block(writer, &made.block), FP_OK);
    CHECK_U64(fp_writer_finish(writer, &trailer, NULL), FP_OK);
    file = fopen(path, "rb");
    size = fread(bytes, 1, room, file);
    fclose(file);
    return size;
}

/* Returns the status of opening and reading everything. */
static enum fp_status read_all(const uint8_t *bytes, size_t size, bool *ret_complete)
{
    struct fp_reader *reader = NULL;
    struct fp_block_buffer buffer = {0};
    struct fp_block block;
    enum fp_status status;
    FILE *file;
    fresh_path();
    file = fopen(path, "wb");
    CHECK(fwrite(bytes, 1, size, file) == size);
    fclose(file);
    status = fp_reader_open(path, NULL, &reader);
    if (status != FP_OK)
        return status;
    *ret_complete = fp_reader_info(reader)->has_trailer && fp_reader_info(reader)->tail_error.status == FP_OK;
    for (size_t i = 0; i < fp_reader_info(reader)->block_count && status == FP_OK; i++)
        status = fp_reader_block(reader, i, &buffer, &block);
    fp_block_buffer_release(&buffer);
    fp_reader_close(reader);
    unlink(path);
    return status;
}

TEST(every_cut_is_noticed)
{
    static uint8_t bytes[65536];
    const size_t size = good_file(bytes, sizeof bytes);
    for (size_t cut = 0; cut < size; cut += cut < 200 || cut + 200 > size ? 1 : 97) {
        bool complete = false;
        const enum fp_status status = read_all(bytes, cut, &complete);
        CHECK(status == FP_OK || status == FP_ERR_FOREIGN || status == FP_ERR_TRUNCATED);
        CHECK(!(status == FP_OK && complete));
    }
}

TEST(every_flipped_bit_is_noticed)
{
    static uint8_t bytes[65536];
    const size_t size = good_file(bytes, sizeof bytes);
    for (size_t bit = 0; bit < size * 8; bit += 7) {
        bool complete = false;
        enum fp_status status;
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        status = read_all(bytes, size, &complete);
        CHECK(!(status == FP_OK && complete));
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}

TEST(newer_and_foreign_files_are_named)
{
    static uint8_t bytes[65536];
    const size_t size = good_file(bytes, sizeof bytes);
    struct fp_error error = fp_error_make(FP_ERR_TRUNCATED, 0, 8192, "the file ends inside a block");
    char text[256];
    bool complete;
    put_u16(bytes + 8, FP_VERSION + 1);
    put_u64(bytes + 56, XXH64(bytes, 56, 0));
    CHECK_U64(read_all(bytes, size, &complete), FP_ERR_VERSION);
    CHECK_U64(read_all((const uint8_t *)"#!/bin/sh\n", 10, &complete), FP_ERR_FOREIGN);
    CHECK_U64(read_all(bytes, 0, &complete), FP_ERR_FOREIGN);
    CHECK_STR(fp_error_text(&error, "web.fp", text, sizeof text),
              "'web.fp': the file ends inside a block at byte 8192; copy the file again, or make it anew");
}

TEST(varints_have_bounds)
{
    uint8_t bytes[16];
    const uint64_t values[] = {0, 1, 127, 128, 16383, 16384, UINT32_MAX, UINT64_MAX, UINT64_C(1) << 63};
    struct cursor cursor;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        uint8_t *end = put_varint(bytes, values[i]);
        cursor = (struct cursor){bytes, end, false};
        CHECK_U64(get_varint(&cursor), values[i]);
        CHECK(cursor_done(&cursor));
        cursor = (struct cursor){bytes, end - 1, false};
        (void)get_varint(&cursor);
        CHECK(cursor.bad);
    }
    memset(bytes, 0xff, sizeof bytes);
    cursor = (struct cursor){bytes, bytes + sizeof bytes, false};
    (void)get_varint(&cursor);
    CHECK(cursor.bad);
    CHECK(unzigzag(zigzag(INT64_MIN)) == INT64_MIN);
}
