/* fleet.c - blocks are joined to hosts. */
#include "results/measure/fleet/fleet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/measure/figures/figures.h"

/* ---- blocks of a host ------------------------------------------------------------------------ */

/* blocks[0 .. count) of one host. */
struct group {
    struct res_fleet_block *const *blocks;
    size_t count;
};

static size_t group_end(const struct res_fleet_input *input, size_t begin)
{
    size_t end = begin;
    while (end < input->count && strcmp(input->blocks[end]->label, input->blocks[begin]->label) == 0 &&
           strcmp(input->blocks[end]->digest, input->blocks[begin]->digest) == 0)
        end++;
    return end;
}

static int by_name(const void *left, const void *right)
{
    const struct res_fleet_block *one = ((const struct group *)left)->blocks[0];
    const struct res_fleet_block *other = ((const struct group *)right)->blocks[0];
    const int names = strcmp(res_block_name(one), res_block_name(other));
    return names != 0 ? names : strcmp(one->digest, other->digest);
}

static struct group *groups_of(const struct res_fleet_input *input, size_t *ret_count)
{
    struct group *groups = res_calloc(input->count + 1, sizeof *groups);
    *ret_count = 0;
    for (size_t begin = 0, end; begin < input->count; begin = end) {
        end = group_end(input, begin);
        groups[(*ret_count)++] = (struct group){input->blocks + begin, end - begin};
    }
    qsort(groups, *ret_count, sizeof *groups, by_name);
    return groups;
}

static bool group_knows(const struct group *group, bool memory)
{
    bool all = true;
    for (size_t i = 0; i < group->count; i++)
        all = all && res_block_knows(group->blocks[i], memory);
    return all;
}

/* Of one candidate's figures over blocks. */
struct joined {
    double mean, squares;   /* around it */
    double errors, freedom; /* mean squared error, NAN: one has none; sum of the freedoms */
    size_t count;
};

static struct joined join(const struct group *group, size_t candidate, bool memory, int of)
{
    struct joined joined = {0, 0, 0, 0, group->count};
    for (size_t i = 0; i < group->count; i++) {
        const struct res_logarithm figure = res_block_figure(group->blocks[i], candidate, memory, of);
        joined.mean += figure.value / (double)group->count;
        joined.errors += figure.error * figure.error / (double)group->count;
        joined.freedom += figure.freedom;
    }
    for (size_t i = 0; i < group->count; i++)
        joined.squares += pow(res_block_figure(group->blocks[i], candidate, memory, of).value - joined.mean,
                              2);
    return joined;
}

/* What blocks of a host differ by beyond their own errors, a variance: pooled over hosts and candidates. 0: no host has two. */
static double between_blocks(const struct group *groups, size_t group_count, const struct res_fleet *fleet,
                             bool memory)
{
    double sum = 0, freedom = 0;
    for (size_t i = 0; i < group_count; i++) {
        const int of = memory ? fleet->hosts[i].of_memory : fleet->hosts[i].of_time;
        for (size_t k = 1; groups[i].count > 1 && k < fleet->candidate_count; k++) {
            const struct joined joined = join(&groups[i], k, memory, of);
            if (!isfinite(joined.squares) || !isfinite(joined.errors))
                continue;
            sum += joined.squares - joined.errors * (double)(joined.count - 1);
            freedom += (double)(joined.count - 1);
        }
    }
    return freedom > 0 ? fmax(sum / freedom, 0) : 0;
}

static struct res_fleet_difference difference_of(const struct joined *joined, double between)
{
    const struct res_logarithm logarithm = {
        joined->mean, sqrt((joined->errors + between) / (double)joined->count), joined->freedom};
    const struct res_estimate estimate = res_logarithm_estimate(logarithm);
    return (struct res_fleet_difference){.ratio = exp(joined->mean),
                                         .low = estimate.interval.low,
                                         .high = estimate.interval.high,
                                         .error = logarithm.error,
                                         .freedom = logarithm.freedom};
}

/* ---- hosts ----------------------------------------------------------------------------------- */

/* The first of a member that a block has. */
#define FIRST(group, member) first_text(group, offsetof(struct res_fleet_block, member))

static char *first_text(const struct group *group, size_t offset)
{
    for (size_t i = 0; i < group->count; i++) {
        const char *text = *(char *const *)(const void *)((const char *)group->blocks[i] + offset);
        if (text != NULL)
            return res_strdup(text);
    }
    return NULL;
}

#define MEAN_OVER(group, figure) mean_over(group, offsetof(struct res_fleet_block, figure))

