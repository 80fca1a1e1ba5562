/* fleet_candidates.c - see fleet.h. */
#include "results/measure/fleet/fleet.h"

#include <stdlib.h>
#include <string.h>

#include "results/measure/base/lives.h"
#include "results/measure/figures/figures.h"

/* ---- one candidate's figures of all hosts ----------------------------------------------------- */

static struct res_fleet_change *change_of(struct res_fleet_candidate *candidate, bool memory)
{
    return memory ? &candidate->peak : &candidate->time;
}

/* A host's figure of a candidate, where it is in the common ones; else NULL. */
static struct res_fleet_difference *used(const struct res_fleet *fleet, const struct res_fleet_host *host,
                                         size_t candidate, bool memory)
{
    struct res_fleet_entry *entry = &host->entries[candidate];
    struct res_fleet_difference *difference = memory ? &entry->peak : &entry->time;
    const bool common = memory ? host->of_memory == fleet->of_memory && host->no_trust_memory == NULL
                               : host->of_time == fleet->of_time && host->no_trust_time == NULL;
    return common && host->share > 0 && entry->failed == NULL && host->entries[0].failed == NULL &&
                   difference->ratio > 0 && isfinite(difference->ratio)
               ? difference
               : NULL;
}

/* The hosts in the common figures, in the order of the hosts. */
struct sample {
    const struct res_fleet_host **hosts;
    struct res_fleet_difference **differences;
    double *values, *shares;
    size_t count;
    double part; /* of the process that is malloc's, on average: 1 where it is not known */
    bool memory, of_malloc;
};

static struct sample sample_of(const struct res_fleet *fleet, size_t candidate, bool memory)
{
    const size_t most = fleet->host_count + 1;
    struct sample sample = {
        .hosts = res_calloc(most, sizeof *sample.hosts),
        .differences = res_calloc(most, sizeof *sample.differences),
        .values = res_calloc(most, sizeof *sample.values),
        .shares = res_calloc(most, sizeof *sample.shares),
        .memory = memory,
        .of_malloc = (memory ? fleet->of_memory : fleet->of_time) == RES_FLEET_OF_MALLOC,
    };
    double share = 0, part = 0;
    for (size_t i = 0; i < fleet->host_count; i++) {
        const struct res_fleet_host *host = &fleet->hosts[i];
        struct res_fleet_difference *difference = used(fleet, host, candidate, memory);
        const double own = memory ? host->malloc_memory : host->malloc_time;
        if (difference == NULL)
            continue;
        sample.hosts[sample.count] = host;
        sample.differences[sample.count] = difference;
        sample.values[sample.count] = log(difference->ratio);
        sample.shares[sample.count++] = host->share;
        share += host->share;
        part += host->share * (sample.of_malloc || !isfinite(own) ? 1 : own);
    }
    sample.part = part / share;
    return sample;
}

static void sample_release(struct sample *sample)
{
    free(sample->hosts);
    free(sample->differences);
    free(sample->values);
    free(sample->shares);
}

/* ---- verdicts -------------------------------------------------------------------------------- */

/* part: of the process that is malloc's. What is the least of a time in malloc is so much less of the process. */
static int verdict_of(const struct sample *sample, double ratio, struct res_interval interval, double part,
                      double p_corrected)
{
    const double own = sample->of_malloc || !isfinite(part) ? 1 : fmin(part, 1);
    const struct res_comparison comparison = {
        .ratio = ratio,
        .interval = interval,
        .rounds = RES_ROUNDS_FOR_VERDICT, /* those that have fewer have no interval */
        .least = sample->memory ? RES_MEMORY_WORTH : RES_TIME_LEAST * own,
        .excluded = sample->of_malloc ? RES_RESOLVE : RES_SAVING_WORTH};
    return (int)res_judge_many(res_judge(&comparison), interval, comparison.excluded, p_corrected);
}

/* P-values of every candidate and host, host_count for each candidate in the order of its sample: of a ratio above the limit, or of whether it is 1 where
 * the limit is NAN, corrected for all of them. NAN where there is no interval. */
