/* fleet.c - cells are taken, and joined to hosts. */
#include "results/measure/fleet/fleet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/measure/figures/metric.h"
#include "results/measure/figures/verdict.h"
#include "results/measure/fleet/fleet_candidates.h"
#include "results/measure/statistics/significance.h"

/* ---- what is kept of a cell ------------------------------------------------------------------- */

/* One candidate: ratios are of the time in malloc and of the heap. */
struct side {
    char *failed;
    struct res_logarithm time, peak; /* value NAN: there is none; error NAN: too few rounds for an interval */
    double files;                    /* bytes of files in memory beyond the baseline's */
    double mean_bytes;
};

struct block {
    char *label, *digest, *workload, *program, *machine, *no_trust_time, *no_trust_memory;
    uint64_t number;
    double share;                 /* NAN: not given */
    double calls_ns, cpu_ns;      /* of the baseline in malloc; of the process, NAN: not known */
    double heap_bytes, rss_bytes; /* likewise at the peak */
    struct side *sides;           /* by candidate */
};

struct res_fleet_input {
    char **candidates;
    size_t candidate_count;
    int weights;
    bool all_hosts;
    struct block **blocks; /* by label, digest and number */
    size_t count, capacity;
};

struct res_fleet_input *res_fleet_begin(const struct res_fleet_asked *asked)
{
    struct res_fleet_input *input = res_calloc(1, sizeof *input);
    input->candidates = res_calloc(asked->candidate_count + 1, sizeof *input->candidates);
    for (size_t i = 0; i < asked->candidate_count; i++)
        input->candidates[i] = res_text_plain(asked->candidates[i]);
    input->candidate_count = asked->candidate_count;
    input->weights = asked->weights;
    input->all_hosts = asked->all_hosts;
    return input;
}

static void block_free(struct block *block, size_t candidate_count)
{
    for (size_t i = 0; i < candidate_count; i++)
        free(block->sides[i].failed);
    free(block->sides);
    free(block->label);
    free(block->digest);
    free(block->workload);
    free(block->program);
    free(block->machine);
    free(block->no_trust_time);
    free(block->no_trust_memory);
    free(block);
}

void res_fleet_input_free(struct res_fleet_input *input)
{
    if (input == NULL)
        return;
    for (size_t i = 0; i < input->count; i++)
        block_free(input->blocks[i], input->candidate_count);
    for (size_t i = 0; i < input->candidate_count; i++)
        free(input->candidates[i]);
    free(input->blocks);
    free(input->candidates);
    free(input);
}

/* ---- taking ---------------------------------------------------------------------------------- */

static int order_of(const struct block *block, const char *label, const char *digest, uint64_t number)
{
    const int by_label = strcmp(block->label, label);
    const int by_digest = by_label != 0 ? by_label : strcmp(block->digest, digest);
    return by_digest != 0 ? by_digest : (block->number > number) - (block->number < number);
}

