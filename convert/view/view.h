/* view.h - a recording as it grows: look again and again, and only at what is new.
 *
 *   status     what recording.json says at the moment
 *   part       a footprint; a process has one, or one for each window of a recording that is cut into such
 *   refresh    look what there is; nothing is opened
 *   read       decode what was found, a bounded amount at a time, so that the caller can do something else between
 *   interval   what rates are of: from one conv_view_mark to the next. What `_before` says is of its begin
 *
 * Events are not put into one order, as convert does; what is live follows from tally.h. Footprints may appear,
 * grow and vanish meanwhile. Memory grows with live objects, processes and lanes, and by about 50 bytes for each
 * block of a footprint that is being written. Nothing here prints. One thread at a time. */
#ifndef MALLAB_CONVERT_VIEW_VIEW_H
#define MALLAB_CONVERT_VIEW_VIEW_H

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
    bool attached;                /* to a program that ran already */
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
    void *in_windows;              /* those that are, as a tree by stem (tsearch) */
    struct conv_view_part **parts; /* by name */
    size_t part_count;
    uint64_t bytes;                  /* on disk now */
    uint64_t bytes_written;          /* also to files that are gone since */
    uint64_t bytes_dropped;          /* of those, what parts that are not kept any more had */
    struct conv_recording recording; /* as it was at the last refresh */
    size_t foreign;                  /* files *.fp that are no footprints */
    struct fp_block_buffer buffer;
};

/* conv_view_open - a view that has seen nothing.
 * path        a recording's directory or its recording.json.
 * process_id  of the one process to look at; 0: all.
 * Returns     FP_OK, or FP_ERR_MEMORY with ret_error filled. */
enum fp_status conv_view_open(const char *path, uint32_t process_id, struct conv_view **ret_view,
                              struct conv_error *ret_error);

/* conv_view_free - NULL is accepted. */
void conv_view_free(struct conv_view *view);

/* conv_view_refresh - look at recording.json, then which footprints there are. When the status' state is another than
 * CONV_RECORDING_GOING_ON, all that there will be has been found.
 * Returns  FP_OK, also when nothing is written yet; else the status in error: no directory, no recording, one of another
 *          version, no memory. */
enum fp_status conv_view_refresh(struct conv_view *view, struct conv_error *ret_error);

/* conv_view_read - read what the last refresh found, until about marks_max marks are done. Footprints are opened one
 * after the other, and closed at their end: those of processes that run stay open.
 * ret_more  whether something is left. When nothing is, the processes that have ended are concluded.
 * Returns   FP_OK, or the status in ret_error: a footprint that is damaged (file and offset), no footprint in a directory
 *           of which nothing else is known, no memory. */
enum fp_status conv_view_read(struct conv_view *view, uint64_t marks_max, bool *ret_more,
                              struct conv_error *ret_error);

/* conv_view_progress - bytes of footprints read so far, of those found. */
void conv_view_progress(const struct conv_view *view, uint64_t *ret_done, uint64_t *ret_total);

/* conv_view_mark - an interval begins. */
void conv_view_mark(struct conv_view *view);

/* conv_view_lost - calls lost by cause: what the collector told, or what the footprints say, whatever is more.
 * ret_lost  FP_LOSS_COUNT entries. Returns their sum. */
uint64_t conv_view_lost(const struct conv_view *view, uint64_t *ret_lost);

/* conv_view_knows_losses - whether that is all: false for a recording that broke off, and for one whose collector was
 * killed while a process ran on. Of a recording that goes on, "so far" is meant. */
bool conv_view_knows_losses(const struct conv_view *view);

/* conv_view_goes_on - whether the recording may still grow. */
bool conv_view_goes_on(const struct conv_view *view);

/* conv_view_is_running - whether the process goes on, or did when recording ended or broke off, as far as is known. */
bool conv_view_is_running(const struct conv_view *view, const struct conv_view_process *process);

#endif
