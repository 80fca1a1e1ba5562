/* parts.c - find, open and sum up an image's footprints. */

#include "convert/base/error.h"
#include "convert/recording/recording.h"
#include "footprint/base/arrays.h"
#include "footprint/base/memory_bound.h"
#include "footprint/base/words.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARTS_MAX 100000u

/* ---- finding ------------------------------------------------------------------------------- */

int conv_is_footprint(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && fp_has_ending(entry->d_name, ".fp");
}

static int by_window(const void *a, const void *b)
{
    const struct conv_part *one = a, *other = b;
    return one->window < other->window ? -1 : one->window > other->window;
}

static bool add_path(struct conv_parts *parts, const char *folder, int folder_length, const char *name,
                     uint32_t window)
{
    struct conv_part *grown = realloc(parts->parts, (parts->count + 1) * sizeof *grown);
    const size_t size = (size_t)folder_length + strlen(name) + 1;
    char *path = malloc(size);
    if (grown != NULL)
        parts->parts = grown;
    if (grown == NULL || path == NULL) {
        free(path);
        return false;
    }
    snprintf(path, size, "%.*s%s", folder_length, folder, name);
    parts->parts[parts->count++] = (struct conv_part){.path = path, .window = window};
    return true;
}

static bool is_meant(enum conv_extent extent, uint32_t window, uint32_t named)
{
    return extent == CONV_EXTENT_ALL || (extent == CONV_EXTENT_BEFORE && window < named);
}

/* Names of the same stem in the directory of the one that was named. */
static enum fp_status find_others(const char *path, enum conv_extent extent, struct conv_parts *parts,
                                  struct conv_error *error)
{
    const char *name = conv_path_name(path);
    const int folder_length = (int)(name - path);
    char stem[CONV_STEM_BYTES], other[CONV_STEM_BYTES], folder[CONV_PATH_BYTES] = ".";
    uint32_t named, window;
    const struct dirent *entry;
    enum fp_status status = FP_OK;
    DIR *directory;
    if (!fp_part_name(name, CONV_STEM_BYTES, stem, &named) || named == 0)
        return extent == CONV_EXTENT_BEFORE || add_path(parts, path, folder_length, name, 0)
                   ? FP_OK
                   : conv_fail_memory(error, path, "its name");
    if (folder_length > 0)
        snprintf(folder, sizeof folder, "%.*s", folder_length, path);
    directory = opendir(folder);
    if (directory == NULL)
        return conv_fail(error, folder, FP_ERR_OPEN, errno, 0, "cannot open");
    while (status == FP_OK && (entry = readdir(directory)) != NULL) {
        if (!fp_part_name(entry->d_name, CONV_STEM_BYTES, other, &window) || window == 0 ||
            strcmp(other, stem) != 0 || !is_meant(extent, window, named))
            continue;
        if (parts->count == PARTS_MAX)
            status = conv_fail(error, path, FP_ERR_LIMIT, 0, 0, "has more than %u windows", PARTS_MAX);
        else if (!add_path(parts, path, folder_length, entry->d_name, window))
            status = conv_fail_memory(error, path, "the list of windows");
    }
    (void)closedir(directory); /* only read */
    if (parts->count > 0)
        qsort(parts->parts, parts->count, sizeof *parts->parts, by_window);
    return status;
}

/* ---- summing up ---------------------------------------------------------------------------- */

static bool add_lanes(struct conv_parts *parts, const struct fp_reader_info *info)
{
    const struct fp_trailer *trailer = &info->trailer;
    if (info->lane_count > parts->lane_count) {
        size_t capacity = parts->lane_count;
        if (!FP_GROW(parts->lanes, capacity, info->lane_count))
            return false;
        parts->lane_count = info->lane_count;
    }
    for (uint32_t i = 0; info->has_trailer && i < trailer->lane_count && i < parts->lane_count; i++) {
        if (trailer->lanes[i].thread_id != 0)
            parts->lanes[i].thread_id = trailer->lanes[i].thread_id;
        parts->lanes[i].is_main |= trailer->lanes[i].is_main;
        parts->lanes[i].marks += trailer->lanes[i].marks;
    }
    return true;
}

