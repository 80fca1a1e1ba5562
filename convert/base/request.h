/* request.h - a request for a conversion: its options, and its selection of an input. */
#ifndef MALLAB_CONVERT_BASE_REQUEST_H
#define MALLAB_CONVERT_BASE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Called about every 2^20 events. total is 0 when unknown. done and total are marks of footprints,
 * bytes of text inputs or ops of workloads; events: taken so far. */
typedef void conv_progress_fn(void *data, uint64_t events, uint64_t done, uint64_t total);

/* A moment of a recording. */
struct conv_when {
    enum {
        CONV_WHEN_NONE = 0, /* the beginning, or the end */
        CONV_WHEN_TIME,     /* value: nanoseconds since the recording began */
        CONV_WHEN_SHARE,    /* value: millionths of its duration */
        CONV_WHEN_CLOCK,    /* value: seconds of the day, local time; the first such after it began */
    } kind;
    uint64_t value;
};

#define CONV_SHARE_WHOLE 1000000u

/* The part of an input that is converted (docs/selections.md). These act in this order, each on what the one before left.
 * Zeroes: all of it. */
struct conv_selection {
    struct conv_when from, to; /* from <= time < to */
    uint64_t head;             /* the first so many calls; 0: all */
};

/* Zero-initialise for the defaults. */
struct conv_options {
    const char *from;    /* NULL: detect; else one of conv_from_names */
    const char *to;      /* NULL: "workload"; else one of conv_export_names */
    uint32_t process_id; /* which process; 0: of a recording that with most events */
    const char *
        process_file; /* of a recording: which footprint, by its name there, with or without the ending; before
                               * process_id. NULL: not so */
    uint32_t window_ops;   /* 0: the writer's default */
    int zstd_level;        /* 0: the writer's default */
    bool overwrite;        /* replace an existing output */
    bool no_sites;         /* leave out call stacks */
    bool no_inherited;     /* begin forked processes without their parents' objects */
    bool salvage;          /* leave out damaged blocks, lines and records instead of refusing */
    bool by_event;         /* for tests: no short cut for plain calls; the workload is the same */
    bool in_place;         /* no threads of our own. The workload is the same */
    uint64_t memory_bytes; /* bound on decoded blocks held at once, of each process; 0: fp_memory_bound() */
    struct conv_selection select;
    conv_progress_fn *progress;
    void *progress_data;
    /* In a pass without a writer, the sink that it returns (source.h) stands between the selection and the pairing.
     * NULL: nobody does. */
    struct conv_sink (*watch)(void *data, struct conv_sink next);
    void *watch_data;
};

/* conv_process_asked - whether one process is asked for, by its id or its footprint. */
static inline bool conv_process_asked(const struct conv_options *options)
{
    return options->process_id != 0 || options->process_file != NULL;
}

#endif
