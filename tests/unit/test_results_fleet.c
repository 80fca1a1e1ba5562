/* test_results_fleet.c - many workloads, one answer: figures of the process, hosts joined in any order, who is left out and says so, when
 * there is no verdict. */
#include <math.h>

#include "results/measure/fleet/fleet.h"
#include "results/measure/statistics/statistics.h"
#include "results/report/notes/notes.h"
#include "results/report/table/table.h"
#include "unit/harness.h"
#include "unit/typed.h"

#define ROUNDS 8
/* ---- cells ----------------------------------------------------------------------------------- */

/* One workload of a million calls of 100 ns, 100 MB of heap: beside glibc one candidate, new. */
struct cell {
    const char *name, *digest;
    double time, error;     /* of the time in malloc: ratio, and the standard error of its logarithm */
    double peak;            /* of the heap */
    double cpu_ms, rss_mb;  /* of the process; 0: not recorded */
    const char *cpu, *live; /* NULL: "box", "known" */
    const char *failed;
};

static json_t *entry_of(const char *name, double time, double error, double peak, const char *failed)
{
    const double reach = exp(res_student_quantile(ROUNDS - 1) * error);
    const double memory = exp(res_student_quantile(ROUNDS - 1) * 0.001);
    return json_pack("{s:s, s:s?, s:{s:f, s:f, s:f, s:f}, s:{s:f, s:f, s:f, s:f, s:f, s:i}}", "name", name,
                     "failed", failed, "time", "ratio", time, "ratio_low", time / reach, "ratio_high",
                     time * reach, "steady_ns_per_op", 100 * time, "resident", "peak_ratio", peak,
                     "peak_ratio_low", peak / memory, "peak_ratio_high", peak * memory, "peak_bytes",
                     1e8 * peak, "mean_bytes", 5e7 * peak, "rounds", ROUNDS);
}

static double start_ms; /* that a start of the candidate takes more */

static json_t *workload_of(const struct cell *cell)
{
    json_t *workload = json_pack("{s:s, s:s, s:i, s:i, s:i, s:s, s:[o, o], s:o, s:n}", "name", cell->name,
                                 "file_digest", cell->digest, "ops", 1000000, "rounds", ROUNDS,
                                 "memory_rounds", ROUNDS, "live", cell->live != NULL ? cell->live : "known",
                                 "candidates", entry_of("glibc", 1, 0.001, 1, NULL),
                                 entry_of("new", cell->time, cell->error, cell->peak, cell->failed),
                                 "control", entry_of("glibc", 1, 0.001, 1, NULL), "floor");
    json_object_set_new(json_array_get(json_object_get(workload, "candidates"), 1), "start",
                        json_pack("{s:f}", "more_cpu_ns", 1e6 * start_ms));
    if (cell->cpu_ms > 0)
        json_object_set_new(workload, "process",
                            json_pack("{s:f, s:f, s:f, s:f}", "cpu_user_ns", 1e6 * cell->cpu_ms,
                                      "cpu_system_ns", 0.0, "rss_peak_bytes", 1e6 * cell->rss_mb,
                                      "rss_anon_peak_bytes", 1e6 * cell->rss_mb));
    return workload;
}

static struct res_result *result_of(const struct cell *cells, size_t count)
{
    json_t *workloads = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(workloads, workload_of(&cells[i]));
    json_auto_t *json = json_pack("{s:s, s:{s:s, s:i, s:s}, s:o}", "baseline", "glibc", "machine", "cpu",
                                  cells[0].cpu != NULL ? cells[0].cpu : "box", "cpus", 2, "architecture",
                                  "x86_64", "workloads", workloads);
    struct res_result *result = typed(json);
    return result;
}

static enum res_fleet_taken take(struct res_fleet_input *input, const struct cell *cell, double share,
                                 uint64_t created)
{
    struct res_result *result = result_of(cell, 1);
    char *problem = NULL;
    result->workloads[0].label = res_strdup(cell->name);
    const enum res_fleet_taken taken = res_fleet_take(input, result, &result->workloads[0], share, created,
                                                      &problem);
    CHECK((problem != NULL) == (taken == RES_FLEET_REFUSED));
    free(problem);
    return taken;
}

