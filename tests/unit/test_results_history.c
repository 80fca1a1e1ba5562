/* test_results_history - results made here, of many days: what moved is marked, what is noise, a slower machine or another
 * workload is not; order, names of files, and text that hostile results cannot break out of. */
#include <math.h>

#include "footprint/base/support.h"
#include "harness.h"
#include "results/measure/result/result.h"
#include "results/report/beside/beside.h"
#include "unit/typed.h"

/* A day's result; what is 0 or NULL is as in NORMAL. */
struct day {
    int number;
    double ratio, half; /* of time: ratio * (1 -+ half) */
    double noise;       /* what the control is slower by */
    double peak;
    double ns; /* of the baseline */
    int rounds;
    const char *digest, *version, *machine, *workload, *label;
    const char *build, *baseline_build; /* ids */
    int threads;                        /* recorded ones */
    bool one_thread;                    /* --one-thread */
    const char *setting;                /* value of one variable, beside another that stays */
    const char *calls, *kernel;         /* calls: digest of those executed */
};

/* Rounds that stray by `half`, each as in every result, and three memory passes that do not. */
static json_t *entry(const char *name, const char *version, double ns, double half, double peak, int rounds)
{
    json_t *runs = json_array(), *passes = json_array();
    for (int i = 0; i < rounds; i++) {
        const json_int_t batch = (json_int_t)(1e9 * ns * (1 + half * (i % 5 - 2) / 2));
        json_array_append_new(runs, json_pack("{s:f, s:[I, I, I, I]}", "whole_ns_per_op", (double)batch / 1e9,
                                              "batch_ns", batch, batch, batch, batch));
    }
    for (int i = 0; i < 3; i++)
        json_array_append_new(passes, json_pack("{s:{s:f, s:f}}", "resident", "peak_bytes", 1e6 * peak,
                                                "mean_bytes", 5e5 * peak));
    return json_pack("{s:s, s:s, s:o, s:o}", "name", name, "version", version, "runs", runs, "memory_runs",
                     passes);
}

static json_t *result_of(const struct day *day)
{
    const double ratio = day->ratio > 0 ? day->ratio : 1.0, half = day->half > 0 ? day->half : 0.002;
    const double noise = day->noise > 0 ? day->noise : 0.001, peak = day->peak > 0 ? day->peak : 1.0;
    const double ns = day->ns > 0 ? day->ns : 10;
    const int rounds = day->rounds > 0 ? day->rounds : 10;
    json_t *workload = json_pack(
        "{s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:[o, o], s:o, s:n}", "name",
        day->workload != NULL ? day->workload : "web.wl", "file_digest",
        day->digest != NULL ? day->digest : "abc", "ops", 1, "threads", day->threads > 0 ? day->threads : 1,
        "duration_ns", 1, "live_peak_bytes", 1, "rounds", rounds, "memory_rounds", 3, "candidates",
        entry("glibc", "2.36", ns, 0.001, 1, rounds),
        entry("jemalloc", day->version != NULL ? day->version : "5.3", ns * ratio, half, peak, rounds),
        "control", entry("glibc", "2.36", ns * (1 + noise), 0.001, 1, rounds), "floor");
    if (day->label != NULL)
        json_object_set_new(workload, "label", json_string(day->label));
    if (day->calls != NULL)
        json_object_set_new(workload, "digest", json_string(day->calls));
    const char *const builds[] = {day->baseline_build, day->build};
    for (size_t i = 0; i < 2; i++)
        if (builds[i] != NULL)
            json_object_set_new(json_array_get(json_object_get(workload, "candidates"), i), "build",
                                json_pack("{s:s}", "digest", builds[i]));
    if (day->setting != NULL) {
        json_t *jemalloc = json_array_get(json_object_get(workload, "candidates"), 1);
        json_object_set_new(jemalloc, "environment",
                            json_pack("{s:s, s:s, s:i}", "Z", day->setting, "A", "1", "odd", 1));
    }
    return json_pack("{s:s, s:s, s:I, s:s, s:i, s:i, s:b, s:{s:s?, s:s, s:i, s:s}, s:[], s:[o]}", "schema",
                     RES_SCHEMA, "mallab_version", "0.1.0", "created_unix_ns",
                     (json_int_t)(1700000000 + 86400 * day->number) * 1000000000, "baseline", "glibc",
                     "rounds", rounds, "seed", 1, "one_thread", day->one_thread, "machine", "name",
                     day->machine, "cpu", "A(R) CPU @ 1 GHz", "cpus", 4, "kernel",
                     day->kernel != NULL ? day->kernel : "6.1", "missing", "workloads", workload);
}

