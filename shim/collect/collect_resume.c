/* collect_resume.c - the footprints that a killed collector left. */
#include "shim/collect/collect_resume.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "footprint/base/part_name.h"
#include "shim/collect/collect_complete.h"
#include "shim/collect/collect_footprint.h"
#include "shim/collect/collect_lists.h"

static struct fp_reader *open_footprint(const struct collector *collector, const char *name)
{
    struct fp_error error;
    struct fp_reader *reader = NULL;
    return fp_reader_open_at(collector->directory_fd, name, &error, &reader) == FP_OK ? reader : NULL;
}

/* Where each lane stands in the file. */
static bool take_lanes(struct collect_image *image, const struct fp_reader_info *info)
{
    for (size_t i = 0; i < info->block_count; i++) {
        const struct fp_block_entry *entry = &info->blocks[i];
        struct collect_lane *lane = image_lane(image, entry->lane);
        if (lane == NULL)
            return false;
        if (entry->sequence >= lane->next_block)
            lane->next_block = entry->sequence + 1;
        lane->marks += entry->mark_count;
        if (lane->number == 0)
            lane->thread_id = image->pid; /* as in any program that allocates before it starts threads */
    }
    return true;
}

static uint64_t count_events(struct fp_reader *reader)
{
    const struct fp_reader_info *info = fp_reader_info(reader);
    struct fp_block_buffer buffer = {0};
    uint64_t events = 0;
    for (size_t i = 0; i < info->block_count; i++) {
        struct fp_block block;
        if (fp_reader_block(reader, i, &buffer, &block) != FP_OK)
            continue; /* whoever converts it is told */
        for (uint32_t k = 0; k < block.mark_count; k++)
            events += block.shapes[block.marks[k].shape].call < FP_CALL_COUNT;
    }
    fp_block_buffer_release(&buffer);
    return events;
}

