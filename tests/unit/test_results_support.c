/* test_results_support.c - words for people: units of time, and text from files that must not drive the
 * terminal. */
#include "results/support.h"
#include "unit/harness.h"

static void plain(const char *text, const char *expected)
{
    char *found = res_text_plain(text);
    CHECK_STR(found, expected);
    free(found);
}

TEST(control_characters_and_broken_utf8_become_question_marks)
{
    plain("web.wl", "web.wl");
    plain("gr\u00fc\u00df \u20ac \U0001f600", "gr\u00fc\u00df \u20ac \U0001f600");
    plain("a\x1b[2Jb\n\tc\x7f", "a?[2Jb??c?");
    plain("\xc2\x9b", "??");           /* CSI as a C1 control */
    plain("\xc0\xaf", "??");           /* overlong */
    plain("\xed\xa0\x80", "???");      /* a surrogate */
    plain("\xf4\x90\x80\x80", "????"); /* beyond Unicode */
    plain("cut \xe2\x82", "cut ??");
    plain("", "");
}

TEST(columns_count_characters)
{
    CHECK_U64(res_text_columns("abc"), 3);
    CHECK_U64(res_text_columns("\u00b11"), 2);
    CHECK_U64(res_text_columns(""), 0);
}

TEST(durations_have_the_unit_that_fits)
{
    char text[32];
    CHECK_STR(res_text_duration(850, text), "850 ns");
    CHECK_STR(res_text_duration(1240000000, text), "1.24 s");
    CHECK_STR(res_text_duration(7.9e6, text), "7.9 ms");
    CHECK_STR(res_text_duration(200e9, text), "3 min 20 s");
    CHECK_STR(res_text_duration(36120e9, text), "10 h 02 min");
}

TEST(programs_are_found_in_the_first_directory_that_has_them)
{
    const char *const directories[] = {"/nonexistent", "/bin", "/usr/bin", NULL};
    char *found = res_find_program(directories, "sh");
    CHECK_STR(found, "/bin/sh");
    free(found);
    CHECK(res_find_program(directories, "no-such-program-here") == NULL);
    CHECK(res_find_program(directories, "..") == NULL);
}

RUN_TESTS(T(control_characters_and_broken_utf8_become_question_marks), T(columns_count_characters),
          T(durations_have_the_unit_that_fits), T(programs_are_found_in_the_first_directory_that_has_them))