static struct res_fleet_input *begin_against(char *baseline)
{
    char other[] = "new";
    struct res_result_entry entries[] = {{.name = baseline}, {.name = other}};
    return res_fleet_begin(&(struct res_result_workload){.candidates = entries, .candidate_count = 2});
}

static struct res_fleet_input *begin(void)
{
    char baseline[] = "glibc";
    return begin_against(baseline);
}

static void finish(struct res_fleet_input *input, struct res_fleet *ret_fleet)
{
    res_fleet_finish(input, ret_fleet);
    res_fleet_input_free(input);
    res_notes_fleet(ret_fleet);
}

#define CPU_AND_RSS .cpu_ms = 1000, .rss_mb = 200

static void take_some(struct res_fleet_input *input, size_t count);

/* What some that are alike and these cells say together. */
static struct res_fleet fleet_of(size_t alike, const struct cell *cells, size_t count)
{
    struct res_fleet_input *input = begin();
    struct res_fleet fleet;
    take_some(input, alike);
    for (size_t i = 0; i < count; i++)
        CHECK_U64(take(input, &cells[i], NAN, 0), RES_FLEET_TAKEN);
    finish(input, &fleet);
    return fleet;
}

/* The words of the first note with a label; "" where there is none. */
static const char *note_of(const struct res_fleet *fleet, const char *label)
{
    for (size_t i = 0; i < fleet->note_count; i++)
        if (strcmp(fleet->notes[i].label, label) == 0)
            return fleet->notes[i].text;
    return "";
}

/* Some that are alike but for a little: times of the process from 0.955 up. */
static void take_some(struct res_fleet_input *input, size_t count)
{
    static char names[64][16], digests[64][24];
    for (size_t i = 0; i < count; i++) {
        snprintf(names[i], sizeof names[i], "web%zu", i);
        snprintf(digests[i], sizeof digests[i], "%016zu", i);
        const struct cell cell = {.name = names[i],
                                  .digest = digests[i],
                                  .time = 0.55 + 0.02 * (double)(i % 6),
                                  .error = 0.01,
                                  .peak = 0.7 + 0.01 * (double)(i % 3),
                                  CPU_AND_RSS};
        CHECK(take(input, &cell, NAN, 0) == RES_FLEET_TAKEN);
    }
}

/* ---- figures --------------------------------------------------------------------------------- */

TEST(figures_are_of_the_process)
{
    const struct cell cell = {"a", "d", .time = 0.6, .error = 0.02, .peak = 0.7, CPU_AND_RSS};
    OWNED(res_fleet) fleet = fleet_of(0, &cell, 1);
    const struct res_fleet_host *host = &fleet.hosts[0];
    CHECK(host->of_time == RES_FLEET_OF_PROCESS && host->of_memory == RES_FLEET_OF_PROCESS);
    CHECK_NEAR(host->malloc_time, 0.1, 1e-12);
    CHECK_NEAR(host->malloc_memory, 0.5, 1e-12);
    CHECK_NEAR(host->entries[1].time.ratio, 0.96, 1e-12);
    CHECK_NEAR(host->entries[1].time.error, 0.02 * 0.1 * 0.6 / 0.96, 1e-6);
    CHECK_NEAR(host->entries[1].peak.ratio, 0.85, 1e-12);
    CHECK_NEAR(host->entries[1].cpu_ns, 960e6, 1);
    CHECK_NEAR(host->entries[1].peak_bytes, 170e6, 1);
    CHECK_NEAR(host->entries[0].cpu_ns, 1000e6, 1);
    CHECK_NEAR(fleet.candidates[1].cpu.saved, 40e6, 1);
    CHECK_NEAR(fleet.candidates[1].peaks.saved, 30e6, 1);
    CHECK(host->entries[1].time.verdict == RES_LESS && fleet.candidates[1].time.less == 1);
    CHECK_STR(host->machine, "box, 2 cpus, x86_64");
}

