/* test_convert_export.c - workloads as other formats: text comes back to the same bytes whatever the windows, shapes,
 * times and meta data are; a workload stays itself; damaged texts are refused with their line. */
#include "convert/convert.h"
#include "convert/open/input.h"
#include "footprint/wl/workload.h"

#include "unit/busy.h"
#include "unit/harness.h"
#include "unit/scratch.h"

static struct conv_error error;

/* Entries with what text has for itself, one of them of several lines; all ops at one time, which is the end, too. */
static void write_odd(const char *path)
{
    static const struct fp_meta meta[] = {{"program", "a \\ b  "}, {"source", ""}, {"k", "x=\x01\xc3\xa4"}};
    const struct wl_writer_options options = {.window_ops = 17};
    const struct fp_shape shape = {FP_CALL_MALLOC, 8, 0};
    static char long_value[3000];
    struct wl_writer *writer = NULL;
    uint32_t thread, id;
    CHECK_U64(wl_writer_create(path, true, &options, meta, 3, NULL, &writer), FP_OK);
    CHECK_U64(wl_writer_thread(writer, 700, false, &thread), FP_OK);
    CHECK_U64(wl_writer_thread(writer, 703, true, &thread), FP_OK);
    for (uint32_t i = 0; i < 40; i++)
        CHECK_U64(wl_writer_allocate(writer, i % 2, &shape, 12345, &id), FP_OK);
    memset(long_value, 'y', sizeof long_value - 1);
    long_value[200] = ' '; /* where one line of text ends and the next begins */
    CHECK_U64(wl_writer_note(writer, "complete", "yes"), FP_OK);
    CHECK_U64(wl_writer_note(writer, "long", long_value), FP_OK);
    CHECK_U64(wl_writer_finish(writer, 12345, NULL, NULL, NULL), FP_OK);
}

static void check_same_bytes(const char *a, const char *b)
{
    size_t size_a, size_b;
    OWNED_TEXT *bytes_a = scratch_read(a, &size_a), *bytes_b = scratch_read(b, &size_b);
    CHECK_U64(size_a, size_b);
    CHECK(size_a == size_b && memcmp(bytes_a, bytes_b, size_a) == 0);
}

static enum fp_status convert(const char *in, const char *out, const char *to, struct conv_report *ret)
{
    const struct conv_options options = {.to = to, .overwrite = true};
    static struct conv_report report;
    const enum fp_status status = conv_file(in, out, &options, &report, &error);
    if (status == FP_OK && ret != NULL)
        *ret = report;
    if (status == FP_OK && ret == NULL)
        conv_report_release(&report);
    return status;
}

static void check_comes_back(const char *wl, uint64_t ops)
{
    const char *txt = scratch_path("a.txt"), *back = scratch_path("b.wl");
    struct conv_report report;
    CHECK_U64(convert(wl, txt, "text", &report), FP_OK);
    CHECK_STR(report.format, "text");
    CHECK_U64(report.survey.ops, ops);
    conv_report_release(&report);
    CHECK_U64(conv_detect(txt), CONV_KIND_TEXT);
    CHECK_U64(convert(txt, back, NULL, &report), FP_OK);
    CHECK_U64(report.survey.kind, CONV_KIND_TEXT);
    CHECK_U64(report.survey.ops, ops);
    conv_report_release(&report);
    check_same_bytes(wl, back);
}

/* Workloads of every shape: tests/golden, test_traces.c. */
TEST(text_comes_back_to_the_same_bytes)
{
    static const struct {
        uint32_t threads, window_ops, ops;
    } scenes[] = {{1, 0, 500},      {4, 64, 1000},     {3, 100, 100},   {3, 97, 97},
                  {2, 0, 97},       {2, 0, 8192},      {2, 8193, 8193}, {2, 65536, 70000},
                  {90, 700, 20000}, {2, 8192, 140000}, {2, 1, 40},      {1, 17, 0}};
    const char *wl = scratch_path("a.wl");
    for (size_t i = 0; i < COUNT_OF(scenes); i++) {
        write_busy(wl, scenes[i].threads, scenes[i].window_ops, scenes[i].ops);
        check_comes_back(wl, scenes[i].ops);
    }
    write_odd(wl);
    check_comes_back(wl, 40);
}

TEST(a_workload_stays_itself)
{
    const char *wl = scratch_path("same.wl"), *copy = scratch_path("copy.wl");
    const struct conv_options some = {.select = {.head = 10}};
    static struct conv_report report;
    write_busy(wl, 3, 50, 1000);
    CHECK_U64(convert(wl, copy, "workload", NULL), FP_OK);
    check_same_bytes(wl, copy);
    CHECK_U64(convert(wl, copy, NULL, NULL), FP_OK);
    check_same_bytes(wl, copy);
    CHECK_U64(conv_file(wl, scratch_path("part.wl"), &some, &report, &error), FP_ERR_ARGUMENT);
    CHECK(access(scratch_path("part.wl"), F_OK) != 0); /* nothing that was asked for is passed over */
}

