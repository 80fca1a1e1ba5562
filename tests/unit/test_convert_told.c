/* test_convert_told.c - what was lost while recording, and why a recording is not complete: told alike by the recording, by
 * each of its footprints, and by the workload that comes of them. */
#include "unit/recordings.h"

static struct conv_report converted(const char *path)
{
    const struct conv_options options = {.overwrite = true};
    struct conv_report report = {0};
    CHECK_U64(conv_file(path, scratch_path("told.wl"), &options, &report, &error), FP_OK);
    return report;
}

/* Paths of the scratch place last for some calls only. */
static void own_directory(char *ret_path, size_t size)
{
    snprintf(ret_path, size, "%s", new_directory());
}

/* What a reader says, be it by info or by convert, and what the workload says after. */
static void check_told(const char *path, bool knows_losses, uint64_t lost, const char *why)
{
    struct conv_survey survey = survey_of(path), workload;
    struct conv_report report = converted(path);
    const struct conv_survey *all[] = {&survey, &report.survey};
    for (size_t i = 0; i < 2; i++) {
        CHECK(!all[i]->complete);
        CHECK(conv_survey_knows_losses(all[i]) == knows_losses);
        CHECK_U64(all[i]->lost[FP_LOSS_DISK_FULL] + all[i]->lost[FP_LOSS_COLLECTOR], lost);
        if (strstr(all[i]->incomplete_why, why) == NULL)
            CHECK_STR(all[i]->incomplete_why, why);
    }
    CHECK_U64(survey.duration_ns, report.survey.duration_ns);
    workload = survey_of(scratch_path("told.wl"));
    CHECK(!workload.complete);
    CHECK(conv_survey_knows_losses(&workload) == knows_losses);
    CHECK_U64(workload.lost[FP_LOSS_DISK_FULL] + workload.lost[FP_LOSS_COLLECTOR], lost);
    CHECK_U64(workload.lost_marks, 0);
    conv_survey_release(&workload);
    conv_report_release(&report);
    conv_survey_release(&survey);
}

/* On a full disk the windows after the last trailer are only in the list. */
TEST(losses_of_windows_without_trailers_are_told_everywhere)
{
    char directory[600];
    struct conv_survey survey;
    own_directory(directory, sizeof directory);
    add_ended(directory, "a.1.w0001.fp", 1,
              (struct fp_trailer){.end_time_ns = 18000000000, .lost[FP_LOSS_DISK_FULL] = 9233042}, NULL);
    write_json(
        directory,
        "{\"schema\": \"mallab-recording/1\", \"complete\": false, \"duration_ns\": 26600000000,"
        " \"processes\": [{\"file\": \"a.1.w0001.fp\", \"name\": \"a\", \"pid\": 1, \"ended\": \"exit\","
        " \"lost\": {\"disk_full\": 14458459}}]}");
    check_told(directory, true, 14458459, "14,458,459 calls were lost while recording");
    survey = survey_of(directory);
    CHECK_U64(survey.duration_ns, 26600000000);
    conv_survey_release(&survey);
    /* The window by itself tells its own. */
    check_told(in(directory, "a.1.w0001.fp"), true, 9233042, "9,233,042 calls were lost while recording");
}

TEST(a_process_that_ran_on_is_told)
{
    static const char list[] = "{\"schema\": \"mallab-recording/1\", \"complete\": false, %s"
                               " \"processes\": [{\"file\": \"a.1.fp\", \"name\": \"a\", \"pid\": 1,"
                               " \"ended\": \"running\", \"lost\": {}}]}";
    char directory[600], text[512];
    own_directory(directory, sizeof directory);
    /* The list alone says it, as written before trailers did. */
    add_ended(directory, "a.1.fp", 1, (struct fp_trailer){.end_time_ns = 2500000000}, NULL);
    snprintf(text, sizeof text, list, "");
    write_json(directory, text);
    check_told(directory, true, 0, "recording ended after 2.500 s and process 1 ran on");
    snprintf(text, sizeof text, list, "\"stopped\": {\"by\": \"duration\", \"after_ns\": 5},");
    write_json(directory, text);
    check_told(directory, true, 0, "recording ended after 2.500 s, --duration is over and process 1 ran on");
    snprintf(text, sizeof text, list, "\"stopped\": {\"by\": \"moon\"},");
    write_json(directory, text);
    check_told(directory, true, 0, "recording ended after 2.500 s and process 1 ran on");
    snprintf(text, sizeof text, list, "\"recovered\": true,");
    write_json(directory, text);
    check_told(directory, false, 0, "its collector was killed after 2.500 s and process 1 ran on");
    /* The footprint by itself, wherever it is copied to. */
    CHECK(unlink(in(directory, "a.1.fp")) == 0);
    add_ended(directory, "a.1.fp", 1, (struct fp_trailer){.end_time_ns = 2500000000, .ran_on = true}, NULL);
    check_told(in(directory, "a.1.fp"), true, 0, "recording ended after 2.500 s and process 1 ran on");
    CHECK(unlink(in(directory, "a.1.fp")) == 0);
    add_ended(directory, "a.1.fp", 1,
              (struct fp_trailer){
                  .end_time_ns = 2500000000, .ran_on = true, .uncounted = true, .lost[FP_LOSS_COLLECTOR] = 7},
              NULL);
    check_told(in(directory, "a.1.fp"), false, 7, "more were lost when its collector had been killed");
}

