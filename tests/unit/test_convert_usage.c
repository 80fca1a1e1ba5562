/* test_convert_usage.c - what a process used as a whole: the same in its footprint, in what info says, and in the workload that
 * comes of it; of merged processes the sum; what is not known stays so. */
#include "convert/base/survey_counts.h"
#include "convert/open/input.h"
#include "convert/recording/recording.h"
#include "unit/recordings.h"

static struct fp_usage made_up(uint64_t scale)
{
    struct fp_usage usage;
    fp_usage_init(&usage);
    usage.begin_ns = 1000 * scale;
    usage.end_ns = 5000000 * scale;
    usage.cpu_user_ns = 300 * scale;
    usage.cpu_system_ns = 40 * scale;
    usage.faults_minor = 7 * scale;
    usage.faults_major = 0;
    usage.rss_peak_bytes = 4096 * scale;
    usage.rss_anon_peak_bytes = 2048 * scale;
    usage.cpu_age_ns = 0;
    usage.memory_age_ns = 17;
    usage.code = 9;
    usage.ended = FP_ENDED_SIGNAL;
    usage.runs_on = FP_RUNS_ON_PRELOADED;
    snprintf(usage.allocator, sizeof usage.allocator, "jemalloc");
    snprintf(usage.version, sizeof usage.version, "5.3.0");
    return usage;
}

static void add_used(const char *directory, const char *name, uint32_t process_id,
                     const struct fp_usage *usage)
{
    add_ended(directory, name, process_id, (struct fp_trailer){.end_time_ns = 9000000}, usage);
}

static void check_same(const struct fp_usage *told, const struct fp_usage *usage)
{
    CHECK(told != NULL);
    if (told == NULL)
        return;
    CHECK_U64(fp_usage_ran_ns(told), fp_usage_ran_ns(usage));
    CHECK_U64(told->cpu_user_ns, usage->cpu_user_ns);
    CHECK_U64(told->cpu_system_ns, usage->cpu_system_ns);
    CHECK_U64(told->faults_minor, usage->faults_minor);
    CHECK_U64(told->faults_major, usage->faults_major);
    CHECK_U64(told->rss_peak_bytes, usage->rss_peak_bytes);
    CHECK_U64(told->rss_anon_peak_bytes, usage->rss_anon_peak_bytes);
    CHECK_U64(told->cpu_age_ns, usage->cpu_age_ns);
    CHECK_U64(told->memory_age_ns, usage->memory_age_ns);
    CHECK_U64(told->ended, usage->ended);
    CHECK_U64(told->code, usage->code);
    CHECK_U64(told->runs_on, usage->runs_on);
    CHECK_STR(told->allocator, usage->allocator);
    CHECK_STR(told->version, usage->version);
}

TEST(it_reaches_the_workload)
{
    const struct conv_options options = {.overwrite = true};
    const struct fp_usage usage = made_up(1);
    OWNED(conv_report) report = {0};
    const char *directory = new_directory();
    add_used(directory, "one.7.fp", 7, &usage);
    struct conv_survey survey = survey_of(in(directory, "one.7.fp"));
    check_same(survey.usage, &usage);
    conv_survey_release(&survey);
    CHECK_U64(conv_file(in(directory, "one.7.fp"), scratch_path("used.wl"), &options, &report, &error),
              FP_OK);
    check_same(report.survey.usage, &usage);
    survey = survey_of(scratch_path("used.wl"));
    check_same(survey.usage, &usage);
    conv_survey_release(&survey);
}

/* Returns how many looks the workload has. */
static size_t looks_in(const char *path, double *ret_times_ns, double *ret_bytes)
{
    struct fp_error cause;
    struct wl_reader *reader;
    CHECK_U64(wl_reader_open(path, &cause, &reader), FP_OK);
    const size_t count = conv_looks_read(reader, ret_times_ns, ret_bytes);
    wl_reader_close(reader);
    return count;
}

TEST(looks_of_a_long_run_reach_the_workload)
{
    static const uint64_t SECOND = 1000000000;
    struct fp_usage_point points[] = {
        {SECOND, 9 << 20, 4 << 20, 0}, {2 * SECOND, 9 << 20, 0, 0}, {600 * SECOND, 12 << 20, 6 << 20, 0}};
    struct fp_usage usage = made_up(1);
    double times_ns[FP_USAGE_POINTS_MAX], bytes[FP_USAGE_POINTS_MAX];
    usage.points = points;
    usage.point_count = 3;
    for (int long_enough = 1; long_enough >= 0; long_enough--) {
        for (int cut = 0; cut <= 1; cut++) {
            struct conv_options options = {.overwrite = true, .select.head = cut ? 1 : 0};
            OWNED(conv_report) report = {0};
            const char *directory = new_directory();
            points[2].time_ns = long_enough ? 600 * SECOND : 599 * SECOND;
            add_used(directory, "one.7.fp", 7, &usage);
            CHECK_U64(
                conv_file(in(directory, "one.7.fp"), scratch_path("looks.wl"), &options, &report, &error),
                FP_OK);
            CHECK_U64(looks_in(scratch_path("looks.wl"), times_ns, bytes), long_enough && !cut ? 3 : 0);
        }
    }
    CHECK(times_ns[0] == 1e9 && times_ns[2] == 600e9);
    CHECK(bytes[0] == 4 << 20 && bytes[1] == 9 << 20 &&
          bytes[2] == 6 << 20); /* of no file, where that is known */
}

