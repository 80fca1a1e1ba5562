/* recording.h - a recording: what its collector says of it in recording.json (docs/format.md), and what lies in its directory.
 * Private to convert/, record/ and cli/.
 *
 *   finished    its collector has ended in good order: the list of processes is whole
 *   unfinished  it names its collector, or its shared memory: what it says is of the moment when it was written
 *
 * A directory may change while it is read. Numbers that are missing, negative or none are 0. */
#ifndef MALLAB_CONVERT_RECORDING_RECORDING_H
#define MALLAB_CONVERT_RECORDING_RECORDING_H

#include <dirent.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "convert/base/error.h"
#include "convert/base/request.h"
#include "convert/base/survey_counts.h"
#include "footprint/fp/footprint.h"

#define CONV_STEM_BYTES 256u /* of footprints' names (footprint/base/words.h) */

/* The message about a directory that is no recording. */
#define CONV_NO_RECORDING                                                                                    \
    "is no recording: no footprint (*.fp) is in it; name the directory that 'mallab record' wrote"

struct conv_recorded_process {
    const char *file; /* NULL where it is no plain name within the directory */
    const char *name, *ended;
    uint32_t process_id, parent_process_id;
    uint64_t events, events_removed, bytes, threads;
    uint64_t lost[FP_LOSS_COUNT];
    bool complete;
    const json_t *usage;    /* conv_recording_usage reads it; NULL: there is none */
    bool gone_with_windows; /* the list of its footprints is there, and empty */
};

/* Strings belong to `json`; NULL where there is none. */
struct conv_recording {
    json_t *json; /* the struct's; NULL: there is none, and all else is zero */
    bool finished, complete, recovered;
    const char *incomplete_why; /* "" counts as none */
    /* The cause of a stop, or of a pause against its will, while the program runs on: "disk_full", "size_limit", "duration", "end",
     * "recorder_killed"; NULL: it does not. */
    const char *stopped_by;
    uint64_t stopped_ns; /* since recording began */
    uint64_t start_unix_ns, duration_ns;
    uint64_t events, bytes, stalls, stall_ns;
    uint64_t sample_bytes;   /* as in struct conv_survey */
    uint64_t max_size_bytes; /* 0: no limit */
    uint64_t collector_cpu_ns, segment_bytes;
    uint64_t windows, windows_removed, events_removed;
    uint64_t unattached; /* processes that were more than can be recorded at one time */
    uint64_t pauses, paused_ns;
    bool attached; /* to a program that ran already */
    uint64_t lost[FP_LOSS_COUNT];
    struct {
        bool told;
        uint64_t process_id, start_ticks, pid_namespace, directory_inode;
        const char *boot_id;
    } collector;
    const char *segment_path, *label;
    uint32_t command_pid; /* 0: not known */
    bool has_processes;   /* there is a list of them */
    size_t process_count;
    struct conv_recorded_process *processes;
};

/* conv_recording_directory - the directory meant by path: itself, or that of its recording.json. */
void conv_recording_directory(const char *path, char ret_directory[CONV_PATH_BYTES]);

/* conv_recording_is_there - whether a directory holds recording.json or a footprint. */
bool conv_recording_is_there(const char *directory);

/* conv_recording_load - recording.json of a directory, both through the door (footprint/base/trusted.h), whatever JSON it holds.
 * ret_root  NULL, with FP_OK, when there is none. The caller's reference.
 * Returns   FP_OK; FP_ERR_OPEN, FP_ERR_UNTRUSTED, FP_ERR_FOREIGN, FP_ERR_CORRUPT (no JSON), in error. */
enum fp_status conv_recording_load(const char *directory, json_t **ret_root, struct conv_error *error);

/* conv_recording_take - the facts of a recording's JSON, of any shape, whose reference is taken over.
 * Returns  false: no memory. conv_recording_release accepts ret_recording in either case, and a zeroed one. */
bool conv_recording_take(json_t *root, struct conv_recording *ret_recording);
void conv_recording_release(struct conv_recording *recording);

/* conv_stop_words - the words of stopped_by, for people; NULL where this version does not know it, and for NULL. Static.
 * conv_stop_behind - the same behind "recording stopped after 3 s, ", and words for an unknown one. */
const char *conv_stop_words(const char *stopped_by);
const char *conv_stop_behind(const char *stopped_by);

/* conv_json_count - the number at a key; 0 where there is none, or none above 0. */
uint64_t conv_json_count(const json_t *object, const char *key);

