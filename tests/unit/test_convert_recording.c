/* test_convert_recording.c - recordings that are not finished: written to now, left by a killed collector, copied,
 * with a damaged recording.json, with odd files among the footprints. */
#include "convert/recording/recording.h"
#include "footprint/base/proc.h"
#include "footprint/base/words.h"

#include <sys/wait.h>

#include "unit/growing.h"
#include "unit/recordings.h"

/* What a collector says of itself. */
struct collector {
    long pid;
    unsigned long long start_ticks, pid_namespace, inode;
    char boot_id[FP_BOOT_BYTES];
};

static unsigned long long start_ticks_of(pid_t pid)
{
    struct fp_proc_stat facts = {0};
    CHECK(fp_proc_stat(pid, &facts));
    return facts.start_ticks;
}

/* This process as the collector. */
static struct collector myself(const char *directory)
{
    struct collector collector = {.pid = getpid(), .start_ticks = start_ticks_of(getpid())};
    struct stat facts;
    CHECK(*fp_proc_boot(collector.boot_id) != '\0');
    CHECK(stat("/proc/self/ns/pid", &facts) == 0);
    collector.pid_namespace = facts.st_ino;
    CHECK(stat(directory, &facts) == 0);
    collector.inode = facts.st_ino;
    return collector;
}

static void write_unfinished(const char *directory, const struct collector *collector)
{
    char text[1024];
    snprintf(text, sizeof text,
             "{\"schema\": \"mallab-recording/1\", \"started_unix_ns\": 5, \"complete\": false,"
             " \"segment_path\": \"/dev/shm/none\", \"collector\": {\"pid\": %ld, \"start_ticks\": %llu,"
             " \"boot_id\": \"%s\", \"pid_namespace\": %llu, \"directory_inode\": %llu}, \"processes\": []}",
             collector->pid, collector->start_ticks, collector->boot_id, collector->pid_namespace,
             collector->inode);
    write_json(directory, text);
}

/* ---- what became of the collector ------------------------------------------------------------- */

static void check_state(const char *directory, const struct collector *collector,
                        enum conv_recording_state state, const char *why)
{
    OWNED(conv_survey) survey;
    write_unfinished(directory, collector);
    survey = survey_of(directory);
    CHECK_U64(survey.recording_state, state);
    CHECK_U64(survey.collector_pid, (uint64_t)collector->pid);
    CHECK(!survey.complete);
    CHECK_STR(survey.incomplete_why, why);
    CHECK_U64(survey.process_count, 1);
    CHECK(survey.events > 500);
}

TEST(a_collector_is_told_from_others)
{
    static const char ended[] = "its collector ended before it had finished";
    const char *directory = new_directory();
    const struct collector me = myself(directory);
    char why[128];
    siginfo_t info;
    add_footprint(directory, "a.1.fp", 1, 1000, false);
    snprintf(why, sizeof why, "it is still being recorded (collector %ld)", me.pid);
    check_state(directory, &me, CONV_RECORDING_GOING_ON, why);
    struct collector other = me;
    other.start_ticks++; /* the process id, used again */
    check_state(directory, &other, CONV_RECORDING_ENDED_EARLY, ended);
    other = me;
    other.boot_id[0] ^= 1;
    check_state(directory, &other, CONV_RECORDING_ENDED_EARLY, ended);
    other = me;
    other.inode++;
    check_state(directory, &other, CONV_RECORDING_COPIED, "it was copied before its collector had finished");
    other = me;
    other.pid_namespace++;
    check_state(directory, &other, CONV_RECORDING_OUT_OF_SIGHT,
                "its collector had not finished, and cannot be seen from here (another pid namespace)");
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    CHECK(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) == 0);
    other = me;
    other.pid = child;
    other.start_ticks = start_ticks_of(child);
    check_state(directory, &other, CONV_RECORDING_ENDED_EARLY, ended); /* dead, and not waited for */
    CHECK(waitpid(child, NULL, 0) == child);
    check_state(directory, &other, CONV_RECORDING_ENDED_EARLY, ended);
}