TEST(looks_that_are_none_are_not_read)
{
    static const struct {
        const char *text;
        size_t looks;
    } CASES[] = {{"1 2 3 4", 2}, {"", 0},  {"1", 0},       {"1 2 3", 0},  {"1 2 1 3", 0},
                 {"2 2 1 3", 0}, {"x", 0}, {"1 2 x 3", 0}, {"1 2,3 4", 0}};
    const struct conv_options options = {.overwrite = true};
    double times_ns[FP_USAGE_POINTS_MAX], bytes[FP_USAGE_POINTS_MAX];
    char text[16384];
    for (size_t i = 0; i <= COUNT_OF(CASES); i++) {
        OWNED(conv_report) report = {0};
        const bool is_last = i == COUNT_OF(CASES);
        int length = snprintf(text, sizeof text, "mallab-workload-text 1\nnote usage_looks=%s",
                              is_last ? "0 0" : CASES[i].text);
        for (unsigned k = 1; is_last && k < 2 * FP_USAGE_POINTS_MAX; k++)
            length += snprintf(text + length, sizeof text - (size_t)length, " %u 18446744073709551616", k);
        length += snprintf(text + length, sizeof text - (size_t)length,
                           "\nthread 0 1 main\n0 malloc 1 8\nend 1000000\n");
        scratch_write(scratch_path("looks.txt"), text, (size_t)length);
        CHECK_U64(conv_file(scratch_path("looks.txt"), scratch_path("looks.wl"), &options, &report, &error),
                  FP_OK);
        CHECK_U64(looks_in(scratch_path("looks.wl"), times_ns, bytes),
                  is_last ? FP_USAGE_POINTS_MAX : CASES[i].looks);
    }
}

TEST(without_it_nothing_is_made_up)
{
    const struct conv_options options = {.overwrite = true};
    OWNED(conv_report) report = {0};
    const char *directory = new_directory();
    add_footprint(directory, "old.8.fp", 8, 1000, true);
    CHECK_U64(conv_file(in(directory, "old.8.fp"), scratch_path("old.wl"), &options, &report, &error), FP_OK);
    CHECK(report.survey.usage == NULL);
    OWNED(conv_survey) survey = survey_of(scratch_path("old.wl"));
    CHECK(survey.usage == NULL);
}

TEST(a_recording_is_the_sum)
{
    const struct fp_usage one = made_up(1), three = made_up(3);
    const char *directory = new_directory();
    add_used(directory, "one.7.fp", 7, &one);
    add_used(directory, "three.8.fp", 8, &three);
    OWNED(conv_survey) survey = survey_of(directory);
    CHECK(survey.usage != NULL);
    if (survey.usage != NULL) {
        CHECK_U64(survey.usage->cpu_user_ns, 1200);
        CHECK_U64(survey.usage->faults_minor, 28);
        CHECK_U64(survey.usage->rss_peak_bytes, 16384);
        CHECK_U64(fp_usage_ran_ns(survey.usage), 15000000 - 1000);
        CHECK_STR(survey.usage->allocator, "jemalloc");
    }
    CHECK_U64(survey.process_count, 2);
    for (size_t i = 0; i < survey.process_count; i++)
        check_same(survey.processes[i].usage, i == 0 ? &one : &three);
}

/* A window that was cut short has none: that of the one before stays. */
TEST(the_last_that_tells_counts)
{
    const struct fp_usage usage = made_up(1);
    const char *directory = new_directory();
    add_used(directory, "one.7.w0001.fp", 7, &usage);
    add_footprint(directory, "one.7.w0002.fp", 7, 1000, false);
    OWNED(conv_survey) survey = {0};
    CHECK_U64(conv_recording_list(directory, &survey, &error), FP_OK);
    CHECK_U64(survey.process_count, 1);
    check_same(survey.process_count > 0 ? survey.processes[0].usage : NULL, &usage);
}

TEST(what_one_does_not_know_is_left_out)
{
    struct fp_usage *sum = NULL, one = made_up(1), other = made_up(2);
    other.rss_peak_bytes = FP_USAGE_UNKNOWN;
    snprintf(other.version, sizeof other.version, "4.5.0");
    other.cpu_user_ns = INT64_MAX;
    conv_usage_add(&sum, &one);
    conv_usage_add(&sum, NULL);
    conv_usage_add(&sum, &other);
    CHECK_U64(sum->rss_peak_bytes, 4096);
    CHECK_U64(sum->cpu_user_ns, INT64_MAX);
    CHECK_STR(sum->allocator, ""); /* they ran on two */
    CHECK_U64(sum->runs_on, FP_RUNS_ON_UNKNOWN);
    conv_usage_free(sum);
}
