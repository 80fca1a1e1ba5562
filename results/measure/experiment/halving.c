/* halving.c - stages of a search, each with half of the candidates and twice the rounds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/measure/experiment/experiment.h"

#define FIRST_ROUNDS 2u
#define ROUNDS_MAX   64u

/* The best one that is not kept yet; count: there is none. */
static size_t best_of(const struct res_score *scores, size_t count, const bool *kept, bool by_peak)
{
    size_t best = count;
    double least = INFINITY;
    for (size_t i = 0; i < count; i++) {
        const double figure = by_peak ? scores[i].peak : scores[i].time;
        if (kept[i] || !(figure < least))
            continue;
        best = i;
        least = figure;
    }
    return best;
}

size_t res_halving_keep(const struct res_score *scores, size_t count, size_t keep, bool *ret_kept)
{
    size_t kept = 0;
    unsigned misses = 0; /* of both figures, one behind the other: nothing is left to choose */
    memset(ret_kept, 0, count * sizeof *ret_kept);
    for (bool by_peak = false; kept < keep && misses < 2; by_peak = !by_peak) {
        const size_t best = best_of(scores, count, ret_kept, by_peak);
        misses = best < count ? 0 : misses + 1;
        if (best == count)
            continue;
        ret_kept[best] = true;
        kept++;
    }
    return kept;
}

static struct res_score score_of(const struct res_result_entry *entry)
{
    return entry->failed != NULL ? (struct res_score){NAN, NAN}
                                 : (struct res_score){entry->figures.time.ratio, entry->figures.peak.ratio};
}

static unsigned stages_of(size_t count, size_t left)
{
    unsigned stages = 0;
    for (; count > left; count = (count + 1) / 2 > left ? (count + 1) / 2 : left)
        stages++;
    return stages;
}

/* Returns how many of the candidates are left, or all where it was stopped. */
static size_t run_stage(const struct res_halving *halving, struct res_options *options, size_t keep,
                        const struct res_candidate **candidates, bool *ret_stopped)
{
    const size_t rivals = options->candidate_count - 1;
    RES_FREED struct res_score *scores = res_calloc(rivals + 1, sizeof *scores);
    const char **failed = res_calloc(rivals + 1, sizeof *failed);
    RES_FREED bool *kept = res_calloc(rivals + 1, sizeof *kept);
    struct res_result result;
    size_t left = 0;
    res_experiment_run(options, &result);
    *ret_stopped = result.stopped;
    if (!result.stopped) {
        for (size_t i = 0; i <= rivals; i++)
            failed[i] = result.workloads[0].candidates[i].failed;
        for (size_t i = 0; i < rivals; i++)
            scores[i] = score_of(&result.workloads[0].candidates[i + 1]);
        left = res_halving_keep(scores, rivals, keep, kept);
        if (halving->told != NULL)
            halving->told(options->context, rivals, left, (unsigned)result.workloads[0].rounds, failed);
        left = 0;
        for (size_t i = 0; i < rivals; i++)
            if (kept[i])
                candidates[1 + left++] = candidates[1 + i];
    }
    res_result_release(&result);
    free(failed);
    return *ret_stopped ? options->candidate_count : left + 1;
}

void res_halving_run(const struct res_halving *halving, const struct res_candidate **candidates,
                     size_t *count)
{
    const unsigned stages = stages_of(*count - 1, halving->left);
    unsigned rounds = FIRST_ROUNDS;
    bool stopped = false;
    for (unsigned made = 0; made < stages && !stopped; made++) {
        struct res_options options = *halving->options;
        if (*count - 1 <= halving->left) /* some failed */
            return;
        const size_t half = *count / 2; /* of the rivals, rounded up */
        options.candidates = candidates;
        options.candidate_count = *count;
        options.rounds = rounds;
        options.rounds_least = 1;
        options.until = 0;
        options.time_budget_ns = halving->budget_ns / stages;
        options.memory_rounds = 1;
        options.seed += made + 1;
        *count = run_stage(halving, &options, half > halving->left ? half : halving->left, candidates,
                           &stopped);
        rounds = 2 * rounds < ROUNDS_MAX ? 2 * rounds : ROUNDS_MAX;
    }
}