/* 100 ms in malloc by a half, of 1 s: 5 % less without, as much more with a start of 100 ms. */
TEST(what_starts_take_is_in_the_hosts_time)
{
    const struct cell cell = {"web", "ab", 0.5, 0.001, 1, CPU_AND_RSS};
    for (int pays = 0; pays < 2; pays++) {
        start_ms = pays ? 100 : 0;
        OWNED(res_fleet) fleet = fleet_of(0, &cell, 1);
        CHECK_NEAR(fleet.hosts[0].entries[1].time.ratio, pays ? 1.05 : 0.95, 1e-9);
        CHECK_NEAR(fleet.candidates[1].cpu.saved, pays ? -50e6 : 50e6, 10);
    }
    start_ms = 0;
}

TEST(without_a_process_they_are_of_malloc_and_say_so)
{
    const struct cell cells[] = {{"a", "1", .time = 0.6, .error = 0.02, .peak = 0.7},
                                 {"b", "2", .time = 0.8, .error = 0.02, .peak = 0.7},
                                 {"c", "3", .time = 0.7, .error = 0.02, .peak = 0.7, CPU_AND_RSS}};
    OWNED(res_fleet) fleet = fleet_of(0, cells, 3);
    CHECK(fleet.of_time == RES_FLEET_OF_MALLOC && fleet.of_memory == RES_FLEET_OF_MALLOC);
    CHECK_NEAR(fleet.candidates[1].time.ratio, cbrt(0.6 * 0.8 * 0.7), 1e-12);
    CHECK_NEAR(fleet.candidates[1].cpu.baseline, 3e8, 1);
    CHECK_NEAR(fleet.loser_limit, RES_FLEET_LOSES_MALLOC, 0);
    CHECK(strstr(note_of(&fleet, "basis"), "figures are of malloc alone") != NULL);
}

/* Of one its process is not known; of the other the replay's calls take more than all of the program. */
TEST(the_few_that_are_not_trusted_are_in_no_common_figure)
{
    static const struct {
        struct cell cell;
        const char *words;
    } CASES[] = {{{"old", "x", .time = 0.2, .error = 0.02, .peak = 0.2},
                  "time of old is in no common figure: that of the program is not recorded"},
                 {{"odd", "x", .time = 0.2, .error = 0.02, .peak = 0.2, .cpu_ms = 50, .rss_mb = 200,
                   .live = "from_middle"},
                  "time of odd is in no common figure: a replay takes"}};
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        OWNED(res_fleet) fleet = fleet_of(6, &CASES[i].cell, 1);
        CHECK_U64(fleet.workloads, 7);
        CHECK_U64(fleet.candidates[1].time.workloads, 6);
        CHECK_U64(fleet.candidates[1].peak.workloads, 6);
        CHECK(fleet.candidates[1].time.ratio > 0.95);
        CHECK(strstr(note_of(&fleet, "without"), CASES[i].words) != NULL);
    }
}

/* ---- verdicts -------------------------------------------------------------------------------- */

TEST(with_fewer_than_five_there_is_no_verdict)
{
    for (size_t count = 4; count <= 5; count++) {
        OWNED(res_fleet) fleet = fleet_of(count, NULL, 0);
        const struct res_fleet_change *time = &fleet.candidates[1].time;
        CHECK(isfinite(time->ratio));
        CHECK(isfinite(time->low) == (count == 5));
        CHECK(time->verdict == (count == 5 ? RES_LESS : RES_UNDECIDED));
        CHECK((strstr(note_of(&fleet, "verdict"), "4 workloads tell no spread") != NULL) == (count == 4));
        CHECK_U64(time->less, count);
    }
}

