/* until.c - when the rounds are enough. */
#include "results/measure/experiment/until.h"

#include <math.h>

#include "results/measure/figures/figures.h"

const char *res_ended_name(enum res_ended ended)
{
    static const char *const names[] = {
        [RES_ENDED_INTERRUPT] = "interrupt", [RES_ENDED_ROUNDS] = "rounds",
        [RES_ENDED_UNTIL] = "until",         [RES_ENDED_TIME_BUDGET] = "time_budget",
        [RES_ENDED_MAXIMUM] = "rounds_max",
    };
    return names[ended];
}

double res_until_width(const struct res_trial *trial, uint64_t seed)
{
    double widest = NAN;
    for (size_t i = 1; i < trial->entry_count; i++) { /* 0 is the baseline itself */
        const struct res_entry *entry = &trial->entries[i];
        if (entry->is_floor || entry->failed != NULL)
            continue;
        const struct res_difference time = res_figures_time(trial, entry, seed);
        widest = fmax(widest, (time.interval.high - time.interval.low) / time.ratio);
    }
    return widest;
}

static bool is_time_to_look(unsigned rounds)
{
    unsigned next = RES_UNTIL_ROUNDS_LEAST;
    while (next < rounds)
        next += next / 8;
    return next == rounds;
}

bool res_until_ended(struct res_trial *trial, const struct res_options *options, uint64_t share_ns,
                     uint64_t elapsed_ns)
{
    const unsigned fewest = options->rounds_least > 0 ? options->rounds_least : RES_ROUNDS_FOR_VERDICT;
    const bool adaptive = options->until > 0 || share_ns > 0;
    trial->ended = adaptive ? RES_ENDED_MAXIMUM : RES_ENDED_ROUNDS;
    if (trial->rounds >= options->rounds)
        return true;
    if (!adaptive || trial->rounds < fewest)
        return false;
    if (options->until > 0 && is_time_to_look(trial->rounds) &&
        res_until_width(trial, options->seed) < options->until) {
        trial->ended = RES_ENDED_UNTIL;
        return true;
    }
    if (options->until > 0 && share_ns == 0 && options->rounds_long > 0 &&
        trial->rounds >= options->rounds_long && elapsed_ns > RES_UNTIL_LONG_NS) {
        trial->ended = RES_ENDED_MAXIMUM;
        return true;
    }
    /* One more round must still fit. */
    if (share_ns > 0 && elapsed_ns + elapsed_ns / trial->rounds > share_ns) {
        trial->ended = RES_ENDED_TIME_BUDGET;
        return true;
    }
    return false;
}
