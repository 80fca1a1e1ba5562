/* collect_segment.h - the file behind the shared memory: made privately, filled ahead, removed at the end.
 *
 *   held    chunks that have memory behind them, and may be used; more as need be
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

#define COLLECT_CHUNKS_MOST 32u /* of a block: with stacks, which take half of the words of a chunk */

/* A chunk of the segment, by its index. */
struct taken_chunk {
    uint64_t sequence;
    uint32_t next;  /* 1 + index of the one behind it in its stream's queue, 0: none */
    uint32_t words; /* as its thread closed it; 0: not known */
    bool taken;     /* it is in a queue */
};

/* Streams, the one that came first in front. */
struct stream_list {
    struct collect_stream *first, *last;
};

struct collect_segment {
    struct seg_view view;
    uint32_t user;               /* whose processes have it */
    struct fp_segment_file file; /* where it has no name, `fd` alone: of the shared part */
    int told_fd;                 /* there: of what is told, which cannot be written through it; else -1 */
    char path[512];              /* of it, for others; as much as the shim takes */
    bool grown_out;              /* no more memory to be had */
    bool spoiled;                /* a page of it was gone: segment_guard */
    bool can_look;               /* /proc/PID/map_files tells whether a process has the segment mapped */
    bool attaching;              /* a slot was seen claimed and not yet attached */
    uint32_t running;            /* images in it */
    uint32_t image_of_slot[SEG_SLOT_COUNT]; /* index + 1 into the collector's images */
    uint64_t claimed_ns[SEG_SLOT_COUNT];    /* since when an unknown process' claim stands; 0: none does */
    uint64_t claims[SEG_SLOT_COUNT];        /* its word */
    uint64_t serials_seen;
    struct taken_chunk *chunks;                      /* by index */
    struct stream_list waiting[COLLECT_CHUNKS_MOST]; /* they can be written; by queue length less 1 */
    uint32_t free_chunks;                            /* below ready, at the last scan */
    uint32_t taken_chunks;
    uint32_t freed;      /* chunks freed since waiters were last told */
    uint64_t starved_ns; /* CLOCK_MONOTONIC since when no chunk is free or taken; 0: one is */
    uint64_t threads_ns; /* likewise of the last look for dead threads */
    uint64_t stuck_ns;   /* likewise since when all chunks wait for others that are missing; 0: they do not */
};

/* segment_create - make, map and lay out a segment.
 * directory_fd  of the recording; borrowed. The segment lies in it where there is no /dev/shm.
 * Returns       true, or false with *ret_reason set.
 * segment_publish - let processes use it: view.fixed goes into its header.
 * segment_remove - unlink the file; processes that have it mapped keep it. */
bool segment_create(struct collect_segment *segment, const struct collect_options *options, int directory_fd,
                    const char **ret_reason);
void segment_publish(struct collect_segment *segment);

/* segment_create_for - one for another user's processes, published. It has no name, so it does not outlive us and them; nobody can cut it,
 * and what is told nobody but us can ever write.
 * first    the recording's, which it is laid out as, and told. Returns whether there is one. */
bool segment_create_for(struct collect_segment *segment, const struct collect_segment *first, uint32_t user);

/* segment_guard - survive pages that vanish: whoever has a segment for writing can take them out of it (MADV_REMOVE), and a full file
 * system or group has none to put there. Zeros are read there from then on, and the segment is `spoiled`.
 * segments  so many as there will be; to the end. */
void segment_guard(struct collect_segment *segments, size_t count);

void segment_remove(struct collect_segment *segment);

/* segment_grow - let the processes use `count` more chunks, with memory put behind them. Returns false when there is no more
 * memory, or they may use all chunks already. */
bool segment_grow(struct collect_segment *segment, uint32_t count);

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
