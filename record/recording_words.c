/* recording_words.c - read recording.json, and put some of it in words. */
#include "record/recorder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "footprint/base/words.h"

#define FORECAST_AFTER_NS UINT64_C(10000000000)
#define DAY_NS            86400e9

bool rec_recording_read(const char *directory, struct conv_recording *ret_recording)
{
    struct conv_error *error = res_calloc(
        1, sizeof *error); /* who wants to know why calls conv_recording_load */
    json_t *json = NULL;
    (void)conv_recording_load(directory, &json, error);
    free(error);
    *ret_recording = (struct conv_recording){0};
    if (json != NULL && !conv_recording_take(json, ret_recording))
        res_no_memory();
    return json != NULL;
}

json_t *rec_unrecorded_of(const struct conv_recording *recording)
{
    const json_t *object;
    size_t i;
    json_t *list = json_array();
    json_array_foreach(json_object_get(recording->json, "not_recorded"), i, object)
    {
        if (json_is_string(json_object_get(object, "name")) &&
            json_is_string(json_object_get(object, "why")) && json_is_integer(json_object_get(object, "pid")))
            json_array_append_new(list, json_deep_copy(object));
    }
    return list;
}

json_t *rec_unrecorded_load(const char *path)
{
    char directory[CONV_PATH_BYTES];
    conv_recording_directory(path, directory);
    struct conv_recording recording;
    (void)rec_recording_read(directory, &recording); /* of none nothing is listed */
    json_t *list = rec_unrecorded_of(&recording);
    conv_recording_release(&recording);
    return list;
}

char *rec_unrecorded_words(const json_t *object)
{
    char *name = res_text_plain(json_string_value(json_object_get(object, "name")));
    char *why = res_text_plain(json_string_value(json_object_get(object, "why")));
    const json_int_t pid = json_integer_value(json_object_get(object, "pid"));
    char *words = pid > 0 ? res_printf("'%s' (process %lld) %s", name, (long long)pid, why)
                          : res_printf("'%s' %s", name, why);
    free(name);
    free(why);
    return words;
}

const char *rec_forecast(uint64_t bytes, uint64_t within_ns, char ret_words[REC_FORECAST_BYTES])
{
    ret_words[0] = '\0';
    if (within_ns >= FORECAST_AFTER_NS)
        snprintf(ret_words, REC_FORECAST_BYTES, ", at this rate %s a day",
                 FP_BYTES((double)bytes / (double)within_ns * DAY_NS));
    return ret_words;
}