TEST(an_unfinished_json_need_not_name_its_collector)
{
    static const char *const texts[] = {
        "{\"schema\": \"mallab-recording/1\", \"segment_path\": \"/dev/shm/x\", \"processes\": []}",
        "{\"schema\": \"mallab-recording/1\", \"collector\": 7}",
        "{\"schema\": \"mallab-recording/1\", \"collector\": [{}], \"processes\": [{\"file\": \"/etc/x\"}]}",
    };
    const char *directory = new_directory();
    add_footprint(directory, "a.1.fp", 1, 1000, true);
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        OWNED(conv_survey) survey;
        write_json(directory, texts[i]);
        survey = survey_of(directory);
        CHECK_U64(survey.recording_state, CONV_RECORDING_UNKNOWN);
        CHECK_STR(survey.incomplete_why, "its collector had not finished");
    }
    write_json(directory,
               "{\"schema\": \"mallab-recording/1\", \"collector\": {\"pid\": -1, \"boot_id\": 3}}");
    {
        OWNED(conv_survey) survey = survey_of(directory);
        CHECK_U64(survey.recording_state, CONV_RECORDING_ENDED_EARLY);
    }
}

/* ---- which footprints ------------------------------------------------------------------------- */

TEST(every_footprint_is_taken_in_the_order_of_names)
{
    static const char *const order[] = {"B.3.fp", "a.1.2.fp", "a.1.fp"};
    const uint32_t alive = (uint32_t)getpid(); /* of another number there need not be a process */
    const char *directory = new_directory(), *elsewhere = scratch_path("elsewhere.fp"), *wl;
    const struct collector me = myself(directory);
    const struct conv_options options = {.overwrite = true};
    OWNED(conv_report) report = {0};
    char real[600];
    add_footprint(directory, "a.1.fp", 1, 1000, true);
    add_footprint(directory, "a.1.2.fp", alive, 3000, false);
    add_footprint(directory, "B.3.fp", 3, 500, false);
    add_footprint(directory, "../elsewhere.fp", 4, 400, true);
    CHECK(realpath(elsewhere, real) != NULL);
    CHECK(symlink(real, in(directory, "link.fp")) == 0); /* not followed */
    scratch_write(in(directory, ".hidden.fp"), "x", 1);
    scratch_write(in(directory, "other.txt"), "x", 1);
    write_unfinished(directory, &me);
    struct conv_survey survey = survey_of(directory);
    CHECK_U64(survey.process_count, COUNT_OF(order));
    for (size_t i = 0; i < survey.process_count; i++)
        CHECK_STR(survey.processes[i].file, order[i]);
    CHECK_STR(survey.processes[1].ended, "running");
    CHECK(survey.processes[2].complete && !survey.processes[1].complete);
    CHECK_U64(survey.start_unix_ns, 5);
    conv_survey_release(&survey);
    wl = scratch_path("order.wl");
    CHECK_U64(conv_file(directory, wl, &options, &report, &error), FP_OK);
    CHECK_U64(report.survey.process_id, alive); /* the busiest */
    CHECK(!report.survey.complete);
    CHECK_STR(report.survey.incomplete_why, report.survey.unfinished_why);
    CHECK(strstr(report.survey.incomplete_why, "left out: 'link.fp' (is a symbolic link)") != NULL);
}

TEST(what_is_no_footprint_is_passed_over_and_named)
{
    const char *directory = new_directory();
    const struct collector me = myself(directory);
    char foreign[100];
    OWNED(conv_survey) survey;
    memset(foreign, 'x', sizeof foreign);
    add_footprint(directory, "a.1.fp", 1, 1000, true);
    scratch_write(in(directory, "empty.fp"), "", 0);
    scratch_write(in(directory, "short.fp"), "MALLABFP", 8);
    scratch_write(in(directory, "foreign.fp"), foreign, sizeof foreign);
    CHECK(mkdir(in(directory, "directory.fp"), 0700) == 0);
    CHECK(mkfifo(in(directory, "fifo.fp"), 0600) == 0);
    CHECK(symlink("nowhere", in(directory, "broken.fp")) == 0);
    write_unfinished(directory, &me);
    survey = survey_of(directory);
    CHECK_U64(survey.process_count, 1);
    CHECK(strstr(survey.incomplete_why, "2 footprints hold nothing yet") != NULL);
    CHECK(strstr(survey.incomplete_why, "left out: 'broken.fp'") != NULL);
    CHECK(strstr(survey.incomplete_why, "and others") != NULL);
}

