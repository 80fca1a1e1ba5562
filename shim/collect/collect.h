/* collect.h - the types that the files of mallab-collect share; each file's functions are in its own header.
 *
 * The collector is one thread in one loop: notice processes, take full chunks, decode and write them, free them,
 * notice ends. It prints nothing; it answers once on the ready descriptor and then only through its files.
 *
 *   image   one process image in a slot of the segment; becomes one footprint
 *   taken   a chunk that left its process's hands (FULL, or its writer is dead) and waits in a stream's queue
 *   round   one turn of the loop */
#ifndef MALLAB_SHIM_COLLECT_COLLECT_H
#define MALLAB_SHIM_COLLECT_COLLECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "footprint/fp/columns.h"
#include "footprint/fp/footprint.h"
#include "shim/collect/collect_clock.h"
#include "shim/collect/collect_options.h"
#include "shim/collect/collect_segment.h"
#include "shim/shared/segment.h"

#define COLLECT_UNATTACHED_MOST  (UINT64_C(1) << 22) /* process ids that Linux has; more is no count */
#define COLLECT_CHUNKS_PER_BLOCK 16u /* 16 chunks of at most 4088 marks fit FP_BLOCK_MARKS_MAX */
#define COLLECT_SEGMENTS_MOST    16u

/* One thread's blocks in the footprint. */
struct collect_lane {
    uint32_t number;
    uint32_t thread_id;
    uint64_t next_block;
    uint64_t marks;
};

/* The chunks of one lane of the process (lane.h), which several threads have one after the other. */
struct collect_stream {
    uint32_t number;
    struct collect_image *image;
    struct collect_lane *lane;        /* whose records are being read */
    uint32_t queue_first, queue_last; /* 1 + index, ascending sequence; 0: none */
    uint32_t queue_length;
    uint32_t rank;                          /* 1 + which of its segment's `waiting` it is in; 0: none */
    struct collect_stream *before, *behind; /* there */
    bool is_left;                           /* the last chunk in the queue is of a thread that is gone */
    uint64_t waiting_ns;                    /* CLOCK_MONOTONIC at which the queue was empty or written last */
    uint64_t next_chunk;                    /* sequence of the chunk that continues what is written */
    uint64_t missing;              /* 1 + that of one that was missing while the pool was stuck; 0: none */
    uint32_t missing_scans;        /* for so many scans */
    uint64_t epoch;                /* of the records being read */
    uint64_t time_ns;              /* newest stamp: times never decrease within a lane */
    struct fp_site_decoder *sites; /* collect_footprint.h; NULL: none yet */
};

/* A table by number: the lanes, or the streams, of an image that sent something (collect_lists.c). */
struct collect_numbered {
    void **items;
    uint32_t *places;
    uint32_t count, place_count;
};

enum image_end {
    IMAGE_RUNNING,
    IMAGE_EXIT,
    IMAGE_EXEC,
};

/* One footprint of an image: of a window, or the only one. */
struct collect_part {
    char file[SEG_FILE];
    uint32_t window; /* 0: the recording is not cut into windows */
    uint64_t events, bytes, lost;
    bool has_trailer;
    bool removed; /* by --keep */
};

