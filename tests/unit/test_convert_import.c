/* test_convert_import.c - other tools' traces: one random history gives the same ops in every format; packed, piped,
 * cut, with lines of any length; processes of a log; threads that wait for each other. */
#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>

#include "convert/convert.h"
#include "convert/import/import.h"
#include "convert/import/turns.h"
#include "footprint/workload.h"
#include "unit/harness.h"
#include "unit/scratch.h"

static struct conv_error error;

/* ---- one history in every format ------------------------------------------------------------ */

#define HISTORY_CALLS 20000u
#define HISTORY_IDS   500u

struct call {
    char kind; /* 'm', 'r', 'f' */
    unsigned id;
    unsigned size;
};

struct history {
    struct call calls[HISTORY_CALLS];
    uint64_t requested, live_peak, live_end;
    uint64_t resizes;
};

static uint32_t random_next(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void make_history(struct history *history)
{
    static unsigned sizes[HISTORY_IDS + 1]; /* of live objects + 1; 0: none */
    uint32_t random = 20261121;
    uint64_t live = 0;
    memset(history, 0, sizeof *history);
    memset(sizes, 0, sizeof sizes);
    for (size_t i = 0; i < HISTORY_CALLS; i++) {
        struct call *call = &history->calls[i];
        call->id = 1 + random_next(&random) % HISTORY_IDS;
        call->size = random_next(&random) % 3000;
        call->kind = sizes[call->id] == 0 ? 'm' : random_next(&random) % 5 == 0 ? 'r' : 'f';
        live -= sizes[call->id] != 0 ? sizes[call->id] - 1 : 0;
        sizes[call->id] = call->kind == 'f' ? 0 : call->size + 1;
        if (call->kind == 'f')
            continue;
        live += call->size;
        history->requested += call->size;
        history->resizes += call->kind == 'r';
        if (live > history->live_peak)
            history->live_peak = live;
    }
    history->live_end = live;
}

static void put_number(FILE *out, uint64_t value)
{
    uint8_t bytes[10];
    size_t at = sizeof bytes;
    bytes[--at] = value & 127;
    while ((value >>= 7) != 0)
        bytes[--at] = (uint8_t)((value & 127) | 128);
    fwrite(bytes + at, 1, sizeof bytes - at, out);
}

static void put_record(FILE *out, uint32_t operation, uint64_t slot, uint64_t size)
{
    struct {
        uint32_t operation;
        uint16_t thread, log2;
        uint64_t slot, size;
    } record = {operation, 0, 0, slot, size};
    fwrite(&record, 1, 24, out);
}

static void put_head(FILE *out, enum conv_kind kind)
{
    if (kind == CONV_KIND_2009)
        fprintf(out, "%-20u\n", HISTORY_IDS + 1);
    if (kind == CONV_KIND_MTRACE)
        fputs("= Start\n", out);
    if (kind == CONV_KIND_REP)
        fprintf(out, "1000\n%u\n%u\n1\n", HISTORY_IDS + 1, HISTORY_CALLS);
    if (kind == CONV_KIND_HEAPTRACK)
        fputs("v 10400 3\n", out);
    if (kind == CONV_KIND_GLIBC_WL) {
        fputs("\x08", out);
        put_number(out, HISTORY_IDS + 1);
        fwrite("\x09\0\x0a\x01\x0b\x0a\x01", 1, 7, out); /* 10 bytes in all */
    }
}

static void put_call(FILE *out, enum conv_kind kind, const struct call *call)
{
    const unsigned long at = 0x7f0000001000ul + 64ul * call->id;
    const unsigned id = call->id, size = call->size;
    const char c = call->kind;
    switch (kind) {
    case CONV_KIND_ANDROID:
        if (c == 'r')
            fprintf(out, "7: realloc 0x%lx 0x%lx %u\n", at, at, size);
        else
            fprintf(out, c == 'm' ? "7: malloc 0x%lx %u\n" : "7: free 0x%lx\n", at, size);
        break;
    case CONV_KIND_2009_RAW:
        if (c == 'r')
            fprintf(out, "x%lx = realloc(x%lx, %u);\n", at, at, size);
        else
            fprintf(out, c == 'm' ? "x%lx = malloc(%u);\n" : "free(x%lx);\n", at, size);
        break;
    case CONV_KIND_2009:
        if (c == 'r')
            fprintf(out, "r %u %u %u\n", id, id, size);
        else
            fprintf(out, c == 'm' ? "m %u %u\n" : "f %u\n", id, size);
        break;
    case CONV_KIND_MTRACE:
        if (c == 'r')
            fprintf(out, "@ [0x1] < 0x%lx\n@ [0x1] > 0x%lx %#x\n", at, at, size);
        else
            fprintf(out, c == 'm' ? "@ ./a:[0x1] + 0x%lx %#x\n" : "- 0x%lx\n", at, size);
        break;
    case CONV_KIND_GLIBC_WL:
        put_number(out, c == 'm' ? 2 : c == 'r' ? 4 : 5);
        put_number(out, id);
        if (c == 'r')
            put_number(out, id);
        if (c != 'f')
            put_number(out, size);
        break;
    case CONV_KIND_LOGALLOC:
        if (c == 'r')
            fprintf(out, "5 6 realloc(0x%lx,%u)=0x%lx\n", at, size, at);
        else if (c == 'm')
            fprintf(out, "5 6 malloc(%u)=0x%lx\n", size, at);
        else
            fprintf(out, "5 6 free(0x%lx)\n", at);
        break;
    case CONV_KIND_OPS:
        put_record(out, c == 'm' ? 0 : c == 'r' ? 2 : 1, id, c == 'f' ? 0 : size);
        break;
    case CONV_KIND_REP:
        fprintf(out, c == 'f' ? "f %u\n" : c == 'm' ? "a %u %u\n" : "r %u %u\n", id, size);
        break;
    case CONV_KIND_HEAPTRACK:
        if (c != 'm')
            fprintf(out, "- %lx\n", at);
        if (c != 'f')
            fprintf(out, "+ %x 1 %lx\n", size, at);
        break;
    default:
        HARNESS_FAIL("no writer of format '%s'", conv_kind_name(kind));
    }
}

static const char *history_path(const struct history *history, enum conv_kind kind)
{
    const char *path = scratch_path(conv_kind_name(kind));
    FILE *out = fopen(path, "wb");
    if (out == NULL)
        abort();
    put_head(out, kind);
    for (size_t i = 0; i < HISTORY_CALLS; i++)
        put_call(out, kind, &history->calls[i]);
    if (kind == CONV_KIND_GLIBC_WL)
        put_number(out, 1);
    if (fclose(out) != 0)
        abort();
    return path;
}

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
    struct conv_format_facts facts;
    make_history(&history);
    for (size_t i = 0; conv_format_facts(i, &facts); i++) {
        const enum conv_kind kind = conv_from_kind(facts.name);
        const bool splits = kind == CONV_KIND_HEAPTRACK; /* a realloc is a free and a malloc there */
        const char *path = history_path(&history, kind), *out = scratch_path("history.wl");
        const struct conv_options options = {.overwrite = true, .window_ops = 1000};
        struct conv_report report = {0};
        CHECK_U64(conv_detect(path), kind);
        CHECK_U64(conv_file(path, out, &options, &report, &error), FP_OK);
        CHECK_U64(report.survey.ops, HISTORY_CALLS + (splits ? history.resizes : 0));
        CHECK_U64(report.survey.requested_bytes, history.requested);
        CHECK_U64(report.survey.live_bytes_peak, history.live_peak);
        CHECK_U64(report.survey.live_bytes_end, history.live_end);
        for (unsigned k = 0; k < CONV_IRREGULARITY_COUNT; k++)
            CHECK_U64(report.survey.irregular[k], 0);
        CHECK(strncmp(report.survey.lacks, facts.lacks, strlen(facts.lacks)) == 0);
        if (!splits)
            check_ops(&history, out, facts.name);
        conv_report_release(&report);
    }
}

