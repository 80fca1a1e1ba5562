/* test_convert_file.c - whole files: footprints in, workloads out; foreign ones; recording directories; the same input gives the same bytes. */
#include "convert/convert.h"
#include "convert/open/input.h"
#include "footprint/wl/workload.h"

#include "unit/append_block.h"
#include "unit/footprints.h"
#include "unit/readers.h"

TEST(report_survey_and_workload_agree)
{
    const char *fp = scratch_path("agree.fp"), *wl = scratch_path("agree.wl");
    OWNED(conv_report) report;
    OWNED(conv_survey) survey = {0}, workload = {0};
    make_footprint(fp, 4, 3, 4711, true);
    CHECK_U64(conv_detect(fp), CONV_KIND_FOOTPRINT);
    CHECK_U64(convert(fp, wl, NULL, &report), FP_OK);
    CHECK_U64(conv_detect(wl), CONV_KIND_WORKLOAD);
    CHECK_U64(conv_survey_file(fp, NULL, &survey, &error), FP_OK);
    CHECK_U64(conv_survey_file(wl, NULL, &workload, &error), FP_OK);
    check_same_survey(&report.survey, &survey);
    check_same_survey(&report.survey, &workload);
    CHECK_U64(survey.events, survey.ops); /* nothing irregular happened */
    CHECK(survey.events > 15000);
    CHECK_U64(survey.threads, 4);
    CHECK_U64(survey.process_id, 4711);
    CHECK_STR(survey.program, "made-up");
    CHECK_STR(workload.program, "made-up");
    CHECK(survey.complete && workload.complete);
}

/* Follow the ops of a workload along the history it came from. */
struct follower {
    const struct history *history;
    size_t *position;     /* by lane */
    uint64_t *address_of; /* by id */
    size_t wrong_call, wrong_size, wrong_object;
};

static const struct history_mark *next_mark(struct follower *follower, uint32_t lane)
{
    const struct history_lane *marks = &follower->history->lanes[lane];
    if (follower->position[lane] == marks->count)
        return NULL;
    return &marks->marks[follower->position[lane]++];
}

static void follow_op(struct follower *follower, uint32_t lane, const struct wl_op *op)
{
    const struct history_mark *mark = next_mark(follower, lane);
    uint64_t old_address = 0;
    if (mark != NULL && mark->shape.call == FP_MARK_RESIZE_FROM) {
        old_address = mark->address;
        mark = next_mark(follower, lane);
    }
    if (mark == NULL || mark->shape.call != op->call) {
        follower->wrong_call++;
        return;
    }
    if (op->call == FP_CALL_FREE)
        old_address = mark->address;
    else
        follower->wrong_size += op->size != mark->shape.size;
    if (old_address != 0)
        follower->wrong_object += follower->address_of[op->id] != old_address;
    follower->address_of[op->id] = op->call == FP_CALL_FREE ? 0 : mark->address;
}

/* Every thread's ops are its marks in their order, and each op is on the object that its address held. */
TEST(ops_are_the_recorded_calls_on_the_recorded_objects)
{
    const struct history_options options = {
        .threads = 4, .events = 6000, .objects = 120, .bump_every = 16, .bump_ns = 1000, .resize_share = 12};
    const char *fp = scratch_path("follow.fp"), *wl = scratch_path("follow.wl");
    struct follower follower = {0};
    OWNED(conv_report) report;
    struct wl_window window;
    OWNED(history) history;
    history_init(&history, options.threads, 21);
    history_simulate(&history, &options);
    history_cut(&history, 300);
    CHECK_U64(history_write(&history, fp, 50, true), FP_OK);
    CHECK_U64(convert(fp, wl, &(struct conv_options){.window_ops = 500}, &report), FP_OK);
    WL_READER *reader = wl_opened(wl);
    follower.history = &history;
    follower.position = calloc(options.threads, sizeof *follower.position);
    follower.address_of = calloc((size_t)report.survey.id_max + 1, sizeof *follower.address_of);
    while (wl_reader_next(reader, &window) == FP_OK) {
        const struct wl_op *op = window.ops;
        for (uint32_t run = 0; run < window.run_count; run++) {
            const struct wl_thread *thread = &wl_reader_summary(reader)->threads[window.runs[run].thread];
            for (uint32_t i = 0; i < window.runs[run].op_count; i++)
                follow_op(&follower, thread->thread_id - 50, op++);
        }
    }
    for (uint32_t lane = 0; lane < options.threads; lane++)
        CHECK_U64(follower.position[lane], history.lanes[lane].count);
    CHECK_U64(follower.wrong_call, 0);
    CHECK_U64(follower.wrong_size, 0);
    CHECK_U64(follower.wrong_object, 0);
    free(follower.position);
    free(follower.address_of);
}

