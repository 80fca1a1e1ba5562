/* test_convert_damage.c - footprints that are cut, damaged, or newer: what is whole is converted where it is known to be, all
 * else is refused with its place, or with --salvage left out and counted. */
#include "unit/footprints.h"
#include "unit/readers.h"

/* A recorder that was killed leaves whole blocks and perhaps half a one: what is whole converts. */
TEST(cut_footprints_convert_what_is_whole)
{
    const char *whole = scratch_path("whole.fp"), *cut = scratch_path("cut.fp"), *wl = scratch_path("cut.wl");
    const struct conv_options force = {.overwrite = true};
    uint64_t before = 0, last = 0;
    size_t size, refused = 0;
    make_footprint(whole, 3, 5, 9, false);
    char *bytes = scratch_read(whole, &size);
    for (size_t at = 64; at <= size; at += size / 37) {
        struct conv_report report;
        scratch_write(cut, bytes, at);
        if (before == 0 && convert(cut, wl, &force, &report) != FP_OK) {
            /* nothing but its head is left */
            CHECK_U64(error.cause.status, FP_ERR_TRUNCATED);
            CHECK(strstr(error.what, "no call is left") != NULL);
            CHECK_U64(conv_survey_file(cut, NULL, &(struct conv_survey){0}, &error), FP_ERR_TRUNCATED);
            CHECK(access(wl, F_OK) != 0);
            refused++;
            continue;
        }
        CHECK_U64(convert(cut, wl, &force, &report), FP_OK);
        CHECK(!report.survey.complete);
        CHECK(!conv_survey_knows_losses(
            &report.survey)); /* also where no block was cut: a trailer counts them */
        CHECK(report.survey.incomplete_why[0] != '\0');
        CHECK(report.survey.events >= before);
        before = last = report.survey.events;
        conv_report_release(&report);
    }
    CHECK(last > 10000);
    CHECK(refused > 0);
    scratch_write(cut, bytes, 40);
    CHECK_U64(conv_survey_file(cut, &force, &(struct conv_survey){0}, &error), FP_ERR_TRUNCATED);
    CHECK_U64(conv_error_exit_code(&error), 3);
    free(bytes);
}

/* A machine that stopped leaves zeroes where data should have come; with anything behind them it is damage. */
TEST(a_tail_of_zeroes_is_no_more_than_a_cut)
{
    static const size_t tails[] = {1, 63, 64, 65, 4096, 10000};
    const char *whole = scratch_path("zeroes.fp"), *tailed = scratch_path("tailed.fp");
    struct conv_survey survey = {0};
    size_t size;
    make_footprint(whole, 2, 5, 9, false);
    OWNED_TEXT *bytes = scratch_read(whole, &size);
    CHECK_U64(conv_survey_file(whole, NULL, &survey, &error), FP_OK);
    uint64_t events = survey.events;
    conv_survey_release(&survey);
    for (size_t i = 0; i < COUNT_OF(tails); i++) {
        OWNED_TEXT *longer = calloc(1, size + tails[i]);
        memcpy(longer, bytes, size);
        scratch_write(tailed, longer, size + tails[i]);
        CHECK_U64(conv_survey_file(tailed, NULL, &survey, &error), FP_OK);
        CHECK_U64(survey.events, events);
        CHECK(!survey.complete);
        conv_survey_release(&survey);
        longer[size + tails[i] - 1] = 1;
        scratch_write(tailed, longer, size + tails[i]);
        CHECK_U64(conv_survey_file(tailed, NULL, &survey, &error), tails[i] < 64 ? FP_OK : FP_ERR_CORRUPT);
        conv_survey_release(&survey);
    }
}

/* One flipped bit: refused with the file's name, and nothing left behind; or it hit what carries nothing. */
TEST(flipped_bits_are_refused_or_salvaged)
{
    const char *whole = scratch_path("bits.fp"), *bad = scratch_path("bad.fp"), *wl = scratch_path("bad.wl");
    const struct conv_options salvage = {.overwrite = true, .salvage = true};
    size_t size, refused = 0, salvaged = 0, tried = 0;
    make_footprint(whole, 2, 5, 9, true);
    char *bytes = scratch_read(whole, &size);
    for (size_t at = 100; at < size; at += size / 61, tried++) {
        struct conv_report report;
        bytes[at] ^= 0x10;
        scratch_write(bad, bytes, size);
        bytes[at] ^= 0x10;
        if (convert(bad, wl, NULL, &report) == FP_OK) {
            conv_report_release(&report);
            unlink(wl);
            continue;
        }
        refused++;
        CHECK_STR(error.path, bad);
        CHECK_U64(conv_error_exit_code(&error), 3);
        CHECK(access(wl, F_OK) != 0);
        if (convert(bad, wl, &salvage, &report) == FP_OK) {
            salvaged++;
            CHECK(!report.survey.complete);
            conv_report_release(&report);
            unlink(wl);
        }
    }
    CHECK(refused > tried * 9 / 10);
    CHECK(salvaged > tried * 8 / 10);
    free(bytes);
}

