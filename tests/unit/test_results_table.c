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

#define GREEN "\033[32m"
#define RED   "\033[31m"

/* ratio: of time and of peak memory. */
static json_t *entry_of(const char *name, double ratio, const char *time_verdict, const char *peak_verdict)
{
    return json_pack("{s:s, s:s, s:{s:f, s:f, s:f, s:s, s:f}, s:{s:f, s:f, s:s}, s:[]}", "name", name,
                     "version", "1", "time", "ratio", ratio, "ratio_low", ratio - 0.001, "ratio_high",
                     ratio + 0.001, "verdict", time_verdict, "steady_ns_per_op", 20 * ratio, "resident",
                     "peak_bytes", 1e7 * ratio, "peak_ratio", ratio, "peak_verdict", peak_verdict, "runs");
}

static char *table_of(double ratio, const char *time_verdict, const char *peak_verdict)
{
    const struct res_style style = {.colour = true, .details = true};
    json_t *workload = json_pack("{s:s, s:i, s:i, s:i, s:i, s:i, s:[o, o], s:o, s:n}", "name", "web.wl",
                                 "ops", 100000, "threads", 1, "duration_ns", 1000000, "live_peak_bytes",
                                 1000000, "rounds", 10, "candidates", entry_of("glibc", 1, "same", "same"),
                                 entry_of("jemalloc", ratio, time_verdict, peak_verdict), "control",
                                 entry_of("glibc", 1, "same", "same"), "floor");
    json_t *result = json_pack("{s:s, s:s, s:i, s:i, s:{}, s:[], s:[o]}", "schema", RES_SCHEMA, "baseline",
                               "glibc", "rounds", 10, "seed", 1, "machine", "missing", "workloads", workload);
    char *text = res_table_text(typed(result), &style);
    json_decref(result);
    return text;
}

static bool shows(double ratio, const char *time_verdict, const char *peak_verdict, const char *words)
{
    char *text = table_of(ratio, time_verdict, peak_verdict);
    const bool found = strstr(text, words) != NULL;
    if (!found)
        fprintf(stderr, "no \"%s\" in:\n%s\n", words, text);
    free(text);
    return found;
}

TEST(what_is_shown_and_large_has_a_colour)
{
    CHECK(shows(1.05, "slower", "more", RED "slower"));
    CHECK(shows(1.05, "slower", "more", "+5.0% " RED "more"));
    CHECK(shows(0.95, "faster", "less", GREEN "faster"));
    CHECK(shows(0.95, "faster", "less", "-5.0% " GREEN "less"));
}

TEST(what_is_shown_and_small_keeps_its_word)
{
    CHECK(shows(1.003, "slower", "more", " +0.3% more"));
    CHECK(shows(1.003, "slower", "more", " slower"));
    CHECK(shows(0.997, "faster", "less", " -0.3% less"));
    CHECK(shows(0.997, "faster", "less", " faster"));
}

TEST(noise_has_none)
{
    CHECK(shows(1.05, "same", "same", " +5.0% same"));
}

/* ---- names of any length -------------------------------------------------------------------- */

/* The line that begins so; the caller's to free. */
static char *line_with(const char *text, const char *begin)
{
    const char *at = strstr(text, begin);
    return at != NULL ? strndup(at, strcspn(at, "\n")) : strdup("");
}

static char *wide_table_of(const char *name, const char *version)
{
    const struct res_style style = {.colour = false, .details = true};
    json_t *candidates = json_pack("[o, o]", entry_of("glibc", 1, "same", "same"),
                                   entry_of(name, 0.323, "faster", "less"));
    size_t index;
    json_t *candidate;
    json_array_foreach(candidates, index, candidate)
    {
        json_object_set_new(candidate, "version", json_string(version));
        json_object_set_new(candidate, "latency",
                            json_pack("{s:f, s:f}", "p99_ns", 935.4, "p99_9_ns", 3075.0));
    }
    json_t *result = json_pack(
        "{s:s, s:s, s:i, s:i, s:{}, s:[], s:[{s:s, s:i, s:i, s:i, s:i, s:i, s:o, s:o, s:n}]}", "schema",
        RES_SCHEMA, "baseline", "glibc", "rounds", 10, "seed", 1, "machine", "missing", "workloads", "name",
        "web.wl", "ops", 100000, "threads", 1, "duration_ns", 1000000, "live_peak_bytes", 1000000, "rounds",
        10, "candidates", candidates, "control", entry_of("glibc", 1, "same", "same"), "floor");
    char *text = res_table_text(typed(result), &style);
    json_decref(result);
    return text;
}

TEST(a_long_name_has_a_line_of_its_own_and_costs_no_column)
{
    static const char NAME[] = "jemalloc+narenas=1+dirty_decay_ms=0+muzzy_decay_ms=0";
    char *text = wide_table_of(NAME, "5.3.0");
    CHECK(strstr(text, "95 % range") != NULL && strstr(text, "[-67.8 -67.6]") != NULL);
    CHECK(strstr(text, "version") != NULL && strstr(text, "faults") != NULL && strstr(text, " end ") != NULL);
    CHECK(strstr(text, "left out") == NULL);
    CHECK(widest(text) <= RES_TABLE_COLUMNS);
    char *own = line_with(text, NAME);
    CHECK_STR(own, NAME); /* nothing behind it */
    free(own);
    free(text);
}

TEST(what_is_left_out_is_said_and_is_never_the_range)
{
    char *text = wide_table_of("jemalloc", "5.3.0-0-g54eaed1d8b56b1aa528be3bdd1877e59c56fa90c-of-somebody");
    CHECK(strstr(text, "95 % range") != NULL && strstr(text, "[-67.8 -67.6]") != NULL);
    CHECK(strstr(text, "54eaed1d") == NULL);
    CHECK(strstr(text, "left out    version") != NULL && strstr(text, "--json") != NULL);
    CHECK(widest(text) <= RES_TABLE_COLUMNS);
    free(text);
}
