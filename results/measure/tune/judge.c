/* judge.c - verdicts on finalists. */
#include "results/measure/tune/judge.h"

#include <math.h>
#include <stdlib.h>

#include "footprint/base/support.h"
#include "results/measure/figures/pareto.h"
#include "results/measure/statistics/significance.h"
#include "results/measure/tune/screen.h"

#define FALSE_CLAIMS 0.05 /* of searches in which nothing is better, that may still claim it */

void res_tune_confirmation_init(struct res_tune_confirmation *confirmation, size_t finalists, size_t rounds)
{
    *confirmation = (struct res_tune_confirmation){
        .entries = res_calloc(finalists + 2, sizeof *confirmation->entries),
        .entry_count = finalists + 2,
    };
    for (size_t i = 0; i < confirmation->entry_count; i++) {
        struct res_tune_entry *entry = &confirmation->entries[i];
        entry->times = res_calloc(rounds, sizeof *entry->times);
        entry->memories = res_calloc(rounds, sizeof *entry->memories);
    }
}

void res_tune_confirmation_release(struct res_tune_confirmation *confirmation)
{
    for (size_t i = 0; i < confirmation->entry_count; i++) {
        free(confirmation->entries[i].times);
        free(confirmation->entries[i].time_to);
        free(confirmation->entries[i].memories);
    }
    free(confirmation->entries);
    *confirmation = (struct res_tune_confirmation){0};
}

double res_tune_level(size_t finalists)
{
    return FALSE_CLAIMS / (double)(2 * (finalists > 0 ? finalists : 1));
}

/* ---- one figure of two entries --------------------------------------------------------------- */

enum figure {
    FIGURE_TIME,
    FIGURE_MEMORY,
};

static const double *samples_of(const struct res_tune_entry *entry, enum figure figure)
{
    return figure == FIGURE_TIME ? entry->times : entry->memories;
}

static size_t count_of(const struct res_tune_entry *entry, enum figure figure)
{
    return figure == FIGURE_TIME ? entry->time_count : entry->memory_count;
}

/* Whether anybody would set a variable for it. */
static bool is_worth(const struct res_tune_entry *own, const struct res_tune_entry *other, enum figure figure,
                     double ratio)
{
    if (!(fabs(ratio - 1) >= RES_TUNE_WORTH))
        return false;
    return figure == FIGURE_TIME || fabs(res_median(own->memories, own->memory_count) -
                                         res_median(other->memories, other->memory_count)) >= RES_TUNE_BYTES;
}

struct comparison {
    struct res_difference difference; /* without a verdict */
    double p;
    size_t count;
};

static struct comparison compare(const struct res_tune_confirmation *confirmation,
                                 const struct res_tune_entry *own, const struct res_tune_entry *other,
                                 enum figure figure)
{
    const bool few = figure == FIGURE_MEMORY && confirmation->memory_apart;
    const size_t own_count = count_of(own, figure), other_count = count_of(other, figure);
    const size_t count = own_count < other_count ? own_count : other_count;
    struct comparison comparison = {
        .difference = {.ratio = NAN, .interval = {NAN, NAN}, .verdict = RES_UNDECIDED}, .p = 1};
    double *ratios = res_calloc(count, sizeof *ratios);
    bool usable = count > 0 && !own->failed && !other->failed;
    for (size_t i = 0; i < count; i++) {
        ratios[i] = samples_of(own, figure)[i] / samples_of(other, figure)[i];
        usable = usable && isfinite(ratios[i]) && ratios[i] > 0;
    }
    if (usable) {
        comparison.count = count;
        comparison.difference.ratio = res_median(ratios, count);
        comparison.difference.interval = few ? res_student_ratio(ratios, count)
                                             : res_bootstrap_median(ratios, count, confirmation->seed);
        comparison.p = few ? res_student_p(ratios, count) : res_signed_rank_p(ratios, count);
    }
    free(ratios);
    return comparison;
}

