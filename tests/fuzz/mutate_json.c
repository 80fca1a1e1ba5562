/* mutate_json.c - mutations that keep JSON what it is: values taken out, replaced by hostile ones, put twice, or changed for others of the
 * document. Bytes alone nearly never give a document that is read to its end. Linked to libFuzzer's target only. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/target.h"

/* A value of the document by where it stands. */
struct place {
    json_t *parent;  /* NULL: none was found */
    const char *key; /* of an object; else the index counts */
    size_t index;
};

struct walk {
    uint32_t random;
    uint32_t seen;
    struct place picked;
};

static uint32_t random_next(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Each with the same chance: the n-th that is met replaces the one picked with 1 in n. */
static void meet(struct walk *walk, struct place place)
{
    if (random_next(&walk->random) % ++walk->seen == 0)
        walk->picked = place;
}

static void walk_through(struct walk *walk, json_t *value)
{
    const char *key;
    size_t index;
    json_t *child;
    if (json_is_object(value)) {
        json_object_foreach(value, key, child)
        {
            meet(walk, (struct place){value, key, 0});
            walk_through(walk, child);
        }
    } else {
        json_array_foreach(value, index, child)
        {
            meet(walk, (struct place){value, NULL, index});
            walk_through(walk, child);
        }
    }
}

static struct place pick(json_t *document, uint32_t *random)
{
    struct walk walk = {.random = *random};
    walk_through(&walk, document);
    *random = walk.random;
    return walk.picked;
}

static json_t *at(const struct place *place)
{
    return place->key != NULL ? json_object_get(place->parent, place->key)
                              : json_array_get(place->parent, place->index);
}

/* Takes over the value. */
static void put(const struct place *place, json_t *value)
{
    if (place->key != NULL)
        (void)json_object_set_new(place->parent, place->key, value); /* an odd one may be refused */
    else
        (void)json_array_set_new(place->parent, place->index, value);
}

static json_t *hostile(uint32_t random)
{
    static const char *const words[] = {
        "",     "\033[31m", "faster",       "less",      "undecided",      "recorded",
        "\n|`", "\u2028<&", "from_middle",  "died",      "../../x",        "%s%n",
        "none", "glibc",    "mallab-run/9", "cgroup v2", "=cmd|' /C x'!A0"};
    static const double reals[] = {0, 1, -1, 0.5, 1e-308, -1e-308, 1e308, -1e308, 1e19, 1.0000001};
    static const json_int_t integers[] = {
        0, 1, -1, 8, 4096, INT32_MAX, INT64_MAX, INT64_MIN, (json_int_t)1 << 53};
    const uint32_t which = random / 8;
    switch (random % 8) {
    case 0:
        return json_null();
    case 1:
        return json_boolean(which % 2);
    case 2:
        return json_string(words[which % (sizeof words / sizeof words[0])]);
    case 3:
        return json_real(reals[which % (sizeof reals / sizeof reals[0])]);
    case 4:
        return which % 2 ? json_array() : json_object();
    case 5: {
        char text[300];
        memset(text, 'x', sizeof text);
        return json_stringn(text, which % sizeof text);
    }
    default:
        return json_integer(integers[which % (sizeof integers / sizeof integers[0])]);
    }
}

static void change(json_t *document, uint32_t *random)
{
    const struct place place = pick(document, random), other = pick(document, random);
    if (place.parent == NULL)
        return;
    switch (random_next(random) % 6) {
    case 0:
        if (place.key != NULL)
            (void)json_object_del(place.parent, place.key);
        else
            (void)json_array_remove(place.parent, place.index);
        break;
    case 1:
        put(&place, json_deep_copy(at(&other)));
        break;
    case 2:
        if (place.key == NULL)
            (void)json_array_append_new(place.parent, json_deep_copy(at(&place)));
        break;
    case 3:
        if (json_is_number(at(&place)))
            put(&place, json_real(json_number_value(at(&place)) * (random_next(random) % 400) / 100));
        break;
    default:
        put(&place, hostile(random_next(random)));
        break;
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t size_max, unsigned seed)
{
    uint32_t random = seed;
    json_t *document = json_loadb((const char *)bytes, size, JSON_REJECT_DUPLICATES, NULL);
    if (document == NULL || random_next(&random) % 16 == 0) {
        json_decref(document);
        return LLVMFuzzerMutate(bytes, size, size_max);
    }
    for (uint32_t i = 0, count = 1 + random_next(&random) % 4; i < count; i++)
        change(document, &random);
    char *text = json_dumps(document, JSON_COMPACT);
    const size_t length = text != NULL ? strlen(text) : 0;
    if (length > 0 && length <= size_max) {
        memcpy(bytes, text, length);
        size = length;
    }
    free(text);
    json_decref(document);
    return size;
}
