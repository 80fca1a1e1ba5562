/* choose.c - which processes of a recording are meant. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/input.h"
#include "convert/recording.h"

static bool is_meant(const struct conv_process *process, const char *item)
{
    char number[16];
    snprintf(number, sizeof number, "%u", process->process_id);
    return strcmp(item, number) == 0 || fnmatch(item, process->name, 0) == 0;
}

static bool choose_item(struct conv_survey *survey, const char *item)
{
    bool met = false;
    for (size_t i = 0; i < survey->process_count; i++) {
        struct conv_process *process = &survey->processes[i];
        if (process->absent || (item[0] != '\0' && !is_meant(process, item)))
            continue;
        process->chosen = met = true;
    }
    return met;
}

/* Returns NULL, or the item that means no process. */
static char *find_missing(struct conv_survey *survey, const char *list)
{
    char *missing = NULL;
    for (const char *at = list; missing == NULL; at++) {
        const size_t length = strcspn(at, ",");
        char *item = strndup(at, length);
        if (item == NULL || !choose_item(survey, item))
            missing = item != NULL ? item : strdup("");
        else
            free(item);
        at += length;
        if (*at == '\0')
            break;
    }
    return missing;
}

enum fp_status conv_recording_choose_some(const char *directory, const char *list, struct conv_survey *survey,
                                          struct conv_error *error)
{
    char names[200];
    char *missing = find_missing(survey, list);
    enum fp_status status;
    if (missing == NULL)
        return FP_OK;
    conv_processes_name(survey, names, sizeof names);
    status = conv_fail(error, directory, FP_ERR_ARGUMENT, 0, 0, "holds no process '%.40s', only%s", missing,
                       names);
    free(missing);
    return status;
}
