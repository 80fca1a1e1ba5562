/* recording.c - which processes a recording directory holds (recording.json, docs/format.md). */
#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/pass.h"

#define JSON_BYTES_MAX ((off_t)64 << 20)
#define PROCESSES_MAX  1048576u

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

struct conv_process *conv_recording_choose(struct conv_survey *survey, uint32_t process_id)
{
    struct conv_process *best = NULL;
    for (size_t i = 0; i < survey->process_count; i++) {
        struct conv_process *process = &survey->processes[i];
        if (process_id != 0 && process->process_id != process_id)
            continue;
        if (best == NULL || process->events > best->events)
            best = process;
    }
    if (best != NULL)
        best->chosen = true;
    return best;
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

/* The count that recording.json leaves open while a process runs. */
static void count_marks(const char *directory, const char *file, struct conv_process *process)
{
    char path[2 * CONV_PATH_BYTES];
    struct fp_reader *reader = NULL;
    snprintf(path, sizeof path, "%s/%s", directory, file);
    if (fp_reader_open(path, NULL, &reader) != FP_OK)
        return; /* whoever wants to convert it hears why */
    process->events = fp_reader_info(reader)->mark_count;
    if (process->process_id == 0)
        process->process_id = fp_reader_info(reader)->process_id;
    fp_reader_close(reader);
}

static enum fp_status add_from_json(const char *directory, const char *path, const json_t *item,
                                    struct conv_survey *survey, struct conv_error *error)
{
    const char *file = json_string_value(json_object_get(item, "file"));
    struct conv_process process = {
        .process_id = (uint32_t)number_of(item, "pid"),
        .parent_process_id = (uint32_t)number_of(item, "parent_pid"),
        .events = number_of(item, "events"),
        .complete = json_is_true(json_object_get(item, "complete")),
    };
    if (!is_plain_name(file))
        return conv_fail(error, path, FP_ERR_CORRUPT, 0, 0, "a process has no plain file name");
    if (process.events == 0)
        count_marks(directory, file, &process);
    if (!add_process(survey, &process, file, json_string_value(json_object_get(item, "name")),
                     json_string_value(json_object_get(item, "ended"))))
        return conv_fail(error, path, FP_ERR_MEMORY, 0, 0, "no memory for the list of processes");
    return FP_OK;
}

static enum fp_status read_json(const char *directory, const char *path, FILE *file,
                                struct conv_survey *survey, bool *ret_complete, struct conv_error *error)
{
    json_error_t wrong;
    json_t *root = NULL;
    const json_t *processes, *item;
    const char *schema;
    size_t i;
    enum fp_status status = FP_OK;
    if (fseeko(file, 0, SEEK_END) != 0 || ftello(file) > JSON_BYTES_MAX)
        return conv_fail(error, path, FP_ERR_CORRUPT, 0, 0, "too large for a recording.json");
    rewind(file);
    root = json_loadf(file, JSON_REJECT_DUPLICATES, &wrong);
    if (root == NULL) {
        status = conv_fail(error, path, FP_ERR_CORRUPT, 0,
                           (uint64_t)(wrong.position > 0 ? wrong.position : 0), "not JSON: %s", wrong.text);
        error->line = wrong.line > 0 ? (uint64_t)wrong.line : 0;
        return status;
    }
    schema = json_string_value(json_object_get(root, "schema"));
    processes = json_object_get(root, "processes");
    if (schema == NULL || strncmp(schema, "mallab-recording/", 17) != 0)
        status = conv_fail(error, path, FP_ERR_FOREIGN, 0, 0, "not a mallab recording");
    else if (strcmp(schema, "mallab-recording/1") != 0)
        status = conv_fail(error, path, FP_ERR_VERSION, 0, 0, "is of schema %.100s, this mallab reads %s",
                           schema, "mallab-recording/1");
    else if (!json_is_array(processes) || json_array_size(processes) > PROCESSES_MAX)
        status = conv_fail(error, path, FP_ERR_CORRUPT, 0, 0, "has no list of processes");
    *ret_complete = json_is_true(json_object_get(root, "complete"));
    survey->start_unix_ns = number_of(root, "started_unix_ns");
    if (status == FP_OK)
        json_array_foreach(processes, i, item)
        {
            status = add_from_json(directory, path, item, survey, error);
            if (status != FP_OK)
                break;
        }
    json_decref(root);
    return status;
}

/* ---- without ------------------------------------------------------------------------------- */

static int is_footprint(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    return length > 3 && entry->d_name[0] != '.' && strcmp(entry->d_name + length - 3, ".fp") == 0;
}

/* The collector itself was killed before it wrote recording.json: the footprints speak for themselves. */
static enum fp_status scan_directory(const char *directory, struct conv_survey *survey,
                                     struct conv_error *error)
{
    struct dirent **entries = NULL;
    const int count = scandir(directory, &entries, is_footprint, alphasort);
    enum fp_status status = FP_OK;
    if (count < 0)
        return conv_fail(error, directory, FP_ERR_OPEN, errno, 0, "cannot open");
    for (int i = 0; i < count; i++) {
        struct conv_process process = {0};
        char name[256];
        char *dot;
        snprintf(name, sizeof name, "%s", entries[i]->d_name);
        dot = strchr(name, '.'); /* NAME.PID.fp */
        if (dot != NULL)
            *dot = '\0';
        count_marks(directory, entries[i]->d_name, &process);
        if (status == FP_OK && !add_process(survey, &process, entries[i]->d_name, name, ""))
            status = conv_fail(error, directory, FP_ERR_MEMORY, 0, 0, "no memory for the list of processes");
        free(entries[i]);
    }
    free(entries);
    return status;
}

enum fp_status conv_recording_list(const char *path, struct conv_survey *survey, bool *ret_complete,
                                   struct conv_error *error)
{
    char directory[CONV_PATH_BYTES], json_path[CONV_PATH_BYTES + 32];
    FILE *file;
    enum fp_status status;
    conv_recording_directory(path, directory);
    snprintf(json_path, sizeof json_path, "%s/recording.json", directory);
    *ret_complete = false;
    survey->kind = CONV_KIND_RECORDING;
    snprintf(survey->input, sizeof survey->input, "%s", directory);
    file = fopen(json_path, "re");
    if (file == NULL && errno != ENOENT)
        return conv_fail(error, json_path, FP_ERR_OPEN, errno, 0, "cannot open");
    if (file == NULL) {
        status = scan_directory(directory, survey, error);
    } else {
        status = read_json(directory, json_path, file, survey, ret_complete, error);
        (void)fclose(file); /* only read from */
    }
    if (status == FP_OK && survey->process_count == 0)
        status = conv_fail(error, directory, FP_ERR_FOREIGN, 0, 0, "holds no footprint");
    return status;
}
