/* cost_result.c - sums over the sites of a group, rows by what they hold, and a profile of all stacks. */
#include "sites/cost/cost_result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "sites/show/profile_json.h"
#include "sites/show/stacks_profile.h"
#include "sites/stacks/groups.h"

struct making {
    const struct site_costs *costs;
    struct site_stacks *stacks;
    struct site_group *groups;
    size_t group_count;
    size_t *group_of; /* by number of site */
};

/* A group and what it is ranked by. */
struct ranked {
    size_t group;
    double held;
};

static double sum_of(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum;
}

static int by_key(const void *key, const void *group)
{
    return strcmp(key, ((const struct site_group *)group)->key);
}

static void find_groups(struct making *making)
{
    const struct conv_sites *sites = making->stacks->sites;
    making->group_count = site_groups_make(making->stacks, SITE_BY_SITE, NULL, &making->groups);
    making->group_of = res_calloc(sites->count + 1, sizeof *making->group_of);
    for (size_t i = 0; i < sites->count; i++) {
        char *key = site_group_key(making->stacks, sites->counts[i].site, SITE_BY_SITE);
        const struct site_group *group = bsearch(key, making->groups, making->group_count, sizeof *group,
                                                 by_key);
        making->group_of[i] = group != NULL ? (size_t)(group - making->groups) : making->group_count;
        free(key);
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

static double of_group(const struct making *making, const double *values, size_t group)
{
    double sum = 0;
    for (size_t i = 0; i < making->stacks->sites->count; i++)
        if (making->group_of[i] == group)
            sum += values[i];
    return sum;
}

static struct res_site_cost cost_of(const struct making *making, const struct site_cost_entry *entry,
                                    size_t group)
{
    if (entry->failed != NULL)
        return (struct res_site_cost){NAN, NAN};
    return (struct res_site_cost){
        .held_bytes = of_group(making, entry->held, group),
        .held_deviation = fabs(of_group(making, entry->run_held[0], group) -
                               of_group(making, entry->run_held[1], group)) /
                          2,
    };
}

static void fill_row(const struct making *making, size_t group, struct res_site *row)
{
    const struct site_costs *costs = making->costs;
    row->words = site_group_words(making->stacks, &making->groups[group], SITE_BY_SITE);
    row->allocations = making->groups[group].counts.allocations;
    row->live_bytes = of_group(making, costs->live, group);
    row->costs = res_calloc(costs->entry_count, sizeof *row->costs);
    row->cost_count = costs->entry_count;
    for (size_t i = 0; i < costs->entry_count; i++)
        row->costs[i] = cost_of(making, &costs->entries[i], group);
}

static int most_first(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    if (a->held != b->held)
        return a->held < b->held ? 1 : -1;
    return a->group < b->group ? -1 : a->group > b->group;
}

/* By what is held under the baseline. */
static struct ranked *rank(const struct making *making)
{
    const double *held = making->costs->entries[0].held;
    struct ranked *ranked = res_calloc(making->group_count + 1, sizeof *ranked);
    for (size_t i = 0; i < making->group_count; i++)
        ranked[i].group = i;
    for (size_t i = 0; i < making->stacks->sites->count; i++)
        ranked[making->group_of[i]].held += held[i];
    qsort(ranked, making->group_count, sizeof *ranked, most_first);
    return ranked;
}

static void add_rows(const struct making *making, struct res_sites *sites)
{
    struct ranked *ranked = rank(making);
    sites->row_count = making->group_count < SITE_ROWS_MAX ? making->group_count : SITE_ROWS_MAX;
    sites->rows = res_calloc(sites->row_count + 1, sizeof *sites->rows);
    for (size_t i = 0; i < sites->row_count; i++)
        site_stacks_lines(making->stacks, making->groups[ranked[i].group].counts.site);
    site_stacks_settle(making->stacks);
    for (size_t i = 0; i < sites->row_count; i++)
        fill_row(making, ranked[i].group, &sites->rows[i]);
    free(ranked);
}

/* ---- candidates, and the profile --------------------------------------------------------------- */

/* Objects may lie on pages that the allocator had before the first op, which are not counted as resident: then there is none. */
static double own_bytes(const struct site_cost_entry *entry, double held)
{
    return entry->resident_bytes > held ? entry->resident_bytes - held : 0;
}

static void fill_candidate(const struct site_cost_entry *entry, size_t count, const char *name,
                           struct res_site_candidate *ret)
{
    *ret = (struct res_site_candidate){.name = res_strdup(name),
                                       .failed = res_strdup(entry->failed),
                                       .resident_bytes = NAN,
                                       .held_bytes = NAN,
                                       .pages_bytes = NAN,
                                       .own_bytes = NAN,
                                       .swapped_bytes = NAN};
    if (entry->failed != NULL)
        return;
    ret->resident_bytes = entry->resident_bytes;
    ret->held_bytes = sum_of(entry->held, count);
    ret->pages_bytes = entry->pages_bytes;
    ret->own_bytes = own_bytes(entry, ret->held_bytes);
    ret->swapped_bytes = entry->swapped_bytes;
}

static uint32_t own_node(struct site_profile *profile, const char *words)
{
    return site_profile_node(profile, SITE_TOP,
                             site_profile_frame(profile, &(struct site_frame_words){.function = words}));
}

static void add_values(struct site_profile *profile, const struct site_cost_entry *entry,
                       const uint32_t *nodes, size_t count, const char *name)
{
    const uint32_t held = site_profile_metric(profile, SITE_HELD, name);
    const double own = own_bytes(entry, sum_of(entry->held, count + 1));
    for (size_t i = 0; i < count; i++)
        site_profile_add(profile, nodes[i], held, entry->held[i]);
    site_profile_add(profile, own_node(profile, "[allocator's own]"), held, own);
}

static json_t *profile_of(const struct making *making, const struct res_result_workload *workload)
{
    struct site_profile profile = {0};
    const size_t count = making->stacks->sites->count;
    uint32_t *nodes = res_calloc(count + 1, sizeof *nodes);
    site_profile_title(&profile, workload->program != NULL ? workload->program : workload->name);
    site_profile_baseline(&profile, workload->candidates[0].name);
    site_profile_take(&profile, making->stacks, false, nodes);
    for (size_t i = 0; i < making->costs->entry_count; i++)
        if (making->costs->entries[i].failed == NULL)
            add_values(&profile, &making->costs->entries[i], nodes, count, workload->candidates[i].name);
    json_t *json = site_profile_json(&profile);
    site_profile_release(&profile);
    free(nodes);
    return json;
}

struct res_sites *site_cost_result(const struct site_costs *costs, struct site_stacks *stacks,
                                   const struct res_result_workload *workload)
{
    struct res_sites *sites = res_calloc(1, sizeof *sites);
    struct making making = {.costs = costs, .stacks = stacks};
    if (costs->unavailable != NULL) {
        sites->unavailable = res_strdup(costs->unavailable);
        return sites;
    }
    find_groups(&making);
    sites->stacks = stacks->sites->count;
    sites->groups = making.group_count;
    sites->peak_op = costs->peak_op;
    sites->peak_bytes = (double)costs->peak_bytes;
    sites->candidates = res_calloc(costs->entry_count + 1, sizeof *sites->candidates);
    sites->candidate_count = costs->entry_count;
    for (size_t i = 0; i < costs->entry_count; i++)
        fill_candidate(&costs->entries[i], stacks->sites->count + 1, workload->candidates[i].name,
                       &sites->candidates[i]);
    add_rows(&making, sites);
    sites->profile = profile_of(&making, workload);
    site_groups_release(making.groups, making.group_count);
    free(making.group_of);
    return sites;
}

/* ---- several processes ------------------------------------------------------------------------- */

static int by_words(const void *left, const void *right)
{
    return strcmp(((const struct res_site *)left)->words, ((const struct res_site *)right)->words);
}

/* What is not known holds least. */
static double held_by_baseline(const struct res_site *row)
{
    return isfinite(row->costs[0].held_bytes) ? row->costs[0].held_bytes : -1;
}

static int most_held_first(const void *left, const void *right)
{
    const double a = held_by_baseline(left), b = held_by_baseline(right);
    return a > b ? -1 : a < b ? 1 : by_words(left, right);
}

static void row_release(struct res_site *row)
{
    free(row->words);
    free(row->costs);
}

static void add_row(struct res_site *to, struct res_site *from)
{
    to->allocations += from->allocations;
    to->live_bytes += from->live_bytes;
    for (size_t i = 0; i < to->cost_count; i++) {
        to->costs[i].held_bytes += from->costs[i].held_bytes;
        to->costs[i].held_deviation += from->costs[i].held_deviation;
    }
    row_release(from);
}

static void merge_rows(struct res_sites *sum, struct res_sites *other)
{
    const size_t all = sum->row_count + other->row_count;
    size_t count = 0;
    sum->rows = res_realloc(sum->rows, all + 1, sizeof *sum->rows);
    memcpy(sum->rows + sum->row_count, other->rows, other->row_count * sizeof *other->rows);
    other->row_count = 0;
    qsort(sum->rows, all, sizeof *sum->rows, by_words);
    for (size_t i = 0; i < all; i++)
        if (count > 0 && by_words(&sum->rows[count - 1], &sum->rows[i]) == 0)
            add_row(&sum->rows[count - 1], &sum->rows[i]);
        else
            sum->rows[count++] = sum->rows[i];
    qsort(sum->rows, count, sizeof *sum->rows, most_held_first);
    sum->groups = count > sum->groups ? count : sum->groups;
    for (; count > SITE_ROWS_MAX; count--)
        row_release(&sum->rows[count - 1]);
    sum->row_count = count;
}

static void add_candidate(struct res_site_candidate *to, const struct res_site_candidate *from)
{
    if (to->failed == NULL && from->failed != NULL)
        to->failed = res_strdup(from->failed);
    to->resident_bytes += from->resident_bytes;
    to->pages_bytes += from->pages_bytes;
    to->held_bytes += from->held_bytes;
    to->own_bytes += from->own_bytes;
    to->swapped_bytes += from->swapped_bytes;
}

static json_t *profiles_merged(const json_t *one, const json_t *other)
{
    struct site_profile profile, added;
    json_t *json = NULL;
    if (site_profile_read(one, &profile) && site_profile_read(other, &added)) {
        site_profile_merge(&profile, &added, false);
        json = site_profile_json(&profile);
        site_profile_release(&added);
    }
    site_profile_release(&profile);
    return json;
}

void site_cost_add(struct res_sites *sum, struct res_sites *other)
{
    json_t *profile = profiles_merged(sum->profile, other->profile);
    json_decref(sum->profile);
    sum->profile = profile;
    sum->stacks += other->stacks;
    sum->groups = other->groups > sum->groups ? other->groups : sum->groups;
    sum->peak_op = RES_COUNT_ABSENT;
    sum->peak_bytes += other->peak_bytes;
    for (size_t i = 0; i < sum->candidate_count; i++)
        add_candidate(&sum->candidates[i], &other->candidates[i]);
    merge_rows(sum, other);
    res_described_release(&RES_SITES, other);
    free(other);
}
