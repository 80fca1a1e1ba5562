/* survey_counts.h - the counts and facts of a pass over an input, of the whole and of each process.
 *
 * While a pass runs, live_bytes_end and live_objects_end hold the present figures. */
#ifndef MALLAB_CONVERT_BASE_SURVEY_COUNTS_H
#define MALLAB_CONVERT_BASE_SURVEY_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "convert/base/error.h"
#include "convert/trace_formats.h" /* CONV_TRACES: made by convert/meson.build from its list */
#include "footprint/base/call.h"
#include "footprint/base/words.h"
#include "footprint/fp/footprint.h"
#include "footprint/fp/usage.h"

/* The kinds of files that mallab knows; their names are in convert/import/formats.h. */
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

/* Rules: docs/order.md, by these names. The order is that of output. */
enum conv_irregularity {
    CONV_FREE_OF_UNKNOWN = 0, /* a release of an address that holds no object, double frees among them */
    CONV_RESIZE_OF_UNKNOWN,   /* a realloc of such an address */
    CONV_LOST_FREE,           /* an allocation over a live object: its release was lost */
    CONV_FAILED_CALLS,        /* the allocator returned NULL */
    CONV_REALLOC_TO_ZERO,     /* realloc(p, 0) that returned NULL: a free */
    CONV_UNFINISHED_CALLS,    /* a realloc that did not return before the lane's end or a gap */
    CONV_IMPOSSIBLE_CALLS,    /* an address or size of 2^48 and more */
    CONV_ORDER_REPAIRED,      /* an event moved before others of its own thread, within one epoch */
    CONV_OVERSIZED_GROUPS,    /* epochs with too many events to search at once, cut by time */
    CONV_GAPS,                /* places where a lane says that calls were lost */
    CONV_MISSING_BLOCKS,      /* blocks of a lane that are not in the file */
    CONV_SALVAGED_BLOCKS,     /* damaged blocks left out (options.salvage) */
    CONV_CUT_LINES,           /* a trace's last line, or record, that has no end and no meaning */
    CONV_INHERITED_FREES,     /* in a forked process, releases and reallocs of its parent's objects */
    CONV_PAUSES,              /* places where a lane says that recording was paused */
    CONV_UNRECORDED_OBJECTS, /* releases and reallocs of objects made before the first window there is, or in a pause */
    CONV_UNRECORDED_FREES, /* allocations over a live object, after a pause */
    CONV_SIZE_DIFFERS,     /* a release that states another size than its object was given */
    /* left out, or mended (options.salvage): of a footprint, of a trace */
    CONV_DAMAGED_BLOCKS, /* calls at most in a footprint's damaged blocks: their marks */
    CONV_BAD_LINES,      /* lines without a meaning */
    CONV_LONG_LINES,     /* lines of more than 32 KiB */
    CONV_LOST_TAILS,     /* rests that cannot be read: of a footprint, of packed bytes */
    CONV_TORN_REALLOCS,  /* halves of reallocs without the other one */
    CONV_IRREGULARITY_COUNT,
};

/* conv_irregularity_name - "free_of_unknown", ...; NULL outside the enum. Static. */
const char *conv_irregularity_name(unsigned irregularity);

/* conv_irregularity_is_defect - whether it casts doubt on the recording. False for what correct
 * programs do on correct recordings: failed_calls, realloc_to_zero, unfinished_calls, inherited_frees, pauses,
 * unrecorded_objects, unrecorded_frees. */
bool conv_irregularity_is_defect(unsigned irregularity);

/* conv_irregularity_is_loss - whether what it counts is missing in the workload, for a cause that is the file's:
 * damaged_blocks, bad_lines, long_lines, lost_tails. They stand beside the causes of fp_loss_name;
 * damaged_blocks counts marks, of which some are no calls; lost_tails counts places, how many calls stood there is not
 * known. */
bool conv_irregularity_is_loss(unsigned irregularity);