static double *host_p_values(const struct res_fleet *fleet, const struct sample *samples, double limit)
{
    const size_t all = fleet->candidate_count * fleet->host_count;
    double *p_values = res_calloc(all + 1, sizeof *p_values);
    for (size_t i = 0; i < all; i++)
        p_values[i] = NAN;
    for (size_t i = 1; i < fleet->candidate_count; i++)
        for (size_t k = 0; k < samples[i].count; k++) {
            const struct res_fleet_difference *difference = samples[i].differences[k];
            const struct res_logarithm own = {samples[i].values[k], difference->error, difference->freedom};
            if (isfinite(difference->error))
                p_values[i * fleet->host_count + k] = isnan(limit) ? res_logarithm_estimate(own).p_value
                                                                   : res_logarithm_tails(own, limit).above;
        }
    res_holm(p_values, all);
    return p_values;
}

static void judge_hosts(const struct sample *sample, const double *p_values,
                        struct res_fleet_change *ret_change)
{
    uint64_t *const counts[] = {[RES_UNDECIDED] = &ret_change->undecided,
                                [RES_SAME] = &ret_change->same,
                                [RES_LESS] = &ret_change->less,
                                [RES_MORE] = &ret_change->more};
    for (size_t i = 0; i < sample->count; i++) {
        struct res_fleet_difference *one = sample->differences[i];
        const struct res_fleet_host *host = sample->hosts[i];
        one->verdict = verdict_of(sample, one->ratio, (struct res_interval){one->low, one->high},
                                  sample->memory ? host->malloc_memory : host->malloc_time, p_values[i]);
        ++*counts[one->verdict];
    }
}

/* ---- common figures -------------------------------------------------------------------------- */

/* Returns the p-value of whether it is 1; NAN: there is no interval. */
static double fill_change(const struct sample *sample, struct res_fleet_change *ret_change)
{
    const struct res_logarithm mean = res_many_mean(sample->values, sample->shares, sample->count);
    ret_change->workloads = sample->count;
    ret_change->n_eff = res_many_effective(sample->shares, sample->count);
    ret_change->ratio = exp(mean.value);
    if (sample->count == 0 || !(ret_change->n_eff >= RES_FLEET_LEAST_EFFECTIVE))
        return NAN;
    const struct res_estimate estimate = res_logarithm_estimate(mean);
    ret_change->low = estimate.interval.low;
    ret_change->high = estimate.interval.high;
    return isfinite(estimate.interval.low) ? estimate.p_value : NAN;
}

/* ---- losers ---------------------------------------------------------------------------------- */

/* The worst first, those that are equal in the order of the hosts. */
static int by_loss(const void *left, const void *right)
{
    const struct res_fleet_named *one = left, *other = right;
    return one->ratio > other->ratio ? -1
           : one->ratio < other->ratio
               ? 1
               : res_key_compare(one->label, one->file_digest, other->label, other->file_digest);
}

static void fill_losers(const struct res_fleet *fleet, const struct sample *sample, const double *p_values,
                        struct res_fleet_candidate *ret_candidate)
{
    struct res_fleet_named *losers = res_calloc(sample->count + 1, sizeof *losers);
    size_t count = 0;
    for (size_t i = 0; i < sample->count; i++) {
        const struct res_fleet_host *host = sample->hosts[i];
        const struct res_fleet_difference *difference = sample->differences[i];
        if (p_values[i] <= RES_FLEET_NAMED_FALSE)
            losers[count++] = (struct res_fleet_named){.label = res_strdup(host->label),
                                                       .workload = res_strdup(host->workload),
                                                       .file_digest = res_strdup(host->file_digest),
                                                       .ratio = difference->ratio,
                                                       .low = difference->low,
                                                       .high = difference->high,
                                                       .p_value = p_values[i]};
    }
    qsort(losers, count, sizeof *losers, by_loss);
    ret_candidate->losers = losers;
    ret_candidate->loser_count = count;
}