/* conv_recording_usage - what a process used as a whole. Returns false where that is not told. ret_usage has no points. */
bool conv_recording_usage(const struct conv_recorded_process *process, struct fp_usage *ret_usage);

/* conv_recording_read - load it, check that it is a recording's that this version reads, and take its facts.
 * Returns  FP_OK, also when there is none; as conv_recording_load, FP_ERR_FOREIGN, FP_ERR_VERSION, FP_ERR_MEMORY, in error. */
enum fp_status conv_recording_read(const char *directory, struct conv_recording *ret_recording,
                                   struct conv_error *error);

/* ---- the collector of an unfinished recording: at work, or gone.
 *
 * recording.json names it by process id, start time, boot and pid namespace (docs/format.md), so that neither a later
 * process of that id nor one of another machine is taken for it; and names the directory that it writes to, so that a
 * copy of a recording is not taken for the recording. */

/* conv_unfinished_judge - judge the fate of an unfinished recording's collector: fills survey's
 * recording_state, collector_pid and unfinished_why. */
void conv_unfinished_judge(const struct conv_recording *recording, const char *directory,
                           struct conv_survey *survey);

/* conv_unfinished_is_left - whether the shared memory of an unfinished recording is there and ours: of a dead
 * collector's `mallab-collect --recover` writes what is in it. */
bool conv_unfinished_is_left(const struct conv_recording *recording, const char *directory);

/* conv_unfinished_ask_lock - whether the collector lives, by the lock of its shared memory, which it holds for as long: the
 * only sign of one in another pid namespace, as in a container.
 * Returns  false where that cannot be looked at from here. */
bool conv_unfinished_ask_lock(const struct conv_recording *recording, const char *directory, bool *ret_alive);

/* conv_unfinished_process_gone - whether a recorded process, of an unfinished recording, is seen from here not to be there
 * any more. False also where that cannot be seen (another pid namespace, another machine). */
bool conv_unfinished_process_gone(const struct conv_recording *recording, uint32_t pid);

/* ---- the content of a recording's directory, finished or not (recording.c)
 *
 *   finished    its collector has ended in good order: recording.json lists the processes
 *   unfinished  recorded still, or its collector was killed, or recording.json is damaged or missing: then every
 *               *.fp of the directory is taken, in the order of their names' bytes
 *
 * A directory may change while it is read: footprints appear and grow. What is whole when it is looked at counts. */

/* conv_recording_list - the processes of a recording's directory, without reading their events.
 * path           the directory or its recording.json.
 * survey         zeroed; processes (events: marks where they are not listed), program, start, input, recording_state,
 *                collector_pid, unfinished_why and recording_why are filled. End it with conv_survey_release, whatever
 *                the status.
 * Returns        FP_OK, with one process at least; else the status in error: FP_ERR_READ when nothing is written. */
enum fp_status conv_recording_list(const char *path, struct conv_survey *survey, struct conv_error *error);

/* conv_recording_judge - what was made of a recording, or of one process of it, is not complete where something of the recorded tree is
 * missing, and says what. After the pass, which says anew what is complete.
 * of_one  it is of one process: what that lacks itself was told before. */
void conv_recording_judge(struct conv_survey *survey, bool of_one);

/* ---- the processes that a recording is about, where it holds several --------------------------------
 *
 *   own      the last image of the command's own process: of a wrapper that executes a program, the program
 *   workers  processes of own's name that it forked, and theirs
 *   group    all processes of one name. They are replayed one by one, and their figures are summed
 *
 * What was recorded before own began was the way to it, and does not count. Own it is with its workers, where both made at
 * least half of all calls; else the group of the name whose processes made most calls: the compilers below a make, the
 * server that a script has started. Of a group whose others made less than a hundredth of its calls it is the lead alone. */

#define CONV_MEMBERS_MAX 32u /* processes of a group: of more, those with most calls are taken */

/* The processes that are meant, in the order of the recording's list. */
struct conv_choice {
    struct conv_process *members[CONV_MEMBERS_MAX];
    size_t count;
    size_t left_out; /* of that name, beyond the maximum */
    struct conv_process
        *lead; /* the member with most calls, of equal ones the first; NULL: there is no member */
};

/* conv_calls_of - calls that a process made, kept or lost: a full disk must not make another process the busiest one. */
uint64_t conv_calls_of(const struct conv_process *process);

/* conv_group_default - the processes that a recording is about, by the rule above; none where no process can be
 * converted, or none of them made a call.
 * salvage  processes whose footprints are missing are passed over. */
void conv_group_default(const struct conv_survey *survey, bool salvage, struct conv_choice *ret_choice);

