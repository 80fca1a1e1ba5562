/* process_list_json.c - the processes that a recording.json lists (docs/format.md), and what else it says. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "convert/recording/parts.h"
#include "convert/recording/process_list.h"
#include "convert/recording/recording.h"
#include "convert/recording/unfinished.h"
#include "footprint/base/json_read.h"
#include "footprint/base/part_name.h"
#include "footprint/base/trusted.h"
#include "footprint/base/words.h"

#define PROCESSES_MAX 1048576u

/* A name within the directory, and nothing that leads out of it. */
static bool is_plain_name(const char *name)
{
    return name != NULL && name[0] != '\0' && name[0] != '.' && strchr(name, '/') == NULL;
}

static uint64_t number_of(const json_t *object, const char *key)
{
    const json_int_t value = json_integer_value(json_object_get(object, key));
    return value > 0 ? (uint64_t)value : 0;
}

/* The collector counts on when no file can be made or ended any more. */
static void take_losses(const json_t *item, struct conv_process *process)
{
    const json_t *lost = json_object_get(item, "lost");
    for (unsigned i = 0; i < FP_LOSS_COUNT; i++)
        process->lost[i] = number_of(lost, fp_loss_name(i));
}

static bool is_absent(const char *directory, const char *file)
{
    char path[2 * CONV_PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", directory, file);
    return access(path, F_OK) != 0 && errno == ENOENT;
}

/* All its footprints went with their windows: the list of those that are left is there, and empty. */
static bool is_removed(const json_t *root, const json_t *item)
{
    const json_t *files = json_object_get(item, "files");
    return number_of(root, "windows_removed") > 0 && number_of(item, "events") == 0 && json_is_array(files) &&
           json_array_size(files) == 0;
}

/* Of a process in windows any of them is enough: --keep removes the first ones. */
static bool is_missing(const char *directory, const char *file)
{
    char stem[CONV_STEM_BYTES], other[CONV_STEM_BYTES];
    uint32_t window;
    const struct dirent *entry;
    bool found = false;
    DIR *entries;
    if (!is_absent(directory, file))
        return false;
    if (!fp_part_name(file, CONV_STEM_BYTES, stem, &window) || window == 0)
        return true;
    entries = opendir(directory);
    while (entries != NULL && !found && (entry = readdir(entries)) != NULL)
        found = fp_part_name(entry->d_name, CONV_STEM_BYTES, other, &window) && window != 0 &&
                strcmp(other, stem) == 0;
    if (entries != NULL)
        (void)closedir(entries); /* only read */
    return !found;
}

/* When recording ended, and whether the process went on: one that was recovered, unseen by anybody. */
static void take_end(const json_t *root, const json_t *item, struct conv_process *process)
{
    const char *ended = json_string_value(json_object_get(item, "ended"));
    process->until_ns = number_of(root, "duration_ns");
    process->ran_on = ended != NULL && strcmp(ended, "running") == 0;
    process->uncounted = process->ran_on && json_is_true(json_object_get(root, "recovered"));
}

static enum fp_status add_from_json(const char *directory, const char *path, const json_t *root,
                                    const json_t *item, struct conv_survey *survey, struct conv_error *error)
{
    const char *file = json_string_value(json_object_get(item, "file"));
    struct conv_process found = {0}, process = {
                                         .process_id = (uint32_t)number_of(item, "pid"),
                                         .parent_process_id = (uint32_t)number_of(item, "parent_pid"),
                                         .events = number_of(item, "events"),
                                         .complete = json_is_true(json_object_get(item, "complete")),
                                         .events_removed = number_of(item, "events_removed"),
                                     };
    char name[256];
    if (!is_plain_name(file))
        return conv_fail(error, path, FP_ERR_CORRUPT, 0, 0, "a process has no plain file name");
    take_losses(item, &process);
    take_end(root, item, &process);
    /* Without a count it is looked for; whoever wants to convert the file hears why it cannot be read. */
    process.removed = is_removed(root, item);
    if (process.events == 0 && !process.removed &&
        conv_process_list_look(directory, file, &found, name, sizeof name, NULL) == FP_OK) {
        process.events = found.events;
        if (process.process_id == 0)
            process.process_id = found.process_id;
    }
    process.absent = !process.removed && process.events == 0 && fp_loss_sum(process.lost) != 0 &&
                     is_absent(directory, file);
    process.missing = !process.removed && !process.absent && is_missing(directory, file);
    if (!conv_process_list_add(survey, &process, file, json_string_value(json_object_get(item, "name")),
                               json_string_value(json_object_get(item, "ended"))))
        return conv_fail(error, path, FP_ERR_MEMORY, 0, 0, "no memory for the list of processes");
    return FP_OK;
}

static enum fp_status load_json(int directory_fd, const char *path, int fd, json_t **ret_root,
                                struct conv_error *error)
{
    const struct fp_json_bound bound = fp_json_directory_bound(directory_fd, fd);
    json_error_t wrong;
    enum fp_status status = fp_json_read(fd, &bound, ret_root, &wrong);
    const int saved = errno;
    if (status == FP_OK)
        return FP_OK;
    if (status == FP_ERR_LIMIT)
        return conv_fail(
            error, path, status, 0, 0,
            "%s, too much for the %llu files beside it; move it away: the footprints are read "
            "without it",
            wrong.text,
            (unsigned long long)((bound.text_bytes - FP_JSON_RECORDING_BYTES) / FP_JSON_PER_PROCESS_BYTES));
    if (status != FP_ERR_CORRUPT)
        return conv_fail(error, path, status, status == FP_ERR_READ ? saved : 0, 0, "%s", wrong.text);
    status = conv_fail(error, path, FP_ERR_CORRUPT, 0, (uint64_t)(wrong.position > 0 ? wrong.position : 0),
                       "not JSON: %s", wrong.text);
    error->line = wrong.line > 0 ? (uint64_t)wrong.line : 0;
    return status;
}

enum fp_status conv_recording_check(const char *path, const json_t *root, struct conv_error *error)
{
    const char *schema = json_string_value(json_object_get(root, "schema"));
    if (schema == NULL || strncmp(schema, "mallab-recording/", 17) != 0)
        return conv_fail(error, path, FP_ERR_FOREIGN, 0, 0, "not a mallab recording");
    if (strcmp(schema, "mallab-recording/1") != 0)
        return conv_fail(error, path, FP_ERR_VERSION, 0, 0, "is of schema %.100s, this mallab reads %s",
                         schema, "mallab-recording/1");
    return FP_OK;
}

const char *conv_recording_stop_words(const json_t *root)
{
    static const struct {
        const char *by, *words;
    } stops[] = {{"disk_full", "the disk is full"},
                 {"size_limit", "--max-size is reached"},
                 {"duration", "--duration is over"},
                 {"end", "as asked"}};
    const char *by = json_string_value(json_object_get(json_object_get(root, "stopped"), "by"));
    for (size_t i = 0; by != NULL && i < sizeof stops / sizeof stops[0]; i++)
        if (strcmp(by, stops[i].by) == 0)
            return stops[i].words;
    return NULL;
}

static void take_pauses(const json_t *root, struct conv_survey *survey)
{
    const json_t *pause;
    size_t i;
    json_array_foreach(json_object_get(root, "pauses"), i, pause)
    {
        const uint64_t from_ns = number_of(pause, "from_ns"), to_ns = number_of(pause, "to_ns");
        survey->pauses += json_is_object(pause);
        if (to_ns > from_ns)
            survey->paused_ns += to_ns - from_ns;
    }
}

/* Recordings of earlier versions say only that they are not complete. */
static void take_completeness(const json_t *root, struct conv_survey *survey)
{
    const char *why = json_string_value(json_object_get(root, "incomplete_why"));
    const uint64_t unattached = number_of(root, "processes_unattached");
    char digits[FP_TEXT_BYTES], *told = survey->recording_why;
    const size_t size = sizeof survey->recording_why;
    if (json_is_true(json_object_get(root, "complete")))
        return;
    if (why != NULL && why[0] != '\0')
        snprintf(told, size, "%s", why);
    else if (unattached > 0)
        snprintf(told, size, "%s processes were more than can be recorded at one time",
                 fp_text_grouped(unattached, digits));
    else if (survey->pauses > 0)
        snprintf(told, size, "recording was paused meanwhile, as asked");
    else
        snprintf(told, size, "recording.json says that it is not complete, and not why");
}

enum fp_status conv_process_list_take_json(const char *directory, const char *path, const json_t *root,
                                           struct conv_survey *survey, struct conv_error *error)
{
    const json_t *processes = json_object_get(root, "processes"), *item;
    enum fp_status status = conv_recording_check(path, root, error);
    size_t i;
    if (status != FP_OK)
        return status;
    survey->start_unix_ns = number_of(root, "started_unix_ns");
    take_pauses(root, survey);
    survey->stop_words = conv_recording_stop_words(root);
    if (json_object_get(root, "collector") != NULL || json_object_get(root, "segment_path") != NULL) {
        conv_unfinished_judge(root, directory, survey);
        return FP_OK;
    }
    if (!json_is_array(processes) || json_array_size(processes) > PROCESSES_MAX)
        return conv_fail(error, path, FP_ERR_CORRUPT, 0, 0, "has no list of processes");
    survey->recording_state = CONV_RECORDING_FINISHED;
    take_completeness(root, survey);
    json_array_foreach(processes, i, item)
    {
        status = add_from_json(directory, path, root, item, survey, error);
        if (status != FP_OK)
            return status;
    }
    return FP_OK;
}

int conv_recording_open(const char *directory, struct conv_error *error)
{
    struct fp_error cause;
    const int fd = fp_trusted_open(AT_FDCWD, directory, S_IFDIR, FP_TRUSTED_READ, &cause);
    if (fd < 0)
        (void)conv_fail_with(error, directory, &cause);
    return fd;
}

enum fp_status conv_recording_load(const char *directory, json_t **ret_root, struct conv_error *error)
{
    char path[CONV_PATH_BYTES + 32];
    struct fp_error cause;
    enum fp_status status = FP_OK;
    int fd;
    const int directory_fd = conv_recording_open(directory, error);
    *ret_root = NULL;
    if (directory_fd < 0)
        return error->cause.status;
    snprintf(path, sizeof path, "%s/recording.json", directory);
    fd = fp_trusted_open(directory_fd, "recording.json", S_IFREG, FP_TRUSTED_READ, &cause);
    if (fd >= 0) {
        status = load_json(directory_fd, path, fd, ret_root, error);
        (void)close(fd); /* only read from */
    } else if (cause.status != FP_ERR_OPEN || cause.sys_errno != ENOENT) {
        status = conv_fail_with(error, path, &cause);
    }
    (void)close(directory_fd); /* only looked into */
    return status;
}
