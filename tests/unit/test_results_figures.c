/* test_results_figures.c - from samples to figures in one pass: measured, held, judged, whatever the file says; twice the same; and slopes of
 * memory through the night: shown, levelling off, coming and going, too short. */
#include <math.h>

#include "results/measure/figures/figures.h"
#include "unit/harness.h"
#include "unit/typed.h"

#define ROUNDS 10

#define NEAR(actual, expected) (fabs((actual) / (expected)-1) < 1e-9)

/* Ten ops, whose time is of the first batch, and of the second as long. wobble: by which every other round differs. */
static json_t *runs_of(double ns, double wobble, double start, double peak)
{
    json_t *runs = json_array();
    for (int i = 0; i < ROUNDS; i++) {
        const json_int_t time = (json_int_t)(ns * (1 + wobble * (i * 7 % 10 - 4.5) / 4.5));
        json_array_append_new(runs, json_pack("{s:i, s:f, s:[I, I], s:i, s:f, s:f, s:{s:f, s:f, s:f, s:f}}",
                                              "ops", 10, "ns_per_op", (double)time / 5, "batch_ns", time,
                                              time, "faults_minor", 100 + i, "user_ns", 3.0, "system_ns", 1.0,
                                              "resident", "start_bytes", start, "peak_bytes", peak,
                                              "mean_bytes", peak / 2, "end_bytes", peak / 4));
    }
    return runs;
}

static json_t *entry_of(const char *name, double ns, double wobble, double start, double peak)
{
    return json_pack("{s:s, s:o}", "name", name, "runs", runs_of(ns, wobble, start, peak));
}

/* The baseline takes 2 us and 1,000 bytes, the harness 100 ns; its control a tenth more time. */
static json_t *workload_of(json_t *candidates)
{
    return json_pack("{s:i, s:i, s:i, s:i, s:o, s:o, s:o}", "ops", 10, "rounds", ROUNDS, "memory_rounds", 0,
                     "live_peak_bytes", 500, "candidates", candidates, "control",
                     entry_of("base", 2200, 0, 5000, 1000), "floor", entry_of("none", 200, 0, 0, 0));
}

/* As the first of its rounds only. */
static void cut_rounds(json_t *workload, size_t rounds)
{
    json_t *entries = json_copy(json_object_get(workload, "candidates")), *entry;
    size_t at;
    json_array_append(entries, json_object_get(workload, "control"));
    json_array_append(entries, json_object_get(workload, "floor"));
    json_array_foreach(entries, at, entry)
    {
        json_t *runs = json_object_get(entry, "runs");
        while (json_array_size(runs) > rounds)
            json_array_remove(runs, json_array_size(runs) - 1);
    }
    json_object_set_new(workload, "rounds", json_integer((json_int_t)rounds));
    json_decref(entries);
}

static struct res_result_workload *judged(json_t *workload)
{
    json_auto_t *result = json_pack("{s:s, s:[o]}", "baseline", "base", "workloads", workload);
    struct res_result *read = typed_judged(result);
    return &read->workloads[0];
}

TEST(measured_held_and_judged)
{
    const struct res_result_workload *workload = judged(workload_of(
        json_pack("[o, o]", entry_of("base", 2200, 0, 5000, 1000), entry_of("fast", 1200, 0, 4600, 1100))));
    const struct res_result_entry *base = &workload->candidates[0], *fast = &workload->candidates[1];
    CHECK(NEAR(base->figures.steady_ns_per_op, 400)); /* 2 x (2200 - 200) over 10 ops */
    CHECK(NEAR(fast->figures.steady_ns_per_op, 200) && NEAR(fast->figures.time.ratio, 0.5));
    CHECK(NEAR(workload->floor->figures.steady_ns_per_op, 40));
    CHECK_U64(fast->figures.time.verdict, RES_LESS);
    CHECK_U64(workload->control.figures.time.verdict, RES_SAME);
    /* Of the starts 400 bytes are the baseline's own: it holds 1,400, the candidate 1,100. */
    CHECK(base->figures.own_start_bytes == 400 && fast->figures.own_start_bytes == 0);
    CHECK(base->figures.peak_bytes == 1400 && fast->figures.peak_bytes == 1100);
    CHECK(workload->control.figures.peak_bytes == 1400);
    CHECK(NEAR(fast->figures.peak.ratio, 1100 / 1400.0) && fast->figures.peak.verdict == RES_LESS);
    CHECK(base->faults_minor == 104.5 && base->kernel_share == 0.25 && NEAR(base->blow_up, 2.8));
    CHECK_U64(base->resident_rounds, ROUNDS);
    CHECK_U64(base->resident_clock, RES_CLOCK_REAL);
}

