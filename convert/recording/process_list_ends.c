/* process_list_ends.c - which processes of a recording that goes on have ended: what footprints alone cannot tell. A window's
 * has a trailer, and its process runs on; recording.json says what the collector knew at its last word. */
#include <stdlib.h>
#include <string.h>

#include "convert/recording/parts.h"
#include "convert/recording/process_list.h"
#include "convert/recording/recording.h"
#include "convert/recording/unfinished.h"
#include "footprint/base/part_name.h"

/* By what names of one image's footprints have in common. */
static json_t *told_ends(const json_t *root)
{
    json_t *ends = json_object();
    const json_t *item;
    size_t i;
    json_array_foreach(json_object_get(root, "processes"), i, item)
    {
        const char *file = json_string_value(json_object_get(item, "file"));
        json_t *ended = json_object_get(item, "ended");
        char stem[CONV_STEM_BYTES];
        uint32_t window;
        if (file != NULL && json_is_string(ended) && fp_part_name(file, CONV_STEM_BYTES, stem, &window))
            json_object_set(ends, stem, ended);
    }
    return ends;
}

static const char *end_of(const json_t *root, const json_t *told, const struct conv_process *process)
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
    return conv_unfinished_process_gone(root, process->process_id) ? "exit" : "running";
}

enum fp_status conv_process_list_tell_ends(const char *directory, struct conv_survey *survey,
                                           struct conv_error *error)
{
    json_t *root = NULL, *told;
    enum fp_status status = FP_OK;
    if (survey->recording_state != CONV_RECORDING_GOING_ON)
        return FP_OK;
    if (conv_recording_load(directory, &root, error) != FP_OK || root == NULL)
        return FP_OK; /* it was there just now, and said that it goes on: no word is no harm */
    told = told_ends(root);
    for (size_t i = 0; i < survey->process_count && status == FP_OK; i++) {
        struct conv_process *process = &survey->processes[i];
        char *ended = strdup(end_of(root, told, process));
        if (ended == NULL) {
            status = conv_fail(error, directory, FP_ERR_MEMORY, 0, 0, "no memory for the list of processes");
            break;
        }
        free(process->ended);
        process->ended = ended;
    }
    json_decref(told);
    json_decref(root);
    return status;
}
