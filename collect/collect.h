/* collect.h - the types that the files of mallab-collect share; what they do is in steps.h.
 *
 * The collector is one thread in one loop: notice processes, take full chunks, decode and write them, free them,
 * notice ends. It prints nothing; it answers once on the ready descriptor and then only through its files.
 *
 *   image   one process image in a slot of the segment; becomes one footprint
 *   taken   a chunk that left its process's hands (FULL, or its writer is dead) and waits in a stream's queue
 *   round   one turn of the loop */
#ifndef MALLAB_COLLECT_COLLECT_H
#define MALLAB_COLLECT_COLLECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "footprint/base/arrays.h"
#include "footprint/base/process.h"
#include "footprint/base/trusted.h"
#include "footprint/fp/columns.h"
#include "footprint/fp/footprint.h"
#include "shim/shared/segment.h"

#define COLLECT_UNATTACHED_MOST  (UINT64_C(1) << 22) /* process ids that Linux has; more is no count */
#define COLLECT_CHUNKS_PER_BLOCK 16u /* 16 chunks of at most 4088 marks fit FP_BLOCK_MARKS_MAX */
#define COLLECT_SEGMENTS_MOST    16u

/* ---- the command line ---- */

struct collect_options {
    const char *out;
    uint64_t memory_bytes;
    uint64_t max_size_bytes; /* 0: none */
    uint64_t duration_ns;    /* 0: none */
    uint64_t command_pid;    /* of the command that is recorded, a child of our starter's; 0: not known */
    uint64_t leader_pid;     /* 0: whoever attaches first */
    int ready_fd;            /* -1: none */
    int control_fd;          /* -1: none */
    bool attached;        /* to a program that ran already: the control descriptor's end is our starter's */
    bool no_follow;       /* SEG_FLAG_NO_FOLLOW */
    bool drop;            /* SEG_FLAG_DROP */
    bool no_residency;    /* not SEG_FLAG_RESIDENT */
    bool sites;           /* SEG_FLAG_SITES */
    uint64_t sites_bytes; /* seg_fixed.sites_bytes */
    bool no_tsc;          /* CLOCK_MONOTONIC even where the TSC would serve */
    bool unique;          /* take another directory when `out` holds something */
    bool join;            /* hand out the segment of a recording that is going on in `out` */
    bool recover;         /* take over what a killed collector left of `out` */
    bool paused;          /* begin without recording, until told to start */
    uint64_t window_ns;   /* a new window so often; 0: one for all */
    uint64_t keep;        /* windows kept, the present one among them; 0: all */
    const char *only;     /* as --only says, for recording.json; the shim has it from its environment */
    const char *label;    /* of the host (footprint/base/words.h); NULL: none */
};

extern const char COLLECT_USAGE[];

/* collect_parse_number - decimal digits up to `most`, and nothing else. */
bool collect_parse_number(const char *text, uint64_t most, uint64_t *ret_number);

/* collect_parse_options - the command line. Text is borrowed from argv; slashes at the directory's end are cut off there.
 * Returns 0 to go on, 1 when help was asked for, 2 on misuse. */
int collect_parse_options(int argc, char **argv, struct collect_options *ret_options);

/* ---- the shared memory: made privately, filled ahead, removed at the end ----
 *
 *   held    chunks that have memory behind them, and may be used; more as need be
 *
 * Memory is put behind a chunk (fallocate) before a process may claim it: on a full tmpfs a store into a hole is a
 * SIGBUS in the recorded program. */

#define COLLECT_CHUNKS_MOST 32u /* of a block: with stacks, which take half of the words of a chunk */

/* A chunk of the segment, by its index. */
struct taken_chunk {
    uint64_t sequence;
    uint32_t next;  /* 1 + index of the one behind it in its stream's queue, 0: none */
    uint32_t words; /* as its thread closed it; 0: not known */
    bool taken;     /* it is in a queue */
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
    struct taken_chunk *chunks;     /* by index */
    struct collect_stream *waiting; /* one that has chunks in its queue; the others behind it */
    uint32_t free_chunks;           /* of those kept for nobody, at the last scan; likewise the next */
    uint32_t coming_chunks;         /* full or taken: they will be free */
    uint32_t taken_chunks;
    uint32_t freed;                     /* chunks freed since waiters were last told */
    uint64_t starved_ns;                /* CLOCK_MONOTONIC since when no chunk is free or coming; 0: one is */
    uint64_t threads_ns;                /* likewise of the last look for dead threads */
    uint64_t stuck_ns;                  /* likewise since when all chunks wait for others that are missing */
    uint32_t stuck_chunks, stuck_scans; /* so many chunks for so many scans */
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

/* ---- which clock the lanes read, and what its readings mean ------------------------------------------ */

/* Ticks to nanoseconds since recording began: a line through the first anchor and the newest. */
struct collect_clock {
    enum seg_clock kind;
    uint64_t first_ticks, first_ns; /* raw clock, CLOCK_MONOTONIC */
    uint64_t last_ticks, last_ns;
    double ns_per_tick;
    uint64_t start_unix_ns; /* wall clock at first_ns */
};

/* clock_start - choose and calibrate; takes about 2 ms where the TSC is used.
 * clock_anchor - take a new anchor; cheap, once a round.
 * clock_ns - nanoseconds since recording began of a raw reading; 0 for readings before it. */
void clock_start(struct collect_clock *clock, bool no_tsc);
void clock_anchor(struct collect_clock *clock);
uint64_t clock_ns(const struct collect_clock *clock, uint64_t raw);

/* clock_share - note the newest anchor in the segment, for whoever recovers it when we are killed.
 * clock_resume - the clock of a collector that was killed, up to the last anchor that it shared. */
void clock_share(const struct collect_clock *clock, struct seg_header *segment);
void clock_resume(struct collect_clock *clock, const struct seg_header *segment);

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
    struct collect_stream *before, *behind; /* while its segment's `waiting` leads to it */
    bool is_left;                           /* the last chunk in the queue is of a thread that is gone */
    uint64_t waiting_ns;                    /* CLOCK_MONOTONIC at which the queue was empty or written last */
    uint64_t next_chunk;                    /* sequence of the chunk that continues what is written */
    uint64_t epoch;                         /* of the records being read */
    uint64_t time_ns;                       /* newest stamp: times never decrease within a lane */
    struct fp_site_decoder *sites;          /* steps.h; NULL: none yet */
};

