/* recording.c - which processes a recording directory holds (recording.json, docs/format.md). */
#include "convert/recording.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "convert/input.h"
#include "footprint/part_name.h"

#define JSON_BYTES_MAX ((off_t)64 << 20)
#define PROCESSES_MAX  1048576u

#define FOOTPRINT_HEADER_BYTES 64 /* docs/format.md */

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

static char *copy_of(const char *text)
{
    return strdup(text != NULL ? text : "");
}

/* Append a process; its strings are copied. */
static bool add_process(struct conv_survey *survey, const struct conv_process *facts, const char *file,
                        const char *name, const char *ended)
{
    struct conv_process *processes = realloc(survey->processes,
                                             (survey->process_count + 1) * sizeof *processes);
    struct conv_process *process;
    if (processes == NULL)
        return false;
    survey->processes = processes;
    process = &processes[survey->process_count++];
    *process = *facts;
    process->file = copy_of(file);
    process->name = copy_of(name);
    process->ended = copy_of(ended);
    return process->file != NULL && process->name != NULL && process->ended != NULL;
}

/* One reason more why the recording is not finished. */
__attribute__((format(printf, 2, 3))) static void explain(struct conv_survey *survey, const char *format, ...)
{
    const size_t used = strlen(survey->unfinished_why);
    const size_t mark = used > 0 && used + 2 < sizeof survey->unfinished_why ? 2 : 0; /* "; " */
    va_list list;
    memcpy(survey->unfinished_why + used, "; ", mark);
    va_start(list, format);
    vsnprintf(survey->unfinished_why + used + mark, sizeof survey->unfinished_why - used - mark, format,
              list);
    va_end(list);
}

/* ---- with recording.json ------------------------------------------------------------------- */

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

/* What a footprint says of itself, where recording.json does not, or not yet.
 * Returns FP_OK, or why it cannot be read. */
static enum fp_status look_into(const char *directory, const char *file, struct conv_process *process,
                                char *ret_name, size_t name_size, struct fp_error *ret_error)
{
    char path[2 * CONV_PATH_BYTES];
    struct fp_reader *reader = NULL;
    const struct fp_reader_info *info;
    const char *program, *parent;
    uint64_t lost = 0;
    enum fp_status status;
    snprintf(path, sizeof path, "%s/%s", directory, file);
    status = fp_reader_open(path, ret_error, &reader);
    if (status != FP_OK)
        return status;
    info = fp_reader_info(reader);
    process->events = info->mark_count;
    process->process_id = info->process_id;
    parent = fp_reader_meta(reader, "parent_pid");
    process->parent_process_id = parent != NULL ? (uint32_t)strtoul(parent, NULL, 10) : 0;
    for (unsigned i = 0; i < FP_LOSS_COUNT; i++)
        lost += info->trailer.lost[i];
    process->complete = info->has_trailer && lost == 0;
    program = fp_reader_meta(reader, "program");
    if (program != NULL)
        snprintf(ret_name, name_size, "%s", program);
    fp_reader_close(reader);
    return FP_OK;
}

/* The collector counts on when no file can be made or ended any more. */
static void take_losses(const json_t *item, struct conv_process *process)
{
    const json_t *lost = json_object_get(item, "lost");
    for (unsigned i = 0; i < FP_LOSS_COUNT; i++)
        process->lost[i] = number_of(lost, fp_loss_name(i));
}

static bool has_losses(const struct conv_process *process)
{
    for (unsigned i = 0; i < FP_LOSS_COUNT; i++)
        if (process->lost[i] != 0)
            return true;
    return false;
}