/* One that is most of the fleet leaves few that count. */
TEST(shares_make_few_of_many)
{
    struct res_fleet_input *input = begin();
    OWNED(res_fleet) fleet;
    for (size_t i = 0; i < 20; i++) {
        char name[16];
        snprintf(name, sizeof name, "h%zu", i);
        take(input, &(struct cell){name, name, .time = 0.6, .error = 0.02, .peak = 0.7, CPU_AND_RSS},
             i == 0 ? 19 : 1, 0);
    }
    finish(input, &fleet);
    CHECK_NEAR(fleet.hosts[0].share, 0.5, 1e-12);
    CHECK_NEAR(fleet.n_eff, 38.0 * 38 / (19 * 19 + 19), 1e-9);
    CHECK(isnan(fleet.candidates[1].time.low) && fleet.candidates[1].time.verdict == RES_UNDECIDED);
    /* The one stands for 10 of 20. */
    CHECK_NEAR(fleet.candidates[1].cpu.baseline, 20e9, 1e3);
}

TEST(a_loser_is_named)
{
    const struct cell loser = {"db", "x", .time = 1.6, .error = 0.02, .peak = 0.7, CPU_AND_RSS};
    OWNED(res_fleet) fleet = fleet_of(12, &loser, 1);
    const struct res_fleet_candidate *candidate = &fleet.candidates[1];
    CHECK_U64(candidate->loser_count, 1);
    CHECK_STR(candidate->losers[0].label, "db");
    CHECK_NEAR(candidate->losers[0].ratio, 1.06, 1e-9);
    CHECK_U64(candidate->time.more, 1);
    CHECK_U64(candidate->time.less, 12);
    CHECK_STR(note_of(&fleet, "loses"), "new takes over 1 % more CPU time on db +6 %");
}

TEST(hosts_of_one_label_are_told_apart)
{
    const struct cell cells[] = {{"db", "x", .time = 1.6, .error = 0.02, .peak = 1.3, CPU_AND_RSS},
                                 {"db", "y", .time = 1.6, .error = 0.02, .peak = 1.3, CPU_AND_RSS}};
    OWNED(res_fleet) fleet = fleet_of(0, cells, 2);
    CHECK_U64(fleet.host_count, 2);
    CHECK_STR(note_of(&fleet, "loses"), "new takes over 1 % more CPU time on db/db +6 %, db/db +6 %");
}

TEST(less_time_for_more_memory_says_so)
{
    static const char *const DIGESTS[] = {"1", "2", "3", "4", "5", "6"};
    struct cell cells[6];
    for (size_t i = 0; i < 6; i++)
        cells[i] = (struct cell){"h",        DIGESTS[i], 0.6 + 0.01 * (double)i, 0.02, 1.3 + 0.01 * (double)i,
                                 CPU_AND_RSS};
    OWNED(res_fleet) fleet = fleet_of(0, cells, 6);
    CHECK_STR(note_of(&fleet, "verdict"),
              "time: new takes 3.8 % less CPU time on average (3.6 to 3.9), 225 ms of 6 s in all, "
              "but peaks of all hosts are 16 % more");
}

TEST(who_fails_is_named_and_in_no_common_figure)
{
    const struct cell failing = {"db",        "x",         .time = 0.6,        .error = 0.02,
                                 .peak = 0.7, CPU_AND_RSS, .failed = "it died"};
    OWNED(res_fleet) fleet = fleet_of(5, &failing, 1);
    CHECK_STR(fleet.hosts[0].entries[1].failed, "it died");
    CHECK_U64(fleet.candidates[1].time.workloads, 5);
    CHECK_STR(note_of(&fleet, "failed"), "new on db: it died");
}

/* ---- cells of a host ------------------------------------------------------------------------- */

static char *document(struct res_fleet_input *input)
{
    OWNED(res_fleet) fleet;
    finish(input, &fleet);
    json_auto_t *json = res_fleet_write(&fleet);
    char *text = json_dumps(json, JSON_INDENT(1));
    return text;
}

