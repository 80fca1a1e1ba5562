/* collect.h - what the files of mallab-collect share.
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

#include "footprint/base/segment_file.h"
#include "footprint/fp/columns.h"
#include "footprint/fp/footprint.h"
#include "shim/shared/segment.h"

#define COLLECT_UNATTACHED_MOST  (UINT64_C(1) << 22) /* process ids that Linux has; more is no count */
#define COLLECT_CHUNKS_PER_BLOCK 16u /* 16 chunks of at most 4088 marks fit FP_BLOCK_MARKS_MAX */

struct collect_options {
    const char *out;
    uint64_t memory_bytes;
    uint64_t max_size_bytes; /* 0: none */
    uint64_t duration_ns;    /* 0: none */
    uint32_t leader_pid;     /* 0: whoever attaches first */
    int ready_fd;            /* -1: none */
    int control_fd;          /* -1: none */
    int library_fd; /* of the directory of a copy of the shim (footprint/base/library_copy.h); -1: none */
    bool no_follow;
    bool stamps; /* SEG_FLAG_STAMPS */
    bool drop;
    bool no_tsc;        /* CLOCK_MONOTONIC even where the TSC would serve */
    bool unique;        /* take another directory when `out` holds something */
    bool recover;       /* take over what a killed collector left of `out` */
    bool join;          /* hand out the segment of a recording that is going on in `out` */
    bool paused;        /* begin without recording, until told to start */
    uint64_t window_ns; /* a new window so often; 0: one for all */
    uint64_t keep;      /* windows kept, the present one among them; 0: all */
    bool no_residency;  /* how much of large objects is in memory is not noted */
    const char *only; /* as --only says, to be told in recording.json; the shim has it from its environment */
};

/* collect_parse_number - decimal digits up to `most`, and nothing else. */
bool collect_parse_number(const char *text, uint64_t most, uint64_t *ret_number);

extern const char COLLECT_USAGE[];

/* collect_parse_options - the command line; text is borrowed from argv, of whose directory trailing slashes are cut.
 * Returns 0 to go on, 1 when help was asked for, 2 on misuse. */
int collect_parse_options(int argc, char **argv, struct collect_options *ret_options);

/* ---- clock ------------------------------------------------------------------------------------- */

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
uint64_t clock_monotonic_ns(void);

/* ---- segment -------------------------------------------------------------------------------------- */

struct collect_segment {
    struct seg_view view;
    uint32_t ready; /* chunks below it are looked at: the highest that was seen, see segment_ready */
    struct fp_segment_file file;
    char path[512]; /* of it, for others; as much as the shim takes */
    bool grown_out; /* no more memory to be had */
    bool
        hold_all; /* memory is to be put behind all chunks, so that they can be filled while we cannot work */
    bool by_need; /* or the processes do it for those that they need then: SEG_FLAG_BY_NEED */
    bool can_look; /* /proc/PID/map_files tells whether a process has the segment mapped */
};

/* segment_create - make, map and lay out a segment; the header is published by segment_publish.
 * directory_fd  of the recording; borrowed. The segment lies in it where there is no /dev/shm.
 * Returns       true, or false with *ret_reason set. */
bool segment_create(struct collect_segment *segment, const struct collect_options *options, int directory_fd,
                    const char **ret_reason);
void segment_publish(struct collect_segment *segment);

/* segment_grow - let the processes use `count` more chunks, with memory put behind them; false when there is none or they
 * may use all. */
bool segment_grow(struct collect_segment *segment, uint32_t count);

/* segment_hold_more - a step on the way there, once a round. */
void segment_hold_more(struct collect_segment *segment);

/* segment_take_beyond - what the processes have put memory behind is held from here on. */
void segment_take_beyond(struct collect_segment *segment);

/* segment_ready - chunks below this index may be in use. It never falls: where somebody wrote less into shared memory, that is
 * set right. */
