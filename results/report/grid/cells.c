/* cells.c - single figures as text. */
#include "results/report/grid/cells.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/words.h"
#include "results/measure/base/support.h"
#include "results/measure/statistics/statistics.h"

#define UNCLEAR_FROM 0.05 /* a smaller difference is called the same whatever its range says */

double res_cell_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

const char *res_cell_string(const json_t *object, const char *key, const char *otherwise)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : otherwise;
}

char *res_cell_plain(const json_t *object, const char *key, const char *otherwise)
{
    return res_text_plain(res_cell_string(object, key, otherwise));
}

enum res_role res_cell_role(const char *verdict)
{
    static const struct {
        const char *verdict;
        enum res_role role;
    } ROLES[] = {
        {"faster", RES_ROLE_GOOD},        {"less", RES_ROLE_GOOD},
        {"within", RES_ROLE_GOOD},        {"slower", RES_ROLE_BAD},
        {"more", RES_ROLE_BAD},           {"over", RES_ROLE_BAD},
        {"undecided", RES_ROLE_DOUBT},    {RES_CELL_UNCLEAR, RES_ROLE_DOUBT},
        {"inconclusive", RES_ROLE_DOUBT},
    };
    for (size_t i = 0; i < sizeof ROLES / sizeof ROLES[0]; i++)
        if (verdict != NULL && strcmp(verdict, ROLES[i].verdict) == 0)
            return ROLES[i].role;
    return RES_ROLE_NONE;
}

enum res_role res_cell_role_large(const char *verdict, double ratio)
{
    const enum res_role role = res_cell_role(verdict);
    return role != RES_ROLE_DOUBT && fabs(ratio - 1) < RES_COLOUR_LEAST ? RES_ROLE_NONE : role;
}

void res_cell_value(struct res_grid *grid, const json_t *value)
{
    if (json_is_string(value))
        res_grid_add(grid, json_string_value(value));
    else if (json_is_integer(value))
        res_grid_bare(grid, res_printf("%lld", (long long)json_integer_value(value)));
    else if (json_is_real(value))
        res_grid_number(grid, json_real_value(value));
    else
        res_grid_bare(grid,
                      json_is_boolean(value) ? res_strdup(json_is_true(value) ? "true" : "false") : NULL);
}

const char *res_cell_verdict(const json_t *figure, const char *otherwise)
{
    const char *word = json_string_value(json_object_get(figure, "verdict"));
    const double ratio = res_cell_number(figure, "ratio"), low = res_cell_number(figure, "ratio_low"),
                 high = res_cell_number(figure, "ratio_high");
    if (word == NULL)
        return otherwise;
    const bool left_out = low > 1 || high < 1;
    if (strcmp(word, res_verdict_name(RES_SAME)) == 0 && left_out && fabs(ratio - 1) > UNCLEAR_FROM)
        return RES_CELL_UNCLEAR;
    return word;
}

char *res_cell_ns(double ns)
{
    if (!isfinite(ns))
        return res_strdup("-");
    return res_printf(ns < 9.995 ? "%.2f" : ns < 999.95 ? "%.1f" : "%.0f", ns);
}

struct res_bytes_unit res_bytes_unit_of(double largest_bytes)
{
    return largest_bytes < 1e6    ? (struct res_bytes_unit){"kB", 1e3}
           : largest_bytes < 1e10 ? (struct res_bytes_unit){"MB", 1e6}
                                  : (struct res_bytes_unit){"GB", 1e9};
}

char *res_cell_bytes(double bytes, struct res_bytes_unit unit)
{
    const double value = bytes / unit.bytes, size = fabs(value);
    if (!isfinite(value))
        return res_strdup("-");
    return res_printf(size < 9.995 ? "%.2f" : size < 999.95 ? "%.1f" : "%.0f", value);
}

static void print_percent(char *ret_text, size_t size, double ratio)
{
    double percent = (ratio - 1) * 100;
    if (fabs(percent) < 0.05)
        percent = 0; /* no "-0.0" */
    snprintf(ret_text, size, fabs(percent) < 99.95 ? "%+.1f" : "%+.0f", percent);
}

char *res_cell_percent(double ratio)
{
    char percent[32];
    if (!isfinite(ratio))
        return res_strdup("-");
    print_percent(percent, sizeof percent, ratio);
    return res_printf("%s%%", percent);
}

char *res_cell_interval(double low, double high)
{
    char ends[2][32];
    if (!isfinite(low) || !isfinite(high))
        return res_strdup("");
    print_percent(ends[0], sizeof ends[0], low);
    print_percent(ends[1], sizeof ends[1], high);
    return res_printf("[%s %s]", ends[0], ends[1]);
}

char *res_cell_factor(double factor)
{
    return isfinite(factor) ? res_printf(factor < 99.995 ? "%.2fx" : "%.0fx", factor) : res_strdup("-");
}

char *res_cell_count(double count)
{
    char digits[32];
    const bool shown = count >= 0 && count < 1e15;
    return res_strdup(shown ? fp_text_grouped((unsigned long long)llround(count), digits) : "-");
}
