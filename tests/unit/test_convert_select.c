/* test_convert_select.c - the filters between order and pairing, on events made by hand and on simulated programs:
 * objects that change hands between threads, reallocs across a section's beginning, samples against a plain model. */
#include <unistd.h>

#include "convert/open/pass.h"
#include "convert/select/list.h"
#include "convert/select/sample.h"
#include "convert/select/selection_plan.h"
#include "unit/harness.h"
#include "unit/history.h"
#include "unit/scratch.h"
#include "unit/spell.h"

/* ---- an input of events made by hand ------------------------------------------------------- */

static struct conv_event events[4096];
static size_t event_count, batch_size;
static struct conv_error error;
static struct conv_report report;

static void begin(void)
{
    event_count = 0;
    batch_size = 3; /* so that batches end in the middle of things */
}

/* The next event, 10 ns after the one before. */
static void add(uint32_t lane, unsigned call, uint64_t address, uint64_t old_address, uint64_t size)
{
    events[event_count] = (struct conv_event){.time_ns = event_count * 10,
                                              .address = address,
                                              .old_address = old_address,
                                              .size = size,
                                              .lane = lane,
                                              .call = (uint8_t)call};
    event_count++;
}

static void allocate(uint32_t lane, uint64_t address, uint64_t size)
{
    add(lane, FP_CALL_MALLOC, address, 0, size);
}

static void release(uint32_t lane, uint64_t address)
{
    add(lane, FP_CALL_FREE, address, 0, 0);
}

static void resize_from(uint32_t lane, uint64_t address)
{
    add(lane, FP_MARK_RESIZE_FROM, address, 0, 0);
}

static void resized(uint32_t lane, uint64_t address, uint64_t old_address, uint64_t size)
{
    add(lane, FP_CALL_REALLOC, address, old_address, size);
}

static void name_lane(void *data, uint32_t lane, uint32_t *ret_thread_id, bool *ret_is_main)
{
    (void)data;
    *ret_thread_id = 100 + lane;
    *ret_is_main = lane == 0;
}

static enum fp_status run(void *data, const struct conv_sink *sink, struct conv_survey *survey,
                          struct conv_error *ret_error)
{
    enum fp_status status = FP_OK;
    (void)data;
    (void)survey;
    (void)ret_error;
    for (size_t i = 0; i < event_count && status == FP_OK; i += batch_size)
        status = sink->events(sink->data, events + i,
                              event_count - i < batch_size ? event_count - i : batch_size);
    return status;
}

static void conclude(void *data, uint64_t gap_calls, struct conv_survey *survey)
{
    (void)data;
    (void)gap_calls;
    survey->complete = true;
    survey->duration_ns = event_count * 10;
}

static const struct conv_input INPUT = {
    .namer = {.name = name_lane}, .source = "test", .run = run, .conclude = conclude};

/* Convert what was added; the ops as text, "" when it failed. */
static const char *convert(const struct conv_selection *select)
{
    const struct wl_writer_options writer_options = {0};
    struct conv_options options = {.select = *select};
    const char *path = scratch_path("select.wl");
    struct wl_writer *writer = NULL;
    struct conv_survey *survey = &report.survey;
    enum fp_status status;
    memset(&report, 0, sizeof report);
    memset(&error, 0, sizeof error);
    status = conv_plan_settle("made up", INPUT.end_ns, &options, survey, &error);
    if (status != FP_OK)
        return "";
    CHECK_U64(wl_writer_create(path, true, &writer_options, NULL, 0, NULL, &writer), FP_OK);
    status = conv_pass_run(&INPUT, &options, writer, survey, &error);
    if (status != FP_OK) {
        wl_writer_abandon(writer);
        return "";
    }
    CHECK_U64(conv_plan_write(writer, &survey->selected), FP_OK);
    CHECK_U64(wl_writer_finish(writer, survey->duration_ns, NULL, NULL, NULL), FP_OK);
    return spell_ops(path);
}

static const char *convert_threads(const char *threads)
{
    const struct conv_selection select = {.threads = threads};
    return convert(&select);
}

