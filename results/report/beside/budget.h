/* budget.h - what figures may be at most: budgets, from a command line or a file.
 *
 *   budget      rules; a result is held against those that fit it (beside.h)
 *   rule        METRIC<=LIMIT, for a candidate or all, for a workload or all
 *   relative    LIMIT is a percentage: against the baseline, "+3%" or "-10%"
 *   absolute    LIMIT is a figure: "512MiB", "25ns", "10000"
 *   of a fleet  what many workloads say together (fleet_findings.c): time and peak as percentages, losers as a number or a share of the workloads
 *
 * Text: rules with commas between them, on a command line or in the lines of a file, where '#' begins a comment:
 *   time<=+3%,rss-peak<=+5%          all candidates and workloads
 *   jemalloc:rss-peak<=512MiB        a candidate
 *   @web.wl:time<=+4%                a workload
 *   jemalloc@web.wl:time<=+60%       both
 *   fleet:time<=-2%,fleet:jemalloc:losers<=0
 * Of the rules for the same metric, relative or absolute, the one for a workload and a candidate counts before the one for
 * a candidate, that before the one for a workload, that before the one for all.
 *
 * Units: B, kB, MB, GB (powers of 1000), KiB, MiB, GiB, and K, M, G as everywhere in mallab (powers of 1024); ns, us, ms, s.
 * Text may be anything: at most RES_BUDGET_BYTES_MAX bytes and RES_RULES_MAX rules are taken. */
#ifndef MALLAB_RESULTS_REPORT_BESIDE_BUDGET_H
#define MALLAB_RESULTS_REPORT_BESIDE_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

#include "results/measure/figures/metric.h"

#define RES_BUDGET_BYTES_MAX (64u * 1024u) /* of a file */
#define RES_RULES_MAX        1024u
#define RES_RULE_NAME_MAX    128u /* bytes of a workload's or a candidate's name */
#define RES_RULE_LIMIT_MAX   1e18 /* of a figure in base units */
#define RES_RULE_PERCENT_MAX 1e6

enum res_fleet_metric { RES_FLEET_NONE, RES_FLEET_TIME, RES_FLEET_PEAK, RES_FLEET_LOSERS };

struct res_rule {
    enum res_fleet_metric of_fleet; /* none: it is of each workload by itself */
    enum res_metric metric;         /* of a fleet: the one whose unit it has */
    bool relative;
    double limit;    /* base units; relative: as a ratio, 1.03; of losers: as a share, 0.02 */
    char *workload;  /* NULL: all */
    char *candidate; /* NULL: all */
    char *text;      /* "time<=+3%" */
    char *place;     /* "line 4", "column 10": where it stands */
};

/* Zero-initialise before use. */
struct res_budget {
    struct res_rule *rules;
    size_t rule_count;
};

/* res_budget_add_text - add the rules of a command line.
 * res_budget_add_file - add those of a file: `length` bytes, not terminated.
 * ret_problem  set to one line with the place in the text, the caller's to free, when false is returned. The rules
 *              before the place may then have been added. */
bool res_budget_add_text(struct res_budget *budget, const char *text, char **ret_problem);
bool res_budget_add_file(struct res_budget *budget, const char *text, size_t length, char **ret_problem);

/* res_rule_names - whether a rule is for a workload: for all, for one of this name, or of this name behind a host's label. */
bool res_rule_names(const struct res_rule *rule, const char *workload);

/* res_budget_find - the rule that counts for a candidate of a workload; NULL when there is none.
 * res_budget_find_fleet - likewise for a candidate of a fleet. */
const struct res_rule *res_budget_find(const struct res_budget *budget, enum res_metric metric, bool relative,
                                       const char *workload, const char *candidate);
const struct res_rule *res_budget_find_fleet(const struct res_budget *budget, enum res_fleet_metric metric,
                                             bool relative, const char *candidate);

/* res_rule_metric - its metric's name: "rss-peak"; of a fleet "time", "peak" or "losers". */
const char *res_rule_metric(const struct res_rule *rule);

void res_budget_release(struct res_budget *budget);

#endif