static inline uint32_t segment_ready(struct collect_segment *segment)
{
    uint32_t seen = atomic_load_explicit(&segment->view.shared->ready, memory_order_acquire);
    if (seen < segment->ready)
        (void)atomic_compare_exchange_strong_explicit(&segment->view.shared->ready, &seen, segment->ready,
                                                      memory_order_relaxed, memory_order_relaxed);
    if (segment->by_need)
        segment_take_beyond(segment);
    seen = seg_ready(&segment->view);
    if (seen > segment->ready)
        segment->ready = seen;
    return segment->ready;
}

/* segment_ready_all - likewise, and every chunk that is in use is below it: one may have been let be used by a process, and the
 * word written over before we saw it. Looks at the states of all chunks that have memory. */
static inline uint32_t segment_ready_all(struct collect_segment *segment)
{
    const uint32_t held = seg_held(&segment->view), ready = segment_ready(segment);
    for (uint32_t index = held; index > ready; index--)
        if (atomic_load_explicit(&segment->view.states[index - 1], memory_order_acquire) != SEG_CHUNK_FREE) {
            segment->ready = index;
            break;
        }
    return segment->ready;
}

/* room_is_ample - whether the machine, its control groups and the file system of fd have several times so many bytes of
 * memory free (collect_room.c). */
bool room_is_ample(int fd, uint64_t bytes);

/* process_start_ticks - field 22 of /proc/PID/stat (proc(5)), clock ticks from boot to the start of a process: with it,
 * a process id is never mistaken for a later owner's. 0 when it cannot be read. */
uint64_t process_start_ticks(uint32_t pid);

/* process_is_zombie - whether the leading thread of a process has ended and nobody has waited for it: the others may run
 * on, but its memory is not shown under its pid. False where /proc cannot tell. */
bool process_is_zombie(uint32_t pid);

/* segment_remove_stale - unlink segments of ours whose collectors were killed, unless their recording still waits to be
 * recovered; whoever maps one keeps it. */
void segment_remove_stale(void);

/* segment_remove - unlink the file; processes that are still mapped keep theirs. */
void segment_remove(struct collect_segment *segment);

/* segment_of_live_collector - the segment of a recording that still goes on.
 * directory_fd  of the recording, through the door; directory: its absolute path.
 * ret_path      absolute.
 * Returns       whether there is one. */
bool segment_of_live_collector(int directory_fd, const char *directory, char *ret_path, size_t size);

/* segment_of_dead_collector - the segment of a recording whose collector was killed, opened to be taken over, and its header
 * as it is now. The caller's to close. Returns whether there is one. */
bool segment_of_dead_collector(int directory_fd, struct fp_segment_file *ret_file,
                               struct seg_header *ret_header);

/* segment_tell_path - the absolute path of a recording's segment. False: it is too long for the shim. */
bool segment_tell_path(const struct fp_segment_file *file, const char *directory, char *ret_path,
                       size_t size);

/* ---- lanes, images ------------------------------------------------------------------------------- */

/* A chunk of the segment, by its index. */
struct taken_chunk {
    uint64_t sequence;
    uint32_t next; /* 1 + index of the one behind it in its stream's queue, 0: none */
    bool taken;    /* it is in a queue */
};

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
    uint32_t rank;                          /* 1 + which of collector->waiting it is in; 0: none */
    struct collect_stream *before, *behind; /* there */
    bool is_left;                           /* the last chunk in the queue is of a thread that is gone */
    uint64_t waiting_ns;                    /* CLOCK_MONOTONIC at which the queue was empty or written last */
    uint64_t next_chunk;                    /* sequence of the chunk that continues what is written */
    uint64_t
        missing; /* 1 + that of one that was missing while the pool was stuck, for so many scans; 0: none */
    uint32_t missing_scans;
    uint64_t epoch;   /* of the records being read */
    uint64_t time_ns; /* newest stamp: times never decrease within a lane */
};

/* Streams, the one that came first in front. */
struct stream_list {
    struct collect_stream *first, *last;
};