#define CONV_SIZE_CLASSES 49u /* class 0: size 0; class k: 2^(k-1) .. 2^k - 1 bytes, up to 2^48 - 1 */
#define CONV_CALLS        64u /* calls and marks by number (footprint/base/call.h) */

/* The state of a recording by its collector's work. */
enum conv_recording_state {
    CONV_RECORDING_NONE = 0, /* the input is no recording */
    CONV_RECORDING_FINISHED,
    CONV_RECORDING_GOING_ON,     /* it is being written now */
    CONV_RECORDING_ENDED_EARLY,  /* the collector was killed, or the machine stopped */
    CONV_RECORDING_COPIED,       /* the copy will not grow, whatever the recording does */
    CONV_RECORDING_OUT_OF_SIGHT, /* the collector is in another pid namespace */
    CONV_RECORDING_UNKNOWN,      /* recording.json is missing or damaged, or does not say */
};

/* conv_recording_state_name - "finished", "recording", "ended_early", "copied", "out_of_sight", "unknown"; NULL for
 * CONV_RECORDING_NONE and outside the enum. Static. */
const char *conv_recording_state_name(enum conv_recording_state state);

/* One process of a recording. Strings belong to the struct that holds it. */
struct conv_process {
    char *file;  /* name within the directory */
    char *name;  /* program; "" when unknown */
    char *ended; /* "exit" (gone, however it ended), "exec", "running", or "" when unknown */
    uint32_t process_id, parent_process_id;
    uint64_t events;
    bool complete;
    bool absent;  /* no footprint of it could be made, the recording's list has all there is to know */
    bool missing; /* its footprint is listed, and not there */
    bool
        removed; /* all its calls were in windows that --keep-windows has removed: no footprint is left, as asked */
    bool chosen; /* converted, or surveyed; left out else */
    bool ran_on; /* it went on when recording ended */
    bool
        uncounted; /* and that ended by the death of the collector: what was lost from there on, nobody counted */
    uint64_t lost[FP_LOSS_COUNT]; /* as the recording's list has them: also what no trailer could tell */
    uint64_t events_removed;      /* in windows that --keep-windows has removed */
    uint64_t windows;             /* its footprints, where the recording is cut into windows */
    uint64_t until_ns;            /* when recording ended, since it began; 0 when unknown */
    struct fp_usage *usage;       /* below, without points; NULL: not known */
};

/* The part of the input that was selected, as the workload's meta data has it too. All zeroes: all of it. */
struct conv_selected {
    char text[512];          /* in words: "1 s to 2 s; first 5 calls"; "" */
    uint64_t from_ns, to_ns; /* of the recording; to_ns 0: its end */
    uint64_t head;
};

/* A thread as the input names it. */
struct conv_thread {
    uint32_t thread_id;
    bool is_main;
    uint64_t events;
};

/* A window of a recording that is cut into such; ns since recording began. */
struct conv_window {
    uint32_t number;
    uint64_t begin_ns, end_ns; /* end_ns: of the last process' part that has a trailer; 0: none has */
    uint64_t events;
    uint64_t live_bytes_end, live_objects_end;
    uint64_t lost;       /* calls, as the trailers say */
    uint64_t file_bytes; /* footprints of this window */
    uint64_t processes;  /* that made a call in it */
};

/* Objects of FP_LARGE_BYTES and more of which it is known how much was in memory when they were released or resized, or at
 * the end; one that was resized counts each time. */
struct conv_large {
    uint64_t noted;          /* how many */
    uint64_t noted_bytes;    /* requested */
    uint64_t resident_bytes; /* of those, in memory */
};

/* Knowledge of the objects that were ever live: of all, or not. Names stand in a workload's meta data: never renamed. */
enum conv_liveness {
    CONV_LIVE_KNOWN = 0,
    CONV_LIVE_FROM_MIDDLE, /* it begins in the middle, and what was live then is not known: live figures are lower bounds */
    CONV_LIVE_PAUSED, /* what was made or released in pauses is not known: live figures are inexact */
};