/* Where it stands, or would. */
static size_t place_of(const struct res_fleet_input *input, const char *label, const char *digest,
                       uint64_t number)
{
    size_t low = 0, high = input->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (order_of(input->blocks[middle], label, digest, number) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void insert(struct res_fleet_input *input, size_t at, struct block *block)
{
    if (input->count == input->capacity) {
        input->capacity = input->capacity > 0 ? 2 * input->capacity : 16;
        input->blocks = res_realloc(input->blocks, input->capacity, sizeof *input->blocks);
    }
    memmove(input->blocks + at + 1, input->blocks + at, (input->count - at) * sizeof *input->blocks);
    input->blocks[at] = block;
    input->count++;
}

static char *copy_of(const char *words)
{
    return words != NULL ? res_strdup(words) : NULL;
}

static char *machine_kind(const struct res_machine *machine)
{
    const char *cpu = machine->cpu != NULL ? machine->cpu : "processor not known";
    const char *architecture = machine->architecture != NULL ? machine->architecture : "";
    const char *comma = machine->architecture != NULL ? ", " : "";
    return machine->cpus > 0 ? res_printf("%s, %.0f cpu%s%s%s", cpu, machine->cpus,
                                          machine->cpus == 1 ? "" : "s", comma, architecture)
                             : res_printf("%s%s%s", cpu, comma, architecture);
}

static const struct res_logarithm NO_LOGARITHM = {NAN, NAN, 0};

/* The table's figure, with its error from the rounds; of a result without batches from its interval. */
static struct res_logarithm time_of(const struct res_result_workload *workload,
                                    const struct res_result_entry *entry, const struct res_series *base)
{
    const struct res_difference *time = &entry->figures.time;
    struct res_series own = res_series_of(workload, entry, RES_METRIC_TIME);
    struct res_logarithm found = res_series_has_time(&own) ? res_series_logarithm(&own, base) : NO_LOGARITHM;
    res_series_release(&own);
    if (!isfinite(found.value) && time->ratio > 0) {
        found = (struct res_logarithm){log(time->ratio), NAN, 0};
        if (workload->rounds > 1 && time->interval.low > 0 && isfinite(time->interval.high)) {
            found.freedom = (double)workload->rounds - 1;
            found.error = log(time->interval.high / time->interval.low) / 2 /
                          res_student_quantile((size_t)workload->rounds - 1);
        }
    }
    if (workload->rounds < RES_ROUNDS_FOR_VERDICT)
        found.error = NAN;
    return found;
}

/* Of the heap, of its Student's interval. */
static struct res_logarithm peak_of(const struct res_result_workload *workload,
                                    const struct res_result_entry *entry)
{
    const struct res_difference *peak = &entry->figures.peak;
    const uint64_t rounds = workload->memory_rounds > 0 ? entry->resident_rounds : workload->rounds;
    const uint64_t needed = workload->memory_rounds > 0 ? RES_ROUNDS_FOR_MEMORY : RES_ROUNDS_FOR_VERDICT;
    struct res_logarithm found = {peak->ratio > 0 ? log(peak->ratio) : NAN, NAN, 0};
    if (rounds >= needed && rounds < RES_SERIES_MAX && peak->interval.low > 0 &&
        isfinite(peak->interval.high)) {
        found.freedom = (double)rounds - 1;
        found.error = log(peak->interval.high / peak->interval.low) / 2 /
                      res_student_quantile((size_t)rounds - 1);
    }
    return found;
}

static double at_least_0(double value)
{
    return value > 0 ? value : 0;
}

/* series: the baseline's. */
static void take_side(const struct res_result_workload *workload, const struct res_series *series,
                      const char *name, struct side *ret_side)
{
    const struct res_result_entry *entry = res_result_entry_named(workload, name);
    const struct res_result_entry *base = &workload->candidates[0];
    *ret_side = (struct side){.time = NO_LOGARITHM, .peak = NO_LOGARITHM, .mean_bytes = NAN};
    if (base->failed != NULL)
        ret_side->failed = res_printf("the baseline failed: %s", base->failed);
    else if (entry == NULL)
        ret_side->failed = res_strdup("not measured");
    else if (entry->failed != NULL)
        ret_side->failed = res_strdup(entry->failed);
    if (ret_side->failed != NULL)
        return;
    ret_side->time = entry == base ? (struct res_logarithm){0, 0, 1} : time_of(workload, entry, series);
    ret_side->peak = entry == base ? (struct res_logarithm){0, 0, 1} : peak_of(workload, entry);
    ret_side->files = at_least_0(entry->figures.start_file_bytes - base->figures.start_file_bytes);
    ret_side->mean_bytes = entry->figures.mean_bytes;
    if (!entry->predicted)
        ret_side->peak = NO_LOGARITHM;
}

static char *no_trust_memory(const struct res_result_workload *workload)
{
    static const char *const LIVES[] = {
        [RES_LIVE_FROM_MIDDLE] = "it was recorded from its middle on",
        [RES_LIVE_PAUSED] = "its recording paused",
        [RES_LIVE_LEFT_BEHIND] = "its processes are merged, and ended with much in memory",
    };
    if (workload->no_trust_memory != NULL)
        return res_strdup(workload->no_trust_memory);
    if (workload->live > RES_LIVE_KNOWN && workload->live <= RES_LIVE_LEFT_BEHIND)
        return res_strdup(LIVES[workload->live]);
    return workload->candidates[0].failed == NULL && !workload->candidates[0].predicted
               ? copy_of(workload->candidates[0].not_predicted_why != NULL
                             ? workload->candidates[0].not_predicted_why
                             : "memory is not predicted")
               : NULL;
}

static struct block *block_of(const struct res_fleet_input *input, const struct res_fleet_cell *cell,
                              const char *label, const struct res_result *result,
                              const struct res_result_workload *workload)
{
    const struct res_process *process = res_whole_process(workload);
    const struct res_result_entry *base = &workload->candidates[0];
    struct block *block = res_calloc(1, sizeof *block);
    *block = (struct block){
        .label = res_strdup(label),
        .digest = res_strdup(workload->file_digest),
        .workload = copy_of(workload->name),
        .program = copy_of(workload->program),
        .machine = machine_kind(&result->machine),
        .no_trust_time = copy_of(workload->no_trust_time),
        .no_trust_memory = no_trust_memory(workload),
        .number = cell->block,
        .share = cell->share,
        .calls_ns = base->failed == NULL ? res_calls_ns(workload, base) : NAN,
        .cpu_ns = res_process_cpu(result, workload).ns,
        .heap_bytes = base->failed == NULL ? base->figures.peak_bytes : NAN,
        .rss_bytes = process != NULL && process->rss_peak_bytes >= 1 ? process->rss_peak_bytes : NAN,
        .sides = res_calloc(input->candidate_count, sizeof *block->sides),
    };
    struct res_series series = res_series_of(workload, base, RES_METRIC_TIME);
    for (size_t i = 0; i < input->candidate_count; i++)
        take_side(workload, &series, input->candidates[i], &block->sides[i]);
    res_series_release(&series);
    return block;
}

enum res_fleet_taken res_fleet_take(struct res_fleet_input *input, const struct res_fleet_cell *cell,
                                    const struct res_result *result,
                                    const struct res_result_workload *workload, char **ret_problem)
{
    if (workload->candidate_count == 0 || strcmp(input->candidates[0], result->baseline) != 0 ||
        strcmp(input->candidates[0], workload->candidates[0].name) != 0) {
        *ret_problem = res_printf("its baseline is %s, not %s", result->baseline, input->candidates[0]);
        return RES_FLEET_REFUSED;
    }
    if (workload->file_digest == NULL) {
        *ret_problem = res_strdup("it does not say which workload it is of (file_digest)");
        return RES_FLEET_REFUSED;
    }
    char *label = res_text_plain(cell->label);
    const size_t at = place_of(input, label, workload->file_digest, cell->block);
    const bool is_there = at < input->count &&
                          order_of(input->blocks[at], label, workload->file_digest, cell->block) == 0;
    if (!is_there)
        insert(input, at, block_of(input, cell, label, result, workload));
    free(label);
    return is_there ? RES_FLEET_DOUBLED : RES_FLEET_TAKEN;
}

/* ---- of the process -------------------------------------------------------------------------- */

/* A ratio of a part of the whole, as one of the whole. added: to the numerator, over the whole. */
static struct res_logarithm of_whole(struct res_logarithm of_part, double part, double added)
{
    const double ratio = exp(of_part.value), whole = 1 + part * (ratio - 1) + added;
    if (!(whole > 0))
        return NO_LOGARITHM;
    return (struct res_logarithm){log(whole), of_part.error * part * ratio / whole, of_part.freedom};
}

static double time_part(const struct block *block)
{
    return block->calls_ns / block->cpu_ns;
}

static double whole_bytes(const struct block *block)
{
    return fmax(block->rss_bytes, block->heap_bytes); /* NAN counts for nothing */
}

static bool knows(const struct block *block, bool memory)
{
    return isfinite(memory ? block->rss_bytes : block->cpu_ns);
}

/* A side's figure of what the host's figures are of. The baseline's is exact. */
static struct res_logarithm figure_of(const struct block *block, size_t candidate, bool memory, int of)
{
    const struct side *side = &block->sides[candidate];
    const struct res_logarithm figure = memory ? side->peak : side->time;
    if (of == RES_FLEET_OF_MALLOC || candidate == 0 || !isfinite(figure.value))
        return figure;
    return memory ? of_whole(figure, block->heap_bytes / whole_bytes(block), side->files / whole_bytes(block))
                  : of_whole(figure, time_part(block), 0);
}

/* ---- blocks of a host ------------------------------------------------------------------------ */

/* blocks[0 .. count) of one host. */
struct group {
    struct block *const *blocks;
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

static struct group *groups_of(const struct res_fleet_input *input, size_t *ret_count)
{
    struct group *groups = res_calloc(input->count + 1, sizeof *groups);
    *ret_count = 0;
    for (size_t begin = 0, end; begin < input->count; begin = end) {
        end = group_end(input, begin);
        groups[(*ret_count)++] = (struct group){input->blocks + begin, end - begin};
    }
    return groups;
}

static bool group_knows(const struct group *group, bool memory)
{
    bool all = true;
    for (size_t i = 0; i < group->count; i++)
        all = all && knows(group->blocks[i], memory);
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
        const struct res_logarithm figure = figure_of(group->blocks[i], candidate, memory, of);
        joined.mean += figure.value / (double)group->count;
        joined.errors += figure.error * figure.error / (double)group->count;
        joined.freedom += figure.freedom;
    }
    for (size_t i = 0; i < group->count; i++)
        joined.squares += pow(figure_of(group->blocks[i], candidate, memory, of).value - joined.mean, 2);
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
    return freedom > 0 ? at_least_0(sum / freedom) : 0;
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
#define FIRST(group, member) first_text(group, offsetof(struct block, member))

static char *first_text(const struct group *group, size_t offset)
{
    for (size_t i = 0; i < group->count; i++) {
        const char *text = *(char *const *)(const void *)((const char *)group->blocks[i] + offset);
        if (text != NULL)
            return res_strdup(text);
    }
    return NULL;
}

static double mean_over(const struct group *group, double (*figure)(const struct block *block))
{
    double sum = 0;
    for (size_t i = 0; i < group->count; i++)
        sum += figure(group->blocks[i]) / (double)group->count;
    return sum;
}

static double calls_of(const struct block *block)
{
    return block->calls_ns;
}

static double cpu_of(const struct block *block)
{
    return block->cpu_ns;
}

static double heap_of(const struct block *block)
{
    return block->heap_bytes;
}

static double rss_of(const struct block *block)
{
    return isfinite(block->rss_bytes) ? whole_bytes(block) : NAN;
}

/* Over recorded time: of the process with what is not heap as it is at the peak. */
static double mean_bytes(const struct group *group, size_t candidate, int of)
{
    double sum = 0;
    for (size_t i = 0; i < group->count; i++) {
        const struct block *block = group->blocks[i];
        const struct side *side = &block->sides[candidate];
        sum += side->mean_bytes +
               (of == RES_FLEET_OF_PROCESS ? whole_bytes(block) - block->heap_bytes + side->files : 0);
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
    ret_entry->failed = copy_of(failure_of(group, candidate));
    if (ret_entry->failed != NULL)
        return;
    const struct joined time = join(group, candidate, false, host->of_time);
    const struct joined peak = join(group, candidate, true, host->of_memory);
    ret_entry->time = difference_of(&time, candidate > 0 ? between[0] : 0);
    ret_entry->peak = difference_of(&peak, candidate > 0 ? between[1] : 0);
    ret_entry->cpu_ns = ret_entry->time.ratio *
                        mean_over(group, host->of_time == RES_FLEET_OF_PROCESS ? cpu_of : calls_of);
    ret_entry->peak_bytes = ret_entry->peak.ratio *
                            mean_over(group, host->of_memory == RES_FLEET_OF_PROCESS ? rss_of : heap_of);
    ret_entry->mean_bytes = mean_bytes(group, candidate, host->of_memory);
}

/* All but its entries. Of what its figures are: of what the fleet's are, if it knows that. */
static void fill_host(const struct group *group, const struct res_fleet *fleet,
                      struct res_fleet_host *ret_host)
{
    res_described_init(&RES_FLEET_HOST, ret_host);
    ret_host->label = res_strdup(group->blocks[0]->label);
    ret_host->file_digest = res_strdup(group->blocks[0]->digest);
    ret_host->workload = FIRST(group, workload);
    ret_host->program = FIRST(group, program);
    ret_host->machine = FIRST(group, machine);
    ret_host->no_trust_time = FIRST(group, no_trust_time);
    ret_host->no_trust_memory = FIRST(group, no_trust_memory);
    ret_host->blocks = group->count;
    ret_host->of_time = group_knows(group, false) ? fleet->of_time : RES_FLEET_OF_MALLOC;
    ret_host->of_memory = group_knows(group, true) ? fleet->of_memory : RES_FLEET_OF_MALLOC;
    ret_host->malloc_time = mean_over(group, calls_of) / mean_over(group, cpu_of);
    ret_host->malloc_memory = mean_over(group, heap_of) / mean_over(group, rss_of);
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
                             : input->weights == RES_WEIGHTS_CPU   ? mean_over(&groups[i], cpu_of)
                             : input->weights == RES_WEIGHTS_BYTES ? mean_over(&groups[i], rss_of)
                                                                   : 1;
        shares[i] = isfinite(share) ? at_least_0(share) : 0;
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
    ret_fleet->loser_limit = ret_fleet->of_time == RES_FLEET_OF_PROCESS ? RES_FLEET_LOSES
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
        const struct res_fleet_cell cell = {
            .label = workload->label != NULL ? workload->label : workload->name, .share = NAN, .block = i};
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
