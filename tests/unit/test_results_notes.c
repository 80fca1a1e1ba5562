/* test_results_notes.c - words below a table: no line too wide, and a number stays with its unit. */
#include "harness.h"
#include "results/measure/base/support.h"
#include "results/report/grid/cells.h"
#include "results/report/grid/lines.h"
#include "results/report/notes/notes.h"
#include "results/report/table/table.h"
#include "unit/lines.h"

TEST(a_number_is_not_parted_from_its_unit)
{
    static const char *const UNITS[] = {"%,", "MB;", "kB)", "ns"};
    for (size_t i = 0; i < sizeof UNITS / sizeof UNITS[0]; i++) {
        for (int width = 60; width < 100; width++) {
            struct res_text text = {0};
            char words[160], parted[32];
            snprintf(
                words, sizeof words, "%.*s 48 %s and more words behind it", width,
                "aaaaaaaaa aaaaaaaaa aaaaaaaaa aaaaaaaaa aaaaaaaaa aaaaaaaaa aaaaaaaaa aaaaaaaaa aaaaaaaaa "
                "aaaaaaaaa",
                UNITS[i]);
            snprintf(parted, sizeof parted, "48 %s", UNITS[i]);
            res_lines_add(&text, "label", words);
            CHECK(strstr(text.text, parted) != NULL);
            CHECK(widest(text.text) <= RES_TABLE_COLUMNS);
            free(text.text);
        }
    }
}

TEST(a_number_before_another_word_may_end_a_line)
{
    struct res_text text = {0};
    res_lines_add(
        &text, "label",
        "aaaaaaaaa aaaaaaaaa aaaaaaaaa aaaaaaaaa aaaaaaaaa aaaaaaaaa aaaaaaaaa aaaaaaaaa 48 machines");
    CHECK(strstr(text.text, "48\n            machines") != NULL);
    free(text.text);
}

/* "same" beside +47 % (+14 to +90) was read as a mistake. */
TEST(a_large_difference_inside_the_noise_is_unclear)
{
    static const struct {
        double ratio, low, high;
        const char *verdict, *shown;
    } CASES[] = {
        {1.47, 1.14, 1.90, "same", RES_CELL_UNCLEAR}, {0.80, 0.70, 0.90, "same", RES_CELL_UNCLEAR},
        {1.47, 0.98, 1.90, "same", "same"},           {1.02, 1.01, 1.03, "same", "same"},
        {1.47, 1.14, 1.90, "slower", "slower"},       {1.47, 1.14, 1.90, "undecided", "undecided"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        json_t *figure = json_pack("{s:f, s:f, s:f, s:s}", "ratio", CASES[i].ratio, "ratio_low", CASES[i].low,
                                   "ratio_high", CASES[i].high, "verdict", CASES[i].verdict);
        CHECK_STR(res_cell_verdict(figure, "-"), CASES[i].shown);
        json_decref(figure);
    }
    json_t *none = json_object();
    CHECK_STR(res_cell_verdict(none, "-"), "-");
    json_decref(none);
}

TEST(a_setting_that_nobody_tells_of_is_named)
{
    json_t *workload = json_loads(
        "{\"candidates\": [{\"name\": \"glibc\", \"runs\": [{\"proof\": {\"settings\": {"
        "\"a\": {\"from\": \"measured\"}}}}]}, {\"name\": \"mine\", \"runs\": [{\"proof\": "
        "{\"settings\": {\"MINE\": {\"from\": \"nobody\"}, \"YOURS\": {\"from\": "
        "\"nobody\"}}}}]}]}",
        0, NULL);
    struct res_text text = {0};
    res_notes_unproven(&text, workload);
    CHECK(text.text != NULL && strstr(text.text, "unproven    mine with MINE, YOURS: nothing tells") != NULL);
    CHECK(text.text != NULL && strstr(text.text, "glibc") == NULL);
    free(text.text);
    json_decref(workload);
    workload = json_loads("{\"candidates\": [{\"name\": \"glibc\", \"runs\": []}]}", 0, NULL);
    CHECK(res_unproven_words(workload) == NULL);
    json_decref(workload);
}

/* Lines that go on become one. */
static void unfold(char *text)
{
    static const char FOLD[] = "\n            ";
    for (char *at = strstr(text, FOLD); at != NULL; at = strstr(at, FOLD)) {
        const char *rest = at + strlen(FOLD);
        *at++ = ' ';
        memmove(at, rest, strlen(rest) + 1);
    }
}

/* What an allocator without frees adds in the rest is more than is left without it: "48.9 MB (327 MB of these taken off)" was read as a mistake. */
TEST(what_the_rest_added_is_no_part_of_what_is_left)
{
    json_t *result = json_pack("{s:i}", "memory_idle_ms", 60000);
    json_t *workload = json_loads("{\"memory_rounds\": 3, \"candidates\": [{\"name\": \"bump\", "
                                  "\"resident\": {\"clock\": \"recorded\", "
                                  "\"idle_bytes\": 48900000}, \"memory_runs\": [{\"resident\": "
                                  "{\"idle_own_bytes\": 327000000}}]}]}",
                                  0, NULL);
    struct res_text text = {0};
    res_notes_idle(&text, result, workload);
    CHECK(text.text != NULL);
    unfold(text.text);
    CHECK(strstr(text.text, "bump 48.9 MB (without 327 MB that these objects added)") != NULL);
    free(text.text);
    json_decref(workload);
    json_decref(result);
}

RUN_TESTS(T(a_number_is_not_parted_from_its_unit), T(a_number_before_another_word_may_end_a_line),
          T(a_large_difference_inside_the_noise_is_unclear), T(a_setting_that_nobody_tells_of_is_named),
          T(what_the_rest_added_is_no_part_of_what_is_left))
