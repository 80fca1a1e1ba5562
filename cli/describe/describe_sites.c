/* describe_sites.c - sites counted, block by block: the survey of a file does without them. */
#include "cli/describe/describe.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/base/json_bounds.h"
#include "footprint/base/part_name.h"
#include "footprint/base/support.h"
#include "footprint/base/words.h"
#include "footprint/fp/footprint.h"
#include "footprint/wl/workload.h"

struct counts {
    bool any; /* some footprint has stacks */
    uint64_t stacks, allocations;
    uint64_t unsampled;         /* more allocations, which are not in the sample that has stacks */
    uint64_t cut[FP_CUT_COUNT]; /* allocations; FP_CUT_NONE: without any stack */
};

/* One process' stacks, which several files may tell of: numbers are the same in all of its parts, and the last one has all nodes. */
struct process_counts {
    uint64_t
        *allocations; /* by site; as many as there may be, of which the system gives those that are used */
    struct fp_reader *last;
};

static void count_blocks(struct fp_reader *reader, struct process_counts *process)
{
    const struct fp_reader_info *info = fp_reader_info(reader);
    struct fp_block_buffer buffer = {0};
    struct fp_block block;
    for (size_t i = 0; i < info->block_count; i++) {
        if (fp_reader_block(reader, i, &buffer, &block) != FP_OK || block.sites == NULL)
            continue; /* the survey has told of it */
        for (uint32_t k = 0; k < block.mark_count; k++) {
            const enum fp_call_kind kind = fp_call_kind_of(block.shapes[block.marks[k].shape].call);
            if (kind == FP_KIND_ALLOCATE || kind == FP_KIND_RESIZE)
                process->allocations[block.sites[k]]++;
        }
    }
    fp_block_buffer_release(&buffer);
}

static void count_file(const char *path, struct process_counts *process)
{
    struct fp_reader *reader = NULL;
    if (fp_reader_open(path, NULL, &reader) != FP_OK)
        return; /* likewise */
    if (fp_reader_info(reader)->sites != NULL && process->allocations == NULL)
        process->allocations = calloc(FP_SITES_MAX, sizeof *process->allocations);
    if (fp_reader_info(reader)->sites == NULL || process->allocations == NULL) {
        fp_reader_close(reader);
        return;
    }
    count_blocks(reader, process);
    fp_reader_close(process->last);
    process->last = reader;
}

/* ---- sites ----------------------------------------------------------------------------------- */

static void add_sites(const struct fp_sites *sites, const uint64_t *allocations, uint32_t end,
                      struct counts *counts)
{
    uint8_t *cuts = res_calloc(end,
                               sizeof *cuts); /* of each site that of its caller, which comes before it */
    for (uint32_t site = 0; site < end; site++) {
        cuts[site] = site < FP_SITE_FIRST ? fp_site_cut(sites, site)
                                          : cuts[fp_site_node_at(sites, site).parent];
        if (allocations[site] == 0)
            continue;
        const enum fp_cut cut = cuts[site];
        if (site == FP_CUT_UNSAMPLED) {
            counts->unsampled += allocations[site];
            continue;
        }
        counts->allocations += allocations[site];
        counts->stacks += site >= FP_SITE_FIRST;
        if (site == 0 || cut != FP_CUT_NONE)
            counts->cut[cut] += allocations[site];
    }
    free(cuts);
    counts->any = true;
}

static void add_process(struct process_counts *process, struct counts *counts)
{
    if (process->last != NULL)
        add_sites(fp_reader_info(process->last)->sites, process->allocations, FP_SITES_MAX, counts);
    fp_reader_close(process->last);
    free(process->allocations);
}