/* Not each pause leaves a mark in a lane, nor each process that was one too many a footprint. */
TEST(the_list_alone_may_say_why)
{
    const char *directory = new_directory();
    struct conv_survey survey;
    add_footprint(directory, "a.1.fp", 1, 1000, true);
    write_json(directory, "{\"schema\": \"mallab-recording/1\", \"complete\": false, \"pauses\": ["
                          "{\"from_ns\": 5, \"to_ns\": 9}, {\"from_ns\": 20, \"to_ns\": 21}, 7,"
                          " {\"from_ns\": 9, \"to_ns\": 5}], \"processes\": [{\"file\": \"a.1.fp\"}]}");
    survey = survey_of(directory);
    CHECK_STR(survey.incomplete_why, "recording was paused meanwhile, as asked");
    CHECK_U64(survey.pauses, 3);
    CHECK_U64(survey.paused_ns, 5);
    conv_survey_release(&survey);
    write_json(directory, "{\"schema\": \"mallab-recording/1\", \"complete\": false,"
                          " \"processes_unattached\": 1234, \"processes\": [{\"file\": \"a.1.fp\"}]}");
    survey = survey_of(directory);
    CHECK_STR(survey.incomplete_why, "1,234 processes were more than can be recorded at one time");
    conv_survey_release(&survey);
}

/* Losses that no run can have had, made up so that their sum in 64 bits is none. */
TEST(losses_beyond_all_counting_stay_losses)
{
    const uint64_t half = UINT64_C(1) << 63;
    char directory[600];
    struct conv_survey survey;
    own_directory(directory, sizeof directory);
    add_ended(directory, "a.1.fp", 1, (struct fp_trailer){.lost[FP_LOSS_DISK_FULL] = half}, NULL);
    add_ended(directory, "b.2.fp", 2, (struct fp_trailer){.lost[FP_LOSS_DISK_FULL] = half}, NULL);
    survey = survey_of(directory);
    CHECK_U64(survey.process_count, 2);
    CHECK_U64(survey.lost[FP_LOSS_DISK_FULL], UINT64_MAX);
    conv_survey_release(&survey);
}

/* A full disk: what was lost counts in the choice, and is told where nothing of it can be converted. */
TEST(the_busiest_process_is_the_one_that_called_most)
{
    static const char list[] =
        "{\"schema\": \"mallab-recording/1\", \"complete\": false, \"processes\": ["
        " {\"file\": \"a.1.fp\", \"name\": \"a\", \"pid\": 1, \"events\": 9000, \"ended\": \"exit\", "
        "\"lost\": {}},"
        " {\"file\": \"b.2.fp\", \"name\": \"b\", \"pid\": 2, \"events\": %s, \"ended\": \"exit\","
        "  \"lost\": {\"disk_full\": 20000}}]}";
    char directory[600], text[1024];
    struct conv_report report;
    own_directory(directory, sizeof directory);
    add_footprint(directory, "a.1.fp", 1, 500, true);
    snprintf(text, sizeof text, list, "0"); /* and no footprint */
    write_json(directory, text);
    report = converted(directory);
    CHECK_U64(report.survey.process_id, 1);
    CHECK(!report.survey.complete);
    CHECK_STR(
        report.survey.incomplete_why,
        "process 2 (b) made more calls than this one, and all 20,000 of them were lost: no footprint of it "
        "could be written");
    conv_report_release(&report);
    add_footprint(directory, "b.2.fp", 2, 100, true);
    snprintf(text, sizeof text, list, "100");
    write_json(directory, text);
    report = converted(directory);
    CHECK_U64(report.survey.process_id, 2);
    CHECK(strstr(report.survey.incomplete_why, "20,000 calls were lost") != NULL);
    conv_report_release(&report);
}
