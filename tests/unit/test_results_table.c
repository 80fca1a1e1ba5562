/* test_results_table.c - words below a table: no line too wide, and a number stays with its unit; which differences have a colour: those that are
 * shown, and large enough to act on. */
#include <math.h>

#include "footprint/base/support.h"
#include "results/measure/result/result.h"
#include "results/report/grid/grid.h"
#include "results/report/notes/notes.h"
#include "results/report/table/table.h"
#include "unit/harness.h"
#include "unit/lines.h"
#include "unit/typed.h"

TEST(a_number_is_not_parted_from_its_unit)
{
    static const char *const UNITS[] = {"%,", "MB;", "kB)", "ns"};
    for (size_t i = 0; i < COUNT_OF(UNITS); i++) {
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
    struct res_text text = {0}; /* before another word it may end a line */
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
    for (size_t i = 0; i < COUNT_OF(CASES); i++)
        CHECK_STR(res_verdict_shown(CASES[i].verdict, CASES[i].low, CASES[i].high), CASES[i].shown);
}

TEST(a_setting_that_nobody_tells_of_is_named)
{
    json_t *workload = json_of(
        "{'candidates': [{'name': 'glibc', 'runs': [{'proof': {'settings': {'a': {'from': 'measured'}}}}]}, "
        "{'name': 'mine', 'runs': [{'proof': {'settings': {'MINE': {'from': 'nobody'}, 'YOURS': {'from': "
        "'nobody'}}}}]}]}");
    const char *words = typed_note(typed_workload(workload, "glibc"), "unproven");
    CHECK(words != NULL && strstr(words, "mine with MINE, YOURS: nothing tells") == words);
    workload = json_of("{'candidates': [{'name': 'glibc', 'runs': []}]}");
    CHECK(typed_note(typed_workload(workload, "glibc"), "unproven") == NULL);
}

/* Another file's words are not taken over, and least of all what is to be pasted. */
TEST(notes_of_a_file_are_made_anew)
{
    json_auto_t *result = json_of(
        "{'notes': [{'severity': 'advice', 'label': 'to paste', 'text': 'x', 'detail': 'rm -r /'}], "
        "'workloads': "
        "[{'candidates': [{'name': 'glibc'}], 'notes': [{'label': 'advice', 'text': 'Try mine.'}]}]}");
    const struct res_result *known = typed(result);
    CHECK_U64(known->note_count, 1);
    CHECK_STR(known->notes[0].label, "machine");
    CHECK(typed_note(&known->workloads[0], "advice") == NULL);
    CHECK_STR(typed_note(&known->workloads[0], "verdict"), "time: there is nothing to compare ? with");
}

TEST(details_are_told_by_themselves)
{
    const struct res_result_workload *known = typed_workload(json_of("{'candidates': [{'name': 'glibc'}]}"),
                                                             "glibc");
    struct res_text few = {0}, all = {0};
    res_notes_screen(&few, known->notes, known->note_count, NULL, false);
    res_notes_details(&all, known->notes, known->note_count);
    CHECK(strstr(few.text, "an order shuffled by seed") == NULL && strstr(few.text, "VERDICT     ") != NULL);
    CHECK(strstr(all.text, "an order shuffled by seed") != NULL);
    CHECK(widest(few.text) <= RES_SCREEN_COLUMNS);
    free(few.text);
    free(all.text);
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
    OWNED_TEXT *mark = res_printf("{%s}", slot);
    const bool found = words != NULL && strstr(words, mark) != NULL;
    return found;
}

TEST(sentences_have_the_slots_that_there_are)
{
    for (size_t i = 0; i < COUNT_OF(SENTENCES); i++)
        for (const struct res_sentence *row = SENTENCES[i]; row->words != NULL; row++) {
            check_sentence(row->words);
            check_sentence(row->detail);
        }
    for (const struct res_slot *slot = __start_res_slots, *end = slot + RES_SLOT_COUNT; slot < end; slot++) {
        bool used = false;
        for (size_t k = 0; k < COUNT_OF(SENTENCES); k++)
            for (const struct res_sentence *row = SENTENCES[k]; row->words != NULL; row++)
                used = used || is_in(row->words, slot->name) || is_in(row->detail, slot->name);
        if (!used)
            fprintf(stderr, "no sentence has {%s}\n", slot->name);
        CHECK(used);
    }
}

#define GREEN "\033[32m"
#define RED   "\033[31m"

/* ratio: of time and of peak memory. */
static json_t *entry_of(const char *name, double ratio, const char *time_verdict, const char *peak_verdict)
{
    return json_of(
        "{'name': '%s', 'version': '1', 'time': {'ratio': %g, 'ratio_low': %g, 'ratio_high': %g, "
        "'verdict': '%s', 'steady_ns_per_op': %g}, 'resident': {'peak_bytes': %g, 'peak_ratio': %g, "
        "'peak_verdict': '%s'}, 'runs': []}",
        name, ratio, ratio - 0.001, ratio + 0.001, time_verdict, 20 * ratio, 1e7 * ratio, ratio,
        peak_verdict);
}

/* Of glibc and another, which is released. */
static char *table_of(json_t *other, const char *more, struct res_style style)
{
    json_auto_t *result = json_of(
        "{'schema': '" RES_SCHEMA
        "', 'baseline': 'glibc', 'rounds': 10, 'seed': 1, 'machine': {}, 'missing': [], "
        "'workloads': [{'name': 'web.wl', 'ops': 100000, 'threads': 1, 'duration_ns': 1000000, "
        "'live_peak_bytes': 1000000, 'rounds': 10, 'candidates': [], 'floor': null}]}");
    json_t *workload = json_at(result, "workloads.0"), *candidates = json_at(workload, "candidates");
    json_array_append_new(candidates, json_more(entry_of("glibc", 1, "same", "same"), json_of("%s", more)));
    json_array_append_new(candidates, json_more(other, json_of("%s", more)));
    json_object_set_new(workload, "control", entry_of("glibc", 1, "same", "same"));
    return res_table_text(typed(result), &style);
}

/* What is shown and small keeps its word; noise has none. */
TEST(what_is_shown_and_large_has_a_colour)
{
    static const struct {
        double ratio;
        const char *time, *peak, *words;
    } CASES[] = {
        {1.05, "slower", "more", RED "slower"},   {1.05, "slower", "more", "+5.0% " RED "more"},
        {0.95, "faster", "less", GREEN "faster"}, {0.95, "faster", "less", "-5.0% " GREEN "less"},
        {1.003, "slower", "more", " +0.3% more"}, {1.003, "slower", "more", " slower"},
        {0.997, "faster", "less", " -0.3% less"}, {0.997, "faster", "less", " faster"},
        {1.05, "same", "same", " +5.0% same"},
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        OWNED_TEXT *text = table_of(entry_of("jemalloc", CASES[i].ratio, CASES[i].time, CASES[i].peak), "{}",
                                    (struct res_style){.colour = true, .details = true});
        if (strstr(text, CASES[i].words) == NULL)
            CHECK_STR(text, CASES[i].words);
    }
}

/* ---- names of any length -------------------------------------------------------------------- */

static char *wide_table_of(const char *name, const char *version)
{
    char more[256];
    snprintf(more, sizeof more, "{\"version\": \"%s\", \"latency\": {\"p99_ns\": 935.4, \"p99_9_ns\": 3075}}",
             version);
    return table_of(entry_of(name, 0.323, "faster", "less"), more, (struct res_style){.details = true});
}

/* The line "more" of a screen. */
static const char *more_of(const char *others, struct res_style style)
{
    static char line[128];
    OWNED_TEXT *text = table_of(entry_of("jemalloc", 0.323, "faster", "less"), others, style);
    const char *more = strstr(text, "\nmore ");
    snprintf(line, sizeof line, "%.*s", more != NULL ? (int)strcspn(more + 1, "\n") : 0,
             more != NULL ? more + 1 : "");
    return line;
}

TEST(more_names_what_the_verb_takes_and_was_not_given)
{
    static const char MEASURED[] = "{\"latency\": {\"p99_ns\": 935.4}}";
    CHECK_STR(more_of("{}", (struct res_style){0}),
              "more        --confirm runs the program itself; --details; -o FILE");
    CHECK_STR(more_of("{}", (struct res_style){.is_kept = true}),
              "more        --confirm runs the program itself; --details");
    CHECK_STR(more_of("{}", (struct res_style){.of_file = true, .is_kept = true}),
              "more        mallab confirm runs the program; --details; --format html");
    CHECK_STR(more_of(MEASURED, (struct res_style){0}),
              "more        --confirm runs the program itself; --details for p99; -o FILE");
}

TEST(what_is_left_out_is_said_and_is_never_the_range)
{
    OWNED_TEXT *text = wide_table_of("jemalloc",
                                     "5.3.0-0-g54eaed1d8b56b1aa528be3bdd1877e59c56fa90c-of-somebody");
    CHECK(strstr(text, "95 % range") != NULL && strstr(text, "[-67.8 -67.6]") != NULL);
    CHECK(strstr(text, "54eaed1d") == NULL);
    CHECK(strstr(text, "No room for: version; --json has all.") != NULL);
    CHECK(widest(text) <= RES_TABLE_COLUMNS);
}
