/* footprint.c - footprints named, described, begun, written and ended. */
#include "collect/steps.h"

#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "footprint/base/words.h"
#include "footprint/fp/fp_sites.h"

#define NAMES_PER_PID      1000u
#define RESERVE_WHEN_BELOW 65536u /* bytes free on the disk */

/* ---- disk space held back, and given back --------------------------------------------------------- */

/* If there is little free space, little is held: most of it is for what is recorded. */
#define SHARE_HELD 16u

#define TRAILERS_BYTES   262144u /* most of it for what btrfs sets aside for names while they are made */
#define LIST_BYTES       262144u /* of about 250 processes; more are asked for in time, if the disk has them */
#define TRAILERS_LEAST   16384u
#define LIST_LEAST       16384u
#define RENEW_WHEN_ABOVE (4u << 20)
#define LIST_BYTES_EACH  1024u /* what recording.json says of one process */

/* Blocks are written whole or not at all, and one of all its chunks takes up to 360 KB. */
#define SMALL_BLOCKS_BELOW (1u << 20)

uint64_t reserve_free_bytes(const struct collector *collector)
{
    struct statvfs space;
    return fstatvfs(collector->place.fd, &space) == 0 ? (uint64_t)space.f_bavail * space.f_frsize
                                                      : UINT64_MAX;
}

uint32_t reserve_block_chunks(const struct collector *collector)
{
    return reserve_free_bytes(collector) < SMALL_BLOCKS_BELOW ? 1 : collect_block_chunks(collector);
}

/* A share of what is free, down to `least` and as much as there is, by halves. Returns how much that was; 0: not even so
 * little. */
static uint64_t hold_some(const struct collector *collector, int fd, uint64_t wanted, uint64_t least)
{
    const uint64_t share = reserve_free_bytes(collector) / SHARE_HELD;
    while (wanted > share && wanted > least)
        wanted /= 2;
    for (; wanted >= least; wanted /= 2)
        if (posix_fallocate(fd, 0, (off_t)wanted) == 0)
            return wanted;
    return 0;
}

