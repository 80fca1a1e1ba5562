/* import.h - the common part of the readers of other tools' traces.
 *
 *   format  one kind of trace: how it is recognised, how it is read, and what it does not tell. All stand in one
 *           list (convert/meson.build), from which --from, help and detection follow
 *   head    the first bytes of a trace, unpacked
 *   lacks   what a format does not tell, in the words of docs/importing.md
 *
 * A text format parses one line at a time into at most one call; a binary one runs by itself. Both hand calls to
 * conv_import_take, which finds the lane, marks what a realloc consumes, and fills batches.
 * The order of a trace's calls is the order of events. Formats with ids in place of addresses hand out ids that are
 * not 0 as addresses: all that pairing wants of one is that it is the same for the same object.
 * docs/importing.md says what each format's rules are. */
#ifndef MALLAB_CONVERT_IMPORT_IMPORT_H
#define MALLAB_CONVERT_IMPORT_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "convert/base/request.h"
#include "convert/base/source.h"
#include "convert/import/formats.h"
#include "convert/ops/live_table.h"

#define CONV_IMPORT_BATCH 256u

/* Thread ids of a trace to lanes, numbered from 0 as threads appear. An id whose thread has ended may come again: that is
 * another thread, with a lane of its own. */
struct conv_lanes {
    struct conv_live_table table; /* of running threads: thread id plus 1 -> lane */
    uint32_t *thread_ids;         /* by lane */
    uint32_t count;
    size_t capacity;
    uint64_t recent_key; /* of the thread asked for last, which is mostly the next one too; 0: none */
    uint32_t recent_lane;
};

struct conv_import {
    const struct conv_format *format;
    void *state; /* the format's, zeroed at the begin */
    struct conv_options options;
    struct conv_text *text;
    const char *path; /* borrowed */
    struct conv_lanes lanes;
    uint64_t time_ns;           /* highest seen */
    uint64_t bytes_read;        /* of the file by other ways than text; 0: none */
    uint64_t taken, understood; /* calls, and lines or records with a meaning */
    struct conv_survey *survey;
    /* while it runs */
    const struct conv_sink *sink;
    struct conv_error *error;
    char incomplete[200]; /* why the trace is not whole; "" when it is */
    /* the first that was left out */
    uint64_t wrong_offset, wrong_line;
    char wrong[128]; /* "": nothing was */
    struct conv_event batch[CONV_IMPORT_BATCH];
    size_t batch_count;
};

/* conv_import_take - hand over a call. Returns FP_OK, the sink's status, or FP_ERR_LIMIT, FP_ERR_MEMORY with the error
 * filled. Offset: where the call stands, for the error. */
enum fp_status conv_import_take(struct conv_import *import, const struct conv_parsed *parsed,
                                uint64_t offset);

/* conv_import_lacks - add a word to what this very trace does not tell. */
void conv_import_lacks(struct conv_import *import, const char *word);

/* conv_import_incomplete - note why the trace is not whole; the first reason stands. */
void conv_import_incomplete(struct conv_import *import, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* conv_import_cut - its last line, or record, has no end and no meaning. */
void conv_import_cut(struct conv_import *import, const char *what);

/* conv_import_wrong - a binary trace is damaged at offset. Returns FP_ERR_CORRUPT with the error filled. */
enum fp_status conv_import_wrong(struct conv_import *import, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* conv_import_open - open another tool's trace; close() it after use.
 * path      "-" is standard input. Kept by reference until close.
 * kind      its format; CONV_KIND_UNKNOWN: found out, from its first bytes.
 * survey    kind and what the head tells are filled in. It must stay where it is until close.
 * Returns   FP_OK, or the status in ret_error: FP_ERR_FOREIGN for a trace of no known format, FP_ERR_READ when it may be
 *           of several. */
enum fp_status conv_import_open(const char *path, enum conv_kind kind, const struct conv_options *options,
                                struct conv_survey *survey, struct conv_error *ret_error,
                                struct conv_input *ret_input);

/* ---- threads of a trace that take turns, and wait for each other's signals --------------------------
 *
 *   sync     a signal that is given once, by number; who waits for one that was given goes on at once
 *   ready    threads that can go on, first come, first served
 *
 * The order is repeatable: it follows from the calls below alone. Memory: about 16 bytes a thread, a bit a sync. */

struct conv_turn_wait {
    uint64_t sync;
    uint32_t next; /* waiting thread of the same bucket */
};

struct conv_turns {
    uint32_t thread_count;
    uint32_t *ready, ready_begin, ready_count;
    struct conv_turn_wait *waits; /* by thread */
    uint32_t *buckets;            /* of waiting threads, by sync */
    size_t bucket_mask;
    uint64_t seed;
    uint8_t *given; /* a bit for each sync */
};

/* conv_turns_init - all threads are ready in the order of their numbers, from 0; no sync was given.
 * thread_count  1 at least.
 * sync_max      highest number of a sync.
 * Returns       false: no memory. conv_turns_release accepts it in either case, and a zeroed one. */
bool conv_turns_init(struct conv_turns *turns, uint32_t thread_count, uint64_t sync_max);
void conv_turns_release(struct conv_turns *turns);

/* conv_turns_next - whose turn it is: it is not ready any more. False: nobody is ready. */
bool conv_turns_next(struct conv_turns *turns, uint32_t *ret_thread);

/* conv_turns_again - a thread whose turn is over is ready for the next. */
void conv_turns_again(struct conv_turns *turns, uint32_t thread);

/* conv_turns_give - a sync is given: who waits for it is ready, the one that waited longest last. */
void conv_turns_give(struct conv_turns *turns, uint64_t sync);

/* conv_turns_wait - a thread waits. True: the sync was given already, the thread goes on. */
bool conv_turns_wait(struct conv_turns *turns, uint32_t thread, uint64_t sync);

#endif