/* A factor that no noise makes is told by three rounds; less is not, nor one with a round on the other side. */
TEST(what_no_noise_makes_is_told_by_few_rounds)
{
    static const struct {
        double ns, wobble;
        size_t rounds;
        enum res_verdict verdict;
    } CASES[] = {{1200, 0.01, 3, RES_LESS},      {4400, 0.01, 3, RES_MORE},
                 {1200, 0.01, 2, RES_UNDECIDED}, {2050, 0.01, 3, RES_UNDECIDED},
                 {1500, 0.45, 3, RES_UNDECIDED}, {1200, 0.01, 7, RES_LESS}};
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        json_t *json = workload_of(json_pack("[o, o]", entry_of("base", 2200, 0.01, 0, 1000),
                                             entry_of("other", CASES[i].ns, CASES[i].wobble, 0, 1000)));
        cut_rounds(json, CASES[i].rounds);
        const struct res_difference *time = &judged(json)->candidates[1].figures.time;
        CHECK_U64(time->verdict, CASES[i].verdict);
        if (time->verdict != RES_UNDECIDED)
            CHECK(time->interval.low < time->ratio && time->ratio < time->interval.high);
        else if (CASES[i].rounds < RES_ROUNDS_FOR_INTERVAL)
            CHECK(isnan(time->interval.low));
    }
}

/* A library that the program is linked with is loaded under any other, and keeps what it takes. */
TEST(what_is_linked_keeps_its_start)
{
    for (int linked = 0; linked < 2; linked++) {
        json_t *json = workload_of(json_pack("[o, o]", entry_of("base", 2200, 0, 5000, 1000),
                                             entry_of("other", 1200, 0, 4600, 1100)));
        json_object_set_new(json, "runs_on",
                            json_pack("{s:s, s:s}", "name", "base", "how", linked ? "linked" : "libc"));
        const struct res_result_workload *workload = judged(json);
        CHECK(workload->candidates[0].figures.peak_bytes == 1400);
        CHECK(workload->candidates[1].figures.own_start_bytes == (linked ? 400 : 0));
        CHECK(workload->candidates[1].figures.peak_bytes == (linked ? 1500 : 1100));
        CHECK_U64(workload->candidates[1].figures.peak.verdict, linked ? RES_MORE : RES_LESS);
    }
}

/* One ns/op: what is shown, compared across results and budgeted. */
TEST(the_figure_that_is_shown_is_the_one_that_is_judged)
{
    json_t *json = workload_of(
        json_pack("[o, o]", entry_of("base", 2200, 0.01, 0, 1000), entry_of("other", 2100, 0.02, 0, 1000)));
    json_object_set_new(json, "control", entry_of("base", 2400, 0.01, 0, 1000));
    const struct res_result_workload *workload = judged(json);
    const struct res_result_entry *base = &workload->candidates[0], *other = &workload->candidates[1];
    for (size_t i = 0; i < 2; i++) {
        const struct res_result_entry *entry = &workload->candidates[i];
        OWNED(res_series) series = res_series_of(workload, entry, RES_METRIC_TIME);
        CHECK(NEAR(exp(res_series_logarithm(&series, NULL).value), entry->figures.steady_ns_per_op));
        CHECK(res_metric_value(workload, entry, RES_METRIC_TIME) == entry->figures.steady_ns_per_op);
    }
    CHECK(NEAR(other->figures.steady_ns_per_op, base->figures.steady_ns_per_op * other->figures.time.ratio));
}

