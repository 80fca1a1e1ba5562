/* test_cli_top.c - frames of `mallab top` without a terminal: whatever is in them they are plain lines; processes are
 * sorted; rates are of the interval; what is not known is said. */
#include "cli/top/top_frame.h"

#include <stdlib.h>

#include "unit/harness.h"

static struct conv_view view;

static void begin(void)
{
    view = (struct conv_view){.status = {.state = CONV_RECORDING_GOING_ON, .told = true}};
}

static void end(void)
{
    for (size_t i = 0; i < view.process_count; i++) {
        conv_tally_release(&view.processes[i]->tally);
        free(view.processes[i]);
    }
    free(view.processes);
}

static struct conv_view_process *add_process(uint32_t process_id, const char *name)
{
    struct conv_view_process *process = calloc(1, sizeof *process);
    view.processes = realloc(view.processes, (view.process_count + 1) * sizeof(*view.processes));
    if (process == NULL || view.processes == NULL || !conv_tally_init(&process->tally, &view.sum))
        abort();
    process->process_id = process_id;
    snprintf(process->name, sizeof process->name, "%s", name);
    view.processes[view.process_count++] = process;
    return process;
}

/* A lane makes so many calls of one size. */
static void call(struct conv_view_process *process, uint32_t lane, uint32_t calls, uint64_t size)
{
    const struct fp_shape shape = {FP_CALL_MALLOC, size, 0};
    struct fp_mark *marks = calloc(calls, sizeof *marks);
    const struct fp_block block = {
        .lane = lane,
        .sequence = lane < process->tally.lane_count ? process->tally.lanes[lane].sequence : 0,
        .mark_count = calls,
        .shape_count = 1,
        .marks = marks,
        .shapes = &shape};
    static uint64_t address = 16;
    for (uint32_t i = 0; i < calls; i++)
        marks[i].address = address += 16;
    CHECK_U64(conv_tally_block(&process->tally, &block), FP_OK);
    free(marks);
}

static char *text_of(const struct cli_top_moment *moment)
{
    return cli_top_text(&view, moment, CLI_TOP_BY_RATE);
}

static void check_plain(const char *text)
{
    for (const char *at = text; *at != '\0'; at++) {
        CHECK((unsigned char)*at >= ' ' || *at == '\n');
        CHECK(*at != ' ' || (at[1] != '\n' && at[1] != '\0'));
    }
    CHECK(text[strlen(text) - 1] == '\n');
}

static void check_holds(const char *text, const char *words)
{
    if (strstr(text, words) == NULL)
        HARNESS_FAIL("no '%s' in:\n%s", words, text);
}

TEST(every_frame_is_plain_lines)
{
    struct cli_top_moment moment = {.duration_ns = UINT64_MAX / 2, .interval_ns = 1};
    begin();
    snprintf(view.status.why, sizeof view.status.why, "%0200d", 7);
    view.status.ring_told = true;
    view.status.ring_chunks_used = view.status.ring_chunks_most = UINT64_MAX;
    view.status.stalls = view.status.stall_ns = UINT64_MAX;
    for (uint32_t i = 0; i < 150; i++) {
        struct conv_view_process *process = add_process(
            4000000000u + i, "a name\033[31m longer than anybody thinks of giving to a program of theirs");
        for (uint32_t lane = 0; lane < 3; lane++)
            call(process, lane * 1000, 3, (UINT64_C(1) << (i % 48)) - 1);
        process->lost[FP_LOSS_RING_FULL] = process->lost[FP_LOSS_COLLECTOR] = UINT64_MAX / 200;
    }
    for (unsigned i = 1; i < FP_CALL_COUNT; i++)
        view.sum.events_by_call[i] = UINT64_MAX - i;
    view.sum.events = view.bytes = view.bytes_written = UINT64_MAX;
    for (unsigned pass = 0; pass < 4; pass++) {
        view.status.state = pass % 2 == 0 ? CONV_RECORDING_GOING_ON : CONV_RECORDING_OUT_OF_SIGHT;
        moment.is_first = pass >= 2;
        char *text = text_of(&moment);
        check_plain(text);
        free(text);
        json_decref(cli_top_json(&view, &moment, CLI_TOP_BY_LIVE));
    }
    end();
}

TEST(nothing_yet_is_a_frame_too)
{
    const struct cli_top_moment moment = {.interval_ns = 1, .is_first = true};
    char *text;
    begin();
    view.status.told = false;
    text = text_of(&moment);
    check_plain(text);
    check_holds(text, "nothing: recording, 0 ns; rates are since the start\n");
    check_holds(text, "lost        not told\n");
    free(text);
    json_decref(cli_top_json(&view, &moment, CLI_TOP_BY_RATE));
    end();
}