/* The same of any two that are not the control: of steady times where there are some, as with the default. */
static struct comparison compare_any(const struct res_tune_confirmation *confirmation, size_t own,
                                     size_t other, enum figure figure)
{
    const struct res_tune_entry *one = &confirmation->entries[own], *two = &confirmation->entries[other];
    struct comparison found = compare(confirmation, one, two, figure);
    if (figure == FIGURE_TIME && one->has_time && one->time_to != NULL && !one->failed && !two->failed &&
        isfinite(one->time_to[other].ratio)) {
        found.difference = one->time_to[other];
        found.p = found.difference.p_value > 0 ? found.difference.p_value : found.p;
    }
    return found;
}

/* By the samples of the confirmation alone, as res_figures_of does it for peaks. */
static enum res_verdict judge_samples(const struct res_tune_confirmation *confirmation, size_t entry,
                                      enum figure figure, const struct comparison *found)
{
    const struct res_tune_entry *entries = confirmation->entries;
    const size_t last = confirmation->entry_count - 1;
    const bool few = figure == FIGURE_MEMORY && confirmation->memory_apart;
    const struct comparison control = compare(confirmation, &entries[last], &entries[0], figure);
    const struct res_comparison comparison = {
        .ratio = found->difference.ratio,
        .interval = found->difference.interval,
        .rounds = found->count,
        .rounds_needed = few ? RES_ROUNDS_FOR_MEMORY : 0,
        .has_control = isfinite(control.difference.ratio),
        .control = control.difference.interval,
    };
    return res_judge(&comparison);
}

/* An entry against the default, in one figure. */
static struct comparison judge(const struct res_tune_confirmation *confirmation, size_t own,
                               enum figure figure)
{
    const struct res_tune_entry *entry = &confirmation->entries[own];
    const struct res_tune_entry *zero = &confirmation->entries[0];
    struct comparison found = compare(confirmation, entry, zero, figure);
    enum res_verdict *verdict = &found.difference.verdict;
    if (figure == FIGURE_TIME && entry->has_time && !entry->failed && !zero->failed) {
        found.difference = entry->time;
        found.p = entry->time.p_value > 0 ? entry->time.p_value : found.p;
    } else {
        *verdict = judge_samples(confirmation, own, figure, &found);
    }
    if (figure == FIGURE_MEMORY && (entry->doubtful || zero->doubtful))
        *verdict = RES_UNDECIDED;
    if (*verdict != RES_LESS && *verdict != RES_MORE)
        return found;
    if (!is_worth(entry, zero, figure, found.difference.ratio))
        *verdict = RES_SAME;
    else if (!(found.p < res_tune_level(confirmation->entry_count - 2)))
        *verdict = RES_UNDECIDED;
    return found;
}

/* ---- the front ------------------------------------------------------------------------------ */

/* One entry against another. */
struct order {
    bool better;  /* shown to be below it */
    bool no_loss; /* or, by its interval, hardly above it */
    bool close;   /* neither is shown to be below the other, and the medians are near each other */
};

static struct order order_of(const struct res_tune_confirmation *confirmation, size_t own, size_t other,
                             enum figure figure)
{
    const struct comparison found = compare_any(confirmation, own, other, figure);
    const double ratio = found.difference.ratio;
    const bool differs = found.p < res_tune_level(confirmation->entry_count - 2) &&
                         is_worth(&confirmation->entries[own], &confirmation->entries[other], figure, ratio);
    return (struct order){
        .better = differs && ratio < 1,
        .no_loss = (differs && ratio < 1) || found.difference.interval.high <= 1 + RES_PARETO_MARGIN,
        .close = !differs && fabs(ratio - 1) <= RES_PARETO_MARGIN,
    };
}

/* Whether what one is better in than the default, the other is too. */
static bool claims_as_much(const struct res_tune_judgement *own, const struct res_tune_judgement *other)
{
    return (own->time.verdict != RES_LESS || other->time.verdict == RES_LESS) &&
           (own->memory.verdict != RES_LESS || other->memory.verdict == RES_LESS);
}