/* Those of an image that sent something (collect_lanes.c). */
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
    uint32_t slot;
    uint32_t pid;
    uint64_t serial, parent_serial;
    uint64_t map_address;
    uint32_t parent_pid, fork_number;
    int pidfd;    /* -1: the kernel has none, or the process is gone */
    bool foreign; /* in a pid namespace below ours: thread ids are those of that one */
    uint32_t inner_pid;
    uint64_t found_ns;       /* CLOCK_MONOTONIC */
    bool confirmed;          /* its pid was seen to map the segment: it means here what it means there */
    unsigned looks_unmapped; /* in a row */
    bool ended;
    enum image_end end;
    char executable[SEG_EXECUTABLE];
    char program[SEG_PROGRAM];
    char stem[SEG_FILE]; /* its footprints are STEM.fp, or STEM.wNNNN.fp by window; "" before the first */
    struct collect_part *parts; /* the last one is being written while there is a writer */
    size_t part_count, part_capacity;
    struct fp_writer
        *writer;  /* NULL when it could not be created, is finished, or waits for its first block */
    bool writing; /* false after a write failed: drain and count only */
    bool between; /* the last part is finished, and another begins with the next block */
    enum fp_loss stopped_by, limit_cause;
    struct collect_numbered lanes, streams; /* of struct collect_lane, collect_stream */
    uint32_t lane_end; /* 1 + the highest lane's number, 0: none; stays when they are released */
    uint64_t events;   /* of the parts that are kept; likewise bytes */
    uint64_t bytes;
    uint64_t lost[FP_LOSS_COUNT];     /* ours; the slot's are added at the end */
    uint64_t own_lost[FP_LOSS_COUNT]; /* the slot's, as counts_take saw them last */
    bool counts_spoiled;              /* there stood one that cannot be */
    uint64_t told[FP_LOSS_COUNT];     /* of all losses, those that stand in a trailer */
    uint64_t stalls, stall_ns;
};

/* A stretch of time in which nothing was recorded, as asked. ns since recording began. */
struct collect_pause {
    uint64_t from_ns, to_ns; /* to_ns 0: it lasts */
};

/* What is asked for from outside: collect_control.c has the signals. */
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
    STOP_ASKED,      /* --end */
};

#define COLLECT_UNRECORDED_MAX 32
#define COLLECT_LINE           512 /* bytes of a line to whoever started us; record/collector_messages.h */

/* A program of the tree that is not recorded. */
struct collect_unrecorded {
    char name[64];
    char why[208];
    uint32_t pid; /* of the first one; 0: not known */
    bool guessed; /* from outside; what the process says itself is better */
};

struct collect_notes {
    int fd; /* -1: none */
    struct collect_unrecorded named[COLLECT_UNRECORDED_MAX];
    size_t named_count;
    uint64_t more; /* notes beyond those */
};

struct collector {
    struct collect_options options;
    struct collect_segment segment;
    struct collect_clock clock;
    int directory_fd;
    bool made_directory; /* by us, not the user */
    char directory[4096];
    struct collect_image **images; /* all, in order of discovery; freed at the end */
    size_t image_count, image_capacity;
    uint32_t image_of_slot[SEG_SLOT_COUNT]; /* index + 1 into images */
    uint64_t
        claimed_ns[SEG_SLOT_COUNT];  /* since when a claim of an unknown process stands, 0 there is none */
    uint64_t claims[SEG_SLOT_COUNT]; /* its word */
    size_t running;
    uint64_t spoiled; /* chunks whose state no process of ours would write, and calls in those of nobody */
    uint64_t refused; /* processes beyond what a recording lists */
    uint64_t serials_seen;
    bool attaching;             /* a slot was seen claimed and not yet attached */
    struct taken_chunk *chunks; /* of the segment, by index */
    struct stream_list
        waiting[COLLECT_CHUNKS_PER_BLOCK]; /* those whose queue can be written, by its length less 1 */
    uint32_t free_chunks;                  /* below ready, at the last scan */
    uint32_t taken_chunks;
    uint32_t freed;      /* chunks freed since waiters were last told */
    uint64_t starved_ns; /* CLOCK_MONOTONIC since when no chunk is free or taken; 0: one is */
    uint64_t threads_ns; /* likewise of the last look for dead threads */
    uint64_t stuck_ns;   /* likewise since when all chunks wait for others that are missing; 0: they do not */
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
    struct collect_notes notes;
};