/* The ids in the order in which the list of a frame has them. */
static void check_order(enum cli_top_sort sort, const char *list, const char *expected)
{
    const struct cli_top_moment moment = {.duration_ns = 5000000000, .interval_ns = 2000000000};
    json_t *object = cli_top_json(&view, &moment, sort), *one;
    char ids[64] = "";
    size_t i;
    json_array_foreach(json_object_get(object, list), i, one)
        snprintf(ids + strlen(ids), sizeof ids - strlen(ids), "%d:%d ",
                 (int)json_integer_value(json_object_get(one, "pid")),
                 (int)json_integer_value(json_object_get(one, "lane")));
    CHECK_STR(ids, expected);
    json_decref(object);
}

TEST(those_with_most_come_first)
{
    const struct cli_top_moment moment = {.duration_ns = 5000000000, .interval_ns = 2000000000};
    struct conv_view_process *old, *busy;
    char *text;
    begin();
    old = add_process(1, "old");
    busy = add_process(2, "busy");
    add_process(3, "idle");
    call(old, 0, 5000, 10);
    call(busy, 0, 100, 1000);
    conv_view_mark(&view);
    call(busy, 0, 60, 1000);
    call(busy, 1, 40, 1000);
    call(old, 0, 1, 10);
    check_order(CLI_TOP_BY_RATE, "thread_list", "2:0 2:1 1:0 ");
    check_order(CLI_TOP_BY_RATE, "process_list", "2:0 1:0 3:0 ");
    check_order(CLI_TOP_BY_CALLS, "process_list", "1:0 2:0 3:0 ");
    check_order(CLI_TOP_BY_LIVE, "process_list", "2:0 1:0 3:0 ");
    old->tally.ended = true;
    busy->gone = true;
    check_order(CLI_TOP_BY_RATE, "process_list", "3:0 2:0 1:0 "); /* the one that runs */
    check_order(CLI_TOP_BY_LIVE, "process_list", "2:0 1:0 3:0 ");
    text = text_of(&moment);
    check_plain(text);
    check_holds(text, "old: recording, 5 s; rates are of the last 2 s\n");
    check_holds(text, "1 running, 3 in all");
    check_holds(text, "calls       5,201, 50/s\n            malloc 5,201\n");
    check_holds(text, "\nprocess, by rate  pid      live    calls/s ");
    check_holds(text, "\nbusy                2    200 kB         50        200        2\n");
    free(text);
    end();
}

static void check_lacks(const char *text, const char *words)
{
    if (strstr(text, words) != NULL)
        HARNESS_FAIL("'%s' in:\n%s", words, text);
}

/* What is not known is never called none, and who ran on is not called ended. */
TEST(what_is_not_known_is_said)
{
    struct cli_top_moment moment = {
        .duration_ns = 5000000000, .interval_ns = 2000000000, .was_asked = true, .is_silent = true};
    struct conv_view_process *process;
    json_t *object;
    char *text;
    begin();
    view.status.ring_told = true;
    view.status.ring_chunks_used = 1;
    view.status.ring_chunks_most = 4096;
    view.status.collector_pid = 77;
    process = add_process(1, "server");
    call(process, 0, 100, 1000);
    text = text_of(&moment);
    check_plain(text);
    check_holds(text, "the collector (77) does not answer");
    check_holds(text, "lost        not told\n");
    free(text);
    object = cli_top_json(&view, &moment, CLI_TOP_BY_RATE);
    CHECK(json_is_false(json_object_get(object, "answered")));
    CHECK(json_is_false(json_object_get(object, "lost_known")));
    CHECK(json_is_null(json_object_get(object, "ring")));
    json_decref(object);
    process->lost[FP_LOSS_COLLECTOR] = 5;
    text = text_of(&moment);
    check_holds(text, "lost        collector 5 calls, and what is not told\n");
    free(text);
    process->lost[FP_LOSS_COLLECTOR] = 0;

    view.status.state = CONV_RECORDING_ENDED_EARLY;
    text = text_of(&moment);
    check_holds(text, "lost        not known");
    check_holds(text, "1 ran on, 1 in all");
    check_lacks(text, "does not answer");
    check_lacks(text, "left ");
    free(text);
    object = cli_top_json(&view, &moment, CLI_TOP_BY_RATE);
    CHECK(json_is_null(json_object_get(object, "answered")));
    CHECK(json_is_false(json_object_get(object, "lost_known")));
    CHECK_U64(json_integer_value(json_object_get(object, "processes_running")), 1);
    json_decref(object);

    view.status.state = CONV_RECORDING_FINISHED;
    text = text_of(&moment);
    check_holds(text, "lost        none\n");
    free(text);
    process->uncounted = true; /* recovered meanwhile */
    text = text_of(&moment);
    check_holds(text, "lost        not known");
    free(text);
    end();
}