TEST(an_unknown_format_is_refused_with_the_known_ones)
{
    const char *wl = scratch_path("some.wl"), *out = scratch_path("some.out");
    write_busy(wl, 3, 50, 1000);
    CHECK_U64(convert(wl, out, "svg", NULL), FP_ERR_ARGUMENT);
    CHECK(strstr(error.what, "workload, text") != NULL);
    CHECK_U64(conv_error_exit_code(&error), 2);
}

/* ---- texts that are none ------------------------------------------------------------------- */

struct defect {
    const char *text; /* after the first line */
    enum fp_status status;
    uint64_t line;
    const char *what;
};

#define OK "thread 0 7 main\nthread 1 8\n"

static const struct defect DEFECTS[] = {
    {OK "0 malloc 1 8\n", FP_ERR_TRUNCATED, 4, "without its line 'end'"},
    {OK "0 malloc 1 8\nend 0\n0 free 1\n", FP_ERR_CORRUPT, 6, "follows the line 'end'"},
    {OK "2 malloc 1 8\nend 0\n", FP_ERR_CORRUPT, 4, "no line 'thread'"},
    {OK "0 malloc 0 8\nend 0\n", FP_ERR_CORRUPT, 4, "which is NULL"},
    {OK "0 malloc 2 8\nend 0\n", FP_ERR_CORRUPT, 4, "above that of the allocations"},
    {OK "0 malloc 2147483647 8\nend 0\n", FP_ERR_CORRUPT, 4, "above that of the allocations"},
    {OK "0 malloc 2147483648 8\nend 0\n", FP_ERR_CORRUPT, 4, "below 2^31"},
    {OK "0 malloc 1 8\n1 malloc 1 8\nend 0\n", FP_ERR_CORRUPT, 5, "is alive"},
    {OK "0 free 1\nend 0\n", FP_ERR_CORRUPT, 4, "not alive"},
    {OK "0 malloc 1 8\n0 free 1\n1 free 1\nend 0\n", FP_ERR_CORRUPT, 6, "not alive"},
    {OK "0 realloc 1 8\nend 0\n", FP_ERR_CORRUPT, 4, "resizes an object that is not alive"},
    {OK "0 malloc 1 281474976710656\nend 0\n", FP_ERR_CORRUPT, 4, "below 2^48"},
    {OK "0 malloc 1 99999999999999999999\nend 0\n", FP_ERR_CORRUPT, 4, "below 2^48"},
    {OK "0 calloc 1 281474976710655 x 2\nend 0\n", FP_ERR_CORRUPT, 4, "2^48 or more"},
    {OK "0 calloc 1 8\nend 0\n", FP_ERR_CORRUPT, 4, "'x' and a count"},
    {OK "0 calloc 1 8 x 65536\nend 0\n", FP_ERR_CORRUPT, 4, "'x' and a count"},
    {OK "0 memalign 1 8 align 24\nend 0\n", FP_ERR_CORRUPT, 4, "power of two"},
    {OK "0 malloc 1 8 fresh\nend 0\n", FP_ERR_CORRUPT, 4, "follows the op"},
    {OK "0 realloc 1 8 fresh 3\nend 0\n", FP_ERR_CORRUPT, 4, "follows the op"},
    {OK "0 mallok 1 8\nend 0\n", FP_ERR_CORRUPT, 4, "no call"},
    {OK "0 (gap) 1 8\nend 0\n", FP_ERR_CORRUPT, 4, "no call"},
    {OK "zero malloc 1 8\nend 0\n", FP_ERR_CORRUPT, 4, "not a line"},
    {OK "time 9\ntime 8\nend 9\n", FP_ERR_CORRUPT, 5, "never fall"},
    {OK "time 900\nend 9\n", FP_ERR_CORRUPT, 5, "before the last op"},
    {OK "time\nend 9\n", FP_ERR_CORRUPT, 4, "no time"},
    {"thread 1 7\nend 0\n", FP_ERR_CORRUPT, 2, "numbered from 0"},
    {"thread 0 4294967296\nend 0\n", FP_ERR_CORRUPT, 2, "no thread id"},
    {"thread 0 7 main\nthread 1 8 main\nend 0\n", FP_ERR_CORRUPT, 3, "second main"},
    {"thread 0 7 late\nend 0\n", FP_ERR_CORRUPT, 2, "'main', 'exited'"},
    {"window_ops 0\nend 0\n", FP_ERR_CORRUPT, 2, "1 to 65536"},
    {"window_ops 65537\nend 0\n", FP_ERR_CORRUPT, 2, "1 to 65536"},
    {"zstd_level 99\nend 0\n", FP_ERR_CORRUPT, 2, "1 to 19"},
    {OK "window_ops 5\nend 0\n", FP_ERR_CORRUPT, 4, "an option after"},
    {OK "meta a=b\nend 0\n", FP_ERR_CORRUPT, 4, "meta data after"},
    {"more x\nend 0\n", FP_ERR_CORRUPT, 2, "without 'meta'"},
    {"meta x\nend 0\n", FP_ERR_CORRUPT, 3, "key=value"},
    {"meta x=\\y\nend 0\n", FP_ERR_CORRUPT, 2, "backslash"},
    {"meta x=\\x0a\nend 0\n", FP_ERR_CORRUPT, 2, "line's end"},
    {"meta x=\\x00\nend 0\n", FP_ERR_CORRUPT, 2, "zero"},
};