static const char *convert_section(uint64_t from_ns, uint64_t to_ns)
{
    const struct conv_selection select = {
        .from = {.kind = from_ns > 0 ? CONV_WHEN_TIME : CONV_WHEN_NONE, .value = from_ns},
        .to = {.kind = to_ns > 0 ? CONV_WHEN_TIME : CONV_WHEN_NONE, .value = to_ns}};
    return convert(&select);
}

static uint64_t irregular(enum conv_irregularity which)
{
    return report.survey.irregular[which];
}

/* ---- threads ------------------------------------------------------------------------------- */

TEST(a_thread_makes_its_own_calls)
{
    begin();
    allocate(0, 0x1000, 100);
    allocate(1, 0x2000, 200);
    release(0, 0x1000);
    release(1, 0x2000);
    CHECK_STR(convert_threads("101"), "m1:200 f1");
    CHECK_STR(convert_threads("main"), "m1:100 f1");
    CHECK_STR(convert_threads("main,101"), "m1:100 m2:200@1 f1 f2@1");
    CHECK_STR(convert_threads("99-101"), "m1:100 m2:200@1 f1 f2@1");
    CHECK_STR(convert_threads("all"), "m1:100 m2:200@1 f1 f2@1");
}

TEST(releases_of_what_others_made_are_left_out)
{
    begin();
    allocate(0, 0x1000, 100);
    allocate(1, 0x2000, 200);
    release(1, 0x1000);
    release(0, 0x2000);
    CHECK_STR(convert_threads("101"), "m1:200 f1");
    CHECK_U64(irregular(CONV_FOREIGN_CALLS), 1);
    CHECK_U64(irregular(CONV_RELEASED_BY_OTHERS), 1);
    CHECK_U64(irregular(CONV_FREE_OF_UNKNOWN), 0);
    CHECK_U64(report.survey.live_bytes_end, 0);
    CHECK_U64(report.survey.events,
              1); /* the release that stands for another thread's is an op, but no event */
}

TEST(a_resized_object_belongs_to_who_resized_it)
{
    begin();
    allocate(0, 0x1000, 100);
    resize_from(1, 0x1000);
    resized(1, 0x3000, 0x1000, 300);
    release(0, 0x3000);
    CHECK_STR(convert_threads("101"), "R1:300 f1");
    CHECK_U64(irregular(CONV_FOREIGN_RESIZES), 1);
    CHECK_U64(irregular(CONV_RELEASED_BY_OTHERS), 1);
    CHECK_STR(convert_threads("100"), "m1:100 f1");
    CHECK_U64(irregular(CONV_RELEASED_BY_OTHERS), 1);
    CHECK_U64(irregular(CONV_FOREIGN_CALLS), 1);
}

TEST(an_address_that_passes_between_threads_is_never_held_twice)
{
    begin();
    allocate(1, 0x1000, 10);
    resize_from(0, 0x1000); /* from here on the address is free for others */
    allocate(1, 0x1000, 20);
    resized(0, 0x2000, 0x1000, 30);
    allocate(0, 0x3000, 40);
    release(1, 0x1000);
    CHECK_STR(convert_threads("101"), "m1:10 f1 m1:20 f1");
    CHECK_U64(irregular(CONV_LOST_FREE), 0);
}

TEST(where_the_owner_has_ended_who_called_last_releases)
{
    begin();
    allocate(1, 0x1000, 10);
    add(1, FP_MARK_THREAD_EXIT, 0, 0, 0);
    allocate(2, 0x2000, 20);
    release(0, 0x1000);
    CHECK_STR(convert_threads("101,102"), "m1:10 m2:20@1 f1@1");
    CHECK_U64(irregular(CONV_RELEASED_BY_OTHERS), 1);
}

TEST(a_lost_release_over_the_border_is_counted)
{
    begin();
    allocate(1, 0x1000, 10);
    allocate(0, 0x1000, 20);
    release(1, 0x1000);
    CHECK_STR(convert_threads("101"), "m1:10 f1");
    CHECK_U64(irregular(CONV_LOST_FREE), 1);
    CHECK_U64(irregular(CONV_FOREIGN_CALLS), 1);
}