TEST(what_a_day_would_come_to)
{
    struct cli_top_moment moment = {.duration_ns = 10000000000, .interval_ns = 2000000000};
    char *text;
    begin();
    view.bytes = view.bytes_written = 360000;
    text = text_of(&moment);
    check_holds(text, "on disk     360 kB, 0.00 B a call, at this rate 3.1 GB a day\n");
    free(text);
    view.bytes_written++; /* of windows that are gone */
    text = text_of(&moment);
    check_holds(text, "on disk     360 kB, 0.00 B a call\n");
    free(text);
    view.bytes = view.bytes_written = UINT64_MAX; /* no recording: whatever the files say */
    text = text_of(&moment);
    check_holds(text, "a day\n");
    free(text);
    moment.duration_ns--;
    text = text_of(&moment);
    check_holds(text, " B a call\n");
    free(text);
    end();
}

TEST(live_is_called_inexact_where_it_is)
{
    const struct cli_top_moment moment = {.duration_ns = 5, .interval_ns = 5};
    json_t *object;
    char *text;
    begin();
    object = cli_top_json(&view, &moment, CLI_TOP_BY_RATE);
    CHECK(json_is_null(json_object_get(object, "live_inexact_why")));
    json_decref(object);
    view.status.pauses = 2;
    text = text_of(&moment);
    check_holds(text, "note        live is inexact: what was made and released in pauses is not known\n");
    check_plain(text);
    free(text);
    add_process(1, "server")->first_window = 16;
    text = text_of(&moment);
    check_holds(text, "live is inexact: what was made before window 16 is not known");
    check_plain(text);
    free(text);
    object = cli_top_json(&view, &moment, CLI_TOP_BY_RATE);
    CHECK(json_is_string(json_object_get(object, "live_inexact_why")));
    json_decref(object);
    end();
}

TEST(an_empty_recording_that_has_ended)
{
    const struct cli_top_moment moment = {.duration_ns = 5, .interval_ns = 5};
    char *text;
    begin();
    view.status.state = CONV_RECORDING_FINISHED;
    text = text_of(&moment);
    check_holds(text, "nothing: finished, 5 ns;");
    free(text);
    end();
}

TEST(json_tells_rates_and_classes)
{
    const struct cli_top_moment moment = {.duration_ns = 9, .interval_ns = 2000000000};
    json_t *object, *size;
    begin();
    call(add_process(7, "one"), 0, 10, 100);
    conv_view_mark(&view);
    call(view.processes[0], 0, 5, 100);
    view.status.state = CONV_RECORDING_FINISHED;
    object = cli_top_json(&view, &moment, CLI_TOP_BY_RATE);
    CHECK_STR(json_string_value(json_object_get(object, "schema")), "mallab-top/1");
    CHECK(json_is_true(json_object_get(object, "ended")));
    CHECK_U64(json_integer_value(json_object_get(object, "events")), 15);
    CHECK(json_real_value(json_object_get(object, "events_per_s")) == 2.5);
    CHECK(json_is_null(json_object_get(object, "ring")));
    CHECK_U64(json_array_size(json_object_get(object, "sizes")), 1);
    size = json_array_get(json_object_get(object, "sizes"), 0);
    CHECK_U64(json_integer_value(json_object_get(size, "from_bytes")), 64);
    CHECK_U64(json_integer_value(json_object_get(size, "to_bytes")), 127);
    CHECK_U64(json_integer_value(json_object_get(size, "live_bytes")), 1500);
    CHECK(json_real_value(json_object_get(size, "allocations_per_s")) == 2.5);
    json_decref(object);
    end();
}

RUN_TESTS(T(every_frame_is_plain_lines), T(nothing_yet_is_a_frame_too), T(those_with_most_come_first),
          T(what_is_not_known_is_said), T(what_a_day_would_come_to), T(live_is_called_inexact_where_it_is),
          T(an_empty_recording_that_has_ended), T(json_tells_rates_and_classes))