TEST(outputs_are_not_overwritten_unasked)
{
    const char *fp = scratch_path("exists.fp"), *wl = scratch_path("exists.wl");
    const struct conv_options force = {.overwrite = true};
    struct conv_report report;
    make_footprint(fp, 1, 1, 1, true);
    scratch_write(wl, "mine", 4);
    CHECK_U64(convert(fp, wl, NULL, &report), FP_ERR_EXISTS);
    CHECK(error.output);
    CHECK_U64(conv_error_exit_code(&error), 1);
    CHECK_U64(convert(fp, wl, &force, &report), FP_OK);
    conv_report_release(&report);
    CHECK_U64(convert(fp, "/nonexistent/x.wl", NULL, &report), FP_ERR_OPEN);
    CHECK(error.output);
}

TEST(blocks_that_are_missing_are_told)
{
    const char *fp = scratch_path("missing.fp");
    const struct fp_writer_options options = {.process_id = 5};
    OWNED(conv_survey) survey = {0};
    struct fp_writer *writer = NULL;
    struct fp_mark mark = {.address = 0x1000};
    struct fp_shape shape = {.call = FP_CALL_MALLOC, .size = 8};
    struct fp_lane lane = {.thread_id = 5, .is_main = true, .marks = 2};
    struct fp_trailer trailer = {.end_time_ns = 6400, .lane_count = 1, .lanes = &lane};
    struct fp_block block = {.mark_count = 1, .shape_count = 1, .marks = &mark, .shapes = &shape};
    trailer.lost[FP_LOSS_RING_FULL] = 12;
    CHECK_U64(fp_writer_create(AT_FDCWD, fp, &options, NULL, 0, NULL, &writer), FP_OK);
    CHECK_U64(append_block(writer, &block), FP_OK);
    block.sequence = 3;
    mark.address = 0x2000;
    CHECK_U64(append_block(writer, &block), FP_OK);
    CHECK_U64(fp_writer_finish(writer, &trailer, NULL), FP_OK);
    CHECK_U64(conv_survey_file(fp, NULL, &survey, &error), FP_OK);
    CHECK_U64(survey.irregular[CONV_MISSING_BLOCKS], 2);
    CHECK_U64(survey.irregular[CONV_GAPS], 1);
    CHECK_U64(survey.lost[FP_LOSS_RING_FULL], 12);
    CHECK_U64(survey.duration_ns, 6400);
    CHECK(!survey.complete);
}

/* ---- recordings ---------------------------------------------------------------------------- */

static void make_recording(const char *directory, bool json)
{
    char path[600];
    static const char text[] =
        "{\"schema\": \"mallab-recording/1\", \"complete\": true, \"processes\": ["
        "{\"file\": \"sh.10.fp\", \"name\": \"sh\", \"pid\": 10, \"events\": 5, \"ended\": \"exit\"},"
        "{\"file\": \"work.11.fp\", \"name\": \"work\", \"pid\": 11, \"parent_pid\": 10, \"events\": 9}]}";
    CHECK(mkdir(directory, 0700) == 0);
    snprintf(path, sizeof path, "%s/sh.10.fp", directory);
    make_footprint(path, 1, 1, 10, true);
    snprintf(path, sizeof path, "%s/work.11.fp", directory);
    make_footprint(path, 2, 2, 11, true);
    snprintf(path, sizeof path, "%s/recording.json", directory);
    if (json)
        scratch_write(path, text, sizeof text - 1);
}

