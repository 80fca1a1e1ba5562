/* test_results_result.c - a result read from JSON and written again says the same; what is wrong in a file is named. */
#include "results/measure/result/result.h"

#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "results/measure/figures/figures.h"
#include "unit/harness.h"
#include "unit/json.h"

/* Whether `now` has all that `before` has; keys may have been added. Numbers are equal as numbers. */
static bool holds(const json_t *now, const json_t *before, const char *path)
{
    const char *key;
    json_t *value;
    size_t index;
    char deeper[512];
    if (json_is_object(before) && json_is_object(now)) {
        bool all = true;
        json_object_foreach((json_t *)(uintptr_t)before, key, value)
        {
            snprintf(deeper, sizeof deeper, "%s.%s", path, key);
            all = holds(json_object_get(now, key), value, deeper) && all;
        }
        return all;
    }
    if (json_is_array(before) && json_array_size(before) == json_array_size(now)) {
        bool all = true;
        json_array_foreach(before, index, value)
        {
            snprintf(deeper, sizeof deeper, "%s[%zu]", path, index);
            all = holds(json_array_get(now, index), value, deeper) && all;
        }
        return all;
    }
    const bool same = json_is_number(before) && json_is_number(now)
                          ? json_number_value(before) == json_number_value(now)
                          : json_equal(before, now);
    if (!same)
        fprintf(stderr, "%s differs\n", path);
    return same;
}

static json_t *file_of(const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", getenv("MALLAB_SOURCE"), name);
    return json_load_file(path, 0, NULL);
}

TEST(keys_that_nobody_knows_are_kept)
{
    OWNED(res_result) result;
    char *problem = NULL;
    json_auto_t *before = file_of("docs/published/quickstart.json");
    json_t *candidate = json_at(before, "workloads.0.candidates.0");
    json_object_set_new(json_object_get(candidate, "time"), "of_tomorrow", json_integer(3));
    json_object_set_new(before, "also_of_tomorrow", json_pack("{s:[i]}", "list", 1));
    CHECK(res_result_read(before, &result, &problem));
    json_auto_t *now = res_result_write(&result);
    CHECK(holds(now, before, ""));
}

TEST(a_figure_of_another_kind_is_none)
{
    OWNED(res_result) result;
    char *problem = NULL;
    json_auto_t *json = file_of("docs/published/quickstart.json");
    json_t *candidate = json_at(json, "workloads.0.candidates.0");
    json_object_set_new(json_object_get(candidate, "time"), "ratio", json_string("fast"));
    json_object_set_new(json_object_get(candidate, "time"), "verdict", json_string("splendid"));
    json_object_set_new(candidate, "warmup_ns", json_integer(-1));
    json_object_set_new(candidate, "environment", json_integer(1));
    json_object_set_new(candidate, "memory_runs", json_pack("[{s:s}, i]", "digest", "0", 5));
    CHECK(res_result_read(json, &result, &problem));
    CHECK(!isfinite(result.workloads[0].candidates[0].figures.time.ratio));
    CHECK_U64(result.workloads[0].candidates[0].figures.time.verdict, RES_UNDECIDED);
    CHECK_U64(result.workloads[0].candidates[0].warmup_ns, 0);
    CHECK_U64(result.workloads[0].candidates[0].memory_count, 0);
}

TEST(a_count_that_is_lacking_is_not_written)
{
    OWNED(res_result) result;
    char *problem = NULL;
    json_auto_t *before = file_of("docs/published/quickstart.json");
    json_object_del(before, "memory_rounds_asked");
    json_object_set_new(before, "memory_idle_ms", json_integer(0));
    CHECK(res_result_read(before, &result, &problem));
    CHECK_U64(result.memory_rounds_asked, RES_COUNT_ABSENT);
    CHECK_U64(res_count_told(result.memory_rounds_asked), 0);
    json_auto_t *now = res_result_write(&result);
    CHECK(json_object_get(now, "memory_rounds_asked") == NULL);
    CHECK(json_is_integer(json_object_get(now, "memory_idle_ms")));
}

