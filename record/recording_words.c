/* recording_words.c - read recording.json, and put some of it in words. */
#include "record/recording_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/recording/recording_json.h"
#include "footprint/base/support.h"
#include "footprint/base/words.h"

#define FORECAST_AFTER_NS UINT64_C(10000000000)
#define DAY_NS            86400e9

json_t *rec_recording_read(const char *directory)
{
    struct conv_error *error = res_calloc(
        1, sizeof *error); /* who wants to know why calls conv_recording_load */
    json_t *recording = NULL;
    (void)conv_recording_load(directory, &recording, error);
    free(error);
    return recording;
}

uint64_t rec_count(const json_t *object, const char *key)
{
    const json_int_t value = json_integer_value(json_object_get(object, key));
    return value > 0 ? (uint64_t)value : 0;
}

uint64_t rec_lost(const json_t *recording)
{
    json_t *causes = json_object_get(recording, "lost"), *value;
    const char *cause;
    uint64_t lost = 0;
    json_object_foreach(causes, cause, value) lost += rec_count(causes, cause);
    return lost;
}

const char *rec_stop(const json_t *recording, uint64_t *ret_after_ns)
{
    const json_t *stop = json_object_get(recording, "stopped");
    const char *by = json_string_value(json_object_get(stop, "by"));
    if (by != NULL)
        *ret_after_ns = rec_count(stop, "after_ns");
    return by;
}

const char *rec_stop_words(const char *stop)
{
    static const struct {
        const char *stop, *words;
    } WORDS[] = {
        {"disk_full", "as its files cannot be written any more (is the disk full, or at a quota?)"},
        {"size_limit", "as it has the size that --max-size allows"},
        {"duration", "as --duration asked"},
        {"end", "as --end asked"},
        {"recorder_killed", "as 'mallab record --pid' was killed"},
    };
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++)
        if (strcmp(WORDS[i].stop, stop) == 0)
            return WORDS[i].words;
    return "why is not known to this version";
}

json_t *rec_unrecorded_of(const json_t *recording)
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

json_t *rec_unrecorded_load(const char *path)
{
    char directory[CONV_PATH_BYTES];
    conv_recording_directory(path, directory);
    json_t *recording = rec_recording_read(directory);
    json_t *list = rec_unrecorded_of(recording);
    json_decref(recording);
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
