/* kind.h - the kinds of files that mallab knows; their names are in convert/import/formats.h. */
#ifndef MALLAB_CONVERT_BASE_KIND_H
#define MALLAB_CONVERT_BASE_KIND_H

#include "convert/trace_formats.h" /* CONV_TRACES: made by convert/meson.build from its list */

enum conv_kind {
    CONV_KIND_UNKNOWN = 0,
    CONV_KIND_FOOTPRINT,
    CONV_KIND_WORKLOAD,
    CONV_KIND_RECORDING,
    CONV_KIND_RESULT, /* JSON of `mallab ab` */
    CONV_KIND_TEXT,   /* a workload as text: docs/importing.md */
    CONV_KIND_TAR,    /* files of any kind, packed by tar: nothing of it is read */
/* Other tools' traces (docs/importing.md). Each is read by a struct conv_format, CONV_FORMAT_name. */
#define CONV_KIND_OF(name) CONV_KIND_##name,
    CONV_TRACES(CONV_KIND_OF)
#undef CONV_KIND_OF
};

#endif