/* Added from the last to the first: the history sorts. */
static struct res_history gathered(const struct day *days, size_t count)
{
    struct res_history history = {0};
    for (size_t i = count; i-- > 0;) {
        json_auto_t *result = result_of(&days[i]);
        char file[32];
        snprintf(file, sizeof file, "day%d.json", days[i].number);
        res_history_add(&history, file, typed_judged(result));
    }
    CHECK_U64(history.results, count);
    res_history_finish(&history);
    return history;
}

/* The last of a list of objects where these keys are the point's, else a new one with them. */
static json_t *last_like(json_t *list, json_t *point, const char *const *keys)
{
    json_t *last = json_array_get(list, json_array_size(list) - 1);
    bool is_same = last != NULL;
    for (size_t i = 0; is_same && keys[i] != NULL; i++)
        is_same = json_equal(json_object_get(last, keys[i]), json_object_get(point, keys[i])) == 1 ||
                  json_object_get(last, keys[i]) == json_object_get(point, keys[i]);
    if (is_same)
        return last;
    last = json_object();
    json_array_append_new(list, last);
    for (size_t i = 0; keys[i] != NULL; i++)
        if (json_object_get(point, keys[i]) != NULL)
            json_object_set(last, keys[i], json_object_get(point, keys[i]));
    return last;
}

static json_t *list_in(json_t *object, const char *key)
{
    if (json_object_get(object, key) == NULL)
        json_object_set_new(object, key, json_array());
    return json_object_get(object, key);
}

/* As it is written, its points by series and candidate; releases it. */
static json_t *written(struct res_history *history)
{
    static const char *const SERIES[] = {"workload", "host", "workload_digest", "machine", "baseline", NULL};
    static const char *const CANDIDATE[] = {"candidate", NULL};
    json_t *document = res_described_write(&RES_HISTORY, history), *series = list_in(document, "series");
    size_t index;
    json_t *point;
    res_described_release(&RES_HISTORY, history);
    json_array_foreach(json_object_get(document, "points"), index, point)
    {
        json_t *candidate = last_like(list_in(last_like(series, point, SERIES), "candidates"), point,
                                      CANDIDATE);
        json_array_append(list_in(candidate, "points"), point);
    }
    return document;
}

static json_t *history_of(const struct day *days, size_t count)
{
    struct res_history history = gathered(days, count);
    return written(&history);
}

static json_t *points_of(const json_t *history, size_t series, size_t candidate)
{
    char path[64];
    snprintf(path, sizeof path, "series.%zu.candidates.%zu.points", series, candidate);
    return json_at(history, path);
}

/* "- slower - faster": of jemalloc in the first series. */
static const char *moves(const json_t *history, const char *key)
{
    static char words[512];
    size_t index;
    json_t *point;
    words[0] = '\0';
    json_array_foreach(points_of(history, 0, 1), index, point)
    {
        const char *word = json_string_value(json_object_get(point, key));
        snprintf(words + strlen(words), sizeof words - strlen(words), "%s%s", index > 0 ? " " : "",
                 word != NULL ? word : "-");
    }
    return words;
}

/* What changed at each of the points, likewise; one thing at a time. */
static const char *changes(const json_t *history)
{
    static char words[512];
    size_t index;
    json_t *point;
    words[0] = '\0';
    json_array_foreach(points_of(history, 0, 1), index, point)
    {
        CHECK(json_size_at(point, "changed") <= 1);
        const char *word = json_text_at(point, "changed.0");
        snprintf(words + strlen(words), sizeof words - strlen(words), "%s%s", index > 0 ? " " : "",
                 word != NULL ? word : "-");
    }
    return words;
}