static bool add_facts(struct conv_parts *parts, struct conv_part *part)
{
    const struct fp_reader_info *info = part->info;
    part->first_block = parts->block_count;
    part->number = fp_reader_meta_number(part->reader, "part");
    if (part->number == 0)
        part->number = 1; /* of a recording without windows */
    parts->block_count += info->block_count;
    parts->mark_count += info->mark_count;
    parts->file_bytes += info->file_bytes;
    parts->has_trailer = parts->has_trailer && info->has_trailer;
    fp_loss_add(parts->lost, info->trailer.lost);
    if (info->trailer.end_time_ns > parts->end_time_ns)
        parts->end_time_ns = info->trailer.end_time_ns;
    parts->ran_on = info->trailer.ran_on;
    parts->uncounted = info->trailer.uncounted;
    if (parts->cut == NULL && info->tail_error.status != FP_OK)
        parts->cut = part;
    return add_lanes(parts, info);
}

enum fp_status conv_parts_open(const char *path, enum conv_extent extent, struct conv_parts *ret_parts,
                               struct conv_error *error)
{
    const char *name = conv_path_name(path);
    char stem[CONV_STEM_BYTES];
    uint32_t window;
    enum fp_status status = FP_OK;
    *ret_parts = (struct conv_parts){.has_trailer = true, .is_open = true};
    conv_descriptors_raise();
    if (!fp_part_name(name, CONV_STEM_BYTES, stem, &window))
        window = 0;
    if (extent != CONV_EXTENT_ONE)
        status = find_others(path, extent, ret_parts, error);
    else if (!add_path(ret_parts, path, (int)(name - path), name, window))
        status = conv_fail_memory(error, path, "its name");
    for (size_t i = 0; i < ret_parts->count && status == FP_OK; i++) {
        struct conv_part *part = &ret_parts->parts[i];
        struct fp_error cause = {.status = FP_ERR_MEMORY, .what = "no memory for reading"};
        status = fp_reader_open(part->path, &cause, &part->reader);
        if (status == FP_OK) {
            part->info = fp_reader_info(part->reader);
            fp_memory_input(part->info->file_bytes);
            if (!add_facts(ret_parts, part))
                status = FP_ERR_MEMORY;
        }
        if (status == FP_ERR_OPEN && cause.sys_errno == EMFILE)
            status = conv_descriptors_failed(part->path, error);
        else if (status != FP_OK)
            conv_fail_with(error, part->path, &cause);
    }
    if (status != FP_OK) {
        conv_parts_close(ret_parts);
        return status;
    }
    if (ret_parts->count > 0) {
        ret_parts->from_begin = ret_parts->parts[0].number == 1;
        if (!ret_parts->from_begin)
            ret_parts->begin_ns = fp_reader_meta_number(ret_parts->parts[0].reader, "window_begin_ns");
    }
    return FP_OK;
}

void conv_parts_close(struct conv_parts *parts)
{
    for (size_t i = 0; i < parts->count; i++) {
        fp_reader_close(parts->parts[i].reader);
        free(parts->parts[i].path);
    }
    free(parts->parts);
    free(parts->lanes);
    if (parts->is_open)
        conv_descriptors_lower();
    *parts = (struct conv_parts){0};
}

const struct conv_part *conv_parts_of_block(const struct conv_parts *parts, size_t block)
{
    size_t low = 0, high = parts->count - 1;
    while (low < high) {
        const size_t middle = low + (high - low + 1) / 2;
        if (parts->parts[middle].first_block <= block)
            low = middle;
        else
            high = middle - 1;
    }
    return &parts->parts[low];
}

const char *conv_parts_meta(const struct conv_parts *parts, const char *key)
{
    return parts->count > 0 ? fp_reader_meta(parts->parts[0].reader, key) : NULL;
}
