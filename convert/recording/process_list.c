/* process_list.c - the processes of a recording: as its recording.json lists them, or by the footprints that are there. */
#include "convert/recording/process_list.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "convert/recording/parts.h"
#include "convert/recording/unfinished.h"
#include "footprint/base/part_name.h"
#include "footprint/base/words.h"

#define PROCESSES_MAX 1048576u

void conv_process_list_explain(struct conv_survey *survey, const char *format, ...)
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

static char *copy_of(const char *text)
{
    return strdup(text != NULL ? text : "");
}

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

/* Ask a footprint itself, where recording.json does not tell, or not yet. Returns FP_OK, or why it cannot be read. */
static enum fp_status look_into(const char *path, struct conv_process *process, char *ret_name,
                                size_t name_size, struct fp_error *ret_error)
{
    struct fp_reader *reader = NULL;
    const struct fp_reader_info *info;
    const char *program, *parent;
    enum fp_status status;
    status = fp_reader_open(path, ret_error, &reader);
    if (status != FP_OK)
        return status;
    info = fp_reader_info(reader);
    process->events = info->mark_count;
    process->process_id = info->process_id;
    parent = fp_reader_meta(reader, "parent_pid");
    process->parent_process_id = parent != NULL ? (uint32_t)strtoul(parent, NULL, 10) : 0;
    process->complete = info->has_trailer && fp_loss_sum(info->trailer.lost) == 0;
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

/* A process in windows is there with any of them: --keep removes the first ones. */
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
    }
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

enum fp_status conv_process_list_take(const char *directory, const struct conv_recording *recording,
                                      struct conv_survey *survey, struct conv_error *error)
{
    char path[CONV_PATH_BYTES + 32];
    enum fp_status status = FP_OK;
    snprintf(path, sizeof path, "%s/recording.json", directory);
    survey->start_unix_ns = recording->start_unix_ns;
    survey->pauses = recording->pauses;
    survey->paused_ns = recording->paused_ns;
    survey->stop_words = recording->stop_words;
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

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name); /* the same in every locale */
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
                                 struct conv_passed_over *passed)
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
        return FP_OK;
    }
    if (status == FP_OK)
        return add_process(survey, &process, file, name, "") ? FP_OK : FP_ERR_MEMORY;
    if (conv_holds_nothing(path)) {
        passed->empty++;
        return FP_OK;
    }
    if (passed->damaged++ == 0) {
        passed->cause = cause;
        snprintf(passed->file, sizeof passed->file, "%s", file);
    }
    return FP_OK;
}

enum fp_status conv_process_list_scan(const char *directory, struct conv_survey *survey,
                                      struct conv_passed_over *ret_passed, struct conv_error *error)
{
    struct dirent **entries = NULL;
    const int count = scandir(directory, &entries, conv_is_footprint, by_name);
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

enum fp_status conv_process_list_tell_ends(const char *directory, struct conv_survey *survey,
                                           struct conv_error *error)
{
    struct conv_recording recording;
    json_t *told;
    enum fp_status status = FP_OK;
    if (survey->recording_state != CONV_RECORDING_GOING_ON)
        return FP_OK;
    if (conv_recording_read(directory, &recording, error) != FP_OK || recording.json == NULL)
        return FP_OK; /* it was there just now, and said that it goes on: no word is no harm */
    told = conv_recording_ends(&recording);
    for (size_t i = 0; i < survey->process_count && status == FP_OK; i++) {
        struct conv_process *process = &survey->processes[i];
        char *ended = strdup(end_of(&recording, told, process));
        if (ended == NULL) {
            status = conv_fail_memory(error, directory, "the list of processes");
            break;
        }
        free(process->ended);
        process->ended = ended;
    }
    json_decref(told);
    conv_recording_release(&recording);
    return status;
}
