/* fleet.c - results are taken, what a fleet needs of each is kept, and joined when all are there. */
#include "results/measure/fleet/fleet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/measure/base/lives.h"
#include "results/measure/figures/figures.h"

/* The hosts stand by label and digest, with figures of malloc until it is finished. */
struct res_fleet_input {
    struct res_fleet fleet;
    size_t capacity; /* of hosts */
};

struct res_fleet_input *res_fleet_begin(const struct res_result_workload *first)
{
    const size_t count = first->candidate_count < RES_FLEET_CANDIDATES_MOST ? first->candidate_count
                                                                            : RES_FLEET_CANDIDATES_MOST;
    struct res_fleet_input *input = res_calloc(1, sizeof *input);
    struct res_fleet *fleet = &input->fleet;
    res_described_init(&RES_FLEET, fleet);
    fleet->baseline = res_strdup(first->candidates[0].name);
    fleet->candidates = res_calloc(count, sizeof *fleet->candidates);
    fleet->candidate_count = count;
    for (size_t i = 0; i < count; i++) {
        res_described_init(&RES_FLEET_CANDIDATE, &fleet->candidates[i]);
        fleet->candidates[i].name = res_strdup(first->candidates[i].name);
    }
    return input;
}

void res_fleet_input_free(struct res_fleet_input *input)
{
    if (input != NULL)
        res_fleet_release(&input->fleet);
    free(input);
}

/* ---- taking ---------------------------------------------------------------------------------- */

/* A host without a label is known by its digest alone: its name is for people. */
static int order_of(const struct res_fleet_host *host, const struct res_result_workload *workload,
                    size_t twin)
{
    const int order = res_key_compare(host->is_labelled ? host->label : NULL, host->key, workload->label,
                                      res_workload_key(workload));
    return order != 0 ? order : (host->twin > twin) - (host->twin < twin);
}

/* Counts those of its key, of other files, that stand before it in its result. */
static size_t twin_of(const struct res_result *result, const struct res_result_workload *workload)
{
    size_t twin = 0;
    for (const struct res_result_workload *one = result->workloads; one < workload; one++)
        twin += res_key_compare(one->label, res_workload_key(one), workload->label,
                                res_workload_key(workload)) == 0 &&
                one->file_digest != NULL && strcmp(one->file_digest, workload->file_digest) != 0;
    return twin;
}