#define HISTORY(...)                                                                                         \
    const struct day days[] = {__VA_ARGS__};                                                                 \
    json_auto_t *history = history_of(days, COUNT_OF(days))

TEST(a_move_is_marked_once_and_its_way_back)
{
    HISTORY({.number = 1}, {.number = 2, .ratio = 1.004}, {.number = 3, .ratio = 1.1},
            {.number = 4, .ratio = 1.1}, {.number = 5, .ratio = 1.0});
    CHECK_STR(moves(history, "time_moved"), "- - slower - faster");
    CHECK_STR(moves(history, "peak_moved"), "- - - - -");
    const json_t *third = json_array_get(points_of(history, 0, 1), 2);
    CHECK(fabs(json_number_value(json_object_get(third, "time_change")) - 1.1) <
          1e-9); /* against the first */
    const double resolves = json_number_value(json_object_get(third, "time_resolves"));
    CHECK(resolves >= RES_HISTORY_LEAST && resolves < 0.05);
    CHECK(fabs(json_number_value(json_object_get(third, "peak_resolves")) - RES_HISTORY_LEAST) < 1e-9);
    CHECK(json_is_null(json_object_get(json_array_get(points_of(history, 0, 1), 0), "time_resolves")));
    CHECK_STR(json_string_value(json_object_get(third, "file")), "day3.json");
}

TEST(what_creeps_is_seen)
{
    HISTORY({.number = 1}, {.number = 2, .ratio = 1.004}, {.number = 3, .ratio = 1.008},
            {.number = 4, .ratio = 1.012}, {.number = 5, .ratio = 1.016}, {.number = 6, .ratio = 1.020});
    CHECK_STR(moves(history, "time_moved"), "- - - slower - -");
}

TEST(noise_is_not_marked)
{
    HISTORY({.number = 1}, {.number = 2, .ratio = 1.04, .noise = 0.05}, /* within the control */
            {.number = 3, .ratio = 1.05, .half = 0.2},                  /* a wide interval */
            {.number = 4, .ratio = 1.5, .rounds = 5},                   /* too few rounds */
            {.number = 5, .ratio = 1.0, .ns = 40});                     /* a slower machine */
    CHECK_STR(moves(history, "time_moved"), "- - - - -");
}

/* One name is no sign: hosts that record one service all have it. What the host and the digest say is. */
TEST(workloads_of_one_name_are_series_of_their_own)
{
    static const char *const EXPECTED[][2] = {
        {"web.wl 01234567", NULL}, {"web.wl def", NULL}, {"web1/web.wl", "web1"}, {"web2/web.wl", "web2"}};
    HISTORY({.number = 1, .digest = "def"}, {.number = 2, .ratio = 1.5, .digest = "0123456789"},
            {.number = 3, .ratio = 1.5, .digest = "0123456789"}, {.number = 4, .label = "web2"},
            {.number = 5, .ratio = 1.2, .digest = "0123456789", .version = "5.4"},
            {.number = 6, .label = "web1"}, {.number = 7, .label = "web2", .workload = "older.wl"},
            {.number = 8, .label = "web2"});
    CHECK_STR(moves(history, "time_moved"), "- - faster");
    const json_t *series = json_object_get(history, "series");
    CHECK_STR(changes(history), "- - version");
    CHECK_U64(json_array_size(series), 4);
    for (size_t i = 0; i < 4; i++) {
        const json_t *one = json_array_get(series, i);
        const char *host = json_string_value(json_object_get(one, "host"));
        CHECK_STR(json_string_value(json_object_get(one, "workload")), EXPECTED[i][0]);
        CHECK_STR(host != NULL ? host : "-", EXPECTED[i][1] != NULL ? EXPECTED[i][1] : "-");
    }
    CHECK_U64(json_array_size(points_of(history, 3, 0)), 3); /* whatever the file was called meanwhile */
}

/* Recorded anew, of another file: the calls are what a comparison goes by, too. */
TEST(the_same_calls_are_one_workload)
{
    HISTORY({.number = 1, .digest = "abc", .calls = "c"},
            {.number = 2, .digest = "def", .calls = "c", .ratio = 1.2});
    CHECK_U64(json_array_size(json_object_get(history, "series")), 1);
    CHECK_STR(moves(history, "time_moved"), "- slower");
}

