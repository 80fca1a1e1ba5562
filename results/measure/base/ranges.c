/* ranges.c - lists and steps to values. */
#include "results/measure/base/ranges.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"

/* A whole number, what follows it left in *text. */
static bool take_number(const char **text, long long *ret_number)
{
    char *end;
    errno = 0;
    const long long number = strtoll(*text, &end, 10);
    if (errno != 0 || end == *text)
        return false;
    *text = end;
    *ret_number = number;
    return true;
}

static bool take_word(const char **text, const char *word)
{
    const char *at = *text + strspn(*text, " \t");
    const size_t length = strlen(word);
    if (strncmp(at, word, length) != 0)
        return false;
    *text = at + length;
    return true;
}

static bool add(struct res_range *range, char *value)
{
    if (range->value_count == RES_RANGE_VALUES_MAX) {
        free(value);
        return false;
    }
    range->values = res_realloc(range->values, range->value_count + 1, sizeof *range->values);
    range->values[range->value_count++] = value;
    return true;
}

static char *too_many(const struct res_range *range)
{
    return res_printf("'%.40s' in [ranges] has more than %u values", range->setting, RES_RANGE_VALUES_MAX);
}

static char *parse_steps(struct res_range *range, long long low, const char *rest)
{
    long long high, step;
    const bool has_high = take_number(&rest, &high);
    const bool adds = has_high && take_word(&rest, "step ");
    const bool multiplies = has_high && !adds && take_word(&rest, "times ");
    if ((!adds && !multiplies) || !take_number(&rest, &step) || rest[strspn(rest, " \t")] != '\0')
        return res_printf(
            "'%.40s' in [ranges]: write 'LOW..HIGH step N', 'LOW..HIGH times N' or values with commas",
            range->setting);
    if (low > high || (adds && step < 1) || (multiplies && (step < 2 || low < 1)))
        return res_printf("'%.40s' in [ranges] never comes from %lld to %lld", range->setting, low, high);
    for (long long value = low;;) {
        if (!add(range, res_printf("%lld", value)))
            return too_many(range);
        const bool overflows = adds ? __builtin_add_overflow(value, step, &value)
                                    : __builtin_mul_overflow(value, step, &value);
        if (overflows || value > high)
            return NULL;
    }
}

static char *parse_list(struct res_range *range)
{
    for (const char *at = range->text;; at++) {
        const size_t length = strcspn(at, ",");
        size_t begin = strspn(at, " \t"), end = length;
        while (end > begin && isspace((unsigned char)at[end - 1]))
            end--;
        if (end <= begin || memchr(at + begin, '+', end - begin) != NULL)
            return res_printf("'%.40s' in [ranges] has an empty value, or one with '+'", range->setting);
        if (!add(range, res_strndup(at + begin, end - begin)))
            return too_many(range);
        at += length;
        if (*at == '\0')
            return NULL;
    }
}

char *res_range_parse(const char *setting, const char *text, struct res_range *ret_range)
{
    struct res_range range = {.setting = res_text_plain(setting), .text = res_text_plain(text)};
    const char *at = range.text;
    long long low;
    char *problem = take_number(&at, &low) && take_word(&at, "..") ? parse_steps(&range, low, at)
                                                                   : parse_list(&range);
    if (problem != NULL)
        res_range_release(&range);
    else
        *ret_range = range;
    return problem;
}

void res_range_release(struct res_range *range)
{
    for (size_t i = 0; i < range->value_count; i++)
        free(range->values[i]);
    free(range->values);
    free(range->setting);
    free(range->text);
    *range = (struct res_range){0};
}

char *res_ranges_add(struct res_range **list, size_t *count, const char *setting, const char *text)
{
    struct res_range range;
    for (size_t i = 0; i < *count; i++) {
        if (strcmp((*list)[i].setting, setting) == 0)
            return res_printf("'%.40s' is given twice, or goes on over two lines", setting);
    }
    if (*count >= RES_RANGES_MAX)
        return res_printf("more than %u ranges", RES_RANGES_MAX);
    char *problem = res_range_parse(setting, text, &range);
    if (problem != NULL)
        return problem;
    *list = res_realloc(*list, *count + 1, sizeof **list);
    (*list)[(*count)++] = range;
    return NULL;
}

void res_ranges_free(struct res_range *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        res_range_release(&list[i]);
    free(list);
}