/* conv_group_named - likewise, all processes of a name. */
void conv_group_named(const struct conv_survey *survey, const char *name, bool salvage,
                      struct conv_choice *ret_choice);

/* conv_recording_choose - the process images that are meant: options.process_file's, by its footprint, else the group of
 * its program's name; else of those of options.process_id (exec leaves several) the one with most calls; else what the
 * recording is about (above). Where nothing of these can be converted, it is the one that is nearest to it.
 * With options.salvage footprints that are missing are passed over where others will do.
 * directory   for messages.
 * ret_choice  of one member or more.
 * Returns     FP_OK; FP_ERR_ARGUMENT when there is none, FP_ERR_OPEN when a footprint is missing, FP_ERR_READ when
 *             it went with its windows, in error. */
enum fp_status conv_recording_choose(const char *directory, const struct conv_options *options,
                                     struct conv_survey *survey, struct conv_choice *ret_choice,
                                     struct conv_error *error);

/* conv_choice_judge - judge a survey whose process conv_recording_choose took, unasked: it becomes incomplete, and names the
 * process, when another one made more calls that are all lost. After the pass, which says anew what is complete. */
void conv_choice_judge(const struct conv_options *options, struct conv_survey *survey);

/* conv_recording_leave_missing - leave out the chosen processes whose footprints are missing; survey becomes
 * incomplete then, and names the first.
 * directory  for messages.
 * Returns    FP_OK; FP_ERR_OPEN, in error, without options.salvage, or when none is left. */
enum fp_status conv_recording_leave_missing(const char *directory, const struct conv_options *options,
                                            struct conv_survey *survey, struct conv_error *error);

/* conv_process_is_file - whether a process' footprint is meant by its name, with or without its ending; of one in windows
 * by that of any window, or by what they have in common. */
bool conv_process_is_file(const struct conv_process *process, const char *name);

/* ---- the footprints of one process image: one, or one for each window of its recording (parts.c)
 *
 *   part    one footprint. STEM.fp, or STEM.wNNNN.fp by window; a lane's blocks go on from part to part, so that all
 *           of them, read one after the other, are what one footprint would have been
 *   begin   the image's first part has number 1 (meta `part`); windows before it that are gone are a beginning that
 *           is missing, not a gap
 *
 * docs/format.md, "Windows". */

/* The parts of an image that are meant when one of them is named. */
enum conv_extent {
    CONV_EXTENT_ONE,    /* only that one */
    CONV_EXTENT_ALL,    /* all that are there */
    CONV_EXTENT_BEFORE, /* those of earlier windows */
};

struct conv_part {
    char *path;
    struct fp_reader *reader;
    const struct fp_reader_info *info;
    size_t first_block; /* number of its first block among all */
    uint32_t window;    /* by its name; 0: the recording is not cut into windows */
    uint64_t number;    /* among the image's parts, from 1 */
};

struct conv_parts {
    struct conv_part *parts;
    size_t count;
    uint32_t lane_count;
    size_t block_count;
    uint64_t mark_count, file_bytes;
    struct fp_lane *lanes; /* lane_count, as the trailers have them; NULL when there is none */
    bool is_open;          /* conv_parts_close has something to do */
    bool has_trailer;      /* every part has its own */
    uint64_t lost[FP_LOSS_COUNT];
    uint64_t end_time_ns;
    bool ran_on, uncounted; /* as the last trailer says (footprint.h) */
    uint64_t begin_ns; /* of the first part's window, since recording began; 0 for the image's first part */
    bool from_begin;   /* its first part is the image's first */
    const struct conv_part *cut; /* the first one that ends early or oddly; NULL: none */
};

/* conv_is_footprint - a filter for scandir(3): whether it has the name of a footprint, and is not hidden. */
int conv_is_footprint(const struct dirent *entry);

/* conv_parts_open - open the parts meant by `path` and `extent`, in the order of their windows.
 * Returns FP_OK, also with count 0 for CONV_EXTENT_BEFORE; else the status in error. */
enum fp_status conv_parts_open(const char *path, enum conv_extent extent, struct conv_parts *ret_parts,
                               struct conv_error *error);
void conv_parts_close(struct conv_parts *parts);

/* conv_parts_of_block - the part that holds a block, by its number among all. */
const struct conv_part *conv_parts_of_block(const struct conv_parts *parts, size_t block);

/* conv_parts_meta - a value of the first part's meta data, NULL when absent. */
const char *conv_parts_meta(const struct conv_parts *parts, const char *key);

#endif