TEST(another_build_of_the_same_version_is_told)
{
    static const struct day days[] = {{.number = 1},
                                      {.number = 2, .build = "aa", .baseline_build = "11"},
                                      {.number = 3, .build = "aa", .baseline_build = "22"},
                                      {.number = 4, .build = "bb", .baseline_build = "22", .ratio = 1.04}};
    struct res_history history = gathered(days, 4);
    OWNED_TEXT *text = res_history_document(&history, &(struct res_style){0});
    CHECK(strstr(text, "(changed: build)") != NULL && strstr(text, "  baseline\n") != NULL);
    json_auto_t *document = written(&history);
    CHECK_STR(changes(document), "- - baseline build");
}

/* A comparison has it so: the same bytes move by noise alone; on another kernel that may have moved them. */
TEST(the_same_bytes_do_not_move)
{
    for (int same_place = 0; same_place < 2; same_place++) {
        HISTORY({.number = 1, .build = "aa", .calls = "c"}, {.number = 2,
                                                             .build = "aa",
                                                             .calls = "c",
                                                             .ratio = 1.1,
                                                             .peak = 1.1,
                                                             .kernel = same_place ? NULL : "7"});
        CHECK_STR(moves(history, "time_moved"), same_place ? "- -" : "- slower");
        CHECK_STR(moves(history, "peak_moved"), same_place ? "- -" : "- more");
    }
}

TEST(a_legend_explains_what_is_there)
{
    for (int moved = 0; moved < 2; moved++) {
        const struct day days[] = {{.number = 1},
                                   {.number = 2, .ratio = moved ? 1.1 : 1, .version = moved ? "5.4" : NULL}};
        struct res_history history = gathered(days, COUNT_OF(days));
        OWNED_TEXT *text = res_history_document(&history, &(struct res_style){0});
        CHECK((strstr(text, "moved:") != NULL) == moved);
        CHECK((strstr(text, " changed: ") != NULL) == moved);
        CHECK(strstr(text, "change: of time") != NULL);
        res_described_release(&RES_HISTORY, &history);
    }
}

TEST(one_thread_of_several_begins_anew)
{
    HISTORY({.number = 1, .threads = 4}, {.number = 2, .threads = 4, .ratio = 1.5, .one_thread = true},
            {.number = 3, .threads = 4, .ratio = 1.2, .one_thread = true}, {.number = 4, .threads = 4});
    CHECK_STR(moves(history, "time_moved"), "- - faster -");
    CHECK_STR(changes(history), "- threads - threads");
}

TEST(one_thread_of_one_is_no_change)
{
    HISTORY({.number = 1}, {.number = 2, .ratio = 1.5, .one_thread = true});
    CHECK_STR(moves(history, "time_moved"), "- slower");
    CHECK_STR(changes(history), "- -");
}

TEST(settings_that_change_are_told)
{
    HISTORY({.number = 1}, {.number = 2, .setting = "x"}, {.number = 3, .setting = "x"},
            {.number = 4, .setting = "y"});
    CHECK_STR(changes(history), "- settings - settings");
}

TEST(memory_moves_by_more_than_a_per_cent)
{
    HISTORY({.number = 1}, {.number = 2, .peak = 1.009}, {.number = 3, .peak = 1.05},
            {.number = 4, .peak = 0.9});
    CHECK_STR(moves(history, "peak_moved"), "- - more less");
    CHECK_STR(moves(history, "time_moved"), "- - - -");
}

TEST(series_by_workload_and_machine)
{
    HISTORY({.number = 1, .machine = "b"}, {.number = 2, .machine = "a"}, {.number = 3, .machine = "a"},
            {.number = 4, .workload = "api.wl", .digest = "def"});
    static const char *const expected[][2] = {
        {"api.wl", "A(R) CPU @ 1 GHz, 4 CPUs"}, {"web.wl", "a"}, {"web.wl", "b"}};
    const json_t *series = json_object_get(history, "series");
    CHECK_U64(json_array_size(series), 3);
    for (size_t i = 0; i < 3; i++) {
        CHECK_STR(json_text_at(json_array_get(series, i), "workload"), expected[i][0]);
        CHECK_STR(json_text_at(json_array_get(series, i), "machine"), expected[i][1]);
    }
    CHECK_U64(json_array_size(points_of(history, 1, 0)), 2);
    CHECK_STR(json_string_value(json_object_get(json_array_get(points_of(history, 1, 0), 0), "file")),
              "day2.json");
}