/* collect_image_in - the image in a slot, NULL when there is none that we know. */
static inline struct collect_image *collect_image_in(const struct collector *collector, uint32_t slot)
{
    if (slot >= SEG_SLOT_COUNT || collector->image_of_slot[slot] == 0 || collector->images == NULL)
        return NULL;
    return collector->images[collector->image_of_slot[slot] - 1];
}

/* collect_unattached - processes that found no slot, or none that they could keep. */
static inline uint64_t collect_unattached(const struct collector *collector)
{
    const uint64_t told = atomic_load_explicit(&collector->segment.view.shared->unattached,
                                               memory_order_relaxed);
    return collector->refused + (told < COLLECT_UNATTACHED_MOST ? told : 0); /* whatever stands there */
}

/* collect_elapsed_ns - nanoseconds since recording began; of a recovered one, at its collector's last word. */
static inline uint64_t collect_elapsed_ns(const struct collector *collector)
{
    const struct seg_header *segment = collector->segment.view.header;
    const uint64_t now = collector->options.recover && segment != NULL
                             ? atomic_load_explicit(&segment->heartbeat_ns, memory_order_relaxed)
                             : clock_monotonic_ns();
    return now > collector->clock.first_ns ? now - collector->clock.first_ns : 0;
}

/* collect_beat - tell the waiting processes that we work (shim/preload/patience.c): in every round, and after each step of
 * those rounds that may be long. A recovered segment's programs are told nothing: nobody works for them. */
static inline void collect_beat(struct collector *collector)
{
    if (!collector->options.recover)
        atomic_store_explicit(&collector->segment.view.header->heartbeat_ns, clock_monotonic_ns(),
                              memory_order_relaxed);
}

/* ---- the loop ---------------------------------------------------------------------------------------- */

/* loop_run - collect until nobody is left, or until it was asked to end.
 * loop_share_clock - note the newest anchor in the segment, for whoever recovers it when we are killed. */
void loop_run(struct collector *collector);
void loop_share_clock(struct collector *collector);

/* ---- queues ----------------------------------------------------------------------------------------- */

/* queue_insert - put a chunk where its sequence says. left: it is of a thread that is gone.
 * queue_drop - forget the first `count` chunks, which were written; next_chunk says what may follow.
 * queue_longest - a stream with the most chunks that can be written now, of those that have at least `least`; of several the one
 *                 that waits longest. One that was left counts as one with a block's worth: more may never come. NULL: none. */
void queue_insert(struct collector *collector, struct collect_stream *stream, uint32_t index,
                  uint64_t sequence, bool left);
void queue_drop(struct collector *collector, struct collect_stream *stream, uint32_t count);
struct collect_stream *queue_longest(const struct collector *collector, uint32_t least);

/* queue_skip - go on with the first chunk of a queue, although one before it is missing. */
void queue_skip(struct collector *collector, struct collect_stream *stream);

/* ---- drain ------------------------------------------------------------------------------------------ */

/* drain_scan - take every FULL chunk; without memory they stay where they are for the next round. Returns how many were taken. */
uint32_t drain_scan(struct collector *collector);

/* drain_blocks - write the lanes that have a block's worth, and more under pressure. Returns chunks freed. */
uint32_t drain_blocks(struct collector *collector);

/* drain_cut - write all that was recorded before the newest cut: whole chunks, and what
 * stands so far in those of lanes that have not come to it yet.
 * drain_present - likewise all that has been recorded by now. */
void drain_cut(struct collector *collector, struct collect_image *image);
void drain_present(struct collector *collector);

/* drain_waiting - write the lanes whose chunks have waited for a block's worth for some seconds: what a slow program
 * has done is not to depend for hours on our being alive. */
void drain_waiting(struct collector *collector);

/* drain_image - take and write everything of an image whose threads are all dead, or that is given up. What there is no memory
 * for is counted as lost (FP_LOSS_COLLECTOR): nobody comes back for it. */
