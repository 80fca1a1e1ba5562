/* fleet_findings.c - see beside.h. */
#include "results/report/beside/beside.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "results/measure/fleet/fleet.h"

#define NAMES_MOST 3u

/* Freedom of the interval: that of the hosts. */
static size_t freedom_of(double n_eff)
{
    const double freedom = floor(n_eff) - 1;
    return freedom >= 1 ? (size_t)fmin(freedom, 1000) : 1;
}

/* Adds one of so many: "web1, web2, web3 and 4 more". */
static void add_name(struct res_text *names, const char *name, size_t at, size_t count)
{
    if (at < NAMES_MOST)
        res_text_printf(names, "%s%s", at > 0 ? ", " : "", name != NULL ? name : "?");
    else if (at == NAMES_MOST)
        res_text_printf(names, " and %zu more", count - at);
}

/* Judges losers, whose outcome no interval gives: as few at least as are proven, as many at most as are not excluded. */
static void judge_losers(const struct res_fleet *fleet, const struct res_fleet_candidate *candidate,
                         struct res_finding *finding)
{
    const struct res_rule *rule = &finding->rule;
    const double most = rule->relative ? rule->limit * (double)fleet->workloads : rule->limit;
    const double proven = (double)candidate->loser_count, doubtful = (double)candidate->doubtful;
    struct res_text names = {0};
    for (size_t i = 0; i < candidate->loser_count; i++)
        add_name(&names, candidate->losers[i].label, i, candidate->loser_count);
    finding->value = proven;
    finding->estimate.value = doubtful;
    if (proven > most) {
        finding->outcome = RES_OVER;
        finding->reason = res_printf("slower by more than %s: %s", RES_SHARE(fleet->loser_limit), names.text);
    } else if (!(candidate->time.n_eff >= RES_FLEET_LEAST_EFFECTIVE)) {
        finding->reason = res_strdup("how many lose is not known");
    } else if (proven + doubtful <= most) {
        finding->outcome = RES_WITHIN;
        finding->reason = res_strdup("");
    } else {
        finding->reason = res_printf("%.0f proven, and of %.0f it is not excluded: more rounds decide",
                                     proven, doubtful);
    }
    free(names.text);
}

static void judge_change(const struct res_fleet_candidate *candidate, struct res_finding *finding)
{
    const struct res_fleet_change *change = finding->rule.of_fleet == RES_FLEET_TIME ? &candidate->time
                                                                                     : &candidate->peak;
    const double n_eff = change->n_eff;
    finding->estimate = (struct res_estimate){change->ratio, {change->low, change->high}, 0};
    finding->rounds = change->workloads;
    if (isfinite(finding->estimate.value) && !isfinite(finding->estimate.interval.high))
        finding->reason = res_printf("the spread between workloads is not known: %" PRIu64
                                     ", by their shares as good as %.1f, a verdict takes %.0f",
                                     finding->rounds, n_eff, RES_FLEET_LEAST_EFFECTIVE);
    else
        finding->tails = res_logarithm_tails(
            res_logarithm_told(change->ratio, finding->estimate.interval, freedom_of(n_eff)),
            finding->rule.limit);
}

/* A figure that is within may not be so with the results that are not there. */
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

static struct res_finding fleet_finding(const struct res_fleet *fleet, size_t candidate,
                                        const struct res_rule *rule)
{
    const struct res_fleet_candidate *own = &fleet->candidates[candidate];
    struct res_finding finding = res_finding_begin(rule, RES_FLEET_NAME, own->name);
    finding.rounds = fleet->workloads;
    if (rule->of_fleet == RES_FLEET_LOSERS)
        judge_losers(fleet, own, &finding);
    else
        judge_change(own, &finding);
    doubt_what_is_missing(fleet, &finding);
    if (own->failed.count > 0) {
        struct res_text reason = {0};
        res_text_printf(&reason, "the candidate failed on ");
        for (size_t i = 0; i < own->failed.count; i++)
            add_name(&reason, own->failed.items[i], i, own->failed.count);
        free(finding.reason);
        finding.outcome = RES_OVER;
        finding.reason = reason.text;
    }
    finding.above_corrected = finding.tails.above;
    return finding;
}

/* Checks all candidates of a fleet but the baseline, and that where a rule names it. */
void res_fleet_check(struct res_beside *check, const struct res_fleet *fleet, const struct res_budget *budget)
{
    for (size_t i = 0; i < fleet->candidate_count; i++) {
        for (int which = 2 * RES_FLEET_TIME; which < 2 * (RES_FLEET_LOSERS + 1); which++) {
            const struct res_rule like = {.of_fleet = (enum res_fleet_metric)(which / 2),
                                          .relative = which % 2 == 0};
            const struct res_rule *rule = res_budget_find(budget, &like, RES_FLEET_NAME,
                                                          fleet->candidates[i].name);
            if (rule == NULL || (i == 0 && rule->candidate == NULL))
                continue;
            const struct res_finding finding = fleet_finding(fleet, i, rule);
            res_finding_add(check, &finding);
        }
    }
}
