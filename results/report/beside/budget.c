/* budget.c - budgets read with suspicion. */
#include "results/report/beside/beside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what stands behind "<=" ------------------------------------------------------------------ */

#define RES_BLANKS  " \t\r"
#define NUMBER_MOST 24u /* characters of a number */

/* A part of the text that is read; not terminated. */
struct res_span {
    const char *begin;
    size_t length;
};

/* span_trimmed - without the blanks at both ends. */
static struct res_span span_trimmed(const char *begin, size_t length)
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

/* Digits with at most one point; nothing that strtod takes besides (inf, hexadecimal, an exponent). */
static bool take_number(struct res_span *text, double *ret_number)
{
    char copy[NUMBER_MOST + 1] = "", *end;
    size_t length = 0;
    while (length < text->length && length < NUMBER_MOST &&
           memchr("0123456789.", text->begin[length], 11) != NULL) {
        copy[length] = text->begin[length];
        length++;
    }
    *ret_number = strtod(copy, &end);
    *text = (struct res_span){text->begin + length, text->length - length};
    return length > 0 && *end == '\0';
}

/* limit_examples - examples of limits of a metric, for messages. */
static const char *limit_examples(enum res_metric metric)
{
    const enum res_unit unit = RES_METRICS[metric].unit;
    return metric == RES_METRIC_GROWTH ? "1MB/h"
           : unit == RES_UNIT_BYTES    ? "+5%, -10% or 512MiB"
           : unit == RES_UNIT_NS       ? "+3%, -10% or 25ns"
                                       : "+5%, -10% or 10000";
}

/* limit_take - "+3%", "512MiB", "25ns" to a rule's limit, in the base unit of its metric or as a ratio.
 * rule     its metric is set; relative and limit are, also where the text is none.
 * Returns  false when it is no limit of that metric, or beyond what a rule can hold. */
static bool limit_take(struct res_span text, struct res_rule *rule)
{
    const struct res_span whole = text;
    double number;
    const char sign = text.length > 0 ? *text.begin : '\0';
    if (sign == '+' || sign == '-')
        text = (struct res_span){text.begin + 1, text.length - 1};
    if (!take_number(&text, &number))
        return false;
    text = span_trimmed(text.begin, text.length);
    rule->relative = text.length == 1 && *text.begin == '%';
    if (rule->relative) {
        rule->limit = 1 + (sign == '-' ? -number : number) / 100;
        return (sign == '+' || sign == '-' || number == 0) && number <= RES_RULE_PERCENT_MAX &&
               rule->limit > 0;
    }
    if (text.begin == whole.begin || sign == '+' || sign == '-')
        return false;
    if (rule->metric == RES_METRIC_GROWTH && text.length > 2 &&
        strncmp(text.begin + text.length - 2, "/h", 2) == 0)
        text.length -= 2;
    double factor = RES_METRICS[rule->metric].unit == RES_UNIT_COUNT && text.length == 0 ? 1 : 0;
    for (size_t i = 0; i < sizeof UNITS / sizeof UNITS[0]; i++) {
        if (UNITS[i].unit == RES_METRICS[rule->metric].unit && strlen(UNITS[i].name) == text.length &&
            strncmp(UNITS[i].name, text.begin, text.length) == 0)
            factor = UNITS[i].factor;
    }
    rule->limit = number * factor;
    return factor > 0 && rule->limit <= RES_RULE_LIMIT_MAX;
}

static char *plain_of(const char *begin, size_t length)
{
    char *copy = res_strndup(begin, length), *plain = res_text_plain(copy);
    free(copy);
    return plain;
}

/* A text quoted for messages: short, and nothing in it that drives a terminal. */
static char *quoted(struct res_span span)
{
    return plain_of(span.begin, span.length < 60 ? span.length : 60);
}

/* ---- rules ---------------------------------------------------------------------------------- */

static bool is_kind(const struct res_rule *rule, enum res_metric metric, bool relative)
{
    return rule->metric == metric && rule->relative == relative;
}

static void release_rule(struct res_rule *rule)
{
    free(rule->candidate);
    free(rule->text);
    free(rule->place);
}

/* Takes over what is in the rule. */
static bool add_rule(struct res_budget *budget, struct res_rule *rule, char **ret_problem)
{
    *ret_problem = NULL;
    for (size_t i = 0; i < budget->rule_count && *ret_problem == NULL; i++) {
        const struct res_rule *known = &budget->rules[i];
        const bool is_same = known->candidate == NULL || rule->candidate == NULL
                                 ? known->candidate == rule->candidate
                                 : strcmp(known->candidate, rule->candidate) == 0;
        if (is_kind(known, rule->metric, rule->relative) && is_same)
            *ret_problem = res_printf("%s: '%s' is limited twice for the same: '%s' stands at %s",
                                      rule->place, RES_METRICS[rule->metric].name, known->text, known->place);
    }
    if (*ret_problem == NULL && budget->rule_count >= RES_RULES_MAX)
        *ret_problem = res_printf("%s: more than %u rules", rule->place, RES_RULES_MAX);
    if (*ret_problem != NULL) {
        release_rule(rule);
        return false;
    }
    budget->rules = res_realloc(budget->rules, budget->rule_count + 1, sizeof *budget->rules);
    budget->rules[budget->rule_count++] = *rule;
    return true;
}