/* Take from a part's file what it tells of the image. Parts come in the order of their windows. */
static struct collect_part *take_part(struct collect_image *image, const char *name, uint32_t window,
                                      struct fp_reader *reader)
{
    const struct fp_reader_info *info = fp_reader_info(reader);
    struct collect_part *part = list_part(image);
    if (part == NULL)
        return NULL;
    image->part_count++;
    (void)snprintf(part->file, sizeof part->file, "%s", name); /* fits: checked by fp_part_name */
    part->window = window;
    part->bytes = info->file_bytes;
    part->events = count_events(reader);
    part->has_trailer = info->has_trailer;
    part->lost += fp_loss_sum(info->trailer.lost);
    image->bytes += part->bytes;
    image->events += part->events;
    return part;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* Four digits and more: a longer number is a later window, whatever the order of the names. */
static int by_window(const void *a, const void *b)
{
    const struct collect_part *one = a, *other = b;
    return one->window < other->window ? -1 : one->window > other->window;
}

/* The directory's names in order; the caller releases them. */
struct listing {
    struct dirent **entries;
    int count;
};

static struct listing list_directory(const struct collector *collector)
{
    struct listing listing = {0};
    listing.count = scandirat(collector->directory_fd, ".", &listing.entries, NULL, by_name);
    return listing;
}

static void listing_release(struct listing *listing)
{
    for (int i = 0; i < listing->count; i++)
        free(listing->entries[i]);
    free(listing->entries);
}

/* The names of an image's parts, by window; the caller frees them. */
static struct collect_part *find_parts(const struct listing *listing, const char *stem, size_t *ret_count)
{
    struct collect_part *parts = NULL;
    size_t count = 0;
    for (int i = 0; i < listing->count; i++) {
        const char *name = listing->entries[i]->d_name;
        char other[SEG_FILE];
        uint32_t window;
        if (!fp_part_name(name, SEG_FILE, other, &window) || strcmp(other, stem) != 0)
            continue;
        struct collect_part *grown = realloc(parts, (count + 1) * sizeof *grown);
        if (grown == NULL)
            break; /* those found so far are recovered */
        parts = grown;
        parts[count] = (struct collect_part){.window = window};
        memcpy(parts[count++].file, name, strlen(name) + 1); /* fp_part_name saw that it fits */
    }
    *ret_count = count;
    if (parts != NULL)
        qsort(parts, count, sizeof *parts, by_window);
    return parts;
}

/* An image goes on with its last part, if that has no trailer yet. */
static void go_on_with(struct collector *collector, struct collect_image *image, const char *name,
                       uint32_t window, bool last)
{
    const struct fp_writer_options options = {.size_limit_bytes = collector->file_limit_bytes};
    struct fp_reader *reader = open_footprint(collector, name);
    if (reader == NULL)
        return;
    const struct fp_reader_info *info = fp_reader_info(reader);
    image_forget_marks(image);
    bool usable = take_lanes(image, info);
    struct collect_part *part = take_part(image, name, window, reader);
    fp_loss_add(image->told, info->trailer.lost);
    image->between = window != 0 && info->has_trailer;
    if (last && usable && part != NULL && !info->has_trailer)
        image->writing = fp_writer_resume(collector->directory_fd, name, &options, info->tail_error.offset,
                                          NULL, &image->writer) == FP_OK;
    fp_reader_close(reader);
}

bool resume_footprint(struct collector *collector, struct collect_image *image)
{
    size_t count;
    uint32_t window;
    const char *file = collector->segment.view.slot_notes[image->slot].file;
    if (!fp_part_name(file, SEG_FILE, image->stem, &window)) {
        image->stem[0] = '\0';
        return false;
    }
    struct listing listing = list_directory(collector);
    struct collect_part *parts = find_parts(&listing, image->stem, &count);
    listing_release(&listing);
    image->stopped_by = image->limit_cause = FP_LOSS_COLLECTOR;
    for (size_t i = 0; i < count; i++)
        go_on_with(collector, image, parts[i].file, parts[i].window, i + 1 == count);
    free(parts);
    /* The process' own losses stand in its slot, whether told or not; the others were the collector's. */
    complete_take_counts(collector, image);
    for (unsigned cause = 0; cause < FP_LOSS_COUNT; cause++) {
        const uint64_t told = image->told[cause], own = image->own_lost[cause];
        image->lost[cause] += told > own ? told - own : 0;
    }
    if (image->part_count > 0)
        return true;
    image->stem[0] = '\0';
    return false;
}

/* Processes that had ended before the collector did have footprints and no slot. */
static struct collect_image *find_image(const struct collector *collector, const char *stem)
{
    for (size_t i = 0; i < collector->image_count; i++)
        if (strcmp(collector->images[i]->stem, stem) == 0)
            return collector->images[i];
    return NULL;
}

static void describe_former(struct collect_image *image, const char *stem, const struct fp_reader *reader)
{
    const char *value = fp_reader_meta(reader, "program");
    (void)snprintf(image->stem, sizeof image->stem, "%s", stem);
    (void)snprintf(image->program, sizeof image->program, "%s", value != NULL ? value : "");
    value = fp_reader_meta(reader, "parent_pid");
    image->parent_pid = value != NULL ? (uint32_t)strtoul(value, NULL, 10) : 0;
    image->pid = fp_reader_info(reader)->process_id;
    image->pidfd = -1;
    image->ended = true;
    image->end = IMAGE_EXIT;
}

static void list_former_part(struct collector *collector, struct collect_image *image, const char *stem,
                             const struct collect_part *found)
{
    struct fp_reader *reader = open_footprint(collector, found->file);
    if (reader == NULL)
        return;
    const struct fp_reader_info *info = fp_reader_info(reader);
    if (image->part_count == 0)
        describe_former(image, stem, reader);
    (void)take_part(image, found->file, found->window, reader); /* without memory it is left out */
    if (info->lane_count > image->lane_end)
        image->lane_end = info->lane_count;
    fp_loss_add(image->lost, info->trailer.lost);
    fp_reader_close(reader);
}

static void list_former(struct collector *collector, const struct listing *listing, const char *stem)
{
    struct collect_image *image = calloc(1, sizeof *image);
    size_t count;
    struct collect_part *parts = find_parts(listing, stem, &count);
    for (size_t i = 0; image != NULL && i < count; i++)
        list_former_part(collector, image, stem, &parts[i]);
    free(parts);
    if (image == NULL || image->part_count == 0 || !list_image(collector, image)) {
        if (image != NULL)
            free(image->parts);
        free(image);
    }
}

/* Whether a footprint does not even say whose it is: the collector was killed while it began the
 * file, before any slot named it. Its process' calls are all in the segment still. */
static bool was_only_begun(const struct collector *collector, const char *name)
{
    struct stat status;
    if (fstatat(collector->directory_fd, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode))
        return false;
    if (status.st_size == 0)
        return true;
    struct fp_reader *reader = open_footprint(collector, name);
    if (reader == NULL)
        return false;
    bool begun = fp_reader_meta(reader, "program") == NULL && fp_reader_info(reader)->block_count == 0 &&
                 !fp_reader_info(reader)->has_trailer;
    fp_reader_close(reader);
    return begun;
}

void resume_remove_begun(struct collector *collector)
{
    struct listing listing = list_directory(collector);
    for (int i = 0; i < listing.count; i++) {
        const char *name = listing.entries[i]->d_name;
        char stem[SEG_FILE];
        uint32_t window;
        if (fp_part_name(name, SEG_FILE, stem, &window) && was_only_begun(collector, name))
            (void)unlinkat(collector->directory_fd, name, 0); /* else it is listed, without calls */
    }
    listing_release(&listing);
}

void resume_list_former(struct collector *collector)
{
    struct listing listing = list_directory(collector);
    for (int i = 0; i < listing.count; i++) {
        char stem[SEG_FILE];
        uint32_t window;
        if (fp_part_name(listing.entries[i]->d_name, SEG_FILE, stem, &window) &&
            find_image(collector, stem) == NULL)
            list_former(collector, &listing, stem);
    }
    listing_release(&listing);
}