static double mean_over(const struct group *group, size_t offset)
{
    double sum = 0;
    for (size_t i = 0; i < group->count; i++)
        sum += *(const double *)(const void *)((const char *)group->blocks[i] + offset) /
               (double)group->count;
    return sum;
}

/* Over recorded time: of the process with what is not heap as it is at the peak. */
static double mean_bytes(const struct group *group, size_t candidate, int of)
{
    double sum = 0;
    for (size_t i = 0; i < group->count; i++) {
        const struct res_fleet_block *block = group->blocks[i];
        const struct res_fleet_side *side = &block->sides[candidate];
        sum += side->mean_bytes +
               (of == RES_FLEET_OF_PROCESS ? block->whole_bytes - block->heap_bytes + side->files : 0);
    }
    return sum / (double)group->count;
}

static const char *failure_of(const struct group *group, size_t candidate)
{
    for (size_t i = 0; i < group->count; i++)
        if (group->blocks[i]->sides[candidate].failed != NULL)
            return group->blocks[i]->sides[candidate].failed;
    return NULL;
}

static void fill_entry(const struct group *group, const struct res_fleet_host *host, size_t candidate,
                       const double between[2], struct res_fleet_entry *ret_entry)
{
    res_described_init(&RES_FLEET_ENTRY, ret_entry);
    ret_entry->failed = res_strdup(failure_of(group, candidate));
    if (ret_entry->failed != NULL)
        return;
    const struct joined time = join(group, candidate, false, host->of_time);
    const struct joined peak = join(group, candidate, true, host->of_memory);
    ret_entry->time = difference_of(&time, candidate > 0 ? between[0] : 0);
    ret_entry->peak = difference_of(&peak, candidate > 0 ? between[1] : 0);
    ret_entry->cpu_ns = ret_entry->time.ratio * (host->of_time == RES_FLEET_OF_PROCESS
                                                     ? MEAN_OVER(group, cpu_ns)
                                                     : MEAN_OVER(group, calls_ns));
    ret_entry->peak_bytes = ret_entry->peak.ratio * (host->of_memory == RES_FLEET_OF_PROCESS
                                                         ? MEAN_OVER(group, whole_bytes)
                                                         : MEAN_OVER(group, heap_bytes));
    ret_entry->mean_bytes = mean_bytes(group, candidate, host->of_memory);
}

/* All but its entries. Of what its figures are: of what the fleet's are, if it knows that. */
static void fill_host(const struct group *group, const struct res_fleet *fleet,
                      struct res_fleet_host *ret_host)
{
    res_described_init(&RES_FLEET_HOST, ret_host);
    ret_host->label = res_strdup(res_block_name(group->blocks[0]));
    ret_host->file_digest = res_strdup(group->blocks[0]->digest);
    ret_host->workload = FIRST(group, workload);
    ret_host->program = FIRST(group, program);
    ret_host->machine = FIRST(group, machine);
    ret_host->no_trust_time = FIRST(group, no_trust_time);
    ret_host->no_trust_memory = FIRST(group, no_trust_memory);
    ret_host->blocks = group->count;
    ret_host->of_time = group_knows(group, false) ? fleet->of_time : RES_FLEET_OF_MALLOC;
    ret_host->of_memory = group_knows(group, true) ? fleet->of_memory : RES_FLEET_OF_MALLOC;
    ret_host->malloc_time = MEAN_OVER(group, calls_ns) / MEAN_OVER(group, cpu_ns);
    ret_host->malloc_memory = MEAN_OVER(group, heap_bytes) / MEAN_OVER(group, whole_bytes);
}

/* ---- shares ---------------------------------------------------------------------------------- */

static double given_share(const struct group *group)
{
    for (size_t i = 0; i < group->count; i++)
        if (isfinite(group->blocks[i]->share))
            return group->blocks[i]->share;
    return NAN;
}

/* A host whose size is not known has none. */
static double *shares_of(const struct res_fleet_input *input, const struct group *groups, size_t count)
{
    double *shares = res_calloc(count + 1, sizeof *shares), sum = 0;
    bool any_given = false;
    for (size_t i = 0; i < count; i++)
        any_given = any_given || isfinite(given_share(&groups[i]));
    for (size_t i = 0; i < count; i++) {
        const double share = any_given                             ? given_share(&groups[i])
                             : input->weights == RES_WEIGHTS_CPU   ? MEAN_OVER(&groups[i], cpu_ns)
                             : input->weights == RES_WEIGHTS_BYTES ? MEAN_OVER(&groups[i], whole_bytes)
                                                                   : 1;
        shares[i] = isfinite(share) ? fmax(share, 0) : 0;
        sum += shares[i];
    }
    for (size_t i = 0; i < count && sum > 0; i++)
        shares[i] /= sum;
    return shares;
}