/* Every call is there, or among those that may be lost; the workload says the same. */
static void check_left_out(const char *bad, const char *wl, uint64_t events, bool is_known)
{
    const struct conv_options salvage = {.overwrite = true, .salvage = true};
    struct conv_survey survey = {0};
    OWNED(conv_report) report;
    char text[CONV_PATH_BYTES + 512];
    CHECK(conv_survey_file(bad, NULL, &survey, &error) != FP_OK);
    CHECK(strstr(conv_error_text(&error, text, sizeof text), "--salvage") != NULL);
    CHECK_U64(conv_survey_file(bad, &salvage, &survey, &error), FP_OK);
    CHECK(survey.events < events && survey.events > 0);
    CHECK(!survey.complete && strstr(survey.incomplete_why, "did not finish") == NULL);
    CHECK(conv_survey_knows_losses(&survey) == is_known);
    if (is_known)
        CHECK(survey.events + survey.irregular[CONV_DAMAGED_BLOCKS] >= events);
    CHECK((survey.irregular[CONV_LOST_TAILS] == 0) == is_known);
    CHECK_U64(convert(bad, wl, &salvage, &report), FP_OK);
    CHECK_U64(report.survey.lost_marks, survey.irregular[CONV_DAMAGED_BLOCKS]);
    conv_survey_release(&survey);
    CHECK_U64(conv_survey_file(wl, NULL, &survey, &error), FP_OK);
    CHECK_U64(survey.lost_marks, survey.irregular[CONV_DAMAGED_BLOCKS]);
    CHECK((survey.irregular[CONV_DAMAGED_BLOCKS] > 0) || !is_known);
    CHECK(conv_survey_knows_losses(&survey) == is_known);
    conv_survey_release(&survey);
}

TEST(what_salvage_leaves_out_counts_as_lost)
{
    const char *whole = scratch_path("left.fp"), *bad = scratch_path("left-bad.fp"),
               *wl = scratch_path("left.wl");
    OWNED(conv_survey) survey = {0};
    size_t size;
    make_footprint(whole, 2, 5, 9, true);
    CHECK_U64(conv_survey_file(whole, NULL, &survey, &error), FP_OK);
    OWNED_TEXT *bytes = scratch_read(whole, &size);
    bytes[size / 2] ^= 0x10; /* in a block */
    scratch_write(bad, bytes, size);
    check_left_out(bad, wl, survey.events, true);
    bytes[size / 2] ^= 0x10;
    memmove(bytes + size / 2, bytes + size / 2 + 10,
            size - size / 2 - 10); /* no block begins where one should */
    scratch_write(bad, bytes, size - 10);
    check_left_out(bad, wl, survey.events, false);
}

/* All calls in blocks that cannot be read: nothing to convert, and what stands at the output stays. */
TEST(a_footprint_without_a_readable_call_is_refused)
{
    const char *fp = scratch_path("unreadable.fp"), *wl = scratch_path("kept.wl");
    const struct conv_options salvage = {.overwrite = true, .salvage = true};
    struct conv_report report;
    size_t size, kept;
    make_footprint(fp, 1, 1, 1, true);
    CHECK_U64(convert(fp, wl, NULL, &report), FP_OK);
    conv_report_release(&report);
    OWNED_TEXT *before = scratch_read(wl, &kept);
    OWNED_TEXT *bytes = scratch_read(fp, &size);
    FP_READER *reader = fp_opened(fp);
    for (size_t i = 0; i < fp_reader_info(reader)->block_count; i++)
        bytes[fp_reader_info(reader)->blocks[i].offset + 70] ^= 1; /* behind the block's header */
    scratch_write(fp, bytes, size);
    CHECK_U64(convert(fp, wl, &salvage, &report), FP_ERR_CORRUPT);
    CHECK(strstr(error.what, "no call is left") != NULL);
    CHECK_U64(conv_error_exit_code(&error), 3);
    CHECK_U64(conv_survey_file(fp, &salvage, &(struct conv_survey){0}, &error), FP_ERR_CORRUPT);
    OWNED_TEXT *after = scratch_read(wl, &size);
    CHECK(size == kept && memcmp(before, after, size) == 0);
}

TEST(a_newer_file_is_told_by_both_versions)
{
    const char *fp = scratch_path("newer.fp");
    struct conv_survey survey;
    char text[600];
    size_t size;
    make_footprint(fp, 1, 1, 1, true);
    OWNED_TEXT *bytes = scratch_read(fp, &size);
    bytes[8] = 99;
    scratch_write(fp, bytes, size);
    CHECK_U64(conv_survey_file(fp, NULL, &survey, &error), FP_ERR_VERSION);
    CHECK_U64(conv_error_exit_code(&error), 3);
    conv_error_text(&error, text, sizeof text);
    CHECK(strstr(text, "version 99") != NULL && strstr(text, "up to 1") != NULL);
}