/* ---- packed and piped ----------------------------------------------------------------------- */

static void pack(const char *from, const char *to, bool zip, int (*filter)(struct archive *))
{
    struct archive *archive = archive_write_new();
    struct archive_entry *entry = archive_entry_new();
    size_t size;
    char *bytes = scratch_read(from, &size);
    CHECK((zip ? archive_write_set_format_zip(archive) : archive_write_set_format_raw(archive)) ==
          ARCHIVE_OK);
    CHECK(filter == NULL || filter(archive) == ARCHIVE_OK);
    CHECK(archive_write_open_filename(archive, to) == ARCHIVE_OK);
    archive_entry_set_pathname(entry, "trace");
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_size(entry, (la_int64_t)size);
    CHECK(archive_write_header(archive, entry) == ARCHIVE_OK);
    CHECK(archive_write_data(archive, bytes, size) == (la_ssize_t)size);
    archive_entry_free(entry);
    CHECK(archive_write_close(archive) == ARCHIVE_OK);
    CHECK(archive_write_free(archive) == ARCHIVE_OK);
    free(bytes);
}

static void check_requested(const char *path, uint64_t requested)
{
    struct conv_survey survey = {0};
    char words[600];
    if (conv_survey_file(path, NULL, &survey, &error) != FP_OK)
        HARNESS_FAIL("%s", conv_error_text(&error, words, sizeof words));
    CHECK_U64(survey.requested_bytes, requested);
    conv_survey_release(&survey);
}