TEST(what_a_file_says_is_made_anew)
{
    json_t *forged = entry_of("fast", 2200, 0, 5000, 1000);
    json_object_set_new(forged, "time",
                        json_pack("{s:f, s:f, s:f, s:f, s:s}", "steady_ns_per_op", 1.0, "ratio", 0.01,
                                  "ratio_low", 0.009, "ratio_high", 0.011, "verdict", "faster"));
    json_object_set_new(forged, "resident",
                        json_pack("{s:f, s:f, s:s, s:f, s:s, s:b, s:i}", "peak_bytes", 1.0, "peak_ratio",
                                  0.001, "peak_verdict", "less", "own_start_bytes", 77.0, "clock", "recorded",
                                  "predicted", 0, "rounds", 99));
    json_object_set_new(forged, "faults_minor", json_real(1));
    json_object_set_new(forged, "blow_up", json_real(1));
    json_object_set_new(forged, "kernel_share", json_real(0));
    const struct res_result_entry *entry =
        &judged(workload_of(json_pack("[o, o]", entry_of("base", 2200, 0, 5000, 1000), forged)))
             ->candidates[1];
    CHECK(NEAR(entry->figures.time.ratio, 1) && entry->figures.time.verdict == RES_SAME);
    CHECK(NEAR(entry->figures.steady_ns_per_op, 400));
    CHECK(entry->figures.peak_bytes == 1000 && entry->figures.own_start_bytes == 0);
    CHECK(entry->figures.peak.ratio == 1 && entry->figures.peak.verdict == RES_SAME);
    CHECK(entry->predicted && entry->resident_clock == RES_CLOCK_REAL && entry->resident_rounds == ROUNDS);
    CHECK(entry->faults_minor == 104.5 && entry->blow_up == 2 && entry->kernel_share == 0.25);
}

TEST(judged_twice_is_the_same)
{
    struct res_result_workload *workload = judged(
        workload_of(json_pack("[o, o, o]", entry_of("base", 2200, 0.01, 5000, 1000),
                              entry_of("a", 2100, 0.02, 4900, 900), entry_of("b", 2150, 0.01, 5200, 950))));
    json_auto_t *once = res_described_write(&RES_RESULT_WORKLOAD, workload);
    res_workload_judge(workload);
    json_auto_t *twice = res_described_write(&RES_RESULT_WORKLOAD, workload);
    CHECK(json_equal(once, twice));
}

/* A run that lacks a figure leaves none; a result that was published without any run keeps what it says. */
TEST(without_samples)
{
    json_t *lacking = entry_of("a", 1200, 0, 4600, 1100);
    json_object_set_new(lacking, "blow_up", json_real(7));
    json_object_del(json_object_get(json_array_get(json_object_get(lacking, "runs"), 3), "resident"),
                    "peak_bytes");
    const struct res_result_entry *entry =
        &judged(workload_of(json_pack("[o, o]", entry_of("base", 2200, 0, 5000, 1000), lacking)))
             ->candidates[1];
    CHECK(isnan(entry->figures.peak_bytes) && isnan(entry->figures.peak.ratio) && isnan(entry->blow_up));
    CHECK_U64(entry->figures.peak.verdict, RES_UNDECIDED);
    CHECK(entry->figures.end_bytes == 275);
    json_t *bare = json_pack("{s:[{s:s, s:{s:f, s:s}}], s:{s:s}}", "candidates", "name", "a", "time", "ratio",
                             0.5, "verdict", "faster", "control", "name", "a");
    CHECK(judged(bare)->candidates[0].figures.time.ratio == 0.5);
}

static struct res_result_workload *several(size_t count, double resolve)
{
    json_t *candidates = json_pack("[o]", entry_of("base", 1e6, 0, 0, 1000));
    for (size_t i = 0; i < count; i++)
        json_array_append_new(candidates, entry_of("other", 0.9938e6, 0.019, 0, 1000));
    json_t *json = workload_of(candidates);
    json_object_set_new(json, "control", entry_of("base", 1e6, 0, 0, 1000));
    if (resolve > 0)
        json_object_set_new(json, "stopped", json_pack("{s:f}", "until_width", resolve));
    return judged(json);
}