static bool is_absent(const char *directory, const char *file)
{
    char path[2 * CONV_PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", directory, file);
    return access(path, F_OK) != 0 && errno == ENOENT;
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
                                     };
    char name[256];
    if (!is_plain_name(file))
        return conv_fail(error, path, FP_ERR_CORRUPT, 0, 0, "a process has no plain file name");
    take_losses(item, &process);
    take_end(root, item, &process);
    /* Without a count it is looked for; whoever wants to convert the file hears why it cannot be read. */
    if (process.events == 0 && look_into(directory, file, &found, name, sizeof name, NULL) == FP_OK) {
        process.events = found.events;
        if (process.process_id == 0)
            process.process_id = found.process_id;
    }
    process.absent = process.events == 0 && has_losses(&process) && is_absent(directory, file);
    process.missing = !process.absent && is_missing(directory, file);
    if (!add_process(survey, &process, file, json_string_value(json_object_get(item, "name")),
                     json_string_value(json_object_get(item, "ended"))))
        return conv_fail(error, path, FP_ERR_MEMORY, 0, 0, "no memory for the list of processes");
    return FP_OK;
}

/* A regular file and nothing that an open could wait for. */
static FILE *open_json(const char *path)
{
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    FILE *file = NULL;
    struct stat stat_;
    if (fd >= 0 && fstat(fd, &stat_) == 0 && !S_ISREG(stat_.st_mode))
        errno = S_ISDIR(stat_.st_mode) ? EISDIR : EINVAL;
    else if (fd >= 0)
        file = fdopen(fd, "r");
    if (fd >= 0 && file == NULL) {
        const int saved = errno;
        (void)close(fd); /* only read from */
        errno = saved;
    }
    return file;
}

static enum fp_status load_json(const char *path, FILE *file, json_t **ret_root, struct conv_error *error)
{
    json_error_t wrong;
    enum fp_status status;
    if (fseeko(file, 0, SEEK_END) != 0 || ftello(file) > JSON_BYTES_MAX)
        return conv_fail(error, path, FP_ERR_CORRUPT, 0, 0, "too large for a recording.json");
    rewind(file);
    *ret_root = json_loadf(file, JSON_REJECT_DUPLICATES, &wrong);
    if (*ret_root != NULL)
        return FP_OK;
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

/* The processes that a whole recording.json lists; none of an unfinished one. */
static enum fp_status take_json(const char *directory, const char *path, const json_t *root,
                                struct conv_survey *survey, struct conv_error *error)
{
    const json_t *processes = json_object_get(root, "processes"), *item;
    enum fp_status status = conv_recording_check(path, root, error);
    size_t i;
    if (status != FP_OK)
        return status;
    survey->start_unix_ns = number_of(root, "started_unix_ns");
    survey->unattached = number_of(root, "processes_unattached");
    take_pauses(root, survey);
    survey->stop_words = conv_recording_stop_words(root);
    if (json_object_get(root, "collector") != NULL || json_object_get(root, "segment_path") != NULL) {
        conv_unfinished_judge(root, directory, survey);
        return FP_OK;
    }
    if (!json_is_array(processes) || json_array_size(processes) > PROCESSES_MAX)
        return conv_fail(error, path, FP_ERR_CORRUPT, 0, 0, "has no list of processes");
    survey->recording_state = CONV_RECORDING_FINISHED;
    json_array_foreach(processes, i, item)
    {
        status = add_from_json(directory, path, root, item, survey, error);
        if (status != FP_OK)
            return status;
    }
    return FP_OK;
}

enum fp_status conv_recording_load(const char *directory, json_t **ret_root, struct conv_error *error)
{
    char path[CONV_PATH_BYTES + 32];
    enum fp_status status;
    FILE *file;
    *ret_root = NULL;
    snprintf(path, sizeof path, "%s/recording.json", directory);
    file = open_json(path);
    if (file == NULL)
        return errno == ENOENT ? FP_OK : conv_fail(error, path, FP_ERR_OPEN, errno, 0, "cannot open");
    status = load_json(path, file, ret_root, error);
    (void)fclose(file); /* only read from */
    return status;
}

/* Returns FP_OK also for a damaged file, which survey->recording_state and error tell then. */
static enum fp_status read_json(const char *directory, struct conv_survey *survey, bool *ret_complete,
                                struct conv_error *error)
{
    char path[CONV_PATH_BYTES + 32];
    json_t *root = NULL;
    enum fp_status status = conv_recording_load(directory, &root, error);
    if (status == FP_ERR_OPEN)
        return status;
    survey->recording_state = CONV_RECORDING_UNKNOWN;
    if (status == FP_OK && root == NULL) {
        explain(survey, "it has no recording.json");
        return FP_OK;
    }
    snprintf(path, sizeof path, "%s/recording.json", directory);
    if (status == FP_OK)
        status = take_json(directory, path, root, survey, error);
    *ret_complete = status == FP_OK && json_is_true(json_object_get(root, "complete"));
    json_decref(root);
    if (status != FP_ERR_CORRUPT)
        return status;
    conv_survey_release(survey); /* of half a list nothing is believed */
    survey->recording_state = CONV_RECORDING_UNKNOWN;
    explain(survey, "its recording.json is damaged (%s)", error->what);
    return FP_OK;
}

/* ---- without ------------------------------------------------------------------------------- */

static int is_footprint(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    return length > 3 && entry->d_name[0] != '.' && strcmp(entry->d_name + length - 3, ".fp") == 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name); /* the same in every locale */
}