static void count_process(const struct conv_survey *survey, const struct conv_process *listed,
                          struct counts *counts)
{
    struct process_counts process = {0};
    char path[CONV_PATH_BYTES + 512];
    char stem[256];
    uint32_t window;
    (void)snprintf(path, sizeof path, "%s/%s", survey->input, listed->file); /* cut, it is not there */
    const bool is_part = fp_part_name(listed->file, sizeof stem, stem, &window) && window != 0;
    if (!is_part)
        count_file(path, &process);
    for (size_t i = 0; is_part && i < survey->window_list_count; i++) {
        (void)snprintf(path, sizeof path, "%s/%s.w%04u.fp", survey->input, stem,
                       survey->window_list[i].number);
        count_file(path, &process);
    }
    add_process(&process, counts);
}

static void count_windows(struct wl_reader *reader, uint64_t *allocations)
{
    struct wl_window window;
    while (wl_reader_next(reader, &window) == FP_OK)
        for (uint32_t i = 0; i < window.op_count; i++)
            if (fp_call_kind_of(window.ops[i].call) != FP_KIND_RELEASE)
                allocations[window.sites[i]]++;
}

/* What is damaged the survey has told of. */
static void count_workload(const char *path, struct counts *counts)
{
    struct wl_reader *reader = NULL;
    struct wl_stacks stacks;
    if (wl_reader_open_sites(path, NULL, &reader) != FP_OK)
        return;
    const uint32_t end = wl_reader_site_end(reader);
    uint64_t *allocations = res_calloc((size_t)end + 1, sizeof *allocations);
    if (end > 0 && wl_reader_stacks(reader, &stacks) == FP_OK) {
        count_windows(reader, allocations);
        add_sites(&stacks.sites, allocations, end, counts);
        wl_stacks_release(&stacks);
    }
    free(allocations);
    wl_reader_close(reader);
}

static struct counts count(const struct conv_survey *survey)
{
    struct counts counts = {0};
    struct process_counts process = {0};
    if (survey->kind == CONV_KIND_FOOTPRINT) {
        count_file(survey->input, &process);
        add_process(&process, &counts);
    }
    if (survey->kind == CONV_KIND_WORKLOAD)
        count_workload(survey->input, &counts);
    for (size_t i = 0; survey->kind == CONV_KIND_RECORDING && i < survey->process_count; i++)
        if (!survey->processes[i].absent && !survey->processes[i].missing)
            count_process(survey, &survey->processes[i], &counts);
    return counts;
}

static const char *name_of(unsigned cut)
{
    return cut == FP_CUT_NONE ? "none" : fp_cut_name(cut);
}

void cli_sites_json(json_t *object, const struct conv_survey *survey)
{
    const struct counts counts = count(survey);
    if (!counts.any)
        return;
    json_t *cut = json_object();
    for (unsigned i = 0; i < FP_CUT_COUNT; i++)
        if (counts.cut[i] > 0)
            cli_json_set(cut, name_of(i), counts.cut[i]);
    cli_json_set(object, "sites", counts.stacks);
    cli_json_set(object, "cut", cut);
    if (counts.unsampled > 0)
        cli_json_set(object, "unsampled", counts.unsampled);
}

char *cli_sites_words(const struct conv_survey *survey, bool details)
{
    const struct counts counts = count(survey);
    char text[512] = "";
    uint64_t all = 0;
    size_t used = 0;
    for (unsigned i = 0; i < FP_CUT_COUNT; i++)
        all += counts.cut[i];
    if (counts.any)
        used = (size_t)snprintf(text, sizeof text, "%s, of %s allocations%s%s; %s of those are cut",
                                FP_GROUPED(counts.stacks), FP_GROUPED(counts.allocations),
                                counts.unsampled > 0 ? " sampled of " : "",
                                counts.unsampled > 0 ? FP_GROUPED(counts.allocations + counts.unsampled) : "",
                                all > 0 ? FP_GROUPED(all) : "none");
    for (unsigned i = 0; details && i < FP_CUT_COUNT && used < sizeof text; i++)
        if (counts.cut[i] > 0)
            used += (size_t)snprintf(text + used, sizeof text - used, ", %s %s", FP_GROUPED(counts.cut[i]),
                                     name_of(i));
    return res_strdup(text);
}
