/* convert.h - turn footprints and other tools' traces into workloads, or say what they hold.
 *
 *   input     a footprint (.fp), a recording directory (recording.json and footprints) or its
 *             recording.json, another tool's trace (plain, or gzip, xz, bzip2, zstd, zip with one member)
 *   pass      one reading of an input: its events in one legal order, each address paired with its
 *             object. Memory grows with live objects, lanes and blocks of the index, not with events
 *   irregularity  what does not fit a program that uses the heap correctly and was recorded whole;
 *             repaired by the rule in docs/irregularities.md and counted by name
 *
 * Nothing here prints. One thread at a time. The same input gives the same workload, byte for byte. */
#ifndef MALLAB_CONVERT_CONVERT_H
#define MALLAB_CONVERT_CONVERT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "footprint/base/call.h"
#include "footprint/base/status.h"
#include "footprint/fp/footprint.h"

#define CONV_PATH_BYTES   4096u
#define CONV_SIZE_CLASSES 49u /* class 0: size 0; class k: 2^(k-1) .. 2^k - 1 bytes, up to 2^48 - 1 */
#define CONV_CALLS        64u /* calls and marks by number (footprint/base/call.h) */

enum conv_kind {
    CONV_KIND_UNKNOWN = 0,
    CONV_KIND_FOOTPRINT = 1,
    CONV_KIND_WORKLOAD = 2,
    CONV_KIND_RECORDING = 3,
    CONV_KIND_ANDROID = 4, /* text of Android's malloc_debug record_allocs */
    CONV_KIND_RESULT = 5,  /* JSON of `mallab ab` */
    /* other tools' traces: docs/importing.md */
    CONV_KIND_2009_RAW = 16,
    CONV_KIND_2009 = 17,
    CONV_KIND_MTRACE = 18,
    CONV_KIND_GLIBC_WL = 19,
    CONV_KIND_LOGALLOC = 20,
    CONV_KIND_OPS = 21,
    CONV_KIND_REP = 22,
    CONV_KIND_HEAPTRACK = 23,
    CONV_KIND_TEXT = 32, /* a workload as text: docs/text.md */
};

/* Rules: docs/irregularities.md, by these names. The order is that of output. */
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
    CONV_UNRECORDED_FREES,   /* allocations over a live object, after a pause */
    CONV_SIZE_DIFFERS,       /* a release that states another size than its object was given */
    CONV_FOREIGN_CALLS,      /* by selected threads, of objects of unselected ones: left out */
    CONV_FOREIGN_RESIZES,    /* likewise, resizes: what they made is the selected thread's */
    CONV_RELEASED_BY_OTHERS, /* objects of selected threads that unselected ones released or resized */
    /* left out, or mended (options.salvage): of a footprint, of a trace */
    CONV_DAMAGED_BLOCKS, /* calls at most in a footprint's damaged blocks: their marks */
    CONV_BAD_LINES,      /* lines without a meaning */
    CONV_LONG_LINES,     /* lines of more than 32 KiB */
    CONV_BAD_RECORDS,    /* records of a binary trace without a meaning */
    CONV_LOST_TAILS,     /* rests that cannot be read: of a footprint, of packed bytes, of a thread's calls */
    CONV_TORN_REALLOCS,  /* halves of reallocs without the other one */
    CONV_UNMET_WAITS,    /* waits for signals that never come */
    CONV_IRREGULARITY_COUNT,
};

/* conv_irregularity_name - "free_of_unknown", ...; NULL outside the enum. Static. */
const char *conv_irregularity_name(unsigned irregularity);

/* conv_irregularity_is_defect - whether it casts doubt on the recording. False for what correct
 * programs do on correct recordings: failed_calls, realloc_to_zero, unfinished_calls, inherited_frees, pauses,
 * unrecorded_objects, unrecorded_frees, foreign_calls, foreign_resizes, released_by_others. */
