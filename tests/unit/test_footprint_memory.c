/* Shows: whichever allocation fails, writers and readers report FP_ERR_MEMORY in words, leave nothing allocated,
 * no descriptor open and no file that claims to be whole; and that what is written while a compressor lacks
 * memory still reads back.
 *
 * The linker hands our wrappers every allocation that footprint/ makes, mmap and zstd's contexts included; what
 * libzstd allocates by itself later is not failed, because its callers fall back on storing bytes as they are. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "footprint/fp/footprint.h"
#include "footprint/wl/workload.h"
#include "unit/append_block.h"
#include "unit/busy.h"
#include "unit/failing.h"
#include "unit/harness.h"

/* ---- the trials ---------------------------------------------------------------------------- */

static char directory[] = "/tmp/mallab-test-XXXXXX";
static char path[64];

/* What a trial reports: the first status that is not FP_OK, and the error beside it. */
struct outcome {
    enum fp_status status;
    struct fp_error error;
};

typedef struct outcome trial(void);

/* Run a trial with allocation 0, 1, 2 ... failing, until none is refused any more. */
static void fail_each(trial *run, const char *name, bool writes, unsigned at_least)
{
    unsigned trials = 0;
    do {
        const unsigned descriptors = count_entries("/proc/self/fd");
        if (writes)
            (void)unlink(path); /* of the trial before */
        failing_arm(trials++);
        struct outcome outcome = run();
        failing_disarm();
        if (failing_held != 0)
            HARNESS_FAIL("%s: with allocation %u failing, %ld are not given back", name, trials - 1,
                         failing_held);
        CHECK_U64(count_entries("/proc/self/fd"), descriptors);
        if (failing_failed) {
            CHECK_U64(outcome.status, outcome.error.status);
            CHECK(outcome.error.what != NULL);
            if (outcome.status != FP_ERR_MEMORY && outcome.error.sys_errno != ENOMEM)
                HARNESS_FAIL("%s: with allocation %u failing the status is %s", name, trials - 1,
                             fp_status_name(outcome.status));
        } else {
            CHECK_U64(outcome.status, FP_OK);
        }
    } while (failing_failed && trials < 1000);
    CHECK(trials > at_least && trials < 1000);
    CHECK_U64(count_entries(directory), writes || access(path, F_OK) == 0 ? 3 : 2); /* no remains */
}

static struct fp_mark marks[2000];
static const struct fp_shape shapes[] = {{FP_CALL_MALLOC, 100, 0}, {FP_CALL_FREE, 0, 0}};
static const struct fp_stamp stamp = {0, 640};

static struct outcome write_footprint(void)
{
    const struct fp_writer_options options = {.process_id = 1};
    const struct fp_meta meta = {"program", "memory"};
    const struct fp_lane lane = {1, true, 4000};
    const struct fp_trailer trailer = {.lane_count = 1, .lanes = &lane};
    struct fp_block block = {.mark_count = 2000, .shape_count = 2, .stamp_count = 1};
    struct fp_writer *writer = NULL;
    struct outcome outcome = {0};
    block.marks = marks;
    block.shapes = shapes;
    block.stamps = &stamp;
    outcome.status = fp_writer_create(AT_FDCWD, path, &options, &meta, 1, &outcome.error, &writer);
    if (outcome.status != FP_OK) {
        CHECK(writer == NULL && access(path, F_OK) != 0);
        return outcome;
    }
    for (; block.sequence < 2; block.sequence++) {
        outcome.status = append_block(writer, &block);
        if (outcome.status == FP_OK)
            continue;
        outcome.error = *fp_writer_error(writer);
        CHECK_U64(append_block(writer, &block), FP_OK); /* a block may be tried again */
        fp_writer_abandon(writer);
        return outcome;
    }
    outcome.status = fp_writer_finish(writer, &trailer, &outcome.error);
    return outcome;
}

static struct outcome read_footprint(void)
{
    struct fp_reader *reader = NULL;
    OWNED(fp_block_buffer) buffer = {0};
    struct outcome outcome = {0};
    struct fp_block block;
    outcome.status = fp_reader_open(path, &outcome.error, &reader);
    if (outcome.status != FP_OK) {
        CHECK(reader == NULL);
        return outcome;
    }
    CHECK(fp_reader_info(reader)->has_trailer && fp_reader_info(reader)->block_count == 2);
    for (size_t i = 0; i < 2 && outcome.status == FP_OK; i++)
        outcome.status = fp_reader_block(reader, i, &buffer, &block);
    outcome.error = *fp_reader_error(reader);
    if (outcome.status != FP_OK)
        CHECK_U64(fp_reader_block(reader, 1, &buffer, &block), FP_OK); /* the reader lives on */
    fp_reader_close(reader);
    return outcome;
}

static struct outcome read_workload(void)
{
    struct wl_reader *reader = NULL;
    struct outcome outcome = {0};
    struct wl_window window;
    outcome.status = wl_reader_open(path, &outcome.error, &reader);
    if (outcome.status != FP_OK) {
        CHECK(reader == NULL);
        return outcome;
    }
    long after_open = failing_until;
    while ((outcome.status = wl_reader_next(reader, &window)) == FP_OK)
        ;
    CHECK(after_open == failing_until); /* the promise of workload.h: all memory is had at open */
    CHECK_U64(outcome.status, FP_END);
    outcome.status = FP_OK;
    wl_reader_close(reader);
    return outcome;
}

static void prepare(const char *name)
{
    static bool made;
    if (!made && mkdtemp(directory) == NULL)
        abort();
    made = true;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    for (uint32_t i = 0; i < 2000; i++)
        marks[i] = (struct fp_mark){.address = 0x1000 + i / 2 * 16, .shape = i % 2};
}

TEST(a_footprint_meets_every_failure)
{
    prepare("memory.fp");
    (void)write_footprint(); /* append_block's own memory is had then */
    fail_each(write_footprint, "writing a footprint", true, 6);
    fail_each(read_footprint, "reading a footprint", false, 5);
    CHECK(unlink(path) == 0);
}

/* Writing one meets them with a conversion: test_convert_memory.c. */
TEST(a_workload_meets_every_failure)
{
    prepare("memory.wl");
    write_busy(path, 20, 256, 2000);
    fail_each(read_workload, "reading a workload", false, 2);
    CHECK(unlink(path) == 0);
    CHECK(rmdir(directory) == 0);
}
