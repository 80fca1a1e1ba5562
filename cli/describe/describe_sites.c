/* describe_sites.c - sites counted, block by block: the survey of a file does without them. */
#include "cli/describe/describe_sites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/json_bounds.h"
#include "footprint/base/support.h"
#include "footprint/base/words.h"
#include "footprint/fp/footprint.h"

struct counts {
    bool any; /* some footprint has stacks */
    uint64_t stacks, allocations;
    uint64_t cut[FP_CUT_COUNT]; /* allocations; FP_CUT_NONE: without any stack */
};

static void count_blocks(struct fp_reader *reader, uint64_t *allocations, struct counts *counts)
{
    const struct fp_reader_info *info = fp_reader_info(reader);
    struct fp_block_buffer buffer = {0};
    struct fp_block block;
    for (size_t i = 0; i < info->block_count; i++) {
        if (fp_reader_block(reader, i, &buffer, &block) != FP_OK || block.sites == NULL)
            continue; /* the survey has told of it */
        for (uint32_t k = 0; k < block.mark_count; k++) {
            const uint32_t shape = block.marks[k].shape, site = block.sites[shape];
            const enum fp_call_kind kind = fp_call_kind_of(block.shapes[shape].call);
            if (kind != FP_KIND_ALLOCATE && kind != FP_KIND_RESIZE)
                continue;
            counts->allocations++;
            if (site < info->sites->node_end)
                allocations[site]++;
            else
                counts->cut[FP_CUT_LOST]++;
        }
    }
    fp_block_buffer_release(&buffer);
}

static void count_footprint(const char *path, struct counts *counts)
{
    struct fp_reader *reader = NULL;
    if (fp_reader_open(path, NULL, &reader) != FP_OK)
        return; /* likewise */
    const struct fp_sites *sites = fp_reader_info(reader)->sites;
    uint64_t *allocations = sites != NULL ? calloc(sites->node_end, sizeof *allocations) : NULL;
    if (allocations != NULL) {
        counts->any = true;
        count_blocks(reader, allocations, counts);
        for (uint32_t site = 0; site < sites->node_end; site++) {
            const enum fp_cut cut = fp_site_cut(sites, site);
            counts->stacks += site >= FP_SITE_FIRST && allocations[site] > 0;
            if (site == 0 || cut != FP_CUT_NONE)
                counts->cut[cut] += allocations[site];
        }
    }
    free(allocations);
    fp_reader_close(reader);
}

static struct counts count(const struct conv_survey *survey)
{
    struct counts counts = {0};
    char path[CONV_PATH_BYTES + 512];
    if (survey->kind == CONV_KIND_FOOTPRINT)
        count_footprint(survey->input, &counts);
    for (size_t i = 0; survey->kind == CONV_KIND_RECORDING && i < survey->process_count; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", survey->input,
                       survey->processes[i].file); /* cut, it is not there */
        if (!survey->processes[i].absent && !survey->processes[i].missing)
            count_footprint(path, &counts);
    }
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
        used = (size_t)snprintf(text, sizeof text, "%s, of %s allocations; %s of those are cut",
                                FP_GROUPED(counts.stacks), FP_GROUPED(counts.allocations),
                                all > 0 ? FP_GROUPED(all) : "none");
    for (unsigned i = 0; details && i < FP_CUT_COUNT && used < sizeof text; i++)
        if (counts.cut[i] > 0)
            used += (size_t)snprintf(text + used, sizeof text - used, ", %s %s", FP_GROUPED(counts.cut[i]),
                                     name_of(i));
    return res_strdup(text);
}
