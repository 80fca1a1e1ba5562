/* budget.c - budgets read with suspicion. */
#include "results/report/beside/beside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what stands behind "<=" ------------------------------------------------------------------ */

#define RES_BLANKS " \t\r"

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

/* The figures of a fleet that may be limited, and the metric whose unit it has. */
static const struct {
    const char *name, *examples;
    enum res_metric metric;
} FLEET_METRICS[] = {
    [RES_FLEET_TIME] = {"time", "+3% or -2%", RES_METRIC_TIME},
    [RES_FLEET_PEAK] = {"peak", "+3% or -2%", RES_METRIC_RSS_PEAK},
    [RES_FLEET_LOSERS] = {"losers", "0, 5 or 2%", RES_METRIC_FAULTS},
};
#define FLEET_METRICS_END ((int)(sizeof FLEET_METRICS / sizeof FLEET_METRICS[0]))

const char *res_rule_metric(const struct res_rule *rule)
{
    return rule->of_fleet != RES_FLEET_NONE ? FLEET_METRICS[rule->of_fleet].name
                                            : res_metric_name(rule->metric);
}

/* limit_examples - examples of limits of a rule's metric, for messages. */
static const char *limit_examples(const struct res_rule *rule)
{
    if (rule->of_fleet != RES_FLEET_NONE)
        return FLEET_METRICS[rule->of_fleet].examples;
    const enum res_unit unit = res_metric_unit(rule->metric);
    return rule->metric == RES_METRIC_GROWTH ? "1MB/h"
           : unit == RES_UNIT_BYTES          ? "+5%, -10% or 512MiB"
           : unit == RES_UNIT_NS             ? "+3%, -10% or 25ns"
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
    if (text.begin == whole.begin || sign == '+' || sign == '-' || rule->of_fleet != RES_FLEET_NONE)
        return false;
    if (rule->metric == RES_METRIC_GROWTH && text.length > 2 &&
        strncmp(text.begin + text.length - 2, "/h", 2) == 0)
        text.length -= 2;
    double factor = res_metric_unit(rule->metric) == RES_UNIT_COUNT && text.length == 0 ? 1 : 0;
    for (size_t i = 0; i < sizeof UNITS / sizeof UNITS[0]; i++) {
        if (UNITS[i].unit == res_metric_unit(rule->metric) && strlen(UNITS[i].name) == text.length &&
            strncmp(UNITS[i].name, text.begin, text.length) == 0)
            factor = UNITS[i].factor;
    }
    rule->limit = number * factor;
    return factor > 0 && rule->limit <= RES_RULE_LIMIT_MAX;
}

