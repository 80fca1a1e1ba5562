/* pareto.c - each pair of candidates by time and by peak memory. */
#include "results/measure/figures/pareto.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "footprint/base/support.h"
#include "results/measure/statistics/statistics.h"

/* One candidate against another. */
struct outcome {
    enum res_verdict verdict; /* RES_LESS: the first is better */
    double worst;             /* the upper end of the ratio's interval; NAN: not known */
};

/* Of two that were both held against the baseline: each interval's half towards the other adds its part. */
static struct outcome outcome_of(const struct res_difference *one, const struct res_difference *other,
                                 size_t rounds, bool few, double worth, const struct res_difference *noise)
{
    const double change = log(one->ratio / other->ratio);
    const double down = hypot(log(one->ratio / one->interval.low), log(other->interval.high / other->ratio));
    const double up = hypot(log(one->interval.high / one->ratio), log(other->ratio / other->interval.low));
    const struct res_comparison comparison = {
        .ratio = exp(change),
        .interval = {exp(change - down), exp(change + up)},
        .rounds = rounds,
        .rounds_needed = few ? RES_ROUNDS_FOR_MEMORY : 0,
        .worth = worth,
        .has_control = noise != NULL && isfinite(noise->interval.low) && isfinite(noise->interval.high),
        .control = noise != NULL ? noise->interval : (struct res_interval){NAN, NAN},
    };
    return (struct outcome){.verdict = res_judge(&comparison), .worst = comparison.interval.high};
}

/* Of the candidate against the baseline, as the result says; turned round for the baseline against it. */
static struct outcome outcome_told(const struct res_difference *told, bool turned)
{
    static const enum res_verdict TURNED[] = {
        [RES_UNDECIDED] = RES_UNDECIDED,
        [RES_SAME] = RES_SAME,
        [RES_LESS] = RES_MORE,
        [RES_MORE] = RES_LESS,
    };
    if (!turned)
        return (struct outcome){told->verdict, told->interval.high};
    return (struct outcome){TURNED[told->verdict], told->interval.low > 0 ? 1 / told->interval.low : NAN};
}

static bool is_not_worse(const struct outcome *outcome)
{
    return outcome->verdict == RES_LESS || outcome->worst <= 1 + RES_PARETO_MARGIN;
}

/* Element 0 is the baseline. */
static bool is_better(const struct res_result_workload *workload, size_t one, size_t other)
{
    const struct res_result_entry *left = &workload->candidates[one], *right = &workload->candidates[other];
    struct outcome time, peak;
    if (one == 0 || other == 0) {
        const struct res_figures *figures = one == 0 ? &right->figures : &left->figures;
        time = outcome_told(&figures->time, one == 0);
        peak = outcome_told(&figures->peak, one == 0);
    } else {
        const bool few = workload->memory_rounds > 0, is_told = !few || (left->predicted && right->predicted);
        const size_t passes = few ? (size_t)workload->memory_rounds : (size_t)workload->rounds;
        time = outcome_of(&left->figures.time, &right->figures.time, (size_t)workload->rounds, false, 0,
                          NULL);
        peak = outcome_of(&left->figures.peak, &right->figures.peak, is_told ? passes : 0, few,
                          RES_MEMORY_WORTH, &workload->control.figures.peak);
    }
    return (time.verdict == RES_LESS || peak.verdict == RES_LESS) && is_not_worse(&time) &&
           is_not_worse(&peak);
}

static bool is_compared(const struct res_result_entry *candidate)
{
    return candidate->failed == NULL && isfinite(candidate->figures.time.ratio);
}

static void set_beaten_by(const struct res_result_workload *workload, size_t candidate,
                          struct res_texts *ret_names)
{
    ret_names->known = is_compared(&workload->candidates[candidate]);
    for (size_t i = 0; ret_names->known && i < workload->candidate_count; i++) {
        if (i != candidate && is_compared(&workload->candidates[i]) && is_better(workload, i, candidate) &&
            !is_better(workload, candidate, i))
            res_texts_add(ret_names, workload->candidates[i].name);
    }
}

void res_beaten_by_fill(struct res_result_workload *workload)
{
    const size_t count = workload->candidate_count;
    const bool enough = workload->rounds >= RES_ROUNDS_FOR_VERDICT && count <= RES_PARETO_CANDIDATES_MAX;
    for (size_t i = 0; i < count; i++) {
        res_texts_release(&workload->candidates[i].beaten_by);
        if (enough)
            set_beaten_by(workload, i, &workload->candidates[i].beaten_by);
    }
}

bool res_is_unbeaten(const struct res_result_workload *workload, size_t candidate)
{
    const struct res_texts *own = &workload->candidates[candidate].beaten_by;
    size_t compared = 0;
    for (size_t i = 0; i < workload->candidate_count; i++)
        compared += workload->candidates[i].beaten_by.known;
    return compared > 1 && own->known && own->count == 0;
}
