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
        .run = {.total = {(double)(anonymous_mb + 3) * MB, (double)(anonymous_mb + 3) * MB / 2, 8 * MB},
                .anonymous = {(double)anonymous_mb * MB, (double)anonymous_mb * MB / 2, 5 * MB},
                .heap = {(double)(anonymous_mb - apart_mb) * MB,
                         (double)(anonymous_mb - 2 * apart_mb) * MB / 2, 4 * MB},
                .apart_at_peak_bytes = (double)apart_mb * MB,
                .apart_peak_bytes = (double)apart_mb * MB,
                .apart_most_bytes = (double)apart_mb * MB},
    };
}

static bool maps_between_samples; /* 39 MB of its own, of which samples see one, and 12 of heap */

/* Of one candidate and its control, nothing replayed.
 * second_saw_mb  of what is not the heap's the second mapped run's samples saw no more */
static struct res_validated_real real_of(const uint64_t *sampled_mb, const uint64_t *mapped_mb,
                                         uint64_t second_saw_mb)
{
    struct res_image sampled[SAMPLED], mapped[MAPPED];
    struct res_validation_entry entries[2] = {
        {.images = sampled, .image_count = SAMPLED, .mapped = mapped, .mapped_count = MAPPED},
        {.is_control = true},
    };
    const struct res_validation validation = {
        .options = {.candidate_count = 1, .only_process = true}, .entries = entries, .entry_count = 2};
    struct res_entry replays[3] = {{.runs = NULL}, {.is_control = true}, {.is_floor = true}};
    const struct res_workload workload = {.ops = 1};
    const struct res_trial trial = {
        .workload = &workload, .entries = replays, .entry_count = 3, .candidate_count = 1};
    for (size_t i = 0; i < SAMPLED; i++)
        sampled[i] = image_of(sampled_mb[i], 1);
    for (size_t i = 0; i < MAPPED; i++) {
        mapped[i] = image_of(mapped_mb[i], 1);
        mapped[i].run.apart_most_bytes = i == 1 ? (double)second_saw_mb * MB : MB;
        if (maps_between_samples) {
            mapped[i].run.heap.peak_bytes = 12 * MB;
            mapped[i].run.apart_most_bytes = 39 * MB;
        }
    }
    struct res_validated_candidate candidate;
    res_validation_figures(&validation, &trial, 0, 1, &candidate);
    const struct res_validated_real real = candidate.real; /* which owns nothing yet */
    res_described_release(&RES_VALIDATED_CANDIDATE, &candidate);
    return real;
}

/* Queues that grew while mappings were read: the heap's real figures are of runs in which they were not. */
TEST(a_disturbed_heap_is_that_of_the_sampled_runs)
{
    const uint64_t alone[SAMPLED] = {40, 34, 35, 36, 35}, read[MAPPED] = {39, 38, 41};
    const struct res_validated_real real = real_of(alone, read, 1);
    CHECK(fabs(real.disturbed_by - (39.0 / 35 - 1)) < 1e-9);
    CHECK(fabs(real.heap.peak_bytes - 34.0 * MB) < 1);
    CHECK(fabs(real.heap.mean_bytes - (17.5 - 1) * MB) < 1);
    CHECK(fabs(real.heap.end_bytes - 4.0 * MB) < 1);
    CHECK(fabs(real.heap_range.peak.low_bytes - 33.0 * MB) < 1);
    CHECK(fabs(real.heap_range.peak.high_bytes - 39.0 * MB) < 1);
    CHECK_U64(real.heap_range.peak.runs, SAMPLED);
}

TEST(a_heap_that_shrank_by_reading_is_that_of_the_sampled_runs)
{
    const uint64_t alone[SAMPLED] = {40, 34, 35, 36, 35}, read[MAPPED] = {27, 32, 33};
    const struct res_validated_real real = real_of(alone, read, 1);
    CHECK(fabs(real.disturbed_by - (32.0 / 35 - 1)) < 1e-9);
    CHECK(fabs(real.heap.peak_bytes - 34.0 * MB) < 1);
    CHECK_U64(real.heap_range.peak.runs, SAMPLED); /* the median lies within */
}

TEST(an_undisturbed_heap_is_that_of_the_mapped_runs)
{
    const uint64_t alone[SAMPLED] = {40, 34, 35, 36, 35}, read[MAPPED] = {35, 36, 37};
    const struct res_validated_real real = real_of(alone, read, 1);
    CHECK(!(real.disturbed_by > 0));
    CHECK(fabs(real.heap.peak_bytes - 35.0 * MB) < 1);
    CHECK_U64(real.heap_range.peak.runs, MAPPED);
}

/* One thing or another by turns: both kinds of runs have some of each. */
TEST(a_program_that_differs_by_itself_is_not_disturbed)
{
    const uint64_t alone[SAMPLED] = {10, 60, 10, 60, 10}, read[MAPPED] = {60, 10, 60};
    const struct res_validated_real real = real_of(alone, read, 1);
    CHECK(!(fabs(real.disturbed_by) > 0));
}

/* A program that maps and unmaps between samples, as php does: anonymous memory of 40 MB, of which up to 39 are its own. */
TEST(what_samples_missed_of_own_mappings_is_not_heap)
{
    const uint64_t alone[SAMPLED] = {40, 40, 40, 40, 40}, read[MAPPED] = {40, 40, 40};
    maps_between_samples = true;
    const struct res_validated_real real = real_of(alone, read, 1);
    maps_between_samples = false;
    CHECK(fabs(real.heap.peak_bytes - 12.0 * MB) < 1); /* as sampled */
    CHECK(fabs(real.heap_range.peak.high_bytes - 12.0 * MB) < 1);
}

/* What a run's samples missed of the rest is not its heap's. */
TEST(a_run_that_missed_the_rest_has_no_greater_heap)
{
    const uint64_t alone[SAMPLED] = {40, 34, 35, 36, 35}, read[MAPPED] = {35, 36, 35};
    const struct res_validated_real real = real_of(alone, read, 0);
    CHECK(fabs(real.heap_range.peak.low_bytes - 34.0 * MB) < 1);
    CHECK(fabs(real.heap_range.peak.high_bytes - 35.0 * MB) < 1);
}

RUN_TESTS(T(a_disturbed_heap_is_that_of_the_sampled_runs),
          T(a_heap_that_shrank_by_reading_is_that_of_the_sampled_runs),
          T(an_undisturbed_heap_is_that_of_the_mapped_runs),
          T(a_run_that_missed_the_rest_has_no_greater_heap),
          T(what_samples_missed_of_own_mappings_is_not_heap),
          T(a_program_that_differs_by_itself_is_not_disturbed))