void drain_image(struct collector *collector, struct collect_image *image);

/* drain_dead_threads - take the open chunks of threads that are gone although their process lives. */
void drain_dead_threads(struct collector *collector);

/* ---- decode ------------------------------------------------------------------------------------------ */

/* Whose records stand at a word of a chunk. */
struct decode_thread {
    uint32_t lane, thread_id;
};

/* decode_skip - pass over a chunk's records up to the word `end`, which a collector that is dead has read.
 * ret_epoch  the one in force there; untouched where none is told.
 * Returns    whose the records from there on are. */
struct decode_thread decode_skip(const struct seg_chunk_header *chunk, uint32_t end, uint64_t *ret_epoch);

/* chunk_calls - how many calls stand in a chunk that were not written yet; for one that is given up. No memory.
 * written  words of it that were, its header among them; 0: none. */
uint64_t chunk_calls(const struct seg_chunk_header *chunk, uint64_t written);

/* decode_chunk - append a chunk's records to the block, from word number `first`, 0 for the first record; one that begins another
 * thread is passed over there.
 * damaged      counts words that are no record.
 * ret_at       the first word not read: 0 as yet in a chunk that its writer still has.
 * Returns      0 when the chunk is done; else the word to go on with after the block was written and cleared: it was
 *              full, epochs were too far apart, or another thread begins there (decode_thread_at). */
uint32_t decode_chunk(struct fp_columns *block, struct collect_stream *stream,
                      const struct collect_clock *clock, const struct seg_chunk_header *chunk, uint32_t first,
                      uint64_t *damaged, uint32_t *ret_at);

/* decode_thread_at - whether a word begins another thread, and whose. */
bool decode_thread_at(const struct seg_chunk_header *chunk, uint32_t at, struct decode_thread *ret_thread);

/* ---- images ------------------------------------------------------------------------------------------- */

/* image_list - append to images; false: no memory. */
bool image_list(struct collector *collector, struct collect_image *image);

/* counts_take - note what the process of an image counts in its slot: losses and stalls. Before the slot is given away. */
void counts_take(struct collector *collector, struct collect_image *image);

/* image_discover - open a footprint for every slot attached since the last look, or as many as are taken in one round.
 * Returns whether that was all. */
bool image_discover(struct collector *collector);

/* image_discover_all - likewise, all that have come by now. */
void image_discover_all(struct collector *collector);

/* image_some_remain - whether an image is of a process that runs: not one whose process was never seen to have the segment although
 * that can be looked at for seconds, which is made up. */
bool image_some_remain(const struct collector *collector);

/* image_check_ends - finish the images whose process ended or execed. thorough: ask also where the kernel would
 * not have told (exec under a plain preload, kernels without pidfd). */
void image_check_ends(struct collector *collector, bool thorough);

/* image_finish - drain, write the trailer, free the slot. */
void image_finish(struct collector *collector, struct collect_image *image, enum image_end end);

/* image_bump_epochs - step the word of every image: so several threads' times stay close together, and one thread's next call
 * notices a pause before it (lane_record.c). Returns whether there is an image with several threads. */
bool image_bump_epochs(struct collector *collector);

/* image_open_part - begin another footprint of an image, in the present window. image->writing tells whether it could.
 * image_close_part - write the trailer of the one that is being written, if any. */
void image_open_part(struct collector *collector, struct collect_image *image);
void image_close_part(struct collector *collector, struct collect_image *image);

/* image_forget_marks - another part begins: what lanes have stored is counted anew. */
void image_forget_marks(struct collect_image *image);

/* image_add_part - room for another part; counted by the caller. NULL: no memory. */
struct collect_part *image_add_part(struct collect_image *image);

/* image_file - the name of its newest footprint, "" when it has none. */
const char *image_file(const struct collect_image *image);

/* image_bytes_so_far - of all footprints that are kept. */
uint64_t image_bytes_so_far(const struct collector *collector);

