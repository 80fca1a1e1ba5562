/* test_convert_salvage.c - with --salvage: lines too long within another tool's trace, and what cannot be unpacked, are left out and counted, the
 * rest converts as if nothing had been there; without it the trace is refused. What is no trace ends soon. Damaged lines:
 * tests/golden, test_traces.c. */
#include "convert/convert.h"
#include "footprint/wl/workload.h"
#include "unit/harness.h"
#include "unit/scratch.h"
#include "unit/traces.h"

static const struct conv_options SALVAGE = {.salvage = true};
static struct conv_error error;
static struct history history;

static bool is_binary(enum conv_kind kind)
{
    return kind == CONV_KIND_GLIBC_WL;
}

static bool splits(enum conv_kind kind)
{
    return kind == CONV_KIND_HEAPTRACK; /* a realloc is a free and a malloc there */
}

static uint64_t calls_in(enum conv_kind kind)
{
    return history.count + (splits(kind) ? history.resizes : 0);
}

/* Put text at a place, or take bytes out. The result is the caller's. */
static char *splice(const char *bytes, size_t size, size_t at, size_t out, const char *text, size_t in,
                    size_t *ret_size)
{
    char *made = malloc(size - out + in + 1);
    memcpy(made, bytes, at);
    memcpy(made + at, text, in);
    memcpy(made + at + in, bytes + at + out, size - at - out);
    *ret_size = size - out + in;
    return made;
}

/* Where the line behind about this share of the file begins. */
static size_t line_at(const char *bytes, size_t size, size_t about)
{
    const char *newline = memchr(bytes + about, '\n', size - about);
    CHECK(newline != NULL);
    return (size_t)(newline + 1 - bytes);
}

/* Every figure but the damage is that of the whole history. */
static void check_whole(const struct conv_survey *survey, enum conv_kind kind)
{
    CHECK_U64(survey->events, calls_in(kind));
    CHECK_U64(survey->requested_bytes, history.requested);
    CHECK_U64(survey->live_bytes_peak, history.live_peak);
    CHECK_U64(survey->live_bytes_end, history.live_end);
    for (unsigned i = 0; i < CONV_BAD_LINES; i++)
        CHECK_U64(survey->irregular[i], 0);
}

TEST(long_lines_are_left_out)
{
    static const size_t lengths[] = {40000, 70000, 3000000};
    static char line[3000001];
    const struct conv_format *format;
    make_history(&history, HISTORY_CALLS);
    for (size_t i = 0; (format = conv_format_at(i)) != NULL; i++) {
        const enum conv_kind kind = conv_from_kind(format->name);
        struct conv_survey survey;
        size_t size, with_size;
        if (is_binary(kind))
            continue;
        OWNED_TEXT *bytes = scratch_read(history_path(&history, kind), &size);
        for (size_t k = 0; k < 3; k++) {
            memset(line, 'z', sizeof line);
            line[lengths[k]] = '\n';
            OWNED_TEXT *with = splice(bytes, size, line_at(bytes, size, size / 2), 0, line, lengths[k] + 1,
                                      &with_size);
            CHECK_U64(survey_bytes(with, with_size, NULL, &survey, &error), FP_ERR_CORRUPT);
            CHECK_U64(survey_bytes(with, with_size, &SALVAGE, &survey, &error), FP_OK);
            check_whole(&survey, kind);
            CHECK_U64(survey.irregular[CONV_LONG_LINES], 1);
            CHECK_U64(survey.irregular[CONV_BAD_LINES], 0);
            conv_survey_release(&survey);
        }
    }
}

/* What a killed compressor leaves: all that can be unpacked converts. */
TEST(cut_packed_traces_convert_as_far_as_they_unpack)
{
    static int (*const filters[])(struct archive *) = {
        archive_write_add_filter_gzip, archive_write_add_filter_zstd, archive_write_add_filter_xz};
    const struct conv_format *format;
    make_history(&history, HISTORY_CALLS);
    for (size_t i = 0; (format = conv_format_at(i)) != NULL; i++) {
        const enum conv_kind kind = conv_from_kind(format->name);
        for (size_t k = 0; k < COUNT_OF(filters); k++) {
            struct conv_survey survey;
            size_t size;
            /* Anew each time: the words of scratch_path last for a few calls only. */
            pack(history_path(&history, kind), scratch_path("packed"), false, filters[k], 1);
            OWNED_TEXT *bytes = scratch_read(scratch_path("packed"), &size);
            CHECK(survey_bytes(bytes, size * 9 / 10, NULL, &survey, &error) != FP_OK);
            CHECK_U64(conv_error_exit_code(&error), 3);
            if (is_binary(kind)) {
                CHECK(survey_bytes(bytes, size * 9 / 10, &SALVAGE, &survey, &error) != FP_OK);
            } else if (survey_bytes(bytes, size * 9 / 10, &SALVAGE, &survey, &error) == FP_OK) {
                CHECK(survey.events > HISTORY_CALLS / 10 && survey.events < calls_in(kind));
                CHECK(survey.irregular[CONV_LOST_TAILS] >= 1);
                CHECK(!survey.complete && !conv_survey_knows_losses(&survey));
                CHECK(strstr(survey.incomplete_why, "cannot unpack") != NULL);
                conv_survey_release(&survey);
            } else {
                char words[600];
                HARNESS_FAIL("%s, filter %zu: %s", format->name, k,
                             conv_error_text(&error, words, sizeof words));
            }
        }
    }
}

/* Endless ones too: they would never come to an end that could be judged. */
TEST(garbage_ends_soon)
{
    static const char *const endless[] = {"/dev/zero", "/dev/urandom"};
    static char garbage[3000000];
    uint64_t random = 5;
    const struct conv_format *format;
    struct conv_survey survey;
    for (size_t i = 0; i < sizeof garbage; i++)
        garbage[i] = (char)(test_random(&random) >> 8);
    for (size_t i = 0; (format = conv_format_at(i)) != NULL; i++) {
        const struct conv_options options = {.from = format->name, .salvage = true};
        const enum conv_kind kind = conv_from_kind(format->name);
        CHECK(survey_bytes(garbage, sizeof garbage, &options, &survey, &error) != FP_OK);
        CHECK_U64(conv_error_exit_code(&error), 3);
        if (kind == CONV_KIND_GLIBC_WL) /* which is not read from its beginning to its end */
            continue;
        CHECK(strstr(error.what, format->name) != NULL && strstr(error.what, "no call") != NULL);
        for (unsigned k = 0; k < 2; k++) {
            memset(&survey, 0, sizeof survey);
            CHECK_U64(conv_survey_file(endless[k], &options, &survey, &error), FP_ERR_CORRUPT);
            CHECK(strstr(error.what, "no call") != NULL);
        }
    }
    CHECK_U64(survey_bytes(garbage, sizeof garbage, &SALVAGE, &survey, &error), FP_ERR_FOREIGN);
    CHECK_U64(survey_bytes("= Start\nx\n", 10, &SALVAGE, &survey, &error), FP_ERR_CORRUPT);
    CHECK(strstr(error.what, "no call") != NULL);
}
