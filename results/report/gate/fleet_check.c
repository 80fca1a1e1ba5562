/* fleet_check.c - see fleet_check.h. */
#include "results/report/gate/fleet_check.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/measure/figures/metric.h"

#define SURE       3.4   /* as in budget_check.c */
#define TIMES_MOST 100.0 /* more workloads or blocks than so many times those that there are is no advice */
#define NAMES_MOST 3u

/* Freedom of the interval: that of the hosts; of a whole fleet that of the normal distribution. */
static size_t freedom_of(const struct res_fleet *fleet, double n_eff)
{
    const double freedom = fleet->all_hosts ? 1000 : floor(n_eff) - 1;
    return freedom >= 1 ? (size_t)fmin(freedom, 1000) : 1;
}

/* "web1, web2, web3 and 4 more". */
static char *names_of(const struct res_texts *names)
{
    struct res_text text = {0};
    for (size_t i = 0; i < names->count && i < NAMES_MOST; i++)
        res_text_printf(&text, "%s%s", i > 0 ? ", " : "", names->items[i]);
    if (names->count > NAMES_MOST)
        res_text_printf(&text, " and %zu more", names->count - NAMES_MOST);
    return text.text;
}

static struct res_texts labels_of(const struct res_fleet_named *hosts, size_t count)
{
    struct res_texts labels = {0};
    for (size_t i = 0; i < count; i++)
        res_texts_add(&labels, hosts[i].label != NULL ? hosts[i].label : "?");
    return labels;
}

/* Of losers, whose outcome no interval gives. */
static void judge_losers(const struct res_fleet *fleet, const struct res_fleet_candidate *candidate,
                         struct res_finding *finding)
{
    const struct res_rule *rule = &finding->rule;
    const double all = (double)fleet->workloads;
    const double most = rule->relative ? rule->limit * all : rule->limit;
    const double estimated = candidate->losers_share * all;
    const bool proven = (double)candidate->loser_count > most;
    struct res_texts labels = labels_of(proven ? candidate->losers : candidate->nearest,
                                        proven ? candidate->loser_count : candidate->nearest_count);
    char *names = names_of(&labels);
    if (proven) {
        finding->outcome = RES_OVER;
        finding->reason = res_printf("slower by more than %s: %s", RES_SHARE(fleet->loser_limit), names);
    } else if (!isfinite(estimated)) {
        finding->reason = res_strdup("how many lose is not known");
    } else if (rule->relative ? estimated <= most : round(estimated) <= most) {
        finding->outcome = RES_WITHIN;
        finding->reason = res_strdup("");
    } else {
        finding->reason = res_printf("%zu proven, but some %.1f of %.0f are estimated to lose: more blocks "
                                     "decide%s%s",
                                     candidate->loser_count, estimated, all,
                                     names != NULL ? ", the likeliest of " : "", names != NULL ? names : "");
    }
    free(names);
    res_texts_release(&labels);
}

/* A fleet's document has the interval. */
static struct res_logarithm logarithm_of(const struct res_estimate *estimate, size_t freedom)
{
    const double width = log(estimate->interval.high / estimate->interval.low);
    return (struct res_logarithm){log(estimate->value), width / 2 / res_student_quantile(freedom),
                                  (double)freedom};
}

static void judge_change(const struct res_fleet *fleet, const struct res_fleet_candidate *candidate,
                         struct res_finding *finding)
{
    const bool of_time = finding->rule.of_fleet == RES_FLEET_TIME;
    const struct res_fleet_total *peaks = &candidate->peaks;
    finding->estimate =
        of_time ? (struct res_estimate){candidate->time.ratio, {candidate->time.low, candidate->time.high}, 0}
                : (struct res_estimate){peaks->ratio, {peaks->low, peaks->high}, 0};
    finding->rounds = of_time ? candidate->time.workloads : peaks->workloads;
    const double n_eff = of_time ? candidate->time.n_eff : fleet->n_eff;
    if (isfinite(finding->estimate.value) && !isfinite(finding->estimate.interval.high))
        finding->reason = res_printf("the spread between workloads is not known: %" PRIu64
                                     ", by their shares as good as %.1f, a verdict takes %.0f",
                                     finding->rounds, n_eff, RES_FLEET_LEAST_EFFECTIVE);
    else
        finding->tails = res_logarithm_tails(logarithm_of(&finding->estimate, freedom_of(fleet, n_eff)),
                                             finding->rule.limit);
}

