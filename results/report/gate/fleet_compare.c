/* fleet_compare.c - see fleet_compare.h. */
#include "results/report/gate/fleet_compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/measure/fleet/fleet_candidates.h"
#include "results/measure/statistics/many.h"
#include "results/measure/statistics/significance.h"
#include "results/report/grid/cells.h"
#include "results/report/grid/document.h"

#define NAMES_MOST 6u /* of hosts that only one of both has */

/* ---- what is told ---------------------------------------------------------------------------- */

#define MOVE(name, member, verdicts)                                                                         \
    RES_ROW(NUMBER, name ".then", member.then, NULL), RES_ROW(NUMBER, name ".now", member.now, NULL),        \
        RES_RATIO_ROWS(name ".", member.ratio, member.low, member.high, NULL, NULL),                         \
        RES_ROW(NUMBER, name ".n_eff", member.n_eff, NULL),                                                  \
        RES_WORD(name ".verdict", member.verdict, verdicts, NULL),                                           \
        RES_ROW(COUNT, name ".pairs", member.pairs, NULL)

#define OWNER struct res_fleet_compared
static const struct res_field COMPARED_FIELDS[] = {
    RES_ROW(LENT, "name", name, NULL),
    MOVE("time", time, RES_TIME_VERDICTS),
    MOVE("peak", peak, RES_MEMORY_VERDICTS),
};
static const struct res_described COMPARED = RES_DESCRIBE_WHOLLY("a candidate", COMPARED_FIELDS);
#undef OWNER

#define OWNER struct res_fleet_compare
static const struct res_field COMPARE_FIELDS[] = {
    RES_HEAD_ROWS,
    RES_ROW(LENT, "baseline", baseline, NULL),
    RES_ROW(COUNT, "workloads_old", workloads_old, NULL),
    RES_ROW(COUNT, "workloads_new", workloads_new, NULL),
    RES_ROW(COUNT, "pairs", pairs, NULL),
    RES_LIST(LIST, PLAIN, "candidates", candidates, candidate_count, &COMPARED, NULL),
    RES_ROW(TEXTS, "differences", differences, NULL),
    RES_ROW(TEXTS, "only_old", only_old, NULL),
    RES_ROW(TEXTS, "only_new", only_new, NULL),
};
const struct res_described RES_FLEET_COMPARE = RES_DESCRIBE_WHOLLY("a comparison", COMPARE_FIELDS);
#undef OWNER

/* ---- pairs ---------------------------------------------------------------------------------- */

struct pair {
    const struct res_fleet_host *then, *now;
};

