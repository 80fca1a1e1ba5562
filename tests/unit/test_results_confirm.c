/* test_results_confirm.c - a confirmation's pairs: their order, their ends, their figures, by a program that is made up. */
#include <math.h>

#include "footprint/base/support.h"
#include "results/measure/confirm/confirming.h"
#include "results/measure/experiment/timed.h"
#include "results/measure/statistics/statistics.h"
#include "unit/harness.h"

#define RUNS_MAX 4096u
#define MS       1e6

static char baseline_name[] = "base", fast_name[] = "fast", broken_name[] = "broken", died_name[] = "died",
            library[] = "/lib/libdied.so";
static const struct res_candidate BASELINE = {.name = baseline_name}, FAST = {.name = fast_name},
                                  BROKEN = {.name = broken_name}, DIED = {.name = died_name, .path = library};

/* The program: what ran, in order, a letter each; small letters are runs for memory. */
struct made_up {
    char log[RUNS_MAX];
    size_t count;
    size_t stops_after, base_fails_after; /* runs; 0: never */
    volatile sig_atomic_t stopped;
};

static enum res_real_state run(void *context, const struct res_candidate *candidate,
                               enum res_confirm_what what, struct res_confirm_run *ret, char **ret_reason)
{
    struct made_up *program = context;
    const char letter = candidate->name[0];
    const size_t number = program->count++;
    program->log[number] = what == RES_CONFIRM_PEAK ? letter : (char)(letter - 'a' + 'A');
    if (candidate == &BROKEN || (program->base_fails_after > 0 && number >= program->base_fails_after)) {
        *ret_reason = res_strdup("it ended \033with exit code 3");
        return RES_REAL_FAILED;
    }
    if (candidate == &DIED) {
        *ret_reason = res_strdup("the service ended by signal 11 (Segmentation fault) before its load did");
        return RES_REAL_FAILED;
    }
    if (program->stops_after > 0 && number >= program->stops_after) {
        program->stopped = SIGINT;
        return RES_REAL_STOPPED;
    }
    /* The machine becomes slower all the time, which neighbours see alike. */
    const double state = 1 + (double)number / 50, share = candidate == &FAST ? 0.8 : 1;
    ret->time_ns = 100 * MS * state * share;
    ret->wall_ns = 2 * ret->time_ns;
    if (what == RES_CONFIRM_PEAK)
        ret->peak_bytes = candidate == &FAST ? 110 * MS : 100 * MS;
    return RES_REAL_OK;
}

static struct res_result confirm(struct made_up *program, const struct res_candidate *other, uint64_t pairs,
                                 uint64_t budget_ns, uint64_t run_ns)
{
    const struct res_candidate *const candidates[] = {&BASELINE, &FAST, other};
    const struct res_confirm_options options = {
        .candidates = candidates,
        .candidate_count = other != NULL ? 3 : 2,
        .runner = {.run = run, .context = program},
        .pairs = pairs,
        .budget_ns = budget_ns,
        .run_ns = run_ns,
        .seed = 1,
        .stop = &program->stopped,
    };
    struct res_result result = {0};
    res_confirm_run(&options, &result);
    return result;
}

TEST(a_trimmed_ratio_forgets_what_strayed)
{
    const double ratios[] = {0.90, 0.95, 0.88, 1.40, 0.92, 0.91, 0.93, 0.50, 0.89, 0.94};
    const double few[] = {0.5, 1, 2}, wrong[] = {1, 0, 1}, nothing[] = {1, 0, 1, 1, 1};
    const struct res_estimate ten = res_logarithm_estimate(res_trimmed_logarithm(ratios, 10)),
                              three = res_logarithm_estimate(res_trimmed_logarithm(few, 3));
    CHECK_NEAR(ten.value, 0.91484, 1e-4);
    CHECK_NEAR(ten.interval.low, 0.88474, 1e-3);
    CHECK_NEAR(ten.interval.high, 0.94596, 1e-3);
    CHECK_NEAR(three.value, 1, 1e-9);
    CHECK_NEAR(three.interval.low, 0.17871, 1e-3);
    CHECK_NEAR(three.interval.low * three.interval.high, 1, 1e-9);
    CHECK(isnan(res_trimmed_logarithm(wrong, 3).value) && res_trimmed_logarithm(nothing, 5).value == 0);
    CHECK(isnan(res_trimmed_logarithm(few, 0).value));
    CHECK_NEAR(res_trimmed_logarithm(few, 1).value, log(0.5), 1e-9);
    CHECK(isnan(res_trimmed_logarithm(few, 1).error));
}