TEST(a_pipe_among_listed_footprints_keeps_nobody_waiting)
{
    const char *directory = new_directory();
    struct conv_survey survey = {0};
    CHECK(mkfifo(in(directory, "fifo.fp"), 0600) == 0);
    write_json(directory, "{\"schema\": \"mallab-recording/1\", \"complete\": true, \"processes\": ["
                          "{\"file\": \"fifo.fp\", \"name\": \"a\", \"pid\": 1}]}");
    CHECK(conv_survey_file(directory, NULL, &survey, &error) == FP_ERR_FOREIGN);
    CHECK(unlink(in(directory, "recording.json")) == 0);
    CHECK(mkfifo(in(directory, "recording.json"), 0600) == 0);
    CHECK(conv_survey_file(directory, NULL, &survey, &error) == FP_ERR_FOREIGN);
}

/* ---- nothing there ------------------------------------------------------------------------------ */

static void check_refused(const char *directory, const char *words)
{
    struct conv_survey survey = {0};
    const struct conv_options options = {.from = "recording"};
    CHECK(conv_survey_file(directory, &options, &survey, &error) != FP_OK);
    CHECK_U64(conv_error_exit_code(&error), 3);
    if (strstr(error.what, words) == NULL)
        CHECK_STR(error.what, words);
}

TEST(nothing_written_is_said_so)
{
    const char *directory = new_directory();
    const struct collector me = myself(directory);
    struct collector dead = me;
    struct conv_report report = {0};
    OWNED(conv_survey) survey;
    char words[100];
    dead.start_ticks++;
    snprintf(words, sizeof words, "nothing is written yet: it is still being recorded (collector %ld)",
             me.pid);
    for (int empty_file = 0; empty_file < 2; empty_file++) {
        if (empty_file)
            scratch_write(in(directory, "a.1.fp"), "", 0);
        write_unfinished(directory, &me);
        check_refused(directory, words);
        write_unfinished(directory, &dead);
        check_refused(directory, "nothing was written: its collector ended before it had finished");
    }
    /* A header and no event: who runs is known, and there is nothing to convert. */
    CHECK(unlink(in(directory, "a.1.fp")) == 0);
    add_footprint(directory, "a.1.fp", 1, 0, false);
    write_unfinished(directory, &me);
    survey = survey_of(directory);
    CHECK_U64(survey.events, 0);
    CHECK_U64(survey.process_count, 1);
    CHECK(strstr(survey.incomplete_why, "; nothing is written yet") != NULL);
    CHECK_U64(conv_file(directory, scratch_path("none.wl"), NULL, &report, &error), FP_ERR_READ);
    CHECK(strstr(error.what, "nothing is written yet: it is still being recorded") != NULL);
    CHECK(access(scratch_path("none.wl"), F_OK) != 0);
}

/* ---- damage ------------------------------------------------------------------------------------- */

TEST(a_json_cut_anywhere_is_made_up_for)
{
    static const char text[] =
        "{\"schema\": \"mallab-recording/1\", \"complete\": true, \"processes\": ["
        "{\"file\": \"a.1.fp\", \"name\": \"a\", \"pid\": 1, \"events\": 1000, \"ended\": \"exit\"}]}";
    const char *directory = new_directory();
    add_footprint(directory, "a.1.fp", 1, 1000, true);
    write_json(directory, text);
    struct conv_survey survey = survey_of(directory);
    CHECK(survey.complete);
    CHECK_U64(survey.recording_state, CONV_RECORDING_FINISHED);
    uint64_t events = survey.events;
    conv_survey_release(&survey);
    for (size_t length = 0; length < sizeof text - 1; length++) {
        scratch_write(in(directory, "recording.json"), text, length);
        survey = survey_of(directory);
        CHECK(!survey.complete);
        CHECK_U64(survey.recording_state, CONV_RECORDING_UNKNOWN);
        CHECK(strstr(survey.incomplete_why, "its recording.json is damaged (not JSON") != NULL);
        CHECK_U64(survey.process_count, 1);
        CHECK_U64(survey.events, events);
        conv_survey_release(&survey);
    }
    write_json(directory, "{\"schema\": \"mallab-recording/1\", \"complete\": true, \"processes\": []}");
    survey = survey_of(directory);
    CHECK_STR(survey.incomplete_why, "its recording.json lists no process");
    conv_survey_release(&survey);
    CHECK(unlink(in(directory, "recording.json")) == 0);
    survey = survey_of(directory);
    CHECK_STR(survey.incomplete_why, "it has no recording.json");
    conv_survey_release(&survey);
    /* Newer or foreign is no damage. */
    write_json(directory, "{\"schema\": \"mallab-recording/2\", \"processes\": []}");
    check_refused(directory, "this mallab reads");
    write_json(directory, "{\"schema\": \"other/1\", \"processes\": []}");
    check_refused(directory, "not a mallab recording");
}