/* The lanes, or the streams, of an image that sent something, in the order in which they were first seen; each begins with its
 * number, by which the index has it (image.c). */
struct collect_numbered {
    void **items;
    size_t capacity;
    struct fp_index index;
    uint32_t count;
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
    struct fp_usage *usage;      /* steps.h; NULL: there was no memory for it */
    struct collect_looks *looks; /* while it runs */
    bool has_malloc, front_told; /* judge.c */
    struct collect_sites *sites; /* steps.h; NULL: none told */
};

/* A stretch of time in which nothing was recorded, as asked. ns since recording began. */
struct collect_pause {
    uint64_t from_ns, to_ns; /* to_ns 0: it lasts */
};

/* Somebody outside asks for these: steps.h has the signals. */
enum collect_request {
    COLLECT_PAUSE,
    COLLECT_RESUME,
    COLLECT_WINDOW,
    COLLECT_END,
    COLLECT_STATUS,
    COLLECT_REQUEST_COUNT,
};

/* The reasons for which nothing is recorded any more of a program that runs on. */
enum collect_stop {
    STOP_NONE,
    STOP_DISK_FULL,  /* a footprint cannot be written: no room, a quota, a limit of file sizes */
    STOP_SIZE_LIMIT, /* --max-size */
    STOP_DURATION,   /* --duration; for good, as is the next */
    STOP_ASKED,      /* --end; likewise */
    STOP_ALONE,      /* of a program that was attached to: who had attached was killed */
};

#define COLLECT_UNRECORDED_MAX 32
#define COLLECT_LINE           512 /* bytes of a line to whoever started us; record/tree_watch.c */

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

/* The parts of the recording, by who changes them. */
struct collector {
    struct collect_options options;
    struct collect_segment segments[COLLECT_SEGMENTS_MOST]; /* our user's, and one for each other user */
    uint32_t segment_count;
    struct collect_clock clock;
    uint64_t started_ns;           /* CLOCK_MONOTONIC */
    struct collect_image **images; /* all, in order of discovery; freed at the end */
    size_t image_count, image_capacity;
    uint64_t spoiled; /* chunks whose state no process of ours would write, and calls in those of nobody */
    uint64_t refused; /* processes beyond what a recording lists */
    uint64_t bytes_finished; /* of finished footprints that are kept */
    struct {
        uint32_t pid; /* whose newest image may be about to join */
        uint64_t ns;
    } execed; /* image.c */
    struct {
        int fd;
        bool made; /* by us, not the user */
        char path[4096];
        uint64_t file_limit_bytes; /* RLIMIT_FSIZE, 0: none */
    } place;                       /* collect_main.c */
    struct {
        uint32_t present;                                    /* its number, from 1; 0: not cut into windows */
        uint64_t begin_ns;                                   /* CLOCK_MONOTONIC */
        uint64_t elapsed_ns;                                 /* likewise, since recording began */
        uint64_t removed, removed_events, removed_processes; /* by --keep */
    } windows;                                               /* rounds.c, as the next two */
    struct {
        struct collect_pause *items;
        size_t count, capacity;
        bool now;
    } pauses;
    struct {
        bool open;                                /* CMD has not ended, by who started us */
        bool alone;                               /* of options.attached: who started us has ended */
        bool seen_told;                           /* tell_seen */
        uint64_t answered[COLLECT_REQUEST_COUNT]; /* requests, by kind */
    } control;
    struct {
        enum collect_stop by, told; /* at present, and as recording.json has it */
        uint64_t after_ns;          /* since recording began */
        uint32_t causes_told;       /* to whoever started us: bit by cause, each once */
    } stop;                         /* tell.c */
    struct {
        int fd;      /* disk space kept back for trailers, -1 when given up */
        int list_fd; /* and for the last recording.json; -1: none */
        uint64_t list_bytes;
    } reserve; /* footprint.c */
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

#define FOR_EACH_IMAGE(image, collector)                                                                     \
    for (uint32_t image##_slot = 0; image##_slot != UINT32_MAX; image##_slot = UINT32_MAX)                   \
        for (struct collect_image * image; (image = collect_next_image(collector, &image##_slot)) != NULL;)

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
                                                                       : fp_now_ns();
    return now > collector->clock.first_ns ? now - collector->clock.first_ns : 0;
}

/* collect_beat - tell the waiting processes that we work (shim/preload/lane_chunk.c): in every round, and after each step of
 * those rounds that may be long. A recovered segment's programs are told nothing: nobody works for them. */
static inline void collect_beat(struct collector *collector)
{
    const uint64_t now = fp_now_ns();
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
