/* formats.h - all formats of traces, by place, kind and name: how each is recognised and read; the names of all kinds of files. */
#ifndef MALLAB_CONVERT_IMPORT_FORMATS_H
#define MALLAB_CONVERT_IMPORT_FORMATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "convert/base/request.h"
#include "convert/base/survey_counts.h"
#include "footprint/base/status.h"

struct conv_import;

struct conv_head {
    const char *bytes;
    size_t size;
    bool whole; /* nothing follows */
};

/* conv_head_line - take the next line with anything on it, without its end. False: there is none, or its end is not
 * within the head. */
bool conv_head_line(struct conv_head *head, const char **ret_line, size_t *ret_length);

/* One call, or what else a line tells. */
struct conv_parsed {
    uint8_t call; /* FP_CALL_*; FP_MARK_THREAD_EXIT; FP_MARK_GAP for a pause; FP_CALL_NONE: no call */
    bool has_time;
    uint32_t thread_id;            /* 0 is an id as any */
    uint64_t address, old_address; /* old_address: of a realloc, 0 for NULL */
    uint64_t size, extra;          /* as in struct fp_shape */
    uint64_t time_ns;              /* since the trace began */
    enum fp_status refusal;        /* with a complaint that is not about this line: its status */
    /* with options.salvage: halves of reallocs found to be alone, and what such a one released, before this call */
    uint8_t torn;
    uint64_t torn_address;
};

struct conv_format {
    enum conv_kind kind;
    const char *name;  /* of --from */
    const char *title; /* for help: what writes it */
    const char *lacks; /* words, each followed by ", " but the last */
    size_t state_bytes;
    /* A text is of this format where so many lines can be parsed, from the first on: */
    unsigned head_lines;
    /* 0: where this says so of the head, which could be of no other format by chance. */
    bool (*matches)(struct conv_head head);
    /* Text: one line that is not empty. ret is zeroed. Returns NULL, or what is wrong with it: static, or the
     * state's. */
    const char *(*parse)(void *state, const struct conv_options *options, const char *line, size_t length,
                         struct conv_parsed *ret);
    /* Binary, in place of parse: hand over everything. */
    enum fp_status (*run)(struct conv_import *import);
    /* The rest may be NULL. Before reading: import->options, import->lanes are there; take facts from the head. */
    void (*begin)(struct conv_import *import, struct conv_head head);
    /* Ends the import after the last call. */
    enum fp_status (*finish)(struct conv_import *import);
    void (*release)(void *state);
};

/* conv_format_fits - whether a head could be of this format. */
bool conv_format_fits(const struct conv_format *format, struct conv_head head);

/* conv_format_at - a format by its place in the table; conv_format_of_kind. NULL: there is none. Static. */
const struct conv_format *conv_format_at(size_t number);
const struct conv_format *conv_format_of_kind(enum conv_kind kind);

/* conv_kind_name - "footprint", "workload", "recording", "result", "text", a trace's format as --from has it, "unknown".
 * Static. */
const char *conv_kind_name(enum conv_kind kind);

/* conv_trace_title - the title of a kind that is another tool's trace; NULL: it is none. Static. */
const char *conv_trace_title(enum conv_kind kind);

/* conv_from_kind - what a name of --from stands for, footprint and recording included; CONV_KIND_UNKNOWN for others. */
enum conv_kind conv_from_kind(const char *name);

/* conv_from_names - all of those names with ", " between them; terminated, cut to size. Returns ret_text. */
char *conv_from_names(char *ret_text, size_t size);

#endif
