/* fleet_blocks.c - what is kept of each cell. */
#include "results/measure/fleet/fleet.h"

#include <stdlib.h>
#include <string.h>

#include "results/measure/figures/figures.h"

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

static void block_free(struct res_fleet_block *block, size_t candidate_count)
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

static int order_of(const struct res_fleet_block *block, const char *label, const char *digest,
                    uint64_t number)
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

static void insert(struct res_fleet_input *input, size_t at, struct res_fleet_block *block)
{
    if (input->count == input->capacity) {
        input->capacity = input->capacity > 0 ? 2 * input->capacity : 16;
        input->blocks = res_realloc(input->blocks, input->capacity, sizeof *input->blocks);
    }
    memmove(input->blocks + at + 1, input->blocks + at, (input->count - at) * sizeof *input->blocks);
    input->blocks[at] = block;
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

/* Of a result that was published without its runs: of the interval that it has. */
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

/* What the table's figure is made of; its error is known where a verdict would be. */
static struct res_logarithm logarithm_of(const struct res_difference *difference, uint64_t rounds,
                                         uint64_t needed)
{
    struct res_logarithm found = difference->logarithm.freedom > 0 ? difference->logarithm
                                                                   : told_by(difference, rounds);
    found.error = rounds >= needed ? found.error : NAN;
    return found;
}

static void take_side(const struct res_result_workload *workload, const char *name,
                      struct res_fleet_side *ret_side)
{
    const struct res_result_entry *entry = res_result_entry_named(workload, name);
    const struct res_result_entry *base = &workload->candidates[0];
    *ret_side = (struct res_fleet_side){.time = NO_LOGARITHM, .peak = NO_LOGARITHM, .mean_bytes = NAN};
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

static struct res_fleet_block *block_of(const struct res_fleet_input *input,
                                        const struct res_fleet_cell *cell, const char *label,
                                        const struct res_result *result,
                                        const struct res_result_workload *workload)
{
    const struct res_process *process = res_whole_process(workload);
    const struct res_result_entry *base = &workload->candidates[0];
    struct res_fleet_block *block = res_calloc(1, sizeof *block);
    *block = (struct res_fleet_block){
        .label = res_strdup(label),
        .digest = res_strdup(workload->file_digest),
        .workload = res_strdup(workload->name),
        .program = res_strdup(workload->program),
        .machine = res_machine_kind(&result->machine),
        .no_trust_time = res_strdup(workload->no_trust_time),
        .no_trust_memory = no_trust_memory(workload),
        .number = cell->block,
        .share = cell->share,
        .calls_ns = base->failed == NULL ? res_calls_ns(workload, base) : NAN,
        .cpu_ns = res_baseline_cpu_ns(result, workload),
        .heap_bytes = base->failed == NULL ? base->figures.peak_bytes : NAN,
        .whole_bytes = NAN,
        .rss_bytes = process != NULL && process->rss_peak_bytes >= 1 ? process->rss_peak_bytes : NAN,
        .sides = res_calloc(input->candidate_count, sizeof *block->sides),
    };
    if (isfinite(block->rss_bytes))
        block->whole_bytes = fmax(block->rss_bytes, block->heap_bytes); /* NAN counts for nothing */
    for (size_t i = 0; i < input->candidate_count; i++)
        take_side(workload, input->candidates[i], &block->sides[i]);
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
    char *label = res_text_plain(cell->label != NULL ? cell->label : "");
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

static double time_part(const struct res_fleet_block *block)
{
    return block->calls_ns / block->cpu_ns;
}

const char *res_block_name(const struct res_fleet_block *block)
{
    return *block->label != '\0' ? block->label : block->workload;
}

bool res_block_knows(const struct res_fleet_block *block, bool memory)
{
    return isfinite(memory ? block->rss_bytes : block->cpu_ns);
}

struct res_logarithm res_block_figure(const struct res_fleet_block *block, size_t candidate, bool memory,
                                      int of)
{
    const struct res_fleet_side *side = &block->sides[candidate];
    const struct res_logarithm figure = memory ? side->peak : side->time;
    if (of == RES_FLEET_OF_MALLOC || candidate == 0 || !isfinite(figure.value))
        return figure;
    return memory ? of_whole(figure, block->heap_bytes / block->whole_bytes, side->files / block->whole_bytes)
                  : of_whole(figure, time_part(block), side->starts_ns / block->cpu_ns);
}
