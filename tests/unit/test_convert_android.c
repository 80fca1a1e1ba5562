/* test_convert_android.c - Android's text: what is taken, what is refused and where, from plain files and archives. */
#include "convert/convert.h"
#include "convert/open/input.h"
#include "unit/traces.h"

static struct conv_error error;

static enum fp_status survey_text(const char *text, struct conv_survey *ret)
{
    return survey_bytes(text, strlen(text), NULL, ret, &error);
}

TEST(good_lines_are_taken)
{
    OWNED(conv_survey) survey;
    CHECK_U64(survey_text("7: malloc 0x1000 100\n"
                          "7: calloc 0x2000 3 40\r\n"
                          "\n"
                          "8: realloc 0x3000 0x1000 200\n"
                          "8: realloc 0x4000 0x0 5\n"
                          "7: memalign 0x5000 64 1000\n"
                          "7: free 0xB400000000003000\n" /* a tagged pointer */
                          "7: free 0x0\n"
                          "8: thread_done 0x0\n"
                          "8: malloc 0x3000 1 500 600\n" /* the id again: another thread */
                          "7: malloc 0x0 77 700 800\n",
                          &survey),
              FP_OK);
    CHECK_U64(survey.kind, CONV_KIND_ANDROID);
    CHECK_U64(survey.events, 9);
    CHECK_U64(survey.ops, 8);
    CHECK_U64(survey.threads, 3);
    CHECK_U64(survey.thread_exits, 1);
    CHECK_U64(survey.requested_bytes, 100 + 120 + 200 + 5 + 1000 + 1);
    CHECK_U64(survey.live_objects_end, 4);
    CHECK_U64(survey.live_bytes_end, 120 + 5 + 1000 + 1);
    CHECK_U64(survey.duration_ns, 200);
    CHECK_U64(survey.irregular[CONV_FAILED_CALLS], 1);
    CHECK_U64(survey.irregular[CONV_FREE_OF_UNKNOWN], 0);
    CHECK_U64(survey.events_by_call[FP_CALL_CALLOC], 1);
    CHECK(survey.complete);
}

struct bad_line {
    const char *line;
    const char *what;
};

TEST(bad_lines_are_refused_with_line_and_offset)
{
    static const struct bad_line bad[] = {
        {"malloc 0x1000 100", "thread id"},
        {"0: malloc 0x1000 100", "thread id"},
        {"4294967296: malloc 0x1000 100", "thread id"},
        {"7: mallok 0x1000 100", "not a call"},
        {"7:", "not a call"},
        {"7: malloc 1000 100", "no address"},
        {"7: malloc 0x 100", "no address"},
        {"7: malloc 0x00000000000001000 100", "no address"},
        {"7: malloc 0x1000000000000 100", "no address"},
        {"7: malloc 0x1000", "no size"},
        {"7: malloc 0x1000 -1", "no size"},
        {"7: malloc 0x1000 99999999999999999999", "no size"},
        {"7: malloc 0x1000 12x", "no size"},
        {"7: realloc 0x1000 100", "old address"},
        {"7: calloc 0x1000 100", "no size"},
        {"7: malloc 0x1000 100 5", "end time"},
        {"7: malloc 0x1000 100 6 5", "end time"},
        {"7: malloc 0x1000 100 5 6 7", "times"},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct conv_survey survey;
        char text[256], words[600];
        snprintf(text, sizeof text, "7: malloc 0x1000 100\n7: free 0x1000\n%s\n7: free 0x0\n", bad[i].line);
        CHECK_U64(survey_text(text, &survey), FP_ERR_CORRUPT);
        CHECK_U64(error.line, 3);
        CHECK_U64(error.cause.offset, 36);
        CHECK_U64(conv_error_exit_code(&error), 3);
        conv_error_text(&error, words, sizeof words);
        if (strstr(words, bad[i].what) == NULL || strstr(words, "line 3") == NULL)
            HARNESS_FAIL("'%s' was worded as '%s'", bad[i].line, words);
    }
}

/* ---- archives ------------------------------------------------------------------------------ */

static const char TRACE[] = "7: malloc 0x1000 100\n7: free 0x1000\n";