/* image_store - write the marks of a block to the image's footprint, or count them as lost. */
void image_store(struct collector *collector, struct collect_image *image, struct collect_lane *lane,
                 struct fp_columns *block);

/* image_lane, image_stream - that of a number, which may be new. NULL: no memory, or no number that can be.
 * image_release_lanes - forget them all. */
struct collect_lane *image_lane(struct collect_image *image, uint32_t number);
struct collect_stream *image_stream(struct collect_image *image, uint32_t number);
void image_release_lanes(struct collect_image *image);

/* ---- mapped ------------------------------------------------------------------------------------------- */

enum mapped {
    MAPPED_UNKNOWN, /* the kernel does not show it */
    MAPPED_NO,
    MAPPED_YES,
};

/* mapped_look - whether a process has the segment at that address.
 * mapped_is - whether it is seen to have it there.
 * mapped_anywhere - whether it has it at some address, or that cannot be told. Reads all of /proc/PID/maps.
 * mapped_test - find out whether this kernel shows mappings, by our own: sets can_look. */
enum mapped mapped_look(const struct collect_segment *segment, uint32_t pid, uint64_t address);
bool mapped_is(const struct collect_segment *segment, uint32_t pid, uint64_t address);
bool mapped_anywhere(const struct collect_segment *segment, uint32_t pid);
void mapped_test(struct collect_segment *segment);

/* mapped_unattached_remain - whether some process has the segment mapped without having attached: a forked child
 * that has not allocated yet. Walks /proc. */
bool mapped_unattached_remain(struct collector *collector);

/* ---- foreign ------------------------------------------------------------------------------------------- */

/* foreign_find - the process id, in our namespace, of a slot's process that is in another below it.
 * ret_parent    its parent's id here; untouched when there is none.
 * Returns       0 when there is no such process: it has ended. Walks /proc. */
uint32_t foreign_find(const struct collector *collector, const struct seg_slot *slot, uint32_t *ret_parent);

/* ---- control -------------------------------------------------------------------------------------------- */

/* control_init - take the signals by which a recording is controlled while it runs (mallab-record(1)).
 * control_begin - the first window, and the pause that --paused asks for; before the segment is published.
 * control_adopt - let a slot that was just found heed what it may have missed.
 * control_heed - do what was asked for since the last round. Returns whether the recording is to end.
 * control_is_due - whether something was asked for: a signal may come just before a sleep. */
void control_init(void);
void control_begin(struct collector *collector);
void control_adopt(struct collector *collector, uint32_t slot);
bool control_heed(struct collector *collector);
bool control_is_due(void);

/* ---- the output directory ---------------------------------------------------------------------------------- */

enum place {
    PLACE_OURS,
    PLACE_TAKEN,
    PLACE_JOINED,
    PLACE_FAILED,
    PLACE_UNTRUSTED, /* another user's, or others may write to it */
};

/* place_find - open options.out as directory_fd, new or empty; with options.unique or join, where that holds something, the
 * first of OUT.2, OUT.3 ... that is free; with join, the segment's path of a recording that goes on in one of them.
 * ret_number   1 for OUT itself, N for OUT.N.
 *              Of a directory in which another collector prepares its recording just now, join waits for that.
 * ret_error    why it is PLACE_UNTRUSTED.
 * Returns      PLACE_FAILED with errno set; PLACE_OURS with the directory locked against other collectors. */
enum place place_find(struct collector *collector, uint32_t *ret_number, struct fp_error *ret_error);

/* place_forget - remove a directory that place_find made, where nothing came of the recording. */
void place_forget(const struct collector *collector);

/* place_share - others may join: what waits in place_find goes on. After the segment was published. */
void place_share(const struct collector *collector);

/* ---- filters -------------------------------------------------------------------------------------------- */

/* collect_filters_passed - behind how many seccomp filters we are, if mincore(2) passes them: a child of ours tries it. 0: behind
 * none, or it does not, or the kernel does not tell (before 5.9). */
uint32_t collect_filters_passed(void);

/* ---- stops ------------------------------------------------------------------------------------------------ */

