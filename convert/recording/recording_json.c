/* recording_json.c - recording.json to a struct; the collector that it names. */
#include "convert/recording/recording.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "footprint/base/json_read.h"
#include "footprint/base/proc.h"
#include "footprint/base/trusted.h"
#include "footprint/base/words.h"

void conv_recording_directory(const char *path, char ret_directory[CONV_PATH_BYTES])
{
    static const char name[] = "recording.json";
    const char *slash = strrchr(path, '/');
    const char *last = slash != NULL ? slash + 1 : path;
    if (strcmp(last, name) != 0)
        snprintf(ret_directory, CONV_PATH_BYTES, "%s", path);
    else if (slash == NULL)
        snprintf(ret_directory, CONV_PATH_BYTES, ".");
    else
        snprintf(ret_directory, CONV_PATH_BYTES, "%.*s", slash == path ? 1 : (int)(slash - path), path);
}

/* ---- loading -------------------------------------------------------------------------------- */

bool conv_recording_is_there(const char *directory)
{
    DIR *entries = opendir(directory);
    const struct dirent *entry;
    bool found = false;
    while (!found && entries != NULL && (entry = readdir(entries)) != NULL)
        found = strcmp(entry->d_name, "recording.json") == 0 ||
                (entry->d_name[0] != '.' && fp_has_ending(entry->d_name, ".fp"));
    if (entries != NULL)
        (void)closedir(entries); /* only read from */
    return found;
}

/* A directory's owner matters if there is a recording in it. */
static int open_directory(const char *directory, struct conv_error *error)
{
    struct fp_error cause;
    const int fd = fp_trusted_open(AT_FDCWD, directory, S_IFDIR, FP_TRUSTED_READ, &cause);
    if (fd < 0 && cause.status == FP_ERR_UNTRUSTED && !conv_recording_is_there(directory))
        (void)conv_fail(error, directory, FP_ERR_READ, 0, 0, "%s", CONV_NO_RECORDING);
    else if (fd < 0)
        (void)conv_fail_with(error, directory, &cause);
    return fd;
}

static enum fp_status load_json(const char *path, int fd, json_t **ret_root, struct conv_error *error)
{
    json_error_t wrong;
    enum fp_status status = fp_json_read(fd, ret_root, &wrong);
    const int saved = errno;
    if (status == FP_OK)
        return FP_OK;
    if (status == FP_ERR_LIMIT)
        return conv_fail(error, path, status, 0, 0, "%s; move it away: the footprints are read without it",
                         wrong.text);
    if (status != FP_ERR_CORRUPT)
        return conv_fail(error, path, status, status == FP_ERR_READ ? saved : 0, 0, "%s", wrong.text);
    status = conv_fail(error, path, FP_ERR_CORRUPT, 0, (uint64_t)(wrong.position > 0 ? wrong.position : 0),
                       "not JSON: %s", wrong.text);
    error->line = wrong.line > 0 ? (uint64_t)wrong.line : 0;
    return status;
}

enum fp_status conv_recording_load(const char *directory, json_t **ret_root, struct conv_error *error)
{
    char path[CONV_PATH_BYTES + 32];
    struct fp_error cause;
    enum fp_status status = FP_OK;
    int fd;
    const int directory_fd = open_directory(directory, error);
    *ret_root = NULL;
    if (directory_fd < 0)
        return error->cause.status;
    snprintf(path, sizeof path, "%s/recording.json", directory);
    fd = fp_trusted_open(directory_fd, "recording.json", S_IFREG, FP_TRUSTED_READ, &cause);
    if (fd >= 0) {
        status = load_json(path, fd, ret_root, error);
        (void)close(fd); /* only read from */
    } else if (cause.status != FP_ERR_OPEN || cause.sys_errno != ENOENT) {
        status = conv_fail_with(error, path, &cause);
    }
    (void)close(directory_fd); /* only looked into */
    return status;
}

static enum fp_status check_schema(const char *path, const json_t *root, struct conv_error *error)
{
    const char *schema = json_string_value(json_object_get(root, "schema"));
    if (schema == NULL || strncmp(schema, "mallab-recording/", 17) != 0)
        return conv_fail(error, path, FP_ERR_FOREIGN, 0, 0, "not a mallab recording");
    if (strcmp(schema, "mallab-recording/1") != 0)
        return conv_fail(error, path, FP_ERR_VERSION, 0, 0, "is of schema %.100s, this mallab reads %s",
                         schema, "mallab-recording/1");
    return FP_OK;
}

