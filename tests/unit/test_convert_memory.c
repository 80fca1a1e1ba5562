/* test_convert_memory.c - whichever allocation fails, converting says so in words, or needed it only to be faster: nothing
 * stays allocated, no descriptor open, no file behind. */
#include "convert/convert.h"
#include "unit/failing.h"
#include "unit/harness.h"
#include "unit/history.h"
#include "unit/scratch.h"

enum { TRIALS_MAX = 5000 };

/* Three threads that meet in their epochs, reallocs, objects that stay. */
static const char *make_footprint(void)
{
    const struct history_options options = {
        .threads = 3, .events = 4000, .objects = 2000, .bump_every = 16, .bump_ns = 1000, .resize_share = 20};
    const char *path = scratch_path("three.fp");
    struct history history;
    (void)unlink(path); /* of the test before */
    history_init(&history, options.threads, 1);
    history_simulate(&history, &options);
    history_cut(&history, 3000);
    CHECK_U64(history_write(&history, path, 5, true), FP_OK);
    history_release(&history);
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