TEST(cells_give_the_same_bytes_in_any_order)
{
    const struct cell cells[] = {
        {"a", "1", .time = 0.61, .error = 0.02, .peak = 0.71, .cpu_ms = 1100, .rss_mb = 210},
        {"a", "1", .time = 0.63, .error = 0.03, .peak = 0.72, .cpu_ms = 1100, .rss_mb = 210},
        {"b", "2", .time = 0.83, .error = 0.01, .peak = 0.93, .cpu_ms = 900, .rss_mb = 170},
        {"b", "3", .time = 0.77, .error = 0.02, .peak = 0.81, .cpu_ms = 700, .rss_mb = 190},
        {"c", "3", .time = 1.07, .error = 0.02, .peak = 1.01, .cpu_ms = 800, .rss_mb = 130},
        {"d", "4", .time = 0.97, .error = 0.05, .peak = 1.03, .cpu_ms = 600, .rss_mb = 110},
    };
    static const uint64_t dates[] = {0, 1, 0, 0, 0, 0};
    struct res_fleet_input *input = begin(), *other = begin();
    for (size_t i = 0; i < 6; i++)
        CHECK(take(input, &cells[i], NAN, dates[i]) == RES_FLEET_TAKEN);
    for (size_t i = 6; i-- > 0;)
        CHECK(take(other, &cells[i], NAN, dates[i]) == RES_FLEET_TAKEN);
    CHECK(take(other, &cells[2], NAN, 0) == RES_FLEET_DOUBLED);
    OWNED_TEXT *one = document(input), *two = document(other);
    CHECK_STR(one, two);
}

/* In whatever order they come. */
TEST(of_one_host_the_newest_result_counts)
{
    const struct cell cells[] = {
        {"a", "1", .time = 0.5, .error = 0.01, .peak = 0.7, CPU_AND_RSS},
        {"a", "1", .time = 0.9, .error = 0.01, .peak = 0.7, CPU_AND_RSS},
    };
    for (size_t first = 0; first < 2; first++) { /* the first of the cells is of time 1, the other of 0 */
        struct res_fleet_input *input = begin();
        OWNED(res_fleet) fleet;
        CHECK(take(input, &cells[first], NAN, 1 - first) == RES_FLEET_TAKEN);
        CHECK(take(input, &cells[1 - first], NAN, first) == RES_FLEET_TAKEN);
        finish(input, &fleet);
        CHECK_U64(fleet.host_count, 1);
        CHECK_U64(fleet.hosts[0].results, 2);
        CHECK_NEAR(fleet.hosts[0].entries[1].time.ratio, 0.95, 1e-12);
    }
}

TEST(a_cell_of_another_baseline_is_refused)
{
    char baseline[] = "jemalloc";
    struct res_fleet_input *input = begin_against(baseline);
    CHECK(take(input, &(struct cell){"a", "1", .time = 1, .error = 0.01, .peak = 1}, NAN, 0) ==
          RES_FLEET_REFUSED);
    res_fleet_input_free(input);
}

TEST(what_is_mixed_missing_or_left_out_is_told)
{
    OWNED(res_fleet) fleet = fleet_of(6, NULL, 0);
    CHECK_STR(note_of(&fleet, "mixed"), "");
    fleet.mixed = res_calloc(1, sizeof *fleet.mixed);
    fleet.mixed[fleet.mixed_count++] = (struct res_fleet_mixed){res_strdup("new"),
                                                                res_calloc(2, sizeof *fleet.mixed->kinds), 2};
    fleet.mixed[0].kinds[0] = (struct res_fleet_kind){res_strdup("5.3.0"), 5, res_strdup("a.json")};
    fleet.mixed[0].kinds[1] = (struct res_fleet_kind){res_strdup("5.2.1"), 1, res_strdup("b.json")};
    fleet.missing = res_calloc(1, sizeof *fleet.missing);
    fleet.missing[fleet.missing_count++].label = res_strdup("web9");
    fleet.left_out = res_calloc(1, sizeof *fleet.left_out);
    fleet.left_out[fleet.left_out_count++] = (struct res_fleet_left){res_strdup("c.json"),
                                                                     res_strdup("torn")};
    res_notes_fleet(&fleet);
    CHECK_STR(note_of(&fleet, "mixed"), "new: 5.3.0 in 5, 5.2.1 in 1");
    CHECK_STR(note_of(&fleet, "missing"), "1 of those expected: web9");
    CHECK_STR(note_of(&fleet, "left out"), "1: c.json");
}

