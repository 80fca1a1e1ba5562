/* test_results_support.c - words for people: units of time, and text from files that must not drive the
 * terminal. */
#include "footprint/base/support.h"
#include "results/measure/base/figure_words.h"
#include "results/report/grid/grid.h"
#include "unit/harness.h"

static void plain(const char *text, const char *expected)
{
    char *found = res_text_plain(text);
    CHECK_STR(found, expected);
    free(found);
}

TEST(what_drives_turns_or_hides_is_spelled_out)
{
    plain("web.wl", "web.wl");
    plain("gr\u00fc\u00df \u20ac \U0001f600", "gr\u00fc\u00df \u20ac \U0001f600");
    plain("a\x1b[2Jb\n\tc\x7f", "a\\x1b[2Jb\\x0a\\x09c\\x7f");
    plain("\xc2\x9b", "\\u009b");                      /* CSI as a C1 control */
    plain("\xc0\xaf", "\\xc0\\xaf");                   /* overlong */
    plain("\xed\xa0\x80", "\\xed\\xa0\\x80");          /* a surrogate */
    plain("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"); /* beyond Unicode */
    plain("cut \xe2\x82", "cut \\xe2\\x82");
    /* What turns a line around, or nobody sees. */
    plain("exe\u202efdp", "exe\\u202efdp");
    plain("\u2066a\u2069\u200e\u200f\u061c", "\\u2066a\\u2069\\u200e\\u200f\\u061c");
    plain("a\u200bb\ufeffc\u00add", "a\\u200bb\\ufeffc\\u00add");
    plain("\U000e0041\uffff\u2028", "\\ue0041\\uffff\\u2028");
    plain("\u05d0\u0627", "\u05d0\u0627"); /* letters that are written so are no trick */
    plain("", "");
}

static void cell(const char *words, const char *expected)
{
    static const struct res_column columns[] = {{.heading = "a"}};
    struct res_text text = {0};
    struct res_grid grid;
    res_grid_begin(&grid, columns, 1);
    res_grid_add(&grid, words);
    res_grid_csv(&grid, &text);
    char *line = res_printf("a\n%s\n", expected);
    CHECK_STR(text.text, line);
    res_grid_release(&grid);
    free(line);
    free(text.text);
}

TEST(no_cell_is_a_formula)
{
    cell("=cmd|'/c calc'!A0", "\"'=cmd|'/c calc'!A0\"");
    cell("+1", "\"'+1\"");
    cell("-2+3", "\"'-2+3\"");
    cell("@SUM(A1)", "\"'@SUM(A1)\"");
    cell("\t=1", "\"\\x09=1\"");
    cell("\r=1", "\"\\x0d=1\"");
    cell("\uff1d1", "\"'\uff1d1\"");
    cell("a\"b,=c", "\"a\"\"b,=c\"");
    cell("-", "\"-\""); /* our word for none */
    cell("a\u202eb", "\"a\\u202eb\"");
}

/* A line that is offered for pasting comes from a file. */
TEST(lines_to_paste_only_set_variables)
{
    static const char *const good[] = {"", "A=1", "MALLOC_CONF=narenas:1,tcache:false B='two words'",
                                       "A='it'\\''s'", "_a="};
    static const char *const bad[] = {"rm -rf /", "A=1;b", "A=$(id)", "A=1 id",  "A='open",
                                      "A=1  B=2", "1A=2",  "A=`id`",  "A=1\nid", "A=1 ",
                                      "A=\"x\"",  "=1",    "A=1&id"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        CHECK(res_shell_is_line(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK(!res_shell_is_line(bad[i]));
}

TEST(a_command_is_as_it_was_typed)
{
    char plain[] = "make", option[] = "-j2", quoted[] = "it's $x", none[] = "", lines[] = "a\nb",
         full[RES_COMMAND_BYTES + 1];
    char *const short_one[] = {plain, option, quoted, none, NULL},
                *const script[] = {plain, lines, option, NULL}, *const long_one[] = {plain, full, NULL};
    memset(full, 'x', sizeof full);
    full[sizeof full - 1] = '\0';
    char *line = res_shell_command(short_one), *cut = res_shell_command(script),
         *longer = res_shell_command(long_one);
    CHECK_STR(line, "make -j2 'it'\\''s $x' ''");
    CHECK_STR(cut, "make ...");
    CHECK_STR(longer, "make ...");
    free(line);
    free(cut);
    free(longer);
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