bool conv_irregularity_is_defect(unsigned irregularity);

/* conv_irregularity_is_loss - whether what it counts is missing in the workload, for a cause that is the file's:
 * damaged_blocks, bad_lines, long_lines, bad_records, lost_tails. They stand beside the causes of fp_loss_name;
 * damaged_blocks counts marks, of which some are no calls; lost_tails counts places, how many calls stood there is not
 * known. */
bool conv_irregularity_is_loss(unsigned irregularity);

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

/* What went wrong, with its own storage: valid as long as the struct. */
struct conv_error {
    struct fp_error cause;      /* cause.what may point into `what` */
    bool output;                /* path is the output, not the input */
    bool salvageable;           /* a trace of which the rest converts with options.salvage */
    uint64_t line;              /* of a text input, from 1; 0: not about a line */
    char path[CONV_PATH_BYTES]; /* the file at fault, not always the one the caller named */
    char what[256];
};

/* conv_error_text - one line for stderr, without program name: file, cause, line or offset, remedy.
 * Returns ret_text, terminated when size > 0. */
char *conv_error_text(const struct conv_error *error, char *ret_text, size_t size);

/* conv_error_exit_code - 3 when the input is unreadable, damaged or too new, 2 for options that make no sense,
 * else 1 (exit codes of the command line). */
int conv_error_exit_code(const struct conv_error *error);

/* Called about every 2^20 events. total is 0 when unknown. done and total are marks of footprints,
 * bytes of text inputs or ops of workloads; events: taken so far. */
typedef void conv_progress_fn(void *data, uint64_t events, uint64_t done, uint64_t total);

/* A moment of a recording. */
struct conv_when {
    enum {
        CONV_WHEN_NONE = 0, /* the beginning, or the end */
        CONV_WHEN_TIME,     /* value: nanoseconds since the recording began */
        CONV_WHEN_SHARE,    /* value: millionths of its duration */
    } kind;
    uint64_t value;
};

#define CONV_SHARE_WHOLE 1000000u
#define CONV_SAMPLE_MAX  1000000u

/* What of an input is converted: docs/selections.md. They act in this order, each on what the one before left. Strings
 * are borrowed until the conversion is done. Zeroes: all of it. */
struct conv_selection {
    const char
        *merge; /* processes of a recording that become one workload: ids and names (patterns as of glob(7))
                          * between commas, "" for all; NULL: not, process_id's alone */
    const char
        *threads; /* thread ids, ranges A-B of them, "main", between commas; NULL or "all": every thread */
    struct conv_when from, to; /* from <= time < to */
    uint32_t sample_part,
        sample_of; /* part of every `of` objects, 0 < part < of <= CONV_SAMPLE_MAX; else 0: all */
    uint64_t head; /* the first so many calls; 0: all */
};

/* conv_threads_check - whether a list of threads can be meant. Returns NULL, or what is wrong with it. Static. */
const char *conv_threads_check(const char *list);

/* Zero-initialise for the defaults. */
struct conv_options {
    const char *from;    /* NULL: detect; else one of conv_from_names */
    const char *to;      /* NULL: "workload"; else one of conv_export_names */
    uint32_t process_id; /* which process; 0: of a recording that with most events, of a trace the first */
    const char *
        process_file; /* of a recording: which footprint, by its name there, with or without the ending; before
                               * process_id. NULL: not so */
    uint32_t window_ops;   /* 0: the writer's default */
    int zstd_level;        /* 0: the writer's default */
    bool overwrite;        /* replace an existing output */
    bool no_inherited;     /* begin forked processes without their parents' objects */
    bool salvage;          /* leave out damaged blocks, lines and records instead of refusing */
    bool by_event;         /* for tests: no short cut for plain calls; the workload is the same */
    bool in_place;         /* no threads of our own. The workload is the same */
    uint64_t memory_bytes; /* bound on decoded blocks held at once, of each process; 0: fp_memory_bound() */
    struct conv_selection select;
    conv_progress_fn *progress;
    void *progress_data;
};