/* tie: whether it is when they are not told apart and have as many settings. */
static bool is_beaten_by(const struct res_tune_confirmation *confirmation,
                         const struct res_tune_judgement *judgements, size_t own, size_t other, bool tie)
{
    const struct order time = order_of(confirmation, other, own, FIGURE_TIME);
    const struct order memory = order_of(confirmation, other, own, FIGURE_MEMORY);
    const size_t settings = confirmation->entries[own].settings;
    const size_t others = confirmation->entries[other].settings;
    if (time.better || memory.better)
        return time.no_loss && memory.no_loss;
    return time.close && memory.close && claims_as_much(&judgements[own], &judgements[other]) &&
           (others < settings || (others == settings && tie));
}

static bool is_better(const struct res_tune_judgement *judgement)
{
    return judgement->time.verdict == RES_LESS || judgement->memory.verdict == RES_LESS;
}

static double sum_of(const struct res_tune_judgement *judgement)
{
    const double sum = log(judgement->time.ratio) + log(judgement->memory.ratio);
    return isfinite(sum) ? sum : 0;
}

/* From the best on, so that "not told apart", which need not carry over from two pairs to the third, cannot throw all out. */
static void mark_finalists(const struct res_tune_confirmation *confirmation,
                           struct res_tune_judgement *judgements, size_t count)
{
    bool *seen = res_calloc(count, sizeof *seen);
    for (size_t turn = 1; turn < count; turn++) {
        size_t best = 0;
        for (size_t i = 1; i < count; i++) {
            if (!seen[i] && (best == 0 || sum_of(&judgements[i]) < sum_of(&judgements[best])))
                best = i;
        }
        seen[best] = true;
        bool beaten = !is_better(&judgements[best]);
        for (size_t i = 1; i < count && !beaten; i++)
            beaten = judgements[i].on_front && is_beaten_by(confirmation, judgements, best, i, true);
        for (size_t i = 1; i < count && !beaten; i++) {
            if (judgements[i].on_front && is_beaten_by(confirmation, judgements, i, best, false))
                judgements[i].on_front = false;
        }
        judgements[best].on_front = !beaten;
    }
    free(seen);
}

/* Better, or shown to be hardly worse: "same" in loud noise may hide a loss. */
static bool is_no_loss(const struct res_difference *difference)
{
    return difference->verdict == RES_LESS ||
           (difference->verdict == RES_SAME && difference->interval.high <= 1 + RES_PARETO_MARGIN);
}

static bool beats_default(const struct res_tune_judgement *judgement)
{
    return judgement->on_front && is_no_loss(&judgement->time) && is_no_loss(&judgement->memory);
}

void res_tune_judge(const struct res_tune_confirmation *confirmation,
                    struct res_tune_judgement *ret_judgements)
{
    const size_t count = confirmation->entry_count - 1;
    const struct res_difference none = {.ratio = NAN, .interval = {NAN, NAN}, .verdict = RES_UNDECIDED};
    for (size_t i = 0; i < count; i++) {
        const struct res_tune_entry *entry = &confirmation->entries[i];
        struct res_tune_judgement *judgement = &ret_judgements[i];
        const bool has = !entry->failed;
        *judgement = (struct res_tune_judgement){.time = none, .memory = none, .time_p = 1, .memory_p = 1};
        judgement->time_value = has && entry->time_count > 0 ? res_median(entry->times, entry->time_count)
                                                             : NAN;
        judgement->memory_value = has && entry->memory_count > 0
                                      ? res_median(entry->memories, entry->memory_count)
                                      : NAN;
        if (i == 0)
            continue;
        const struct comparison time = judge(confirmation, i, FIGURE_TIME);
        const struct comparison memory = judge(confirmation, i, FIGURE_MEMORY);
        judgement->time = time.difference;
        judgement->memory = memory.difference;
        judgement->time_p = time.p;
        judgement->memory_p = memory.p;
    }
    mark_finalists(confirmation, ret_judgements, count);
    ret_judgements[0].on_front = !confirmation->entries[0].failed;
    for (size_t i = 1; i < count; i++) {
        if (beats_default(&ret_judgements[i]))
            ret_judgements[0].on_front = false;
    }
}