/* What the scan of a directory passed over. */
struct passed_over {
    size_t empty;   /* created, nothing in them yet */
    size_t damaged; /* or foreign, or closed to us */
    struct fp_error cause;
    char file[256]; /* the first of the damaged */
};

/* Of a file that has not even a header there is nothing to be said; a collector killed in between leaves such. */
static bool holds_nothing(const char *directory, const char *file)
{
    char path[2 * CONV_PATH_BYTES];
    struct stat stat_;
    snprintf(path, sizeof path, "%s/%s", directory, file);
    return stat(path, &stat_) == 0 && S_ISREG(stat_.st_mode) && stat_.st_size < FOOTPRINT_HEADER_BYTES;
}

/* The process whose earlier window was listed just before, NULL: it is another's first. */
static struct conv_process *same_image(const struct conv_survey *survey, const char *file)
{
    struct conv_process *last = survey->process_count > 0 ? &survey->processes[survey->process_count - 1]
                                                          : NULL;
    char stem[CONV_STEM_BYTES], before[CONV_STEM_BYTES];
    uint32_t window;
    return last != NULL && fp_part_name(file, CONV_STEM_BYTES, stem, &window) && window != 0 &&
                   fp_part_name(last->file, CONV_STEM_BYTES, before, &window) && window != 0 &&
                   strcmp(stem, before) == 0
               ? last
               : NULL;
}

static enum fp_status scan_entry(const char *directory, const char *file, struct conv_survey *survey,
                                 struct passed_over *passed)
{
    struct conv_process *earlier = same_image(survey, file);
    struct conv_process process = {0};
    struct fp_error cause = {0};
    char name[256];
    const bool going_on = survey->recording_state == CONV_RECORDING_GOING_ON;
    enum fp_status status;
    snprintf(name, sizeof name, "%s", file);
    name[strcspn(name, ".")] = '\0'; /* NAME.PID.fp, for a footprint that does not name its program */
    status = look_into(directory, file, &process, name, sizeof name, &cause);
    if (status == FP_ERR_MEMORY)
        return status;
    if (status == FP_OK && earlier != NULL) {
        earlier->events += process.events;
        earlier->complete = earlier->complete && process.complete;
        return FP_OK;
    }
    if (status == FP_OK)
        return add_process(survey, &process, file, name, going_on && !process.complete ? "running" : "")
                   ? FP_OK
                   : FP_ERR_MEMORY;
    if (holds_nothing(directory, file)) {
        passed->empty++;
        return FP_OK;
    }
    if (passed->damaged++ == 0) {
        passed->cause = cause;
        snprintf(passed->file, sizeof passed->file, "%s", file);
    }
    return FP_OK;
}

static enum fp_status scan_directory(const char *directory, struct conv_survey *survey,
                                     struct passed_over *ret_passed, struct conv_error *error)
{
    struct dirent **entries = NULL;
    const int count = scandir(directory, &entries, is_footprint, by_name);
    enum fp_status status = FP_OK;
    if (count < 0 && errno == ENOMEM)
        return conv_fail(error, directory, FP_ERR_MEMORY, 0, 0, "no memory for the list of footprints");
    if (count < 0)
        return conv_fail(error, directory, FP_ERR_OPEN, errno, 0, "cannot open");
    for (int i = 0; i < count; i++) {
        if (status == FP_OK)
            status = scan_entry(directory, entries[i]->d_name, survey, ret_passed);
        free(entries[i]);
    }
    free(entries);
    if (status != FP_OK)
        return conv_fail(error, directory, status, 0, 0, "no memory for the list of processes");
    return FP_OK;
}