struct collect_image {
    struct collect_segment *segment;
    uint32_t slot; /* in it */
    uint32_t pid;
    uint64_t serial, parent_serial;
    uint64_t map_address;
    uint32_t parent_pid, fork_number;
    int pidfd;    /* -1: the kernel has none, or the process is gone */
    bool foreign; /* in a pid namespace below ours: thread ids are those of that one */
    uint32_t inner_pid;
    uint64_t found_ns;       /* CLOCK_MONOTONIC */
    bool moves;              /* to another user's segment: image_move */
    bool confirmed;          /* its pid was seen to map the segment: it means here what it means there */
    unsigned looks_unmapped; /* in a row */
    bool ended;
    enum image_end end;
    char executable[SEG_EXECUTABLE];
    char program[SEG_PROGRAM];
    char stem[SEG_FILE]; /* its footprints are STEM.fp, or STEM.wNNNN.fp by window; "" before the first */
    struct collect_part *parts; /* the last one is being written while there is a writer */
    size_t part_count, part_capacity;
    struct fp_writer *writer; /* NULL: not created, finished, or waiting for its first block */
    bool writing;             /* false after a write failed: drain and count only */
    bool between;             /* the last part is finished, and another begins with the next block */
    enum fp_loss stopped_by, limit_cause;
    struct collect_numbered lanes, streams; /* of struct collect_lane, collect_stream */
    uint32_t lane_end; /* 1 + the highest lane's number, 0: none; stays when they are released */
    uint64_t events;   /* of the parts that are kept; likewise bytes */
    uint64_t bytes;
    uint64_t lost[FP_LOSS_COUNT];     /* ours; the slot's are added at the end */
    uint64_t own_lost[FP_LOSS_COUNT]; /* the slot's, as complete_take_counts saw them last */
    bool counts_spoiled;              /* there stood one that cannot be */
    uint64_t told[FP_LOSS_COUNT];     /* of all losses, those that stand in a trailer */
    uint64_t stalls, stall_ns;
    struct fp_usage *usage;      /* collect_image.h; NULL: there was no memory for it */
    struct collect_looks *looks; /* while it runs */
    bool has_malloc, front_told; /* collect_complete.h */
    struct collect_sites *sites; /* collect_footprint.h; NULL: none told */
};

/* A stretch of time in which nothing was recorded, as asked. ns since recording began. */
struct collect_pause {
    uint64_t from_ns, to_ns; /* to_ns 0: it lasts */
};

/* Somebody outside asks for these: collect_loop.h has the signals. */
enum collect_request {
    COLLECT_PAUSE,
    COLLECT_RESUME,
    COLLECT_WINDOW,
    COLLECT_END,
    COLLECT_STATUS,
    COLLECT_REQUEST_COUNT,
};

/* Why nothing is recorded any more of a program that runs on. */
enum collect_stop {
    STOP_NONE,
    STOP_DISK_FULL,  /* a footprint cannot be written: no room, a quota, a limit of file sizes */
    STOP_SIZE_LIMIT, /* --max-size */
    STOP_DURATION,   /* --duration; for good, as is the next */
    STOP_ASKED,      /* --end; likewise */
    STOP_ALONE,      /* of a program that was attached to: who had attached was killed */
};

#define COLLECT_UNRECORDED_MAX 32
#define COLLECT_LINE           512 /* bytes of a line to whoever started us; record/tree_watch.h */

/* A program of the tree that is not recorded. */
struct collect_unrecorded {
    char name[64];
    char why[208];
    uint32_t pid; /* of the first one; 0: not known */
    bool guessed; /* from outside */
};

struct collect_notes {
    int fd; /* -1: none */
    struct collect_unrecorded named[COLLECT_UNRECORDED_MAX];
    size_t named_count;
    struct collect_unrecorded guessed[COLLECT_UNRECORDED_MAX]; /* decided at the end, by what came */
    size_t guessed_count;
    uint64_t more; /* notes beyond those */
    bool changed;  /* since recording.json was written */
};

struct collector {
    struct collect_options options;
    struct collect_segment segments[COLLECT_SEGMENTS_MOST]; /* our user's, and one for each other user */
    uint32_t segment_count;
    struct collect_clock clock;
    int directory_fd;
    bool made_directory; /* by us, not the user */
    char directory[4096];
    struct collect_image **images; /* all, in order of discovery; freed at the end */
    size_t image_count, image_capacity;
    uint64_t spoiled; /* chunks whose state no process of ours would write, and calls in those of nobody */
    uint64_t refused; /* processes beyond what a recording lists */
    uint64_t bytes_finished;    /* of finished footprints that are kept */
    uint32_t window;            /* the present one's number, from 1; 0: not cut into windows */
    uint64_t window_begin_ns;   /* CLOCK_MONOTONIC */
    uint64_t window_elapsed_ns; /* likewise, since recording began */
    uint64_t removed_windows, removed_events, removed_processes; /* by --keep */
    struct collect_pause *pauses;
    size_t pause_count, pause_capacity;
    bool paused;
    uint64_t answered[COLLECT_REQUEST_COUNT]; /* requests, by kind */
    enum collect_stop stopped_by, stop_told;  /* at present, and as recording.json has it */
    uint64_t stopped_ns;                      /* since recording began */
    uint32_t stops_told;                      /* to whoever started us: bit by cause, each once */
    uint64_t started_ns;                      /* CLOCK_MONOTONIC */
    uint64_t file_limit_bytes;                /* RLIMIT_FSIZE, 0: none */
    int reserve_fd;                           /* disk space kept back for trailers, -1 when given up */
    int list_fd;                              /* and for the last recording.json; -1: none */
    uint64_t list_bytes;
    uint32_t execed_pid; /* whose newest image may be about to join */
    uint64_t execed_ns;
    bool control_open;
    bool alone;     /* of options.attached: who started us has ended */
    bool seen_told; /* tell_seen */
    struct collect_notes notes;
};

