/* process_list_scan.c - the processes of a recording that no recording.json lists: by the footprints that are there. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "convert/recording/parts.h"
#include "convert/recording/process_list.h"
#include "footprint/base/part_name.h"

#define FOOTPRINT_HEADER_BYTES 64 /* docs/format.md */

static int is_footprint(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    return length > 3 && entry->d_name[0] != '.' && strcmp(entry->d_name + length - 3, ".fp") == 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name); /* the same in every locale */
}

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
                                 struct conv_passed_over *passed)
{
    struct conv_process *earlier = same_image(survey, file);
    struct conv_process process = {0};
    struct fp_error cause = {0};
    char name[256];
    enum fp_status status;
    snprintf(name, sizeof name, "%s", file);
    name[strcspn(name, ".")] = '\0'; /* NAME.PID.fp, for a footprint that does not name its program */
    status = conv_process_list_look(directory, file, &process, name, sizeof name, &cause);
    if (status == FP_ERR_MEMORY)
        return status;
    if (status == FP_OK && earlier != NULL) {
        earlier->events += process.events;
        earlier->complete = earlier->complete && process.complete;
        return FP_OK;
    }
    if (status == FP_OK)
        return conv_process_list_add(survey, &process, file, name, "") ? FP_OK : FP_ERR_MEMORY;
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

enum fp_status conv_process_list_scan(const char *directory, struct conv_survey *survey,
                                      struct conv_passed_over *ret_passed, struct conv_error *error)
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
