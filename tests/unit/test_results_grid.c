/* test_results_grid.c - one grid as text, Markdown and CSV: what stands where, what is left out, and hostile words; units of time, and text from
 * files that must not drive the terminal. */
#include <math.h>

#include "footprint/base/support.h"
#include "results/measure/base/figure_words.h"
#include "results/report/grid/grid.h"
#include "unit/harness.h"
#include "unit/lines.h"

static const struct res_style PLAIN = {0}, COLOURED = {.colour = true};

static void text_drop(struct res_text *text)
{
    free(text->text);
}

#define BEGIN(...)                                                                                           \
    const struct res_column columns_[] = {__VA_ARGS__};                                                      \
    OWNED(res_grid) grid;                                                                                    \
    __attribute__((cleanup(text_drop))) struct res_text text = {0};                                          \
    res_grid_begin(&grid, columns_, COUNT_OF(columns_))

static void add(struct res_grid *grid, const char *first, const char *second, const char *third)
{
    res_grid_add(grid, first);
    res_grid_add(grid, second);
    res_grid_add(grid, third);
}

TEST(columns_are_aligned_below_their_groups)
{
    BEGIN({.heading = "name"}, {.heading = "change", .group = "of time", .right = true, .gap = 2},
          {.heading = "verdict", .group = "of time", .gap = 1});
    add(&grid, "glibc", "", "baseline");
    add(&grid, "jemalloc", "-1.5%", "same");
    res_grid_text(&grid, &PLAIN, &text);
    CHECK_STR(text.text, "          of time\n"
                         "name      change verdict\n"
                         "glibc            baseline\n"
                         "jemalloc   -1.5% same\n");
}

TEST(a_group_is_wide_enough_for_its_words)
{
    BEGIN({.heading = "n"}, {.heading = "a", .group = "longer words", .right = true, .gap = 1},
          {.heading = "b", .gap = 1});
    add(&grid, "x", "1", "2");
    res_grid_text(&grid, &PLAIN, &text);
    CHECK_STR(text.text, "  longer words\n"
                         "n            a b\n"
                         "x            1 2\n");
}

TEST(a_column_without_words_is_left_out)
{
    BEGIN({.heading = "n"}, {.heading = "none", .gap = 2}, {.heading = "b", .least = 3, .gap = 2});
    add(&grid, "x", "", "2");
    res_grid_text(&grid, &PLAIN, &text);
    CHECK_STR(text.text, "n  b\nx  2\n");
}

TEST(roles_are_colours_and_take_no_room)
{
    BEGIN({.heading = "n"}, {.heading = "word", .gap = 1}, {.heading = "z", .gap = 1});
    add(&grid, "x", "bad", "2");
    res_grid_add(&grid, "y");
    res_grid_add(&grid, "good");
    res_grid_role(&grid, RES_ROLE_GOOD);
    res_grid_add(&grid, "3");
    res_grid_text(&grid, &COLOURED, &text);
    CHECK_STR(text.text, "n word z\nx bad  2\ny \033[32mgood\033[0m 3\n");
}

/* A page has 100 columns. */
#define FORTY "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

TEST(a_name_too_long_stands_alone_and_costs_no_column)
{
    BEGIN({.heading = "name", .own_line = true}, {.heading = "b", .gap = 2},
          {.heading = "c", .gap = 2, .expendable = 1});
    add(&grid, "short", FORTY, "1");
    add(&grid, FORTY FORTY, "2", "3");
    res_grid_text(&grid, &PLAIN, &text);
    CHECK_STR(text.text, "name   b                                         c\n"
                         "short  " FORTY "  1\n" FORTY FORTY "\n"
                         "       2                                         3\n");
}

TEST(expendable_columns_go_by_rank_and_are_named)
{
    BEGIN({.heading = "name"},
          {.heading = "b", .group = "of b", .alone = "b alone", .gap = 2, .expendable = 2},
          {.heading = "c", .gap = 2, .expendable = 1}, {.heading = "d", .gap = 2});
    for (int i = 0; i < 2; i++) {
        add(&grid, "x", i == 0 ? FORTY : FORTY FORTY, FORTY);
        res_grid_add(&grid, FORTY);
    }
    res_grid_text(&grid, &PLAIN, &text);
    CHECK(widest(text.text) <= RES_TABLE_COLUMNS);
    CHECK(strstr(text.text, "\nNo room for: c, b alone; --json has all.\n") != NULL);
}

TEST(without_room_all_names_stand_above)
{
    BEGIN({.heading = "name", .own_line = true}, {.heading = "b", .gap = 2},
          {.heading = "c", .group = "g", .gap = 2});
    add(&grid, "x", FORTY, FORTY FORTY);
    res_grid_text(&grid, &PLAIN, &text);
    CHECK_STR(text.text, "name\n"
                         "                                            g\n"
                         "  b                                         c\n"
                         "x\n"
                         "  " FORTY "  " FORTY FORTY "\n");
}