/* By default within 3 %, and within 1 % where that was asked for. */
TEST(what_many_candidates_withdraw_is_same_within_what_is_resolved)
{
    const struct res_difference alone = several(1, 0)->candidates[1].figures.time;
    CHECK_U64(alone.verdict, RES_LESS);
    CHECK(alone.p_value > 0 && alone.p_corrected == alone.p_value);
    const size_t many = (size_t)(RES_P_VALUE_MOST / alone.p_value) + 2;
    const struct res_difference among = several(many, 0)->candidates[1].figures.time;
    CHECK(among.ratio == alone.ratio && among.p_value == alone.p_value);
    CHECK(NEAR(among.p_corrected, fmin(1, (double)many * alone.p_value)) &&
          among.p_corrected > RES_P_VALUE_MOST);
    CHECK_U64(among.verdict, RES_SAME);
    CHECK_U64(several(many, 0.01)->candidates[1].figures.time.verdict, RES_UNDECIDED);
}

#define SAMPLES 200
#define HOUR_NS 3600e9
#define HELD    100e6

/* An hour, at even times. */
static struct res_growth growth_of(double hours, double (*bytes_at)(double part))
{
    double times[SAMPLES], bytes[SAMPLES];
    for (int i = 0; i < SAMPLES; i++) {
        times[i] = hours * HOUR_NS * (i + 1) / SAMPLES;
        bytes[i] = bytes_at((i + 1.0) / SAMPLES) + 1e5 * ((i * 7) % 10 - 4.5);
    }
    return res_growth_of(times, bytes, SAMPLES, HELD);
}

static double straight(double part)
{
    return 20e6 + 30e6 * part;
}

static double falling(double part)
{
    return -straight(part);
}

static double flat(double part)
{
    return 20e6 + 0 * part;
}

/* Time constants of an eighth, and of all of it. */
static double fills(double part)
{
    return 50e6 * (1 - exp(-8 * part));
}

static double bends(double part)
{
    return 80e6 * (1 - exp(-part));
}

static double tide(double part)
{
    return 30e6 + 20e6 * sin(31 * part);
}

static double little(double part)
{
    return 20e6 + 1e6 * part;
}

TEST(what_grows_is_shown_with_its_range)
{
    const struct res_growth hour = growth_of(1, straight), two = growth_of(2, straight);
    CHECK(fabs(hour.bytes - 30e6) < 1e6 && hour.low < hour.bytes && hour.bytes < hour.high);
    CHECK(hour.low < 30e6 && 30e6 < hour.high);
    CHECK(fabs(two.bytes - 15e6) < 1e6);
    CHECK(growth_of(1, bends).bytes > 20e6);
}

TEST(what_does_not_is_not)
{
    double (*const shapes[])(double) = {falling, flat, fills, tide, little};
    for (size_t i = 0; i < COUNT_OF(shapes); i++)
        CHECK(growth_of(1, shapes[i]).bytes == 0);
}

TEST(what_is_short_or_has_holes_is_not_known)
{
    double times[SAMPLES] = {0}, bytes[SAMPLES] = {0};
    CHECK(isnan(growth_of(0.1, straight).bytes));
    CHECK(isnan(res_growth_of(times, bytes, 0, HELD).bytes));
    for (int i = 0; i < SAMPLES; i++)
        times[i] = i < SAMPLES / 2 ? i : HOUR_NS;
    CHECK(isnan(res_growth_of(times, bytes, SAMPLES, HELD).bytes));
}

/* Resident grows by 11 MB where 10 MB are live, and by 30. */
TEST(an_allocators_part_of_a_leak_is_no_growth)
{
    for (int more = 11; more <= 30; more += 19) {
        json_t *times = json_array(), *live = json_array(), *resident = json_array();
        struct res_run run = {.resident_peak_bytes = HELD};
        for (int i = 0; i < SAMPLES; i++) {
            json_array_append_new(times, json_real(HOUR_NS * (i + 1) / SAMPLES));
            json_array_append_new(live, json_real(10e6 * i / SAMPLES));
            json_array_append_new(resident, json_real(more * 1e6 * i / SAMPLES));
        }
        run.json = json_pack("{s:{s:o, s:o, s:o}}", "samples", "time_ns", times, "live_bytes", live,
                             "resident_bytes", resident);
        res_growth_measure(&run);
        CHECK(fabs(run.live_growth.bytes - 10e6) < 1e5);
        CHECK(more == 11 ? run.growth.bytes == 0 : fabs(run.growth.bytes - 20e6) < 1e5);
        json_array_remove(resident, 0);
        res_growth_measure(&run);
        CHECK(isnan(run.growth.bytes) && isnan(run.live_growth.bytes));
        json_decref(run.json);
    }
}
