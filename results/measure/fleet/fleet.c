/* fleet.c - results are taken, what a fleet needs of each is kept, and joined when all are there. */
#include "results/measure/fleet/fleet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/measure/base/lives.h"
#include "results/measure/figures/figures.h"

/* One candidate of a result: ratios are of the time in malloc and of the heap. */
struct side {
    struct res_logarithm time, peak; /* value NAN: there is none; error NAN: too few rounds for an interval */
    double files;                    /* bytes of files in memory beyond the baseline's */
    double starts_ns;                /* that starts of its processes take more than under the baseline */
};

/* The part of a host's newest result that is kept. */
struct source {
    char *label; /* "": none */
    uint64_t created;
    struct res_fleet_host
        host; /* share: as given, NAN: not; of its entries why they failed, and the heap's mean */
    double calls_ns, cpu_ns;      /* of the baseline in malloc; of the process, NAN: not known */
    double heap_bytes, rss_bytes; /* likewise at the peak, rss as recorded */
    double whole_bytes;           /* of the process there, no less than its heap; NAN: not known */
    struct side *sides;           /* by candidate */
};

struct res_fleet_input {
    struct res_texts candidates;
    struct source **sources; /* by label and digest, until they are joined */
    size_t count, capacity;
};

struct res_fleet_input *res_fleet_begin(const char *const *candidates, size_t count)
{
    struct res_fleet_input *input = res_calloc(1, sizeof *input);
    for (size_t i = 0; i < count; i++)
        res_texts_take(&input->candidates, res_text_plain(candidates[i]));
    return input;
}

static void source_free(struct source *source)
{
    res_described_release(&RES_FLEET_HOST, &source->host);
    free(source->sides);
    free(source->label);
    free(source);
}

void res_fleet_input_free(struct res_fleet_input *input)
{
    if (input == NULL)
        return;
    for (size_t i = 0; i < input->count; i++)
        source_free(input->sources[i]);
    res_texts_release(&input->candidates);
    free(input->sources);
    free(input);
}

/* ---- taking ---------------------------------------------------------------------------------- */

static int order_of(const struct source *source, const char *label, const char *digest)
{
    return res_key_compare(source->label, source->host.file_digest, label, digest);
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

static void take_side(const struct res_result_workload *workload, const char *name, struct side *ret_side,
                      struct res_fleet_entry *ret_entry)
{
    const struct res_result_entry *entry = res_result_entry_named(workload, name);
    const struct res_result_entry *base = &workload->candidates[0];
    *ret_side = (struct side){.time = {0, 0, 1}, .peak = {0, 0, 1}};
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
        ret_side->time = logarithm_of(&entry->figures.time, workload->rounds, RES_ROUNDS_FOR_VERDICT);
        ret_side->peak = logarithm_of(&entry->figures.peak,
                                      workload->memory_rounds > 0 ? entry->resident_rounds : workload->rounds,
                                      res_rounds_for_memory(workload));
    }
    if (!entry->predicted)
        ret_side->peak = RES_NO_LOGARITHM;
    ret_side->files = fmax(entry->figures.start_file_bytes - base->figures.start_file_bytes, 0);
    ret_side->starts_ns = res_starts_more_ns(workload, entry);
    ret_entry->mean_bytes = entry->figures.mean_bytes;
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
    const struct res_result_entry *base = &workload->candidates[0];
    const size_t count = input->candidates.count;
    struct source *source = res_calloc(1, sizeof *source);
    struct res_fleet_host *host = &source->host;
    *source = (struct source){
        .label = res_strdup(label),
        .created = cell->created,
        .calls_ns = base->failed == NULL ? res_calls_ns(workload, base) : NAN,
        .cpu_ns = res_baseline_cpu_ns(result, workload),
        .heap_bytes = base->failed == NULL ? base->figures.peak_bytes : NAN,
        .rss_bytes = res_rss_peak_of(workload),
        .sides = res_calloc(count, sizeof *source->sides),
    };
    /* A NAN counts for nothing. */
    source->whole_bytes = isfinite(source->rss_bytes) ? fmax(source->rss_bytes, source->heap_bytes) : NAN;
    *host = (struct res_fleet_host){
        .label = res_strdup(*label != '\0' ? label : workload->name),
        .workload = res_strdup(workload->name),
        .file_digest = res_strdup(workload->file_digest),
        .program = res_strdup(workload->program),
        .machine = res_machine_kind(&result->machine),
        .share = cell->share,
        .results = 1,
        .malloc_time = source->calls_ns / source->cpu_ns,
        .malloc_memory = source->heap_bytes / source->whole_bytes,
        .no_trust_time = res_strdup(workload->no_trust_time),
        .no_trust_memory = no_trust_memory(workload),
        .entries = res_calloc(count, sizeof *host->entries),
        .entry_count = count,
    };
    for (size_t i = 0; i < count; i++)
        take_side(workload, input->candidates.items[i], &source->sides[i], &host->entries[i]);
    return source;
}