/* conv_process_asked - whether one process is asked for, by its id or its footprint. */
bool conv_process_asked(const struct conv_options *options);

/* Whether a recording's collector has done its work. */
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
    bool removed; /* all its calls were in windows that --keep has removed: no footprint is left, as asked */
    bool chosen;  /* converted, or surveyed; left out else */
    bool ran_on;  /* it went on when recording ended */
    bool
        uncounted; /* and that ended by the death of the collector: what was lost from there on, nobody counted */
    uint64_t lost[FP_LOSS_COUNT]; /* as the recording's list has them: also what no trailer could tell */
    uint64_t events_removed;      /* in windows that --keep has removed */
    uint64_t windows;             /* its footprints, where the recording is cut into windows */
    uint64_t until_ns;            /* when recording ended, since it began; 0 when unknown */
};

/* What was selected of the input, as the workload's meta data has it too. All zeroes: all of it. */
struct conv_selected {
    char text[512];          /* in words: "threads 7,9; 1 s to 2 s; sampled 1/8"; "" */
    char threads[256];       /* as asked, cut when longer; "" */
    uint64_t from_ns, to_ns; /* of the recording; to_ns 0: its end */
    uint32_t sample_part, sample_of;
    uint64_t head;
    uint64_t merged_processes;
    /* with a sample: what it was drawn from, as far as it was read */
    uint64_t all_ops, all_live_bytes_peak, all_live_objects_peak;
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

/* Whether all objects that were ever live are known. Names stand in a workload's meta data: never renamed. */
enum conv_liveness {
    CONV_LIVE_KNOWN = 0,
    CONV_LIVE_FROM_MIDDLE, /* it begins in the middle, and what was live then is not known: live figures are lower bounds */
    CONV_LIVE_PAUSED, /* what was made or released in pauses is not known: live figures are inexact */
    CONV_LIVE_LEFT, /* merged processes ended and left a tenth or more of the peak behind, which stays live: live figures
                       * are upper bounds */
};

/* conv_liveness_name - "known", "from_middle", "paused", "left_behind"; NULL outside the enum. Static. */
const char *conv_liveness_name(enum conv_liveness live);

/* What a pass saw. conv_survey fills it without writing; conv_file fills it too. */
struct conv_survey {
    enum conv_kind kind;
    char input[CONV_PATH_BYTES]; /* the file read: for a recording, the chosen footprint or the directory */
    char program[256];           /* "" when unknown */
    uint32_t process_id;         /* 0 when unknown or several */
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
    uint64_t left_bytes,
        left_objects; /* of merged processes that ended before others: live to the end all the same */
    uint64_t largest_size;
    struct conv_large large;
    uint64_t class_count[CONV_SIZE_CLASSES]; /* allocations and resizes by requested size */
    uint64_t class_bytes[CONV_SIZE_CLASSES]; /* saturating */
    uint64_t inherited_objects,
        inherited_bytes;     /* of a forked process, from its parent; ops, but no events */
    char inherited_why[192]; /* why they are not, or not all, known; "" else */
    enum conv_liveness live;
    uint64_t events_removed; /* calls in windows that --keep has removed, as the recording's list has them */
    uint64_t
        begin_ns; /* where duration_ns begins, since recording began: later than 0 without its first windows */
    uint64_t irregular[CONV_IRREGULARITY_COUNT];
    uint64_t lost[FP_LOSS_COUNT]; /* calls, from the trailer; from gap marks without one */
    uint64_t lost_marks;          /* in blocks, lines and records left out by salvage */
    bool ran_on;                  /* the process, see struct conv_process */
    bool uncounted;           /* more were lost, nobody knows how many: see struct conv_process; or cut off */
    bool complete;            /* every call from start to end is here */
    char incomplete_why[256]; /* "" when complete */
    uint64_t file_bytes;      /* of the input; footprints of a recording added */
    double bytes_per_event;   /* file_bytes over events; 0 without events, or with a selection */
    /* of a trace, or a workload made of one: what it does not tell, as in struct conv_format_facts */
    char lacks[128];
    /* of a workload only */
    uint64_t windows, digest;
    uint32_t id_max;
    /* of an order that had to be rebuilt from several lanes */
    uint64_t groups, groups_searched;
    /* of a recording */
    enum conv_recording_state recording_state;
    uint32_t collector_pid;     /* of an unfinished one; 0 when unknown */
    char unfinished_why[256];   /* "" when finished */
    uint64_t pauses, paused_ns; /* as asked */
    size_t window_list_count;   /* by number; none where nobody called. 0: it is not cut */
    struct conv_window *window_list;
    const char *stop_words; /* why recording stopped before the program did, static; NULL: not known */
    /* Of a finished one: what of its tree is missing, as recording.json says; "" when nothing is. */
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

#define CONV_LACKS_MAX 12u

struct conv_report {
    struct conv_survey survey;
    char format[16]; /* of the output, as options.to has it */
    /* What that format cannot hold, of what this input has: a few words each. */
    char lacks[CONV_LACKS_MAX][96];
    size_t lack_count;
    uint64_t bytes_out; /* size of the output */
    uint64_t elapsed_ns;
};

void conv_report_release(struct conv_report *report);

/* conv_detect - what kind of file stands at path, by its first bytes, never by its name.
 * path   "-" is CONV_KIND_UNKNOWN: a pipe is read once (conv_file detects while it reads).
 * Returns CONV_KIND_UNKNOWN also when it cannot be opened; the caller's next step says why. */
enum conv_kind conv_detect(const char *path);

/* A format to export to. Static strings. */
struct conv_export_facts {
    const char *name;   /* for --to */
    const char *ending; /* of the default output's name */
    const char *what;   /* a few words */
};

/* conv_export_facts - the formats by number, from 0; the first is the default. False: there are fewer. */
bool conv_export_facts(size_t number, struct conv_export_facts *ret_facts);

/* conv_export_names - all their names with ", " between them; terminated, cut to size. Returns ret_text. */
char *conv_export_names(char *ret_text, size_t size);

/* conv_file - convert in_path to a workload, or what options.to names, at out_path ("-": standard output). What is no
 * workload becomes one first, in a file without a name; a workload stays the same, byte for byte.
 * in_path      see "input" above, or a workload; "-" is standard input, for texts and other tools' traces only.
 * options      borrowed; NULL: the defaults.
 * ret_report   filled on FP_OK; end it with conv_report_release.
 * ret_error    filled unless FP_OK. Nothing stands at out_path then.
 * Returns      FP_OK; FP_ERR_OPEN, FP_ERR_READ, FP_ERR_FOREIGN, FP_ERR_VERSION, FP_ERR_TRUNCATED (not
 *              even a header: a file cut later converts, incomplete), FP_ERR_CORRUPT, FP_ERR_CHECKSUM,
 *              FP_ERR_EXISTS, FP_ERR_WRITE, FP_ERR_MEMORY, FP_ERR_LIMIT, FP_ERR_ARGUMENT. */
enum fp_status conv_file(const char *in_path, const char *out_path, const struct conv_options *options,
                         struct conv_report *ret_report, struct conv_error *ret_error);

/* conv_survey_file - the same pass without writing; reads workloads too.
 * ret_survey   filled on FP_OK; end it with conv_survey_release.
 * Returns      as conv_file. */
enum fp_status conv_survey_file(const char *in_path, const struct conv_options *options,
                                struct conv_survey *ret_survey, struct conv_error *ret_error);

/* conv_output_temporary - the temporary file of the conversion under way, NULL when none or standard
 * output: a signal handler that ends the process unlinks it. Async-signal-safe. */
const char *conv_output_temporary(void);

#endif
