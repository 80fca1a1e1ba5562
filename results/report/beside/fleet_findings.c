/* fleet_findings.c - see beside.h. */
#include "results/report/beside/beside.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "results/measure/fleet/fleet.h"

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

/* Of losers, whose outcome no interval gives: as few at least as are proven, as many at most as are not excluded. */
static void judge_losers(const struct res_fleet *fleet, const struct res_fleet_candidate *candidate,
                         struct res_finding *finding)
{
    const struct res_rule *rule = &finding->rule;
    const double most = rule->relative ? rule->limit * (double)fleet->workloads : rule->limit;
    const double proven = (double)candidate->loser_count, doubtful = (double)candidate->doubtful;
    struct res_texts labels = labels_of(candidate->losers, candidate->loser_count);
    char *names = names_of(&labels);
    if (proven > most) {
        finding->outcome = RES_OVER;
        finding->reason = res_printf("slower by more than %s: %s", RES_SHARE(fleet->loser_limit), names);
    } else if (!fleet->all_hosts && !(candidate->time.n_eff >= RES_FLEET_LEAST_EFFECTIVE)) {
        finding->reason = res_strdup("how many lose is not known");
    } else if (proven + doubtful <= most) {
        finding->outcome = RES_WITHIN;
        finding->reason = res_strdup("");
    } else {
        finding->reason = res_printf("%.0f proven, and of %.0f it is not excluded: more blocks decide",
                                     proven, doubtful);
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

/* Without figures. */
static struct res_finding begin_finding(const struct res_fleet *fleet, size_t candidate,
                                        const struct res_rule *rule)
{
    const struct res_fleet_candidate *own = &fleet->candidates[candidate];
    return (struct res_finding){
        .rule = *rule,
        .metric = res_rule_metric(rule),
        .unit = rule->of_fleet == RES_FLEET_LOSERS ? "workloads" : res_metric_unit_name(rule->metric),
        .workload = RES_FLEET_NAME,
        .candidate = own->name,
        .outcome = RES_INCONCLUSIVE,
        .bridge_ratio = NAN,
        .resolves = NAN,
        .then = NAN,
        .value = NAN,
        .rounds = fleet->workloads,
        .noise = {1, 1},
        .tails = {1, 1},
        .estimate = {NAN, {NAN, NAN}, 0}};
}

static struct res_finding fleet_finding(const struct res_fleet *fleet, size_t candidate,
                                        const struct res_rule *rule)
{
    const struct res_fleet_candidate *own = &fleet->candidates[candidate];
    struct res_finding finding = begin_finding(fleet, candidate, rule);
    if (rule->of_fleet == RES_FLEET_LOSERS) {
        finding.value = (double)own->loser_count;
        finding.estimate.value = (double)own->doubtful;
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

/* Of a fleet all candidates but the baseline, and that where a rule names it. */
void res_fleet_check(struct res_beside *check, const struct res_fleet *fleet, const struct res_budget *budget)
{
    for (size_t i = 0; i < fleet->candidate_count; i++) {
        for (int which = 2 * RES_FLEET_TIME; which < 2 * (RES_FLEET_LOSERS + 1); which++) {
            const struct res_rule *rule = res_budget_find_fleet(budget, (enum res_fleet_metric)(which / 2),
                                                                which % 2 == 0, fleet->candidates[i].name);
            if (rule == NULL || (i == 0 && rule->candidate == NULL))
                continue;
            const struct res_finding finding = fleet_finding(fleet, i, rule);
            res_finding_add(check, &finding);
        }
    }
}

/* ---- pairs ---------------------------------------------------------------------------------- */

struct pair {
    const struct res_fleet_host *then, *now;
};

/* Without a label a host is called as its workload is, which may be called otherwise at another time. */
static const char *own_label(const struct res_fleet_host *host)
{
    return host->workload != NULL && strcmp(host->label, host->workload) == 0 ? "" : host->label;
}

static int by_key(const void *one, const void *other)
{
    const struct res_fleet_host *left = *(const struct res_fleet_host *const *)one;
    const struct res_fleet_host *right = *(const struct res_fleet_host *const *)other;
    const int labels = strcmp(own_label(left), own_label(right));
    return labels != 0 ? labels : strcmp(left->file_digest, right->file_digest);
}

/* A document comes from anywhere: its order is not believed. The caller's to free. */
static const struct res_fleet_host **sorted(const struct res_fleet *fleet)
{
    const struct res_fleet_host **hosts = res_calloc(fleet->host_count + 1, sizeof *hosts);
    for (size_t i = 0; i < fleet->host_count; i++)
        hosts[i] = &fleet->hosts[i];
    qsort(hosts, fleet->host_count, sizeof *hosts, by_key);
    return hosts;
}

static void add_only(struct res_beside *beside, const char *when, const struct res_fleet_host *host)
{
    res_told_add(beside, res_printf("only %s: %s (%s)", when, host->label,
                                    host->workload != NULL ? host->workload : host->file_digest));
}

/* ret_pairs: room for the hosts of either. Returns how many there are. */
static size_t pair_up(const struct res_fleet *earlier, const struct res_fleet *fleet,
                      struct res_beside *beside, struct pair *ret_pairs)
{
    const struct res_fleet_host **then = sorted(earlier), **now = sorted(fleet);
    size_t count = 0;
    for (size_t i = 0, k = 0; i < earlier->host_count || k < fleet->host_count;) {
        const int order = i == earlier->host_count ? 1
                          : k == fleet->host_count ? -1
                                                   : by_key(&then[i], &now[k]);
        if (order < 0)
            add_only(beside, "then", then[i++]);
        else if (order > 0)
            add_only(beside, "now", now[k++]);
        else
            ret_pairs[count++] = (struct pair){then[i++], now[k++]};
    }
    free(then);
    free(now);
    return count;
}

/* ---- one candidate, then and now ---------------------------------------------------------------- */

/* A candidate in both fleets. */
struct both {
    size_t then, now;
};

/* The share-weighted mean of what pairs moved by, with an interval from the spread between them; a share of a document may be anything. */
static bool find_move(const struct res_fleet *earlier, const struct res_fleet *fleet,
                      const struct pair *pairs, size_t count, struct both both, bool memory,
                      struct res_finding *finding)
{
    double *then = res_calloc(4 * count + 1, sizeof *then);
    double *now = then + count, *change = now + count, *shares = change + count;
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        const struct res_fleet_difference *old = res_fleet_used(earlier, pairs[i].then, both.then, memory);
        const struct res_fleet_difference *new = res_fleet_used(fleet, pairs[i].now, both.now, memory);
        if (old == NULL || new == NULL || pairs[i].now->share > 1)
            continue;
        then[used] = log(old->ratio);
        now[used] = log(new->ratio);
        change[used] = now[used] - then[used];
        shares[used++] = pairs[i].now->share;
    }
    if (used > 0) {
        struct res_logarithm mean = res_many_mean(change, shares, used);
        finding->then = exp(res_many_mean(then, shares, used).value);
        finding->value = exp(res_many_mean(now, shares, used).value);
        if (res_many_effective(shares, used) < RES_FLEET_LEAST_EFFECTIVE)
            mean.error = NAN;
        finding->estimate = res_logarithm_estimate(mean);
        finding->tails = res_logarithm_tails(mean, 1);
        finding->rounds = used;
    }
    free(then);
    return used > 0;
}

static void compare_candidate(struct res_beside *beside, const struct res_fleet *earlier,
                              const struct res_fleet *fleet, const struct pair *pairs, size_t count,
                              struct both both)
{
    for (int memory = 0; memory < 2; memory++) {
        const struct res_rule rule = {.of_fleet = memory ? RES_FLEET_PEAK : RES_FLEET_TIME,
                                      .metric = memory ? RES_METRIC_RSS_PEAK : RES_METRIC_TIME,
                                      .relative = true,
                                      .limit = 1};
        struct res_finding finding = begin_finding(fleet, both.now, &rule);
        if (!find_move(earlier, fleet, pairs, count, both, memory, &finding))
            continue;
        const struct res_interval range = finding.estimate.interval;
        const enum res_verdict verdict = range.high < 1 ? RES_LESS : range.low > 1 ? RES_MORE : RES_UNDECIDED;
        finding.above_corrected = finding.tails.above;
        finding.word = (memory ? RES_MEMORY_VERDICTS : RES_TIME_VERDICTS)[verdict];
        if (!isfinite(range.high))
            finding.reason = res_strdup("spread not known");
        res_finding_add(beside, &finding);
    }
}

/* ---- two fleets ------------------------------------------------------------------------------- */

static void tell_difference(struct res_beside *beside, const char *what, const char *then, const char *now)
{
    then = then != NULL ? then : "not known";
    now = now != NULL ? now : "not known";
    if (strcmp(then, now) != 0)
        res_told_add(beside, res_printf("%s: %s then, %s now", what, then, now));
}

static void tell_differences(struct res_beside *beside, const struct res_fleet *earlier,
                             const struct res_fleet *fleet)
{
    char *then = names_of(&earlier->machines), *now = names_of(&fleet->machines);
    tell_difference(beside, "mallab", earlier->mallab_version, fleet->mallab_version);
    tell_difference(beside, "machines", then, now);
    tell_difference(beside, "times are of", RES_FLEET_OF[earlier->of_time], RES_FLEET_OF[fleet->of_time]);
    tell_difference(beside, "memory is of", RES_FLEET_OF[earlier->of_memory], RES_FLEET_OF[fleet->of_memory]);
    if (earlier->missing_count + fleet->missing_count > 0)
        res_told_add(beside,
                     res_printf("missing: %zu then, %zu now", earlier->missing_count, fleet->missing_count));
    if (earlier->left_out_count + fleet->left_out_count > 0)
        res_told_add(beside, res_printf("left out: %zu then, %zu now", earlier->left_out_count,
                                        fleet->left_out_count));
    if (earlier->mixed_count + fleet->mixed_count > 0)
        res_told_add(beside,
                     res_printf("mixed versions, machines or settings: of %zu things then, %zu now ('mallab "
                                "report --together' says which)",
                                earlier->mixed_count, fleet->mixed_count));
    free(then);
    free(now);
}

char *res_fleet_compare(struct res_beside *beside, const struct res_fleet *earlier,
                        const struct res_fleet *fleet)
{
    if (strcmp(earlier->baseline, fleet->baseline) != 0)
        return res_printf("the baseline was %s and is %s: ratios to them do not compare", earlier->baseline,
                          fleet->baseline);
    struct pair *pairs = res_calloc(fleet->host_count + 1, sizeof *pairs);
    tell_differences(beside, earlier, fleet);
    const size_t count = pair_up(earlier, fleet, beside, pairs);
    for (size_t k = 1; k < fleet->candidate_count; k++)
        for (size_t i = 1; i < earlier->candidate_count; i++)
            if (strcmp(earlier->candidates[i].name, fleet->candidates[k].name) == 0) {
                compare_candidate(beside, earlier, fleet, pairs, count, (struct both){i, k});
                break;
            }
    free(pairs);
    return count == 0 ? res_strdup("no workload is in both: none has the same label and digest")
           : beside->finding_count == 0 ? res_strdup("no candidate is in both beside the baseline")
                                        : NULL;
}
