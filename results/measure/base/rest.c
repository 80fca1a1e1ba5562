/* rest.c - members that no row names, told apart from those that one does, in an object and in a text before it is parsed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/measure/base/fields.h"

/* ---- by the rows ----------------------------------------------------------------------------- */

/* The rows of an object: of `described` those that begin with `prefix`, "time." or "". */
struct rows {
    const struct res_described *described;
    const char *prefix;
    size_t length, next; /* the row behind the last found: our writers keep their order */
};

enum told { NOT_TOLD, TOLD, INSIDE_IS_TOLD };

/* Tells whether a row is of the member with this key, or of members of it. but: those with this flag are none. */
static enum told told_of(struct rows *rows, const char *key, size_t length, unsigned but,
                         const struct res_field **ret_field)
{
    const size_t count = rows->described->field_count;
    for (size_t i = 0, at = rows->next; i < count; i++, at++) {
        at = at < count ? at : 0;
        const struct res_field *field = &rows->described->fields[at];
        const char *own = field->key + rows->length;
        /* Letter by letter: most rows differ in the first one. */
        if (rows->length > 0
                ? *field->key != *rows->prefix || strncmp(field->key, rows->prefix, rows->length) != 0
                : *own != *key)
            continue;
        if (strncmp(own, key, length) != 0 || (own[length] != '\0' && own[length] != '.') ||
            (field->flags & but) != 0)
            continue;
        *ret_field = field;
        rows->next = at + 1;
        return own[length] == '\0' ? TOLD : INSIDE_IS_TOLD;
    }
    return NOT_TOLD;
}

static json_t *rest_of(struct rows *rows, const json_t *object)
{
    json_t *rest = json_object(), *value;
    const char *key;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        const struct res_field *field = NULL;
        const size_t length = strlen(key);
        const enum told told = told_of(rows, key, length, RES_FIELD_READ_ONLY, &field);
        struct rows inside = {rows->described, field != NULL ? field->key : "", rows->length + length + 1,
                              rows->next};
        if (told == INSIDE_IS_TOLD && json_is_object(value))
            json_object_set_new(rest, key, rest_of(&inside, value));
        else if (told != TOLD)
            json_object_set(rest, key, value);
    }
    return rest;
}

json_t *res_described_rest(const struct res_described *described, const json_t *object)
{
    return rest_of(&(struct rows){described, "", 0, 0}, object);
}

/* ---- a text ---------------------------------------------------------------------------------- */

/* The text behind `in` was not looked at yet; `out` is the end of what is kept of the rest. */
struct copying {
    const char *in, *end;
    char *out;
    unsigned depth;
    struct res_lists *lists;
};
#define DEPTH_MOST   32u /* of objects and lists within each other: ours have fewer */
#define DIGITS_MOST  18u /* of a count: any such number is one */
#define NULL_SIZE    4
#define COUNTS_LEAST 16u /* of a list: a shorter one may be shorter than the number that goes in its place */

/* The place behind the string that begins at `at`; NULL: it has no end. */
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

/* The end of the value that begins at `at`; NULL: it has no end. */
static const char *value_end(const char *at, const char *end)
{
    size_t depth = 0;
    while (at != NULL && at < end) {
        switch (*at) {
        case '"':
            at = string_end(at, end);
            continue;
        case '{':
        case '[':
            depth++;
            break;
        case '}':
        case ']':
        case ',':
            if (depth == 0)
                return at;
            depth -= *at != ',';
            break;
        default:
            break;
        }
        at++;
    }
    return NULL;
}

/* The next character; NUL: there is none. */
static char next(struct copying *copying)
{
    while (copying->in < copying->end &&
           (*copying->in == ' ' || *copying->in == '\n' || *copying->in == '\t' || *copying->in == '\r'))
        copying->in++;
    return copying->in < copying->end ? *copying->in : '\0';
}

/* Keeps the text until there, or nothing where that is NULL. */
static bool keep(struct copying *copying, const char *until)
{
    if (until == NULL)
        return false;
    memcpy(copying->out, copying->in, (size_t)(until - copying->in));
    copying->out += until - copying->in;
    copying->in = until;
    return true;
}

static bool keep_value(struct copying *copying, struct rows *rows);

