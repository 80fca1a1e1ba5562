/* lives.c - see lives.h. */
#include "results/measure/base/lives.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/measure/base/fields.h"

#define LAST_SHARE 0.01 /* of the time, within which an end is one with the last */

double res_lives_begin(const struct res_life *lives, size_t count)
{
    double begin_ns = INFINITY;
    for (size_t i = 0; i < count; i++)
        if (lives[i].count > 0)
            begin_ns = fmin(begin_ns, lives[i].time_ns[0]);
    return isfinite(begin_ns) ? begin_ns : 0;
}

double res_lives_end(const struct res_life *lives, size_t count)
{
    double end_ns = 0;
    for (size_t i = 0; i < count; i++)
        if (lives[i].count > 0)
            end_ns = fmax(end_ns, lives[i].time_ns[lives[i].count - 1]);
    return end_ns;
}

bool res_life_covers(const struct res_life *life, double time_ns)
{
    return life->count > 0 && life->time_ns[0] <= time_ns && time_ns <= life->time_ns[life->count - 1];
}

bool res_lives_last(const struct res_life *lives, size_t count, const struct res_life *life)
{
    const double begin_ns = res_lives_begin(lives, count), end_ns = res_lives_end(lives, count);
    return life->count > 0 && life->time_ns[life->count - 1] >= end_ns - LAST_SHARE * (end_ns - begin_ns);
}

void res_life_raise(struct res_life *life, double peak)
{
    size_t highest = 0;
    for (size_t i = 1; i < life->count; i++)
        if (life->value[i] > life->value[highest])
            highest = i;
    if (life->count > 0 && life->value[highest] < peak)
        life->value[highest] = peak;
}

/* at: the last moment of the life that is not behind time_ns, moved on from where it was. */
static double value_at(const struct res_life *life, size_t *at, double time_ns)
{
    if (!res_life_covers(life, time_ns))
        return 0;
    while (*at + 1 < life->count && life->time_ns[*at + 1] <= time_ns)
        (*at)++;
    const double from_ns = life->time_ns[*at], from = life->value[*at];
    if (*at + 1 == life->count)
        return from;
    return from + (life->value[*at + 1] - from) * (time_ns - from_ns) / (life->time_ns[*at + 1] - from_ns);
}

double res_lives_at(const struct res_life *lives, size_t count, double time_ns)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        size_t at = 0;
        sum += value_at(&lives[i], &at, time_ns);
    }
    return sum;
}

static double highest_of(const struct res_life *life)
{
    double highest = 0;
    for (size_t i = 0; i < life->count; i++)
        highest = fmax(highest, life->value[i]);
    return highest;
}

/* The moments of all lives in their order: one of those that come next, false behind the last. */
static bool next_moment(const struct res_life *lives, size_t count, size_t *next, double *ret_time_ns)
{
    size_t first = count;
    for (size_t i = 0; i < count; i++)
        if (next[i] < lives[i].count &&
            (first == count || lives[i].time_ns[next[i]] < lives[first].time_ns[next[first]]))
            first = i;
    if (first == count)
        return false;
    *ret_time_ns = lives[first].time_ns[next[first]++];
    return true;
}

double res_lives_peak(const struct res_life *lives, size_t count, double *ret_time_ns)
{
    size_t *next = res_calloc(2 * count + 1, sizeof *next), *at = next + count;
    double peak = -1, peak_ns = res_lives_begin(lives, count), time_ns;
    if (res_lives_end(lives, count) <= peak_ns) {
        peak = 0;
        for (size_t i = 0; i < count; i++)
            peak += highest_of(&lives[i]);
    } else {
        while (next_moment(lives, count, next, &time_ns)) {
            double sum = 0;
            for (size_t i = 0; i < count; i++)
                sum += value_at(&lives[i], &at[i], time_ns);
            if (sum > peak) {
                peak = sum;
                peak_ns = time_ns;
            }
        }
    }
    free(next);
    if (ret_time_ns != NULL)
        *ret_time_ns = peak_ns;
    return fmax(peak, 0);
}

/* ---- sort by name and key, look at neighbours ---- */

static int compare_words(const char *one, const char *other)
{
    return strcmp(one != NULL ? one : "", other != NULL ? other : "");
}

int res_key_compare(const char *label, const char *digest, const char *other_label, const char *other_digest)
{
    const int order = compare_words(label, other_label);
    return order != 0 ? order : compare_words(digest, other_digest);
}

static int compare_named(const void *left, const void *right)
{
    const struct res_named *one = left, *other = right;
    const int order = strcmp(*one->name, *other->name);
    return order != 0 ? order : res_key_compare(one->label, one->digest, other->label, other->digest);
}

static bool is_same_name(const struct res_named *one, const struct res_named *other)
{
    return strcmp(*one->name, *other->name) == 0;
}

static char *name_of(const struct res_named *named, bool is_label_shared)
{
    const size_t length = named->label != NULL ? strlen(named->label) : 0;
    const char *name = *named->name;
    const bool has_label = length > 0 && !(strncmp(name, named->label, length) == 0 && name[length] == '/');
    const bool has_digest = is_label_shared && named->digest != NULL && *named->digest != '\0';
    return res_printf("%s%s%s%s%.8s", has_label ? named->label : "", has_label ? "/" : "", name,
                      has_digest ? " " : "", has_digest ? named->digest : "");
}

/* All of one name. They are sorted by label, then digest. */
static void part(struct res_named *named, size_t count)
{
    char **names = res_calloc(count, sizeof *names);
    if (res_key_compare(named[0].label, named[0].digest, named[count - 1].label, named[count - 1].digest) !=
        0)
        for (size_t first = 0, end; first < count; first = end) {
            for (end = first + 1; end < count; end++)
                if (compare_words(named[first].label, named[end].label) != 0)
                    break;
            const bool is_shared = compare_words(named[first].digest, named[end - 1].digest) != 0;
            for (size_t i = first; i < end; i++)
                names[i] = name_of(&named[i], is_shared);
        }
    for (size_t i = 0; i < count; i++) {
        if (names[i] == NULL)
            continue;
        free(*named[i].name);
        *named[i].name = names[i];
    }
    free(names);
}

void res_names_apart(struct res_named *named, size_t count)
{
    if (count > 1)
        qsort(named, count, sizeof *named, compare_named);
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && is_same_name(&named[first], &named[end]); end++)
            continue;
        part(named + first, end - first);
    }
}

/* ---- json values ---- */

json_t *res_json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *res_json_whole(double value)
{
    return isfinite(value) ? json_integer((json_int_t)llround(value)) : json_null();
}

json_t *res_json_text(const char *words)
{
    json_t *string = NULL;
    if (words != NULL) {
        RES_FREED char *plain = res_text_plain(words);
        string = json_string(plain);
    }
    return string != NULL ? string : json_null();
}

double *res_json_numbers(const json_t *array, size_t count)
{
    double *numbers = res_calloc(count + 1, sizeof *numbers);
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_array_get(array, i);
        numbers[i] = json_is_number(value) ? json_number_value(value) : NAN;
    }
    return numbers;
}
