/* recording.c - the processes of a recording directory: as its recording.json says, else by its footprints. */
#include "convert/recording/recording.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "convert/base/survey_counts.h"
#include "footprint/base/words.h"

/* The files that the scan of a directory passed over. */
struct passed_over {
    size_t empty;   /* created, nothing in them yet */
    size_t damaged; /* or foreign, or closed to us */
    struct fp_error cause;
    char file[256]; /* the first of the damaged */
};

#define PROCESSES_MAX 1048576u

/* One reason more why the recording is not finished. */
#define EXPLAIN(survey, ...)                                                                                 \
    fp_text_more((survey)->unfinished_why, sizeof(survey)->unfinished_why, "; ", __VA_ARGS__)

static char *copy_of(const char *text)
{
    return strdup(text != NULL ? text : "");
}

/* facts->usage becomes the survey's. */
static bool add_process(struct conv_survey *survey, const struct conv_process *facts, const char *file,
                        const char *name, const char *ended)
{
    struct conv_process *processes = realloc(survey->processes,
                                             (survey->process_count + 1) * sizeof *processes);
    struct conv_process *process;
    if (processes == NULL) {
        conv_usage_free(facts->usage);
        return false;
    }
    survey->processes = processes;
    process = &processes[survey->process_count++];
    *process = *facts;
    process->file = copy_of(file);
    process->name = copy_of(name);
    process->ended = copy_of(ended);
    return process->file != NULL && process->name != NULL && process->ended != NULL;
}

/* Ask a footprint itself, where recording.json does not tell, or not yet. Returns FP_OK, or why it cannot be read. */
static enum fp_status look_into(const char *path, struct conv_process *process, char *ret_name,
                                size_t name_size, struct fp_error *ret_error)
{
    struct fp_reader *reader = NULL;
    const struct fp_reader_info *info;
    const char *program;
    const enum fp_status status = fp_reader_open(path, ret_error, &reader);
    if (status != FP_OK)
        return status;
    info = fp_reader_info(reader);
    process->events = info->mark_count;
    process->process_id = info->process_id;
    process->parent_process_id = (uint32_t)fp_reader_meta_number(reader, "parent_pid");
    process->complete = info->has_trailer && fp_loss_sum(info->trailer.lost) == 0;
    conv_usage_set(&process->usage, info->usage);
    if (process->usage != NULL)
        fp_usage_release(process->usage);
    program = fp_reader_meta(reader, "program");
    if (program != NULL)
        snprintf(ret_name, name_size, "%s", program);
    fp_reader_close(reader);
    return FP_OK;
}

/* ---- as recording.json lists them -------------------------------------------------------------- */

