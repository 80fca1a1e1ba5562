/* confirm_plan.c - see confirm_plan.h. */
#include "cli/verbs/confirm_plan.h"

#include <stdbool.h>
#include <string.h>

#include "cli/base/say.h"
#include "results/measure/base/figure_words.h"
#include "results/measure/statistics/statistics.h"
#include "results/report/notes/notes.h"

#define LEAST_NS UINT64_C(10000000000) /* where nobody said for how long, and runs are short */

uint64_t cli_confirm_most_ns(const struct cli_confirm_times *times)
{
    const uint64_t usual_ns = RES_CONFIRM_BUDGET_NS;
    const bool is_cut = times->budget_ns > 0 && times->budget_ns < times->replays_ns;
    const uint64_t like_ns = is_cut ? times->budget_ns : times->replays_ns;
    return times->said_ns > 0 ? times->said_ns : like_ns > usual_ns ? like_ns : usual_ns;
}

static bool is_among(const struct res_candidate *const *candidates, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(candidates[i]->name, name) == 0)
            return true;
    return false;
}

size_t cli_confirm_advised(const struct cli_choice *choice, const struct res_result *result,
                           const struct res_candidate **ret_candidates)
{
    size_t count = 0;
    ret_candidates[count++] = choice->candidates[0];
    for (size_t i = 0; i < result->workload_count; i++) {
        const struct res_result_entry *tried[RES_TRIED_MAX];
        const size_t tried_count = res_notes_tried(&result->workloads[i], tried);
        for (size_t k = 0; k < tried_count; k++)
            for (size_t n = 1; n < choice->candidate_count; n++)
                if (strcmp(choice->candidates[n]->name, tried[k]->name) == 0 && count <= RES_TRIED_MAX &&
                    !is_among(ret_candidates, count, tried[k]->name))
                    ret_candidates[count++] = choice->candidates[n];
    }
    return count;
}

/* How many of the candidates, those that save most time first, have the pairs that a verdict takes in time; with the baseline. */
static size_t fit(size_t count, uint64_t run_ns, uint64_t most_ns)
{
    while (count > 1 && res_confirm_runs(count - 1, RES_ROUNDS_FOR_VERDICT) * run_ns > most_ns)
        count--;
    return count;
}

void cli_confirm_fit(const struct cli_verb *verb, const struct cli_confirm_times *times, char **command,
                     int exit_code, uint64_t *run_ns, struct cli_confirm_step *step)
{
    const uint64_t said_ns = times->said_ns, usual_ns = cli_confirm_most_ns(times);
    const uint64_t most_ns = said_ns > 0 ? usual_ns : usual_ns + usual_ns / 4; /* a little more is taken */
    if (fit(step->runs.candidate_count, *run_ns, most_ns) < step->runs.candidate_count) {
        const uint64_t once_ns = cli_confirm_once(verb, step, command, exit_code);
        if (once_ns > 0 && once_ns < *run_ns)
            *run_ns = once_ns;
    }
    size_t count = fit(step->runs.candidate_count, *run_ns, most_ns);
    if (count < 2 && said_ns > 0)
        count = 2; /* as far as that time goes */
    for (size_t i = count; count > 1 && i < step->runs.candidate_count; i++)
        cli_say(verb, "--confirm: no time for %s: 8 pairs of its runs too would take %s",
                step->runs.candidates[i]->name,
                RES_DURATION((double)res_confirm_runs(i, RES_ROUNDS_FOR_VERDICT) * (double)*run_ns));
    const uint64_t needed_ns = res_confirm_runs(count - 1, RES_ROUNDS_FOR_VERDICT) * *run_ns;
    const uint64_t least_ns = times->replays_ns < LEAST_NS ? LEAST_NS : times->replays_ns;
    step->runs.candidate_count = count;
    step->runs.run_ns = *run_ns;
    /* Runs differ: what barely fits may take longer. */
    step->runs.budget_ns = said_ns > 0                                      ? said_ns
                           : needed_ns > least_ns / 2 || least_ns > most_ns ? most_ns
                                                                            : least_ns;
}
