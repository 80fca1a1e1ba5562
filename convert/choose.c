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

enum fp_status conv_recording_choose_some(const char *directory, const char *list, struct conv_survey *survey,
                                          struct conv_error *error)
{
    enum fp_status status = FP_OK;
    for (const char *at = list; status == FP_OK; at++) {
        const size_t length = strcspn(at, ",");
        char names[200], *item = strndup(at, length);
        if (item == NULL) {
            status = conv_fail(error, directory, FP_ERR_MEMORY, 0, 0, "no memory for the list of processes");
        } else if (!choose_item(survey, item)) {
            conv_processes_name(survey, names, sizeof names);
            status = conv_fail(error, directory, FP_ERR_ARGUMENT, 0, 0, "holds no process '%.40s', only%s",
                               item, names);
        }
        free(item);
        at += length;
        if (*at == '\0')
            break;
    }
    return status;
}