static int by_key(const void *one, const void *other)
{
    const struct res_fleet_host *left = *(const struct res_fleet_host *const *)one;
    const struct res_fleet_host *right = *(const struct res_fleet_host *const *)other;
    const int labels = strcmp(left->label, right->label);
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

static void add_only(struct res_texts *texts, const struct res_fleet_host *host)
{
    char *words = res_printf("%s (%s)", host->label,
                             host->workload != NULL ? host->workload : host->file_digest);
    res_texts_add(texts, words);
    free(words);
}

/* ret_pairs: room for the hosts of either. */
static void pair_up(const struct res_fleet *earlier, const struct res_fleet *fleet,
                    struct res_fleet_compare *comparison, struct pair *ret_pairs)
{
    const struct res_fleet_host **then = sorted(earlier), **now = sorted(fleet);
    for (size_t i = 0, k = 0; i < earlier->host_count || k < fleet->host_count;) {
        const int order = i == earlier->host_count ? 1
                          : k == fleet->host_count ? -1
                                                   : by_key(&then[i], &now[k]);
        if (order < 0)
            add_only(&comparison->only_old, then[i++]);
        else if (order > 0)
            add_only(&comparison->only_new, now[k++]);
        else
            ret_pairs[comparison->pairs++] = (struct pair){then[i++], now[k++]};
    }
    free(then);
    free(now);
}

/* ---- one candidate -------------------------------------------------------------------------- */

/* A candidate in both fleets. */
struct both {
    size_t then, now;
};

static int verdict_of(const struct res_fleet_move *move)
{
    return move->high < 1 ? RES_LESS : move->low > 1 ? RES_MORE : RES_UNDECIDED;
}

static struct res_fleet_move move_of(const struct res_fleet *earlier, const struct res_fleet *fleet,
                                     const struct pair *pairs, size_t count, struct both both, bool memory)
{
    struct res_fleet_move move = {NAN, NAN, NAN, NAN, NAN, NAN, RES_UNDECIDED, 0};
    double *then = res_calloc(4 * count + 1, sizeof *then);
    double *now = then + count, *change = now + count, *shares = change + count;
    for (size_t i = 0; i < count; i++) {
        const struct res_fleet_difference *old = res_fleet_used(earlier, pairs[i].then, both.then, memory);
        const struct res_fleet_difference *new = res_fleet_used(fleet, pairs[i].now, both.now, memory);
        if (old == NULL || new == NULL || pairs[i].now->share > 1)
            continue;
        then[move.pairs] = log(old->ratio);
        now[move.pairs] = log(new->ratio);
        change[move.pairs] = now[move.pairs] - then[move.pairs];
        shares[move.pairs++] = pairs[i].now->share;
    }
    if (move.pairs > 0) {
        const struct res_logarithm mean = res_many_mean(change, shares, move.pairs);
        move.n_eff = res_many_effective(shares, move.pairs);
        move.then = exp(res_many_mean(then, shares, move.pairs).value);
        move.now = exp(res_many_mean(now, shares, move.pairs).value);
        move.ratio = exp(mean.value);
        if (move.n_eff >= RES_FLEET_LEAST_EFFECTIVE) {
            const struct res_estimate estimate = res_logarithm_estimate(mean);
            move.low = estimate.interval.low;
            move.high = estimate.interval.high;
        }
    }
    move.verdict = verdict_of(&move);
    free(then);
    return move;
}

/* ---- all of them ---------------------------------------------------------------------------- */

static const char *word_or(const char *word, const char *other)
{
    return word != NULL ? word : other;
}

static void add_difference(struct res_texts *texts, const char *what, const char *then, const char *now)
{
    if (strcmp(then, now) == 0)
        return;
    char *words = res_printf("%s: %s then, %s now", what, then, now);
    res_texts_add(texts, words);
    free(words);
}

static char *machines_of(const struct res_fleet *fleet)
{
    struct res_text text = {0};
    for (size_t i = 0; i < fleet->machines.count; i++)
        res_text_printf(&text, "%s%s", i > 0 ? "; " : "", fleet->machines.items[i]);
    return text.text != NULL ? text.text : res_strdup("not known");
}

static void add_differences(struct res_texts *texts, const struct res_fleet *earlier,
                            const struct res_fleet *fleet)
{
    char *then = machines_of(earlier), *now = machines_of(fleet);
    add_difference(texts, "mallab", word_or(earlier->mallab_version, "not known"),
                   word_or(fleet->mallab_version, "not known"));
    add_difference(texts, "machines", then, now);
    add_difference(texts, "times are of", RES_FLEET_OF[earlier->of_time], RES_FLEET_OF[fleet->of_time]);
    add_difference(texts, "memory is of", RES_FLEET_OF[earlier->of_memory], RES_FLEET_OF[fleet->of_memory]);
    if (earlier->missing_count + fleet->missing_count > 0) {
        char *words = res_printf("missing: %zu then, %zu now", earlier->missing_count, fleet->missing_count);
        res_texts_add(texts, words);
        free(words);
    }
    free(then);
    free(now);
}

static void add_candidates(const struct res_fleet *earlier, const struct res_fleet *fleet,
                           const struct pair *pairs, struct res_fleet_compare *comparison)
{
    const size_t count = (size_t)comparison->pairs;
    comparison->candidates = res_calloc(fleet->candidate_count, sizeof *comparison->candidates);
    for (size_t k = 1; k < fleet->candidate_count; k++) {
        for (size_t i = 1; i < earlier->candidate_count; i++) {
            if (strcmp(earlier->candidates[i].name, fleet->candidates[k].name) != 0)
                continue;
            const struct both both = {i, k};
            comparison->candidates[comparison->candidate_count++] = (struct res_fleet_compared){
                .name = fleet->candidates[k].name,
                .time = move_of(earlier, fleet, pairs, count, both, false),
                .peak = move_of(earlier, fleet, pairs, count, both, true),
            };
            break;
        }
    }
}

bool res_fleet_compare(const struct res_fleet *earlier, const struct res_fleet *fleet,
                       struct res_fleet_compare *ret_comparison, char **ret_problem)
{
    struct res_fleet_compare comparison = {.schema = RES_FLEET_COMPARE_SCHEMA,
                                           .mallab_version = MALLAB_VERSION,
                                           .baseline = fleet->baseline,
                                           .workloads_old = earlier->host_count,
                                           .workloads_new = fleet->host_count,
                                           .differences = {.known = true},
                                           .only_old = {.known = true},
                                           .only_new = {.known = true}};
    if (strcmp(earlier->baseline, fleet->baseline) != 0) {
        *ret_problem = res_printf("the baseline was %s and is %s: ratios to them do not compare",
                                  earlier->baseline, fleet->baseline);
        return false;
    }
    struct pair *pairs = res_calloc(fleet->host_count + 1, sizeof *pairs);
    pair_up(earlier, fleet, &comparison, pairs);
    add_differences(&comparison.differences, earlier, fleet);
    add_candidates(earlier, fleet, pairs, &comparison);
    free(pairs);
    if (comparison.pairs > 0 && comparison.candidate_count > 0) {
        *ret_comparison = comparison;
        return true;
    }
    *ret_problem = res_strdup(comparison.pairs == 0
                                  ? "no workload is in both: none has the same label and digest"
                                  : "no candidate is in both beside the baseline");
    res_described_release(&RES_FLEET_COMPARE, &comparison);
    return false;
}

/* ---- for people ----------------------------------------------------------------------------- */

static const struct res_column COLUMNS[] = {
    {.heading = "candidate", .own_line = true, .gap = 2},
    {.heading = "of", .gap = 2},
    {.heading = "then", .right = true, .gap = 2},
    {.heading = "now", .right = true, .gap = 2},
    {.heading = "change (95 %)", .gap = 2},
    {.heading = "pairs", .right = true, .gap = 2},
    {.heading = "verdict", .gap = 2},
};

static void add_move(struct res_grid *grid, const char *name, const char *of,
                     const struct res_fleet_move *move, const char *const *verdicts)
{
    if (move->pairs == 0)
        return;
    const char *verdict = !isfinite(move->high)            ? "spread not known"
                          : move->verdict == RES_UNDECIDED ? RES_CELL_NOT_SHOWN
                                                           : verdicts[move->verdict];
    res_grid_add(grid, name);
    res_grid_add(grid, of);
    res_grid_add(grid, RES_PERCENT(move->then));
    res_grid_add(grid, RES_PERCENT(move->now));
    res_grid_own(grid, res_printf("%s %s", RES_PERCENT(move->ratio),
                                  isfinite(move->high) ? RES_INTERVAL(move->low, move->high) : "?"));
    res_grid_own(grid, res_printf("%" PRIu64, move->pairs));
    res_grid_add(grid, verdict);
    res_grid_role(grid, res_cell_role_large(verdict, move->ratio));
}

static void add_rows(struct res_grid *grid, const struct res_fleet_compare *comparison)
{
    for (size_t i = 0; i < comparison->candidate_count; i++) {
        const struct res_fleet_compared *one = &comparison->candidates[i];
        add_move(grid, one->name, "time", &one->time, RES_TIME_VERDICTS);
        add_move(grid, one->name, "peak", &one->peak, RES_MEMORY_VERDICTS);
    }
}

char *res_fleet_compare_document(const struct res_fleet_compare *comparison, const struct res_style *style)
{
    struct res_document document = {.style = style};
    const size_t named_most = style != NULL && style->details ? 0 : NAMES_MOST;
    struct res_grid grid;
    res_document_heading(
        &document, 3, "fleet of %" PRIu64 " workloads then, %" PRIu64 " now, %" PRIu64 " in both; against %s",
        comparison->workloads_old, comparison->workloads_new, comparison->pairs, comparison->baseline);
    res_grid_begin(&grid, COLUMNS, sizeof COLUMNS / sizeof COLUMNS[0]);
    add_rows(&grid, comparison);
    res_document_table(&document, &grid);
    res_grid_release(&grid);
    res_document_gap(&document);
    res_document_names(&document, "differs", &comparison->differences, 0);
    res_document_names(&document, "only then", &comparison->only_old, named_most);
    res_document_names(&document, "only now", &comparison->only_new, named_most);
    res_document_line(
        &document,
        "Ratios are to the baseline of the same result; the change is over pairs of one host, by its "
        "spread between them.");
    return document.text.text;
}
