/* Shows: when the file system refuses, a footprint is cut back to whole blocks and goes on when there is room
 * again; a workload ends there, says so from then on, and leaves nothing behind; a name that appears meanwhile is
 * not overwritten; what is no regular file is told so. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "footprint/fp/footprint.h"
#include "footprint/wl/workload.h"
#include "unit/append_block.h"
#include "unit/harness.h"

static char directory[] = "/tmp/mallab-test-XXXXXX";
static char path[64];

static void prepare(const char *name)
{
    static bool made;
    if (!made && mkdtemp(directory) == NULL)
        abort();
    made = true;
    (void)signal(SIGXFSZ, SIG_IGN); /* then write fails with EFBIG, as it does with ENOSPC on a full disk */
    snprintf(path, sizeof path, "%s/%s", directory, name);
}

/* Files may grow to so many bytes; 0: without bound. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    limit.rlim_cur = bytes == 0 ? limit.rlim_max : bytes;
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

static uint64_t size_of(const char *name)
{
    struct stat stat_;
    return stat(name, &stat_) == 0 ? (uint64_t)stat_.st_size : UINT64_MAX;
}

/* Marks that do not compress. */
static enum fp_status write_block(struct fp_writer *writer, uint64_t sequence)
{
    static const struct fp_shape shape = {FP_CALL_FREE, 0, 0};
    static struct fp_mark marks[1000];
    const struct fp_block block = {
        .sequence = sequence, .mark_count = 1000, .shape_count = 1, .marks = marks, .shapes = &shape};
    for (uint64_t i = 0; i < 1000; i++)
        marks[i].address = (sequence * 1000 + i + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 16;
    return append_block(writer, &block);
}

TEST(a_footprint_outlives_a_full_disk)
{
    const struct fp_writer_options options = {0};
    const struct fp_lane lane = {1, true, 3000};
    const struct fp_trailer trailer = {.lane_count = 1, .lanes = &lane, .lost = {[FP_LOSS_DISK_FULL] = 1000}};
    struct fp_writer *writer = NULL;
    struct fp_reader *reader = NULL;
    prepare("full.fp");
    CHECK_U64(fp_writer_create(AT_FDCWD, path, &options, NULL, 0, NULL, &writer), FP_OK);
    CHECK_U64(write_block(writer, 0), FP_OK);
    uint64_t whole = fp_writer_bytes(writer);
    limit_files(whole + 500);
    CHECK_U64(write_block(writer, 1), FP_ERR_WRITE);
    CHECK_U64(fp_writer_error(writer)->sys_errno, EFBIG);
    CHECK_U64(fp_writer_error(writer)->offset, whole);
    CHECK_U64(fp_writer_bytes(writer), whole);
    CHECK_U64(size_of(path), whole);
    CHECK_U64(fp_reader_open(path, NULL, &reader), FP_OK); /* as if it were cut here */
    CHECK_U64(fp_reader_info(reader)->block_count, 1);
    CHECK_U64(fp_reader_info(reader)->tail_error.offset, whole);
    fp_reader_close(reader);
    limit_files(0);
    CHECK_U64(write_block(writer, 2), FP_OK);
    CHECK_U64(fp_writer_finish(writer, &trailer, NULL), FP_OK);
    CHECK_U64(fp_reader_open(path, NULL, &reader), FP_OK);
    CHECK(fp_reader_info(reader)->has_trailer);
    CHECK_U64(fp_reader_info(reader)->block_count, 2);
    CHECK_U64(fp_reader_info(reader)->blocks[1].sequence, 2);
    fp_reader_close(reader);
    CHECK(unlink(path) == 0);
}

TEST(a_footprint_without_room_for_its_head_is_not_left_behind)
{
    const struct fp_writer_options options = {0};
    struct fp_writer *writer = NULL;
    struct fp_error error = {0};
    prepare("head.fp");
    limit_files(70);
    CHECK_U64(fp_writer_create(AT_FDCWD, path, &options, NULL, 0, &error, &writer), FP_ERR_WRITE);
    limit_files(0);
    CHECK_U64(error.sys_errno, EFBIG);
    CHECK(writer == NULL && access(path, F_OK) != 0);
}

static struct wl_writer *begin_workload(bool in_place)
{
    const struct wl_writer_options options = {.window_ops = 100, .in_place = in_place};
    struct wl_writer *writer = NULL;
    uint32_t thread;
    CHECK_U64(wl_writer_create(path, false, &options, NULL, 0, NULL, &writer), FP_OK);
    CHECK_U64(wl_writer_thread(writer, 1, true, &thread), FP_OK);
    return writer;
}

/* Adds ops until one fails, or all are in. */
static enum fp_status add_ops(struct wl_writer *writer, uint32_t ops)
{
    enum fp_status status = FP_OK;
    for (uint64_t i = 0; i < ops && status == FP_OK; i++) {
        const struct fp_shape shape = {FP_CALL_MALLOC, i * UINT64_C(0x9e3779b97f4a7c15) >> 20, 0};
        uint32_t id;
        status = wl_writer_allocate(writer, 0, &shape, 0, &id);
    }
    return status;
}

TEST(a_workload_ends_at_a_full_disk)
{
    struct fp_error error = {0};
    prepare("full.wl");
    struct wl_writer *writer = begin_workload(true);
    CHECK_U64(add_ops(writer, 100), FP_OK);
    limit_files(200);
    CHECK_U64(add_ops(writer, 100), FP_ERR_WRITE);
    CHECK_U64(wl_writer_error(writer)->sys_errno, EFBIG);
    limit_files(0);
    /* There is room again, but half a window is in the file. */
    CHECK_U64(add_ops(writer, 500), FP_ERR_WRITE);
    CHECK_U64(wl_writer_finish(writer, 0, NULL, NULL, &error), FP_ERR_WRITE);
    CHECK_U64(error.status, FP_ERR_WRITE);
    CHECK(access(path, F_OK) != 0);
}

/* Another thread writes: one of the next windows is told of it, or the end. */
TEST(a_full_disk_is_told_later)
{
    struct fp_error error = {0};
    enum fp_status status = FP_OK;
    prepare("later.wl");
    struct wl_writer *writer = begin_workload(false);
    limit_files(2000);
    for (int i = 0; i < 1000 && status == FP_OK; i++)
        status = add_ops(writer, 100);
    CHECK_U64(status, FP_ERR_WRITE);
    CHECK_U64(wl_writer_error(writer)->sys_errno, EFBIG);
    limit_files(0);
    CHECK_U64(add_ops(writer, 1), FP_ERR_WRITE);
    CHECK_U64(wl_writer_finish(writer, 0, NULL, NULL, &error), FP_ERR_WRITE);
    CHECK_U64(error.status, FP_ERR_WRITE);
    CHECK(access(path, F_OK) != 0);
}

TEST(a_full_disk_at_the_end_leaves_nothing)
{
    struct fp_error error = {0};
    prepare("end.wl");
    struct wl_writer *writer = begin_workload(true);
    CHECK_U64(add_ops(writer, 150), FP_OK);
    limit_files(10);
    CHECK_U64(wl_writer_finish(writer, 0, NULL, NULL, &error), FP_ERR_WRITE);
    limit_files(0);
    CHECK_U64(error.sys_errno, EFBIG);
    CHECK(access(path, F_OK) != 0);
}

TEST(what_is_no_regular_file_is_told_so)
{
    struct fp_reader *footprint = NULL;
    struct wl_reader *workload = NULL;
    struct fp_error error = {0};
    prepare("none");
    CHECK_U64(fp_reader_open(path, &error, &footprint), FP_ERR_OPEN);
    CHECK_U64(error.sys_errno, ENOENT);
    CHECK_U64(wl_reader_open(path, &error, &workload), FP_ERR_OPEN);
    CHECK_U64(error.sys_errno, ENOENT);
    CHECK_U64(fp_reader_open(directory, &error, &footprint), FP_ERR_READ);
    CHECK_U64(error.sys_errno, EISDIR);
    CHECK_U64(wl_reader_open(directory, &error, &workload), FP_ERR_READ);
    CHECK_U64(error.sys_errno, EISDIR);
    CHECK_U64(fp_reader_open("/dev/zero", &error, &footprint), FP_ERR_FOREIGN);
    CHECK_U64(wl_reader_open("/dev/zero", &error, &workload), FP_ERR_READ);
    CHECK(footprint == NULL && workload == NULL);
    CHECK(rmdir(directory) == 0); /* nothing was left by any test */
}