/* ---- facts ---------------------------------------------------------------------------------- */

uint64_t conv_json_count(const json_t *object, const char *key)
{
    const json_int_t value = json_integer_value(json_object_get(object, key));
    return value > 0 ? (uint64_t)value : 0;
}

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static bool is_true(const json_t *object, const char *key)
{
    return json_is_true(json_object_get(object, key));
}

static const struct stop {
    const char *by, *words, *behind;
} STOPS[] = {
    {"disk_full", "the disk is full",
     "as its files cannot be written any more (is the disk full, or at a quota?)"},
    {"size_limit", "--max-size is reached", "as it has the size that --max-size allows"},
    {"duration", "--duration is over", "as --duration asked"},
    {"end", "as asked", "as --end asked"},
    {"recorder_killed", "'mallab record --pid' was killed", "as 'mallab record --pid' was killed"},
};

static const struct stop *find_stop(const char *by)
{
    for (size_t i = 0; by != NULL && i < sizeof STOPS / sizeof STOPS[0]; i++)
        if (strcmp(by, STOPS[i].by) == 0)
            return &STOPS[i];
    return NULL;
}

const char *conv_stop_words(const char *stopped_by)
{
    const struct stop *stop = find_stop(stopped_by);
    return stop != NULL ? stop->words : NULL;
}

const char *conv_stop_behind(const char *stopped_by)
{
    const struct stop *stop = find_stop(stopped_by);
    return stop != NULL ? stop->behind : "why is not known to this version";
}

static void take_losses(const json_t *object, uint64_t *ret_lost)
{
    const json_t *lost = json_object_get(object, "lost");
    for (unsigned i = 0; i < FP_LOSS_COUNT; i++)
        ret_lost[i] = conv_json_count(lost, fp_loss_name(i));
}

static void take_pauses(const json_t *root, struct conv_recording *recording)
{
    const json_t *pause;
    size_t i;
    json_array_foreach(json_object_get(root, "pauses"), i, pause)
    {
        const uint64_t from_ns = conv_json_count(pause, "from_ns"), to_ns = conv_json_count(pause, "to_ns");
        recording->pauses += json_is_object(pause);
        if (to_ns > from_ns)
            recording->paused_ns += to_ns - from_ns;
    }
}

/* A name within the directory, and nothing that leads out of it. */
static const char *plain_name(const char *name)
{
    return name != NULL && name[0] != '\0' && name[0] != '.' && strchr(name, '/') == NULL ? name : NULL;
}

static struct conv_recorded_process process_of(const json_t *item)
{
    const json_t *files = json_object_get(item, "files");
    struct conv_recorded_process process = {
        .file = plain_name(text_of(item, "file")),
        .name = text_of(item, "name"),
        .ended = text_of(item, "ended"),
        .process_id = (uint32_t)conv_json_count(item, "pid"),
        .parent_process_id = (uint32_t)conv_json_count(item, "parent_pid"),
        .events = conv_json_count(item, "events"),
        .events_removed = conv_json_count(item, "events_removed"),
        .bytes = conv_json_count(item, "bytes"),
        .threads = conv_json_count(item, "threads"),
        .complete = is_true(item, "complete"),
        .usage = json_object_get(item, "usage"),
        .gone_with_windows = json_is_array(files) && json_array_size(files) == 0,
    };
    take_losses(item, process.lost);
    return process;
}

