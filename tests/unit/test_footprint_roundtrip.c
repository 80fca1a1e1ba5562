/* Shows: files that are cut or changed are told; a size limit keeps the file whole; what is there is left alone. What a writer was given
 * is what a reader hands out: tests/golden shows it, and each fuzzer for any file. */
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
#include "unit/readers.h"
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

TEST(blocks_that_break_the_rules_are_refused)
{
    static struct made made;
    struct fp_writer *writer = create(0);
    make_block(&made, 0, 0, 100, 10);
    struct fp_block bad = made.block;
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
    struct fp_lane lane = {1, true, 0};
    struct stat facts;
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
    FP_READER *reader = fp_opened(path);
    CHECK_U64(fp_reader_info(reader)->block_count, stored);
    CHECK(fp_reader_info(reader)->has_trailer);
    CHECK(fp_reader_info(reader)->file_bytes <= 20000);
    CHECK(stat(path, &facts) == 0);
    CHECK_U64(facts.st_mode & 0777, 0600);
    CHECK(fp_reader_meta(reader, "absent") == NULL);
}

/* Write a small good footprint, hand back its bytes. */
static size_t good_file(uint8_t *bytes, size_t room)
{
    static struct made made;
    struct fp_lane lane = {1, true, 0};
    struct fp_trailer trailer = {.lane_count = 1, .lanes = &lane};
    struct fp_writer *writer = create(0);
    make_block(&made, 0, 0, 400, 9);
    CHECK_U64(append_block(writer, &made.block), FP_OK);
    make_block(&made, 0, 1, 400, 9);
    CHECK_U64(append_block(writer, &made.block), FP_OK);
    CHECK_U64(fp_writer_finish(writer, &trailer, NULL), FP_OK);
    FILE *file = fopen(path, "rb");
    size_t size = fread(bytes, 1, room, file);
    fclose(file);
    return size;
}

/* Returns the status of opening and reading everything. */
static enum fp_status read_all(const uint8_t *bytes, size_t size, bool *ret_complete)
{
    struct fp_reader *reader = NULL;
    OWNED(fp_block_buffer) buffer = {0};
    struct fp_block block;
    fresh_path();
    FILE *file = fopen(path, "wb");
    CHECK(fwrite(bytes, 1, size, file) == size);
    fclose(file);
    enum fp_status status = fp_reader_open(path, NULL, &reader);
    if (status != FP_OK)
        return status;
    *ret_complete = fp_reader_info(reader)->has_trailer && fp_reader_info(reader)->tail_error.status == FP_OK;
    for (size_t i = 0; i < fp_reader_info(reader)->block_count && status == FP_OK; i++)
        status = fp_reader_block(reader, i, &buffer, &block);
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
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        enum fp_status status = read_all(bytes, size, &complete);
        CHECK(!(status == FP_OK && complete));
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}

TEST(varints_have_bounds)
{
    uint8_t bytes[16];
    const uint64_t values[] = {0, 1, 127, 128, 16383, 16384, UINT32_MAX, UINT64_MAX, UINT64_C(1) << 63};
    struct cursor cursor;
    for (size_t i = 0; i < COUNT_OF(values); i++) {
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
