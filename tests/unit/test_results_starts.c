/* test_results_starts - what a start of a program costs under a candidate, from starts and from a real one. */
#include <math.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/measure/experiment/experiment.h"
#include "unit/harness.h"

TEST(more_is_told_by_pairs)
{
    double base_cpu[] = {500, 900, 520}, own_cpu[] = {700, 1150, 720};
    const struct res_start_samples base = {base_cpu, 3}, own = {own_cpu, 3}, none = {.count = 0};
    const struct res_start_cost cost = res_start_costs_of(&own, &base);
    CHECK_U64(cost.starts, 3);
    CHECK(fabs(cost.cpu_ns - 720) < 1e-9 && fabs(cost.more_cpu_ns - 200) < 1e-9);
    CHECK(fabs(res_start_costs_of(&base, &base).more_cpu_ns) < 1e-9);
    CHECK(isnan(res_start_costs_of(&own, &none).more_cpu_ns));
    CHECK(isnan(res_start_costs_of(&none, &base).cpu_ns));
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
    for (unsigned cxx_library = 0; cxx_library < 2; cxx_library++) {
        res_start_costs(&options, cxx_library != 0, costs);
        for (size_t i = 0; i < 2; i++) {
            CHECK(costs[i].starts >= 1 && costs[i].starts <= 3);
            CHECK(costs[i].cpu_ns > 0);
        }
        CHECK(fabs(costs[0].more_cpu_ns) < 1e-9);
    }
}