TEST(neighbours_are_pairs_and_swap_their_order)
{
    struct made_up program = {.count = 0};
    OWNED(res_result) result = confirm(&program, NULL, 10, 0, 0);
    size_t base_first = 0, pairs = 0;
    for (size_t i = 0; i < program.count;) {
        if (program.log[i] >= 'a') { /* of memory: the baseline, then the other */
            CHECK(strncmp(&program.log[i], "bf", 2) == 0);
        } else {
            CHECK(program.log[i] == 'B' || program.log[i + 1] == 'B');
            base_first += program.log[i] == 'B' && program.log[i + 1] == 'F';
            pairs += program.log[i] == 'F' || program.log[i + 1] == 'F';
        }
        i += 2;
    }
    CHECK_U64(pairs, 10);
    CHECK_U64(base_first, 5);
    CHECK_U64(result.confirmed_count, 2);
    const struct res_confirmed *fast = &result.confirmed[0], *control = &result.confirmed[1];
    CHECK_STR(fast->candidate, "fast");
    CHECK(!fast->is_control && control->is_control);
    CHECK_STR(control->candidate, "base");
    CHECK_U64(fast->runs, 10);
    CHECK_U64(fast->peak.own_count, 1 + 10); /* before the first pair, and in each */
    CHECK_U64(control->peak.own_count, 10);
    CHECK_U64(result.confirmation->runs, program.count);
    /* The swaps take out that each second run is slower. */
    CHECK_NEAR(fast->time.ratio, 0.8, 0.005);
    CHECK_NEAR(fast->wall.ratio, fast->time.ratio, 1e-9);
    CHECK_NEAR(fast->saved_ns, fast->time.baseline_median * (1 - fast->time.ratio), 1);
    CHECK_U64(fast->time_verdict, RES_LESS);
    CHECK_U64(fast->peak_verdict, RES_MORE);
    CHECK_NEAR(fast->peak_bytes, 110 * MS, 1);
    CHECK_NEAR(fast->peak.baseline_median, 100 * MS, 1);
    CHECK_U64(control->time_verdict, RES_SAME); /* its own noise hides it, whatever it is */
}

/* As a program was seen: eight runs wholly apart, 3.4 % less. Of fewer than a verdict takes there is none, however far apart. */
TEST(memory_is_judged_as_time_is)
{
    double baseline[8], own[8];
    struct res_confirmed one, control;
    res_described_init(&RES_CONFIRMED, &one);
    res_described_init(&RES_CONFIRMED, &control);
    for (size_t i = 0; i < 8; i++) {
        baseline[i] = 64.8e6 + 1e5 * (double)(i % 3);
        own[i] = 62.6e6 + 1e5 * (double)(i % 2);
    }
    control.peak = (struct res_confirmed_figure){
        .baseline = baseline, .own = baseline, .baseline_count = 8, .own_count = 8, .ratio = NAN};
    one.peak = (struct res_confirmed_figure){
        .baseline = baseline, .own = own, .baseline_count = 8, .own_count = 8};
    res_confirm_judge(&control, NULL);
    res_confirm_judge(&one, &control);
    CHECK_U64((uint64_t)one.peak_verdict, RES_LESS);
    one.peak.baseline_count = one.peak.own_count = RES_ROUNDS_FOR_VERDICT - 1;
    res_confirm_judge(&one, &control);
    CHECK_U64((uint64_t)one.peak_verdict, RES_UNDECIDED);
}

TEST(a_load_that_hangs_is_given_up)
{
    struct res_confirm_service service = {.timeout_ns = 0};
    CHECK_U64(res_confirm_load_patience_ns(&service), RES_CONFIRM_LOAD_NS);
    service.loaded_ns = UINT64_C(1000000);
    CHECK_U64(res_confirm_load_patience_ns(&service), UINT64_C(60000000000));
    service.loaded_ns = UINT64_C(20000000000);
    CHECK_U64(res_confirm_load_patience_ns(&service), UINT64_C(200000000000));
    service.timeout_ns = 5;
    CHECK_U64(res_confirm_load_patience_ns(&service), 5);
}