/* What is within may not be so with the results that are not there. */
static void doubt_what_is_missing(const struct res_fleet *fleet, struct res_finding *finding)
{
    const bool within = finding->reason != NULL ? finding->outcome == RES_WITHIN
                                                : finding->estimate.interval.high <= finding->rule.limit;
    const size_t absent = fleet->missing_count + fleet->left_out_count;
    if (absent == 0 || !within)
        return;
    free(finding->reason);
    finding->outcome = RES_INCONCLUSIVE;
    finding->reason = res_printf("within so far, but %zu of the results are missing or left out", absent);
}

struct res_finding res_fleet_finding(const struct res_fleet *fleet, size_t candidate,
                                     const struct res_rule *rule)
{
    const struct res_fleet_candidate *own = &fleet->candidates[candidate];
    struct res_finding finding = {
        .rule = *rule,
        .metric = res_rule_metric(rule),
        .unit = rule->of_fleet == RES_FLEET_LOSERS ? "workloads" : res_metric_unit_name(rule->metric),
        .workload = RES_FLEET_NAME,
        .candidate = own->name,
        .outcome = RES_INCONCLUSIVE,
        .bridge_ratio = NAN,
        .round_ns = NAN,
        .value = NAN,
        .rounds = fleet->workloads,
        .noise = {1, 1},
        .tails = {1, 1},
        .estimate = {NAN, {NAN, NAN}, 0}};
    if (rule->of_fleet == RES_FLEET_LOSERS) {
        finding.value = (double)own->loser_count;
        finding.estimate.value = own->losers_share;
    }
    if (rule->of_fleet == RES_FLEET_LOSERS)
        judge_losers(fleet, own, &finding);
    else
        judge_change(fleet, own, &finding);
    doubt_what_is_missing(fleet, &finding);
    if (own->failed.count > 0) {
        char *names = names_of(&own->failed);
        free(finding.reason);
        finding.outcome = RES_OVER;
        finding.reason = res_printf("the candidate failed on %s", names);
        free(names);
    }
    finding.above_corrected = finding.tails.above;
    return finding;
}

/* Mean square of the errors of hosts, and of their blocks; NAN: not known. */
static double noise_of(const struct res_fleet *fleet, size_t candidate, bool of_time, double *ret_blocks)
{
    double sum = 0, blocks = 0;
    size_t count = 0;
    for (size_t i = 0; i < fleet->host_count; i++) {
        const struct res_fleet_entry *entry = &fleet->hosts[i].entries[candidate];
        const double error = of_time ? entry->time.error : entry->peak.error;
        if (!isfinite(error))
            continue;
        sum += error * error;
        blocks += (double)fleet->hosts[i].blocks;
        count++;
    }
    *ret_blocks = blocks / (double)count;
    return sum / (double)count;
}

char *res_fleet_remedy(const struct res_fleet *fleet, const struct res_finding *finding)
{
    size_t at = 0;
    while (at < fleet->candidate_count && strcmp(fleet->candidates[at].name, finding->candidate) != 0)
        at++;
    if (at == fleet->candidate_count)
        return NULL;
    const bool of_time = finding->rule.of_fleet == RES_FLEET_TIME;
    const struct res_fleet_candidate *candidate = &fleet->candidates[at];
    const double tau = of_time ? candidate->time.tau : candidate->peak.tau;
    const double half = log(finding->estimate.interval.high / finding->estimate.interval.low) / 2;
    const double ways = half / fabs(log(finding->rule.limit / finding->estimate.value));
    const double times = SURE * ways * ways;
    double blocks;
    const double noise = noise_of(fleet, at, of_time, &blocks);
    if (!(times <= TIMES_MOST))
        return NULL;
    if (fleet->all_hosts || tau * tau < noise)
        return res_printf("the results' noise makes it wide, some %.0f blocks of each workload would decide, "
                          "there are %.3g",
                          ceil(times * blocks), blocks);
    return res_printf("workloads differ by some %s, more blocks narrow it little: some %.0f workloads "
                      "would decide, there are %" PRIu64,
                      RES_SHARE(tau), ceil(times * (double)finding->rounds), finding->rounds);
}
