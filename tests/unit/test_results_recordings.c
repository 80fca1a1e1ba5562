/* test_results_recordings.c - several recordings of a validation: which of them predict, what of each goes into the result, and
 * what a reader is told of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/measure/validate/recordings.h"
#include "results/report/table/validation_table.h"
#include "unit/harness.h"

static struct res_recording *add_replayed(struct res_recordings *recordings, unsigned number, uint64_t ops)
{
    struct res_recording *recording = res_recordings_add(recordings, number);
    recording->ops = ops;
    recording->entries = res_calloc(1, sizeof *recording->entries);
    recording->entry_count = 1;
    recording->entries[0].digest = res_strdup("1");
    recording->entries[0].runs[0] = (struct res_levels){300, 200, 100};
    recording->entries[0].runs[1] = (struct res_levels){310, 180, 140};
    recording->entries[0].run_count = 2;
    return recording;
}

TEST(of_passes_the_median_counts)
{
    struct res_recordings recordings = {.asked = 2};
    const struct res_recording_entry none = {0};
    const struct res_levels levels = res_recording_levels(&add_replayed(&recordings, 2, 10)->entries[0]);
    CHECK(fabs(levels.peak_bytes - 305) < 1e-9 && fabs(levels.mean_bytes - 190) < 1e-9);
    CHECK(isnan(res_recording_levels(&none).end_bytes));
    res_recordings_release(&recordings);
}

TEST(what_is_left_out_predicts_nothing_and_is_named)
{
    struct res_recordings further = {.asked = 4};
    const struct res_workload first = {.ops = 100};
    struct res_validated about = {.recordings = 0};
    (void)add_replayed(&further, 2, 90);
    res_recording_leave_out(add_replayed(&further, 3, 500), res_strdup("another program"));
    (void)add_replayed(&further, 4, 103);
    CHECK_U64(res_recordings_used(&further), 3);
    res_recordings_tell(&further, &first, &about);
    CHECK_U64(about.recordings, 3);
    CHECK_U64(about.recordings_left_out, 1);
    CHECK_U64(about.ops_difference_max, 10);
    CHECK_U64(about.recording_count, 4);
    CHECK_STR(about.recording_list[2].left_out, "another program");
    CHECK(about.recording_list[3].left_out == NULL);
    res_described_release(&RES_VALIDATED, &about);
    res_recordings_drop_last(&further);
    CHECK_U64(res_recordings_used(&further), 2);
    res_recordings_release(&further);
    CHECK_U64(res_recordings_used(&further), 1); /* the first is always there */
}

/* What a reader is told of a result with these keys, and those beside them that each result has. */
static char *told(const char *about, const char *candidates)
{
    static const char *const bars[] = {"peak_total", "peak_heap", "memory_order", "time_sign"};
    json_t *first = json_loads(about, 0, NULL), *second = json_loads(candidates, 0, NULL), *candidate;
    json_t *of_bars = json_object();
    struct res_validated validated;
    struct res_result result = {.validation = &validated, .validated_count = json_array_size(second)};
    struct res_text text = {0};
    char *problem = NULL;
    size_t index;
    for (size_t i = 0; i < sizeof bars / sizeof bars[0]; i++)
        json_object_set_new(of_bars, bars[i], json_object());
    json_object_set_new(first, "bars", of_bars);
    CHECK(res_described_read(&RES_VALIDATED, first, &validated, &problem));
    result.validated = res_calloc(result.validated_count + 1, sizeof *result.validated);
    json_array_foreach(second, index, candidate)
    {
        json_object_set_new(candidate, "name", json_string("one"));
        json_object_set_new(candidate, "real", json_object());
        json_object_set_new(candidate, "error", json_object());
        CHECK(res_described_read(&RES_VALIDATED_CANDIDATE, candidate, &result.validated[index], &problem));
    }
    res_validation_recordings(&text, &result);
    for (size_t i = 0; i < result.validated_count; i++)
        res_described_release(&RES_VALIDATED_CANDIDATE, &result.validated[i]);
    free(result.validated);
    res_described_release(&RES_VALIDATED, &validated);
    json_decref(first);
    json_decref(second);
    return text.text != NULL ? text.text : res_strdup("");
}

static void check_told(const char *about, const char *candidates, const char *expected)
{
    char *words = told(about, candidates);
    CHECK_STR(words, expected);
    free(words);
}

#define LEVELS(peak) "{\"peak_heap_bytes\":" peak ",\"mean_heap_bytes\":100,\"end_heap_bytes\":null}"

TEST(a_reader_is_told_how_many_and_how_far_apart)
{
    check_told("{}", "[]", ""); /* of an earlier version */
    check_told("{\"recordings\":1,\"recordings_asked\":1}", "[]", "");
    check_told("{\"recordings\":1,\"recordings_asked\":3,\"recordings_stopped\":true}", "[]",
               "recordings  predicted is of one alone, stopped before the 3 asked for\n");
    check_told("{\"recordings\":2,\"recordings_asked\":3,\"ops_difference_max\":7,\"recording_list\":[{"
               "\"ops\":1000},"
               "{\"number\":2,\"left_out\":\"it is not whole\"},{}]}",
               "[{\"predicted\":{\"recordings\":[" LEVELS("200") "," LEVELS(
                   "210") "]}},"
                          "{\"predicted\":{\"recordings\":[" LEVELS("200") "," LEVELS("204") "]}}]",
               "recordings  predicted is the median of 2, of the 3 asked for\n"
               "            they differ by up to 5.0 % in the heap's peak, 0.0 % in its mean, - at its end\n"
               "            and by up to 7 calls from the first, which has 1,000\n"
               "            recording 2 was left out: it is not whole\n");
    /* Of a line no more than 100 columns. */
    check_told("{\"recordings\":2,\"recordings_asked\":2}",
               "[{\"predicted\":{\"recordings\":["
               "{\"peak_heap_bytes\":1,\"mean_heap_bytes\":1,\"end_heap_bytes\":1},"
               "{\"peak_heap_bytes\":20,\"mean_heap_bytes\":20,\"end_heap_bytes\":20}]}}]",
               "recordings  predicted is the median of 2\n"
               "            they differ by up to 1900.0 % in the heap's peak, 1900.0 % in its mean, 1900.0 % "
               "at its\n"
               "            end\n");
}

RUN_TESTS(T(of_passes_the_median_counts), T(what_is_left_out_predicts_nothing_and_is_named),
          T(a_reader_is_told_how_many_and_how_far_apart))
