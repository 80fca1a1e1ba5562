/* budget_limit.c - see budget_limit.h. */
#include "results/report/gate/budget_limit.h"

#include <string.h>

struct res_span res_span_trimmed(const char *begin, size_t length)
{
    while (length > 0 && strchr(RES_BLANKS, *begin) != NULL && *begin != '\0') {
        begin++;
        length--;
    }
    while (length > 0 && begin[length - 1] != '\0' && strchr(RES_BLANKS, begin[length - 1]) != NULL)
        length--;
    return (struct res_span){begin, length};
}

struct unit {
    const char *name;
    enum res_unit unit;
    double factor;
};

static const struct unit UNITS[] = {
    {"ns", RES_UNIT_NS, 1},
    {"us", RES_UNIT_NS, 1e3},
    {"ms", RES_UNIT_NS, 1e6},
    {"s", RES_UNIT_NS, 1e9},
    {"B", RES_UNIT_BYTES, 1},
    {"kB", RES_UNIT_BYTES, 1e3},
    {"MB", RES_UNIT_BYTES, 1e6},
    {"GB", RES_UNIT_BYTES, 1e9},
    {"K", RES_UNIT_BYTES, 1024},
    {"M", RES_UNIT_BYTES, 1048576},
    {"G", RES_UNIT_BYTES, 1073741824},
    {"KiB", RES_UNIT_BYTES, 1024},
    {"MiB", RES_UNIT_BYTES, 1048576},
    {"GiB", RES_UNIT_BYTES, 1073741824},
};

/* Digits with at most one point; nothing that strtod takes besides (inf, hexadecimal, the locale's comma). */
static bool take_number(struct res_span *text, double *ret_number)
{
    double number = 0, scale = 1;
    size_t at = 0, digits = 0;
    bool behind_point = false;
    for (; at < text->length; at++) {
        const char byte = text->begin[at];
        if (byte == '.' && !behind_point) {
            behind_point = true;
        } else if (byte >= '0' && byte <= '9') {
            if (++digits > 18)
                return false;
            number = number * 10 + (byte - '0');
            scale *= behind_point ? 10 : 1;
        } else {
            break;
        }
    }
    if (digits == 0)
        return false;
    *text = (struct res_span){text->begin + at, text->length - at};
    *ret_number = number / scale;
    return true;
}

const char *res_limit_examples(enum res_metric metric)
{
    switch (res_metric_unit(metric)) {
    case RES_UNIT_NS:
        return "+3%, -10% or 25ns";
    case RES_UNIT_BYTES:
        return "+5%, -10% or 512MiB";
    default:
        return "+5%, -10% or 10000";
    }
}

bool res_limit_take(struct res_span text, struct res_rule *rule)
{
    const struct res_span whole = text;
    double number;
    const char sign = text.length > 0 ? *text.begin : '\0';
    if (sign == '+' || sign == '-')
        text = (struct res_span){text.begin + 1, text.length - 1};
    if (!take_number(&text, &number))
        return false;
    text = res_span_trimmed(text.begin, text.length);
    rule->relative = text.length == 1 && *text.begin == '%';
    if (rule->relative) {
        rule->limit = 1 + (sign == '-' ? -number : number) / 100;
        return (sign == '+' || sign == '-' || number == 0) && number <= RES_RULE_PERCENT_MAX &&
               rule->limit > 0;
    }
    if (text.begin == whole.begin || sign == '+' || sign == '-')
        return false;
    double factor = res_metric_unit(rule->metric) == RES_UNIT_COUNT && text.length == 0 ? 1 : 0;
    for (size_t i = 0; i < sizeof UNITS / sizeof UNITS[0]; i++) {
        if (UNITS[i].unit == res_metric_unit(rule->metric) && strlen(UNITS[i].name) == text.length &&
            strncmp(UNITS[i].name, text.begin, text.length) == 0)
            factor = UNITS[i].factor;
    }
    rule->limit = number * factor;
    return factor > 0 && rule->limit <= RES_RULE_LIMIT_MAX;
}
