/* unrecorded.c - the programs that a recording.json says are not recorded. */
#include "record/unrecorded.h"

#include <stdlib.h>

#include "cli/base/json_bounds.h"
#include "convert/recording/recording.h"
#include "results/measure/base/support.h"

json_t *cli_unrecorded_of(const json_t *recording)
{
    const json_t *object;
    size_t i;
    json_t *list = json_array();
    json_array_foreach(json_object_get(recording, "not_recorded"), i, object)
    {
        if (json_is_string(json_object_get(object, "name")) &&
            json_is_string(json_object_get(object, "why")) && json_is_integer(json_object_get(object, "pid")))
            json_array_append_new(list, json_deep_copy(object));
    }
    return list;
}

json_t *cli_unrecorded_load(const char *path)
{
    char directory[CONV_PATH_BYTES];
    conv_recording_directory(path, directory);
    json_t *recording = cli_json_recording(directory);
    json_t *list = cli_unrecorded_of(recording);
    json_decref(recording);
    return list;
}

char *cli_unrecorded_words(const json_t *object)
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
