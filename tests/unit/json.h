/* json.h - JSON that a test writes down and looks at. Tests link jansson by way of what they test. */
#ifndef MALLAB_TESTS_UNIT_JSON_H
#define MALLAB_TESTS_UNIT_JSON_H

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* json_of - what a text says, in which apostrophes stand for quotes, printed as by printf(3). */
__attribute__((format(printf, 1, 2))) static inline json_t *json_of(const char *format, ...)
{
    static char text[1 << 16];
    json_error_t error;
    va_list list;
    va_start(list, format);
    if (vsnprintf(text, sizeof text, format, list) >= (int)sizeof text)
        abort();
    va_end(list);
    for (char *mark = text; (mark = strchr(mark, '\'')) != NULL;)
        *mark = '"';
    json_t *json = json_loads(text, JSON_DECODE_ANY, &error);
    if (json == NULL) {
        fprintf(stderr, "%s in: %s\n", error.text, text);
        abort();
    }
    return json;
}

/* json_at - what stands at a path of keys and numbers, as "workloads.0.name"; NULL: nothing does. Borrowed. */
static inline json_t *json_at(const json_t *json, const char *path)
{
    while (json != NULL && *path != '\0') {
        char key[64];
        const size_t length = strcspn(path, ".");
        snprintf(key, sizeof key, "%.*s", (int)length, path);
        json = json_is_array(json) ? json_array_get(json, strtoul(key, NULL, 10))
                                   : json_object_get(json, key);
        path += length + (path[length] == '.');
    }
    return (json_t *)(uintptr_t)json;
}

static inline double json_number_at(const json_t *json, const char *path)
{
    return json_number_value(json_at(json, path));
}

static inline const char *json_text_at(const json_t *json, const char *path)
{
    return json_string_value(json_at(json, path));
}

static inline size_t json_size_at(const json_t *json, const char *path)
{
    return json_array_size(json_at(json, path));
}

/* json_more - put the members of another object in, which is released. Returns object. */
static inline json_t *json_more(json_t *object, json_t *other)
{
    if (object == NULL || json_object_update(object, other) != 0)
        abort();
    json_decref(other);
    return object;
}

#endif
