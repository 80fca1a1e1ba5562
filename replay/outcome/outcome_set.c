/* outcome_set.c - see outcome_set.h. */
#include "replay/outcome/outcome_set.h"

static bool failed;

void rep_set(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) != 0)
        failed = true;
}

void rep_append(json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) != 0)
        failed = true;
}

bool rep_set_failed(void)
{
    return failed;
}

void rep_set_text(json_t *object, const char *key, const char *value)
{
    json_t *text = value != NULL ? json_string(value) : NULL;
    rep_set(object, key, text != NULL ? text : json_null());
}
