/* kind.h - what kinds of files mallab knows; their names are in convert/import/formats.h. */
#ifndef MALLAB_CONVERT_BASE_KIND_H
#define MALLAB_CONVERT_BASE_KIND_H

/* Other tools' traces (docs/importing.md), in the order of help and of messages. A name here is that of an enum
 * conv_kind, CONV_KIND_name, and of the struct conv_format that reads it, CONV_FORMAT_name, in a file of its own. */
#define CONV_TRACES(trace)                                                                                   \
    trace(ANDROID) trace(2009_RAW) trace(2009) trace(MTRACE) trace(GLIBC_WL) trace(LOGALLOC) trace(OPS)      \
        trace(REP) trace(HEAPTRACK)

enum conv_kind {
    CONV_KIND_UNKNOWN = 0,
    CONV_KIND_FOOTPRINT,
    CONV_KIND_WORKLOAD,
    CONV_KIND_RECORDING,
    CONV_KIND_RESULT, /* JSON of `mallab ab` */
    CONV_KIND_TEXT,   /* a workload as text: docs/text.md */
#define CONV_KIND_OF(name) CONV_KIND_##name,
    CONV_TRACES(CONV_KIND_OF)
#undef CONV_KIND_OF
};

#endif
