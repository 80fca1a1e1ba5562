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

/* conv_import_cut - its last line, or record, has no end and no meaning. */
void conv_import_cut(struct conv_import *import, const char *what);

/* A binary trace is damaged at offset; printf's words say how. Gives FP_ERR_CORRUPT with the error filled. */
#define CONV_IMPORT_WRONG(import, offset, ...)                                                               \
    conv_fail((import)->error, (import)->path, FP_ERR_CORRUPT, 0, offset, __VA_ARGS__)

/* conv_import_open - open another tool's trace; close() it after use.
 * path      "-" is standard input. Kept by reference until close.
 * kind      its format; CONV_KIND_UNKNOWN: found out, from its first bytes.
 * survey    kind and what the head tells are filled in. It must stay where it is until close.
 * Returns   FP_OK, or the status in ret_error: FP_ERR_FOREIGN for a trace of no known format, FP_ERR_READ when it may be
 *           of several. */
enum fp_status conv_import_open(const char *path, enum conv_kind kind, const struct conv_options *options,
                                struct conv_survey *survey, struct conv_error *ret_error,
                                struct conv_input *ret_input);

#endif
