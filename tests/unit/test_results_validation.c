/* test_results_validation.c - from hand-made images of real runs to the figures of a candidate. */
#include <math.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/measure/validate/validation_result.h"
#include "unit/harness.h"

#define MB      1000000u
#define SAMPLED 5u
#define MAPPED  3u

static struct res_image image_of(uint64_t anonymous_mb, uint64_t apart_mb)
{
    return (struct res_image){
        .exact = true,
        .together = 1,
        .peak_bytes = (double)(anonymous_mb + 3) * MB,
        .anonymous_peak_bytes = (double)anonymous_mb * MB,
        .heap_peak_bytes = (double)(anonymous_mb - apart_mb) * MB,
        .apart_at_peak_bytes = (double)apart_mb * MB,
        .apart_most_bytes = (double)apart_mb * MB,
    };
}

static bool maps_between_samples; /* 39 MB of its own, of which samples see one, and 12 of heap */

/* Of one candidate, nothing replayed. */
static struct res_validated_real real_of(const uint64_t *sampled_mb, const uint64_t *mapped_mb)
{
    struct res_image sampled[SAMPLED], mapped[MAPPED];
    struct res_real all = {
        .sampled = sampled, .sampled_count = SAMPLED, .mapped = mapped, .mapped_count = MAPPED};
    const struct res_reality reality = {.options = {.candidate_count = 1}, .all = &all};
    struct res_entry replays[3] = {{.runs = NULL}, {.is_control = true}, {.is_floor = true}};
    const struct res_workload workload = {.ops = 1};
    const struct res_trial trial = {
        .workload = &workload, .entries = replays, .entry_count = 3, .candidate_count = 1};
    for (size_t i = 0; i < SAMPLED; i++)
        sampled[i] = image_of(sampled_mb[i], 1);
    for (size_t i = 0; i < MAPPED; i++) {
        mapped[i] = image_of(mapped_mb[i], 1);
        if (maps_between_samples) {
            mapped[i].heap_peak_bytes = 12 * MB;
            mapped[i].apart_most_bytes = 39 * MB;
        }
    }
    struct res_validated_candidate candidate;
    res_validation_figures(&reality, &trial, 0, 1, &candidate);
    const struct res_validated_real real = candidate.real; /* which owns nothing yet */
    res_described_release(&RES_VALIDATED_CANDIDATE, &candidate);
    return real;
}

/* Queues that grew while mappings were read: the heap's real figures are of runs in which they were not. */
TEST(a_disturbed_heap_is_that_of_the_sampled_runs)
{
    const uint64_t alone[SAMPLED] = {40, 34, 35, 36, 35}, read[MAPPED] = {39, 38, 41};
    const struct res_validated_real real = real_of(alone, read);
    CHECK(fabs(real.disturbed_by - (39.0 / 35 - 1)) < 1e-9);
    CHECK(fabs(real.heap_peak_bytes - 34.0 * MB) < 1);
}

TEST(a_heap_that_shrank_by_reading_is_that_of_the_sampled_runs)
{
    const uint64_t alone[SAMPLED] = {40, 34, 35, 36, 35}, read[MAPPED] = {27, 32, 33};
    const struct res_validated_real real = real_of(alone, read);
    CHECK(fabs(real.disturbed_by - (32.0 / 35 - 1)) < 1e-9);
    CHECK(fabs(real.heap_peak_bytes - 34.0 * MB) < 1);
}

TEST(an_undisturbed_heap_is_that_of_the_mapped_runs)
{
    const uint64_t alone[SAMPLED] = {40, 34, 35, 36, 35}, read[MAPPED] = {35, 36, 37};
    const struct res_validated_real real = real_of(alone, read);
    CHECK(!(real.disturbed_by > 0));
    CHECK(fabs(real.heap_peak_bytes - 35.0 * MB) < 1);
}

/* One thing or another by turns: both kinds of runs have some of each. */
TEST(a_program_that_differs_by_itself_is_not_disturbed)
{
    const uint64_t alone[SAMPLED] = {10, 60, 10, 60, 10}, read[MAPPED] = {60, 10, 60};
    const struct res_validated_real real = real_of(alone, read);
    CHECK(!(fabs(real.disturbed_by) > 0));
}

/* A program that maps and unmaps between samples, as php does: anonymous memory of 40 MB, of which up to 39 are its own. */
TEST(what_samples_missed_of_own_mappings_is_not_heap)
{
    const uint64_t alone[SAMPLED] = {40, 40, 40, 40, 40}, read[MAPPED] = {40, 40, 40};
    maps_between_samples = true;
    const struct res_validated_real real = real_of(alone, read);
    maps_between_samples = false;
    CHECK(fabs(real.heap_peak_bytes - 12.0 * MB) < 1); /* as sampled */
}

/* The advice of the replays alone, held against pairs of runs of the program. */
static int shown_of(double of_process, int verdict)
{
    struct res_real all = {.sampled_count = 0};
    char name[] = "fast", *arguments[] = {name, NULL};
    struct res_confirm_command command = {.arguments = arguments};
    const struct res_candidate baseline = {.name = name};
    const struct res_candidate *candidates[] = {&baseline};
    const struct res_reality reality = {
        .options = {.candidate_count = 1, .candidates = candidates, .command = &command, .process = "p"},
        .all = &all};
    struct res_entry replays[2] = {{.runs = NULL}, {.is_control = true}};
    const struct res_workload workload = {.ops = 1};
    const struct res_trial trial = {
        .workload = &workload, .entries = replays, .entry_count = 2, .candidate_count = 1};
    struct res_confirmed confirmed[] = {{.candidate = name, .time_verdict = verdict},
                                        {.candidate = name, .is_control = true}};
    struct res_confirmation confirmation = {.stopped = false};
    struct res_program_verdict verdict_of = {.time = {name, 1, of_process}};
    struct res_result result = {
        .confirmed = confirmed, .confirmed_count = 2, .confirmation = &confirmation, .verdict = &verdict_of};
    res_validation_fill(&reality, &trial, 1, &result);
    const int shown = result.validation->advice.time.shown;
    CHECK(result.validation->advice.peak.candidate == NULL);
    struct res_result made = {.validation = result.validation, .validated = result.validated};
    made.validated_count = result.validated_count;
    res_result_release(&made);
    return shown;
}

TEST(advice_is_held_against_the_program)
{
    CHECK_U64(shown_of(0.05, RES_LESS), RES_ADVICE_RIGHT);
    CHECK_U64(shown_of(0.05, RES_MORE), RES_ADVICE_WRONG);
    CHECK_U64(shown_of(0.05, RES_UNDECIDED), RES_ADVICE_NOT_SHOWN);
    CHECK_U64(shown_of(NAN, RES_LESS), RES_ADVICE_RIGHT);  /* of a process that is not known */
    CHECK_U64(shown_of(0.001, RES_LESS), RES_ADVICE_NONE); /* not worth it */
}

RUN_TESTS(T(a_disturbed_heap_is_that_of_the_sampled_runs),
          T(a_heap_that_shrank_by_reading_is_that_of_the_sampled_runs),
          T(an_undisturbed_heap_is_that_of_the_mapped_runs), T(advice_is_held_against_the_program),
          T(what_samples_missed_of_own_mappings_is_not_heap),
          T(a_program_that_differs_by_itself_is_not_disturbed))