static void hold_for_trailers(struct collector *collector)
{
    static const char NAME[] = "reserve";
    collector->reserve.fd = openat(collector->place.fd, NAME,
                                   O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (collector->reserve.fd < 0)
        return;
    (void)unlinkat(collector->place.fd, NAME, 0); /* it lives by its descriptor */
    if (hold_some(collector, collector->reserve.fd, TRAILERS_BYTES, TRAILERS_LEAST) == 0)
        reserve_release(collector); /* nothing to spare */
}

/* The list comes first, because it tells the losses: it makes good a trailer without room. */
bool reserve_hold(struct collector *collector)
{
    /* Not every file system has files without names: there the last recording.json takes its chance. */
    collector->reserve.list_fd = openat(collector->place.fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    collector->reserve.list_bytes = collector->reserve.list_fd >= 0
                                        ? hold_some(collector, collector->reserve.list_fd, LIST_BYTES,
                                                    LIST_LEAST)
                                        : 0;
    if (collector->reserve.list_fd >= 0 && collector->reserve.list_bytes == 0) {
        errno = ENOSPC;
        return false;
    }
    hold_for_trailers(collector);
    return true;
}

void reserve_for_images(struct collector *collector)
{
    const uint64_t needed = collector->reserve.list_bytes / 2 +
                            collector->image_count * (uint64_t)LIST_BYTES_EACH;
    if (collector->reserve.list_fd < 0 || needed <= collector->reserve.list_bytes)
        return;
    /* Ask for twice as much, so that it is seldom asked for. Without room, what is held may have to
     * do. */
    const uint64_t wanted = 2 * needed;
    if (posix_fallocate(collector->reserve.list_fd, 0, (off_t)wanted) == 0)
        collector->reserve.list_bytes = wanted;
}

void reserve_renew(struct collector *collector)
{
    reserve_for_images(collector);
    if (collector->reserve.fd < 0 && reserve_free_bytes(collector) >= RENEW_WHEN_ABOVE)
        hold_for_trailers(collector);
}

void reserve_release(struct collector *collector)
{
    if (collector->reserve.fd < 0)
        return;
    (void)close(collector->reserve.fd); /* unlinked already: its blocks are free now */
    collector->reserve.fd = -1;
}

int reserve_take_list(struct collector *collector)
{
    const int fd = collector->reserve.list_fd;
    collector->reserve.list_fd = -1;
    return fd;
}

bool reserve_name_list(const struct collector *collector, int fd, const char *name)
{
    char path[64];
    const off_t end = lseek(fd, 0, SEEK_CUR);
    if (end < 0 || ftruncate(fd, end) != 0)
        return false;
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd); /* fits */
    /* The first way needs privileges on older kernels, the second /proc. */
    return linkat(fd, "", collector->place.fd, name, AT_EMPTY_PATH) == 0 ||
           linkat(AT_FDCWD, path, collector->place.fd, name, AT_SYMLINK_FOLLOW) == 0;
}

/* ---- names --------------------------------------------------------------------------------------- */

static void stem_of(const struct collect_image *image, uint32_t number, char *ret_stem, size_t size)
{
    char name[96];
    fp_part_stem(image->program, sizeof image->program, name, sizeof name);
    if (number == 1)
        (void)snprintf(ret_stem, size, "%s.%u", name, image->pid); /* fits */
    else
        (void)snprintf(ret_stem, size, "%s.%u.%u", name, image->pid, number);
}

/* A name that is taken is seen at its file. With windows, a name of another window is free, and so
 * the images are asked. */
static bool stem_is_taken(const struct collector *collector, const struct collect_image *mine,
                          const char *stem)
{
    for (size_t i = 0; collector->windows.present != 0 && i < collector->image_count; i++) {
        const struct collect_image *image = collector->images[i];
        if (image != mine && image->pid == mine->pid && strcmp(image->stem, stem) == 0)
            return true;
    }
    return false;
}

/* The name of its newest footprint, "" when it has none. */
static const char *newest_file(const struct collect_image *image)
{
    return image->part_count > 0 ? image->parts[image->part_count - 1].file : "";
}

/* ---- what a footprint says of itself --------------------------------------------------------------- */

/* Serials are never used twice, but a process can write what it likes: of several the one that has the parent's id, else the
 * first that came. */
static const struct collect_image *parent_of(const struct collector *collector,
                                             const struct collect_image *image)
{
    const struct collect_image *found = NULL;
    for (size_t i = collector->image_count; image->parent_serial != SEG_NOBODY && i-- > 0;) {
        const struct collect_image *other = collector->images[i];
        if (other->serial != image->parent_serial || other == image)
            continue;
        found = other;
        if (other->pid == image->parent_pid)
            break;
    }
    return found;
}

/* Meta data must be UTF-8 without newline: a program's path may be neither. */
static const char *printable(const char *text, char *ret_copy, size_t size)
{
    (void)fp_text_plain(text, ret_copy, size);
    return ret_copy;
}

static size_t describe(const struct collector *collector, const struct collect_image *image,
                       struct fp_meta *meta)
{
    static char program[SEG_PROGRAM], executable[SEG_EXECUTABLE], parent_pid[12], fork_number[12],
        fork_of[160], mean[24], window[12], part[24], begin[24];
    const struct collect_image *parent = parent_of(collector, image);
    size_t count = 0;
    (void)snprintf(parent_pid, sizeof parent_pid, "%u", image->parent_pid);
    printable(image->executable, executable, sizeof executable);
    meta[count++] = (struct fp_meta){"program", printable(image->program, program, sizeof program)};
    meta[count++] = (struct fp_meta){"executable", executable};
    meta[count++] = (struct fp_meta){"parent_pid", parent_pid};
    if (parent != NULL && parent->part_count > 0) {
        meta[count++] = (struct fp_meta){"fork_of", printable(newest_file(parent), fork_of, sizeof fork_of)};
        (void)snprintf(fork_number, sizeof fork_number, "%u", image->fork_number);
        if (image->fork_number != 0) /* else the parent has no mark of it */
            meta[count++] = (struct fp_meta){"fork_number", fork_number};
    }
    meta[count++] = (struct fp_meta){"libc", gnu_get_libc_version()};
    meta[count++] = (struct fp_meta){"clock", collector->clock.kind == SEG_CLOCK_TSC ? "tsc" : "monotonic"};
    meta[count++] = (struct fp_meta){"mallab_version", MALLAB_VERSION};
    if (collector->options.label != NULL)
        meta[count++] = (struct fp_meta){FP_LABEL_META, collector->options.label};
    meta[count++] = (struct fp_meta){"order", "epoch"};
    if (collector->options.sites_bytes != 0) {
        (void)snprintf(mean, sizeof mean, "%llu", (unsigned long long)collector->options.sites_bytes);
        meta[count++] = (struct fp_meta){FP_SAMPLE_META, mean};
    }
    if (collector->options.attached)
        meta[count++] = (struct fp_meta){FP_ATTACHED_META, "1"};
    if (collector->windows.present != 0) {
        (void)snprintf(window, sizeof window, "%u", collector->windows.present);
        (void)snprintf(part, sizeof part, "%zu", image->part_count + 1);
        meta[count++] = (struct fp_meta){"window", window};
        meta[count++] = (struct fp_meta){"part", part};
        (void)snprintf(begin, sizeof begin, "%llu", (unsigned long long)collector->windows.elapsed_ns);
        meta[count++] = (struct fp_meta){"window_begin_ns", begin};
    }
    return count;
}

/* ---- begin ------------------------------------------------------------------------------------------ */

/* The sum over all footprints that are kept. */
static uint64_t bytes_so_far(const struct collector *collector)
{
    uint64_t bytes = collector->bytes_finished;
    FOR_EACH_IMAGE (image, collector)
        bytes += image->bytes;
    return bytes;
}

static void set_limit(const struct collector *collector, struct collect_image *image,
                      struct fp_writer_options *options)
{
    const uint64_t used = bytes_so_far(collector), limit = collector->options.max_size_bytes;
    image->limit_cause = FP_LOSS_DISK_FULL;
    options->size_limit_bytes = collector->place.file_limit_bytes;
    if (limit != 0 &&
        (collector->place.file_limit_bytes == 0 || limit - used < collector->place.file_limit_bytes)) {
        options->size_limit_bytes = limit > used ? limit - used : 1;
        image->limit_cause = FP_LOSS_SIZE_LIMIT;
    }
}

/* The first part chooses the stem; later ones have it. The slot names a file before it is there: of one that it did not name, whoever
 * recovers would think that it is another process'. */
static enum fp_status create(struct collector *collector, struct collect_image *image,
                             struct collect_part *part)
{
    struct fp_writer_options options = {.process_id = image->pid,
                                        .start_unix_ns = collector->clock.start_unix_ns};
    struct fp_meta meta[20];
    struct fp_error error = {0};
    enum fp_status status = FP_ERR_EXISTS;
    const size_t meta_count = describe(collector, image, meta);
    const bool chosen = image->stem[0] != '\0';
    set_limit(collector, image, &options);
    for (uint32_t number = 1; status == FP_ERR_EXISTS && number <= (chosen ? 1 : NAMES_PER_PID); number++) {
        if (!chosen)
            stem_of(image, number, image->stem, sizeof image->stem);
        if (!chosen && stem_is_taken(collector, image, image->stem))
            continue;
        if (part->window == 0)
            (void)snprintf(part->file, sizeof part->file, "%.150s.fp", image->stem); /* fits */
        else
            (void)snprintf(part->file, sizeof part->file, "%.140s.w%04u.fp", image->stem, part->window);
        (void)snprintf(collect_note(image)->file, sizeof part->file, "%s", part->file);
        status = fp_writer_create(collector->place.fd, part->file, &options, meta, meta_count, &error,
                                  &image->writer);
    }
    return status;
}

void image_forget_marks(struct collect_image *image)
{
    for (uint32_t i = 0; i < image->lanes.count; i++) {
        struct collect_lane *lane = image->lanes.items[i];
        lane->marks = 0;
    }
}

void image_open_part(struct collector *collector, struct collect_image *image)
{
    struct collect_part *part = list_part(image);
    image->between = false;
    image->stopped_by = FP_LOSS_DISK_FULL;
    image->writing = false;
    if (part == NULL)
        return;
    part->window = collector->windows.present;
    put_relaxed(&collect_note(image)->events, 0);
    if (create(collector, image, part) != FP_OK) {
        stop_note(collector, STOP_DISK_FULL);
        return;
    }
    image->writing = true;
    stacks_begin_part(image);
    image->part_count++;
    part->bytes = fp_writer_bytes(image->writer);
    image->bytes += part->bytes;
    image_forget_marks(image);
}

/* ---- blocks ------------------------------------------------------------------------------------------- */

static void stop_writing(struct collector *collector, struct collect_image *image, enum fp_loss cause)
{
    image->writing = false;
    image->stopped_by = cause;
    if (cause == FP_LOSS_DISK_FULL)
        reserve_release(collector);
    stop_note(collector, cause == FP_LOSS_SIZE_LIMIT ? STOP_SIZE_LIMIT : STOP_DISK_FULL);
}

static void grown_to(struct collect_image *image, struct collect_part *part, uint64_t bytes)
{
    image->bytes += bytes - part->bytes;
    part->bytes = bytes;
}

static void write_block(struct collector *collector, struct collect_image *image, struct collect_lane *lane,
                        struct fp_columns *block)
{
    struct seg_slot_note *note = collect_note(image);
    struct collect_part *part = &image->parts[image->part_count - 1];
    enum fp_status status = stacks_write(collector, image);
    if (status == FP_OK)
        status = fp_writer_columns(image->writer, block, lane->number, lane->next_block);
    if (status != FP_OK) {
        stop_writing(collector, image, status == FP_ERR_LIMIT ? image->limit_cause : FP_LOSS_DISK_FULL);
        return;
    }
    lane->next_block++;
    lane->marks += block->mark_count;
    image->events += fp_columns_events(block);
    image->has_malloc = image->has_malloc || fp_columns_have(block, FP_CALL_MALLOC) ||
                        fp_columns_have(block, FP_CALL_CALLOC) || fp_columns_have(block, FP_CALL_REALLOC);
    part->events += fp_columns_events(block);
    grown_to(image, part, fp_writer_bytes(image->writer));
    put_relaxed(&note->events, part->events);
    stop_over(collector);
}

void image_store(struct collector *collector, struct collect_image *image, struct collect_lane *lane,
                 struct fp_columns *block)
{
    const uint64_t limit = collector->options.max_size_bytes;
    if (image->between)
        image_open_part(collector, image);
    if (image->writing && limit != 0 && bytes_so_far(collector) >= limit)
        stop_writing(collector, image, FP_LOSS_SIZE_LIMIT);
    if (image->writing)
        write_block(collector, image, lane, block);
    if (!image->writing)
        image->lost[image->stopped_by] += fp_columns_events(block);
    fp_columns_clear(block);
}

/* ---- end -------------------------------------------------------------------------------------------------- */

/* Count the losses since the trailer before, by cause. The process counts in its slot until it has
 * ended. */
static bool new_losses(struct collector *collector, struct collect_image *image, uint64_t *ret_lost)
{
    uint64_t sum = 0;
    if (!image->ended)
        complete_take_counts(collector, image);
    for (unsigned cause = 0; cause < FP_LOSS_COUNT; cause++) {
        const uint64_t counting = image->ended ? 0 : image->own_lost[cause];
        ret_lost[cause] = image->lost[cause] + counting - image->told[cause];
        sum += ret_lost[cause];
    }
    return sum > 0;
}

static void write_trailer(struct collector *collector, struct collect_image *image,
                          struct fp_trailer *trailer, struct fp_lane *lanes)
{
    struct collect_part *part = &image->parts[image->part_count - 1];
    struct stat file;
    for (uint32_t i = 0; i < image->lanes.count; i++) {
        const struct collect_lane *lane = image->lanes.items[i];
        lanes[lane->number] = (struct fp_lane){.thread_id = lane->thread_id,
                                               .is_main = lane->thread_id == image->inner_pid,
                                               .marks = lane->marks};
    }
    const struct fp_usage *usage = usage_present(collector, image);
    trailer->lanes = lanes;
    if (reserve_free_bytes(collector) < RESERVE_WHEN_BELOW)
        reserve_release(collector);
    if (usage != NULL)
        (void)fp_writer_usage(image->writer, usage); /* without room recording.json has its figures */
    part->has_trailer = fp_writer_finish(image->writer, trailer, NULL) == FP_OK;
    image->writer = NULL;
    if (fstatat(collector->place.fd, part->file, &file, AT_SYMLINK_NOFOLLOW) == 0)
        grown_to(image, part, (uint64_t)file.st_size);
}

void image_close_part(struct collector *collector, struct collect_image *image)
{
    struct fp_trailer trailer = {.end_time_ns = collect_elapsed_ns(collector), .lane_count = image->lane_end};
    struct fp_lane *lanes;
    const bool lost = new_losses(collector, image, trailer.lost);
    trailer.ran_on = image->ended && image->end == IMAGE_RUNNING;
    trailer.uncounted = trailer.ran_on && collector->options.recover;
    if (image->between && image->ended && lost)
        image_open_part(collector, image); /* there must be a trailer that tells them */
    if (image->writer == NULL)
        return;
    lanes = calloc(image->lane_end + 1, sizeof *lanes);
    if (lanes == NULL)
        return;
    write_trailer(collector, image, &trailer, lanes);
    free(lanes);
    fp_loss_add(image->told, trailer.lost);
    image->parts[image->part_count - 1].lost += fp_loss_sum(trailer.lost);
    image->between = image->writing;
}