/* The counts of a list, as JSON has them, whatever it is: `items` is NULL where it has others, few or more than may be. */
static struct res_counts counts_of(struct copying *copying)
{
    struct res_counts counts = {NULL, 0};
    bool sound = true;
    do {
        copying->in++;
        uint64_t count = 0;
        const bool is_zero = next(copying) == '0';
        const char *begin = copying->in;
        for (; copying->in < copying->end && *copying->in >= '0' && *copying->in <= '9'; copying->in++)
            count = 10 * count + (uint64_t)(*copying->in - '0');
        const size_t digits = (size_t)(copying->in - begin);
        sound = digits > 0 && digits <= DIGITS_MOST && !(is_zero && digits > 1) &&
                counts.count < copying->lists->left;
        if (sound && (counts.count & (counts.count - 1)) == 0) /* full at powers of two */
            counts.items = res_realloc(counts.items, 2 * counts.count + 1, sizeof *counts.items);
        if (sound)
            counts.items[counts.count++] = count;
    } while (sound && next(copying) == ',');
    if (sound && next(copying) == ']' && counts.count >= COUNTS_LEAST) {
        copying->in++;
        return counts;
    }
    free(counts.items);
    return (struct res_counts){NULL, 0};
}

/* Most of a result are lists of counts: instead of such a list its number among them is kept. */
static bool keep_counts(struct copying *copying)
{
    struct res_lists *lists = copying->lists;
    const bool is_list = next(copying) == '[';
    const char *begin = copying->in;
    const struct res_counts counts = is_list ? counts_of(copying) : (struct res_counts){NULL, 0};
    if (counts.items == NULL) {
        copying->in = begin;
        return is_list && keep(copying, value_end(begin, copying->end));
    }
    if ((lists->count & (lists->count - 1)) == 0) /* likewise */
        lists->items = res_realloc(lists->items, 2 * lists->count + 1, sizeof *lists->items);
    copying->out += sprintf(copying->out, "%zu", lists->count);
    lists->items[lists->count++] = counts;
    lists->left -= counts.count;
    return true;
}

/* A member, or nothing of it; `begin` is where the first one is kept. Keys of ours have no escapes. */
static bool keep_member(struct copying *copying, struct rows *rows, const char *begin)
{
    const struct res_field *field = NULL;
    const bool is_key = next(copying) == '"';
    const char *key = copying->in + 1, *end = is_key ? string_end(copying->in, copying->end) : NULL;
    if (end == NULL || memchr(key, '\\', (size_t)(end - key)) != NULL)
        return false;
    const size_t length = (size_t)(end - key) - 1;
    const enum told told = told_of(rows, key, length, 0, &field);
    copying->in = end;
    if (next(copying) != ':')
        return false;
    copying->in++;
    const bool may_be_null = next(copying) == 'n';
    const char *value = copying->in;
    const char *behind = may_be_null || told == NOT_TOLD ? value_end(value, copying->end) : value;
    const bool is_null = may_be_null && behind != NULL && behind - value == NULL_SIZE &&
                         memcmp(value, "null", NULL_SIZE) == 0; /* as if it were not there */
    if (is_null || told == NOT_TOLD)
        return (copying->in = behind) != NULL;
    if (copying->out != begin)
        *copying->out++ = ',';
    copying->in = key - 1;
    (void)keep(copying, end); /* it is there */
    *copying->out++ = ':';
    copying->in = value;
    struct rows inside = {rows->described, field->key, rows->length + length + 1, rows->next};
    if (told == TOLD)
        inside = (struct rows){field->of, "", 0, 0};
    return told == TOLD && field->kind == RES_FIELD_COUNTS ? keep_counts(copying)
                                                           : keep_value(copying, &inside);
}

/* Keeps of an object what rows name, of a list what they name of each; what no rows are of is kept as it is. */
static bool keep_value(struct copying *copying, struct rows *rows)
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

void res_lists_release(struct res_lists *lists)
{
    for (size_t i = 0; i < lists->count; i++)
        free(lists->items[i].items);
    free(lists->items);
    *lists = (struct res_lists){0};
}

bool res_described_text(const struct res_described *described, const char *text, size_t size, char *ret_text,
                        size_t *ret_size, struct res_lists *lists)
{
    struct copying copying = {text, text + size, ret_text, 0, lists};
    struct rows rows = {described, "", 0, 0};
    const bool whole = memchr(text, '\0', size) == NULL && next(&copying) == '{' &&
                       keep_value(&copying, &rows) && next(&copying) == '\0';
    *ret_size = (size_t)(copying.out - ret_text);
    return whole;
}