/* Of the process where hosts with at least half of the shares know it. */
static int of_what(const struct group *groups, const double *shares, size_t count, bool memory)
{
    double known = 0;
    for (size_t i = 0; i < count; i++)
        known += group_knows(&groups[i], memory) ? shares[i] : 0;
    return known >= 0.5 - 1e-9 ? RES_FLEET_OF_PROCESS : RES_FLEET_OF_MALLOC;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void fill_machines(const struct res_fleet_input *input, struct res_texts *ret_machines)
{
    for (size_t i = 0; i < input->count; i++) {
        bool is_there = false;
        for (size_t k = 0; k < ret_machines->count; k++)
            is_there = is_there || strcmp(ret_machines->items[k], input->blocks[i]->machine) == 0;
        if (!is_there)
            res_texts_add(ret_machines, input->blocks[i]->machine);
    }
}

static void fill_hosts(const struct res_fleet_input *input, struct res_fleet *fleet)
{
    size_t count;
    struct group *groups = groups_of(input, &count);
    double *shares = shares_of(input, groups, count);
    fleet->of_time = of_what(groups, shares, count, false);
    fleet->of_memory = of_what(groups, shares, count, true);
    fleet->hosts = res_calloc(count + 1, sizeof *fleet->hosts);
    fleet->host_count = count;
    for (size_t i = 0; i < count; i++) {
        fill_host(&groups[i], fleet, &fleet->hosts[i]);
        fleet->hosts[i].share = shares[i];
    }
    const double between[2] = {between_blocks(groups, count, fleet, false),
                               between_blocks(groups, count, fleet, true)};
    for (size_t i = 0; i < count; i++) {
        struct res_fleet_host *host = &fleet->hosts[i];
        host->entries = res_calloc(fleet->candidate_count, sizeof *host->entries);
        host->entry_count = fleet->candidate_count;
        for (size_t k = 0; k < fleet->candidate_count; k++)
            fill_entry(&groups[i], host, k, between, &host->entries[k]);
    }
    free(shares);
    free(groups);
}

void res_fleet_finish(const struct res_fleet_input *input, struct res_fleet *ret_fleet)
{
    res_described_init(&RES_FLEET, ret_fleet);
    ret_fleet->baseline = res_strdup(input->candidates[0]);
    ret_fleet->weights = input->weights;
    ret_fleet->all_hosts = input->all_hosts;
    ret_fleet->candidates = res_calloc(input->candidate_count, sizeof *ret_fleet->candidates);
    ret_fleet->candidate_count = input->candidate_count;
    for (size_t i = 0; i < input->candidate_count; i++) {
        res_described_init(&RES_FLEET_CANDIDATE, &ret_fleet->candidates[i]);
        ret_fleet->candidates[i].name = res_strdup(input->candidates[i]);
    }
    fill_machines(input, &ret_fleet->machines);
    fill_hosts(input, ret_fleet);
    ret_fleet->loser_limit = ret_fleet->of_time == RES_FLEET_OF_PROCESS ? RES_SAVING_WORTH
                                                                        : RES_FLEET_LOSES_MALLOC;
    res_fleet_candidates_fill(ret_fleet);
}

void res_fleet_of_result(struct res_result *result)
{
    if (result->fleet != NULL)
        res_fleet_release(result->fleet);
    free(result->fleet);
    result->fleet = NULL;
    if (result->workload_count < 2 || result->workloads[0].candidate_count < 2 ||
        result->workloads[0].candidate_count > RES_FLEET_CANDIDATES_MOST)
        return;
    const struct res_result_workload *first = &result->workloads[0];
    const char **names = res_calloc(first->candidate_count + 1, sizeof *names);
    for (size_t i = 0; i < first->candidate_count; i++)
        names[i] = first->candidates[i].name;
    struct res_fleet_input *input = res_fleet_begin(
        &(struct res_fleet_asked){.candidates = names, .candidate_count = first->candidate_count});
    size_t taken = 0;
    for (size_t i = 0; i < result->workload_count; i++) {
        char *problem = NULL;
        const struct res_result_workload *workload = &result->workloads[i];
        const struct res_fleet_cell cell = {.label = workload->label, .share = NAN, .block = i};
        taken += res_fleet_take(input, &cell, result, workload, &problem) == RES_FLEET_TAKEN;
        free(problem);
    }
    if (taken > 1) {
        result->fleet = res_calloc(1, sizeof *result->fleet);
        res_fleet_finish(input, result->fleet);
    }
    res_fleet_input_free(input);
    free(names);
}