/* ---- both ---------------------------------------------------------------------------------- */

/* error: what is wrong with recording.json, if anything. */
static enum fp_status fail_without_process(const char *directory, const struct conv_survey *survey,
                                           const struct passed_over *passed, struct conv_error *error)
{
    char path[2 * CONV_PATH_BYTES];
    if (passed->damaged > 0) {
        snprintf(path, sizeof path, "%s/%s", directory, passed->file);
        return conv_fail_with(error, path, &passed->cause);
    }
    if (survey->recording_state == CONV_RECORDING_GOING_ON)
        return conv_fail(error, directory, FP_ERR_READ, 0, 0, "nothing is written yet: %s",
                         survey->unfinished_why);
    if (error->cause.status != FP_OK)
        return error->cause.status;
    if (survey->recording_state == CONV_RECORDING_FINISHED)
        return conv_fail(error, directory, FP_ERR_READ, 0, 0, "holds no footprint: no process was recorded");
    if (survey->recording_state == CONV_RECORDING_UNKNOWN && passed->empty == 0)
        return conv_fail(
            error, directory, FP_ERR_READ, 0, 0,
            "is a directory without a footprint (*.fp): name the one that 'mallab record' wrote");
    return conv_fail(error, directory, FP_ERR_READ, 0, 0, "nothing was written: %s", survey->unfinished_why);
}

static void explain_passed_over(const struct passed_over *passed, struct conv_survey *survey)
{
    if (passed->empty > 0)
        explain(survey, "%zu footprint%s nothing%s", passed->empty, passed->empty == 1 ? " holds" : "s hold",
                survey->recording_state == CONV_RECORDING_GOING_ON ? " yet" : "");
    if (passed->damaged > 0)
        explain(survey, "left out: '%.60s' (%.60s)%s", passed->file,
                passed->cause.what != NULL ? passed->cause.what : fp_status_name(passed->cause.status),
                passed->damaged > 1 ? " and others" : "");
}

enum fp_status conv_recording_list(const char *path, struct conv_survey *survey, bool *ret_complete,
                                   struct conv_error *error)
{
    char directory[CONV_PATH_BYTES];
    struct passed_over passed = {0};
    uint64_t events = 0;
    enum fp_status status;
    conv_recording_directory(path, directory);
    *ret_complete = false;
    memset(error, 0, sizeof *error);
    survey->kind = CONV_KIND_RECORDING;
    snprintf(survey->input, sizeof survey->input, "%s", directory);
    status = read_json(directory, survey, ret_complete, error);
    if (status == FP_OK && survey->recording_state == CONV_RECORDING_ENDED_EARLY) {
        /* It may have finished between our look at its file and our look for its process: then the file is new. */
        survey->unfinished_why[0] = '\0';
        survey->collector_pid = 0;
        status = read_json(directory, survey, ret_complete, error);
    }
    if (status != FP_OK || survey->process_count > 0)
        return status;
    status = scan_directory(directory, survey, &passed, error);
    if (status != FP_OK)
        return status;
    if (survey->process_count == 0)
        return fail_without_process(directory, survey, &passed, error);
    if (survey->recording_state == CONV_RECORDING_FINISHED) {
        survey->recording_state = CONV_RECORDING_UNKNOWN;
        *ret_complete = false;
        explain(survey, "its recording.json lists no process");
    }
    for (size_t i = 0; i < survey->process_count; i++)
        events += survey->processes[i].events;
    if (events == 0 && survey->recording_state == CONV_RECORDING_GOING_ON)
        explain(survey, "nothing is written yet");
    explain_passed_over(&passed, survey);
    memset(error, 0, sizeof *error); /* a damaged recording.json was made up for */
    return FP_OK;
}