TEST(who_fails_is_out_and_the_others_go_on)
{
    struct made_up program = {.count = 0};
    struct res_result result = confirm(&program, &BROKEN, 8, 0, 0);
    CHECK_U64(result.confirmed_count, 3);
    CHECK_U64(result.confirmed[0].runs, 8);
    CHECK(result.confirmed[0].failed == NULL);
    CHECK(result.confirmed[1].failed != NULL && strchr(result.confirmed[1].failed, '\033') == NULL);
    CHECK_U64(result.confirmed[1].runs, 0);
    CHECK_U64((uint64_t)result.confirmed[1].time_verdict, RES_UNDECIDED);
    res_result_release(&result);
    /* Without the baseline there is nothing to compare. */
    struct made_up lost = {.base_fails_after = 1};
    result = confirm(&lost, NULL, 8, 0, 0);
    CHECK(result.confirmed[0].failed != NULL || result.confirmed[1].failed != NULL);
    CHECK_U64(result.confirmed[0].runs, 0);
    CHECK(lost.count <= 4);
    res_result_release(&result);
}

TEST(what_kills_under_a_preload_only_is_told)
{
    struct made_up program = {.count = 0};
    OWNED(res_result) result = confirm(&program, &DIED, 8, 0, 0);
    CHECK(result.confirmed[0].failed == NULL);
    CHECK_STR(result.confirmed[1].failed,
              "the service ended by signal 11 (Segmentation fault) before its load did; modules loaded with "
              "RTLD_DEEPBIND, or a free() of its own, are the usual cause");
    CHECK(!res_command_adds(139, "Segmentation fault (core dumped)") && !res_command_adds(139, NULL));
    CHECK(res_command_adds(139, "out of luck") && res_command_adds(1, "Segmentation fault"));
}

TEST(what_is_stopped_keeps_whole_pairs)
{
    struct made_up program = {.stops_after = 17};
    OWNED(res_result) result = confirm(&program, NULL, 20, 0, 0);
    CHECK(result.confirmation->stopped);
    CHECK_U64(result.confirmation->runs, 17);
    CHECK(result.confirmed[0].runs + result.confirmed[1].runs >= 5);
    CHECK_U64(result.confirmed[0].time.own_count, result.confirmed[0].time.baseline_count);
    CHECK(result.confirmed[0].failed == NULL && result.confirmed[1].failed == NULL);
}

TEST(no_pair_is_begun_that_would_end_late)
{
    /* A second each, as is told before; the look at memory is made all the same. */
    struct made_up program = {.count = 0};
    struct res_result result = confirm(&program, NULL, 0, 1, UINT64_C(1000000000));
    CHECK_U64(program.count, 2);
    CHECK_U64(result.confirmed[0].runs, 0);
    CHECK(isnan(result.confirmed[0].time.ratio));
    CHECK_NEAR(result.confirmed[0].peak.ratio, 1.1, 1e-9);
    res_result_release(&result);
    struct made_up open = {.count = 0};
    result = confirm(&open, NULL, 0, UINT64_C(3600000000000), 0);
    CHECK_U64(result.confirmed[0].runs, RES_CONFIRM_PAIRS_MAX);
    res_result_release(&result);
}

TEST(what_it_would_take_is_told_before)
{
    /* One candidate: 2 runs for memory, then 6 a round. */
    CHECK_U64(res_confirm_runs(1, 10), 62);
    CHECK_U64(res_confirm_pairs(1, 1000, 62000), 10);
    CHECK_U64(res_confirm_pairs(1, 1000, 10), 8); /* the least for a verdict */
    CHECK_U64(res_confirm_pairs(1, 1, 46000), RES_CONFIRM_PAIRS_MAX);
}

TEST(a_result_with_it_is_read_as_it_was_written)
{
    struct made_up program = {.count = 0};
    OWNED(res_result) result = confirm(&program, NULL, 8, 0, 0);
    json_t *one = res_described_write(&RES_CONFIRMED, &result.confirmed[0]), *again;
    struct res_confirmed read;
    char *problem = NULL;
    CHECK(res_described_read(&RES_CONFIRMED, one, &read, &problem));
    again = res_described_write(&RES_CONFIRMED, &read);
    CHECK(json_equal(one, again));
    CHECK_U64(json_array_size(json_object_get(json_object_get(one, "time"), "samples_ns")), 8);
    CHECK_STR(json_string_value(json_object_get(json_object_get(one, "verdict"), "time")),
              RES_TIME_VERDICTS[RES_LESS]);
    json_decref(one);
    json_decref(again);
    res_described_release(&RES_CONFIRMED, &read);
    CHECK(res_confirmed_named(result.confirmed, result.confirmed_count, "fast") == &result.confirmed[0]);
    CHECK(res_confirmed_named(result.confirmed, result.confirmed_count, "base") == NULL);
}
