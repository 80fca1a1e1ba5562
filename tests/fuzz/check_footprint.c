/* check_footprint.c - what a footprint reader hands out keeps footprint.h's promises, and survives writing. */
#include <fcntl.h>
#include <string.h>

#include "footprint/fp/footprint.h"
#include "fuzz/target.h"
#include "unit/append_block.h"
#include "unit/site_module.h"

static void check_block_rules(const struct fp_block *block, const struct fp_block_entry *entry)
{
    uint32_t epoch = 0;
    uint32_t mark = 0;
    uint64_t time_ns = 0;
    FUZZ_CHECK(block->lane == entry->lane && block->sequence == entry->sequence &&
               block->base_epoch == entry->base_epoch && block->mark_count == entry->mark_count);
    FUZZ_CHECK(block->lane < FP_LANES_MAX);
    FUZZ_CHECK(block->mark_count >= 1 && block->mark_count <= FP_BLOCK_MARKS_MAX);
    FUZZ_CHECK(block->shape_count >= 1 && block->shape_count <= block->mark_count);
    FUZZ_CHECK(block->stamp_count <= block->mark_count + 1);
    for (uint32_t i = 0; i < block->shape_count; i++)
        FUZZ_CHECK(fp_mark_is_valid(block->shapes[i].call));
    for (uint32_t i = 0; block->sites != NULL && i < block->mark_count; i++)
        FUZZ_CHECK(block->sites[i] < FP_SITES_MAX);
    for (uint32_t i = 0; i < block->mark_count; i++) {
        FUZZ_CHECK(block->marks[i].shape < block->shape_count && block->marks[i].epoch >= epoch);
        epoch = block->marks[i].epoch;
    }
    FUZZ_CHECK(block->base_epoch + epoch >= block->base_epoch);
    for (uint32_t i = 0; i < block->stamp_count; i++) {
        FUZZ_CHECK(block->stamps[i].mark >= mark && block->stamps[i].mark <= block->mark_count);
        FUZZ_CHECK(block->stamps[i].time_ns >= time_ns);
        mark = block->stamps[i].mark;
        time_ns = block->stamps[i].time_ns;
    }
}

static void check_same_block(const struct fp_block *a, const struct fp_block *b)
{
    FUZZ_CHECK(a->lane == b->lane && a->sequence == b->sequence && a->base_epoch == b->base_epoch);
    FUZZ_CHECK(a->mark_count == b->mark_count && a->shape_count == b->shape_count &&
               a->stamp_count == b->stamp_count);
    for (uint32_t i = 0; i < a->mark_count; i++)
        FUZZ_CHECK(a->marks[i].address == b->marks[i].address && a->marks[i].shape == b->marks[i].shape &&
                   a->marks[i].epoch == b->marks[i].epoch);
    for (uint32_t i = 0; i < a->shape_count; i++)
        FUZZ_CHECK(a->shapes[i].call == b->shapes[i].call && a->shapes[i].size == b->shapes[i].size &&
                   a->shapes[i].extra == b->shapes[i].extra);
    FUZZ_CHECK((a->sites == NULL) == (b->sites == NULL));
    for (uint32_t i = 0; a->sites != NULL && i < a->mark_count; i++)
        FUZZ_CHECK(a->sites[a->marks[i].shape] == b->sites[b->marks[i].shape]);
    for (uint32_t i = 0; i < a->stamp_count; i++)
        FUZZ_CHECK(a->stamps[i].mark == b->stamps[i].mark && a->stamps[i].time_ns == b->stamps[i].time_ns);
}

static void check_same_trailer(const struct fp_trailer *a, const struct fp_trailer *b)
{
    FUZZ_CHECK(a->end_time_ns == b->end_time_ns && a->lane_count == b->lane_count);
    FUZZ_CHECK(memcmp(a->lost, b->lost, sizeof a->lost) == 0);
    for (uint32_t i = 0; i < a->lane_count; i++)
        FUZZ_CHECK(a->lanes[i].thread_id == b->lanes[i].thread_id &&
                   a->lanes[i].is_main == b->lanes[i].is_main && a->lanes[i].marks == b->lanes[i].marks);
}

void fuzz_check_usage(const struct fp_usage *usage)
{
    struct fp_usage copy = *usage;
    for (size_t i = 0; i < FP_USAGE_NUMBER_COUNT; i++) {
        const uint64_t number = *fp_usage_at(&copy, &FP_USAGE_NUMBERS[i]);
        FUZZ_CHECK(number <= INT64_MAX || number == FP_USAGE_UNKNOWN);
    }
    FUZZ_CHECK(fp_ended_name(usage->ended) != NULL && fp_runs_on_name(usage->runs_on) != NULL);
}

