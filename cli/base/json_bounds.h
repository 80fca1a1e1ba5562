/* json_bounds.h - values of our output that any input may have put out of JSON's bounds. */
#ifndef MALLAB_CLI_BASE_JSON_BOUNDS_H
#define MALLAB_CLI_BASE_JSON_BOUNDS_H

#include <stdint.h>
#include <stdlib.h>

#include <jansson.h>

#include "convert/base/survey_counts.h"
#include "convert/recording/recording_json.h"
#include "footprint/base/support.h"

/* cli_json_number - an integer; the highest that JSON's have where it is more. A new reference. */
static inline json_t *cli_json_number(uint64_t value)
{
    return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

/* cli_json_text - a string without what is no plain text; null for none and for an empty one. A new reference. */
static inline json_t *cli_json_text(const char *value)
{
    char *plain = res_text_plain(value != NULL ? value : "");
    json_t *string = *plain != '\0' ? json_string(plain) : json_null();
    free(plain);
    return string;
}

/* cli_json_known - a number; null for 0, which says that it is not known. A new reference. */
static inline json_t *cli_json_known(uint64_t value)
{
    return value != 0 ? cli_json_number(value) : json_null();
}

static inline json_t *cli_json_truth(bool value)
{
    return json_boolean(value);
}

static inline json_t *cli_json_itself(json_t *value)
{
    return value;
}

/* cli_json_set - a key of an object: a number, text, truth value, or JSON, whose reference it takes over. */
#define cli_json_set(object, key, value)                                                                     \
    ((void)json_object_set_new(object, key,                                                                 \
                               _Generic((value),                                                            \
                                   json_t *: cli_json_itself,                                               \
                                   char *: cli_json_text,                                                   \
                                   const char *: cli_json_text,                                             \
                                   bool: cli_json_truth,                                                    \
                                   double: json_real,                                                       \
                                   unsigned: cli_json_number,                                               \
                                   uint64_t: cli_json_number)(value)))

#endif
