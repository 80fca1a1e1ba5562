/* formats.h - all formats of traces, by place, kind and name; the names of all kinds of files. */
#ifndef MALLAB_CONVERT_IMPORT_FORMATS_H
#define MALLAB_CONVERT_IMPORT_FORMATS_H

#include <stdbool.h>
#include <stddef.h>

#include "convert/base/kind.h"

struct conv_format;

/* conv_format_at - a format by its place in the table; conv_format_of_kind. NULL: there is none. Static. */
const struct conv_format *conv_format_at(size_t number);
const struct conv_format *conv_format_of_kind(enum conv_kind kind);

/* conv_kind_name - "footprint", "workload", "recording", "result", "text", a trace's format as --from has it, "unknown".
 * Static. */
const char *conv_kind_name(enum conv_kind kind);

/* A format of another tool. Static strings. */
struct conv_format_facts {
    const char *name;  /* for --from */
    const char *title; /* what it is, a few words */
    const char *lacks; /* what it does not tell, words of docs/importing.md with ", " between them */
};

/* conv_format_facts - the formats by number, from 0. False: there are fewer. */
bool conv_format_facts(size_t number, struct conv_format_facts *ret_facts);

/* conv_trace_title - the title of a kind that is another tool's trace; NULL: it is none. Static. */
const char *conv_trace_title(enum conv_kind kind);

/* conv_from_kind - what a name of --from stands for, footprint and recording included; CONV_KIND_UNKNOWN for others. */
enum conv_kind conv_from_kind(const char *name);

/* conv_from_names - all of those names with ", " between them; terminated, cut to size. Returns ret_text. */
char *conv_from_names(char *ret_text, size_t size);

#endif