TEST(an_open_column_sets_no_width)
{
    BEGIN({.heading = "name"}, {.heading = "b", .gap = 2}, {.heading = "path", .gap = 2, .open = true});
    add(&grid, "x", "1", FORTY FORTY FORTY);
    res_grid_below(&grid, "A=1");
    add(&grid, "name", "2", "/");
    res_grid_text(&grid, &PLAIN, &text);
    CHECK_STR(text.text, "name  b  path\n"
                         "x     1  " FORTY FORTY FORTY "\n"
                         "      A=1\n"
                         "name  2  /\n");
}

TEST(on_a_terminal_no_line_goes_beyond_it)
{
    BEGIN({.heading = "a"}, {.heading = "less", .gap = 2, .expendable = 1},
          {.heading = "site", .open = true, .least = 34, .gap = 2});
    add(&grid, "1", "2", "one_function < another_function < main");
    res_page_begin(43);
    res_grid_text(&grid, &PLAIN, &text);
    CHECK_STR(text.text, "a  less  site\n1  2     one_function < another_function <\n         main\n");
    text.length = 0;
    add(&grid, "1", "2", "one_function < another_function < main");
    res_page_begin(20); /* nothing is gained below 40 */
    res_grid_text(&grid, &PLAIN, &text);
    CHECK_STR(text.text,
              "a  site\n1  one_function < another_function <\n   main\nNo room for: less; --json has all.\n");
    text.length = 0;
    res_lines_add(&text, "label", "words that go on and on, to the end of it");
    CHECK_STR(text.text, "label       words that go on and on, to\n            the end of it\n");
    res_page_begin(0);
}

TEST(a_word_longer_than_a_line_is_cut)
{
    BEGIN({.heading = "a"}, {.heading = "b", .gap = 2}, {.heading = "site", .open = true, .gap = 2});
    add(&grid, "1", "2", "main < \u00e9" FORTY "+0x10 < x");
    res_page_begin(40);
    res_grid_text(&grid, &PLAIN, &text);
    CHECK_STR(
        text.text,
        "a  b  site\n1  2  main <\n      \u00e9xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n      xxxxxxx+0x10 < x\n");
    res_page_begin(0);
}

TEST(wide_characters_take_two_columns)
{
    BEGIN({.heading = "name"}, {.heading = "b", .gap = 2}, {.heading = "c", .gap = 2});
    add(&grid, "\u65e5\u672c\u8a9e", "1", "2");
    add(&grid, "cafe\u0301", "3", "4");
    res_grid_text(&grid, &PLAIN, &text);
    CHECK_STR(text.text, "name    b  c\n\u65e5\u672c\u8a9e  1  2\ncafe\u0301    3  4\n");
}

TEST(markdown_of_hostile_words)
{
    BEGIN({.heading = "name"}, {.heading = "b", .group = "g", .alone = "b of g", .right = true, .gap = 2},
          {.heading = "c", .hidden = true});
    add(&grid, "a|b\n\033[2J", "<1>", "hidden");
    res_grid_below(&grid, "not shown");
    res_grid_markdown(&grid, &text);
    CHECK_STR(text.text, "| name | b of g |\n"
                         "| --- | ---: |\n"
                         "| a\\|b\\\\x0a\\\\x1b\\[2J | \\<1\\> |\n");
}

TEST(csv_quotes_words_and_not_numbers)
{
    BEGIN({.heading = "name"}, {.heading = "b"}, {.heading = "c"});
    res_grid_add(&grid, "=a\"b");
    res_grid_number(&grid, -1.5);
    res_grid_add(&grid, NULL);
    res_grid_add(&grid, "-");
    res_grid_number(&grid, (double)INFINITY);
    res_grid_add(&grid, "");
    res_grid_csv(&grid, &text);
    CHECK_STR(text.text, "name,b,c\n\"'=a\"\"b\",-1.5,\n\"-\",,\"\"\n");
}

static void plain(const char *text, const char *expected)
{
    OWNED_TEXT *found = res_text_plain(text);
    CHECK_STR(found, expected);
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
    BEGIN({.heading = "a"});
    res_grid_add(&grid, words);
    res_grid_csv(&grid, &text);
    OWNED_TEXT *line = res_printf("a\n%s\n", expected);
    CHECK_STR(text.text, line);
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

TEST(a_command_is_as_it_was_typed)
{
    char plain[] = "make", option[] = "-j2", quoted[] = "it's $x", none[] = "", lines[] = "a\nb",
         full[RES_COMMAND_BYTES + 1];
    char *const short_one[] = {plain, option, quoted, none, NULL},
                *const script[] = {plain, lines, option, NULL}, *const long_one[] = {plain, full, NULL};
    memset(full, 'x', sizeof full);
    full[sizeof full - 1] = '\0';
    OWNED_TEXT *line = res_shell_command(short_one), *cut = res_shell_command(script),
               *longer = res_shell_command(long_one);
    CHECK_STR(line, "make -j2 'it'\\''s $x' ''");
    CHECK_STR(cut, "make ...");
    CHECK_STR(longer, "make ...");
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
    OWNED_TEXT *found = res_find_program(directories, "sh");
    CHECK_STR(found, "/bin/sh");
    CHECK(res_find_program(directories, "no-such-program-here") == NULL);
    CHECK(res_find_program(directories, "..") == NULL);
}