/* Also a part that a reader would take for missing. */
TEST(what_is_wrong_is_named)
{
    static const struct {
        const char *path, *part, *problem; /* NULL: it is read */
    } CASES[] = {
        {"workloads.0.candidates.0", "{'name': null}", "a candidate lacks name"},
        {"workloads.0.candidates.0", "{'runs': null}", "a candidate lacks runs"},
        {"workloads.0.candidates.0", "{'runs': [5]}", "a run is no object"},
        {"workloads.0.candidates.0", "{'name': 1}", "a candidate has a name of another kind"},
        {"", "{'confirmation': 5}", "a confirmation is no object"},
        {"workloads.0", "{'floor': {'runs': []}}", "a floor lacks name"},
        {"workloads.0", "{'floor': null}", NULL},
        {"", "{'confirmation': null}", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        OWNED(res_result) result = {0};
        char *problem = NULL;
        json_auto_t *json = file_of("docs/published/quickstart.json");
        json_more(json_at(json, CASES[i].path), json_of("%s", CASES[i].part));
        CHECK(res_result_read(json, &result, &problem) == (CASES[i].problem == NULL));
        CHECK_STR(problem != NULL ? problem : "", CASES[i].problem != NULL ? CASES[i].problem : "");
        free(problem);
    }
}

/* A descriptor of the first bytes of a text, from its beginning. */
static int text_fd(const char *text, size_t size)
{
    const int fd = memfd_create("result", MFD_CLOEXEC);
    CHECK(write(fd, text, size) == (ssize_t)size && lseek(fd, 0, SEEK_SET) == 0);
    return fd;
}

/* The problem; "": it is read. The caller's to free. */
static char *load(const char *text, size_t size, bool only_rows, struct res_result *ret_result)
{
    bool is_other;
    char *problem = NULL;
    const int fd = text_fd(text, size);
    if (res_result_load_fd(fd, "-", only_rows, ret_result, &is_other, &problem))
        problem = strdup("");
    close(fd);
    return problem;
}

static char *text_of(const char *name)
{
    json_auto_t *json = file_of(name);
    CHECK(json != NULL);
    char *text = json_dumps(json, JSON_INDENT(1));
    return text;
}

TEST(without_what_no_row_names_the_figures_are_the_same)
{
    static const char *const FILES[] = {"tests/cli/data/result.json", "tests/cli/data/gate-now.json"};
    for (size_t i = 0; i < COUNT_OF(FILES); i++) {
        OWNED_TEXT *text = text_of(FILES[i]);
        OWNED(res_result) whole, rows;
        OWNED_TEXT *of_whole = load(text, strlen(text), false, &whole),
                   *of_rows = load(text, strlen(text), true, &rows);
        CHECK_STR(of_whole, "");
        CHECK_STR(of_rows, "");
        res_result_judge(&whole);
        res_result_judge(&rows);
        json_auto_t *all = res_result_write(&whole), *some = res_result_write(&rows);
        CHECK(holds(all, some, FILES[i]) && !json_equal(all, some));
        const struct res_figures *one = &whole.workloads[0].candidates[1].figures,
                                 *other = &rows.workloads[0].candidates[1].figures;
        CHECK(one->steady_ns_per_op > 0 && one->steady_ns_per_op == other->steady_ns_per_op);
        CHECK(one->peak_bytes > 0 && one->peak_bytes == other->peak_bytes);
    }
}

/* Cut off anywhere, or with a hole: both ways say so, in the same words. */
TEST(a_torn_result_is_refused_without_what_no_row_names_too)
{
    OWNED_TEXT *text = text_of("tests/cli/data/result.json");
    const size_t size = strlen(text);
    for (size_t at = 1; at < size; at += 97) {
        const char kept = text[at];
        for (int hole = 0; hole < 2; hole++) {
            struct res_result one, other;
            OWNED_TEXT *whole = load(text, hole ? size : at, false, &one);
            OWNED_TEXT *rows = load(text, hole ? size : at, true, &other);
            CHECK_STR(rows, whole);
            CHECK(hole || *whole != '\0');
            if (*whole == '\0') { /* the parser passes over it behind a number */
                res_result_release(&one);
                res_result_release(&other);
            }
            text[at] = hole ? kept : '\0';
        }
    }
}

struct part {
    double ratio;
    uint64_t *counts;
    size_t count;
    json_t *rest;
};
#define OWNER struct part
static const struct res_field PART_FIELDS[] = {RES_ROW(NUMBER, "time.ratio", ratio, NULL),
                                               RES_ROW(NUMBER, "name", ratio, NULL),
                                               RES_LIST(COUNTS, PLAIN, "counts", counts, count, NULL, NULL)};
static const struct res_described PART = RES_DESCRIBE("a part", PART_FIELDS);
#undef OWNER

TEST(a_text_keeps_what_rows_name)
{
    static const struct {
        const char *text, *kept; /* NULL: it is to be parsed whole */
    } CASES[] = {
        {"{\"name\": [1, {\"a\": \"]\"}], \"other\": {\"name\": \"\\\"}\"}}",
         "{\"name\":[1, {\"a\": \"]\"}]}"},
        {" {\"other\":1 , \"time\": {\"more\": [], \"ratio\": 2}, \"name\":3 } ",
         "{\"time\":{\"ratio\":2},\"name\":3 }"},
        {"{}", "{}"},
        {"{\"name\": null, \"time\": {\"ratio\": null}, \"name\": nulls}",
         "{\"time\":{},\"name\":nulls}"}, /* the parser refuses that */
        {"{\"counts\": [1, 2]}", "{\"counts\":[1, 2]}"},
        {"{\"counts\": []}", "{\"counts\":[]}"},
        {"{\"counts\": 1}", NULL}, /* it would be the number of a list */
        {"{\"counts\": \"1\"}", NULL},
        {"{\"other\": 1,}", NULL},
        {"{\"other\": 1", NULL},
        {"{\"other\": [1}", NULL},
        {"{\"other\": \"a\\\"}", NULL},
        {"{\"oth\\u0065r\": 1}", NULL},
        {"{\"other\" 1}", NULL},
        {"{} {}", NULL},
        {"[]", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        char kept[128] = "";
        size_t size;
        struct res_lists lists = {.left = 100};
        const bool whole = res_described_text(&PART, CASES[i].text, strlen(CASES[i].text), kept, &size,
                                              &lists);
        CHECK(whole == (CASES[i].kept != NULL) && lists.count == 0);
        if (whole)
            CHECK_STR(kept, CASES[i].kept);
    }
}

/* Whether the counts are taken from the text, not by the parser: the 17 of these words, of 40 that may be. */
static bool is_list_taken(const char *last)
{
    OWNED(res_lists) lists = {.left = 40};
    struct part part;
    char kept[256] = "", *problem = NULL,
         *text = res_printf("{\"counts\": [ 0,1,2,3,4,5,6,7,8,9 , 10,11,12,13,14,15,%s]}", last);
    size_t size;
    CHECK(res_described_text(&PART, text, strlen(text), kept, &size, &lists));
    const bool is_taken = lists.count == 1;
    json_auto_t *json = json_loads(kept, 0, NULL);
    if (is_taken) {
        CHECK_STR(kept, "{\"counts\":0}");
        CHECK(res_described_read_lists(&PART, json, &lists, &part, &problem));
        CHECK(part.count == 17 && part.counts[0] == 0 && part.counts[9] == 9 && part.rest == NULL);
        CHECK(part.counts[16] == strtoull(last, NULL, 10) && lists.left == 23);
        res_described_release(&PART, &part);
        CHECK(res_described_read_lists(&PART, json, &lists, &part, &problem)); /* taken once only */
        CHECK(part.count == 0 && part.counts == NULL);
    } else {
        CHECK(strstr(kept, last) != NULL); /* as it is */
    }
    free(text);
    return is_taken;
}

TEST(long_lists_of_counts_pass_by_the_parser)
{
    CHECK(is_list_taken("16"));
    CHECK(is_list_taken("999999999999999999"));
    CHECK(!is_list_taken("9999999999999999999"));
    static const char *const OTHERS[] = {"-1", "1.5", "1e3", "01", "\"16\"", "[1]", "null", "1 2", ""};
    for (size_t i = 0; i < COUNT_OF(OTHERS); i++)
        CHECK(!is_list_taken(OTHERS[i]));
    CHECK(!is_list_taken("16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40"));
}

/* Each list within another would take some of the stack. */
TEST(a_text_of_lists_within_lists_is_left_to_the_parser)
{
    enum { DEEP = 1 << 21 };
    static const char BEGIN[] = "{\"workloads\":";
    OWNED_TEXT *text = malloc(sizeof BEGIN + DEEP), *kept = malloc(sizeof BEGIN + DEEP);
    size_t size;
    if (text == NULL || kept == NULL)
        abort();
    memcpy(text, BEGIN, sizeof BEGIN - 1);
    memset(text + sizeof BEGIN - 1, '[', DEEP);
    struct res_lists lists = {0};
    CHECK(!res_described_text(&RES_RESULT, text, sizeof BEGIN - 1 + DEEP, kept, &size, &lists));
}