TEST(failed_resizes_of_foreign_objects_leave_them)
{
    begin();
    allocate(0, 0x1000, 10);
    resize_from(1, 0x1000);
    resized(1, 0, 0x1000, 1000);
    release(0, 0x1000);
    allocate(1, 0x2000, 5);
    CHECK_STR(convert_threads("101"), "m1:5");
    CHECK_U64(irregular(CONV_FOREIGN_CALLS), 1);
    CHECK_U64(irregular(CONV_FOREIGN_RESIZES), 0);
}

TEST(a_thread_that_is_not_there)
{
    begin();
    allocate(0, 0x1000, 10);
    allocate(1, 0x2000, 10);
    CHECK_STR(convert_threads("101,200"), "");
    CHECK_STR(error.what, "there is no thread 200, only 100 (main), 101");
    CHECK_U64(conv_error_exit_code(&error), 2);
    CHECK_STR(convert_threads("7-9"), "");
    CHECK_STR(error.what, "there is no thread 7-9, only 100 (main), 101");
}

TEST(lists_of_threads)
{
    static const char *const wrong[] = {"",    ",",     "1,",         "x",     "1-", "-1",
                                        "2-1", "1-2-3", "4294967296", "main1", "1 "};
    struct conv_list list;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        CHECK(conv_threads_check(wrong[i]) != NULL);
    CHECK(conv_list_parse("5,10-12,main", &list) == NULL);
    CHECK_U64(list.count, 3);
    CHECK(conv_list_takes(&list, 5, false) && conv_list_takes(&list, 12, false) &&
          conv_list_takes(&list, 1, true));
    CHECK(!conv_list_takes(&list, 6, false) && !conv_list_takes(&list, 13, false));
    conv_list_release(&list);
    CHECK(conv_list_parse("1,all", &list) == NULL);
    CHECK_U64(list.count, 0);
    conv_list_release(&list);
}

/* ---- sections ------------------------------------------------------------------------------ */

TEST(what_is_alive_is_created_first_in_its_order)
{
    begin();
    allocate(1, 0x1000, 1);
    allocate(0, 0x2000, 2);
    release(1, 0x1000);
    allocate(1, 0x1000, 3);
    allocate(1, 0x3000, 4); /* at 40 ns */
    release(0, 0x2000);
    CHECK_STR(convert_section(40, 0), "m1:2 m2:3 m3:4@1 f1");
    CHECK_U64(report.survey.inherited_objects, 2);
    CHECK_U64(report.survey.inherited_bytes, 5);
    CHECK_U64(report.survey.events, 2);
    CHECK_U64(report.survey.duration_ns, 20);
    CHECK_STR(convert_section(0, 40), "m1:1 m2:2@1 f1 m1:3");
    CHECK_U64(report.survey.duration_ns, 40);
}

TEST(sections_of_other_threads_objects_create_them_there)
{
    const struct conv_selection select = {.threads = "101,102",
                                          .from = {.kind = CONV_WHEN_TIME, .value = 30}};
    begin();
    allocate(1, 0x1000, 1);
    allocate(2, 0x2000, 2);
    allocate(0, 0x3000, 3);
    release(2, 0x1000);
    CHECK_STR(convert(&select), "m1:1 m2:2@1 f1@1");
}

TEST(reallocs_under_way_where_a_section_begins)
{
    begin();
    allocate(0, 0x1000, 1);
    resize_from(1, 0x1000);
    allocate(0, 0x1000, 2); /* at the address that the resize gave up */
    resized(1, 0x2000, 0x1000, 3);
    release(0, 0x1000);
    release(0, 0x2000);
    CHECK_STR(convert_section(30, 0), "m1:1 m2:2 r1:3@1 f2 f1");
    for (unsigned i = 0; i < CONV_IRREGULARITY_COUNT; i++)
        CHECK_U64(irregular(i), 0);
    CHECK_STR(convert_section(0, 30), "m1:1 m2:2"); /* and the resize never happened */
    CHECK_U64(report.survey.live_bytes_end, 3);
}