/* conv_liveness_name - "known", "from_middle", "paused"; NULL outside the enum. Static. */
const char *conv_liveness_name(enum conv_liveness live);

/* The facts that a pass found. conv_survey_file fills it without writing; conv_file fills it too. */
struct conv_survey {
    enum conv_kind kind;
    char input[CONV_PATH_BYTES]; /* the file read: for a recording, the chosen footprint or the directory */
    char program[256];           /* "" when unknown */
    char label[FP_LABEL_BYTES];  /* of the host that it was recorded on; "": none */
    uint32_t process_id;         /* 0 when unknown or several */
    uint64_t sample_bytes;       /* one object for so many bytes is recorded (fp_sites.h); 0: all are */
    uint64_t start_unix_ns;      /* 0 when unknown */
    uint64_t events;             /* calls of the malloc family */
    uint64_t events_by_call[CONV_CALLS]; /* marks that are no calls too, outside `events` */
    uint64_t ops;                        /* as replay executes them */
    uint64_t ops_by_call[CONV_CALLS];
    uint64_t threads; /* that made at least one event or exit; sum over processes */
    uint64_t forks, thread_exits;
    uint64_t duration_ns;
    uint64_t requested_bytes;                    /* sum over allocations and resizes, saturating */
    uint64_t live_bytes_peak, live_objects_peak; /* sum over processes, each at its own peak */
    uint64_t live_bytes_end, live_objects_end;
    uint64_t largest_size;
    struct conv_large large;
    uint64_t class_count[CONV_SIZE_CLASSES]; /* allocations and resizes by requested size */
    uint64_t class_bytes[CONV_SIZE_CLASSES]; /* saturating */
    uint64_t inherited_objects,
        inherited_bytes;     /* of a forked process, from its parent; ops, but no events */
    char inherited_why[192]; /* why they are not, or not all, known; "" else */
    enum conv_liveness live;
    uint64_t
        events_removed; /* calls in windows that --keep-windows has removed, as the recording's list has them */
    uint64_t
        begin_ns; /* where duration_ns begins, since recording began: later than 0 without its first windows */
    uint64_t irregular[CONV_IRREGULARITY_COUNT];
    uint64_t lost[FP_LOSS_COUNT]; /* calls, from the trailer; from gap marks without one */
    uint64_t lost_marks;          /* in blocks, lines and records left out by salvage */
    struct fp_usage *usage;       /* below; of several processes their sum; NULL: not known */
    bool ran_on;                  /* the process, see struct conv_process */
    bool uncounted;           /* more were lost, nobody knows how many: see struct conv_process; or cut off */
    bool complete;            /* every call from start to end is here */
    char incomplete_why[256]; /* "" when complete */
    uint64_t file_bytes;      /* of the input; footprints of a recording added */
    double bytes_per_event;   /* file_bytes over events; 0 without events, or with a selection */
    /* of a trace, or a workload made of one: what it does not tell, as in struct conv_format */
    char lacks[128];
    /* of a workload only */
    uint64_t windows, digest;
    uint32_t id_max;
    /* of an order that had to be rebuilt from several lanes */
    uint64_t groups, groups_searched;
    /* of a recording */
    enum conv_recording_state recording_state;
    uint32_t command_pid;       /* of what `mallab record` ran; 0 when unknown */
    uint32_t collector_pid;     /* of an unfinished one; 0 when unknown */
    char unfinished_why[256];   /* "" when finished */
    uint64_t pauses, paused_ns; /* as asked */
    size_t window_list_count;   /* by number; none where nobody called. 0: it is not cut */
    struct conv_window *window_list;
    const char *stop_words; /* why recording stopped before the program did, static; NULL: not known */
    /* A finished one lacks this of its tree, as recording.json says; "" when nothing is missing. */
    char recording_why[256];
    size_t process_count;
    struct conv_process *processes;
    struct conv_selected selected;
    /* of conv_survey_file, but for whole recordings: in the order of their first call; of workloads ops */
    size_t thread_count;
    struct conv_thread *thread_list;
};