/* The trace in an archive of that name. */
static const char *packed(const char *name, bool zip, int (*filter)(struct archive *), unsigned members)
{
    const char *path = scratch_path(name);
    scratch_write(scratch_path("plain"), TRACE, strlen(TRACE));
    pack(scratch_path("plain"), path, zip, filter, members);
    return path;
}

TEST(damaged_archives_are_refused)
{
    struct conv_survey survey = {0};
    const char *path = packed("two.zip", true, NULL, 2);
    const struct conv_options android = {.from = "android"};
    size_t size, refused = 0;
    CHECK_U64(conv_survey_file(path, NULL, &survey, &error), FP_ERR_READ);
    CHECK_U64(conv_error_exit_code(&error), 3);
    CHECK(strstr(error.what, "several") != NULL);
    path = packed("damaged.gz", false, archive_write_add_filter_gzip, 1);
    OWNED_TEXT *bytes = scratch_read(path, &size);
    for (size_t cut = 1; cut < size; cut++) {
        scratch_write(path, bytes, cut);
        if (conv_survey_file(path, &android, &survey, &error) != FP_OK)
            refused++;
        else
            conv_survey_release(&survey);
    }
    CHECK_U64(refused, size - 2); /* one byte is no gzip yet, but half a line */
}

/* Refused, but with --salvage all that was unpacked is there. */
static void check_wrong(const char *path, const char *bytes, size_t size, const char *what)
{
    const struct conv_options android = {.from = "android"}, salvage = {.from = "android", .salvage = true};
    OWNED(conv_survey) survey = {0};
    scratch_write(path, bytes, size);
    CHECK(conv_survey_file(path, &android, &survey, &error) != FP_OK);
    CHECK_U64(conv_error_exit_code(&error), 3);
    if (strstr(error.what, what) == NULL)
        CHECK_STR(error.what, what);
    CHECK_U64(conv_survey_file(path, &salvage, &survey, &error), FP_OK);
    CHECK_U64(survey.events, 2);
    CHECK_U64(survey.irregular[CONV_LOST_TAILS], 1);
    CHECK(!survey.complete && !conv_survey_knows_losses(&survey));
}

/* libarchive looks neither at gzip's checksum and length nor behind its end, and only warns of a zip file's checksum. */
TEST(wrong_checksums_are_refused)
{
    const char *path = packed("wrong.gz", false, archive_write_add_filter_gzip, 1);
    struct conv_survey survey = {0};
    size_t size;
    char *bytes = scratch_read(path, &size);
    bytes[size - 8] ^= 1;
    check_wrong(path, bytes, size, "incorrect data check");
    bytes[size - 8] ^= 1;
    bytes[size - 4] ^= 1;
    check_wrong(path, bytes, size, "incorrect length check");
    bytes[size - 4] ^= 1;
    OWNED_TEXT *longer = calloc(2, size + 1000);
    memcpy(longer, bytes, size);
    scratch_write(path, longer, size + 1000); /* padding, as of a tape */
    CHECK_U64(conv_survey_file(path, NULL, &survey, &error), FP_OK);
    CHECK_U64(survey.events, 2);
    CHECK_U64(survey.file_bytes, size + 1000);
    conv_survey_release(&survey);
    longer[size + 999] = 1;
    check_wrong(path, longer, size + 1000, "follow the compressed data");
    memcpy(longer + size, bytes, size); /* several members are one text */
    scratch_write(path, longer, 2 * size);
    CHECK_U64(conv_survey_file(path, NULL, &survey, &error), FP_OK);
    CHECK_U64(survey.events, 4);
    conv_survey_release(&survey);
    free(bytes);
    path = packed("wrong.zip", true, NULL, 1);
    bytes = scratch_read(path, &size);
    for (size_t at = 0; at + 20 < size;
         at++) /* checksums stand behind the member, and in the list at the end */
        if (memcmp(bytes + at, "PK\1\2", 4) == 0)
            bytes[at + 16] ^= 1;
        else if (memcmp(bytes + at, "PK\7\10", 4) == 0)
            bytes[at + 4] ^= 1;
    check_wrong(path, bytes, size, "CRC");
    free(bytes);
}
