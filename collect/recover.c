/* recover.c - the segment of a killed collector emptied, its footprints gone on with. */

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "collect/steps.h"
#include "footprint/base/words.h"

#define LAST_CALLS_NS 50000000 /* for stores of living processes under way */

/* ---- the footprints ----------------------------------------------------------------------------- */

static struct fp_reader *open_footprint(const struct collector *collector, const char *name)
{
    struct fp_error error;
    struct fp_reader *reader = NULL;
    return fp_reader_open_at(collector->place.fd, name, &error, &reader) == FP_OK ? reader : NULL;
}

/* Takes the place of each lane in the file. */
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

/* Tells whether a footprint does not even say whose it is: the collector was killed while it began the
 * file, before any slot named it. Its process' calls are all in the segment still. */
static bool was_only_begun(const struct collector *collector, const char *name)
{
    struct stat status;
    if (fstatat(collector->place.fd, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode))
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

/* ---- the directory ------------------------------------------------------------------------------- */

struct found {
    char stem[SEG_FILE], file[SEG_FILE];
    uint32_t window;
};

/* The footprints that were there when the recovery began, by stem and window. */
static struct {
    struct found *items;
    size_t count, capacity;
} listing;

/* A window's number has four digits or more: a longer one is a later window, whatever the order of the names. */
static int by_window(const void *a, const void *b)
{
    const struct found *one = a, *other = b;
    const int order = strcmp(one->stem, other->stem);
    return order != 0 ? order : (one->window > other->window) - (one->window < other->window);
}

static void list_directory(const struct collector *collector)
{
    DIR *directory = fp_trusted_list(collector->place.fd);
    const struct dirent *entry;
    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        struct found found;
        if (!fp_part_name(entry->d_name, SEG_FILE, found.stem, &found.window))
            continue;
        if (was_only_begun(collector, entry->d_name)) {
            (void)unlinkat(collector->place.fd, entry->d_name, 0); /* else it is left, and told by nobody */
            continue;
        }
        if (!FP_GROW(listing.items, listing.capacity, listing.count + 1))
            break;                                                    /* those found so far are recovered */
        memcpy(found.file, entry->d_name, strlen(entry->d_name) + 1); /* fits: fp_part_name saw it */
        listing.items[listing.count++] = found;
    }
    if (directory != NULL)
        (void)closedir(directory); /* only read */
    if (listing.count > 0)
        qsort(listing.items, listing.count, sizeof *listing.items, by_window);
}

/* One past the last part that has the stem of the first. */
static size_t past_parts(size_t first)
{
    size_t past = first;
    while (past < listing.count && strcmp(listing.items[past].stem, listing.items[first].stem) == 0)
        past++;
    return past;
}

/* ---- going on ------------------------------------------------------------------------------------ */

/* Take from a part's file what it tells of the image. Parts come in the order of their windows. */
static struct collect_part *take_part(struct collect_image *image, const struct found *found,
                                      struct fp_reader *reader)
{
    const struct fp_reader_info *info = fp_reader_info(reader);
    struct collect_part *part = list_part(image);
    if (part == NULL)
        return NULL;
    image->part_count++;
    memcpy(part->file, found->file, sizeof part->file);
    part->window = found->window;
    part->bytes = info->file_bytes;
    part->events = count_events(reader);
    part->has_trailer = info->has_trailer;
    part->lost += fp_loss_sum(info->trailer.lost);
    image->bytes += part->bytes;
    image->events += part->events;
    return part;
}