bool conv_recording_take(json_t *root, struct conv_recording *ret_recording)
{
    const json_t *list = json_object_get(root, "processes");
    const json_t *collector = json_object_get(root, "collector"), *stop = json_object_get(root, "stopped"),
                 *item;
    struct conv_recording *to = ret_recording;
    size_t i;
    *to = (struct conv_recording){
        .json = root,
        .finished = collector == NULL && json_object_get(root, "segment_path") == NULL,
        .complete = is_true(root, "complete"),
        .recovered = is_true(root, "recovered"),
        .incomplete_why = text_of(root, "incomplete_why"),
        .stopped_by = text_of(stop, "by"),
        .stopped_ns = conv_json_count(stop, "after_ns"),
        .start_unix_ns = conv_json_count(root, "started_unix_ns"),
        .duration_ns = conv_json_count(root, "duration_ns"),
        .events = conv_json_count(root, "events"),
        .bytes = conv_json_count(root, "bytes"),
        .stalls = conv_json_count(root, "stalls"),
        .stall_ns = conv_json_count(root, "stall_ns"),
        .windows = conv_json_count(root, "windows"),
        .windows_removed = conv_json_count(root, "windows_removed"),
        .events_removed = conv_json_count(root, "events_removed"),
        .unattached = conv_json_count(root, "processes_unattached"),
        .sample_bytes = conv_json_count(root, FP_SAMPLE_META),
        .max_size_bytes = conv_json_count(root, "max_size_bytes"),
        .collector_cpu_ns = conv_json_count(root, "collector_cpu_ns"),
        .segment_bytes = conv_json_count(root, "segment_bytes"),
        .collector = {json_is_object(collector), conv_json_count(collector, "pid"),
                      conv_json_count(collector, "start_ticks"), conv_json_count(collector, "pid_namespace"),
                      conv_json_count(collector, "directory_inode"), text_of(collector, "boot_id")},
        .segment_path = text_of(root, "segment_path"),
        .label = text_of(root, FP_LABEL_META),
        .command_pid = (uint32_t)conv_json_count(root, "command_pid"),
        .has_processes = json_is_array(list),
    };
    take_losses(root, to->lost);
    take_pauses(root, to);
    to->attached = json_is_true(json_object_get(root, "attached"));
    to->processes = calloc(json_array_size(list) + 1, sizeof *to->processes);
    if (to->processes == NULL)
        return false;
    json_array_foreach(list, i, item) to->processes[to->process_count++] = process_of(item);
    return true;
}

bool conv_recording_usage(const struct conv_recorded_process *process, struct fp_usage *ret_usage)
{
    static const char *const WORDS[] = {"ended", "how", "allocator", "version", "kernel"};
    if (!json_is_object(process->usage))
        return false;
    fp_usage_init(ret_usage);
    for (size_t i = 0; i < FP_USAGE_NUMBER_COUNT; i++) {
        const json_t *number = json_object_get(process->usage, FP_USAGE_NUMBERS[i].key);
        if (json_is_integer(number) && json_integer_value(number) >= 0)
            fp_usage_put(ret_usage, &FP_USAGE_NUMBERS[i], (uint64_t)json_integer_value(number));
    }
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++) {
        const char *word = text_of(process->usage, WORDS[i]);
        if (word != NULL)
            (void)fp_usage_take(ret_usage, WORDS[i], word); /* none of these is a number */
    }
    return true;
}

void conv_recording_release(struct conv_recording *recording)
{
    json_decref(recording->json);
    free(recording->processes);
    *recording = (struct conv_recording){0};
}

enum fp_status conv_recording_read(const char *directory, struct conv_recording *ret_recording,
                                   struct conv_error *error)
{
    char path[CONV_PATH_BYTES + 32];
    json_t *root = NULL;
    enum fp_status status = conv_recording_load(directory, &root, error);
    *ret_recording = (struct conv_recording){0};
    snprintf(path, sizeof path, "%s/recording.json", directory);
    if (status == FP_OK && root != NULL)
        status = check_schema(path, root, error);
    if (status != FP_OK)
        json_decref(root);
    else if (root != NULL && !conv_recording_take(root, ret_recording)) {
        status = conv_fail_memory(error, path, "the list of processes");
        conv_recording_release(ret_recording);
    }
    return status;
}

/* ---- the collector, looked for ---------------------------------------------------------------- */

static bool is_this_boot(const struct conv_recording *recording)
{
    const char *recorded = recording->collector.boot_id;
    char boot[FP_BOOT_BYTES];
    return recorded != NULL && recorded[0] != '\0' && strcmp(recorded, fp_proc_boot(boot)) == 0;
}

static bool is_this_namespace(const struct conv_recording *recording)
{
    const uint64_t recorded = recording->collector.pid_namespace;
    struct stat mine;
    return recorded == 0 || stat("/proc/self/ns/pid", &mine) != 0 || mine.st_ino == recorded;
}

