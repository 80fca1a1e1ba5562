/* test_convert_archive.c - traces from archives: of one member, whole, with the checksums that they state; else refused, and salvaged. */
#include "convert/convert.h"
#include "convert/open/input.h"
#include "unit/traces.h"

static struct conv_error error;

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