#define FOR_EACH_SEGMENT(segment, collector)                                                                 \
    for (struct collect_segment *segment = (collector)->segments;                                            \
         segment < (collector)->segments + (collector)->segment_count; segment++)

/* collect_image_in - the image in a segment's slot, NULL when there is none that we know. */
static inline struct collect_image *collect_image_in(const struct collector *collector,
                                                     const struct collect_segment *segment, uint32_t slot)
{
    if (slot >= SEG_SLOT_COUNT || segment->image_of_slot[slot] == 0 || collector->images == NULL)
        return NULL;
    return collector->images[segment->image_of_slot[slot] - 1];
}

/* collect_next_image - the image in the first slot of all segments from *slot on that has one, with *slot behind it; NULL: none. */
static inline struct collect_image *collect_next_image(const struct collector *collector, uint32_t *slot)
{
    struct collect_image *image = NULL;
    for (; image == NULL && *slot < collector->segment_count * SEG_SLOT_COUNT; ++*slot)
        image = collect_image_in(collector, &collector->segments[*slot / SEG_SLOT_COUNT],
                                 *slot % SEG_SLOT_COUNT);
    return image;
}

/* collect_slot, collect_note - what an image's process tells in its slot, and what we tell there. */
static inline struct seg_slot *collect_slot(const struct collect_image *image)
{
    return &image->segment->view.slots[image->slot];
}

static inline struct seg_slot_note *collect_note(const struct collect_image *image)
{
    return &image->segment->view.slot_notes[image->slot];
}

/* collect_unattached - processes that found no slot, or none that they could keep. */
static inline uint64_t collect_unattached(const struct collector *collector)
{
    uint64_t all = collector->refused, told;
    for (uint32_t i = 0; i < collector->segment_count; i++) {
        told = get_relaxed(&collector->segments[i].view.shared->unattached);
        all += told < COLLECT_UNATTACHED_MOST ? told : 0; /* whatever stands there */
    }
    return all;
}

/* collect_elapsed_ns - nanoseconds since recording began; of a recovered one, at its collector's last word. */
static inline uint64_t collect_elapsed_ns(const struct collector *collector)
{
    const struct seg_header *segment = collector->segments[0].view.header;
    const uint64_t now = collector->options.recover && segment != NULL ? get_relaxed(&segment->heartbeat_ns)
                                                                       : clock_monotonic_ns();
    return now > collector->clock.first_ns ? now - collector->clock.first_ns : 0;
}

/* collect_beat - tell the waiting processes that we work (shim/preload/patience.c): in every round, and after each step of
 * those rounds that may be long. A recovered segment's programs are told nothing: nobody works for them. */
static inline void collect_beat(struct collector *collector)
{
    const uint64_t now = clock_monotonic_ns();
    for (uint32_t i = 0; i < collector->segment_count && !collector->options.recover; i++)
        put_relaxed(&collector->segments[i].view.header->heartbeat_ns, now);
}

/* collect_block_chunks - how many chunks of a stream are waited for, to be one block. */
static inline uint32_t collect_block_chunks(const struct collector *collector)
{
    return collector->options.sites && collector->options.sites_bytes == 0 ? COLLECT_CHUNKS_MOST
                                                                           : COLLECT_CHUNKS_PER_BLOCK;
}

#endif
