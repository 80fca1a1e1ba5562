/* collect_recover.c - what a killed collector left: its segment's records, put behind its footprints' last whole blocks.
 *
 * Run by hand of `mallab convert` and `mallab record`, never by a program. The segment is taken over for good: it is
 * stopped, so that processes still running claim nothing more, drained, and removed.
 * It was shared with the recorded processes, so nothing in it is believed before it is checked. */
#include "shim/collect.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LAST_CALLS_NS 50000000 /* for stores of living processes under way */

/* ---- the segment --------------------------------------------------------------------------------- */

static bool layout_is_ours(const struct seg_header *header, uint64_t file_bytes)
{
    struct seg_header expected = {0};
    if (header->chunk_count < SEG_CHUNKS_LEAST || header->chunk_count > SEG_CHUNKS_MOST)
        return false;
    seg_layout(&expected, header->chunk_count);
    return header->slot_count == expected.slot_count && header->slots_offset == expected.slots_offset &&
           header->states_offset == expected.states_offset &&
           header->chunks_offset == expected.chunks_offset &&
           header->segment_bytes == expected.segment_bytes && file_bytes >= expected.segment_bytes &&
           header->ready <= header->chunk_count &&
           (header->clock == SEG_CLOCK_TSC || header->clock == SEG_CLOCK_MONOTONIC);
}

