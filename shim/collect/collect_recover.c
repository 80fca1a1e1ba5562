/* collect_recover.c - the segment of a killed collector, emptied. */
#include "shim/collect/collect_recover.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "shim/collect/collect_find.h"
#include "shim/collect/collect_image.h"
#include "shim/collect/collect_proc.h"
#include "shim/collect/collect_resume.h"
#include "shim/collect/collect_take.h"

#define LAST_CALLS_NS 50000000 /* for stores of living processes under way */

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
    struct fp_segment_file *file = &collector->segment.file;
    collector->directory_fd = fp_trusted_open(AT_FDCWD, collector->options.out, S_IFDIR, FP_TRUSTED_OWN,
                                              NULL);
    if (collector->directory_fd < 0 || realpath(collector->options.out, collector->directory) == NULL) {
        *ret_reason = "the directory cannot be opened, or is not this user's alone";
        return RECOVER_FAILED;
    }
    if (!segment_of_dead_collector(collector->directory_fd, file, &seen)) {
        *ret_reason = "there is nothing to recover";
        return RECOVER_NOTHING;
    }
    if (!segment_tell_path(file, collector->directory, collector->segment.path,
                           sizeof collector->segment.path)) {
        *ret_reason = "the path of its shared memory is too long";
        return RECOVER_FAILED;
    }
    enum recover_result result = map_segment(&collector->segment, &seen, ret_reason);
    if (result != RECOVER_DONE)
        return result;
    collector->chunks = calloc(seen.fixed.chunk_count, sizeof *collector->chunks);
    if (collector->chunks == NULL) {
        *ret_reason = "no memory for the table of chunks";
        return RECOVER_FAILED;
    }
    clock_resume(&collector->clock, &seen);
    collector->options.stamps = (seen.fixed.flags & SEG_FLAG_STAMPS) != 0;
    collector->options.no_residency = (seen.fixed.flags & SEG_FLAG_RESIDENT) == 0;
    /* The present one may have its footprints' trailers already. */
    collector->window = seen.window != 0 && seen.window < UINT32_MAX ? seen.window + 1 : 0;
    mapped_test(&collector->segment);
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
    struct seg_header *segment = collector->segment.view.header;
    struct collect_image *image;
    const struct timespec last_calls = {0, LAST_CALLS_NS};
    atomic_store_explicit(&segment->stopped, 1, memory_order_seq_cst);
    atomic_store_explicit(&segment->closing, SEG_CLOSED, memory_order_seq_cst);
    (void)nanosleep(&last_calls, NULL); /* cut short only costs stores under way */
    collector->segment.by_need = (collector->segment.view.fixed.flags & SEG_FLAG_BY_NEED) != 0;
    if (collector->segment.by_need)
        segment_take_beyond(&collector->segment);
    collector->segment.ready = seg_held(&collector->segment.view); /* whatever was written over `ready` */
    reopen_slots(collector->segment.view.slots);
    resume_remove_begun(collector);
    collector->attaching = true; /* look at every slot */
    image_discover_all(collector);
    (void)take_scan(collector);
    for (uint32_t slot = 0; (image = collect_next_image(collector, &slot)) != NULL;)
        image_finish(collector, image, image->confirmed ? IMAGE_RUNNING : IMAGE_EXIT);
    resume_list_former(collector);
}
