/* fpdump.c - print what a footprint holds, as JSON, for the tests of the recorder.
 *
 *   fpdump FILE            counts by call, by lane, losses, completeness, order checks
 *   fpdump --marks FILE    each mark as a line: lane epoch call address size extra
 *   fpdump --stacks FILE   each site as a line: allocations, how it is cut or '-', call, size in all, frames from the innermost on as
 *                          MODULE+OFFSET, where MODULE is its file's name ('' the program) or '?'
 *
 * Reads with fp_reader only; whatever it finds wrong it says and exits with 1. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/fp/footprint.h"
#include "unit/site_module.h"

struct totals {
    uint64_t by_call[64];
    uint64_t events;
    uint64_t epoch_decreases, time_decreases, sequence_jumps;
    uint64_t *lane_marks, *lane_epoch, *lane_time, *lane_sequence;
};

static void say_marks(const struct fp_block *block)
{
    for (uint32_t i = 0; i < block->mark_count; i++) {
        const struct fp_shape *shape = &block->shapes[block->marks[i].shape];
        printf("%u %" PRIu64 " %s %" PRIx64 " %" PRIu64 " %" PRIu64 "\n", block->lane,
               block->base_epoch + block->marks[i].epoch, fp_call_name(shape->call), block->marks[i].address,
               shape->size, shape->extra);
    }
}

struct stacks {
    uint64_t *allocations, *bytes; /* by site */
};

static void add_stacks(struct stacks *stacks, const struct fp_block *block)
{
    for (uint32_t i = 0; i < block->mark_count; i++) {
        const struct fp_shape *shape = &block->shapes[block->marks[i].shape];
        const uint32_t site = block->sites != NULL ? block->sites[i] : 0;
        if (fp_call_kind_of(shape->call) != FP_KIND_ALLOCATE &&
            fp_call_kind_of(shape->call) != FP_KIND_RESIZE)
            continue;
        stacks->allocations[site]++;
        stacks->bytes[site] += fp_shape_bytes(shape);
    }
}

static void say_stacks(const struct stacks *stacks, const struct fp_sites *sites)
{
    static const struct fp_sites none = {.node_end = FP_SITE_FIRST};
    sites = sites != NULL ? sites : &none;
    for (uint32_t site = 0; site < FP_SITES_MAX; site++) {
        const char *cut = fp_cut_name(fp_site_cut(sites, site));
        if (stacks->allocations[site] == 0)
            continue;
        printf("%" PRIu64 "\t%s\t%" PRIu64, stacks->allocations[site],
               site == 0     ? "none"
               : cut != NULL ? cut
                             : "-",
               stacks->bytes[site]);
        for (uint32_t at = site; at >= FP_SITE_FIRST; at = fp_site_node_at(sites, at).parent) {
            const struct fp_site_node node = fp_site_node_at(sites, at);
            const struct fp_module *module = fp_site_module(sites, &node);
            const char *name = module == NULL ? "?" : strrchr(module->path, '/');
            printf("\t%s+%" PRIx64,
                   module == NULL ? "?"
                   : name != NULL ? name + 1
                                  : module->path,
                   node.address - (module != NULL ? module->base : 0));
        }
        printf("\n");
    }
}

static void add_block(struct totals *totals, const struct fp_block *block)
{
    uint64_t *epoch = &totals->lane_epoch[block->lane], *time = &totals->lane_time[block->lane];
    totals->sequence_jumps += block->sequence != totals->lane_sequence[block->lane];
    totals->lane_sequence[block->lane] = block->sequence + 1;
    for (uint32_t i = 0; i < block->stamp_count; i++) {
        totals->time_decreases += block->stamps[i].time_ns < *time;
        *time = block->stamps[i].time_ns;
    }
    for (uint32_t i = 0; i < block->mark_count; i++) {
        const struct fp_shape *shape = &block->shapes[block->marks[i].shape];
        const uint64_t now = block->base_epoch + block->marks[i].epoch;
        totals->epoch_decreases += now < *epoch;
        *epoch = now;
        totals->by_call[shape->call & 63]++;
        totals->events += shape->call < FP_CALL_COUNT;
    }
    totals->lane_marks[block->lane] += block->mark_count;
}

/* Its numbers and words, and the series as [time, rss, anonymous, processor time]. */
static json_t *usage_json(const struct fp_usage *usage)
{
    struct fp_usage copy = *usage;
    json_t *points = json_array();
    for (uint32_t i = 0; i < usage->point_count; i++)
        json_array_append_new(points,
                              json_pack("[IIII]", usage->points[i].time_ns, usage->points[i].rss_bytes,
                                        usage->points[i].rss_anon_bytes, usage->points[i].cpu_ns));
    json_t *json = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:o}", "ended", fp_ended_name(usage->ended),
                             "how", fp_runs_on_name(usage->runs_on), "allocator", usage->allocator, "version",
                             usage->version, "library", usage->library, "kernel", usage->machine.kernel,
                             "points", points);
    for (size_t i = 0; i < FP_USAGE_NUMBER_COUNT; i++)
        if (*fp_usage_at(&copy, &FP_USAGE_NUMBERS[i]) != FP_USAGE_UNKNOWN)
            json_object_set_new(json, FP_USAGE_NUMBERS[i].key,
                                json_integer((json_int_t)*fp_usage_at(&copy, &FP_USAGE_NUMBERS[i])));
    return json;
}