enum res_fleet_taken res_fleet_take(struct res_fleet_input *input, const struct res_fleet_cell *cell,
                                    const struct res_result *result,
                                    const struct res_result_workload *workload, char **ret_problem)
{
    const char *baseline = input->candidates.items[0];
    if (workload->candidate_count == 0 || strcmp(baseline, result->baseline) != 0 ||
        strcmp(baseline, workload->candidates[0].name) != 0) {
        *ret_problem = res_printf("its baseline is %s, not %s", result->baseline, baseline);
        return RES_FLEET_REFUSED;
    }
    if (workload->file_digest == NULL) {
        *ret_problem = res_strdup("it does not say which workload it is of (file_digest)");
        return RES_FLEET_REFUSED;
    }
    RES_FREED char *label = res_text_plain(cell->label != NULL ? cell->label : "");
    const size_t at = place_of(input, label, workload->file_digest);
    const bool is_there = at < input->count &&
                          order_of(input->sources[at], label, workload->file_digest) == 0;
    const uint64_t before = is_there ? input->sources[at]->host.results : 0;
    const bool is_same = is_there && input->sources[at]->created == cell->created;
    if (!is_there) {
        insert(input, at, source_of(input, cell, label, result, workload));
    } else if (input->sources[at]->created < cell->created) {
        source_free(input->sources[at]);
        input->sources[at] = source_of(input, cell, label, result, workload);
    }
    if (!is_same)
        input->sources[at]->host.results = before + 1;
    return is_same ? RES_FLEET_DOUBLED : RES_FLEET_TAKEN;
}

/* ---- of the process -------------------------------------------------------------------------- */

/* A ratio of a part of the whole, as one of the whole. added: to the numerator, over the whole. */
static struct res_logarithm of_whole(struct res_logarithm of_part, double part, double added)
{
    const double ratio = exp(of_part.value), whole = 1 + part * (ratio - 1) + added;
    if (!(whole > 0))
        return RES_NO_LOGARITHM;
    return (struct res_logarithm){log(whole), of_part.error * part * ratio / whole, of_part.freedom};
}

static bool knows(const struct source *source, bool memory)
{
    return isfinite(memory ? source->rss_bytes : source->cpu_ns);
}