static enum recover_result map_segment(struct collect_segment *segment, const struct seg_header *seen,
                                       const char **ret_reason)
{
    struct stat status;
    void *area;
    segment->fd = open(segment->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (segment->fd < 0 || fstat(segment->fd, &status) != 0) {
        *ret_reason = "its shared memory cannot be opened";
        return RECOVER_FAILED;
    }
    if (flock(segment->fd, LOCK_EX | LOCK_NB) != 0) {
        *ret_reason = "somebody else is recovering it";
        return RECOVER_NOTHING;
    }
    if (!layout_is_ours(seen, (uint64_t)status.st_size)) {
        *ret_reason = "its shared memory is damaged";
        return RECOVER_FAILED;
    }
    area = mmap(NULL, seen->segment_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, segment->fd, 0);
    if (area == MAP_FAILED) {
        *ret_reason = "no memory to map its shared memory";
        return RECOVER_FAILED;
    }
    segment->header = area;
    /* Whatever is written there now by whomever, these are the numbers that were checked. */
    seg_layout(segment->header, seen->chunk_count);
    atomic_store(&segment->header->ready, seen->ready);
    return RECOVER_DONE;
}

/* The dead collector's clock, up to its last word. */
static void take_clock(struct collect_clock *clock, const struct seg_header *header)
{
    clock->kind = (enum seg_clock)header->clock;
    clock->first_ticks = header->clock_first_ticks;
    clock->first_ns = header->clock_first_ns;
    clock->start_unix_ns = header->clock_start_unix_ns;
    clock->last_ticks = atomic_load_explicit(&header->clock_last_ticks, memory_order_relaxed);
    clock->last_ns = atomic_load_explicit(&header->clock_last_ns, memory_order_relaxed);
    clock->ns_per_tick = 1;
    if (clock->last_ticks > clock->first_ticks && clock->last_ns > clock->first_ns)
        clock->ns_per_tick = (double)(clock->last_ns - clock->first_ns) /
                             (double)(clock->last_ticks - clock->first_ticks);
}

enum recover_result recover_open(struct collector *collector, const char **ret_reason)
{
    struct seg_header seen;
    enum recover_result result;
    collector->directory_fd = open(collector->options.out, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (collector->directory_fd < 0 || realpath(collector->options.out, collector->directory) == NULL) {
        *ret_reason = "the directory cannot be opened";
        return RECOVER_FAILED;
    }
    if (!segment_of_dead_collector(collector->directory_fd, collector->segment.path,
                                   sizeof collector->segment.path, &seen)) {
        *ret_reason = "there is nothing to recover";
        return RECOVER_NOTHING;
    }
    result = map_segment(&collector->segment, &seen, ret_reason);
    if (result != RECOVER_DONE)
        return result;
    collector->taken = calloc(seen.chunk_count, 1);
    if (collector->taken == NULL) {
        *ret_reason = "no memory for the table of chunks";
        return RECOVER_FAILED;
    }
    take_clock(&collector->clock, &seen);
    collector->options.stamps = (seen.flags & SEG_FLAG_STAMPS) != 0;
    image_test_looking(&collector->segment);
    return RECOVER_DONE;
}

/* ---- footprints ---------------------------------------------------------------------------------- */

static bool is_plain_name(const char *name, size_t size)
{
    const size_t length = strnlen(name, size);
    return length > 0 && length < size && strchr(name, '/') == NULL && strcmp(name, ".") != 0 &&
           strcmp(name, "..") != 0;
}

static struct fp_reader *open_footprint(const struct collector *collector, const char *name)
{
    char path[PATH_MAX];
    struct fp_error error;
    struct fp_reader *reader = NULL;
    if ((size_t)snprintf(path, sizeof path, "%s/%s", collector->directory, name) >= sizeof path)
        return NULL;
    return fp_reader_open(path, &error, &reader) == FP_OK ? reader : NULL;
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

bool recover_footprint(struct collector *collector, struct collect_image *image, const struct seg_slot *slot)
{
    struct fp_writer_options options = {.size_limit_bytes = collector->file_limit_bytes};
    const struct fp_reader_info *info;
    struct fp_reader *reader;
    if (!is_plain_name(slot->file, sizeof slot->file))
        return false;
    reader = open_footprint(collector, slot->file);
    if (reader == NULL)
        return false;
    info = fp_reader_info(reader);
    (void)snprintf(image->file, sizeof image->file, "%s", slot->file); /* fits: checked above */
    image->events = atomic_load_explicit(&slot->events, memory_order_relaxed);
    image->bytes = info->file_bytes;
    image->stopped_by = image->limit_cause = FP_LOSS_COLLECTOR;
    image->trailer_written = info->has_trailer;
    if (take_lanes(image, info) && !info->has_trailer)
        image->writing = fp_writer_resume(collector->directory_fd, slot->file, &options,
                                          info->tail_error.offset, NULL, &image->writer) == FP_OK;
    fp_reader_close(reader);
    return true;
}

/* Processes that had ended before the collector did have a footprint and no slot. */
static bool is_listed(const struct collector *collector, const char *name)
{
    for (size_t i = 0; i < collector->image_count; i++)
        if (strcmp(collector->images[i]->file, name) == 0)
            return true;
    return false;
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

static void list_former(struct collector *collector, const char *name)
{
    struct fp_reader *reader = open_footprint(collector, name);
    struct collect_image *image = reader != NULL ? calloc(1, sizeof *image) : NULL;
    const struct fp_reader_info *info;
    const char *value;
    if (image == NULL || !image_list(collector, image)) {
        free(image);
        fp_reader_close(reader);
        return;
    }
    info = fp_reader_info(reader);
    (void)snprintf(image->file, sizeof image->file, "%s", name); /* a longer one is not ours */
    value = fp_reader_meta(reader, "program");
    (void)snprintf(image->program, sizeof image->program, "%s", value != NULL ? value : "");
    value = fp_reader_meta(reader, "parent_pid");
    image->parent_pid = value != NULL ? (uint32_t)strtoul(value, NULL, 10) : 0;
    image->pid = info->process_id;
    image->pidfd = -1;
    image->ended = true;
    image->end = IMAGE_EXIT;
    image->trailer_written = info->has_trailer;
    image->lane_count = info->lane_count;
    image->bytes = info->file_bytes;
    image->events = count_events(reader);
    memcpy(image->lost, info->trailer.lost, sizeof image->lost);
    fp_reader_close(reader);
}

static void list_all_former(struct collector *collector)
{
    const int copy = openat(collector->directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = copy >= 0 ? fdopendir(copy) : NULL;
    const struct dirent *entry;
    if (directory == NULL) {
        if (copy >= 0)
            (void)close(copy);
        return;
    }
    while ((entry = readdir(directory)) != NULL) {
        const size_t length = strlen(entry->d_name);
        if (length > 3 && strcmp(entry->d_name + length - 3, ".fp") == 0 &&
            !is_listed(collector, entry->d_name))
            list_former(collector, entry->d_name);
    }
    (void)closedir(directory); /* only read */
}

/* ---- all ----------------------------------------------------------------------------------------- */

/* The collector may have died while it finished an image. */
static void reopen_slots(struct seg_header *segment)
{
    struct seg_slot *slots = seg_slots(segment);
    for (uint32_t index = 0; index < SEG_SLOT_COUNT; index++) {
        const uint64_t word = atomic_load_explicit(&slots[index].state, memory_order_acquire);
        if ((word & 0xffffffff) == SEG_SLOT_ENDED)
            atomic_store_explicit(&slots[index].state,
                                  seg_slot_word(SEG_SLOT_ATTACHED, (uint32_t)(word >> 32)),
                                  memory_order_release);
    }
}

void recover_run(struct collector *collector)
{
    struct seg_header *segment = collector->segment.header;
    const struct timespec last_calls = {0, LAST_CALLS_NS};
    atomic_store_explicit(&segment->stopped, 1, memory_order_seq_cst);
    atomic_store_explicit(&segment->closing, SEG_CLOSED, memory_order_seq_cst);
    (void)nanosleep(&last_calls, NULL); /* cut short only costs stores under way */
    reopen_slots(segment);
    collector->attaching = true; /* look at every slot */
    image_discover(collector);
    (void)drain_scan(collector);
    for (uint32_t slot = 0; slot < SEG_SLOT_COUNT; slot++) {
        struct collect_image *image = collect_image_in(collector, slot);
        if (image != NULL)
            image_finish(collector, image, image->confirmed ? IMAGE_RUNNING : IMAGE_EXIT);
    }
    list_all_former(collector);
}
