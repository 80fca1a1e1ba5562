/* test_convert_told.c - what was lost while recording, and why a recording is not complete: told alike by the recording, by each of its footprints,
 * and by the workload that comes of them; and which of its processes a recording is about. */
#include "convert/recording/recording.h"
#include "unit/harness.h"
#include "unit/recordings.h"

static struct conv_report converted(const char *path)
{
    const struct conv_options options = {.overwrite = true};
    struct conv_report report = {0};
    CHECK_U64(conv_file(path, scratch_path("told.wl"), &options, &report, &error), FP_OK);
    return report;
}

/* What a reader says, be it by info or by convert, and what the workload says after. */
static void check_told(const char *path, bool knows_losses, uint64_t lost, const char *why)
{
    OWNED(conv_survey) survey = survey_of(path), workload;
    OWNED(conv_report) report = converted(path);
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
}

/* On a full disk the windows after the last trailer are only in the list. */
TEST(losses_of_windows_without_trailers_are_told_everywhere)
{
    const char *directory = new_directory();
    OWNED(conv_survey) survey;
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
    /* The window by itself tells its own. */
    check_told(in(directory, "a.1.w0001.fp"), true, 9233042, "9,233,042 calls were lost while recording");
}

TEST(a_process_that_ran_on_is_told)
{
    static const char list[] = "{\"schema\": \"mallab-recording/1\", \"complete\": false, %s"
                               " \"processes\": [{\"file\": \"a.1.fp\", \"name\": \"a\", \"pid\": 1,"
                               " \"ended\": \"running\", \"lost\": {}}]}";
    const char *directory = new_directory();
    char text[512];
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
    add_footprint(directory, "a.1.fp", 1, 1000, true);
    write_json(directory, "{\"schema\": \"mallab-recording/1\", \"complete\": false, \"pauses\": ["
                          "{\"from_ns\": 5, \"to_ns\": 9}, {\"from_ns\": 20, \"to_ns\": 21}, 7,"
                          " {\"from_ns\": 9, \"to_ns\": 5}], \"processes\": [{\"file\": \"a.1.fp\"}]}");
    struct conv_survey survey = survey_of(directory);
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
    const char *directory = new_directory();
    OWNED(conv_survey) survey;
    add_ended(directory, "a.1.fp", 1, (struct fp_trailer){.lost[FP_LOSS_DISK_FULL] = half}, NULL);
    add_ended(directory, "b.2.fp", 2, (struct fp_trailer){.lost[FP_LOSS_DISK_FULL] = half}, NULL);
    survey = survey_of(directory);
    CHECK_U64(survey.process_count, 2);
    CHECK_U64(survey.lost[FP_LOSS_DISK_FULL], UINT64_MAX);
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
    const char *directory = new_directory();
    char text[1024];
    add_footprint(directory, "a.1.fp", 1, 500, true);
    snprintf(text, sizeof text, list, "0"); /* and no footprint */
    write_json(directory, text);
    struct conv_report report = converted(directory);
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

/* The survey of such a recording: "name pid parent events[ exec], ...". Its processes are the caller's to free; their names last until the next one. */
static struct conv_survey survey_of_rows(const char *rows, uint32_t command_pid)
{
    static char names[CONV_MEMBERS_MAX + 8][16];
    static char ends[2][8] = {"exit", "exec"};
    struct conv_survey survey = {.recording_state = CONV_RECORDING_FINISHED, .command_pid = command_pid};
    survey.processes = calloc(COUNT_OF(names), sizeof *survey.processes);
    for (const char *row = rows; row != NULL && survey.processes != NULL; row = strchr(row + 1, ',')) {
        struct conv_process *process = &survey.processes[survey.process_count];
        char end[8] = "";
        process->name = names[survey.process_count++];
        CHECK(sscanf(row + (*row == ','), "%15s %" SCNu32 " %" SCNu32 " %" SCNu64 " %7[a-z]", process->name,
                     &process->process_id, &process->parent_process_id, &process->events, end) >= 4);
        process->ended = ends[strcmp(end, "exec") == 0];
    }
    return survey;
}

/* "4711 4712": the ids of the members, in their order. */
static const char *members_of(const struct conv_choice *choice)
{
    static char text[1024];
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < choice->count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%u", i > 0 ? " " : "",
                                 choice->members[i]->process_id);
    return text;
}

