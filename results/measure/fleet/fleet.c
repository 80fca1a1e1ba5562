/* fleet.c - results are taken, what a fleet needs of each is kept, and joined when all are there. */
#include "results/measure/fleet/fleet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/measure/figures/figures.h"

/* One candidate of a result: ratios are of the time in malloc and of the heap. */
struct side {
    char *failed;
    struct res_logarithm time, peak; /* value NAN: there is none; error NAN: too few rounds for an interval */
    double files;                    /* bytes of files in memory beyond the baseline's */
    double starts_ns;                /* that starts of its processes take more than under the baseline */
    double mean_bytes;
};

/* The part of a host's newest result that is kept. */
struct source {
    char *label; /* "": none */
    char *digest, *workload, *program, *machine, *no_trust_time, *no_trust_memory;
    uint64_t created, results;
    double share;                 /* NAN: not given */
    double calls_ns, cpu_ns;      /* of the baseline in malloc; of the process, NAN: not known */
    double heap_bytes, rss_bytes; /* likewise at the peak, rss as recorded */
    double whole_bytes;           /* of the process there, no less than its heap; NAN: not known */
    struct side *sides;           /* by candidate */
};

struct res_fleet_input {
    char **candidates;
    size_t candidate_count;
    struct source **sources; /* by label and digest, until they are joined */
    size_t count, capacity;
};

struct res_fleet_input *res_fleet_begin(const char *const *candidates, size_t count)
{
    struct res_fleet_input *input = res_calloc(1, sizeof *input);
    input->candidates = res_calloc(count + 1, sizeof *input->candidates);
    for (size_t i = 0; i < count; i++)
        input->candidates[i] = res_text_plain(candidates[i]);
    input->candidate_count = count;
    return input;
}

static void source_free(struct source *source, size_t candidate_count)
{
    for (size_t i = 0; i < candidate_count; i++)
        free(source->sides[i].failed);
    free(source->sides);
    free(source->label);
    free(source->digest);
    free(source->workload);
    free(source->program);
    free(source->machine);
    free(source->no_trust_time);
    free(source->no_trust_memory);
    free(source);
}

void res_fleet_input_free(struct res_fleet_input *input)
{
    if (input == NULL)
        return;
    for (size_t i = 0; i < input->count; i++)
        source_free(input->sources[i], input->candidate_count);
    for (size_t i = 0; i < input->candidate_count; i++)
        free(input->candidates[i]);
    free(input->sources);
    free(input->candidates);
    free(input);
}

/* ---- taking ---------------------------------------------------------------------------------- */

static int order_of(const struct source *source, const char *label, const char *digest)
{
    const int by_label = strcmp(source->label, label);
    return by_label != 0 ? by_label : strcmp(source->digest, digest);
}