TEST(damaged_texts_are_refused_with_their_line)
{
    const char *txt = scratch_path("bad.txt"), *wl = scratch_path("bad.wl");
    char text[512];
    for (size_t i = 0; i < COUNT_OF(DEFECTS); i++) {
        snprintf(text, sizeof text, "mallab-workload-text 1\n%s", DEFECTS[i].text);
        scratch_write(txt, text, strlen(text));
        CHECK_U64(convert(txt, wl, NULL, NULL), DEFECTS[i].status);
        CHECK_U64(error.line, DEFECTS[i].line);
        CHECK_U64(conv_error_exit_code(&error), 3);
        if (strstr(error.what, DEFECTS[i].what) == NULL)
            HARNESS_FAIL("'%s' is refused with '%s'", DEFECTS[i].text, error.what);
        CHECK(access(wl, F_OK) != 0);
    }
    scratch_write(txt, "mallab-workload-text 2\n", 23);
    CHECK_U64(convert(txt, wl, NULL, NULL), FP_ERR_FOREIGN);
    CHECK(strstr(error.what, "another version") != NULL);
}

/* A workload has up to 96 entries: of so many its text comes back, of one more it is refused. */
TEST(as_many_entries_as_a_workload_has)
{
    const char *txt = scratch_path("many.txt"), *wl = scratch_path("many.wl");
    for (int count = 96; count <= 97; count++) {
        char text[4096] = "mallab-workload-text 1\n";
        for (int i = 0; i < count; i++)
            snprintf(text + strlen(text), sizeof text - strlen(text), "note key%d=%d\n", i, i);
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "thread 0 1 main\n0 malloc 1 8\nend 1000\n");
        scratch_write(txt, text, strlen(text));
        CHECK_U64(convert(txt, wl, NULL, NULL), count == 96 ? FP_OK : FP_ERR_CORRUPT);
    }
    CHECK_U64(error.line, 98);
    CHECK(strstr(error.what, "more entries") != NULL);
}

TEST(what_people_write_is_read)
{
    static const char text[] = "mallab-workload-text 1\r\n"
                               "\n"
                               "  # by hand: blanks, comments, objects numbered as one likes\n"
                               "meta program=by hand\n"
                               "thread 0 1 main exited\n"
                               "\t0 malloc 1 8 # first\n"
                               "0  operator_new[](align) 2  16\talign 64\n"
                               "0 free 1\n"
                               "0 malloc 3 8\n"
                               "0 operator_delete[](size,align) 2 16 align 64\n"
                               "0 free 0\n"
                               "end 1000";
    const char *txt = scratch_path("hand.txt"), *wl = scratch_path("hand.wl");
    struct conv_survey survey = {0};
    scratch_write(txt, text, sizeof text - 1);
    CHECK_U64(convert(txt, wl, NULL, NULL), FP_OK);
    CHECK_U64(conv_survey_file(wl, NULL, &survey, &error), FP_OK);
    CHECK_STR(survey.program, "by hand");
    CHECK_U64(survey.ops, 6);
    CHECK_U64(survey.id_max, 2);
    CHECK_U64(survey.live_bytes_peak, 24);
    CHECK_U64(survey.thread_exits, 1);
    CHECK_U64(survey.duration_ns, 1000);
    conv_survey_release(&survey);
    CHECK_U64(conv_survey_file(txt, NULL, &survey, &error), FP_OK);
    CHECK_U64(survey.kind, CONV_KIND_TEXT);
    CHECK_U64(survey.live_bytes_end, 8);
    conv_survey_release(&survey);
}
