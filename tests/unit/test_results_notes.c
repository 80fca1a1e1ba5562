/* test_results_notes.c - words below a table: no line too wide, and a number stays with its unit. */
#include <math.h>

#include "footprint/base/support.h"
#include "harness.h"
#include "results/report/grid/grid.h"
#include "results/report/notes/notes.h"
#include "unit/lines.h"
#include "unit/typed.h"

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

/* "same" beside +47 % (+14 to +90) was read as a mistake: it is said where more than 5 % is excluded. */
TEST(same_is_what_surely_differs_by_little)
{
    static const struct {
        double low, high;
        enum res_verdict verdict;
        const char *shown;
    } CASES[] = {
        {1.14, 1.90, RES_SAME, RES_CELL_NOT_SHOWN}, {0.70, 0.90, RES_SAME, RES_CELL_NOT_SHOWN},
        {0.98, 1.90, RES_SAME, RES_CELL_NOT_SHOWN}, {0.96, 1.04, RES_SAME, "same"},
        {1.14, 1.90, RES_MORE, "slower"},           {0.99, 1.01, RES_UNDECIDED, RES_CELL_NOT_SHOWN},
        {NAN, NAN, RES_SAME, RES_CELL_NOT_SHOWN},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++)
        CHECK_STR(res_verdict_shown(CASES[i].verdict, CASES[i].low, CASES[i].high), CASES[i].shown);
}

TEST(a_setting_that_nobody_tells_of_is_named)
{
    json_t *workload = json_loads(
        "{\"candidates\": [{\"name\": \"glibc\", \"runs\": [{\"proof\": {\"settings\": {"
        "\"a\": {\"from\": \"measured\"}}}}]}, {\"name\": \"mine\", \"runs\": [{\"proof\": "
        "{\"settings\": {\"MINE\": {\"from\": \"nobody\"}, \"YOURS\": {\"from\": "
        "\"nobody\"}}}}]}]}",
        0, NULL);
    const char *words = typed_note(typed_workload(workload, "glibc"), "unproven");
    CHECK(words != NULL && strstr(words, "mine with MINE, YOURS: nothing tells") == words);
    json_decref(workload);
    workload = json_loads("{\"candidates\": [{\"name\": \"glibc\", \"runs\": []}]}", 0, NULL);
    CHECK(typed_note(typed_workload(workload, "glibc"), "unproven") == NULL);
    json_decref(workload);
}

/* Another file's words are not taken over, and least of all what is to be pasted. */
TEST(notes_of_a_file_are_made_anew)
{
    json_t *result = json_loads(
        "{\"notes\": [{\"severity\": \"advice\", \"label\": \"to paste\", \"text\": "
        "\"x\", \"detail\": \"rm -r /\"}], \"workloads\": [{\"candidates\": [{\"name\": "
        "\"glibc\"}], \"notes\": [{\"label\": \"advice\", \"text\": \"Try mine.\"}]}]}",
        0, NULL);
    const struct res_result *known = typed(result);
    CHECK_U64(known->note_count, 1);
    CHECK_STR(known->notes[0].label, "machine");
    CHECK(typed_note(&known->workloads[0], "advice") == NULL);
    CHECK_STR(typed_note(&known->workloads[0], "verdict"), "time: there is nothing to compare ? with");
    json_decref(result);
}

TEST(details_are_told_by_themselves)
{
    json_t *workload = json_loads("{\"candidates\": [{\"name\": \"glibc\"}]}", 0, NULL);
    const struct res_result_workload *known = typed_workload(workload, "glibc");
    struct res_text few = {0}, all = {0};
    res_notes_screen(&few, known->notes, known->note_count, NULL, false);
    res_notes_details(&all, known->notes, known->note_count);
    CHECK(strstr(few.text, "an order shuffled by seed") == NULL && strstr(few.text, "VERDICT     ") != NULL);
    CHECK(strstr(all.text, "an order shuffled by seed") != NULL);
    CHECK(widest(few.text) <= RES_SCREEN_COLUMNS);
    free(few.text);
    free(all.text);
    json_decref(workload);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static const struct res_sentence *const SENTENCES[] = {RES_WORKLOAD_SENTENCES, RES_RESULT_SENTENCES,
                                                       RES_FLEET_SENTENCES};

/* How many slots have this name. */
static size_t slots_named(const char *name, size_t length)
{
    size_t count = 0;
    for (const struct res_slot *slot = __start_res_slots, *end = slot + RES_SLOT_COUNT; slot < end; slot++)
        count += strlen(slot->name) == length && strncmp(slot->name, name, length) == 0;
    return count;
}

/* Each slot of a sentence is one of those, and its parts are closed. */
static void check_sentence(const char *words)
{
    bool in_part = false;
    for (const char *mark = words; mark != NULL && *(mark += strcspn(mark, "{}[]")) != '\0'; mark++) {
        if (*mark == '{') {
            CHECK_U64(slots_named(mark + 1, strcspn(mark + 1, "}")), 1);
            mark += strcspn(mark, "}");
        } else {
            CHECK((*mark == '[') != in_part && *mark != '}');
            in_part = *mark == '[';
        }
    }
    CHECK(!in_part);
}

static bool is_in(const char *words, const char *slot)
{
    char *mark = res_printf("{%s}", slot);
    const bool found = words != NULL && strstr(words, mark) != NULL;
    free(mark);
    return found;
}

TEST(sentences_have_the_slots_that_there_are)
{
    for (size_t i = 0; i < sizeof SENTENCES / sizeof SENTENCES[0]; i++)
        for (const struct res_sentence *row = SENTENCES[i]; row->words != NULL; row++) {
            check_sentence(row->words);
            check_sentence(row->detail);
        }
    for (const struct res_slot *slot = __start_res_slots, *end = slot + RES_SLOT_COUNT; slot < end; slot++) {
        bool used = false;
        for (size_t k = 0; k < sizeof SENTENCES / sizeof SENTENCES[0]; k++)
            for (const struct res_sentence *row = SENTENCES[k]; row->words != NULL; row++)
                used = used || is_in(row->words, slot->name) || is_in(row->detail, slot->name);
        if (!used)
            fprintf(stderr, "no sentence has {%s}\n", slot->name);
        CHECK(used);
    }
}