TEST(a_recording_is_about_the_program_that_was_meant)
{
    static const struct {
        const char *rows;
        uint32_t command;
        const char *members;
        uint64_t lead_events;
    } CASES[] = {
        /* A wrapper that executes a program is the program: pyenv's python3. bash made most calls, before it became python. */
        {"bash 10 1 40000 exec, env 10 1 300 exec, bash 11 10 30000, python3 10 1 6000", 0, "10", 6000},
        {"bash 10 1 40000 exec, env 10 1 300 exec, bash 11 10 30000, python3 10 1 6000", 10, "10", 6000},
        /* A server is its workers too. */
        {"nginx 10 1 3000, nginx 11 10 90000, nginx 12 10 80000", 10, "10 11 12", 90000},
        /* A subshell's few calls are none of a worker; what a worker executed is none either. */
        {"perl 10 1 100000, perl 11 10 999, perl 12 10 70000 exec, ls 12 10 300", 10, "10", 100000},
        /* A make is its compilers. */
        {"make 10 1 9000, gcc 11 10 2000, cc1 12 11 40000, as 13 11 5000, gcc 14 10 2000, cc1 15 14 50000, "
         "as 16 14 5000, collect2 17 1 60000",
         10, "12 15", 50000},
        /* A script is the program that it starts. Its subshells are of its name, but what it started made the calls. */
        {"bash 10 1 500, bash 11 10 400, server 12 10 80000", 10, "12", 80000},
        /* Half of all calls make it the command. */
        {"sh 10 1 500, ls 11 10 500", 10, "10", 500},
        {"sh 10 1 499, ls 11 10 500", 10, "11", 500},
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        struct conv_survey survey = survey_of_rows(CASES[i].rows, CASES[i].command);
        struct conv_choice choice;
        conv_group_default(&survey, false, &choice);
        CHECK_STR(members_of(&choice), CASES[i].members);
        CHECK_U64(choice.lead != NULL ? choice.lead->events : 0, CASES[i].lead_events);
        free(survey.processes);
    }
}

/* Before it is told, the command is the process whose parent was not recorded. */
TEST(an_older_recording_has_the_first_process)
{
    struct conv_survey survey = survey_of_rows("b 11 10 10, a 10 1 50, c 12 10 20", 0);
    struct conv_choice choice;
    survey.recording_state = CONV_RECORDING_ENDED_EARLY; /* by name: the order tells nothing */
    conv_group_default(&survey, false, &choice);
    CHECK_STR(members_of(&choice), "10");
    free(survey.processes);
}

TEST(what_cannot_be_converted_is_passed_over)
{
    struct conv_survey survey = survey_of_rows("a 10 1 50, b 11 10 900, b 12 10 800", 10);
    struct conv_choice choice;
    survey.processes[1].absent = true;
    conv_group_default(&survey, false, &choice);
    CHECK_STR(members_of(&choice), "12");
    survey.processes[2].missing = true;
    conv_group_default(&survey, false, &choice);
    CHECK_STR(members_of(&choice), "12"); /* to be told */
    conv_group_default(&survey, true, &choice);
    CHECK_STR(members_of(&choice), "10");
    survey.processes[0].removed = true;
    conv_group_default(&survey, true, &choice);
    CHECK_U64(choice.count, 0);
    free(survey.processes);
}

/* Those with most calls, in the order of the list; of equal ones the first. */
TEST(a_group_has_so_many_members_at_most)
{
    enum { COUNT = CONV_MEMBERS_MAX + 3 };
    char rows[COUNT * 32] = "";
    struct conv_choice choice;
    for (uint32_t i = 0; i < COUNT; i++)
        snprintf(rows + strlen(rows), 32, "%sworker %u 1 %u", i > 0 ? ", " : "", 100 + i,
                 i == 5 || i == 7 ? 1u : 1000u);
    struct conv_survey survey = survey_of_rows(rows, 0);
    conv_group_named(&survey, "worker", false, &choice);
    CHECK_U64(choice.count, CONV_MEMBERS_MAX);
    CHECK_U64(choice.left_out, 3);
    CHECK_U64(choice.members[0]->process_id, 100);
    CHECK_U64(choice.members[5]->process_id, 106);
    CHECK_U64(choice.members[CONV_MEMBERS_MAX - 1]->process_id, 100 + COUNT - 2);
    conv_group_named(&survey, "nobody", false, &choice);
    CHECK_U64(choice.count, 0);
    free(survey.processes);
}