TEST(a_failed_realloc_before_a_section)
{
    begin();
    allocate(0, 0x1000, 7);
    resize_from(0, 0x1000);
    resized(0, 0, 0x1000, 1000);
    resize_from(0, 0x1000);
    resized(0, 0x4000, 0x1000, 9);
    allocate(0, 0x5000, 1);
    CHECK_STR(convert_section(30, 0), "m1:7 r1:9 m2:1");
    CHECK_STR(convert_section(50, 0), "m1:9 m2:1");
}

TEST(threads_that_ended_before_are_not_there)
{
    begin();
    allocate(1, 0x1000, 7);
    allocate(0, 0x2000, 7);
    add(1, FP_MARK_THREAD_EXIT, 0, 0, 0);
    add(1, CONV_MARK_LANE_END, 0, 0, 0);
    release(0, 0x1000);
    CHECK_STR(convert_section(20, 0), "m1:7 m2:7 f1");
    CHECK_U64(report.survey.threads, 1);
}

TEST(empty_and_backward_sections_are_refused)
{
    begin();
    allocate(0, 0x1000, 7);
    CHECK_STR(convert_section(50, 60), "");
    CHECK_U64(error.cause.status, FP_ERR_ARGUMENT);
    CHECK(strstr(error.what, "0.00000005 s to 0.00000006 s") != NULL);
    CHECK_STR(convert_section(60, 50), "");
    CHECK_STR(error.what, "the section ends before it begins");
}

/* ---- head ---------------------------------------------------------------------------------- */

TEST(head_counts_calls_of_all_threads)
{
    const struct conv_selection select = {.head = 3}, more = {.head = 100};
    begin();
    allocate(0, 0x1000, 1);
    resize_from(0, 0x1000); /* no call */
    resized(0, 0x2000, 0x1000, 2);
    allocate(1, 0x3000, 3);
    release(0, 0x2000);
    CHECK_STR(convert(&select), "m1:1 r1:2 m2:3@1");
    CHECK_U64(report.survey.duration_ns, 30);
    CHECK_STR(report.survey.selected.text, "first 3 calls");
    CHECK_STR(convert(&more), "m1:1 r1:2 m2:3@1 f1");
    CHECK_U64(report.survey.duration_ns, 50);
}

/* ---- samples ------------------------------------------------------------------------------- */

/* Every object of a simulated program is followed by a plain table: the sample must be its calls and no others. */
TEST(a_sample_is_all_calls_on_the_chosen)
{
    enum { ADDRESSES = 64 };
    struct history random = {.random = 88172645463325252u};
    uint64_t number_at[ADDRESSES] = {0}, numbers = 0, kept = 0, live[ADDRESSES] = {0}, live_all = 0,
             peak_all = 0;
    const struct conv_selection select = {.sample_part = 1, .sample_of = 3};
    begin();
    while (event_count + 2 < sizeof events / sizeof events[0]) {
        const uint64_t at = history_random(&random) % ADDRESSES, to = history_random(&random) % ADDRESSES;
        const uint64_t size = 1 + history_random(&random) % 1000;
        if (number_at[at] == 0) {
            number_at[at] = ++numbers;
            kept += conv_sample_chooses(1, 3, numbers);
            allocate(0, 0x1000 + at * 16, size);
            live_all += live[at] = size;
        } else if (number_at[to] == 0) {
            resize_from(0, 0x1000 + at * 16);
            resized(0, 0x1000 + to * 16, 0x1000 + at * 16, size);
            kept += conv_sample_chooses(1, 3, number_at[at]);
            number_at[to] = number_at[at];
            number_at[at] = 0;
            live_all += size - live[at];
            live[to] = size;
        } else {
            release(0, 0x1000 + at * 16);
            kept += conv_sample_chooses(1, 3, number_at[at]);
            number_at[at] = 0;
            live_all -= live[at];
        }
        if (live_all > peak_all)
            peak_all = live_all;
    }
    CHECK(convert(&select)[0] != '\0');
    CHECK_U64(report.survey.events, kept);
    CHECK_U64(report.survey.ops, kept);
    CHECK(kept > 0 && kept < event_count / 2);
    CHECK_U64(report.survey.selected.all_live_bytes_peak, peak_all);
    for (unsigned i = 0; i < CONV_IRREGULARITY_COUNT; i++)
        CHECK_U64(irregular(i), 0);
}

