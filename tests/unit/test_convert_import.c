/* test_convert_import.c - other tools' traces: one random history gives the same ops in every format; packed, piped,
 * cut, with lines of any length; threads that wait for each other. */
#include <errno.h>
#include <fcntl.h>

#include "convert/convert.h"
#include "convert/import/import.h"
#include "convert/open/input.h"
#include "footprint/wl/workload.h"
#include "unit/harness.h"
#include "unit/scratch.h"
#include "unit/traces.h"

static struct conv_error error;

/* ---- one history in every format ------------------------------------------------------------ */

/* The workload's ops, call by call, are the history's. */
static void check_ops(const struct history *history, const char *path, const char *name)
{
    struct wl_reader *reader = NULL;
    struct wl_window window;
    size_t at = 0, wrong = 0;
    if (wl_reader_open(path, NULL, &reader) != FP_OK) {
        HARNESS_FAIL("%s: no workload", name);
        return;
    }
    while (wl_reader_next(reader, &window) == FP_OK)
        for (uint32_t i = 0; i < window.op_count && at < HISTORY_CALLS; i++, at++) {
            const struct call *call = &history->calls[at];
            const unsigned kind = call->kind == 'm'   ? FP_CALL_MALLOC
                                  : call->kind == 'r' ? FP_CALL_REALLOC
                                                      : FP_CALL_FREE;
            wrong += window.ops[i].call != kind || (kind != FP_CALL_FREE && window.ops[i].size != call->size);
        }
    if (wrong > 0 || at != HISTORY_CALLS)
        HARNESS_FAIL("%s: %zu of %zu ops are not the history's", name, wrong, at);
    wl_reader_close(reader);
}

TEST(one_history_is_the_same_in_every_format)
{
    static struct history history;
    const struct conv_format *format;
    make_history(&history, HISTORY_CALLS);
    for (size_t i = 0; (format = conv_format_at(i)) != NULL; i++) {
        const enum conv_kind kind = conv_from_kind(format->name);
        const bool splits = kind == CONV_KIND_HEAPTRACK; /* a realloc is a free and a malloc there */
        const char *path = history_path(&history, kind), *out = scratch_path("history.wl");
        const struct conv_options options = {.overwrite = true, .window_ops = 1000};
        OWNED(conv_report) report = {0};
        CHECK_U64(conv_detect(path), kind);
        CHECK_U64(conv_file(path, out, &options, &report, &error), FP_OK);
        CHECK_U64(report.survey.ops, HISTORY_CALLS + (splits ? history.resizes : 0));
        CHECK_U64(report.survey.requested_bytes, history.requested);
        CHECK_U64(report.survey.live_bytes_peak, history.live_peak);
        CHECK_U64(report.survey.live_bytes_end, history.live_end);
        for (unsigned k = 0; k < CONV_IRREGULARITY_COUNT; k++)
            CHECK_U64(report.survey.irregular[k], 0);
        CHECK(strncmp(report.survey.lacks, format->lacks, strlen(format->lacks)) == 0);
        if (!splits)
            check_ops(&history, out, format->name);
    }
}

/* ---- packed and piped ----------------------------------------------------------------------- */

static void check_requested(const char *path, uint64_t requested)
{
    OWNED(conv_survey) survey = {0};
    char words[600];
    if (conv_survey_file(path, NULL, &survey, &error) != FP_OK)
        HARNESS_FAIL("%s", conv_error_text(&error, words, sizeof words));
    CHECK_U64(survey.requested_bytes, requested);
}

TEST(every_format_is_unpacked)
{
    static int (*const filters[])(struct archive *) = {
        NULL, archive_write_add_filter_gzip, archive_write_add_filter_zstd, archive_write_add_filter_xz,
        archive_write_add_filter_bzip2};
    static struct history history;
    const struct conv_format *format;
    make_history(&history, HISTORY_CALLS);
    for (size_t i = 0; (format = conv_format_at(i)) != NULL; i++) {
        const enum conv_kind kind = conv_from_kind(format->name);
        const char *plain = history_path(&history, kind), *packed = scratch_path("packed");
        for (size_t k = 0; k < COUNT_OF(filters); k++) {
            pack(plain, packed, filters[k] == NULL, filters[k], 1);
            CHECK_U64(conv_detect(packed), kind);
            check_requested(packed, history.requested);
        }
    }
}

