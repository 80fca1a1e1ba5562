/* pareto.c - each pair of candidates by time and by peak memory. */
#include "results/measure/figures/pareto.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "footprint/base/support.h"
#include "results/measure/figures/held.h"
#include "results/measure/statistics/statistics.h"

#define SEED UINT64_C(0x70617265746f) /* of the intervals: the same result, the same marks */

/* A figure of one candidate, by round. */
struct samples {
    double values[RES_PARETO_ROUNDS_MAX];
    size_t count; /* 0: it has none to compare */
};

struct contender {
    const char *name;
    bool is_compared;
    struct samples time, peak;
    double quiet_ns;
};

struct field {
    const struct res_result_workload *workload;
    double floor_ns;
};

/* One candidate against another. */
struct outcome {
    enum res_verdict verdict; /* RES_LESS: the first is better */
    double worst;             /* the upper end of the ratio's interval; NAN: not known */
};

/* at  where in a run the figure lies. */
static void take_samples(const struct res_run *runs, size_t count, size_t at, double less,
                         struct samples *samples)
{
    for (size_t i = 0; i < count && i < RES_PARETO_ROUNDS_MAX; i++) {
        const double value = *(const double *)(const void *)((const char *)&runs[i] + at) - less;
        if (!isfinite(value) || !(value > 0)) {
            samples->count = 0;
            return;
        }
        samples->values[samples->count++] = value;
    }
}

static void take_contender(const struct field *field, const struct res_result_entry *candidate,
                           struct contender *contender)
{
    const bool has_memory = field->workload->memory_rounds > 0;
    const double held = res_held_start(candidate);
    contender->name = candidate->name;
    contender->quiet_ns = candidate->figures.quiet_ns_per_op;
    if (candidate->failed != NULL)
        return;
    take_samples(candidate->runs, candidate->run_count, offsetof(struct res_run, ns_per_op), field->floor_ns,
                 &contender->time);
    if (!has_memory)
        take_samples(candidate->runs, candidate->run_count, offsetof(struct res_run, resident_peak_bytes),
                     -held, &contender->peak);
    else if (candidate->predicted)
        take_samples(candidate->memory_runs, candidate->memory_count,
                     offsetof(struct res_run, resident_peak_bytes), -held, &contender->peak);
    contender->is_compared = contender->time.count > 0;
}

static struct outcome outcome_of(const struct samples *one, const struct samples *other, bool few,
                                 double worth, struct res_interval noise, double quiet_ratio)
{
    double ratios[RES_PARETO_ROUNDS_MAX];
    const size_t count = one->count < other->count ? one->count : other->count;
    if (count == 0)
        return (struct outcome){.verdict = RES_UNDECIDED, .worst = NAN};
    for (size_t i = 0; i < count; i++)
        ratios[i] = one->values[i] / other->values[i];
    const struct res_interval interval = few ? res_student_ratio(ratios, count)
                                             : res_bootstrap_median(ratios, count, SEED);
    const struct res_comparison comparison = {
        .ratio = res_median(ratios, count),
        .interval = interval,
        .quiet_ratio = quiet_ratio,
        .rounds = count,
        .rounds_needed = few ? RES_ROUNDS_FOR_MEMORY : 0,
        .worth = worth,
        .has_control = isfinite(noise.low) && isfinite(noise.high),
        .control = noise,
    };
    return (struct outcome){.verdict = res_judge(&comparison), .worst = interval.high};
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
static bool is_better(const struct field *field, const struct contender *contenders, size_t one, size_t other)
{
    const struct res_figures *control = &field->workload->control.figures;
    struct outcome time, peak;
    if (one == 0 || other == 0) {
        const struct res_figures *figures = &field->workload->candidates[one == 0 ? other : one].figures;
        time = outcome_told(&figures->time, one == 0);
        peak = outcome_told(&figures->peak, one == 0);
    } else {
        const struct contender *left = &contenders[one], *right = &contenders[other];
        time = outcome_of(&left->time, &right->time, false, 0, control->time.interval,
                          left->quiet_ns / right->quiet_ns);
        peak = outcome_of(&left->peak, &right->peak, field->workload->memory_rounds > 0, RES_MEMORY_WORTH,
                          control->peak.interval, NAN);
    }
    return (time.verdict == RES_LESS || peak.verdict == RES_LESS) && is_not_worse(&time) &&
           is_not_worse(&peak);
}

static bool beats(const struct field *field, const struct contender *contenders, size_t one, size_t other)
{
    return is_better(field, contenders, one, other) && !is_better(field, contenders, other, one);
}

static void set_beaten_by(const struct field *field, const struct contender *contenders, size_t candidate,
                          struct res_texts *ret_names)
{
    ret_names->known = contenders[candidate].is_compared;
    for (size_t i = 0; ret_names->known && i < field->workload->candidate_count; i++) {
        if (i != candidate && contenders[i].is_compared && beats(field, contenders, i, candidate))
            res_texts_add(ret_names, contenders[i].name);
    }
}

void res_beaten_by_fill(struct res_result_workload *workload)
{
    const double floor_ns = workload->floor != NULL ? workload->floor->figures.typical_ns_per_op : NAN;
    const struct field field = {.workload = workload, .floor_ns = isfinite(floor_ns) ? floor_ns : 0};
    struct contender *contenders = res_calloc(RES_PARETO_CANDIDATES_MAX, sizeof *contenders);
    const size_t count = workload->candidate_count;
    const bool enough = workload->rounds >= RES_ROUNDS_FOR_VERDICT && count <= RES_PARETO_CANDIDATES_MAX;
    for (size_t i = 0; enough && i < count; i++)
        take_contender(&field, &workload->candidates[i], &contenders[i]);
    for (size_t i = 0; i < count; i++) {
        res_texts_release(&workload->candidates[i].beaten_by);
        if (enough)
            set_beaten_by(&field, contenders, i, &workload->candidates[i].beaten_by);
    }
    free(contenders);
}

bool res_is_unbeaten(const struct res_result_workload *workload, size_t candidate)
{
    const struct res_texts *own = &workload->candidates[candidate].beaten_by;
    size_t compared = 0;
    for (size_t i = 0; i < workload->candidate_count; i++)
        compared += workload->candidates[i].beaten_by.known;
    return compared > 1 && own->known && own->count == 0;
}