static struct res_logarithm figure_of(const struct source *source, size_t candidate, bool memory, bool whole)
{
    const struct side *side = &source->sides[candidate];
    const struct res_logarithm figure = memory ? side->peak : side->time;
    if (!whole || candidate == 0 || !isfinite(figure.value))
        return figure;
    return memory ? of_whole(figure, source->host.malloc_memory, side->files / source->whole_bytes)
                  : of_whole(figure, source->host.malloc_time, side->starts_ns / source->cpu_ns);
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

static void fill_entry(const struct source *source, size_t candidate, struct res_fleet_entry *entry)
{
    const bool whole_time = source->host.of_time == RES_FLEET_OF_PROCESS;
    const bool whole_memory = source->host.of_memory == RES_FLEET_OF_PROCESS;
    if (entry->failed != NULL)
        return;
    entry->time = difference_of(figure_of(source, candidate, false, whole_time));
    entry->peak = difference_of(figure_of(source, candidate, true, whole_memory));
    entry->cpu_ns = entry->time.ratio * (whole_time ? source->cpu_ns : source->calls_ns);
    entry->peak_bytes = entry->peak.ratio * (whole_memory ? source->whole_bytes : source->heap_bytes);
    /* The rest beside the heap is over recorded time as it is at the peak. */
    if (whole_memory)
        entry->mean_bytes += source->whole_bytes - source->heap_bytes + source->sides[candidate].files;
}

/* If some shares are given, a host without one has none. */
static void fill_shares(struct res_fleet_input *input)
{
    double sum = 0;
    bool any_given = false;
    for (size_t i = 0; i < input->count; i++)
        any_given = any_given || isfinite(input->sources[i]->host.share);
    for (size_t i = 0; i < input->count; i++) {
        double *share = &input->sources[i]->host.share;
        *share = !any_given ? 1 : isfinite(*share) ? fmax(*share, 0) : 0;
        sum += *share;
    }
    for (size_t i = 0; i < input->count && sum > 0; i++)
        input->sources[i]->host.share /= sum;
}

/* The base of the fleet's figures: the process where hosts with at least half of the shares know it. */
static int of_what(const struct res_fleet_input *input, bool memory)
{
    double known = 0;
    for (size_t i = 0; i < input->count; i++)
        known += knows(input->sources[i], memory) ? input->sources[i]->host.share : 0;
    return known >= 0.5 - 1e-9 ? RES_FLEET_OF_PROCESS : RES_FLEET_OF_MALLOC;
}

/* Its figures are of what the fleet's are of, if it knows that. They are the fleet's then. */
static void give_host(struct source *source, const struct res_fleet *fleet, struct res_fleet_host *ret_host)
{
    struct res_fleet_host *host = &source->host;
    host->of_time = knows(source, false) ? fleet->of_time : RES_FLEET_OF_MALLOC;
    host->of_memory = knows(source, true) ? fleet->of_memory : RES_FLEET_OF_MALLOC;
    for (size_t i = 0; i < host->entry_count; i++)
        fill_entry(source, i, &host->entries[i]);
    *ret_host = *host;
    *host = (struct res_fleet_host){.label = NULL};
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int by_name(const void *left, const void *right)
{
    const struct res_fleet_host *one = &(*(struct source *const *)left)->host;
    const struct res_fleet_host *other = &(*(struct source *const *)right)->host;
    return res_key_compare(one->label, one->file_digest, other->label, other->file_digest);
}

void res_fleet_finish(struct res_fleet_input *input, struct res_fleet *ret_fleet)
{
    const size_t count = input->candidates.count;
    res_described_init(&RES_FLEET, ret_fleet);
    ret_fleet->baseline = res_strdup(input->candidates.items[0]);
    ret_fleet->candidates = res_calloc(count, sizeof *ret_fleet->candidates);
    ret_fleet->candidate_count = count;
    for (size_t i = 0; i < count; i++) {
        res_described_init(&RES_FLEET_CANDIDATE, &ret_fleet->candidates[i]);
        ret_fleet->candidates[i].name = res_strdup(input->candidates.items[i]);
    }
    for (size_t i = 0; i < input->count; i++)
        res_texts_take_once(&ret_fleet->machines, res_strdup(input->sources[i]->host.machine));
    if (input->count > 0)
        qsort(input->sources, input->count, sizeof *input->sources, by_name);
    fill_shares(input);
    ret_fleet->of_time = of_what(input, false);
    ret_fleet->of_memory = of_what(input, true);
    ret_fleet->hosts = res_calloc(input->count + 1, sizeof *ret_fleet->hosts);
    ret_fleet->host_count = input->count;
    for (size_t i = 0; i < input->count; i++)
        give_host(input->sources[i], ret_fleet, &ret_fleet->hosts[i]);
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
        RES_FREED char *problem = NULL;
        const struct res_result_workload *workload = &result->workloads[i];
        const struct res_fleet_cell cell = {.label = workload->label, .share = NAN, .created = i};
        taken += res_fleet_take(input, &cell, result, workload, &problem) == RES_FLEET_TAKEN;
    }
    if (taken > 1) {
        result->fleet = res_calloc(1, sizeof *result->fleet);
        res_fleet_finish(input, result->fleet);
    }
    res_fleet_input_free(input);
    free(names);
}