static bool is_absent(const char *directory, const char *file)
{
    char path[2 * CONV_PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", directory, file);
    return access(path, F_OK) != 0 && errno == ENOENT;
}

/* A process in windows is there with any of them: --keep-windows removes the first ones. */
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

static enum fp_status add_recorded(const char *directory, const struct conv_recording *recording,
                                   const struct conv_recorded_process *item, struct conv_survey *survey,
                                   struct conv_error *error)
{
    const bool ran_on = item->ended != NULL && strcmp(item->ended, "running") == 0;
    struct conv_process found = {0}, process = {
                                         .process_id = item->process_id,
                                         .parent_process_id = item->parent_process_id,
                                         .events = item->events,
                                         .complete = item->complete,
                                         .events_removed = item->events_removed,
                                         .until_ns = recording->duration_ns,
                                         .ran_on = ran_on,
                                         .uncounted = ran_on && recording->recovered,
                                     };
    struct fp_usage usage;
    char name[256], path[2 * CONV_PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", directory, item->file != NULL ? item->file : "recording.json");
    if (item->file == NULL)
        return conv_fail(error, path, FP_ERR_CORRUPT, 0, 0, "a process has no plain file name");
    memcpy(process.lost, item->lost, sizeof process.lost);
    process.removed = recording->windows_removed > 0 && item->events == 0 && item->gone_with_windows;
    /* Without a count it is looked for; whoever wants to convert the file hears why it cannot be read. */
    if (process.events == 0 && !process.removed &&
        look_into(path, &found, name, sizeof name, NULL) == FP_OK) {
        process.events = found.events;
        if (process.process_id == 0)
            process.process_id = found.process_id;
        conv_usage_free(found.usage);
    }
    if (conv_recording_usage(item, &usage))
        conv_usage_set(&process.usage, &usage);
    process.absent = !process.removed && process.events == 0 && fp_loss_sum(process.lost) != 0 &&
                     is_absent(directory, item->file);
    process.missing = !process.removed && !process.absent && is_missing(directory, item->file);
    return add_process(survey, &process, item->file, item->name, item->ended)
               ? FP_OK
               : conv_fail_memory(error, directory, "the list of processes");
}

/* Recordings of earlier versions say only that they are not complete. */
static void take_completeness(const struct conv_recording *recording, struct conv_survey *survey)
{
    const char *why = recording->incomplete_why;
    char digits[FP_TEXT_BYTES], *told = survey->recording_why;
    const size_t size = sizeof survey->recording_why;
    if (recording->complete)
        return;
    if (why != NULL && why[0] != '\0')
        snprintf(told, size, "%s", why);
    else if (recording->unattached > 0)
        snprintf(told, size, "%s processes were more than can be recorded at one time",
                 fp_text_grouped(recording->unattached, digits));
    else if (recording->pauses > 0)
        snprintf(told, size, "recording was paused meanwhile, as asked");
    else
        snprintf(told, size, "recording.json says that it is not complete, and not why");
}

/* Takes the list of a recording.json: the processes that a finished one lists, what became of an
 * unfinished one's collector.
 * Returns  FP_OK; FP_ERR_CORRUPT, FP_ERR_MEMORY in error. */
static enum fp_status take_list(const char *directory, const struct conv_recording *recording,
                                struct conv_survey *survey, struct conv_error *error)
{
    char path[CONV_PATH_BYTES + 32];
    enum fp_status status = FP_OK;
    snprintf(path, sizeof path, "%s/recording.json", directory);
    survey->start_unix_ns = recording->start_unix_ns;
    conv_survey_label(survey, recording->label);
    survey->command_pid = recording->command_pid;
    survey->pauses = recording->pauses;
    survey->paused_ns = recording->paused_ns;
    survey->stop_words = conv_stop_words(recording->stopped_by);
    if (!recording->finished) {
        conv_unfinished_judge(recording, directory, survey);
        return FP_OK;
    }
    if (!recording->has_processes || recording->process_count > PROCESSES_MAX)
        return conv_fail(error, path, FP_ERR_CORRUPT, 0, 0, "has no list of processes");
    survey->recording_state = CONV_RECORDING_FINISHED;
    take_completeness(recording, survey);
    for (size_t i = 0; i < recording->process_count && status == FP_OK; i++)
        status = add_recorded(directory, recording, &recording->processes[i], survey, error);
    return status;
}

/* ---- as they lie there ------------------------------------------------------------------------- */

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
    char name[256], path[2 * CONV_PATH_BYTES];
    enum fp_status status;
    snprintf(path, sizeof path, "%s/%s", directory, file);
    snprintf(name, sizeof name, "%s", file);
    name[strcspn(name, ".")] = '\0'; /* NAME.PID.fp, for a footprint that does not name its program */
    status = look_into(path, &process, name, sizeof name, &cause);
    if (status == FP_ERR_MEMORY)
        return status;
    if (status == FP_OK && earlier != NULL) {
        earlier->events += process.events;
        earlier->complete = earlier->complete && process.complete;
        if (process.usage != NULL) { /* the later one tells all until its end; cut short it tells nothing */
            conv_usage_free(earlier->usage);
            earlier->usage = process.usage;
        }
        return FP_OK;
    }
    if (status == FP_OK)
        return add_process(survey, &process, file, name, "") ? FP_OK : FP_ERR_MEMORY;
    if (cause.no_header) { /* when it was read: a second look at the file may find it longer */
        passed->empty++;
        return FP_OK;
    }
    if (passed->damaged++ == 0) {
        passed->cause = cause;
        snprintf(passed->file, sizeof passed->file, "%s", file);
    }
    return FP_OK;
}

/* Every footprint of the directory, in the order of their names' bytes.
 * Returns  FP_OK, also for none; FP_ERR_OPEN, FP_ERR_MEMORY, in error. */
static enum fp_status scan_list(const char *directory, struct conv_survey *survey,
                                struct passed_over *ret_passed, struct conv_error *error)
{
    struct dirent **entries = NULL;
    const int count = scandir(directory, &entries, conv_is_footprint, alphasort);
    enum fp_status status = FP_OK;
    if (count < 0 && errno == ENOMEM)
        return conv_fail_memory(error, directory, "the list of footprints");
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

/* ---- how they ended ----------------------------------------------------------------------------
 *
 * Footprints alone cannot tell: a window's has a trailer, and its process runs on. */

/* The ends of processes, by what the names of an image's footprints have in common. The caller's reference. */
static json_t *ends_of(const struct conv_recording *recording)
{
    json_t *ends = json_object();
    for (size_t i = 0; i < recording->process_count; i++) {
        const struct conv_recorded_process *process = &recording->processes[i];
        char stem[CONV_STEM_BYTES];
        uint32_t window;
        if (process->file != NULL && process->ended != NULL &&
            fp_part_name(process->file, CONV_STEM_BYTES, stem, &window))
            json_object_set_new(ends, stem, json_string(process->ended));
    }
    return ends;
}

static const char *end_of(const struct conv_recording *recording, const json_t *told,
                          const struct conv_process *process)
{
    char stem[CONV_STEM_BYTES];
    uint32_t window = 0;
    const char *ended = NULL;
    if (fp_part_name(process->file, CONV_STEM_BYTES, stem, &window))
        ended = json_string_value(json_object_get(told, stem));
    if (ended != NULL && strcmp(ended, "running") != 0)
        return ended;
    if (window == 0 && process->complete)
        return "exit"; /* its only footprint has its end */
    return conv_unfinished_process_gone(recording, process->process_id) ? "exit" : "running";
}

/* Sets each process' `ended` in a recording that goes on: as the collector
 * told, as a footprint's end tells, or as the system's processes do. Nothing for others.
 * Returns  FP_OK, or FP_ERR_MEMORY in error. */
static enum fp_status tell_ends(const struct conv_recording *recording, const char *directory,
                                struct conv_survey *survey, struct conv_error *error)
{
    enum fp_status status = FP_OK;
    if (survey->recording_state != CONV_RECORDING_GOING_ON)
        return FP_OK;
    json_t *told = ends_of(recording);
    for (size_t i = 0; i < survey->process_count && status == FP_OK; i++) {
        struct conv_process *process = &survey->processes[i];
        free(process->ended);
        process->ended = strdup(end_of(recording, told, process));
        if (process->ended == NULL)
            status = conv_fail_memory(error, directory, "the list of processes");
    }
    json_decref(told);
    return status;
}

/* Returns FP_OK also for a damaged file, which survey->recording_state and error tell then. */
static enum fp_status read_json(const char *directory, struct conv_survey *survey,
                                struct conv_recording *ret_recording, struct conv_error *error)
{
    enum fp_status status = conv_recording_read(directory, ret_recording, error);
    survey->recording_state = CONV_RECORDING_UNKNOWN;
    if (status == FP_OK && ret_recording->json == NULL)
        EXPLAIN(survey, "it has no recording.json");
    else if (status == FP_OK)
        status = take_list(directory, ret_recording, survey, error);
    if (status != FP_ERR_CORRUPT)
        return status;
    conv_survey_release(survey); /* of half a list nothing is believed */
    survey->recording_state = CONV_RECORDING_UNKNOWN;
    EXPLAIN(survey, "its recording.json is damaged (%s)", error->what);
    return FP_OK;
}

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
        return conv_fail(error, directory, FP_ERR_READ, 0, 0,
                         "holds no footprint: no process was recorded%s%s",
                         survey->recording_why[0] != '\0' ? ": " : "", survey->recording_why);
    if (survey->recording_state == CONV_RECORDING_UNKNOWN && passed->empty == 0)
        return conv_fail(error, directory, FP_ERR_READ, 0, 0, "%s", CONV_NO_RECORDING);
    return conv_fail(error, directory, FP_ERR_READ, 0, 0, "nothing was written: %s", survey->unfinished_why);
}

static void explain_passed_over(const struct passed_over *passed, struct conv_survey *survey)
{
    if (passed->empty > 0)
        EXPLAIN(survey, "%zu footprint%s nothing%s", passed->empty, passed->empty == 1 ? " holds" : "s hold",
                survey->recording_state == CONV_RECORDING_GOING_ON ? " yet" : "");
    if (passed->damaged > 0)
        EXPLAIN(survey, "left out: '%.60s' (%.60s)%s", passed->file,
                passed->cause.what != NULL ? passed->cause.what : fp_status_name(passed->cause.status),
                passed->damaged > 1 ? " and others" : "");
}

void conv_recording_judge(struct conv_survey *survey, bool of_one)
{
    if (survey->recording_why[0] != '\0')
        conv_incomplete(survey, "%s%s", of_one ? "elsewhere in the recorded tree: " : "",
                        survey->recording_why);
}

/* The footprints that are there are the processes, where recording.json lists none. */
static enum fp_status take_files(const char *directory, const struct conv_recording *recording,
                                 struct conv_survey *survey, struct conv_error *error)
{
    struct passed_over passed = {0};
    uint64_t events = 0;
    enum fp_status status = scan_list(directory, survey, &passed, error);
    if (status == FP_OK)
        status = tell_ends(recording, directory, survey, error);
    if (status != FP_OK)
        return status;
    if (survey->process_count == 0)
        return fail_without_process(directory, survey, &passed, error);
    if (survey->recording_state == CONV_RECORDING_FINISHED) {
        survey->recording_state = CONV_RECORDING_UNKNOWN;
        EXPLAIN(survey, "its recording.json lists no process");
    }
    for (size_t i = 0; i < survey->process_count; i++)
        events += survey->processes[i].events;
    if (events == 0 && survey->recording_state == CONV_RECORDING_GOING_ON)
        EXPLAIN(survey, "nothing is written yet");
    explain_passed_over(&passed, survey);
    memset(error, 0, sizeof *error); /* a damaged recording.json was made up for */
    return FP_OK;
}

enum fp_status conv_recording_list(const char *path, struct conv_survey *survey, struct conv_error *error)
{
    char directory[CONV_PATH_BYTES];
    struct conv_recording recording;
    enum fp_status status;
    conv_recording_directory(path, directory);
    memset(error, 0, sizeof *error);
    survey->kind = CONV_KIND_RECORDING;
    snprintf(survey->input, sizeof survey->input, "%s", directory);
    status = read_json(directory, survey, &recording, error);
    if (status == FP_OK && survey->recording_state == CONV_RECORDING_ENDED_EARLY) {
        /* It may have finished between our look at its file and our look for its process: then the file is new. */
        survey->unfinished_why[0] = '\0';
        survey->collector_pid = 0;
        conv_recording_release(&recording);
        status = read_json(directory, survey, &recording, error);
    }
    if (status == FP_OK && survey->process_count == 0)
        status = take_files(directory, &recording, survey, error);
    conv_recording_release(&recording);
    return status;
}
