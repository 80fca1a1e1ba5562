/* collect_segment.h - the file behind the shared memory: made privately, filled ahead, removed at the end.
 *
 *   held    chunks that have memory behind them: all of them soon, where there is plenty, else as ready grows
 *   ready   chunks in use, of those; more as need be
 *
 * Memory is put behind a chunk (fallocate) before a process may claim it: on a full tmpfs a store into a hole is a
 * SIGBUS in the recorded program. */
#ifndef MALLAB_SHIM_COLLECT_COLLECT_SEGMENT_H
#define MALLAB_SHIM_COLLECT_COLLECT_SEGMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "footprint/base/segment_file.h"
#include "shim/collect/collect_options.h"
#include "shim/shared/segment.h"

struct collect_segment {
    struct seg_view view;
    uint32_t ready; /* chunks below it are looked at: the highest that was seen, see segment_ready */
    struct fp_segment_file file;
    char path[512]; /* of it, for others; as much as the shim takes */
    bool grown_out; /* no more memory to be had */
    bool hold_all;  /* memory is to be behind all chunks, so that they can be filled while we do not work */
    bool by_need;   /* or the processes do it for those that they need then: SEG_FLAG_BY_NEED */
    bool can_look;  /* /proc/PID/map_files tells whether a process has the segment mapped */
};

/* segment_create - make, map and lay out a segment.
 * directory_fd  of the recording; borrowed. The segment lies in it where there is no /dev/shm.
 * Returns       true, or false with *ret_reason set.
 * segment_publish - let processes use it: view.fixed goes into its header.
 * segment_remove - unlink the file; processes that have it mapped keep it. */
bool segment_create(struct collect_segment *segment, const struct collect_options *options, int directory_fd,
                    const char **ret_reason);
void segment_publish(struct collect_segment *segment);
void segment_remove(struct collect_segment *segment);

/* segment_grow - let the processes use `count` more chunks, with memory put behind them. Returns false when there is no more
 * memory, or they may use all chunks already.
 * segment_hold_more - a step towards memory behind all chunks, once a round.
 * segment_take_beyond - what the processes have put memory behind is held from here on. */
bool segment_grow(struct collect_segment *segment, uint32_t count);
void segment_hold_more(struct collect_segment *segment);
void segment_take_beyond(struct collect_segment *segment);

/* segment_ready - chunks below this index may be in use. It never falls: where somebody wrote less into shared memory, that is
 * set right. */
static inline uint32_t segment_ready(struct collect_segment *segment)
{
    uint32_t seen = get_acquire(&segment->view.shared->ready);
    if (seen < segment->ready)
        (void)swap_relaxed(&segment->view.shared->ready, &seen, segment->ready);
    if (segment->by_need)
        segment_take_beyond(segment);
    seen = seg_ready(&segment->view);
    if (seen > segment->ready)
        segment->ready = seen;
    return segment->ready;
}

/* segment_ready_all - likewise, and every chunk that is in use is below it: a process may have let one be used, and another
 * have written over the word before we saw it. Looks at the states of all chunks that have memory. */
static inline uint32_t segment_ready_all(struct collect_segment *segment)
{
    const uint32_t ready = segment_ready(segment);
    for (uint32_t index = seg_held(&segment->view); index > ready; index--)
        if (get_acquire(&segment->view.states[index - 1]) != SEG_CHUNK_FREE) {
            segment->ready = index;
            break;
        }
    return segment->ready;
}

/* segment_of_live_collector - the segment of a recording that still goes on.
 * directory_fd  of the recording, opened by fp_trusted_open; directory: its absolute path.
 * ret_path      absolute.
 * Returns       whether there is one. */
bool segment_of_live_collector(int directory_fd, const char *directory, char *ret_path, size_t size);

/* segment_of_dead_collector - the segment of a recording whose collector was killed, opened to be taken over, and its header
 * as it is now. The caller's to close. Returns whether there is one. */
bool segment_of_dead_collector(int directory_fd, struct fp_segment_file *ret_file,
                               struct seg_header *ret_header);

/* segment_read_recording - recording.json of a directory; NULL: there is none that may be believed. The caller's to release. */
struct json_t *segment_read_recording(int directory_fd);

/* segment_tell_path - the absolute path of a recording's segment. False: it is too long for the shim. */
bool segment_tell_path(const struct fp_segment_file *file, const char *directory, char *ret_path,
                       size_t size);

/* segment_remove_stale - unlink segments of ours whose collectors were killed, unless their recording still waits to be
 * recovered; whoever maps one keeps it. */
void segment_remove_stale(void);

#endif