static void check_name(const char *workload, const char *machine, unsigned number, const char *expected)
{
    const struct day day = {.number = 0, .workload = workload, .machine = machine};
    json_auto_t *result = result_of(&day);
    OWNED_TEXT *name = res_history_name(typed(result), number);
    CHECK_STR(name, expected);
}

TEST(names_of_files)
{
    check_name("web.wl", "ci", 1, "web.ci.20231114T221320Z.json");
    check_name("web.wl", NULL, 2, "web.A-CPU-1-GHz-4-CPUs.20231114T221320Z-2.json");
    check_name("../../etc/x y", "-rf", 1, "etc-x-y.rf.20231114T221320Z.json");
    check_name("/", "\n", 1, "workload.x0a.20231114T221320Z.json");
    char many[300];
    memset(many, 'a', sizeof many - 1);
    many[sizeof many - 1] = '\0';
    const struct day day = {.workload = many, .machine = many};
    json_auto_t *result = result_of(&day);
    json_array_append(json_object_get(result, "workloads"),
                      json_array_get(json_object_get(result, "workloads"), 0));
    OWNED_TEXT *name = res_history_name(typed(result), 1);
    CHECK(strlen(name) < 180 && strstr(name, "a+1.aaa") != NULL);
}

TEST(text_of_hostile_results)
{
    const struct day days[] = {
        {.number = 1, .workload = "\033[2J|x\"y\n", .machine = "<b>"},
        {.number = 2, .ratio = 1.3, .workload = "\033[2J|x\"y\n", .machine = "<b>", .version = "5.4"}};
    struct res_history history = gathered(days, 2);
    const struct res_style style = {0}, coloured = {.colour = true};
    OWNED_TEXT *text = res_history_document(&history, &style),
               *colour = res_history_document(&history, &coloured);
    OWNED_TEXT *markdown = res_history_document(&history, &(struct res_style){.form = RES_FORM_MARKDOWN});
    CHECK(strchr(text, '\033') == NULL && strchr(markdown, '\033') == NULL);
    CHECK(strstr(colour, "\033[31mslower\033[0m") != NULL);
    CHECK(strstr(text, "95 % range") != NULL);
    CHECK(strstr(markdown, "\\|x\"y") != NULL && strstr(markdown, "\\<b\\>") != NULL);
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"))
        CHECK(res_text_columns(line) <= RES_TABLE_COLUMNS);
    res_described_release(&RES_HISTORY, &history);
}

TEST(figures_that_are_none)
{
    struct res_history history = {0};
    const struct day day = {.number = 1};
    const struct res_style style = {0};
    static const char *const KEYS[] = {"runs", "memory_runs", "version"};
    for (size_t i = 0; i < COUNT_OF(KEYS); i++) {
        json_auto_t *result = result_of(&day);
        json_t *workload = json_array_get(json_object_get(result, "workloads"), 0);
        json_t *jemalloc = json_array_get(json_object_get(workload, "candidates"), 1);
        json_object_set_new(jemalloc, KEYS[i], i < 2 ? json_array() : json_null());
        json_object_set_new(result, "created_unix_ns", json_integer(INT64_MAX));
        res_history_add(&history, KEYS[i], typed_judged(result));
    }
    res_history_finish(&history);
    OWNED_TEXT *text = res_history_document(&history, &style);
    json_t *document = written(&history);
    CHECK_STR(moves(document, "time_moved"), "- - -");
    CHECK(strlen(text) > 0);
    json_decref(document);
    res_history_finish(&history); /* of nothing */
    document = written(&history);
    CHECK_U64(json_array_size(json_object_get(document, "series")), 0);
    json_decref(document);
}
