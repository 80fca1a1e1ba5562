/* test_results_starts - what a start of a program costs under a candidate, from starts and from a real one. */
#include <math.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/measure/experiment/start_costs.h"
#include "unit/harness.h"

TEST(more_is_told_by_pairs)
{
    double base_wall[] = {1000, 5000, 1100}, base_cpu[] = {500, 900, 520}, base_faults[] = {80, 80, 81};
    double own_wall[] = {1400, 5300, 1600}, own_cpu[] = {700, 1150, 720}, own_faults[] = {200, 201, 202};
    const struct res_start_samples base = {base_wall, base_cpu, base_faults, 3},
                                   own = {own_wall, own_cpu, own_faults, 3}, none = {.count = 0};
    const struct res_start_cost cost = res_start_costs_of(&own, &base);
    CHECK_U64(cost.starts, 3);
    CHECK(fabs(cost.ns - 1600) < 1e-9 && fabs(cost.ns_deviation - 200) < 1e-9);
    CHECK(fabs(cost.cpu_ns - 720) < 1e-9 && fabs(cost.cpu_ns_deviation - 20) < 1e-9);
    CHECK(fabs(cost.faults_minor - 201) < 1e-9);
    CHECK(fabs(cost.more_ns - 400) < 1e-9 && fabs(cost.more_cpu_ns - 200) < 1e-9);
    CHECK(fabs(res_start_costs_of(&base, &base).more_ns) < 1e-9);
    CHECK(isnan(res_start_costs_of(&own, &none).more_ns));
    CHECK(isnan(res_start_costs_of(&none, &base).ns));
}

/* Of as many as fit into the time, one at least. */
TEST(a_start_is_of_the_candidate)
{
    char c_library[] = "libc.so.6";
    struct res_candidate glibc = {.path = c_library};
    const struct res_candidate *const candidates[] = {&glibc, &glibc};
    const struct res_options options = {
        .candidates = candidates, .candidate_count = 2, .starts = 3, .seed = 1};
    struct res_start_cost costs[2];
    res_start_costs(&options, costs);
    for (size_t i = 0; i < 2; i++) {
        CHECK(costs[i].starts >= 1 && costs[i].starts <= 3);
        CHECK(costs[i].ns > 0 && costs[i].cpu_ns > 0 && costs[i].faults_minor > 0);
    }
    CHECK(fabs(costs[0].more_cpu_ns) < 1e-9);
}

RUN_TESTS(T(more_is_told_by_pairs), T(a_start_is_of_the_candidate))