static bool name_fits(struct res_span name)
{
    return name.length > 0 && name.length <= RES_RULE_NAME_MAX &&
           memchr(name.begin, '\0', name.length) == NULL;
}

/* ---- text ----------------------------------------------------------------------------------- */

static bool add_item(struct res_budget *budget, struct res_span item, const char *place, char **ret_problem)
{
    const char *less = memmem(item.begin, item.length, "<=", 2);
    RES_FREED char *all = quoted(item);
    if (less == NULL) {
        *ret_problem = res_printf("%s: '%s' is no budget: write METRIC<=LIMIT or CANDIDATE:METRIC<=LIMIT",
                                  place, all);
        return false;
    }
    const size_t before = (size_t)(less - item.begin);
    const char *colon = memchr(item.begin, ':', before);
    const char *begin = colon != NULL ? colon + 1 : item.begin;
    const struct res_span candidate = span_trimmed(item.begin,
                                                   colon != NULL ? (size_t)(colon - item.begin) : 0);
    const struct res_span metric = span_trimmed(begin, (size_t)(less - begin));
    const struct res_span limit = span_trimmed(less + 2, item.length - before - 2);
    RES_FREED char *name = quoted(metric), *words = quoted(limit);
    struct res_rule rule = {0};
    if (colon != NULL && !name_fits(candidate)) {
        *ret_problem = res_printf("%s: before ':' stands no name: write CANDIDATE:METRIC<=LIMIT", place);
        return false;
    }
    if (!res_metric_from(metric.begin, metric.length, &rule.metric)) {
        RES_FREED char *names = res_metric_names();
        *ret_problem = res_printf("%s: unknown metric '%s'; there are %s", place, name, names);
        return false;
    }
    if (!limit_take(limit, &rule)) {
        *ret_problem = res_printf("%s: '%s' is no limit of '%s': write %s", place, words,
                                  RES_METRICS[rule.metric].name, limit_examples(rule.metric));
        return false;
    }
    rule.candidate = colon != NULL ? plain_of(candidate.begin, candidate.length) : NULL;
    rule.text = res_printf("%s<=%s", RES_METRICS[rule.metric].name, words);
    rule.place = res_strdup(place);
    return add_rule(budget, &rule, ret_problem);
}

/* place: of all of them; NULL: a column each, of a command line. */
static bool add_items(struct res_budget *budget, struct res_span text, const char *place, char **ret_problem)
{
    bool added = true;
    for (size_t at = 0; added && at <= text.length; at++) {
        const char *comma = memchr(text.begin + at, ',', text.length - at);
        const size_t length = comma != NULL ? (size_t)(comma - text.begin) - at : text.length - at;
        RES_FREED char *column = res_printf("column %zu", at + 1);
        added = add_item(budget, span_trimmed(text.begin + at, length), place != NULL ? place : column,
                         ret_problem);
        at += length;
    }
    return added;
}

bool res_budget_add_text(struct res_budget *budget, const char *text, char **ret_problem)
{
    return add_items(budget, (struct res_span){text, strlen(text)}, NULL, ret_problem);
}

bool res_budget_add_file(struct res_budget *budget, const char *text, size_t length, char **ret_problem)
{
    const size_t before = budget->rule_count;
    bool added = length <= RES_BUDGET_BYTES_MAX;
    if (!added)
        *ret_problem = res_printf("larger than %u bytes", RES_BUDGET_BYTES_MAX);
    for (size_t at = 0, line = 1; added && at < length; at++, line++) {
        const char *end = memchr(text + at, '\n', length - at);
        const size_t whole = end != NULL ? (size_t)(end - text) - at : length - at;
        const char *comment = memchr(text + at, '#', whole);
        const struct res_span rules = span_trimmed(text + at,
                                                   comment != NULL ? (size_t)(comment - text) - at : whole);
        RES_FREED char *place = res_printf("line %zu", line);
        added = rules.length == 0 || add_items(budget, rules, place, ret_problem);
        at += whole;
    }
    if (added && budget->rule_count == before) {
        *ret_problem = res_strdup("it holds no budget: write METRIC<=LIMIT, one a line");
        added = false;
    }
    return added;
}

/* ---- use ------------------------------------------------------------------------------------ */

const struct res_rule *res_budget_find(const struct res_budget *budget, enum res_metric metric, bool relative,
                                       const char *candidate)
{
    const struct res_rule *best = NULL;
    for (size_t i = 0; i < budget->rule_count; i++) {
        const struct res_rule *rule = &budget->rules[i];
        if (is_kind(rule, metric, relative) &&
            (rule->candidate == NULL || strcmp(rule->candidate, candidate) == 0))
            best = best == NULL || best->candidate == NULL ? rule : best;
    }
    return best;
}

void res_budget_release(struct res_budget *budget)
{
    for (size_t i = 0; i < budget->rule_count; i++)
        release_rule(&budget->rules[i]);
    free(budget->rules);
    *budget = (struct res_budget){0};
}
