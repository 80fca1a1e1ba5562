/* fields_schema.c - rows for people and for validators. */
#include "house/fields_schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"

static json_t *type_or_null(const char *type)
{
    return json_pack("{s:[s, s]}", "type", type, "null");
}

static json_t *words_of(const struct res_field *field)
{
    json_t *words = json_array();
    for (size_t i = 0; field->words[i] != NULL; i++)
        json_array_append_new(words, json_string(field->words[i]));
    return json_pack("{s:o}", "enum", words);
}

static json_t *count_schema(const struct res_field *field)
{
    json_t *schema = (field->flags & RES_FIELD_ZERO_IS_NULL) != 0 ? type_or_null("integer")
                                                                  : json_pack("{s:s}", "type", "integer");
    json_object_set_new(schema, "minimum", json_integer(0));
    return schema;
}

static json_t *part_schema(const struct res_field *field)
{
    json_t *schema = res_described_schema(field->of);
    if (field->kind == RES_FIELD_LIST)
        return json_pack("{s:s, s:o}", "type", "array", "items", schema);
    if (field->kind == RES_FIELD_STRUCT)
        json_object_set_new(schema, "type", json_pack("[s, s]", "object", "null"));
    return schema;
}

static json_t *schema_of(const struct res_field *field)
{
    switch (field->kind) {
    case RES_FIELD_TEXT:
    case RES_FIELD_LENT:
        return (field->flags & RES_FIELD_REQUIRED) != 0 ? json_pack("{s:s}", "type", "string")
                                                        : type_or_null("string");
    case RES_FIELD_COUNT:
        return count_schema(field);
    case RES_FIELD_NUMBER:
        return type_or_null("number");
    case RES_FIELD_WHOLE:
        return type_or_null("integer");
    case RES_FIELD_TRUTH:
        return json_pack("{s:s}", "type", "boolean");
    case RES_FIELD_MAYBE:
        return type_or_null("boolean");
    case RES_FIELD_WORD:
        return words_of(field);
    case RES_FIELD_STRUCT:
    case RES_FIELD_INSIDE:
    case RES_FIELD_LIST:
        return part_schema(field);
    case RES_FIELD_TEXTS:
        return json_pack("{s:[s, s], s:{s:s}}", "type", "array", "null", "items", "type", "string");
    case RES_FIELD_PAIRS:
        return json_pack("{s:s, s:{s:s}}", "type", "object", "additionalProperties", "type", "string");
    case RES_FIELD_COUNTS:
        return json_pack("{s:s, s:{s:s}}", "type", "array", "items", "type", "integer");
    case RES_FIELD_NUMBERS:
        return json_pack("{s:s, s:{s:[s, s]}}", "type", "array", "items", "type", "number", "null");
    case RES_FIELD_JSON:
        break;
    }
    return json_object();
}

static json_t *object_schema(void)
{
    return json_pack("{s:s, s:{}, s:[]}", "type", "object", "properties", "required");
}

static bool has_text(const json_t *array, const char *text)
{
    size_t index;
    json_t *one;
    json_array_foreach((json_t *)(uintptr_t)array, index, one)
    {
        if (strcmp(json_string_value(one), text) == 0)
            return true;
    }
    return false;
}

/* The schema of the object that a dotted key is a member of, which must be there where one of its members must; ret_key is the key's last part. */
static json_t *object_of(json_t *schema, const char *key, bool required, const char **ret_key)
{
    for (const char *dot = strchr(key, '.'); dot != NULL; dot = strchr(key, '.')) {
        json_t *properties = json_object_get(schema, "properties");
        char *part = res_strndup(key, (size_t)(dot - key));
        if (json_object_get(properties, part) == NULL)
            json_object_set_new(properties, part, object_schema());
        if (required && !has_text(json_object_get(schema, "required"), part))
            json_array_append_new(json_object_get(schema, "required"), json_string(part));
        schema = json_object_get(properties, part);
        free(part);
        key = dot + 1;
    }
    *ret_key = key;
    return schema;
}

json_t *res_described_schema(const struct res_described *described)
{
    json_t *schema = object_schema();
    for (size_t i = 0; i < described->field_count; i++) {
        const struct res_field *field = &described->fields[i];
        const char *key;
        if ((field->flags & RES_FIELD_READ_ONLY) != 0 || field->doc == NULL)
            continue;
        const bool required = (field->flags & RES_FIELD_OMITTED) == 0;
        json_t *owner = object_of(schema, field->key, required, &key), *own = schema_of(field);
        json_object_set_new(own, "description", json_string(field->doc));
        json_object_set_new(json_object_get(owner, "properties"), key, own);
        if (required)
            json_array_append_new(json_object_get(owner, "required"), json_string(key));
    }
    return schema;
}

static const char *brackets_of(enum res_field_kind kind)
{
    const bool list = kind == RES_FIELD_LIST || kind == RES_FIELD_TEXTS || kind == RES_FIELD_COUNTS ||
                      kind == RES_FIELD_NUMBERS;
    const bool object = kind == RES_FIELD_STRUCT || kind == RES_FIELD_INSIDE || kind == RES_FIELD_PAIRS;
    return list ? "[]" : object ? "{}" : "";
}

/* The length of the object that a key enters, "time.ratio" enters "time"; 0: none. */
static size_t object_length(const struct res_field *field)
{
    const char *dot = strchr(field->key, '.');
    return dot != NULL ? (size_t)(dot - field->key) : 0;
}

/* Tells whether both keys enter one object. */
static bool share_object(const struct res_field *one, const struct res_field *other)
{
    const size_t length = object_length(one);
    return length > 0 && length == object_length(other) && strncmp(one->key, other->key, length) == 0;
}

char *res_described_list(const struct res_described *described, const char *prefix)
{
    struct res_text text = {0};
    const struct res_field *before = NULL;
    for (size_t i = 0; i < described->field_count; i++) {
        const struct res_field *field = &described->fields[i], *next = field + 1;
        const size_t object = object_length(field);
        const char *name = field->key + (object > 0 ? object + 1 : 0);
        if (field->doc == NULL)
            continue;
        if (before != NULL && share_object(before, field))
            res_text_printf(&text, "; `%s%s`", name, brackets_of(field->kind));
        else if (object > 0)
            res_text_printf(&text, "%s- `%s%.*s{}` `%s%s`", before != NULL ? "\n" : "", prefix, (int)object,
                            field->key, name, brackets_of(field->kind));
        else
            res_text_printf(&text, "%s- `%s%s%s`", before != NULL ? "\n" : "", prefix, name,
                            brackets_of(field->kind));
        if (i + 1 < described->field_count && share_object(field, next) && next->doc != NULL &&
            strcmp(next->doc, "likewise") == 0) {
            res_text_printf(&text, ", `%s`", next->key + object + 1);
            i++;
        }
        res_text_printf(&text, ": %s", field->doc);
        before = field;
    }
    if (before != NULL)
        res_text_printf(&text, "\n");
    return text.text;
}