/* stop_note - nothing is written any more, of one process at least, for that reason; the first time it is told to whoever
 * started us, by a line on the control descriptor: "stopped CAUSE NS".
 * stop_over - a block was written again: when no process is without, "resumed NS".
 * stop_changed - whether recording.json is to be written because of it. Steps what it knows.
 * stop_name - as recording.json has it, NULL for STOP_NONE. */
void stop_note(struct collector *collector, enum collect_stop cause);
void stop_over(struct collector *collector);
bool stop_changed(struct collector *collector);
const char *stop_name(enum collect_stop cause);

/* ---- what is not recorded ---------------------------------------------------------------------------------- */

/* notes_open - the socket by which processes of the tree tell that they are not recorded; when the segment has its path.
 * notes_take - take what they told, and pass it on to whoever started us: "unrecorded INDEX PID NAME\tWHY" on the control
 * descriptor. Returns whether recording.json is to be written because of it.
 * notes_take_former - what recording.json says that a collector which is dead was told. */
void notes_open(struct collector *collector);
bool notes_take(struct collector *collector);
void notes_take_former(struct collector *collector);

/* ---- whether the recording is whole ------------------------------------------------------------------------ */

/* whole_of_image - whether an image is in the recording from its begin to its end, all of it, with nothing lost. */
bool whole_of_image(const struct collect_image *image);

/* whole_judge - whether all of the tree is, the one place that decides it; everybody else reads `complete`.
 * final    the recording is over.
 * ret_why  every cause, in words, with semicolons between; "" where it is whole. */
bool whole_judge(const struct collector *collector, bool final, char *ret_why, size_t size);

/* whole_lost - calls of an image that were lost so far, by cause; of one that has not ended, as counts_take saw them last. */
uint64_t whole_lost(const struct collect_image *image, unsigned cause);

/* ---- the disk's last bytes -------------------------------------------------------------------------------- */

/* reserve_hold - hold disk space back for trailers and for the last recording.json, of the latter as much as there is.
 * Returns false, with errno set, when there is not even a little.
 * reserve_renew - hold again what was given back, where others have made room meanwhile. */
bool reserve_hold(struct collector *collector);
void reserve_renew(struct collector *collector);

/* reserve_for_images - hold as much as so many processes' list needs. */
void reserve_for_images(struct collector *collector);

/* reserve_release - give the trailers' part back to the file system. */
void reserve_release(struct collector *collector);

/* reserve_block_chunks - of how many chunks a block is to be: fewer where the disk is nearly full, so that what is left of
 * it is used. */
uint32_t reserve_block_chunks(const struct collector *collector);

/* reserve_take_list - the file without a name, for the caller to write, name and close; -1: there is none. */
int reserve_take_list(struct collector *collector);

/* reserve_name_list - cut it behind what was written, and give it that name. */
bool reserve_name_list(const struct collector *collector, int fd, const char *name);

/* ---- recording.json ------------------------------------------------------------------------------------ */

/* json_write - write recording.json anew and put it in place of the old one. Returns false with errno set. */
bool json_write(struct collector *collector, bool final);

/* ---- recovery ------------------------------------------------------------------------------------------ */

enum recover_result {
    RECOVER_DONE,
    RECOVER_NOTHING, /* no segment, or its collector lives, or somebody else is at it */
    RECOVER_FAILED,
};

/* recover_open - map the segment of options.out's dead collector and check it. ret_reason is set unless RECOVER_DONE. */
enum recover_result recover_open(struct collector *collector, const char **ret_reason);

/* recover_run - stop the segment, write everything in it, finish all footprints. */
void recover_run(struct collector *collector);

/* resume_footprint - go on with the footprint that the note of the image's slot names. Returns false when there is none to go on with.
 * resume_list_former - list the images whose footprints are there and whose slots are not: they had ended before.
 * resume_remove_begun - remove footprints that do not say yet whose they are. */
bool resume_footprint(struct collector *collector, struct collect_image *image);
void resume_list_former(struct collector *collector);
void resume_remove_begun(struct collector *collector);

#endif