/* The place where a label stands, or would. */
static size_t place_of(const struct res_fleet_input *input, const char *label, const char *digest)
{
    size_t low = 0, high = input->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (order_of(input->sources[middle], label, digest) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void insert(struct res_fleet_input *input, size_t at, struct source *source)
{
    if (input->count == input->capacity) {
        input->capacity = input->capacity > 0 ? 2 * input->capacity : 16;
        input->sources = res_realloc(input->sources, input->capacity, sizeof *input->sources);
    }
    memmove(input->sources + at + 1, input->sources + at, (input->count - at) * sizeof *input->sources);
    input->sources[at] = source;
    input->count++;
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

static const struct res_logarithm NO_LOGARITHM = {NAN, NAN, 0};

/* The logarithm of a result that was published without its runs, from the interval that it has. */
static struct res_logarithm told_by(const struct res_difference *told, uint64_t rounds)
{
    struct res_logarithm found = {told->ratio > 0 ? log(told->ratio) : NAN, NAN, 0};
    if (rounds > 1 && rounds < RES_SERIES_MAX && told->interval.low > 0 && isfinite(told->interval.high)) {
        found.freedom = (double)rounds - 1;
        found.error = log(told->interval.high / told->interval.low) / 2 /
                      res_student_quantile((size_t)rounds - 1);
    }
    return found;
}

/* The logarithm of the table's figure; its error is known where a verdict would be. */
static struct res_logarithm logarithm_of(const struct res_difference *difference, uint64_t rounds,
                                         uint64_t needed)
{
    struct res_logarithm found = difference->logarithm.freedom > 0 ? difference->logarithm
                                                                   : told_by(difference, rounds);
    found.error = rounds >= needed ? found.error : NAN;
    return found;
}

static void take_side(const struct res_result_workload *workload, const char *name, struct side *ret_side)
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
    ret_side->time = ret_side->peak = (struct res_logarithm){0, 0, 1};
    if (entry != base) {
        ret_side->time = logarithm_of(&entry->figures.time, workload->rounds, RES_ROUNDS_FOR_VERDICT);
        ret_side->peak = logarithm_of(&entry->figures.peak,
                                      workload->memory_rounds > 0 ? entry->resident_rounds : workload->rounds,
                                      res_rounds_for_memory(workload));
    }
    ret_side->files = fmax(entry->figures.start_file_bytes - base->figures.start_file_bytes, 0);
    ret_side->starts_ns = res_starts_more_ns(workload, entry);
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
               ? res_strdup(workload->candidates[0].not_predicted_why != NULL
                                ? workload->candidates[0].not_predicted_why
                                : "memory is not predicted")
               : NULL;
}

static struct source *source_of(const struct res_fleet_input *input, const struct res_fleet_cell *cell,
                                const char *label, const struct res_result *result,
                                const struct res_result_workload *workload)
{
    const struct res_process *process = res_whole_process(workload);
    const struct res_result_entry *base = &workload->candidates[0];
    struct source *source = res_calloc(1, sizeof *source);
    *source = (struct source){
        .label = res_strdup(label),
        .digest = res_strdup(workload->file_digest),
        .workload = res_strdup(workload->name),
        .program = res_strdup(workload->program),
        .machine = res_machine_kind(&result->machine),
        .no_trust_time = res_strdup(workload->no_trust_time),
        .no_trust_memory = no_trust_memory(workload),
        .created = cell->created,
        .results = 1,
        .share = cell->share,
        .calls_ns = base->failed == NULL ? res_calls_ns(workload, base) : NAN,
        .cpu_ns = res_baseline_cpu_ns(result, workload),
        .heap_bytes = base->failed == NULL ? base->figures.peak_bytes : NAN,
        .whole_bytes = NAN,
        .rss_bytes = process != NULL && process->rss_peak_bytes >= 1 ? process->rss_peak_bytes : NAN,
        .sides = res_calloc(input->candidate_count, sizeof *source->sides),
    };
    if (isfinite(source->rss_bytes))
        source->whole_bytes = fmax(source->rss_bytes, source->heap_bytes); /* NAN counts for nothing */
    for (size_t i = 0; i < input->candidate_count; i++)
        take_side(workload, input->candidates[i], &source->sides[i]);
    return source;
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
    char *label = res_text_plain(cell->label != NULL ? cell->label : "");
    const size_t at = place_of(input, label, workload->file_digest);
    const bool is_there = at < input->count &&
                          order_of(input->sources[at], label, workload->file_digest) == 0;
    const uint64_t before = is_there ? input->sources[at]->results : 0;
    const bool is_same = is_there && input->sources[at]->created == cell->created;
    if (!is_there) {
        insert(input, at, source_of(input, cell, label, result, workload));
    } else if (input->sources[at]->created < cell->created) {
        source_free(input->sources[at], input->candidate_count);
        input->sources[at] = source_of(input, cell, label, result, workload);
    }
    if (!is_same)
        input->sources[at]->results = before + 1;
    free(label);
    return is_same ? RES_FLEET_DOUBLED : RES_FLEET_TAKEN;
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

static double time_part(const struct source *source)
{
    return source->calls_ns / source->cpu_ns;
}

static const char *name_of(const struct source *source)
{
    return *source->label != '\0' ? source->label : source->workload;
}

static bool knows(const struct source *source, bool memory)
{
    return isfinite(memory ? source->rss_bytes : source->cpu_ns);
}

static struct res_logarithm figure_of(const struct source *source, size_t candidate, bool memory, int of)
{
    const struct side *side = &source->sides[candidate];
    const struct res_logarithm figure = memory ? side->peak : side->time;
    if (of == RES_FLEET_OF_MALLOC || candidate == 0 || !isfinite(figure.value))
        return figure;
    return memory
               ? of_whole(figure, source->heap_bytes / source->whole_bytes, side->files / source->whole_bytes)
               : of_whole(figure, time_part(source), side->starts_ns / source->cpu_ns);
}

/* ---- hosts ----------------------------------------------------------------------------------- */

static struct res_fleet_difference difference_of(struct res_logarithm logarithm)
{
    const struct res_interval interval = res_logarithm_estimate(logarithm).interval;
    return (struct res_fleet_difference){.ratio = exp(logarithm.value),
                                         .low = interval.low,
                                         .high = interval.high,
                                         .error = logarithm.error,
                                         .freedom = logarithm.freedom};
}

static void fill_entry(const struct source *source, const struct res_fleet_host *host, size_t candidate,
                       struct res_fleet_entry *ret_entry)
{
    const struct side *side = &source->sides[candidate];
    const bool whole_time = host->of_time == RES_FLEET_OF_PROCESS;
    const bool whole_memory = host->of_memory == RES_FLEET_OF_PROCESS;
    res_described_init(&RES_FLEET_ENTRY, ret_entry);
    ret_entry->failed = res_strdup(side->failed);
    if (ret_entry->failed != NULL)
        return;
    ret_entry->time = difference_of(figure_of(source, candidate, false, host->of_time));
    ret_entry->peak = difference_of(figure_of(source, candidate, true, host->of_memory));
    ret_entry->cpu_ns = ret_entry->time.ratio * (whole_time ? source->cpu_ns : source->calls_ns);
    ret_entry->peak_bytes = ret_entry->peak.ratio * (whole_memory ? source->whole_bytes : source->heap_bytes);
    /* Memory that is not heap is over recorded time as it is at the peak. */
    ret_entry->mean_bytes = side->mean_bytes +
                            (whole_memory ? source->whole_bytes - source->heap_bytes + side->files : 0);
}

/* Fills a host with figures of the same base as the fleet's, if it knows that. */
static void fill_host(const struct source *source, const struct res_fleet *fleet, double share,
                      struct res_fleet_host *ret_host)
{
    res_described_init(&RES_FLEET_HOST, ret_host);
    ret_host->label = res_strdup(name_of(source));
    ret_host->file_digest = res_strdup(source->digest);
    ret_host->workload = res_strdup(source->workload);
    ret_host->program = res_strdup(source->program);
    ret_host->machine = res_strdup(source->machine);
    ret_host->no_trust_time = res_strdup(source->no_trust_time);
    ret_host->no_trust_memory = res_strdup(source->no_trust_memory);
    ret_host->share = share;
    ret_host->results = source->results;
    ret_host->of_time = knows(source, false) ? fleet->of_time : RES_FLEET_OF_MALLOC;
    ret_host->of_memory = knows(source, true) ? fleet->of_memory : RES_FLEET_OF_MALLOC;
    ret_host->malloc_time = time_part(source);
    ret_host->malloc_memory = source->heap_bytes / source->whole_bytes;
    ret_host->entries = res_calloc(fleet->candidate_count, sizeof *ret_host->entries);
    ret_host->entry_count = fleet->candidate_count;
    for (size_t i = 0; i < fleet->candidate_count; i++)
        fill_entry(source, ret_host, i, &ret_host->entries[i]);
}

/* If some shares are given, a host without one has none. */
static double *shares_of(const struct res_fleet_input *input)
{
    double *shares = res_calloc(input->count + 1, sizeof *shares), sum = 0;
    bool any_given = false;
    for (size_t i = 0; i < input->count; i++)
        any_given = any_given || isfinite(input->sources[i]->share);
    for (size_t i = 0; i < input->count; i++) {
        const double given = input->sources[i]->share;
        shares[i] = !any_given ? 1 : isfinite(given) ? fmax(given, 0) : 0;
        sum += shares[i];
    }
    for (size_t i = 0; i < input->count && sum > 0; i++)
        shares[i] /= sum;
    return shares;
}

/* The base of the fleet's figures: the process where hosts with at least half of the shares know it. */
static int of_what(const struct res_fleet_input *input, const double *shares, bool memory)
{
    double known = 0;
    for (size_t i = 0; i < input->count; i++)
        known += knows(input->sources[i], memory) ? shares[i] : 0;
    return known >= 0.5 - 1e-9 ? RES_FLEET_OF_PROCESS : RES_FLEET_OF_MALLOC;
}

static void fill_machines(const struct res_fleet_input *input, struct res_texts *ret_machines)
{
    for (size_t i = 0; i < input->count; i++) {
        bool is_there = false;
        for (size_t k = 0; k < ret_machines->count; k++)
            is_there = is_there || strcmp(ret_machines->items[k], input->sources[i]->machine) == 0;
        if (!is_there)
            res_texts_add(ret_machines, input->sources[i]->machine);
    }
}

static void fill_hosts(const struct res_fleet_input *input, struct res_fleet *fleet)
{
    double *shares = shares_of(input);
    fleet->of_time = of_what(input, shares, false);
    fleet->of_memory = of_what(input, shares, true);
    fleet->hosts = res_calloc(input->count + 1, sizeof *fleet->hosts);
    fleet->host_count = input->count;
    for (size_t i = 0; i < input->count; i++)
        fill_host(input->sources[i], fleet, shares[i], &fleet->hosts[i]);
    free(shares);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int by_name(const void *left, const void *right)
{
    const struct source *one = *(struct source *const *)left, *other = *(struct source *const *)right;
    const int names = strcmp(name_of(one), name_of(other));
    return names != 0 ? names : strcmp(one->digest, other->digest);
}

void res_fleet_finish(struct res_fleet_input *input, struct res_fleet *ret_fleet)
{
    res_described_init(&RES_FLEET, ret_fleet);
    ret_fleet->baseline = res_strdup(input->candidates[0]);
    ret_fleet->candidates = res_calloc(input->candidate_count, sizeof *ret_fleet->candidates);
    ret_fleet->candidate_count = input->candidate_count;
    for (size_t i = 0; i < input->candidate_count; i++) {
        res_described_init(&RES_FLEET_CANDIDATE, &ret_fleet->candidates[i]);
        ret_fleet->candidates[i].name = res_strdup(input->candidates[i]);
    }
    fill_machines(input, &ret_fleet->machines);
    if (input->count > 0)
        qsort(input->sources, input->count, sizeof *input->sources, by_name);
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
    struct res_fleet_input *input = res_fleet_begin(names, first->candidate_count);
    size_t taken = 0;
    for (size_t i = 0; i < result->workload_count; i++) {
        char *problem = NULL;
        const struct res_result_workload *workload = &result->workloads[i];
        const struct res_fleet_cell cell = {.label = workload->label, .share = NAN, .created = i};
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
