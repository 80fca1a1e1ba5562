/* view_state.h - what a view of a recording knows (view.h). */
#ifndef MALLAB_CONVERT_VIEW_VIEW_STATE_H
#define MALLAB_CONVERT_VIEW_VIEW_STATE_H

#include <jansson.h>

#include "convert/recording/recording_json.h"
#include "convert/view/tally.h"

/* The collector's words in recording.json. Figures are 0 while it has told none. */
struct conv_view_status {
    enum conv_recording_state state;
    bool paused;
    bool told;       /* the figures below are the collector's, at its last word */
    bool ring_told;  /* likewise the ring_ ones */
    uint64_t number; /* of that word */
    uint64_t start_unix_ns, duration_ns;
    uint64_t stalls, stall_ns;
    uint64_t ring_chunks, ring_chunks_used; /* that are there; of these, in use */
    uint64_t ring_chunks_most, ring_chunk_bytes;
    uint64_t lost[FP_LOSS_COUNT]; /* with one process chosen, its own */
    const char *stop_words;       /* see struct conv_recording */
    uint64_t pauses;              /* as asked, the present one too */
    uint32_t collector_pid;
    char why[256]; /* why it is not finished; "" else */
};

struct conv_view_process {
    struct conv_tally tally;
    char stem[CONV_STEM_BYTES]; /* of its footprints' names (parts.h) */
    char name[256];             /* program; "" when unknown */
    uint32_t process_id, parent_process_id;
    uint64_t lost[FP_LOSS_COUNT]; /* from trailers */
    bool trailed;                 /* its newest part has a trailer */
    bool in_windows;              /* a trailer need not be its end */
    bool gone;                    /* recording.json says so */
    bool ran_on;                  /* it went on when recording ended or broke off, as far as is known */
    bool uncounted;               /* unseen by anybody: its collector was killed */
    uint32_t first_window;        /* of an image whose parts before are not there; 0: all are */
    size_t parts_open;
};

/* Blocks of all lanes are read by their lowest epoch, so that lanes stay together; those of a lane in their order, whose
 * epochs a signal handler may disturb. */
struct turn {
    uint64_t epoch; /* not below that of the lane's block before */
    size_t block;
};

struct conv_view_part {
    char *name;
    struct conv_view_process *process; /* NULL until it could be opened */
    struct fp_reader *reader;          /* NULL before, and when all was read */
    struct turn *turns;                /* of the blocks found, in the order in which they are to be read */
    size_t turn_count, turn_next;
    size_t blocks;              /* of the reader's, those that were given a turn */
    uint64_t bytes, bytes_read; /* when it was looked at; of that, what had been read before */
    bool looked;                /* since the last refresh */
    bool present;               /* in the directory */
    bool done;                  /* nothing more to be read: the end was read, or it is not looked at */
};

struct conv_view {
    char directory[CONV_PATH_BYTES];
    uint32_t only; /* process id; 0: all */
    struct conv_view_status status;
    struct conv_tally_sum sum, sum_before;
    struct conv_live_sum left; /* live in processes when they ended; without peaks */
    struct conv_view_process **processes;
    size_t process_count, process_capacity;
    struct conv_view_part **parts; /* by name */
    size_t part_count;
    uint64_t bytes;                  /* on disk now */
    uint64_t bytes_written;          /* also to files that are gone since */
    uint64_t bytes_dropped;          /* of those, what parts that are not kept any more had */
    struct conv_recording recording; /* as it was at the last refresh */
    size_t foreign;                  /* files *.fp that are no footprints */
    struct fp_block_buffer buffer;
};

#endif