TEST(every_format_is_read_from_a_pipe)
{
    static struct history history;
    const struct conv_format *format;
    const int before = dup(STDIN_FILENO);
    make_history(&history, HISTORY_CALLS);
    for (size_t i = 0; (format = conv_format_at(i)) != NULL; i++) {
        const char *path = history_path(&history, conv_from_kind(format->name));
        char command[1200];
        snprintf(command, sizeof command, "cat '%s'", path);
        FILE *pipe = popen(command, "r");
        CHECK(pipe != NULL && dup2(fileno(pipe), STDIN_FILENO) == STDIN_FILENO);
        check_requested("-", history.requested);
        CHECK(pipe != NULL && pclose(pipe) == 0);
    }
    if (before >= 0) {
        dup2(before, STDIN_FILENO);
        close(before);
    }
}

/* ---- ends, lines, processes ----------------------------------------------------------------- */

static enum fp_status survey_text(const char *text, struct conv_survey *ret)
{
    return survey_bytes(text, strlen(text), NULL, ret, &error);
}

/* Whatever is cut off a trace of one process that was killed: what stands before converts, and the cut is told. */
TEST(cut_ends_are_counted)
{
    static struct history history;
    const struct conv_format *format;
    make_history(&history, HISTORY_SHORT);
    for (size_t i = 0; (format = conv_format_at(i)) != NULL; i++) {
        const enum conv_kind kind = conv_from_kind(format->name);
        const char *path = history_path(&history, kind);
        const struct conv_options options = {.from = format->name};
        struct conv_survey survey;
        size_t size, cuts = 0;
        char *bytes = scratch_read(path, &size);
        for (size_t length = size - 1; length > size - 60; length--) {
            const enum fp_status status = survey_bytes(bytes, length, &options, &survey, &error);
            if (kind == CONV_KIND_GLIBC_WL) { /* it is written whole or not at all */
                CHECK_U64(status, FP_ERR_TRUNCATED);
                continue;
            }
            CHECK_U64(status, FP_OK);
            CHECK(survey.events > HISTORY_SHORT - 10);
            CHECK(survey.irregular[CONV_CUT_LINES] <= 1);
            CHECK(survey.irregular[CONV_CUT_LINES] == 0 || !survey.complete);
            cuts += survey.irregular[CONV_CUT_LINES];
            conv_survey_release(&survey);
        }
        if (kind != CONV_KIND_GLIBC_WL && cuts < 5)
            HARNESS_FAIL("%s: only %zu cuts were noticed", format->name, cuts);
        free(bytes);
    }
}

TEST(lines_of_any_sensible_length_are_read)
{
    struct conv_survey survey;
    OWNED_TEXT *text = malloc(80000);
    /* names of C++ functions */
    memcpy(text, "= Start\n@ ./a:(", 15);
    memset(text + 15, 'Z', 20000);
    strcpy(text + 20015, "+0x1)[0x1] + 0x1000 0x10\n");
    CHECK_U64(survey_text(text, &survey), FP_OK);
    CHECK_U64(survey.requested_bytes, 16);
    conv_survey_release(&survey);
    memset(text + 15, 'Z', 70000);
    strcpy(text + 70015, "+0x1)[0x1] + 0x1000 0x10\n");
    size_t length = strlen(text);
    CHECK_U64(survey_bytes(text, length, NULL, &survey, &error), FP_ERR_CORRUPT);
    CHECK_U64(error.line, 2);
    CHECK_U64(error.cause.offset, 8);
}

TEST(what_is_no_trace_is_foreign)
{
    static const char zeroes[4800];
    static const char *const texts[] = {
        "5\n", "1\n2\n3\n4\n", "= Begin\n", "v\n", "5 6 7\n", "\x08\x01\x09\x01", "hello\n", "", "\n\n\n"};
    struct conv_survey survey;
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        if (survey_text(texts[i], &survey) != FP_ERR_FOREIGN)
            HARNESS_FAIL("'%s' was taken for a trace", texts[i]);
    CHECK_U64(survey_bytes(zeroes, sizeof zeroes, NULL, &survey, &error), FP_ERR_FOREIGN);
    CHECK_U64(survey_bytes("", 0, &(struct conv_options){.from = "elf"}, &survey, &error), FP_ERR_ARGUMENT);
    CHECK(strstr(error.what, "mtrace") != NULL);
    CHECK_U64(conv_survey_file("/nonexistent/trace", NULL, &survey, &error), FP_ERR_OPEN);
    CHECK_U64(error.cause.sys_errno, ENOENT);
}