/* The header comes directly after we found that there is none: it is still so that nothing was written when we looked. */
TEST(a_header_may_come_right_after_it_was_looked_for)
{
    const char *directory = new_directory();
    const struct collector me = myself(directory);
    struct conv_survey survey;
    size_t size;
    add_footprint(directory, "../late.fp", 7, 1000, true);
    OWNED_TEXT *bytes = scratch_read(in(directory, "../late.fp"), &size);
    write_unfinished(directory, &me);
    for (size_t begun = 0; begun < 64; begun++) {
        growing_begin(in(directory, "a.7.fp"), bytes, size, begun);
        check_refused(directory, "nothing is written yet: it is still being recorded");
        CHECK(!growing.waits);
        survey = survey_of(directory);
        CHECK_U64(survey.process_count, 1);
        CHECK(survey.events > 500);
        CHECK(strstr(survey.incomplete_why, "left out") == NULL);
        conv_survey_release(&survey);
    }
}

TEST(a_name_tells_the_window)
{
    static const struct {
        const char *name, *stem;
        uint32_t window;
    } cases[] = {
        {"nginx.123.fp", "nginx.123", 0},
        {"nginx.123.w0001.fp", "nginx.123", 1},
        {"nginx.123.w123456.fp", "nginx.123", 123456},
        {"nginx.123.w001.fp", "nginx.123.w001", 0}, /* too few digits to be ours */
        {"nginx.123.w1234567890.fp", "nginx.123.w1234567890", 0},
        {"nginx.123.x0001.fp", "nginx.123.x0001", 0},
        {"nginx.1234.fp", "nginx.1234", 0},
        {".w0001.fp", NULL, 0},
        {"w0001.fp", "w0001", 0},
        {"x.w0001.w0002.fp", "x.w0001", 2},
        {"recording.json", NULL, 0},
        {".fp", NULL, 0},
        {"", NULL, 0},
    };
    char stem[CONV_STEM_BYTES], longest[CONV_STEM_BYTES + 4];
    uint32_t window;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CHECK_U64(fp_part_name(cases[i].name, CONV_STEM_BYTES, stem, &window), cases[i].stem != NULL);
        if (cases[i].stem == NULL)
            continue;
        CHECK_STR(stem, cases[i].stem);
        CHECK_U64(window, cases[i].window);
    }
    memset(longest, 'a', sizeof longest);
    memcpy(longest + sizeof longest - 4, ".fp", 4);
    CHECK(!fp_part_name(longest, CONV_STEM_BYTES, stem, &window));
}

/* A recorded process may say that it is called anything. */
TEST(a_name_is_a_files_whatever_it_is)
{
    static const struct {
        const char *name, *stem;
    } cases[] = {
        {"python3", "python3"}, {"../../etc/cron.d/x", "_._.._etc_cron.d_x"},
        {"..", "_."},           {"/", "_"},
        {"a/b", "a_b"},         {"-rf", "_rf"},
        {".hidden", "_hidden"}, {"line\nbreak\177", "line_break_"},
        {"", "process"},        {"\303\251", "\303\251"},
        {"caf\351", "caf_"},    {"\303/\200", "___"},
    };
    char stem[16], unterminated[4] = {'a', '/', 'b', 'c'};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char long_enough[32];
        fp_part_stem(cases[i].name, strlen(cases[i].name) + 1, long_enough, sizeof long_enough);
        CHECK_STR(long_enough, cases[i].stem);
    }
    fp_part_stem(unterminated, sizeof unterminated, stem, sizeof stem);
    CHECK_STR(stem, "a_bc");
    fp_part_stem("0123456789abcdefghij", 21, stem, sizeof stem);
    CHECK_STR(stem, "0123456789abcde");
}