/* The place where a host stands, or would. */
static size_t place_of(const struct res_fleet *fleet, const struct res_result_workload *workload, size_t twin)
{
    size_t low = 0, high = fleet->host_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (order_of(&fleet->hosts[middle], workload, twin) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void make_place(struct res_fleet_input *input, size_t at)
{
    struct res_fleet *fleet = &input->fleet;
    if (fleet->host_count == input->capacity) {
        input->capacity = input->capacity > 0 ? 2 * input->capacity : 16;
        fleet->hosts = res_realloc(fleet->hosts, input->capacity, sizeof *fleet->hosts);
    }
    memmove(fleet->hosts + at + 1, fleet->hosts + at, (fleet->host_count - at) * sizeof *fleet->hosts);
    fleet->hosts[at] = (struct res_fleet_host){.label = NULL};
    fleet->host_count++;
}

char *res_machine_kind(const struct res_machine *machine)
{
    const char *cpu = machine->cpu != NULL ? machine->cpu : "processor not known";
    const char *architecture = machine->architecture != NULL ? machine->architecture : "";
    const char *comma = machine->architecture != NULL ? ", " : "";
    return machine->cpus > 0 ? res_printf("%s, %.0f cpu%s%s%s", cpu, machine->cpus,
                                          machine->cpus == 1 ? "" : "s", comma, architecture)
                             : res_printf("%s%s%s", cpu, comma, architecture);
}

/* The logarithm of the table's figure, of a result that was published without its runs from the interval that it has; its error is known
 * where a verdict would be. */
static struct res_logarithm logarithm_of(const struct res_difference *told, uint64_t rounds, uint64_t needed)
{
    struct res_logarithm found = {told->ratio > 0 ? log(told->ratio) : NAN, NAN, 0};
    if (told->logarithm.freedom > 0)
        found = told->logarithm;
    else if (told->ratio > 0 && rounds > 1 && rounds < RES_SERIES_MAX && told->interval.low > 0 &&
             isfinite(told->interval.high))
        found = res_logarithm_told(told->ratio, told->interval, (size_t)rounds - 1);
    found.error = rounds >= needed ? found.error : NAN;
    return found;
}

static struct res_fleet_difference difference_of(struct res_logarithm logarithm)
{
    const struct res_interval interval = res_logarithm_estimate(logarithm).interval;
    return (struct res_fleet_difference){.ratio = exp(logarithm.value),
                                         .low = interval.low,
                                         .high = interval.high,
                                         .error = logarithm.error,
                                         .freedom = logarithm.freedom};
}

static void take_entry(const struct res_result_workload *workload, const char *name,
                       struct res_fleet_entry *ret_entry)
{
    const struct res_result_entry *entry = res_result_entry_named(workload, name);
    const struct res_result_entry *base = &workload->candidates[0];
    const uint64_t memory_rounds = entry != NULL && workload->memory_rounds > 0 ? entry->resident_rounds
                                                                                : workload->rounds;
    struct res_logarithm time = {0, 0, 1}, peak = {0, 0, 1};
    res_described_init(&RES_FLEET_ENTRY, ret_entry);
    if (base->failed != NULL)
        ret_entry->failed = res_printf("the baseline failed: %s", base->failed);
    else if (entry == NULL)
        ret_entry->failed = res_strdup("not measured");
    else
        ret_entry->failed = res_strdup(entry->failed);
    if (ret_entry->failed != NULL)
        return;
    if (entry != base) {
        time = logarithm_of(&entry->figures.time, workload->rounds, RES_ROUNDS_FOR_VERDICT);
        peak = logarithm_of(&entry->figures.peak, memory_rounds, res_rounds_for_memory(workload));
    }
    ret_entry->time = difference_of(time);
    ret_entry->peak = difference_of(entry->predicted ? peak : RES_NO_LOGARITHM);
    ret_entry->files_bytes = fmax(entry->figures.start_file_bytes - base->figures.start_file_bytes, 0);
    ret_entry->starts_ns = res_starts_more_ns(workload, entry);
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
               ? res_strdup(workload->candidates[0].not_predicted_why != NULL
                                ? workload->candidates[0].not_predicted_why
                                : "memory is not predicted")
               : NULL;
}

static struct res_fleet_host host_of(const struct res_fleet *fleet, const struct res_result *result,
                                     const struct res_result_workload *workload, double share,
                                     uint64_t created)
{
    const struct res_result_entry *base = &workload->candidates[0];
    const double rss_bytes = res_rss_peak_of(workload);
    const bool is_labelled = workload->label != NULL && *workload->label != '\0';
    struct res_fleet_host host = {
        .label = res_strdup(is_labelled ? workload->label : workload->name),
        .is_labelled = is_labelled,
        .created = created,
        .workload = res_strdup(workload->name),
        .file_digest = res_strdup(workload->file_digest),
        .key = res_strdup(res_workload_key(workload)),
        .twin = twin_of(result, workload),
        .program = res_strdup(workload->program),
        .machine = res_machine_kind(&result->machine),
        .share = share,
        .calls_ns = base->failed == NULL ? res_calls_ns(workload, base) : NAN,
        .cpu_ns = res_baseline_cpu_ns(result, workload),
        .heap_bytes = base->failed == NULL ? base->figures.peak_bytes : NAN,
        .no_trust_time = res_strdup(workload->no_trust_time),
        .no_trust_memory = no_trust_memory(workload),
        .entries = res_calloc(fleet->candidate_count, sizeof *host.entries),
        .entry_count = fleet->candidate_count,
    };
    /* A NAN counts for nothing. */
    host.whole_bytes = isfinite(rss_bytes) ? fmax(rss_bytes, host.heap_bytes) : NAN;
    host.malloc_time = host.calls_ns / host.cpu_ns;
    host.malloc_memory = host.heap_bytes / host.whole_bytes;
    for (size_t i = 0; i < host.entry_count; i++)
        take_entry(workload, fleet->candidates[i].name, &host.entries[i]);
    return host;
}

enum res_fleet_taken res_fleet_take(struct res_fleet_input *input, const struct res_result *result,
                                    const struct res_result_workload *workload, double share,
                                    uint64_t created, char **ret_problem)
{
    struct res_fleet *fleet = &input->fleet;
    if (workload->candidate_count == 0 || strcmp(fleet->baseline, result->baseline) != 0 ||
        strcmp(fleet->baseline, workload->candidates[0].name) != 0) {
        *ret_problem = res_printf("its baseline is %s, not %s", result->baseline, fleet->baseline);
        return RES_FLEET_REFUSED;
    }
    if (workload->file_digest == NULL) {
        *ret_problem = res_strdup("it does not say which workload it is of (file_digest)");
        return RES_FLEET_REFUSED;
    }
    const size_t twin = twin_of(result, workload), at = place_of(fleet, workload, twin);
    const bool is_there = at < fleet->host_count && order_of(&fleet->hosts[at], workload, twin) == 0;
    if (is_there && fleet->hosts[at].created == created)
        return RES_FLEET_DOUBLED;
    if (!is_there)
        make_place(input, at);
    struct res_fleet_host *host = &fleet->hosts[at];
    const uint64_t results = host->results + 1;
    if (!is_there || host->created < created) {
        res_described_release(&RES_FLEET_HOST, host);
        *host = host_of(fleet, result, workload, share, created);
    }
    host->results = results;
    return RES_FLEET_TAKEN;
}

/* ---- of the process -------------------------------------------------------------------------- */

/* A ratio of a part of the whole becomes one of the whole. added: to the numerator, over the whole. */
static void make_whole(struct res_fleet_difference *difference, double part, double added)
{
    const double ratio = difference->ratio, whole = 1 + part * (ratio - 1) + added;
    *difference = difference_of(whole > 0 ? (struct res_logarithm){log(whole),
                                                                   difference->error * part * ratio / whole,
                                                                   difference->freedom}
                                          : RES_NO_LOGARITHM);
}

static bool knows(const struct res_fleet_host *host, bool memory)
{
    return isfinite(memory ? host->whole_bytes : host->cpu_ns);
}

/* Figures of a host are of what the fleet's are of, if it knows that. */
static void finish_host(const struct res_fleet *fleet, struct res_fleet_host *host)
{
    host->of_time = knows(host, false) ? fleet->of_time : RES_FLEET_OF_MALLOC;
    host->of_memory = knows(host, true) ? fleet->of_memory : RES_FLEET_OF_MALLOC;
    const bool whole_time = host->of_time == RES_FLEET_OF_PROCESS;
    const bool whole_memory = host->of_memory == RES_FLEET_OF_PROCESS;
    for (size_t i = 0; i < host->entry_count; i++) {
        struct res_fleet_entry *entry = &host->entries[i];
        if (entry->failed != NULL)
            continue;
        if (whole_time)
            make_whole(&entry->time, host->malloc_time, entry->starts_ns / host->cpu_ns);
        if (whole_memory)
            make_whole(&entry->peak, host->malloc_memory, entry->files_bytes / host->whole_bytes);
        entry->cpu_ns = entry->time.ratio * (whole_time ? host->cpu_ns : host->calls_ns);
        entry->peak_bytes = entry->peak.ratio * (whole_memory ? host->whole_bytes : host->heap_bytes);
    }
}

/* If some shares are given, a host without one has none. */
static void fill_shares(struct res_fleet *fleet)
{
    double sum = 0;
    bool any_given = false;
    for (size_t i = 0; i < fleet->host_count; i++)
        any_given = any_given || isfinite(fleet->hosts[i].share);
    for (size_t i = 0; i < fleet->host_count; i++) {
        double *share = &fleet->hosts[i].share;
        *share = !any_given ? 1 : isfinite(*share) ? fmax(*share, 0) : 0;
        sum += *share;
    }
    for (size_t i = 0; i < fleet->host_count && sum > 0; i++)
        fleet->hosts[i].share /= sum;
}

/* The base of the fleet's figures: the process where hosts with at least half of the shares know it. */
static int of_what(const struct res_fleet *fleet, bool memory)
{
    double known = 0;
    for (size_t i = 0; i < fleet->host_count; i++)
        known += knows(&fleet->hosts[i], memory) ? fleet->hosts[i].share : 0;
    return known >= 0.5 - 1e-9 ? RES_FLEET_OF_PROCESS : RES_FLEET_OF_MALLOC;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int by_name(const void *left, const void *right)
{
    const struct res_fleet_host *one = left, *other = right;
    return res_key_compare(one->label, one->file_digest, other->label, other->file_digest);
}

void res_fleet_finish(struct res_fleet_input *input, struct res_fleet *ret_fleet)
{
    struct res_fleet *fleet = &input->fleet;
    for (size_t i = 0; i < fleet->host_count; i++)
        res_texts_take_once(&fleet->machines, res_strdup(fleet->hosts[i].machine));
    if (fleet->host_count > 0)
        qsort(fleet->hosts, fleet->host_count, sizeof *fleet->hosts, by_name);
    fill_shares(fleet);
    fleet->of_time = of_what(fleet, false);
    fleet->of_memory = of_what(fleet, true);
    for (size_t i = 0; i < fleet->host_count; i++)
        finish_host(fleet, &fleet->hosts[i]);
    fleet->loser_limit = fleet->of_time == RES_FLEET_OF_PROCESS ? RES_SAVING_WORTH : RES_FLEET_LOSES_MALLOC;
    res_fleet_candidates_fill(fleet);
    *ret_fleet = *fleet;
    *fleet = (struct res_fleet){.schema = NULL};
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
    struct res_fleet_input *input = res_fleet_begin(&result->workloads[0]);
    size_t taken = 0;
    for (size_t i = 0; i < result->workload_count; i++) {
        RES_FREED char *problem = NULL;
        taken += res_fleet_take(input, result, &result->workloads[i], NAN, i, &problem) == RES_FLEET_TAKEN;
    }
    if (taken > 1) {
        result->fleet = res_calloc(1, sizeof *result->fleet);
        res_fleet_finish(input, result->fleet);
    }
    res_fleet_input_free(input);
}
