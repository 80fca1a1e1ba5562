/* fpdump.c - print what a footprint holds, as JSON, for the tests of the recorder.
 *
 *   fpdump FILE            counts by call, by lane, losses, completeness, order checks
 *   fpdump --marks FILE    each mark as a line: lane epoch call address size extra
 *   fpdump --stacks FILE   each site as a line: allocations, how it is cut or '-', call, size in all, frames from the innermost on as
 *                          MODULE+OFFSET, where MODULE is its file's name ('' the program) or '?'
 *   fpdump --times FILE    each mark as a line: call, size, the time of the last stamp before it, and 1 where that is its own
 *
 * Reads with fp_reader only; whatever it finds wrong it says and exits with 1. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/fp/footprint.h"
#include "unit/site_module.h"

struct totals {
    uint64_t by_call[64];
    uint64_t events, marks, null_addresses, failed;
    uint64_t requested;
    uint64_t epoch_decreases, time_decreases, sequence_jumps;
    uint64_t *lane_marks, *lane_epoch, *lane_time, *lane_sequence;
};

static void say_string(const char *text)
{
    putchar('"');
    for (; *text != '\0'; text++)
        if (*text == '"' || *text == '\\')
            printf("\\%c", *text);
        else
            putchar(*text);
    putchar('"');
}

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

static void say_times(const struct fp_block *block)
{
    uint32_t stamp = 0;
    for (uint32_t i = 0; i < block->mark_count; i++) {
        const struct fp_shape *shape = &block->shapes[block->marks[i].shape];
        while (stamp < block->stamp_count && block->stamps[stamp].mark <= i)
            stamp++;
        const struct fp_stamp *last = stamp > 0 ? &block->stamps[stamp - 1] : NULL;
        printf("%s %" PRIu64 " %" PRIu64 " %d\n", fp_call_name(shape->call), shape->size,
               last != NULL ? last->time_ns : 0, last != NULL && last->mark == i);
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
        totals->marks++;
        if (shape->call >= FP_CALL_COUNT)
            continue;
        totals->events++;
        totals->null_addresses += block->marks[i].address == 0;
        if (fp_call_kind_of(shape->call) != FP_KIND_RELEASE) {
            totals->failed += block->marks[i].address == 0;
            totals->requested += fp_shape_bytes(shape);
        }
    }
    totals->lane_marks[block->lane] += block->mark_count;
}

/* "usage": its numbers and words, and the series as [time, rss, anonymous, processor time]. */
static void say_usage(const struct fp_usage *usage)
{
    struct fp_usage copy = *usage;
    printf(",\n \"usage\": {\"ended\": \"%s\", \"how\": \"%s\", \"allocator\": ", fp_ended_name(usage->ended),
           fp_runs_on_name(usage->runs_on));
    say_string(usage->allocator);
    printf(", \"version\": ");
    say_string(usage->version);
    printf(", \"library\": ");
    say_string(usage->library);
    printf(", \"kernel\": ");
    say_string(usage->machine.kernel);
    for (size_t i = 0; i < FP_USAGE_NUMBER_COUNT; i++)
        if (*fp_usage_at(&copy, &FP_USAGE_NUMBERS[i]) != FP_USAGE_UNKNOWN)
            printf(", \"%s\": %" PRIu64, FP_USAGE_NUMBERS[i].key, *fp_usage_at(&copy, &FP_USAGE_NUMBERS[i]));
    printf(", \"points\": [");
    for (uint32_t i = 0; i < usage->point_count; i++)
        printf("%s[%" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 "]", i > 0 ? ", " : "",
               usage->points[i].time_ns, usage->points[i].rss_bytes, usage->points[i].rss_anon_bytes,
               usage->points[i].cpu_ns);
    printf("]}");
}

static void say_totals(const struct fp_reader *reader, const struct totals *totals)
{
    const struct fp_reader_info *info = fp_reader_info(reader);
    const char *comma = "";
    printf("{\"pid\": %u, \"events\": %" PRIu64 ", \"marks\": %" PRIu64 ", \"lanes\": %u, \"blocks\": %zu,\n",
           info->process_id, totals->events, totals->marks, info->lane_count, info->block_count);
    printf(" \"has_trailer\": %s, \"file_bytes\": %" PRIu64 ", \"requested_bytes\": %" PRIu64 ",\n",
           info->has_trailer ? "true" : "false", info->file_bytes, totals->requested);
    printf(" \"null_addresses\": %" PRIu64 ", \"failed\": %" PRIu64 ", \"end_time_ns\": %" PRIu64 ",\n",
           totals->null_addresses, totals->failed, info->trailer.end_time_ns);
    printf(" \"epoch_decreases\": %" PRIu64 ", \"time_decreases\": %" PRIu64 ", \"sequence_jumps\": %" PRIu64
           ",\n \"calls\": {",
           totals->epoch_decreases, totals->time_decreases, totals->sequence_jumps);
    for (unsigned call = 0; call < 64; call++) {
        if (totals->by_call[call] == 0)
            continue;
        printf("%s\"%s\": %" PRIu64, comma, fp_call_name(call), totals->by_call[call]);
        comma = ", ";
    }
    printf("},\n \"lost\": {");
    comma = "";
    for (unsigned cause = 0; cause < FP_LOSS_COUNT; cause++) {
        if (info->trailer.lost[cause] == 0)
            continue;
        printf("%s\"%s\": %" PRIu64, comma, fp_loss_name(cause), info->trailer.lost[cause]);
        comma = ", ";
    }
    printf("},\n \"lane_marks\": [");
    for (uint32_t lane = 0; lane < info->lane_count; lane++)
        printf("%s%" PRIu64, lane > 0 ? ", " : "", totals->lane_marks[lane]);
    printf("],\n \"trailer_lanes\": [");
    for (uint32_t lane = 0; lane < info->trailer.lane_count; lane++)
        printf("%s{\"tid\": %u, \"main\": %s, \"marks\": %" PRIu64 "}", lane > 0 ? ", " : "",
               info->trailer.lanes[lane].thread_id, info->trailer.lanes[lane].is_main ? "true" : "false",
               info->trailer.lanes[lane].marks);
    printf("],\n \"meta\": {");
    for (size_t i = 0; i < info->meta_count; i++) {
        printf("%s", i > 0 ? ", " : "");
        say_string(info->meta[i].key);
        printf(": ");
        say_string(info->meta[i].value);
    }
    printf("}");
    if (info->usage != NULL)
        say_usage(info->usage);
    printf("}\n");
}

int main(int argc, char **argv)
{
    const int only_marks = argc == 3 && strcmp(argv[1], "--marks") == 0;
    const int only_times = argc == 3 && strcmp(argv[1], "--times") == 0;
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
    if (argc != 2 + only_marks + only_times + only_stacks)
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
        if (only_times)
            say_times(&block);
        if (only_marks)
            say_marks(&block);
        else
            add_block(&totals, &block);
    }
    if (only_stacks)
        say_stacks(&stacks, info->sites);
    if (!only_marks && !only_times && !only_stacks)
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