/* ---- totals ---------------------------------------------------------------------------------- */

static void fill_total(const struct sample *sample, size_t candidate, struct res_fleet_total *ret_total)
{
    double all = 0, baseline = 0, saved = 0;
    for (size_t i = 0; i < sample->count; i++) {
        const struct res_fleet_entry *entries = sample->hosts[i]->entries, *own = &entries[candidate];
        const double base = sample->memory ? entries->peak_bytes : entries->cpu_ns;
        const double other = sample->memory ? own->peak_bytes : own->cpu_ns;
        if (!(base > 0) || !(other > 0) || !isfinite(base + other))
            continue;
        baseline += sample->shares[i] * base;
        saved += sample->shares[i] * (base - other);
        all += sample->shares[i];
        ret_total->workloads++;
    }
    if (ret_total->workloads == 0)
        return;
    ret_total->baseline = baseline / all * (double)ret_total->workloads;
    ret_total->saved = saved / all * (double)ret_total->workloads;
    ret_total->ratio = 1 - saved / baseline;
}

static void fill_totals(const struct sample *sample, size_t at, struct res_fleet_candidate *ret_candidate)
{
    fill_total(sample, at, sample->memory ? &ret_candidate->peaks : &ret_candidate->cpu);
    for (size_t i = 0; i < sample->count && sample->memory; i++) /* NAN counts for nothing */
        ret_candidate->largest_bytes = fmax(ret_candidate->largest_bytes,
                                            sample->hosts[i]->entries[at].peak_bytes);
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Fills the figures of time or of memory. The baseline has totals alone. */
static void fill_figures(struct res_fleet *fleet, bool memory)
{
    RES_FREED struct sample *samples = res_calloc(fleet->candidate_count, sizeof *samples);
    RES_FREED double *p_values = res_calloc(fleet->candidate_count, sizeof *p_values);
    for (size_t i = 0; i < fleet->candidate_count; i++)
        samples[i] = sample_of(fleet, i, memory);
    RES_FREED double *differs = host_p_values(fleet, samples, NAN);
    RES_FREED double *loses = memory ? NULL : host_p_values(fleet, samples, 1 + fleet->loser_limit);
    p_values[0] = NAN;
    for (size_t i = 1; i < fleet->candidate_count; i++) {
        struct res_fleet_change *change = change_of(&fleet->candidates[i], memory);
        p_values[i] = fill_change(&samples[i], change);
        judge_hosts(&samples[i], differs + i * fleet->host_count, change);
        if (loses != NULL)
            fill_losers(fleet, &samples[i], loses + i * fleet->host_count, &fleet->candidates[i]);
    }
    res_holm(p_values, fleet->candidate_count);
    for (size_t i = 0; i < fleet->candidate_count; i++) {
        struct res_fleet_change *change = change_of(&fleet->candidates[i], memory);
        fill_totals(&samples[i], i, &fleet->candidates[i]);
        if (i > 0) {
            change->p_corrected = p_values[i];
            change->verdict = verdict_of(&samples[i], change->ratio,
                                         (struct res_interval){change->low, change->high}, samples[i].part,
                                         p_values[i]);
        }
        sample_release(&samples[i]);
    }
}

void res_fleet_candidates_fill(struct res_fleet *fleet)
{
    RES_FREED double *shares = res_calloc(fleet->host_count + 1, sizeof *shares);
    for (size_t i = 0; i < fleet->host_count; i++)
        shares[i] = fleet->hosts[i].share;
    fleet->workloads = fleet->host_count;
    fleet->n_eff = res_many_effective(shares, fleet->host_count);
    fill_figures(fleet, false);
    fill_figures(fleet, true);
    for (size_t i = 0; i < fleet->candidate_count; i++)
        for (size_t k = 0; k < fleet->host_count; k++)
            if (fleet->hosts[k].entries[i].failed != NULL)
                res_texts_add(&fleet->candidates[i].failed, fleet->hosts[k].label);
}