static void check_usage(const struct fp_usage *usage)
{
    fuzz_check_usage(usage);
    FUZZ_CHECK(usage->point_count <= FP_USAGE_POINTS_MAX &&
               (usage->point_count > 0) == (usage->points != NULL));
    for (uint32_t i = 0; i < usage->point_count; i++) {
        const struct fp_usage_point *point = &usage->points[i];
        FUZZ_CHECK(point->rss_bytes <= INT64_MAX && point->rss_anon_bytes <= INT64_MAX);
        FUZZ_CHECK(i == 0 || (point->time_ns >= point[-1].time_ns && point->cpu_ns >= point[-1].cpu_ns));
    }
}

/* Every stack ends, and what is told once more is the same. */
static void check_sites(const struct fp_sites *sites)
{
    uint64_t steps = 0;
    FUZZ_CHECK(sites->node_end >= FP_SITE_FIRST && sites->node_end <= FP_SITES_MAX);
    for (uint32_t site = FP_SITE_FIRST; site < sites->node_end && steps < 1000; site++, steps++) {
        const struct fp_site_node node = fp_site_node_at(sites, site);
        FUZZ_CHECK(node.parent < site && node.address >> FP_ADDRESS_BITS == 0);
        FUZZ_CHECK(fp_site_cut(sites, site) < FP_CUT_COUNT);
        (void)fp_site_module(sites, &node);
    }
    for (uint32_t i = 0; i < sites->module_count; i++) {
        const struct fp_module *module = &sites->modules[i];
        FUZZ_CHECK(module->start < module->end && module->end >> FP_ADDRESS_BITS == 0 &&
                   module->build_id_bytes <= FP_BUILD_ID_MAX && strlen(module->path) <= FP_PATH_MAX);
    }
}

/* Few at a time, as a collector that finds them bit by bit. */
static void write_sites(struct fp_writer *writer, const struct fp_sites *sites)
{
    struct fp_site_entry entries[1000];
    uint32_t count = 0;
    check_sites(sites);
    for (uint32_t site = FP_SITE_FIRST; site < sites->node_end && site < 1000; site++) {
        entries[count] = (struct fp_site_entry){site, fp_site_node_at(sites, site)};
        count += entries[count].node.address != 0;
    }
    for (uint32_t i = 0; i < count; i += 4)
        FUZZ_CHECK(fp_writer_sites(writer, entries + i, count - i < 4 ? count - i : 4) == FP_OK);
    if (sites->module_count > 0)
        FUZZ_CHECK(fp_writer_modules(writer, sites->modules, sites->module_count) == FP_OK);
}

static void check_same_sites(const struct fp_sites *a, const struct fp_sites *b)
{
    for (uint32_t site = FP_SITE_FIRST; site < a->node_end && site < 1000; site++) {
        const struct fp_site_node one = fp_site_node_at(a, site), other = fp_site_node_at(b, site);
        FUZZ_CHECK(one.address == other.address && one.parent == other.parent && one.epoch == other.epoch);
    }
    FUZZ_CHECK(a->module_count == b->module_count);
    for (uint32_t i = 0; i < a->module_count; i++)
        FUZZ_CHECK(a->modules[i].start == b->modules[i].start && a->modules[i].base == b->modules[i].base &&
                   strcmp(a->modules[i].path, b->modules[i].path) == 0);
}

static void check_same_usage(const struct fp_usage *a, const struct fp_usage *b)
{
    struct fp_usage one = *a, other = *b;
    for (size_t i = 0; i < FP_USAGE_NUMBER_COUNT; i++)
        FUZZ_CHECK(*fp_usage_at(&one, &FP_USAGE_NUMBERS[i]) == *fp_usage_at(&other, &FP_USAGE_NUMBERS[i]));
    FUZZ_CHECK(a->ended == b->ended && a->runs_on == b->runs_on && strcmp(a->allocator, b->allocator) == 0 &&
               strcmp(a->version, b->version) == 0 && strcmp(a->library, b->library) == 0);
    FUZZ_CHECK(a->point_count == b->point_count);
    FUZZ_CHECK(a->point_count == 0 || memcmp(a->points, b->points, a->point_count * sizeof *a->points) == 0);
}