void conv_survey_release(struct conv_survey *survey);

/* conv_survey_knows_losses - whether `lost` is all that was lost: false for a recording that broke off, for one whose
 * collector was killed while the program ran on, and for a file of which a part is missing. */
bool conv_survey_knows_losses(const struct conv_survey *survey);

/* conv_survey_class_min - smallest size of a class, in bytes. */
uint64_t conv_survey_class_min(unsigned size_class);

/* conv_survey_label - take a label, where the file that tells it has a valid one; else what is known stays. */
void conv_survey_label(struct conv_survey *survey, const char *label);

struct conv_report {
    struct conv_survey survey;
    char format[16];    /* of the output, as options.to has it */
    uint64_t bytes_out; /* size of the output */
    uint64_t elapsed_ns;
};

void conv_report_release(struct conv_report *report);

/* conv_incomplete - note why a survey is incomplete; the first reason stands. */
void conv_incomplete(struct conv_survey *survey, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- counting ------------------------------------------------------------------------------- */

static inline uint64_t conv_add_saturating(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static inline unsigned conv_size_class(uint64_t bytes)
{
    return bytes == 0 ? 0 : 64 - (unsigned)__builtin_clzll(bytes);
}

/* conv_stats_requests - count allocations or resizes of bytes < 2^48 that the program was given. */
static inline void conv_stats_requests(struct conv_survey *survey, uint64_t bytes, uint64_t count)
{
    const unsigned size_class = conv_size_class(bytes);
    uint64_t all;
    if (__builtin_mul_overflow(bytes, count, &all))
        all = UINT64_MAX;
    survey->requested_bytes = conv_add_saturating(survey->requested_bytes, all);
    survey->class_count[size_class] += count;
    survey->class_bytes[size_class] = conv_add_saturating(survey->class_bytes[size_class], all);
    if (bytes > survey->largest_size)
        survey->largest_size = bytes;
}

/* conv_stats_live - the live set changed by so much; 2^48 bytes in each of 2^31 objects fit 64 bits only
 * modulo, which damaged input alone can reach. */
static inline void conv_stats_live(struct conv_survey *survey, uint64_t bytes_more, uint64_t bytes_less,
                                   int objects)
{
    survey->live_bytes_end += bytes_more - bytes_less;
    survey->live_objects_end += (uint64_t)(int64_t)objects;
    if (survey->live_bytes_end > survey->live_bytes_peak)
        survey->live_bytes_peak = survey->live_bytes_end;
    if (survey->live_objects_end > survey->live_objects_peak)
        survey->live_objects_peak = survey->live_objects_end;
}

/* conv_stats_add - add another process's figures to a sum. Strings, kinds and processes are left alone. */
void conv_stats_add(struct conv_survey *sum, const struct conv_survey *survey);

/* ---- what processes used -----------------------------------------------------------------------------
 *
 * What processes used as a whole (footprint/fp/usage.h), where a survey keeps it: NULL where nobody told. */

/* conv_usage_set - a copy with its points, in place of what was there. from: may be NULL. Without memory nothing is told.
 * conv_usage_free - NULL is accepted. */
void conv_usage_set(struct fp_usage **to, const struct fp_usage *from);
void conv_usage_free(struct fp_usage *usage);

/* conv_usage_add - the use of one more process, in a sum without points. Times and faults add up, and so does memory, each process at its
 * own peak; what one could not tell is left out. The allocator stays where it is that of all. */
void conv_usage_add(struct fp_usage **sum, const struct fp_usage *usage);

/* conv_machine_words - "64 CPUs, 8 usable, 128 GB, huge pages madvise, Linux 6.1". size: 256 are enough. False: it is not known. */
bool conv_machine_words(const struct fp_machine *machine, char *ret_words, size_t size);

#endif
