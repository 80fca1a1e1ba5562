/* outcome_set.h - members of JSON objects, for the files that build a run's: each includes it once and asks `incomplete` at its end. */
#ifndef MALLAB_REPLAY_OUTCOME_OUTCOME_SET_H
#define MALLAB_REPLAY_OUTCOME_OUTCOME_SET_H

#include <jansson.h>
#include <stdbool.h>

/* Of the file that includes this. Set when memory ran out: half an object must not look like a whole one. */
static bool incomplete;

static void set(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) != 0)
        incomplete = true;
}

static void append(json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) != 0)
        incomplete = true;
}

#endif