TEST(of_a_recording_the_busiest_process_is_converted)
{
    for (int json = 0; json < 2; json++) {
        const char *directory = scratch_path(json ? "with" : "without");
        const char *wl = scratch_path(json ? "with.wl" : "without.wl");
        struct conv_options options = {.overwrite = true};
        struct conv_report report;
        OWNED(conv_survey) survey = {0};
        make_recording(directory, json);
        CHECK_U64(conv_detect(directory), CONV_KIND_RECORDING);
        CHECK_U64(convert(directory, wl, &options, &report), FP_OK);
        CHECK_U64(report.survey.process_count, 2);
        CHECK_U64(report.survey.process_id, 11);
        CHECK(report.survey.processes[1].chosen && !report.survey.processes[0].chosen);
        CHECK_STR(report.survey.processes[0].name, json ? "sh" : "made-up");
        uint64_t events = report.survey.events;
        conv_report_release(&report);
        options.process_id = 10;
        CHECK_U64(convert(directory, wl, &options, &report), FP_OK);
        CHECK_U64(report.survey.process_id, 10);
        events += report.survey.events;
        conv_report_release(&report);
        options.process_id = 12;
        CHECK_U64(convert(directory, wl, &options, &report), FP_ERR_ARGUMENT);
        CHECK_U64(conv_survey_file(directory, NULL, &survey, &error), FP_OK);
        CHECK_U64(survey.events, events);
        CHECK_U64(survey.threads, 3);
        CHECK(survey.complete == (json == 1));
    }
}

TEST(hostile_recordings_are_refused)
{
    static const char *const bad[] = {
        "",
        "[1, 2",
        "{\"schema\": \"other/1\", \"processes\": []}",
        "{\"schema\": \"mallab-recording/2\", \"processes\": []}",
        "{\"schema\": \"mallab-recording/1\"}",
        "{\"schema\": \"mallab-recording/1\", \"processes\": []}",
        "{\"schema\": \"mallab-recording/1\", \"processes\": [{\"file\": \"../with/sh.10.fp\"}]}",
        "{\"schema\": \"mallab-recording/1\", \"processes\": [{\"file\": 3}]}",
        "{\"schema\": \"mallab-recording/1\", \"processes\": [7]}",
        "{\"schema\": \"mallab-recording/1\", \"processes\": [{\"file\": \"absent.fp\"}]}",
    };
    const char *directory = scratch_path("hostile");
    const struct conv_options options = {.from = "recording"};
    char path[600];
    CHECK(mkdir(directory, 0700) == 0);
    snprintf(path, sizeof path, "%s/recording.json", directory);
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct conv_survey survey = {0};
        scratch_write(path, bad[i], strlen(bad[i]));
        CHECK(conv_survey_file(directory, &options, &survey, &error) != FP_OK);
        CHECK_U64(conv_error_exit_code(&error), 3);
        CHECK(error.what[0] != '\0');
    }
}

TEST(other_kinds_are_told_apart)
{
    const char *wl = scratch_path("agree.wl"), *json = scratch_path("result.json"),
               *empty = scratch_path("nothing");
    const struct conv_options odd = {.from = "svg"};
    struct conv_report report;
    static const char result[] = "  {\"schema\": \"mallab-result/1\"}";
    scratch_write(json, result, sizeof result - 1);
    CHECK_U64(conv_detect(json), CONV_KIND_RESULT);
    CHECK_U64(conv_detect(empty), CONV_KIND_UNKNOWN);
    CHECK_U64(convert(json, scratch_path("x.wl"), NULL, &report), FP_ERR_FOREIGN);
    CHECK_U64(convert(wl, scratch_path("x.wl"), &odd, &report), FP_ERR_ARGUMENT);
    CHECK(mkdir(empty, 0700) == 0);
    CHECK_U64(convert(empty, scratch_path("x.wl"), NULL, &report), FP_ERR_READ);
    CHECK(strstr(error.what, "is no recording") != NULL);
    CHECK(access(scratch_path("x.wl"), F_OK) != 0);
}

TEST(a_footprint_is_of_the_process_asked_for)
{
    const char *path = scratch_path("own.fp"), *wl = scratch_path("own.wl");
    struct conv_options options = {.overwrite = true, .process_id = 8};
    OWNED(conv_report) report;
    make_footprint(path, 1, 3, 7, true);
    CHECK_U64(convert(path, wl, &options, &report), FP_ERR_ARGUMENT);
    CHECK(strstr(error.what, "process 7, not of 8") != NULL && conv_error_exit_code(&error) == 2);
    options.process_id = 7;
    CHECK_U64(convert(path, wl, &options, &report), FP_OK);
}
