/* fields.c - rows to JSON and back. */
#include "results/measure/base/fields.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"

#define KEY_MAX 64u /* bytes of a part of a key, with its end */

static void *member(const void *owner, size_t offset)
{
    return (char *)(uintptr_t)owner + offset;
}

/* Take the first part off a row's dotted key. Returns whether another part follows. */
static bool next_part(const char **key, char ret_part[KEY_MAX])
{
    size_t length = 0;
    for (; (*key)[length] != '.' && (*key)[length] != '\0'; length++)
        ret_part[length] = (*key)[length];
    ret_part[length] = '\0';
    *key += length + ((*key)[length] == '.');
    return **key != '\0';
}

/* ---- begin and end --------------------------------------------------------------------------- */

static void init_field(const struct res_field *field, void *owner)
{
    void *place = member(owner, field->offset);
    if (field->kind == RES_FIELD_NUMBER || field->kind == RES_FIELD_WHOLE)
        *(double *)place = NAN;
    else if (field->kind == RES_FIELD_COUNT && (field->flags & RES_FIELD_OMITTED) != 0)
        *(uint64_t *)place = RES_COUNT_ABSENT;
    else if (field->kind == RES_FIELD_MAYBE ||
             (field->kind == RES_FIELD_WORD && (field->flags & RES_FIELD_OMITTED) != 0))
        *(int *)place = -1;
    else if (field->kind == RES_FIELD_TRUTH)
        *(bool *)place = (field->flags & RES_FIELD_TRUE) != 0;
    else if (field->kind == RES_FIELD_INSIDE)
        res_described_init(field->of, place);
}

void res_described_init(const struct res_described *described, void *ret_struct)
{
    described = described->all != NULL ? described->all : described;
    memset(ret_struct, 0, described->size);
    for (size_t i = 0; i < described->field_count; i++)
        init_field(&described->fields[i], ret_struct);
}

void res_texts_release(struct res_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++)
        free(texts->items[i]);
    free(texts->items);
    *texts = (struct res_texts){0};
}

void res_pairs_release(struct res_pairs *pairs)
{
    for (size_t i = 0; i < pairs->count; i++) {
        free(pairs->items[i].name);
        free(pairs->items[i].value);
    }
    free(pairs->items);
    *pairs = (struct res_pairs){0};
}

struct res_pairs res_pairs_copy(const struct res_pairs *pairs)
{
    struct res_pairs copy = {res_calloc(pairs->count + 1, sizeof *copy.items), pairs->count};
    for (size_t i = 0; i < pairs->count; i++)
        copy.items[i] = (struct res_pair){res_strdup(pairs->items[i].name),
                                          res_strdup(pairs->items[i].value)};
    return copy;
}

static void release_list(const struct res_field *field, void *owner)
{
    RES_FREED char *items = *(char **)member(owner, field->offset);
    const size_t count = *(size_t *)member(owner, field->count_offset);
    for (size_t i = 0; i < count; i++)
        res_described_release(field->of, items + i * field->of->size);
}

static void release_field(const struct res_field *field, void *owner)
{
    void *place = member(owner, field->offset);
    switch (field->kind) {
    case RES_FIELD_TEXT:
    case RES_FIELD_COUNTS:
    case RES_FIELD_NUMBERS:
        free(*(void **)place);
        break;
    case RES_FIELD_STRUCT:
        if (*(void **)place != NULL)
            res_described_release(field->of, *(void **)place);
        free(*(void **)place);
        break;
    case RES_FIELD_INSIDE:
        res_described_release(field->of, place);
        break;
    case RES_FIELD_LIST:
        release_list(field, owner);
        break;
    case RES_FIELD_TEXTS:
        res_texts_release(place);
        break;
    case RES_FIELD_PAIRS:
        res_pairs_release(place);
        break;
    case RES_FIELD_JSON:
        json_decref(*(json_t **)place);
        break;
    default: /* the others own nothing */
        break;
    }
}

void res_described_release(const struct res_described *described, void *owner)
{
    described = described->all != NULL ? described->all : described;
    for (size_t i = 0; i < described->field_count; i++)
        release_field(&described->fields[i], owner);
    if (described->rest_offset != RES_NO_REST)
        json_decref(*(json_t **)member(owner, described->rest_offset));
    memset(owner, 0, described->size);
}

/* Makes a field as if it had not been read. */
static void forget_field(const struct res_field *field, void *owner)
{
    static const size_t SIZES[] = {
        [RES_FIELD_TEXTS] = sizeof(struct res_texts), [RES_FIELD_PAIRS] = sizeof(struct res_pairs),
        [RES_FIELD_STRUCT] = sizeof(void *),          [RES_FIELD_LIST] = sizeof(void *),
        [RES_FIELD_COUNTS] = sizeof(void *),          [RES_FIELD_NUMBERS] = sizeof(void *),
        [RES_FIELD_JSON] = sizeof(json_t *),
    };
    release_field(field, owner);
    memset(member(owner, field->offset), 0, SIZES[field->kind]);
    if (field->count_offset != 0)
        *(size_t *)member(owner, field->count_offset) = 0;
    init_field(field, owner);
}