TEST(smaller_samples_are_part_of_larger_ones)
{
    uint64_t eighth = 0, quarter = 0;
    for (uint64_t number = 1; number <= 80000; number++) {
        const bool in_eighth = conv_sample_chooses(1, 8, number);
        CHECK(!in_eighth || conv_sample_chooses(1, 4, number));
        eighth += in_eighth;
        quarter += conv_sample_chooses(1, 4, number);
        CHECK(!conv_sample_chooses(3, 7, number) || conv_sample_chooses(6, 7, number));
    }
    CHECK(eighth > 9500 && eighth < 10500);
    CHECK(quarter > 19300 && quarter < 20700);
}

TEST(a_lost_release_within_a_sample)
{
    const struct conv_selection select = {.sample_part = 1, .sample_of = 2};
    uint64_t chosen = 0, expected = 0;
    begin();
    for (uint64_t i = 1; i <= 200; i++) {
        allocate(0, 0x1000, i); /* always over the one before */
        chosen += conv_sample_chooses(1, 2, i);
        expected += conv_sample_chooses(1, 2, i) && i < 200;
    }
    CHECK(convert(&select)[0] != '\0');
    CHECK_U64(report.survey.events, chosen);
    CHECK_U64(irregular(CONV_LOST_FREE), expected);
    CHECK(report.survey.live_objects_end <= 1);
}

/* ---- words --------------------------------------------------------------------------------- */

TEST(a_selection_is_read_back_from_the_workload)
{
    const struct conv_selection select = {.threads = "main,101",
                                          .from = {.kind = CONV_WHEN_TIME, .value = 10},
                                          .to = {.kind = CONV_WHEN_TIME, .value = 2500000000},
                                          .sample_part = 2,
                                          .sample_of = 3,
                                          .head = 12};
    struct wl_reader *reader = NULL;
    struct conv_selected read;
    begin();
    for (uint64_t i = 0; i < 40; i++)
        allocate(i % 2 == 0 ? 0 : 1, 0x1000 + i * 64, i + 1);
    CHECK(convert(&select)[0] != '\0');
    CHECK_STR(report.survey.selected.text,
              "threads main,101; 0.00000001 s to 2.5 s; sampled 2/3; first 12 calls");
    CHECK_U64(wl_reader_open(scratch_path("select.wl"), NULL, &reader), FP_OK);
    CHECK_STR(wl_reader_meta(reader, "selection"), report.survey.selected.text);
    conv_plan_read(reader, &read);
    wl_reader_close(reader);
    CHECK(memcmp(&read, &report.survey.selected, sizeof read) == 0);
}

RUN_TESTS(T(a_thread_makes_its_own_calls), T(releases_of_what_others_made_are_left_out),
          T(a_resized_object_belongs_to_who_resized_it),
          T(an_address_that_passes_between_threads_is_never_held_twice),
          T(where_the_owner_has_ended_who_called_last_releases), T(a_lost_release_over_the_border_is_counted),
          T(failed_resizes_of_foreign_objects_leave_them), T(a_thread_that_is_not_there), T(lists_of_threads),
          T(what_is_alive_is_created_first_in_its_order),
          T(sections_of_other_threads_objects_create_them_there),
          T(reallocs_under_way_where_a_section_begins), T(a_failed_realloc_before_a_section),
          T(threads_that_ended_before_are_not_there), T(empty_and_backward_sections_are_refused),
          T(head_counts_calls_of_all_threads), T(a_sample_is_all_calls_on_the_chosen),
          T(smaller_samples_are_part_of_larger_ones), T(a_lost_release_within_a_sample),
          T(a_selection_is_read_back_from_the_workload))
