/* held.c - what was held from the start is part of what is held later. */
#include "results/measure/figures/held.h"

#include <math.h>

double res_held_start(const struct res_result_entry *entry)
{
    return isfinite(entry->figures.own_start_bytes) ? entry->figures.own_start_bytes : 0;
}

/* What both sides of a comparison have. */
struct sides {
    double bytes, start;                /* the baseline's, without and with */
    double own_start;                   /* the candidate's */
    const struct res_difference *noise; /* the control's; NULL: there is none */
    uint64_t rounds, rounds_needed;
};

/* The ratio of what is held, of that of what both took since the first call. */
static double with_start(const struct sides *sides, double ratio, double own_start)
{
    return (ratio * sides->bytes + own_start) / (sides->bytes + sides->start);
}

static struct res_interval both_with_start(const struct sides *sides, struct res_interval of,
                                           double own_start)
{
    return (struct res_interval){with_start(sides, of.low, own_start), with_start(sides, of.high, own_start)};
}

static void compare(const struct sides *sides, struct res_difference *difference)
{
    if (!isfinite(difference->ratio) || !(sides->bytes + sides->start > 0))
        return;
    difference->ratio = with_start(sides, difference->ratio, sides->own_start);
    difference->interval = both_with_start(sides, difference->interval, sides->own_start);
    /* Undecided also where memory is not predicted. */
    if (difference->verdict == RES_UNDECIDED || sides->own_start == sides->start)
        return;
    struct res_comparison comparison = {
        .ratio = difference->ratio,
        .interval = difference->interval,
        .rounds = sides->rounds,
        .rounds_needed = sides->rounds_needed,
        .worth = RES_MEMORY_WORTH,
        .has_control = sides->noise != NULL,
    };
    if (sides->noise != NULL)
        comparison.control = both_with_start(sides, sides->noise->interval, sides->start);
    difference->verdict = res_judge(&comparison);
}

static void add_start(struct res_result_workload *workload, struct res_result_entry *entry, double own,
                      const struct res_figures *baseline)
{
    const struct res_figures *control = &workload->control.figures;
    const bool has_control = entry != &workload->control && workload->control.failed == NULL;
    struct res_figures *figures = &entry->figures;
    if (!isfinite(own))
        return;
    struct sides sides = {.bytes = baseline->peak_bytes,
                          .start = baseline->own_start_bytes,
                          .own_start = own,
                          .noise = has_control && isfinite(control->peak.ratio) ? &control->peak : NULL,
                          .rounds = entry->resident_rounds,
                          .rounds_needed = workload->memory_rounds > 0 ? RES_ROUNDS_FOR_MEMORY : 0};
    if (isfinite(sides.start)) {
        compare(&sides, &figures->peak);
        sides.bytes = baseline->end_bytes;
        sides.noise = has_control && isfinite(control->end.ratio) ? &control->end : NULL;
        compare(&sides, &figures->end);
    }
    figures->own_start_bytes = own;
    figures->peak_bytes += own;
    figures->mean_bytes += own;
    figures->end_bytes += own;
    figures->idle_bytes += own;
    if (own > 0)
        entry->blow_up = NAN; /* of the peak: made anew */
}

static double own_of(const struct res_result_entry *entry, double least)
{
    return entry->failed == NULL ? entry->figures.start_bytes - least : NAN;
}

void res_held_fill(struct res_result_workload *workload)
{
    double least = INFINITY;
    for (size_t i = 0; i < workload->candidate_count; i++) {
        if (isfinite(workload->candidates[i].figures.own_start_bytes))
            return;
        least = fmin(least, workload->candidates[i].figures.start_bytes); /* NAN counts for nothing */
    }
    if (workload->candidate_count == 0 || isinf(least))
        return;
    /* Of before: the candidates are compared with it, and with the control. */
    struct res_figures baseline = workload->candidates[0].figures;
    baseline.own_start_bytes = own_of(&workload->candidates[0], least);
    for (size_t i = 0; i < workload->candidate_count; i++)
        add_start(workload, &workload->candidates[i], own_of(&workload->candidates[i], least), &baseline);
    if (workload->control.failed == NULL)
        add_start(workload, &workload->control, baseline.own_start_bytes, &baseline);
}
