/* mutate_json.c - mutations that keep JSON what it is: values taken out, replaced by hostile ones, put twice, or changed for others of the
 * document. Bytes alone nearly never give a document that is read to its end. Values are found in the text: a tree, built and written
 * again, takes longer than the target. Linked to libFuzzer's targets only. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/target.h"
#include "unit/random.h"

#define VALUES_MAX  4096u
#define DEPTH_MAX   64u
#define STRING_MOST 300u

/* A value by where it stands, and where its key does; in an array that is the same. */
struct value {
    size_t member, begin, end;
};

/* A document on its way. */
struct text {
    uint8_t *bytes;
    size_t size, size_max;
};

static struct value values[VALUES_MAX];

/* Returns the place behind a string that begins at `at`. */
static size_t string_end(const struct text *text, size_t at)
{
    for (at++; at < text->size && text->bytes[at] != '"'; at++)
        at += text->bytes[at] == '\\';
    return at < text->size ? at + 1 : text->size;
}

/* Likewise of a number, or of a word without quotes. */
static size_t word_end(const struct text *text, size_t at)
{
    while (++at < text->size && strchr(",:]}[{\" \n", text->bytes[at]) == NULL)
        ;
    return at;
}

/* Fill `values` with those of what may be JSON, containers among them. Each lies within the text, whatever that is. Returns their count. */
static size_t find_values(const struct text *text)
{
    size_t open[DEPTH_MAX], depth = 0, count = 0, key = SIZE_MAX, at = 0;
    while (at < text->size && count < VALUES_MAX && depth < DEPTH_MAX) {
        const size_t begin = at;
        switch (text->bytes[at]) {
        case '}':
        case ']':
            at++;
            if (depth > 0)
                values[open[--depth]].end = at;
            continue;
        case ',':
        case ':':
        case ' ':
        case '\n':
            at++;
            continue;
        case '{':
        case '[':
            at++;
            open[depth++] = count;
            break;
        case '"':
            at = string_end(text, at);
            if (at < text->size && text->bytes[at] == ':') {
                key = begin;
                continue;
            }
            break;
        default:
            at = word_end(text, at);
            break;
        }
        values[count++] = (struct value){key != SIZE_MAX ? key : begin, begin, at};
        key = SIZE_MAX;
    }
    while (depth > 0)
        values[open[--depth]].end = text->size;
    return count;
}

/* Nothing changes where there is no room. */
static void splice(struct text *text, size_t at, size_t removed, const void *added, size_t size)
{
    uint8_t *place = text->bytes + at;
    if (text->size - removed + size > text->size_max)
        return;
    memmove(place + size, place + removed, text->size - at - removed);
    memcpy(place, added, size);
    text->size = text->size - removed + size;
}

static void put(struct text *text, const struct value *value, const char *word)
{
    splice(text, value->begin, value->end - value->begin, word, strlen(word));
}

/* Put a copy of the text between, and what is to stand behind it, in place of so many bytes at `at`. */
static void put_copy(struct text *text, size_t at, size_t removed, size_t begin, size_t end,
                     const char *behind)
{
    char *copy = malloc(end - begin + strlen(behind) + 1);
    FUZZ_CHECK(copy != NULL);
    memcpy(copy, text->bytes + begin, end - begin);
    strcpy(copy + (end - begin), behind);
    splice(text, at, removed, copy, end - begin + strlen(behind));
    free(copy);
}

static void take_out(struct text *text, const struct value *value)
{
    size_t begin = value->member, end = value->end;
    if (end < text->size && text->bytes[end] == ',')
        end++;
    else if (begin > 0 && text->bytes[begin - 1] == ',')
        begin--;
    splice(text, begin, end - begin, "", 0);
}

static void put_hostile(struct text *text, const struct value *value, uint32_t random)
{
    static const char *const words[] = {"null",
                                        "true",
                                        "false",
                                        "[]",
                                        "{}",
                                        "\"\"",
                                        "\"\\u001b[31m\"",
                                        "\"faster\"",
                                        "\"less\"",
                                        "\"undecided\"",
                                        "\"recorded\"",
                                        "\"\\n|`\"",
                                        "\"\\u2028<&\"",
                                        "\"from_middle\"",
                                        "\"died\"",
                                        "\"../../x\"",
                                        "\"%s%n\"",
                                        "\"none\"",
                                        "\"glibc\"",
                                        "\"mallab-run/9\"",
                                        "\"cgroup v2\"",
                                        "\"=cmd|' /C x'!A0\"",
                                        "0",
                                        "1",
                                        "-1",
                                        "8",
                                        "4096",
                                        "2147483647",
                                        "9223372036854775807",
                                        "-9223372036854775808",
                                        "9007199254740992",
                                        "0.5",
                                        "1e-308",
                                        "-1e-308",
                                        "1e308",
                                        "-1e308",
                                        "1e19",
                                        "1.0000001"};
    const size_t count = sizeof words / sizeof words[0];
    char string[STRING_MOST + 3] = "\"";
    if (random % (count + 2) < count) {
        put(text, value, words[random % (count + 2)]);
        return;
    }
    memset(string + 1, 'x', random / 64 % STRING_MOST);
    put(text, value, strcat(string, "\""));
}

/* Multiply a number by 0 to 4; another value stays. */
static void scale(struct text *text, const struct value *value, uint32_t random)
{
    char word[64] = "", *end;
    if (value->end - value->begin >= sizeof word)
        return;
    memcpy(word, text->bytes + value->begin, value->end - value->begin);
    const double number = strtod(word, &end);
    if (end == word)
        return;
    snprintf(word, sizeof word, "%.17g", number * (random % 400) / 100);
    put(text, value, word);
}

/* False: there is no value. */
static bool change(struct text *text, uint64_t *random)
{
    const size_t count = find_values(text);
    if (count == 0)
        return false;
    const struct value value = values[test_random(random) % count],
                       other = values[test_random(random) % count];
    switch (test_random(random) % 6) {
    case 0:
        take_out(text, &value);
        break;
    case 1:
        put_copy(text, value.begin, value.end - value.begin, other.begin, other.end, "");
        break;
    case 2: /* a key that comes twice would be refused */
        if (value.member == value.begin)
            put_copy(text, value.member, 0, value.member, value.end, ",");
        break;
    case 3:
        scale(text, &value, test_random(random));
        break;
    default:
        put_hostile(text, &value, test_random(random));
        break;
    }
    return true;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t size_max, unsigned seed)
{
    uint64_t random = seed;
    struct text text = {bytes, size, size_max};
    if (test_random(&random) % 16 == 0)
        return LLVMFuzzerMutate(bytes, size, size_max);
    for (uint32_t i = 0, count = 1 + test_random(&random) % 4; i < count; i++)
        if (!change(&text, &random))
            return LLVMFuzzerMutate(bytes, text.size, size_max);
    return text.size > 0 ? text.size : LLVMFuzzerMutate(bytes, 0, size_max);
}