void res_texts_take(struct res_texts *texts, char *words)
{
    texts->items = res_realloc(texts->items, texts->count + 2, sizeof *texts->items);
    texts->items[texts->count++] = words;
    texts->items[texts->count] = NULL;
    texts->known = true;
}

void res_texts_add(struct res_texts *texts, const char *words)
{
    res_texts_take(texts, res_strdup(words));
}

void res_texts_take_once(struct res_texts *texts, char *words)
{
    bool is_there = words == NULL;
    for (size_t i = 0; i < texts->count && !is_there; i++)
        is_there = strcmp(texts->items[i], words) == 0;
    if (is_there)
        free(words);
    else
        res_texts_take(texts, words);
}

/* ---- reading --------------------------------------------------------------------------------- */

json_t *res_json_at(const json_t *object, const char *key)
{
    char part[KEY_MAX];
    while (next_part(&key, part))
        object = json_object_get(object, part);
    return json_object_get(object, part);
}

static bool read_texts(const json_t *array, struct res_texts *ret_texts)
{
    size_t index;
    json_t *value;
    ret_texts->items = res_calloc(json_array_size(array) + 1, sizeof *ret_texts->items);
    ret_texts->known = true;
    json_array_foreach(array, index, value)
    {
        if (!json_is_string(value))
            return false;
        ret_texts->items[ret_texts->count++] = res_text_plain(json_string_value(value));
    }
    return json_is_array(array);
}

/* A value that is no text is left out. */
static bool read_pairs(const json_t *object, struct res_pairs *ret_pairs)
{
    const char *name;
    json_t *value;
    ret_pairs->items = res_calloc(json_object_size(object) + 1, sizeof *ret_pairs->items);
    json_object_foreach((json_t *)(uintptr_t)object, name, value)
    {
        const char *text = json_string_value(value);
        if (text != NULL || json_is_null(value))
            ret_pairs->items[ret_pairs->count++] = (struct res_pair){
                res_text_plain(name), text != NULL ? res_text_plain(text) : NULL};
    }
    return json_is_object(object);
}

static bool take_list(const struct res_field *field, size_t number, struct res_lists *lists, void *owner)
{
    const bool is_there = number < lists->count && lists->items[number].items != NULL;
    if (!is_there)
        return false;
    *(uint64_t **)member(owner, field->offset) = lists->items[number].items;
    *(size_t *)member(owner, field->count_offset) = lists->items[number].count;
    lists->items[number].items = NULL;
    return true;
}

/* A null among numbers is NAN. */
static bool read_numbers(const struct res_field *field, const json_t *array, struct res_lists *lists,
                         void *owner)
{
    const bool counts = field->kind == RES_FIELD_COUNTS;
    size_t *count = member(owner, field->count_offset), index;
    json_t *value;
    if (counts && lists != NULL && json_is_integer(array))
        return take_list(field, (size_t)json_integer_value(array), lists, owner);
    void *values = res_calloc(json_array_size(array) + 1, counts ? sizeof(uint64_t) : sizeof(double));
    *(void **)member(owner, field->offset) = values;
    json_array_foreach(array, index, value)
    {
        if (counts ? !json_is_integer(value) || json_integer_value(value) < 0
                   : !json_is_number(value) && !json_is_null(value))
            return false;
        if (counts)
            ((uint64_t *)values)[index] = (uint64_t)json_integer_value(value);
        else
            ((double *)values)[index] = json_is_number(value) ? json_number_value(value) : NAN;
        *count = index + 1;
    }
    return json_is_array(array);
}

static bool read_word(const struct res_field *field, const json_t *value, int *ret_word)
{
    const char *text = json_string_value(value);
    for (int i = 0; text != NULL && field->words[i] != NULL; i++) {
        if (strcmp(field->words[i], text) == 0) {
            *ret_word = i;
            return true;
        }
    }
    return false;
}

static bool read_list(const struct res_field *field, const json_t *array, struct res_lists *lists,
                      void *owner, char **ret_problem)
{
    char *items = res_calloc(json_array_size(array) + 1, field->of->size);
    size_t *count = member(owner, field->count_offset), index;
    json_t *value;
    *(char **)member(owner, field->offset) = items;
    if (!json_is_array(array))
        return false;
    json_array_foreach(array, index, value)
    {
        if (!res_described_read_lists(field->of, value, lists, items + index * field->of->size, ret_problem))
            return false;
        *count = index + 1;
    }
    return true;
}