/* An image goes on with its last part, if that has no trailer yet. */
static void go_on_with(struct collector *collector, struct collect_image *image, const struct found *found,
                       bool last)
{
    const struct fp_writer_options options = {.size_limit_bytes = collector->place.file_limit_bytes};
    struct fp_reader *reader = open_footprint(collector, found->file);
    if (reader == NULL)
        return;
    const struct fp_reader_info *info = fp_reader_info(reader);
    image_forget_marks(image);
    const bool usable = take_lanes(image, info);
    struct collect_part *part = take_part(image, found, reader);
    fp_loss_add(image->told, info->trailer.lost);
    image->between = found->window != 0 && info->has_trailer;
    if (last && usable && part != NULL && !info->has_trailer)
        image->writing = fp_writer_resume(collector->place.fd, found->file, &options, info->tail_error.offset,
                                          NULL, &image->writer) == FP_OK;
    fp_reader_close(reader);
}

bool recover_footprint(struct collector *collector, struct collect_image *image)
{
    uint32_t window;
    const char *file = collect_note(image)->file;
    if (!fp_part_name(file, SEG_FILE, image->stem, &window)) {
        image->stem[0] = '\0';
        return false;
    }
    image->stopped_by = image->limit_cause = FP_LOSS_COLLECTOR;
    for (size_t i = 0; i < listing.count; i++)
        if (strcmp(listing.items[i].stem, image->stem) == 0)
            go_on_with(collector, image, &listing.items[i], i + 1 == past_parts(i));
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
    const char *program = fp_reader_meta(reader, "program"), *parent = fp_reader_meta(reader, "parent_pid");
    (void)snprintf(image->stem, sizeof image->stem, "%s", stem);
    (void)snprintf(image->program, sizeof image->program, "%s", program != NULL ? program : "");
    image->parent_pid = parent != NULL ? (uint32_t)strtoul(parent, NULL, 10) : 0;
    image->pid = fp_reader_info(reader)->process_id;
    image->pidfd = -1;
    image->ended = true;
    image->end = IMAGE_EXIT;
}

static void list_former_part(const struct collector *collector, struct collect_image *image,
                             const struct found *found)
{
    struct fp_reader *reader = open_footprint(collector, found->file);
    if (reader == NULL)
        return;
    const struct fp_reader_info *info = fp_reader_info(reader);
    if (image->part_count == 0)
        describe_former(image, found->stem, reader);
    (void)take_part(image, found, reader); /* without memory it is left out */
    if (info->lane_count > image->lane_end)
        image->lane_end = info->lane_count;
    fp_loss_add(image->lost, info->trailer.lost);
    fp_reader_close(reader);
}

/* The images whose footprints are there and whose slots are not: they had ended before. */
static void list_former(struct collector *collector)
{
    for (size_t first = 0, past; first < listing.count; first = past) {
        past = past_parts(first);
        struct collect_image *image = find_image(collector, listing.items[first].stem) == NULL
                                          ? calloc(1, sizeof *image)
                                          : NULL;
        if (image == NULL)
            continue;
        for (size_t i = first; i < past; i++)
            list_former_part(collector, image, &listing.items[i]);
        if (image->part_count == 0 || !list_image(collector, image)) {
            usage_release(image);
            free(image->parts);
            free(image);
        }
    }
}

/* ---- the segment ------------------------------------------------------------------------------------- */

static bool is_whole(const struct seg_fixed *fixed, uint64_t file_bytes)
{
    return seg_chunk_count_is_valid(fixed->chunk_count) &&
           file_bytes >= seg_view_at(NULL, fixed->chunk_count).bytes &&
           (fixed->clock == SEG_CLOCK_TSC || fixed->clock == SEG_CLOCK_MONOTONIC);
}

