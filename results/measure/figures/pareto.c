/* pareto.c - each pair of candidates by time and by peak memory. */
#include "results/measure/figures/pareto.h"

#include <math.h>
#include <stdlib.h>

#include "results/measure/base/support.h"
#include "results/measure/statistics/statistics.h"
#include "results/report/grid/cells.h"

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
    const json_t *workload;
    bool has_memory_pass;
    double floor_ns;
    struct res_interval noise_time, noise_peak; /* NAN where the control failed */
};

/* One candidate against another. */
struct outcome {
    enum res_verdict verdict; /* RES_FASTER: the first is better */
    double worst;             /* the upper end of the ratio's interval; NAN: not known */
};

static void take_samples(const json_t *runs, const char *object, const char *key, double less,
                         struct samples *samples)
{
    size_t index;
    json_t *run;
    json_array_foreach(runs, index, run)
    {
        const json_t *holder = object != NULL ? json_object_get(run, object) : run;
        const double value = res_cell_number(holder, key) - less;
        if (index == RES_PARETO_ROUNDS_MAX)
            break;
        if (!isfinite(value) || !(value > 0)) {
            samples->count = 0;
            return;
        }
        samples->values[samples->count++] = value;
    }
}

static void take_contender(const struct field *field, const json_t *candidate, struct contender *contender)
{
    const json_t *resident = json_object_get(candidate, "resident");
    const bool doubted = field->has_memory_pass && json_is_false(json_object_get(resident, "predicted"));
    contender->name = json_string_value(json_object_get(candidate, "name"));
    contender->is_compared = contender->name != NULL && !json_is_string(json_object_get(candidate, "failed"));
    contender->quiet_ns = res_cell_number(json_object_get(candidate, "time"), "quiet_ns_per_op");
    if (!contender->is_compared)
        return;
    take_samples(json_object_get(candidate, "runs"), NULL, "ns_per_op", field->floor_ns, &contender->time);
    if (!doubted)
        take_samples(json_object_get(candidate, field->has_memory_pass ? "memory_runs" : "runs"), "resident",
                     "peak_bytes", 0, &contender->peak);
    contender->is_compared = contender->time.count > 0;
}

static struct outcome outcome_of(const struct samples *one, const struct samples *other, bool few,
                                 double worth, const struct res_interval *noise, double quiet_ratio)
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
        .has_control = isfinite(noise->low) && isfinite(noise->high),
        .control = *noise,
    };
    return (struct outcome){.verdict = res_judge(&comparison), .worst = interval.high};
}

/* Of the candidate against the baseline, as the result says; turned round for the baseline against it. */
static struct outcome outcome_told(const json_t *figures, const char *prefix, bool turned)
{
    char key[32];
    struct outcome outcome;
    snprintf(key, sizeof key, "%sverdict", prefix);
    outcome.verdict = res_verdict_from(json_string_value(json_object_get(figures, key)));
    snprintf(key, sizeof key, turned ? "%sratio_low" : "%sratio_high", prefix);
    outcome.worst = res_cell_number(figures, key);
    if (turned) {
        outcome.worst = outcome.worst > 0 ? 1 / outcome.worst : NAN;
        outcome.verdict = outcome.verdict == RES_FASTER   ? RES_SLOWER
                          : outcome.verdict == RES_SLOWER ? RES_FASTER
                                                          : outcome.verdict;
    }
    return outcome;
}

static bool is_not_worse(const struct outcome *outcome)
{
    return outcome->verdict == RES_FASTER || outcome->worst <= 1 + RES_PARETO_MARGIN;
}

/* Element 0 is the baseline. */
static bool is_better(const struct field *field, const struct contender *contenders, size_t one, size_t other)
{
    struct outcome time, peak;
    if (one == 0 || other == 0) {
        const json_t *candidates = json_object_get(field->workload, "candidates");
        const json_t *entry = json_array_get(candidates, one == 0 ? other : one);
        time = outcome_told(json_object_get(entry, "time"), "", one == 0);
        peak = outcome_told(json_object_get(entry, "resident"), "peak_", one == 0);
    } else {
        const struct contender *left = &contenders[one], *right = &contenders[other];
        time = outcome_of(&left->time, &right->time, false, 0, &field->noise_time,
                          left->quiet_ns / right->quiet_ns);
        peak = outcome_of(&left->peak, &right->peak, field->has_memory_pass, RES_MEMORY_WORTH,
                          &field->noise_peak, NAN);
    }
    return (time.verdict == RES_FASTER || peak.verdict == RES_FASTER) && is_not_worse(&time) &&
           is_not_worse(&peak);
}

static bool beats(const struct field *field, const struct contender *contenders, size_t one, size_t other)
{
    return is_better(field, contenders, one, other) && !is_better(field, contenders, other, one);
}

static struct res_interval noise_of(const json_t *figures, const char *low, const char *high)
{
    return (struct res_interval){res_cell_number(figures, low), res_cell_number(figures, high)};
}

static struct field field_of(const json_t *workload)
{
    const json_t *control = json_object_get(workload, "control");
    const json_t *resident = json_object_get(control, "resident");
    const double floor_ns = res_cell_number(json_object_get(json_object_get(workload, "floor"), "time"),
                                            "typical_ns_per_op");
    return (struct field){
        .workload = workload,
        .has_memory_pass = json_integer_value(json_object_get(workload, "memory_rounds")) > 0,
        .floor_ns = isfinite(floor_ns) ? floor_ns : 0,
        .noise_time = noise_of(json_object_get(control, "time"), "ratio_low", "ratio_high"),
        .noise_peak = noise_of(resident, "peak_ratio_low", "peak_ratio_high"),
    };
}

static json_t *beaten_by(const struct field *field, const struct contender *contenders, size_t count,
                         size_t candidate)
{
    json_t *names = json_array();
    for (size_t i = 0; i < count; i++) {
        if (i != candidate && contenders[i].is_compared && beats(field, contenders, i, candidate))
            json_array_append_new(names, json_string(contenders[i].name));
    }
    return names;
}

json_t *res_pareto(const json_t *workload)
{
    const json_t *candidates = json_object_get(workload, "candidates");
    const size_t count = json_array_size(candidates);
    const json_int_t rounds = json_integer_value(json_object_get(workload, "rounds"));
    const struct field field = field_of(workload);
    json_t *pareto = json_array();
    struct contender *contenders = res_calloc(RES_PARETO_CANDIDATES_MAX, sizeof *contenders);
    const bool enough = rounds >= (json_int_t)RES_ROUNDS_FOR_VERDICT && count <= RES_PARETO_CANDIDATES_MAX;
    for (size_t i = 0; enough && i < count; i++)
        take_contender(&field, json_array_get(candidates, i), &contenders[i]);
    for (size_t i = 0; i < count; i++)
        json_array_append_new(pareto, enough && contenders[i].is_compared
                                          ? beaten_by(&field, contenders, count, i)
                                          : json_null());
    free(contenders);
    return pareto;
}

bool res_pareto_is_unbeaten(const json_t *pareto, size_t candidate)
{
    size_t index, compared = 0;
    json_t *names;
    json_array_foreach(pareto, index, names)
    {
        compared += json_is_array(names) ? 1u : 0u;
    }
    const json_t *own = json_array_get(pareto, candidate);
    return compared > 1 && json_is_array(own) && json_array_size(own) == 0;
}
