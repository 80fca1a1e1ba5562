/* test_convert_memory.c - whichever allocation fails, converting says so in words, or needed it only to be faster: nothing
 * stays allocated, no descriptor open, no file behind. */
#include <fcntl.h>

#include "convert/convert.h"
#include "unit/append_block.h"
#include "unit/failing.h"
#include "unit/harness.h"
#include "unit/scratch.h"

enum { TRIALS_MAX = 5000, CALLS = 3000, LANES = 3, STAMPS = 30 };

/* Three threads that meet in their epochs, reallocs, objects that stay. */
static void write_footprint(const char *path, uint32_t process_id)
{
    static struct fp_mark marks[CALLS];
    static struct fp_shape shapes[] = {{.call = FP_CALL_MALLOC, .size = 100},
                                       {.call = FP_CALL_FREE},
                                       {.call = FP_MARK_RESIZE_FROM},
                                       {.call = FP_CALL_REALLOC, .size = 300}};
    const struct fp_writer_options options = {.process_id = process_id};
    struct fp_lane facts[LANES] = {{process_id, true, CALLS}, {6, false, CALLS}, {7, false, CALLS}};
    struct fp_trailer trailer = {.end_time_ns = STAMPS * 6400, .lane_count = LANES, .lanes = facts};
    struct fp_stamp stamps[STAMPS];
    struct fp_writer *writer = NULL;
    for (uint32_t i = 0; i < STAMPS; i++)
        stamps[i] = (struct fp_stamp){.mark = i * (CALLS / STAMPS), .time_ns = i * 6400};
    CHECK_U64(fp_writer_create(AT_FDCWD, path, &options, NULL, 0, NULL, &writer), FP_OK);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        struct fp_block block = {.lane = lane,
                                 .base_epoch = 1,
                                 .mark_count = CALLS,
                                 .shape_count = 4,
                                 .stamp_count = STAMPS,
                                 .marks = marks,
                                 .shapes = shapes,
                                 .stamps = stamps};
        for (uint32_t i = 0; i < CALLS; i++) {
            static const uint16_t way[] = {0, 0, 2, 3, 1};
            marks[i] = (struct fp_mark){.address = 0x10000 * (lane + 1) +
                                                   ((uint64_t)(i / 5 * 2 + (i % 5 == 1)) << 22),
                                        .shape = way[i % 5],
                                        .epoch = i / 7};
        }
        CHECK_U64(append_block(writer, &block), FP_OK);
    }
    CHECK_U64(fp_writer_finish(writer, &trailer, NULL), FP_OK);
}

static const char *make_footprint(void)
{
    const char *path = scratch_path("three.fp");
    (void)unlink(path); /* of the test before */
    write_footprint(path, 5);
    return path;
}

static const char *make_text(void)
{
    const char *path = scratch_path("trace.txt");
    FILE *file = fopen(path, "w");
    for (unsigned i = 0; i < 2000; i++)
        fprintf(file, "%u: malloc 0x%x %u\n", 100 + i % 50, 0x1000 + i * 16, i);
    fclose(file);
    return path;
}

static void fail_each_of(const char *input, struct conv_options options, bool writes, unsigned at_least)
{
    const char *output = scratch_path("out.wl");
    unsigned trials = 0, refused = 0;
    do {
        const unsigned descriptors = count_entries("/proc/self/fd"), files = count_entries(scratch_directory);
        struct conv_report report = {0};
        struct conv_error error;
        char text[512];
        failing_arm(trials++);
        enum fp_status status = writes ? conv_file(input, output, &options, &report, &error)
                                       : conv_survey_file(input, &options, &report.survey, &error);
        if (status == FP_OK)
            conv_report_release(&report);
        failing_disarm();
        if (failing_held != 0)
            HARNESS_FAIL("%s: with allocation %u failing, %ld are not given back", input, trials - 1,
                         failing_held);
        CHECK_U64(count_entries("/proc/self/fd"), descriptors);
        if (status != FP_OK) {
            refused++;
            if (status != FP_ERR_MEMORY)
                HARNESS_FAIL("%s: allocation %u: %s", input, trials - 1,
                             conv_error_text(&error, text, sizeof text));
            CHECK_U64(error.cause.status, FP_ERR_MEMORY);
            CHECK(strstr(conv_error_text(&error, text, sizeof text), "memory") != NULL);
            CHECK_U64(count_entries(scratch_directory), files); /* no remains */
        } else if (writes) {
            CHECK(unlink(output) == 0);
        }
    } while (failing_failed && trials < TRIALS_MAX);
    if (refused < at_least || trials >= TRIALS_MAX)
        HARNESS_FAIL("%s: %u refusals in %u trials", input, refused, trials);
}

static const struct conv_options PLAIN = {.in_place = true, .overwrite = true, .window_ops = 512};

static void fail_each(const char *input, bool writes, unsigned at_least)
{
    fail_each_of(input, PLAIN, writes, at_least);
}

TEST(a_footprint_meets_every_failure)
{
    const char *input = make_footprint();
    fail_each(input, true, 25);
    fail_each(input, false, 15);
}

TEST(a_text_meets_every_failure)
{
    const char *input = make_text();
    fail_each(input, true, 20);
    fail_each(input, false, 8);
}

static struct conv_options selecting(struct conv_selection select)
{
    struct conv_options options = PLAIN;
    options.select = select;
    return options;
}

TEST(each_filter_meets_every_failure)
{
    const char *input = make_footprint();
    const struct conv_when third = {.kind = CONV_WHEN_SHARE, .value = 333333},
                           most = {.kind = CONV_WHEN_SHARE, .value = 900000};
    fail_each_of(input, selecting((struct conv_selection){.from = third, .to = most}), true, 30);
    fail_each_of(input, selecting((struct conv_selection){.head = 4000}), true, 25);
    fail_each_of(input, selecting((struct conv_selection){.from = third, .to = most, .head = 2000}), true,
                 35);
    fail_each_of(input, selecting((struct conv_selection){.from = third}), false, 20);
}