/* losers_take - the same of losers: how many workloads, or which share of them. */
static bool losers_take(struct res_span text, struct res_rule *rule)
{
    if (!take_number(&text, &rule->limit))
        return false;
    text = span_trimmed(text.begin, text.length);
    rule->relative = text.length == 1 && *text.begin == '%';
    rule->limit /= rule->relative ? 100 : 1;
    return rule->relative
               ? rule->limit <= 1
               : text.length == 0 && rule->limit == floor(rule->limit) && rule->limit <= RES_RULE_LIMIT_MAX;
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

static bool same_name(const char *one, const char *other)
{
    return one == NULL || other == NULL ? one == other : strcmp(one, other) == 0;
}

static bool is_kind(const struct res_rule *one, const struct res_rule *other)
{
    return one->of_fleet == other->of_fleet && one->relative == other->relative &&
           (one->of_fleet != RES_FLEET_NONE || one->metric == other->metric);
}

static void release_rule(struct res_rule *rule)
{
    free(rule->workload);
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
        if (is_kind(known, rule) && same_name(known->workload, rule->workload) &&
            same_name(known->candidate, rule->candidate))
            *ret_problem = res_printf("%s: '%s' is limited twice for the same: '%s' stands at %s",
                                      rule->place, res_rule_metric(rule), known->text, known->place);
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

static char *copied_name(struct res_span span)
{
    return span.begin != NULL ? plain_of(span.begin, span.length) : NULL;
}

/* The part before a rule's limit, found. begin NULL: all. */
struct target {
    bool fleet;
    struct res_span workload, candidate;
};

/* Finds the metric of a rule by its name. */
static bool take_metric(bool fleet, struct res_span name, struct res_rule *rule)
{
    if (!fleet)
        return res_metric_from(name.begin, name.length, &rule->metric);
    for (int metric = RES_FLEET_TIME; metric < FLEET_METRICS_END; metric++) {
        if (strlen(FLEET_METRICS[metric].name) == name.length &&
            strncmp(FLEET_METRICS[metric].name, name.begin, name.length) == 0) {
            rule->of_fleet = (enum res_fleet_metric)metric;
            rule->metric = FLEET_METRICS[metric].metric;
            return true;
        }
    }
    return false;
}

/* place is borrowed. */
static bool add_limit(struct res_budget *budget, const struct target *target, struct res_span metric,
                      struct res_span limit, const char *place, char **ret_problem)
{
    struct res_rule rule = {0};
    if (!take_metric(target->fleet, metric, &rule)) {
        RES_FREED char *name = quoted(metric);
        RES_FREED char *names = target->fleet ? res_strdup("time, peak, losers") : res_metric_names();
        *ret_problem = res_printf("%s: unknown metric '%s'%s; there are %s", place, name,
                                  target->fleet ? " of a fleet" : "", names);
        return false;
    }
    if (!(rule.of_fleet == RES_FLEET_LOSERS ? losers_take(limit, &rule) : limit_take(limit, &rule))) {
        RES_FREED char *words = quoted(limit);
        *ret_problem = res_printf("%s: '%s' is no limit of '%s': write %s", place, words,
                                  res_rule_metric(&rule), limit_examples(&rule));
        return false;
    }
    RES_FREED char *words = quoted(limit);
    rule.workload = copied_name(target->workload);
    rule.candidate = copied_name(target->candidate);
    rule.text = res_printf("%s%s<=%s", target->fleet ? "fleet:" : "", res_rule_metric(&rule), words);
    rule.place = res_strdup(place);
    return add_rule(budget, &rule, ret_problem);
}

static bool name_fits(struct res_span name)
{
    return name.length > 0 && name.length <= RES_RULE_NAME_MAX &&
           memchr(name.begin, '\0', name.length) == NULL;
}

/* ---- text ----------------------------------------------------------------------------------- */

#define FLEET "fleet:"

/* Takes "SCOPE:" off what stands before "<=": a candidate, a workload behind '@', or both. */
static bool take_scope(struct res_span *text, struct target *ret_target)
{
    const char *colon = memchr(text->begin, ':', text->length);
    if (colon == NULL)
        return true;
    const struct res_span scope = span_trimmed(text->begin, (size_t)(colon - text->begin));
    const char *at = memchr(scope.begin, '@', scope.length);
    const size_t before = at != NULL ? (size_t)(at - scope.begin) : scope.length;
    *text = span_trimmed(colon + 1, text->length - (size_t)(colon + 1 - text->begin));
    if (before > 0)
        ret_target->candidate = span_trimmed(scope.begin, before);
    if (at != NULL)
        ret_target->workload = span_trimmed(at + 1, scope.length - before - 1);
    return scope.length > 0 && (before == 0 || name_fits(ret_target->candidate)) &&
           (at == NULL || (name_fits(ret_target->workload) && !ret_target->fleet));
}

static bool add_item(struct res_budget *budget, struct res_span item, const char *place, char **ret_problem)
{
    struct target target = {0};
    const char *less = memmem(item.begin, item.length, "<=", 2);
    const size_t before = less != NULL ? (size_t)(less - item.begin) : 0;
    if (less == NULL) {
        RES_FREED char *words = quoted(item);
        *ret_problem = res_printf("%s: '%s' is no budget: write METRIC<=LIMIT or CANDIDATE:METRIC<=LIMIT",
                                  place, words);
        return false;
    }
    struct res_span metric = span_trimmed(item.begin, before);
    target.fleet = metric.length > strlen(FLEET) && strncmp(metric.begin, FLEET, strlen(FLEET)) == 0;
    if (target.fleet)
        metric = span_trimmed(metric.begin + strlen(FLEET), metric.length - strlen(FLEET));
    if (!take_scope(&metric, &target)) {
        *ret_problem = res_printf(
            "%s: before ':' stands no name: write CANDIDATE:, @WORKLOAD: or CANDIDATE@WORKLOAD:", place);
        return false;
    }
    return add_limit(budget, &target, metric, span_trimmed(less + 2, item.length - before - 2), place,
                     ret_problem);
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

bool res_rule_names(const struct res_rule *rule, const char *workload)
{
    const char *slash = strrchr(workload, '/');
    return rule->workload == NULL || strcmp(rule->workload, workload) == 0 ||
           (slash != NULL && strcmp(rule->workload, slash + 1) == 0);
}

const struct res_rule *res_budget_find(const struct res_budget *budget, const struct res_rule *like,
                                       const char *workload, const char *candidate)
{
    const struct res_rule *best = NULL;
    int best_rank = -1;
    for (size_t i = 0; i < budget->rule_count; i++) {
        const struct res_rule *rule = &budget->rules[i];
        const int rank = (rule->candidate != NULL ? 2 : 0) + (rule->workload != NULL ? 1 : 0);
        if (is_kind(rule, like) && rank > best_rank && res_rule_names(rule, workload) &&
            (rule->candidate == NULL || strcmp(rule->candidate, candidate) == 0)) {
            best = rule;
            best_rank = rank;
        }
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
