/* rest.c - what no row names: told apart from what one does, in an object and in a text before it is parsed. */
#include <string.h>

#include "results/measure/base/fields.h"

/* ---- by the rows ----------------------------------------------------------------------------- */

/* Which rows an object has: of `described` those that begin with `prefix`, "time." or "". */
struct rows {
    const struct res_described *described;
    const char *prefix;
    size_t length;
};

enum told { NOT_TOLD, TOLD, INSIDE_IS_TOLD };

/* Whether a row is of the member with this key, or of members of it. but: those with this flag are none. */
static enum told told_of(const struct rows *rows, const char *key, size_t length, unsigned but,
                         const struct res_field **ret_field)
{
    enum told told = NOT_TOLD;
    for (size_t i = 0; i < rows->described->field_count; i++) {
        const struct res_field *field = &rows->described->fields[i];
        const char *own = field->key + rows->length;
        /* Letter by letter: most rows differ in the first one. */
        if (rows->length > 0
                ? *field->key != *rows->prefix || strncmp(field->key, rows->prefix, rows->length) != 0
                : *own != *key)
            continue;
        if (strncmp(own, key, length) != 0 || (field->flags & but) != 0)
            continue;
        *ret_field = field;
        if (own[length] == '\0')
            return TOLD;
        told = own[length] == '.' ? INSIDE_IS_TOLD : told;
    }
    return told;
}

static json_t *rest_of(const struct rows *rows, const json_t *object)
{
    json_t *rest = json_object(), *value;
    const char *key;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        const struct res_field *field = NULL;
        const size_t length = strlen(key);
        const enum told told = told_of(rows, key, length, RES_FIELD_READ_ONLY, &field);
        const struct rows inside = {rows->described, field != NULL ? field->key : "",
                                    rows->length + length + 1};
        if (told == INSIDE_IS_TOLD && json_is_object(value))
            json_object_set_new(rest, key, rest_of(&inside, value));
        else if (told != TOLD)
            json_object_set(rest, key, value);
    }
    return rest;
}

json_t *res_described_rest(const struct res_described *described, const json_t *object)
{
    return rest_of(&(const struct rows){described, "", 0}, object);
}

/* ---- a text ---------------------------------------------------------------------------------- */

/* Behind `in` is what was not looked at yet, behind `out` what is kept of what was. */
struct copying {
    const char *in, *end;
    char *out;
    unsigned depth;
};
#define DEPTH_MOST 32u /* of objects and lists within each other: ours have fewer */

/* Behind the string that begins at `at`; NULL: it has no end. */
static const char *string_end(const char *at, const char *end)
{
    const char *quote = at, *slash;
    do {
        quote = memchr(quote + 1, '"', (size_t)(end - quote - 1));
        for (slash = quote; slash != NULL && slash[-1] == '\\'; slash--)
            ;
    } while (quote != NULL && (quote - slash) % 2 != 0);
    return quote != NULL ? quote + 1 : NULL;
}

/* Where the value that begins at `at` is over; NULL: it has no end. */
static const char *value_end(const char *at, const char *end)
{
    size_t depth = 0;
    while (at != NULL && at < end) {
        if (depth == 0 && (*at == ',' || *at == '}' || *at == ']'))
            return at;
        depth += *at == '{' || *at == '[';
        depth -= *at == '}' || *at == ']';
        at = *at == '"' ? string_end(at, end) : at + 1;
    }
    return NULL;
}

/* What comes next; NUL: nothing does. */
static char next(struct copying *copying)
{
    while (copying->in < copying->end &&
           (*copying->in == ' ' || *copying->in == '\n' || *copying->in == '\t' || *copying->in == '\r'))
        copying->in++;
    return copying->in < copying->end ? *copying->in : '\0';
}

/* Until there, or not at all where that is NULL. */
static bool keep(struct copying *copying, const char *until)
{
    if (until == NULL)
        return false;
    memcpy(copying->out, copying->in, (size_t)(until - copying->in));
    copying->out += until - copying->in;
    copying->in = until;
    return true;
}

static bool keep_value(struct copying *copying, const struct rows *rows);

/* A member, or nothing of it; `begin` is where the first one is kept. Keys of ours have no escapes. */
static bool keep_member(struct copying *copying, const struct rows *rows, const char *begin)
{
    const struct res_field *field = NULL;
    const bool is_key = next(copying) == '"';
    const char *key = copying->in + 1, *end = is_key ? string_end(copying->in, copying->end) : NULL;
    if (end == NULL || memchr(key, '\\', (size_t)(end - key)) != NULL)
        return false;
    const size_t length = (size_t)(end - key) - 1;
    const enum told told = told_of(rows, key, length, 0, &field);
    if (told != NOT_TOLD && copying->out != begin)
        *copying->out++ = ',';
    if (told != NOT_TOLD)
        (void)keep(copying, end); /* it is there */
    copying->in = end;
    if (next(copying) != ':')
        return false;
    if (told == NOT_TOLD)
        return (copying->in = value_end(copying->in, copying->end)) != NULL;
    const struct rows inside = told == TOLD
                                   ? (struct rows){field->of, "", 0}
                                   : (struct rows){rows->described, field->key, rows->length + length + 1};
    return keep(copying, copying->in + 1) && keep_value(copying, &inside);
}

/* Of an object what rows name, of a list what they name of each; what no rows are of is kept as it is. */
static bool keep_value(struct copying *copying, const struct rows *rows)
{
    const char opens = next(copying), closes = opens == '{' ? '}' : ']';
    if (rows->described == NULL || (opens != '{' && opens != '['))
        return keep(copying, value_end(copying->in, copying->end));
    if (copying->depth++ == DEPTH_MOST)
        return false;
    bool sound = keep(copying, copying->in + 1), more = next(copying) != closes;
    const char *begin = copying->out;
    while (sound && more) {
        sound = opens == '{' ? keep_member(copying, rows, begin) : keep_value(copying, rows);
        more = sound && next(copying) == ',';
        if (more && opens == '[')
            *copying->out++ = ',';
        if (more) /* else it may be NULL, to which nothing may be added */
            copying->in++;
    }
    copying->depth--;
    return sound && next(copying) == closes && keep(copying, copying->in + 1);
}

bool res_described_text(const struct res_described *described, const char *text, size_t size, char *ret_text,
                        size_t *ret_size)
{
    struct copying copying = {text, text + size, ret_text, 0};
    const struct rows rows = {described, "", 0};
    const bool whole = memchr(text, '\0', size) == NULL && next(&copying) == '{' &&
                       keep_value(&copying, &rows) && next(&copying) == '\0';
    *ret_size = (size_t)(copying.out - ret_text);
    return whole;
}