static bool read_struct(const struct res_field *field, const json_t *value, struct res_lists *lists,
                        void *place, char **ret_problem)
{
    void *owner = res_calloc(1, field->of->size);
    if (res_described_read_lists(field->of, value, lists, owner, ret_problem)) {
        *(void **)place = owner;
        return true;
    }
    free(owner);
    return false;
}

/* A value that is there and not null. Returns whether it is of the field's kind. */
static bool read_value(const struct res_field *field, const json_t *value, struct res_lists *lists,
                       void *owner, char **ret_problem)
{
    void *place = member(owner, field->offset);
    switch (field->kind) {
    case RES_FIELD_TEXT:
        if (json_is_string(value))
            *(char **)place = res_text_plain(json_string_value(value));
        return json_is_string(value);
    case RES_FIELD_LENT:
        return false;
    case RES_FIELD_COUNT:
        if (!json_is_integer(value) || json_integer_value(value) < 0)
            return false;
        *(uint64_t *)place = (uint64_t)json_integer_value(value);
        return true;
    case RES_FIELD_NUMBER:
    case RES_FIELD_WHOLE:
        if (json_is_number(value))
            *(double *)place = json_number_value(value);
        return json_is_number(value);
    case RES_FIELD_TRUTH:
        *(bool *)place = json_is_true(value);
        return json_is_boolean(value);
    case RES_FIELD_MAYBE:
        *(int *)place = json_is_true(value);
        return json_is_boolean(value);
    case RES_FIELD_WORD:
        return read_word(field, value, place);
    case RES_FIELD_STRUCT:
        return read_struct(field, value, lists, place, ret_problem);
    case RES_FIELD_INSIDE:
        return res_described_read_lists(field->of, value, lists, place, ret_problem);
    case RES_FIELD_LIST:
        return read_list(field, value, lists, owner, ret_problem);
    case RES_FIELD_TEXTS:
        return read_texts(value, place);
    case RES_FIELD_PAIRS:
        return read_pairs(value, place);
    case RES_FIELD_COUNTS:
    case RES_FIELD_NUMBERS:
        return read_numbers(field, value, lists, owner);
    case RES_FIELD_JSON:
        *(json_t **)place = json_incref((json_t *)(uintptr_t)value);
        return true;
    }
    return false;
}

bool res_described_read(const struct res_described *described, const json_t *object, void *ret_struct,
                        char **ret_problem)
{
    return res_described_read_lists(described, object, NULL, ret_struct, ret_problem);
}

bool res_described_read_lists(const struct res_described *described, const json_t *object,
                              struct res_lists *lists, void *ret_struct, char **ret_problem)
{
    char *problem = NULL;
    res_described_init(described, ret_struct);
    if (!json_is_object(object))
        problem = res_printf("%s is no object", described->name);
    for (size_t i = 0; i < described->field_count && problem == NULL; i++) {
        const struct res_field *field = &described->fields[i];
        const json_t *value = res_json_at(object, field->key);
        const bool absent = value == NULL || json_is_null(value);
        char *inner = NULL;
        if (!absent && read_value(field, value, lists, ret_struct, &inner))
            continue;
        const bool matters = (field->flags &
                              (absent ? RES_FIELD_REQUIRED : RES_FIELD_REQUIRED | RES_FIELD_SOUND)) != 0;
        if (!absent)
            forget_field(field, ret_struct);
        if (matters && inner != NULL)
            problem = res_strdup(inner);
        else if (matters)
            problem = res_printf(absent ? "%s lacks %s" : "%s has a %s of another kind", described->name,
                                 field->key);
        free(inner);
    }
    if (problem == NULL) {
        if (described->rest_offset != RES_NO_REST && lists == NULL)
            *(json_t **)member(ret_struct, described->rest_offset) = res_described_rest(described, object);
        return true;
    }
    res_described_release(described, ret_struct);
    *ret_problem = problem;
    return false;
}

/* ---- writing --------------------------------------------------------------------------------- */

static json_t *texts_array(const struct res_texts *texts)
{
    json_t *array = texts->known || texts->count > 0 ? json_array() : json_null();
    for (size_t i = 0; i < texts->count; i++)
        json_array_append_new(array, res_json_text(texts->items[i]));
    return array;
}

static json_t *pairs_object(const struct res_pairs *pairs)
{
    json_t *object = json_object();
    for (size_t i = 0; i < pairs->count; i++)
        json_object_set_new(object, pairs->items[i].name, res_json_text(pairs->items[i].value));
    return object;
}