static bool is_copy(const struct conv_recording *recording, const char *directory)
{
    const uint64_t recorded = recording->collector.directory_inode;
    struct stat found;
    return recorded != 0 && stat(directory, &found) == 0 && found.st_ino != recorded;
}

/* The same process, by its start time, and not one that is dead and only not waited for. */
static bool runs(uint32_t pid, uint64_t start_ticks)
{
    struct fp_proc_stat stat;
    if (pid == 0 || (kill((pid_t)pid, 0) != 0 && errno == ESRCH))
        return false;
    if (!fp_proc_stat((pid_t)pid, &stat))
        return true; /* it may be hidden from us: the process id must do */
    return !stat.ended && (start_ticks == 0 || stat.start_ticks == start_ticks);
}

/* The recording's segment, if the recording is ours: of another user's nothing is touched but to be read. */
static bool open_segment(const struct conv_recording *recording, const char *directory,
                         struct fp_segment_file *ret_file)
{
    const int fd = fp_trusted_open(AT_FDCWD, directory, S_IFDIR, FP_TRUSTED_OWN, NULL);
    const bool opened = fd >= 0 &&
                        fp_segment_open(fd, recording->segment_path, FP_TRUSTED_OWN, ret_file, NULL);
    if (fd >= 0)
        (void)close(fd); /* only looked into */
    return opened;
}

bool conv_unfinished_ask_lock(const struct conv_recording *recording, const char *directory, bool *ret_alive)
{
    struct fp_segment_file segment;
    if (!open_segment(recording, directory, &segment))
        return false;
    *ret_alive = fp_segment_is_held(segment.fd);
    fp_segment_close(&segment);
    return true;
}

static void say(struct conv_survey *survey, enum conv_recording_state state, const char *why)
{
    survey->recording_state = state;
    snprintf(survey->unfinished_why, sizeof survey->unfinished_why, "%s", why);
}

/* Nothing is left of a copy: the shared memory belongs to the directory that was written to, and a copy may be anybody's. */
bool conv_unfinished_is_left(const struct conv_recording *recording, const char *directory)
{
    struct fp_segment_file segment;
    if (!recording->collector.told || recording->collector.directory_inode == 0 ||
        is_copy(recording, directory) || !is_this_boot(recording) ||
        !open_segment(recording, directory, &segment))
        return false;
    fp_segment_close(&segment);
    return true;
}

void conv_unfinished_judge(const struct conv_recording *recording, const char *directory,
                           struct conv_survey *survey)
{
    const uint64_t pid = recording->collector.process_id;
    bool alive = false;
    survey->collector_pid = pid <= INT32_MAX ? (uint32_t)pid : 0;
    if (!recording->collector.told) {
        say(survey, CONV_RECORDING_UNKNOWN, "its collector had not finished");
    } else if (is_copy(recording, directory)) {
        say(survey, CONV_RECORDING_COPIED, "it was copied before its collector had finished");
    } else if (is_this_boot(recording) && !is_this_namespace(recording) &&
               !conv_unfinished_ask_lock(recording, directory, &alive)) {
        say(survey, CONV_RECORDING_OUT_OF_SIGHT,
            "its collector had not finished, and cannot be seen from here (another pid namespace)");
    } else if (is_this_boot(recording) &&
               (alive || (is_this_namespace(recording) &&
                          runs(survey->collector_pid, recording->collector.start_ticks)))) {
        say(survey, CONV_RECORDING_GOING_ON, "");
        snprintf(survey->unfinished_why, sizeof survey->unfinished_why,
                 "it is still being recorded (collector %u)", survey->collector_pid);
    } else {
        say(survey, CONV_RECORDING_ENDED_EARLY,
            conv_unfinished_is_left(recording, directory)
                ? "its collector ended before it had finished; what it left in shared memory is written by "
                  "'mallab convert' and 'mallab ab'"
                : "its collector ended before it had finished");
    }
}

bool conv_unfinished_process_gone(const struct conv_recording *recording, uint32_t pid)
{
    return recording->collector.told && is_this_boot(recording) && is_this_namespace(recording) &&
           !runs(pid, 0);
}
