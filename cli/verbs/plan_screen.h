/* plan_screen.h - what a plan will cost, and what `mallab plan` prints. */
#ifndef MALLAB_CLI_VERBS_PLAN_SCREEN_H
#define MALLAB_CLI_VERBS_PLAN_SCREEN_H

#include "cli/options/choice.h"
#include "cli/verbs/plan_inputs.h"
#include "results/measure/plan/plan.h"

struct cli_plan_cost {
    double machine_ns, longest_ns; /* of all cells, of one */
    double workload_bytes;         /* an upper bound: what is the same is there once */
    double result_bytes;
    size_t replays; /* of a cell with all passes */
    const char *
        timed; /* label of the workload that times are estimated by; NULL: it could not be replayed. The inputs' */
};

/* cli_plan_estimate - replay the smallest workload that is taken once, and the middle one where that has more calls: what a replay
 * takes beside its calls, and for each of them, holds for all. */
void cli_plan_estimate(const struct res_plan *plan, const struct cli_plan_inputs *inputs,
                       const struct cli_choice *choice, struct cli_plan_cost *ret_cost);

/* cli_plan_show - print it on stdout, with what begins it on each engine. */
void cli_plan_show(const struct res_plan *plan, const struct cli_plan_inputs *inputs,
                   const struct cli_plan_cost *cost);

/* cli_plan_show_more - that cells were added, from number `before` on. */
void cli_plan_show_more(const struct res_plan *plan, size_t before, const char *directory);

#endif