/* Those that are not 0, by name. */
static json_t *named_json(const uint64_t *numbers, unsigned count, const char *(*name)(unsigned))
{
    json_t *json = json_object();
    for (unsigned i = 0; i < count; i++)
        if (numbers[i] != 0)
            json_object_set_new(json, name(i), json_integer((json_int_t)numbers[i]));
    return json;
}

static void say_totals(const struct fp_reader *reader, const struct totals *totals)
{
    const struct fp_reader_info *info = fp_reader_info(reader);
    json_t *lane_marks = json_array(), *lanes = json_array(), *meta = json_object();
    for (uint32_t lane = 0; lane < info->lane_count; lane++)
        json_array_append_new(lane_marks, json_integer((json_int_t)totals->lane_marks[lane]));
    for (uint32_t lane = 0; lane < info->trailer.lane_count; lane++)
        json_array_append_new(lanes, json_pack("{s:b, s:I}", "main", info->trailer.lanes[lane].is_main,
                                               "marks", info->trailer.lanes[lane].marks));
    for (size_t i = 0; i < info->meta_count; i++)
        json_object_set_new(meta, info->meta[i].key, json_string(info->meta[i].value));
    json_t *json = json_pack("{s:i, s:I, s:i, s:b, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o}", "pid",
                             info->process_id, "events", totals->events, "lanes", info->lane_count,
                             "has_trailer", info->has_trailer, "file_bytes", info->file_bytes,
                             "epoch_decreases", totals->epoch_decreases, "time_decreases",
                             totals->time_decreases, "sequence_jumps", totals->sequence_jumps, "calls",
                             named_json(totals->by_call, 64, fp_call_name), "lost",
                             named_json(info->trailer.lost, FP_LOSS_COUNT, fp_loss_name), "lane_marks",
                             lane_marks, "trailer_lanes", lanes, "meta", meta);
    if (info->usage != NULL)
        json_object_set_new(json, "usage", usage_json(info->usage));
    json_dumpf(json, stdout, 0);
    json_decref(json);
}

int main(int argc, char **argv)
{
    const int only_marks = argc == 3 && strcmp(argv[1], "--marks") == 0;
    const int only_stacks = argc == 3 && strcmp(argv[1], "--stacks") == 0;
    struct fp_reader *reader;
    struct fp_error error = {0};
    struct fp_block_buffer buffer = {0};
    const struct fp_reader_info *info;
    struct totals totals = {0};
    char text[512];

    struct stacks stacks = {calloc(FP_SITES_MAX, sizeof(uint64_t)), calloc(FP_SITES_MAX, sizeof(uint64_t))};
    if (stacks.allocations == NULL || stacks.bytes == NULL)
        return 1;
    if (argc != 2 + only_marks + only_stacks)
        return 2;
    if (fp_reader_open(argv[argc - 1], &error, &reader) != FP_OK) {
        fprintf(stderr, "fpdump: %s\n", fp_error_text(&error, argv[argc - 1], text, sizeof text));
        return 1;
    }
    info = fp_reader_info(reader);
    totals.lane_marks = calloc(info->lane_count + 1, sizeof(uint64_t));
    totals.lane_epoch = calloc(info->lane_count + 1, sizeof(uint64_t));
    totals.lane_time = calloc(info->lane_count + 1, sizeof(uint64_t));
    totals.lane_sequence = calloc(info->lane_count + 1, sizeof(uint64_t));
    for (size_t i = 0; i < info->block_count; i++) {
        struct fp_block block;
        if (fp_reader_block(reader, i, &buffer, &block) != FP_OK) {
            fprintf(stderr, "fpdump: %s\n",
                    fp_error_text(fp_reader_error(reader), argv[argc - 1], text, sizeof text));
            return 1;
        }
        if (only_stacks)
            add_stacks(&stacks, &block);
        if (only_marks)
            say_marks(&block);
        else
            add_block(&totals, &block);
    }
    if (only_stacks)
        say_stacks(&stacks, info->sites);
    if (!only_marks && !only_stacks)
        say_totals(reader, &totals);
    fp_block_buffer_release(&buffer);
    fp_reader_close(reader);
    free(stacks.allocations);
    free(stacks.bytes);
    free(totals.lane_marks);
    free(totals.lane_epoch);
    free(totals.lane_time);
    free(totals.lane_sequence);
    return 0;
}