TEST(without_a_label_the_digest_is_the_key)
{
    struct res_fleet_input *input = begin();
    OWNED(res_fleet) fleet;
    const struct cell cells[] = {{"a", "1", .time = 1, .error = 0.01, .peak = 1},
                                 {"renamed", "1", .time = 1, .error = 0.01, .peak = 1},
                                 {"a", "2", .time = 1, .error = 0.01, .peak = 1}};
    for (size_t i = 0; i < 3; i++) {
        const struct res_result *result = result_of(&cells[i], 1);
        char *problem = NULL;
        CHECK(res_fleet_take(input, result, &result->workloads[0], NAN, i, &problem) == RES_FLEET_TAKEN);
    }
    finish(input, &fleet);
    CHECK_U64(fleet.host_count, 2);
    CHECK_STR(fleet.hosts[0].label, "a");
    CHECK_STR(fleet.hosts[1].label, "renamed"); /* the newest says */
    CHECK_U64(fleet.hosts[0].results + fleet.hosts[1].results, 3);
}

/* Recorded twice with the same calls it is one host; several in one result ran beside each other. */
TEST(the_same_calls_in_two_results_are_one_host)
{
    const struct cell cells[] = {{"a", "1", .time = 1, .error = 0.01, .peak = 1},
                                 {"a", "2", .time = 1, .error = 0.01, .peak = 1}};
    for (size_t of_each = 1; of_each <= 2; of_each++) {
        struct res_fleet_input *input = begin();
        OWNED(res_fleet) fleet;
        for (size_t day = 0; day < 2; day++) {
            struct res_result *result = result_of(of_each > 1 ? cells : &cells[day], of_each);
            for (size_t i = 0; i < of_each; i++)
                result->workloads[i].digest = res_strdup("c");
            for (size_t i = 0; i < of_each; i++) {
                char *problem = NULL;
                CHECK(res_fleet_take(input, result, &result->workloads[i], NAN, day, &problem) ==
                      RES_FLEET_TAKEN);
            }
        }
        finish(input, &fleet);
        CHECK_U64(fleet.host_count, of_each);
        CHECK_U64(fleet.hosts[0].results, 2);
    }
}

/* ---- results and documents ------------------------------------------------------------------- */

TEST(a_result_of_several_has_one_and_of_one_has_none)
{
    const struct cell cells[] = {
        {"a", "1", .time = 0.5, .error = 0.01, .peak = 0.7, CPU_AND_RSS},
        {"a", "2", .time = 0.9, .error = 0.01, .peak = 0.7, CPU_AND_RSS},
    };
    CHECK(result_of(cells, 1)->fleet == NULL);
    const struct res_fleet *fleet = result_of(cells, 2)->fleet;
    CHECK(fleet != NULL && fleet->host_count == 2); /* names are for people */
}

TEST(the_screen_has_78_columns)
{
    const struct res_style style = {0};
    struct res_document document = {.style = &style};
    OWNED(res_fleet) fleet = fleet_of(12, NULL, 0);
    res_fleet_screen(&document, &fleet);
    CHECK_STR(document.text.text, "fleet of 12 workloads, against glibc\n"
                                  "     CPU time of the program  hosts\n"
                                  "     change 95 % range        faster slower neither\n"
                                  "new   -4.0% [-4.2 -3.8]           12      0       0\n"
                                  "\n"
                                  "       resident, sum of peaks, MB            a host, MB\n"
                                  "        all change on average 95 % range        largest\n"
                                  "glibc  2400                                       200.0\n"
                                  "new    2052 -14.5%     -14.5% [-14.8 -14.2]       172.0\n"
                                  "\n"
                                  "VERDICT     time: new takes 4.0 % less CPU time on average (3.8 to 4.2),\n"
                                  "            480 ms of 12 s in all\n"
                                  "            memory: new holds 15 % less on average (14 to 15)\n");
    for (const char *line = document.text.text; *line != '\0'; line += strcspn(line, "\n") + 1)
        CHECK(strcspn(line, "\n") <= RES_SCREEN_COLUMNS);
    free(document.text.text);
}