TEST(every_format_is_unpacked)
{
    static struct history history;
    struct conv_format_facts facts;
    make_history(&history);
    for (size_t i = 0; conv_format_facts(i, &facts); i++) {
        const enum conv_kind kind = conv_from_kind(facts.name);
        const char *plain = history_path(&history, kind), *packed = scratch_path("packed");
        pack(plain, packed, true, NULL);
        CHECK_U64(conv_detect(packed), kind);
        check_requested(packed, history.requested);
        pack(plain, packed, false, archive_write_add_filter_gzip);
        check_requested(packed, history.requested);
        pack(plain, packed, false, archive_write_add_filter_zstd);
        check_requested(packed, history.requested);
    }
}

TEST(every_format_is_read_from_a_pipe)
{
    static struct history history;
    struct conv_format_facts facts;
    const int before = dup(STDIN_FILENO);
    make_history(&history);
    for (size_t i = 0; conv_format_facts(i, &facts); i++) {
        const char *path = history_path(&history, conv_from_kind(facts.name));
        char command[1200];
        FILE *pipe;
        snprintf(command, sizeof command, "cat '%s'", path);
        pipe = popen(command, "r");
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

static enum fp_status survey_bytes(const void *bytes, size_t size, const struct conv_options *options,
                                   struct conv_survey *ret)
{
    const char *path = scratch_path("trace");
    scratch_write(path, bytes, size);
    memset(ret, 0, sizeof *ret);
    return conv_survey_file(path, options, ret, &error);
}

static enum fp_status survey_text(const char *text, struct conv_survey *ret)
{
    return survey_bytes(text, strlen(text), NULL, ret);
}

/* Whatever is cut off a trace of one process that was killed: what stands before converts, and the cut is told. */
TEST(cut_ends_are_counted)
{
    static struct history history;
    struct conv_format_facts facts;
    make_history(&history);
    for (size_t i = 0; conv_format_facts(i, &facts); i++) {
        const enum conv_kind kind = conv_from_kind(facts.name);
        const char *path = history_path(&history, kind);
        const struct conv_options options = {.from = facts.name};
        struct conv_survey survey;
        size_t size, cuts = 0;
        char *bytes = scratch_read(path, &size);
        for (size_t length = size - 1; length > size - 60; length--) {
            const enum fp_status status = survey_bytes(bytes, length, &options, &survey);
            if (kind == CONV_KIND_GLIBC_WL) { /* it is written whole or not at all */
                CHECK_U64(status, FP_ERR_TRUNCATED);
                continue;
            }
            CHECK_U64(status, FP_OK);
            CHECK(survey.events > HISTORY_CALLS - 10);
            CHECK(survey.irregular[CONV_CUT_LINES] <= 1);
            CHECK(survey.irregular[CONV_CUT_LINES] == 0 || !survey.complete);
            cuts += survey.irregular[CONV_CUT_LINES];
            conv_survey_release(&survey);
        }
        if (kind != CONV_KIND_GLIBC_WL && cuts < 5)
            HARNESS_FAIL("%s: only %zu cuts were noticed", facts.name, cuts);
        free(bytes);
    }
}

TEST(a_header_that_states_more_calls_is_told)
{
    struct conv_survey survey;
    CHECK_U64(survey_text("10\n1\n3\n1\na 0 5\nf 0\n", &survey), FP_OK);
    CHECK_U64(survey.events, 2);
    CHECK(!survey.complete && strstr(survey.incomplete_why, "3 calls") != NULL);
    conv_survey_release(&survey);
}

TEST(lines_of_any_sensible_length_are_read)
{
    struct conv_survey survey;
    char *text = malloc(80000);
    size_t length;
    /* names of C++ functions */
    memcpy(text, "= Start\n@ ./a:(", 15);
    memset(text + 15, 'Z', 20000);
    strcpy(text + 20015, "+0x1)[0x1] + 0x1000 0x10\n");
    CHECK_U64(survey_text(text, &survey), FP_OK);
    CHECK_U64(survey.requested_bytes, 16);
    conv_survey_release(&survey);
    memset(text + 15, 'Z', 70000);
    strcpy(text + 70015, "+0x1)[0x1] + 0x1000 0x10\n");
    length = strlen(text);
    CHECK_U64(survey_bytes(text, length, NULL, &survey), FP_ERR_CORRUPT);
    CHECK_U64(error.line, 2);
    CHECK_U64(error.cause.offset, 8);
    free(text);
}

TEST(numbers_of_64_bits_are_numbers)
{
    struct conv_survey survey;
    CHECK_U64(survey_text("x10 = malloc(18446744073709551615);\nxffffffffffffffff = malloc(7);\n", &survey),
              FP_OK);
    CHECK_U64(survey.irregular[CONV_IMPOSSIBLE_CALLS], 2);
    CHECK_U64(survey.ops, 0);
    conv_survey_release(&survey);
    CHECK_U64(survey_text("x10 = malloc(1);\nx10 = malloc(18446744073709551616);\n", &survey),
              FP_ERR_CORRUPT);
    CHECK_U64(survey_text("x10 = malloc(1);\nx20 = malloc(99999999999999999999);\n", &survey),
              FP_ERR_CORRUPT);
}

TEST(a_process_of_a_log_is_chosen)
{
    static const char log[] = "5 5 malloc(1)=#1\n6 6 malloc(10)=#1\n5 5 free(#1)\n6 7 malloc(20)=#2\n";
    const struct conv_options six = {.process_id = 6}, seven = {.process_id = 7};
    struct conv_survey survey;
    CHECK_U64(survey_text(log, &survey), FP_OK);
    CHECK_U64(survey.requested_bytes, 1);
    CHECK_U64(survey.process_id, 5);
    CHECK_U64(survey.process_count, 2);
    conv_survey_release(&survey);
    CHECK_U64(survey_bytes(log, strlen(log), &six, &survey), FP_OK);
    CHECK_U64(survey.requested_bytes, 30);
    CHECK_U64(survey.threads, 2);
    CHECK_U64(survey.process_id, 6);
    conv_survey_release(&survey);
    CHECK_U64(survey_bytes(log, strlen(log), &seven, &survey), FP_ERR_ARGUMENT);
    CHECK_U64(conv_error_exit_code(&error), 2);
}

TEST(what_a_trace_itself_lacks_is_told)
{
    struct conv_survey survey;
    CHECK_U64(survey_text("1: malloc 0x1000 1\n", &survey), FP_OK);
    CHECK_STR(survey.lacks, "exact call, time");
    conv_survey_release(&survey);
    CHECK_U64(survey_text("1: malloc 0x1000 1 5 6\n", &survey), FP_OK);
    CHECK_STR(survey.lacks, "exact call");
    conv_survey_release(&survey);
    CHECK_U64(survey_text("1 malloc(5)=#1\n", &survey), FP_OK);
    CHECK_STR(survey.lacks, "time, exact call, threads");
    conv_survey_release(&survey);
}

TEST(what_is_no_trace_is_foreign)
{
    static const char zeroes[4800];
    static const char *const texts[] = {"5\n", "1\n2\n3\n4\n", "= Begin\n",
                                        "v\n", "5 6 7\n",      "\x08\x01\x09\x01"};
    struct conv_survey survey;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (survey_text(texts[i], &survey) != FP_ERR_FOREIGN)
            HARNESS_FAIL("'%s' was taken for a trace", texts[i]);
    CHECK_U64(survey_bytes(zeroes, sizeof zeroes, NULL, &survey), FP_ERR_FOREIGN);
    CHECK_U64(survey_bytes(zeroes, sizeof zeroes, &(struct conv_options){.from = "ops"}, &survey), FP_OK);
    CHECK_U64(survey.events, 200);
    conv_survey_release(&survey);
    CHECK_U64(survey_bytes("", 0, &(struct conv_options){.from = "elf"}, &survey), FP_ERR_ARGUMENT);
    CHECK(strstr(error.what, "mtrace") != NULL);
}

/* ---- turns ---------------------------------------------------------------------------------- */

TEST(turns_follow_waits)
{
    struct conv_turns turns;
    uint32_t thread = 99;
    CHECK(conv_turns_init(&turns, 3, 10));
    for (uint32_t i = 0; i < 3; i++)
        CHECK(conv_turns_next(&turns, &thread) && thread == i);
    CHECK(!conv_turns_next(&turns, &thread));
    CHECK(!conv_turns_wait(&turns, 0, 10));
    CHECK(!conv_turns_wait(&turns, 2, 7));
    conv_turns_again(&turns, 1);
    conv_turns_give(&turns, 9);
    CHECK(conv_turns_next(&turns, &thread) && thread == 1);
    CHECK(!conv_turns_next(&turns, &thread));
    conv_turns_give(&turns, 7);
    CHECK(conv_turns_next(&turns, &thread) && thread == 2);
    CHECK(conv_turns_wait(&turns, 2, 7)); /* it was given */
    conv_turns_give(&turns, 10);
    conv_turns_give(&turns, 10);
    CHECK(conv_turns_next(&turns, &thread) && thread == 0);
    CHECK(!conv_turns_next(&turns, &thread));
    conv_turns_release(&turns);
}

RUN_TESTS(T(one_history_is_the_same_in_every_format), T(every_format_is_unpacked),
          T(every_format_is_read_from_a_pipe), T(cut_ends_are_counted),
          T(a_header_that_states_more_calls_is_told), T(lines_of_any_sensible_length_are_read),
          T(numbers_of_64_bits_are_numbers), T(a_process_of_a_log_is_chosen),
          T(what_a_trace_itself_lacks_is_told), T(what_is_no_trace_is_foreign), T(turns_follow_waits))
