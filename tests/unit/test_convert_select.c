/* test_convert_select.c - the filters between order and pairing, on events made by hand and on simulated programs:
 * what is alive where a section begins, reallocs across its beginning, the first calls. */
#include <time.h>
#include <unistd.h>

#include "convert/open/input.h"
#include "convert/select/selection_plan.h"
#include "unit/events.h"
#include "unit/harness.h"
#include "unit/history.h"
#include "unit/readers.h"
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

BEFORE_EACH
{
    begin();
}

/* What is converted, as events.h has it. */
static void events_are(const char *text)
{
    event_count = events_of(text, events);
}

static void name_lane(void *data, uint32_t lane, uint32_t *ret_thread_id, bool *ret_is_main)
{
    *ret_thread_id = 100 + lane;
    *ret_is_main = lane == 0;
}

static enum fp_status run(void *data, const struct conv_sink *sink, struct conv_survey *survey,
                          struct conv_error *ret_error)
{
    enum fp_status status = FP_OK;
    for (size_t i = 0; i < event_count && status == FP_OK; i += batch_size)
        status = sink->events(sink->data, events + i,
                              event_count - i < batch_size ? event_count - i : batch_size);
    return status;
}

static void conclude(void *data, uint64_t gap_calls, struct conv_survey *survey)
{
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
    memset(&report, 0, sizeof report);
    memset(&error, 0, sizeof error);
    enum fp_status status = conv_plan_settle("made up", INPUT.end_ns, &options, survey, &error);
    if (status != FP_OK)
        return "";
    CHECK_U64(wl_writer_create(path, true, &writer_options, NULL, 0, NULL, &writer), FP_OK);
    status = conv_pass_run(&INPUT, &options, writer, survey, &error);
    if (status != FP_OK) {
        wl_writer_abandon(writer);
        return "";
    }
    CHECK_U64(conv_survey_note(writer, survey), FP_OK);
    CHECK_U64(wl_writer_finish(writer, survey->duration_ns, NULL, NULL, NULL), FP_OK);
    return spell_ops(path);
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

/* ---- sections ------------------------------------------------------------------------------ */

TEST(what_is_alive_is_created_first_in_its_order)
{
    events_are("1a1000:1 a2000:2 1f1000 1a1000:3 1a3000:4 f2000");
    CHECK_STR(convert_section(40, 0), "m1:2 m2:3 m3:4@1 f1");
    CHECK_U64(report.survey.inherited_objects, 2);
    CHECK_U64(report.survey.inherited_bytes, 5);
    CHECK_U64(report.survey.events, 2);
    CHECK_U64(report.survey.duration_ns, 20);
    CHECK_STR(convert_section(0, 40), "m1:1 m2:2@1 f1 m1:3");
    CHECK_U64(report.survey.duration_ns, 40);
}

TEST(reallocs_under_way_where_a_section_begins)
{
    events_are("a1000:1 1s1000 a1000:2 1r2000<1000:3 f1000 f2000");
    CHECK_STR(convert_section(30, 0), "m1:1 m2:2 r1:3@1 f2 f1");
    for (unsigned i = 0; i < CONV_IRREGULARITY_COUNT; i++)
        CHECK_U64(irregular(i), 0);
    CHECK_STR(convert_section(0, 30), "m1:1 m2:2"); /* and the resize never happened */
    CHECK_U64(report.survey.live_bytes_end, 3);
}

TEST(a_failed_realloc_before_a_section)
{
    events_are("a1000:7 s1000 r0<1000:1000 s1000 r4000<1000:9 a5000:1");
    CHECK_STR(convert_section(30, 0), "m1:7 r1:9 m2:1");
    CHECK_STR(convert_section(50, 0), "m1:9 m2:1");
}

TEST(threads_that_ended_before_are_not_there)
{
    events_are("1a1000:7 a2000:7 1x 1e f1000");
    CHECK_STR(convert_section(20, 0), "m1:7 m2:7 f1");
    CHECK_U64(report.survey.threads, 1);
}

TEST(empty_and_backward_sections_are_refused)
{
    events_are("a1000:7");
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
    events_are("a1000:1 s1000 r2000<1000:2 1a3000:3 f2000");
    CHECK_STR(convert(&select), "m1:1 r1:2 m2:3@1");
    CHECK_U64(report.survey.duration_ns, 30);
    CHECK_STR(report.survey.selected.text, "first 3 calls");
    CHECK_STR(convert(&more), "m1:1 r1:2 m2:3@1 f1");
    CHECK_U64(report.survey.duration_ns, 50);
}

/* ---- words --------------------------------------------------------------------------------- */

/* Of a recording from half past eleven in the evening, for ten hours. */
static enum fp_status by_clock(uint64_t start_unix_ns, uint64_t seconds_of_day, uint64_t *ret_seconds)
{
    struct conv_when when = {.kind = CONV_WHEN_CLOCK, .value = seconds_of_day};
    const enum fp_status status = conv_plan_clock("r", start_unix_ns, UINT64_C(36000000000000), &when,
                                                  &error);
    *ret_seconds = when.value / 1000000000u;
    return status;
}

TEST(by_the_clock)
{
    const uint64_t start = UINT64_C(1795390200000000000); /* 2026-11-22 23:30:00 UTC */
    uint64_t seconds;
    setenv("TZ", "UTC", 1);
    tzset();
    CHECK_U64(by_clock(start, 3 * 3600, &seconds), FP_OK); /* next day */
    CHECK_U64(seconds, 12600);
    CHECK_U64(by_clock(start + 500000000, 23 * 3600 + 1801, &seconds), FP_OK);
    CHECK_U64(seconds, 0);                                            /* half a second */
    CHECK_U64(by_clock(start, 20 * 3600, &seconds), FP_ERR_ARGUMENT); /* it had ended */
    CHECK_U64(by_clock(0, 3 * 3600, &seconds), FP_ERR_ARGUMENT);
}

TEST(a_selection_is_read_back_from_the_workload)
{
    const struct conv_selection select = {.from = {.kind = CONV_WHEN_TIME, .value = 10},
                                          .to = {.kind = CONV_WHEN_TIME, .value = 2500000000},
                                          .head = 12};
    OWNED(conv_survey) read = {0};
    static struct conv_options none;
    for (uint64_t i = 0; i < 40; i++)
        events[event_count++] = (struct conv_event){.time_ns = 10 * i,
                                                    .address = 0x1000 + i * 64,
                                                    .size = i + 1,
                                                    .lane = i % 2,
                                                    .call = FP_CALL_MALLOC};
    CHECK(convert(&select)[0] != '\0');
    CHECK_STR(report.survey.selected.text, "0.00000001 s to 2.5 s; first 12 calls");
    WL_READER *reader = wl_opened(scratch_path("select.wl"));
    CHECK_STR(wl_reader_meta(reader, "selection"), report.survey.selected.text);
    const char *path = scratch_path("select.wl");
    CHECK_U64(conv_survey_workload(path, path, &none, &read, &error), FP_OK);
    CHECK(memcmp(&read.selected, &report.survey.selected, sizeof read.selected) == 0);
}