/* Every block that decodes is written, the damaged ones are left out. */
static void write_again(struct fp_reader *reader, const char *path)
{
    const struct fp_reader_info *info = fp_reader_info(reader);
    const struct fp_writer_options options = {
        .process_id = info->process_id, .start_unix_ns = info->start_unix_ns, .zstd_level = 1};
    struct fp_block_buffer buffer = {0};
    struct fp_writer *writer = NULL;
    FUZZ_CHECK(fp_writer_create(AT_FDCWD, path, &options, info->meta, info->meta_count, NULL, &writer) ==
               FP_OK);
    if (info->sites != NULL)
        write_sites(writer, info->sites);
    for (size_t i = 0; i < info->block_count; i++) {
        struct fp_block block;
        const enum fp_status status = fp_reader_block(reader, i, &buffer, &block);
        if (status == FP_OK) {
            check_block_rules(&block, &info->blocks[i]);
            FUZZ_CHECK(append_block(writer, &block) == FP_OK);
        } else {
            const struct fp_error *error = fp_reader_error(reader);
            FUZZ_CHECK(status == FP_ERR_CORRUPT || status == FP_ERR_CHECKSUM);
            FUZZ_CHECK(error->status == status && error->what != NULL);
            FUZZ_CHECK(error->offset >= info->blocks[i].offset && error->offset <= info->file_bytes);
        }
    }
    if (info->usage != NULL) {
        check_usage(info->usage);
        FUZZ_CHECK(fp_writer_usage(writer, info->usage) == FP_OK);
    }
    if (info->has_trailer)
        FUZZ_CHECK(fp_writer_finish(writer, &info->trailer, NULL) == FP_OK);
    else
        fp_writer_abandon(writer);
    fp_block_buffer_release(&buffer);
}

static void compare(struct fp_reader *reader, struct fp_reader *again)
{
    const struct fp_reader_info *first = fp_reader_info(reader);
    const struct fp_reader_info *second = fp_reader_info(again);
    struct fp_block_buffer buffers[2] = {0};
    size_t written = 0;
    FUZZ_CHECK(second->process_id == first->process_id && second->start_unix_ns == first->start_unix_ns);
    FUZZ_CHECK(second->meta_count == first->meta_count && second->has_trailer == first->has_trailer);
    for (size_t i = 0; i < first->meta_count; i++)
        FUZZ_CHECK(strcmp(first->meta[i].key, second->meta[i].key) == 0 &&
                   strcmp(first->meta[i].value, second->meta[i].value) == 0);
    for (size_t i = 0; i < first->block_count; i++) {
        struct fp_block blocks[2];
        if (fp_reader_block(reader, i, &buffers[0], &blocks[0]) != FP_OK)
            continue;
        FUZZ_CHECK(written < second->block_count);
        FUZZ_CHECK(fp_reader_block(again, written++, &buffers[1], &blocks[1]) == FP_OK);
        check_same_block(&blocks[0], &blocks[1]);
    }
    FUZZ_CHECK(written == second->block_count);
    if (first->sites != NULL && second->sites != NULL)
        check_same_sites(first->sites, second->sites);
    FUZZ_CHECK((first->usage == NULL) == (second->usage == NULL));
    if (first->usage != NULL)
        check_same_usage(first->usage, second->usage);
    if (first->has_trailer)
        check_same_trailer(&first->trailer, &second->trailer);
    fp_block_buffer_release(&buffers[0]);
    fp_block_buffer_release(&buffers[1]);
}

const char *check_footprint(const uint8_t *bytes, size_t size)
{
    struct fp_reader *reader = NULL;
    struct fp_reader *again = NULL;
    struct fp_error error = {0};
    const char *path = fuzz_output();
    const enum fp_status status = fp_reader_open(fuzz_input(bytes, size), &error, &reader);
    if (status != FP_OK) {
        FUZZ_CHECK(reader == NULL && error.status == status && error.what != NULL && error.offset <= size);
        return NULL;
    }
    FUZZ_CHECK(fp_reader_info(reader)->has_trailer || fp_reader_info(reader)->tail_error.status != FP_OK);
    FUZZ_CHECK(fp_reader_info(reader)->tail_error.offset <= size);
    write_again(reader, path);
    FUZZ_CHECK(fp_reader_open(path, NULL, &again) == FP_OK);
    compare(reader, again);
    fp_reader_close(again);
    fp_reader_close(reader);
    return path;
}