static json_t *numbers_array(const struct res_field *field, const void *owner)
{
    const void *values = *(void *const *)member(owner, field->offset);
    const size_t count = *(const size_t *)member(owner, field->count_offset);
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, field->kind == RES_FIELD_COUNTS
                                         ? json_integer((json_int_t)((const uint64_t *)values)[i])
                                         : res_json_number(((const double *)values)[i]));
    return array;
}

static json_t *list_array(const struct res_field *field, const void *owner)
{
    const char *items = *(char *const *)member(owner, field->offset);
    const size_t count = *(const size_t *)member(owner, field->count_offset);
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, res_described_write(field->of, items + i * field->of->size));
    return array;
}

static json_t *count_value(const struct res_field *field, uint64_t count)
{
    const bool none = count == 0 && (field->flags & RES_FIELD_ZERO_IS_NULL) != 0;
    return none || count == RES_COUNT_ABSENT ? json_null() : json_integer((json_int_t)count);
}

static json_t *text_value(const struct res_field *field, const char *words)
{
    const bool none = (field->flags & RES_FIELD_ZERO_IS_NULL) != 0 && words != NULL && *words == '\0';
    return res_json_text(none ? NULL : words);
}

static json_t *write_value(const struct res_field *field, const void *owner)
{
    const void *place = member(owner, field->offset);
    switch (field->kind) {
    case RES_FIELD_TEXT:
    case RES_FIELD_LENT:
        return text_value(field, *(const char *const *)place);
    case RES_FIELD_COUNT:
        return count_value(field, *(const uint64_t *)place);
    case RES_FIELD_NUMBER:
        return (field->flags & RES_FIELD_ZERO_IS_NULL) != 0 && !(*(const double *)place > 0)
                   ? json_null()
                   : res_json_number(*(const double *)place);
    case RES_FIELD_WHOLE:
        return res_json_whole(*(const double *)place);
    case RES_FIELD_TRUTH:
        return json_boolean(*(const bool *)place);
    case RES_FIELD_MAYBE:
        return *(const int *)place < 0 ? json_null() : json_boolean(*(const int *)place);
    case RES_FIELD_WORD:
        return *(const int *)place < 0 ? json_null() : json_string(field->words[*(const int *)place]);
    case RES_FIELD_STRUCT:
        return *(void *const *)place != NULL ? res_described_write(field->of, *(void *const *)place)
                                             : json_null();
    case RES_FIELD_INSIDE:
        return res_described_write(field->of, place);
    case RES_FIELD_LIST:
        return list_array(field, owner);
    case RES_FIELD_TEXTS:
        return texts_array(place);
    case RES_FIELD_PAIRS:
        return pairs_object(place);
    case RES_FIELD_COUNTS:
    case RES_FIELD_NUMBERS:
        return numbers_array(field, owner);
    case RES_FIELD_JSON:
        return *(json_t *const *)place != NULL ? json_incref(*(json_t *const *)place) : json_null();
    }
    return json_null();
}

json_t *res_described_value(const struct res_described *described, const void *from, const char *key)
{
    for (size_t i = 0; i < described->field_count; i++) {
        if (strcmp(described->fields[i].key, key) == 0)
            return write_value(&described->fields[i], from);
    }
    return NULL;
}

bool res_described_same(const struct res_described *described, const void *one, const void *other,
                        const char *key)
{
    json_t *left = res_described_value(described, one, key);
    json_t *right = res_described_value(described, other, key);
    const bool same = json_equal(left, right);
    json_decref(left);
    json_decref(right);
    return same;
}

void res_json_put(json_t *object, const char *key, json_t *value)
{
    char part[KEY_MAX];
    const bool ends = !next_part(&key, part);
    if (ends) {
        json_object_set_new(object, part, value);
        return;
    }
    if (!json_is_object(json_object_get(object, part)))
        json_object_set_new(object, part, json_object());
    res_json_put(json_object_get(object, part), key, value);
}

static bool is_nothing(const json_t *value)
{
    return json_is_null(value) || json_is_false(value) ||
           (json_is_array(value) && json_array_size(value) == 0) ||
           (json_is_object(value) && json_object_size(value) == 0);
}

json_t *res_described_write(const struct res_described *described, const void *from)
{
    json_t *object = json_object();
    for (size_t i = 0; i < described->field_count; i++) {
        const struct res_field *field = &described->fields[i];
        if ((field->flags & RES_FIELD_READ_ONLY) != 0)
            continue;
        json_t *value = write_value(field, from);
        if ((field->flags & RES_FIELD_OMITTED) != 0 && is_nothing(value))
            json_decref(value);
        else
            res_json_put(object, field->key, value);
    }
    const json_t *rest = described->rest_offset != RES_NO_REST
                             ? *(json_t *const *)member(from, described->rest_offset)
                             : NULL;
    if (rest != NULL)
        json_object_update_recursive(object, (json_t *)(uintptr_t)rest);
    return object;
}
