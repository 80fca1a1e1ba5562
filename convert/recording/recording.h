/* recording.h - a recording: what its collector says of it in recording.json (docs/format.md), and what lies in its directory.
 * Private to convert/, record/ and cli/.
 *
 *   finished    its collector has ended in good order: the list of processes is whole
 *   unfinished  it names its collector, or its shared memory: what it says is of the moment when it was written
 *
 * A directory may change while it is read. Numbers that are missing, negative or none are 0. */
#ifndef MALLAB_CONVERT_RECORDING_RECORDING_H
#define MALLAB_CONVERT_RECORDING_RECORDING_H

#include <jansson.h>

#include "convert/base/error.h"
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

/* conv_recording_ends - how its processes ended, by what the names of an image's footprints have in common. The caller's
 * reference. */
json_t *conv_recording_ends(const struct conv_recording *recording);

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

#endif
