/* Shows: a size limit keeps the file whole; what is there is left alone. What a writer was given
 * is what a reader hands out: tests/golden shows it, and each fuzzer for any file. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "footprint/base/bytes.h"
#include "footprint/fp/footprint.h"
#include "unit/append_block.h"
#include "unit/harness.h"
#include "unit/random.h"
#include "unit/readers.h"
#include "unit/scratch.h"

static char path[512];

static uint64_t random_state = 1;

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

#define MARKS 400u

/* A block of as many marks, with addresses that do not shrink. */
static struct fp_block block_of(uint64_t sequence)
{
    static const struct fp_shape shape = {FP_CALL_MALLOC, 8, 0};
    static struct fp_mark marks[MARKS];
    for (uint32_t i = 0; i < MARKS; i++)
        marks[i] = (struct fp_mark){.address = test_random(&random_state) >> 16};
    return (struct fp_block){
        .sequence = sequence, .mark_count = MARKS, .shape_count = 1, .marks = marks, .shapes = &shape};
}

TEST(blocks_that_break_the_rules_are_refused)
{
    struct fp_writer *writer = create(0);
    const struct fp_block good = block_of(0);
    struct fp_block bad = good;
    bad.mark_count = 0;
    CHECK_U64(append_block(writer, &bad), FP_ERR_ARGUMENT);
    bad = good;
    bad.lane = FP_LANES_MAX;
    CHECK_U64(append_block(writer, &bad), FP_ERR_ARGUMENT);
    CHECK_U64(append_block(writer, &good), FP_OK);
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
    struct fp_writer *writer = create(20000);
    struct fp_trailer trailer = {0};
    struct fp_lane lane = {1, true, 0};
    struct stat facts;
    unsigned stored = 0;
    enum fp_status status = FP_OK;
    for (unsigned i = 0; i < 100 && status == FP_OK; i++) {
        const struct fp_block block = block_of(i);
        status = append_block(writer, &block);
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