static enum recover_result map_segment(struct collect_segment *segment, const struct seg_header *seen,
                                       const char **ret_reason)
{
    struct stat status;
    if (flock(segment->file.fd, LOCK_EX | LOCK_NB) != 0) {
        *ret_reason = "somebody else is recovering it";
        return RECOVER_NOTHING;
    }
    if (fstat(segment->file.fd, &status) != 0) {
        *ret_reason = "its shared memory cannot be looked at";
        return RECOVER_FAILED;
    }
    if (status.st_nlink == 0) {
        *ret_reason = "somebody else has recovered it";
        return RECOVER_NOTHING;
    }
    if (!is_whole(&seen->fixed, (uint64_t)status.st_size)) {
        *ret_reason = "its shared memory is damaged";
        return RECOVER_FAILED;
    }
    void *area = mmap(NULL, seg_view_at(NULL, seen->fixed.chunk_count).bytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED, segment->file.fd, 0);
    if (area == MAP_FAILED) {
        *ret_reason = "no memory to map its shared memory";
        return RECOVER_FAILED;
    }
    /* Whatever is written there now by whomever, these are the numbers that were checked. */
    segment->view = seg_view_at(area, seen->fixed.chunk_count);
    segment->view.fixed = seen->fixed;
    return RECOVER_DONE;
}

enum recover_result recover_open(struct collector *collector, const char **ret_reason)
{
    struct seg_header seen;
    struct collect_segment *segment = &collector->segments[0];
    struct fp_segment_file *file = &segment->file;
    collector->place.fd = fp_trusted_open(AT_FDCWD, collector->options.out, S_IFDIR, FP_TRUSTED_OWN, NULL);
    if (collector->place.fd < 0 || realpath(collector->options.out, collector->place.path) == NULL) {
        *ret_reason = "the directory cannot be opened, or is not this user's alone";
        return RECOVER_FAILED;
    }
    if (!segment_of_dead_collector(collector->place.fd, file, &seen)) {
        *ret_reason = "there is nothing to recover";
        return RECOVER_NOTHING;
    }
    if (!segment_tell_path(file, collector->place.path, segment->path, sizeof segment->path)) {
        *ret_reason = "the path of its shared memory is too long";
        return RECOVER_FAILED;
    }
    enum recover_result result = map_segment(segment, &seen, ret_reason);
    if (result != RECOVER_DONE)
        return result;
    segment->chunks = calloc(seen.fixed.chunk_count, sizeof *segment->chunks);
    if (segment->chunks == NULL) {
        *ret_reason = "no memory for the table of chunks";
        return RECOVER_FAILED;
    }
    clock_resume(&collector->clock, &seen);
    collector->options.no_residency = (seen.fixed.flags & SEG_FLAG_RESIDENT) == 0;
    collector->options.sites = (seen.fixed.flags & SEG_FLAG_SITES) != 0;
    collector->options.sites_bytes = seen.fixed.sites_bytes;
    /* The present one may have its footprints' trailers already. */
    collector->windows.present = seen.window != 0 && seen.window < UINT32_MAX ? seen.window + 1 : 0;
    mapped_test(segment);
    return RECOVER_DONE;
}

/* The collector may have died while it finished an image. */
static void reopen_slots(struct seg_slot *slots)
{
    for (uint32_t index = 0; index < SEG_SLOT_COUNT; index++) {
        const uint64_t word = get_acquire(&slots[index].state);
        if ((word & 0xffffffff) == SEG_SLOT_ENDED)
            put_release(&slots[index].state, seg_slot_word(SEG_SLOT_ATTACHED, (uint32_t)(word >> 32)));
    }
}

void recover_run(struct collector *collector)
{
    const struct timespec last_calls = {0, LAST_CALLS_NS};
    FOR_EACH_SEGMENT (segment, collector) {
        atomic_store_explicit(&segment->view.header->stopped, 1, memory_order_seq_cst);
        atomic_store_explicit(&segment->view.header->closing, SEG_CLOSED, memory_order_seq_cst);
    }
    (void)nanosleep(&last_calls, NULL); /* cut short only costs stores under way */
    FOR_EACH_SEGMENT (segment, collector) {
        reopen_slots(segment->view.slots);
        segment->attaching = true; /* look at every slot */
    }
    list_directory(collector);
    image_discover_all(collector);
    (void)take_scan(collector);
    FOR_EACH_IMAGE (image, collector)
        image_finish(collector, image, image->confirmed ? IMAGE_RUNNING : IMAGE_EXIT);
    list_former(collector);
    free(listing.items);
}
