/* check_convert.c - whatever is converted without an error is a workload that its reader takes whole. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "convert/convert.h"
#include "footprint/base/memory_bound.h"
#include "footprint/wl/workload.h"
#include "fuzz/target.h"

static void check_report(const struct conv_report *report, const char *path)
{
    const struct conv_survey *survey = &report->survey;
    struct wl_reader *reader = NULL;
    struct wl_window window;
    enum fp_status status;
    uint64_t ops = 0;
    FUZZ_CHECK(wl_reader_open(path, NULL, &reader) == FP_OK);
    while ((status = wl_reader_next(reader, &window)) == FP_OK)
        ops += window.op_count;
    FUZZ_CHECK(status == FP_END && ops == survey->ops);
    FUZZ_CHECK(wl_reader_summary(reader)->live_bytes_peak == survey->live_bytes_peak);
    FUZZ_CHECK(wl_reader_summary(reader)->live_bytes_end == survey->live_bytes_end);
    FUZZ_CHECK(wl_reader_summary(reader)->live_objects_end == survey->live_objects_end);
    wl_reader_close(reader);
}

/* A survey goes by events, a conversion takes short cuts. */
static void check_same(const struct conv_survey *converted, const struct conv_survey *surveyed)
{
    FUZZ_CHECK(converted->events == surveyed->events && converted->ops == surveyed->ops);
    FUZZ_CHECK(converted->live_bytes_peak == surveyed->live_bytes_peak);
    FUZZ_CHECK(converted->live_objects_peak == surveyed->live_objects_peak);
    FUZZ_CHECK(converted->requested_bytes == surveyed->requested_bytes);
    FUZZ_CHECK(converted->duration_ns == surveyed->duration_ns);
    FUZZ_CHECK(memcmp(converted->irregular, surveyed->irregular, sizeof converted->irregular) == 0);
    FUZZ_CHECK(memcmp(converted->ops_by_call, surveyed->ops_by_call, sizeof converted->ops_by_call) == 0);
    FUZZ_CHECK(memcmp(converted->class_bytes, surveyed->class_bytes, sizeof converted->class_bytes) == 0);
}

/* Whatever converts converts in part too, or says why not; parts of it make no more calls than the whole. */
static void check_selection(const char *in, const char *out, const struct conv_options *options,
                            const struct conv_survey *whole, size_t size)
{
    struct conv_options some = *options;
    static struct conv_report report;
    static struct conv_error error;
    some.overwrite = true;
    some.in_place = true; /* as most inputs are; the whole was converted with threads */
    some.select.head = size % 5 == 0 ? 1 + size % 100 : 0;
    if (size % 2 == 0)
        some.select.from = (struct conv_when){.kind = CONV_WHEN_TIME, .value = whole->duration_ns / 3};
    if (size % 7 < 4)
        some.select.to = (struct conv_when){.kind = CONV_WHEN_TIME, .value = whole->duration_ns / 3 * 2 + 1};
    if (conv_file(in, out, &some, &report, &error) != FP_OK) {
        FUZZ_CHECK(error.cause.status != FP_OK && error.cause.what != NULL);
        return;
    }
    FUZZ_CHECK(report.survey.events <= whole->events);
    check_report(&report, out);
    conv_report_release(&report);
}

static void check_failed(enum fp_status status, const struct conv_error *error)
{
    char text[512];
    FUZZ_CHECK(error->cause.status == status && error->cause.what != NULL);
    FUZZ_CHECK(conv_error_text(error, text, sizeof text)[0] != '\0');
}

static bool is_surveyed(const char *in, const struct conv_options *options, struct conv_survey *ret_survey)
{
    static struct conv_error error;
    const enum fp_status status = conv_survey_file(in, options, ret_survey, &error);
    if (status != FP_OK)
        check_failed(status, &error);
    return status == FP_OK;
}

static bool is_converted(const char *in, const char *out, const struct conv_options *options,
                         struct conv_report *ret_report)
{
    static struct conv_error error;
    const enum fp_status status = conv_file(in, out, options, ret_report, &error);
    if (status != FP_OK) {
        check_failed(status, &error);
        FUZZ_CHECK(access(out, F_OK) != 0);
    }
    return status == FP_OK;
}

#define CONVERT_TURNS                                                                                        \
    32u /* the first ones: at the others an input is surveyed, which reads it as a conversion does */

static void check_once(const uint8_t *bytes, size_t size, const char *from)
{
    const unsigned turn = fuzz_turn(bytes, size);
    const bool converts = turn < CONVERT_TURNS;
    const char *in = fuzz_input(bytes, size);
    const char *out = converts ? fuzz_output() : NULL;
    /* Little memory, so that small inputs reach its bound. */
    struct conv_options options = {
        .from = from, .window_ops = 64, .memory_bytes = 1u << 20, .in_place = turn != 0};
    options.salvage = size % 2 == 1; /* both ways of meeting damage, chosen by something that is repeatable */
    static struct conv_report report;
    static struct conv_survey survey;
    const bool surveyed = (turn == 0 || !converts) && is_surveyed(in, &options, &survey);
    if (converts && is_converted(in, out, &options, &report)) {
        if (turn == 0) {
            FUZZ_CHECK(surveyed);
            check_report(&report, out);
            check_same(&report.survey, &survey);
            check_selection(in, out, &options, &report.survey, size);
        }
        conv_report_release(&report);
    }
    if (surveyed)
        conv_survey_release(&survey);
}

/* Nobody is without a bound here, and what is counted against it is given back. */
void check_convert(const uint8_t *bytes, size_t size, const char *from)
{
    const uint64_t held = fp_memory_held();
    (void)setenv(FP_MEMORY_VARIABLE, "67108864", 0);
    check_once(bytes, size, from);
    FUZZ_CHECK(fp_memory_held() == held);
}
