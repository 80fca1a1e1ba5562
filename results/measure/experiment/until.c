/* until.c - when the rounds are enough. */
#include "results/measure/experiment/until.h"

#include <math.h>

#include "results/measure/figures/metric.h"
#include "results/measure/statistics/significance.h"

#define LARGE_WIDER 2 /* 95 % become about 99.98 of 30 rounds */

const char *res_ended_name(enum res_ended ended)
{
    static const char *const names[] = {
        [RES_ENDED_INTERRUPT] = "interrupt", [RES_ENDED_ROUNDS] = "rounds",
        [RES_ENDED_UNTIL] = "until",         [RES_ENDED_TIME_BUDGET] = "time_budget",
        [RES_ENDED_MAXIMUM] = "rounds_max",
    };
    return names[ended];
}

/* 0 is the baseline itself; the control counts where there is nothing else. */
static bool is_looked_at(const struct res_trial *trial, size_t i)
{
    const struct res_entry *entry = &trial->entries[i];
    return i > 0 && entry->failed == NULL && !entry->is_floor &&
           (!entry->is_control || trial->candidate_count == 1);
}

static struct res_run_batches timed_of(const struct res_entry *entry)
{
    return entry != NULL && entry->failed == NULL ? res_run_batches_of(entry->runs, entry->run_count)
                                                  : (struct res_run_batches){0};
}

struct res_estimate res_trial_time(const struct res_trial *trial, const struct res_entry *entry)
{
    enum { OTHER, BASE, CONTROL, FLOOR, SIDES };
    struct res_run_batches sides[SIDES] = {timed_of(entry), timed_of(&trial->entries[0]),
                                           timed_of(entry->is_control ? NULL : res_trial_control(trial)),
                                           timed_of(res_trial_floor(trial))};
    const struct res_steady_sides of = {&sides[OTHER].batches, &sides[BASE].batches, &sides[CONTROL].batches,
                                        &sides[FLOOR].batches};
    const struct res_logarithm found = res_steady_logarithm(&of);
    for (size_t i = 0; i < SIDES; i++)
        res_run_batches_release(&sides[i]);
    return res_logarithm_estimate(found);
}

double res_until_width(const struct res_trial *trial)
{
    double widest = NAN;
    for (size_t i = 1; i < trial->entry_count; i++) {
        if (!is_looked_at(trial, i))
            continue;
        const struct res_estimate time = res_trial_time(trial, &trial->entries[i]);
        widest = fmax(widest, (time.interval.high - time.interval.low) / time.value);
    }
    return widest;
}

/* Whether an interval LARGE_WIDER times as wide would lie beyond twice the difference: then limits near it are decided, too. Wider, because this
 * is looked at many times, and one look that noise decides ends it. */
static bool is_large(const struct res_estimate *time, double difference)
{
    const double middle = log(time->value), beyond = log(1 + 2 * difference);
    return middle - LARGE_WIDER * (middle - log(time->interval.low)) > beyond ||
           middle + LARGE_WIDER * (log(time->interval.high) - middle) < -beyond;
}

/* Narrow enough to show or exclude such a difference, or surely larger. */
static bool is_resolved(const struct res_trial *trial, double difference)
{
    size_t told = 0, all = 0;
    for (size_t i = 1; i < trial->entry_count; i++) {
        if (!is_looked_at(trial, i))
            continue;
        const struct res_estimate time = res_trial_time(trial, &trial->entries[i]);
        const struct res_interval interval = time.interval;
        const bool is_narrow = interval.high - interval.low < difference * time.value;
        told += is_narrow || is_large(&time, difference);
        all++;
    }
    return told == all && all > 0;
}

static bool is_time_to_look(unsigned rounds)
{
    unsigned next = RES_UNTIL_ROUNDS_LEAST;
    while (next < rounds)
        next += next / 8;
    return next == rounds;
}

static unsigned fewest_of(const struct res_options *options)
{
    return options->rounds_least > 0 ? options->rounds_least : RES_ROUNDS_FOR_VERDICT;
}

struct res_until_plan res_until_plan(const struct res_options *options, uint64_t share_ns, double round_ns)
{
    const double fewest = fmin(fewest_of(options), options->rounds), fit = floor((double)share_ns / round_ns);
    double least = options->until > 0 ? RES_UNTIL_ROUNDS_LEAST : fewest, most = options->rounds;
    if (share_ns > 0)
        most = fmin(most, fmax(fewest, fit));
    else if (!(options->until > 0))
        least = most;
    least = fmin(least, most);
    return (struct res_until_plan){(unsigned)least, least * round_ns, most * round_ns};
}

bool res_until_ended(struct res_trial *trial, const struct res_options *options, uint64_t share_ns,
                     uint64_t elapsed_ns, uint64_t next_ns)
{
    const unsigned fewest = fewest_of(options);
    const bool adaptive = options->until > 0 || share_ns > 0;
    trial->ended = adaptive ? RES_ENDED_MAXIMUM : RES_ENDED_ROUNDS;
    if (trial->rounds >= options->rounds)
        return true;
    if (!adaptive || trial->rounds < fewest)
        return false;
    if (options->until > 0 && is_time_to_look(trial->rounds) && is_resolved(trial, options->until)) {
        trial->ended = RES_ENDED_UNTIL;
        return true;
    }
    /* One more round must still fit. */
    if (share_ns > 0 && elapsed_ns + next_ns > share_ns) {
        trial->ended = RES_ENDED_TIME_BUDGET;
        return true;
    }
    return false;
}
