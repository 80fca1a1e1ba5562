/* beside.h - results beside results: `check` (a result against budgets, or an earlier result), `compare` (then and now), of single results and
 * of fleets alike. One document of findings, which text, Markdown, HTML, JSON and JUnit show.
 *
 *   finding    one figure of a candidate on a workload; of many workloads together the workload is RES_FLEET_NAME
 *   check      a finding for each candidate that a rule fits, and its outcome: the whole 95 % interval at or below the limit is within, above it
 *              is over; else, with too few rounds, or where the test at the limit or noise do not exclude chance, inconclusive.
 *              What is over has to be so for all findings together (Holm), or one of many would be over by chance. Within is asked without any
 *              correction, since the one that is over has to be missed (R. L. Berger, Technometrics 24 (1982))
 *   compare    a finding for each candidate and metric of both, and its verdict, as at a limit of 1 on both sides, uncorrected
 *   noise      A/A control of the same experiment, in both directions. Against an earlier result: bridge.h. A figure whose distance from the
 *              limit is inside the noise says nothing
 *
 * Which candidates a rule for all fits: in one result all but the baseline, or the baseline when it is alone and the limit absolute; against an
 * earlier result all that both have, but times of the one that is the bridge: what it moved by is the machine's (bridge.h). A rule that
 * names the baseline fits it. */
#ifndef MALLAB_RESULTS_REPORT_BESIDE_BESIDE_H
#define MALLAB_RESULTS_REPORT_BESIDE_BESIDE_H

#include "results/measure/figures/metric.h"
#include "results/measure/result/result.h"
#include "results/report/beside/bridge.h"
#include "results/report/beside/budget.h"
#include "results/report/grid/lines.h"

#define RES_CHECK_SCHEMA   "mallab-check/1"
#define RES_COMPARE_SCHEMA "mallab-compare/1"
#define RES_FINDINGS_MAX   100000u
#define RES_FLEET_NAME     "fleet"

#define RES_SURE                                                                                             \
    3.4 /* times the samples that put the interval's end on the limit: then 19 of 20 such runs decide */

enum res_outcome { RES_WITHIN, RES_OVER, RES_INCONCLUSIVE };
#define RES_OUTCOME_COUNT 3

/* How inconclusive findings are taken. */
enum res_doubt { RES_DOUBT_TOLD, RES_DOUBT_PASSES, RES_DOUBT_FAILS };

struct res_finding {
    struct res_rule rule;      /* its texts are the budget's; of a comparison a limit of 1, without texts */
    const char *metric, *unit; /* the rule's, in words */
    const char *workload, *candidate; /* the result's */
    enum res_outcome outcome;         /* of a check */
    const char *word;                 /* the outcome, or the verdict of a comparison */
    double value,
        then; /* the figure that is shown, base units; of a fleet its ratio to the baseline. NAN: none */
    struct res_estimate estimate; /* ratio of a relative rule, else the figure */
    struct res_interval noise;    /* around 1; within a result the interval of a time has it in itself */
    struct res_tails tails;       /* of tests at the limit; 1 where there was none */
    double above_corrected;       /* tails.above for all findings together */
    double resolves;              /* the least change that would have been shown; NAN: none, and of a check */
    uint64_t rounds;
    double round_ns;        /* that one takes; NAN: not known */
    enum res_bridge bridge; /* against an earlier result: what the machine's shift was taken out by */
    double bridge_ratio;    /* that shift; NAN: none was taken out */
    const char *bridged_by; /* the allocator that it was read off; NULL: none */
    bool machine_moved, untold, is_yardstick; /* as in struct res_across */
    char *reason; /* in words, plain text; NULL: the figures are to give the outcome */
};

/* A setting of the experiment or a part of the machine that differs; values as JSON in one line. */
struct res_differing {
    const char *what, *key;
    char *then, *now;
};

struct res_beside {
    const char *schema, *mallab_version;
    const char *baseline; /* the result's */
    const char
        *against; /* what a check's percentages are: "baseline", "earlier result"; NULL: it is a comparison */
    enum res_outcome
        outcome;        /* of all findings: over when one is, else inconclusive when one is, else within */
    const char *word;   /* the same in words; NULL: it is a comparison */
    uint64_t exit_code; /* of `mallab check`, set by it */
    uint64_t counts[RES_OUTCOME_COUNT];
    const struct res_result *now, *then; /* borrowed; then: NULL: there is none */
    struct res_texts changed_libraries;  /* since then, a line each */
    struct res_differing *differences;
    size_t difference_count;
    struct res_texts told;        /* lines on what was compared: who failed, what only one of both has */
    struct res_finding *findings; /* by workload, candidate, metric */
    size_t finding_count;
};

/* The rows: what `check --json` and `compare --json` print. Release with res_described_release. */
extern const struct res_described RES_BESIDE;

/* res_check_run - hold `result` against `budget`. Both, and `earlier`, are borrowed until the document is released.
 * earlier  that relative rules are held against; NULL: against the baseline of the same run. Both must be comparable (partners.c).
 * Returns  true; false with ret_problem (the caller's to free) when a rule fits nothing, or its metric was not measured:
 *          a budget that was not held against anything must not pass.
 * res_compare_run - hold a result against an earlier one, or a fleet against an earlier fleet. Returns likewise: there is nothing in common. */
bool res_check_run(const struct res_result *result, const struct res_result *earlier,
                   const struct res_budget *budget, struct res_beside *ret_check, char **ret_problem);
bool res_compare_run(const struct res_result *earlier, const struct res_result *result,
                     struct res_beside *ret_comparison, char **ret_problem);

/* res_compare_figure - one figure of a candidate of both, judged as res_compare_run does. `then` has a candidate of the entry's name. */
struct res_finding res_compare_figure(const struct res_partners *partners,
                                      const struct res_result_entry *entry, enum res_metric metric);

/* res_outcome_name - "within", "over", "inconclusive". */
const char *res_outcome_name(enum res_outcome outcome);

/* res_judge_limit - the outcome of an estimate against a limit, noise around 1; too few rounds are the caller's.
 * limit  > 0, or 0 for an absolute one: then only 0 is within.
 * tails  of the test at the limit, `above` corrected for other findings. */
enum res_outcome res_judge_limit(const struct res_estimate *estimate, double limit, struct res_interval noise,
                                 struct res_tails tails, const char **ret_why);

/* res_finding_add - behind the others; takes over its reason. */
void res_finding_add(struct res_beside *beside, const struct res_finding *finding);

/* res_told_add - a line; takes over the words. */
void res_told_add(struct res_beside *beside, char *words);

/* res_beside_document - for people, in the form of the style: what changed since then, a table for each workload, what a check comes to.
 * res_check_junit - XML that GitLab, Jenkins and others show as tests: one suite a workload, one case a finding. Over is a failure; inconclusive
 *     is skipped, or a failure or passes, as `doubt` says; the reason is always there.
 * Names may hold anything: every form escapes them. The same input, the same bytes; the caller's to free. */
char *res_beside_document(const struct res_beside *beside, const struct res_style *style);
char *res_check_junit(const struct res_beside *check, enum res_doubt doubt);

/* res_finding_seen - what a finding shows, in words: "+4.1% [+3.6 +4.9]", "61.2 MB [60.9 to 61.4]".
 * res_finding_limit - "+3%", "512MiB", as the budget has it. */
char *res_finding_seen(const struct res_finding *finding);
const char *res_finding_limit(const struct res_finding *finding);

/* ---- partners.c: two results of the same workloads: which belong together, and what else differs.
 *
 *   partner     the workload of the earlier result with the same digest (of the ops executed), recorded on the same host
 *   comparable  a difference that forbids comparing: other workloads, another machine; others are only told */

/* res_partner - the workload of `earlier` that is the same as `workload` of `result`; by digest and the host's label,
 * where both have one, and where none fits by name, for callers that allow it (res_workloads_problem). NULL: none. Borrowed. */
const struct res_result_workload *res_partner(const struct res_result *earlier,
                                              const struct res_result *result,
                                              const struct res_result_workload *workload);

/* res_workloads_problem - why the workloads cannot be compared: no digest of one is in the other. NULL when they can.
 * res_machine_problem - likewise when processor, their number or architecture differ.
 * One line, the caller's to free. */
char *res_workloads_problem(const struct res_result *earlier, const struct res_result *result);
char *res_machine_problem(const struct res_result *earlier, const struct res_result *result);

/* res_changed_libraries - which libraries are not those of the earlier result, a line each, or that it does not say: of the candidates
 * that both have, and the C library that all of them call.
 * res_library_change - of one candidate: "jemalloc: version 5.2 then, 5.3 now", or as res_build_change; NULL: none. The caller's to free.
 * res_differences_add - settings and parts of the machine that differ. res_lone_add - workloads that only one of both has. */
struct res_texts res_changed_libraries(const struct res_result *earlier, const struct res_result *result);
char *res_library_change(const struct res_result_entry *then, const struct res_result_entry *now);
void res_differences_add(struct res_beside *beside, const struct res_result *earlier,
                         const struct res_result *result);
void res_lone_add(struct res_beside *beside, const struct res_result *earlier,
                  const struct res_result *result);

/* ---- fleet_findings.c: a fleet's common figures (fleet_result.h) held against budgets of a fleet (budget.h), or against an earlier fleet.
 *
 *   time    the common change of time; peak: the sum of the peaks. Within and over as of one workload: by their intervals, from the spread
 *           between workloads
 *   losers  over: more are proven than the limit allows; within: neither are so many proven, nor does the estimate of all losers, proven or
 *           not, come to more
 *   failed  a candidate that failed on a workload is over, as in one result
 *   absent  while results are missing or left out nothing is within: they may be what fails
 *   pair    of two fleets: a host of both, the same label and the same digest of its file. Others are told, and in no figure
 *   change  per candidate the share-weighted mean over the pairs of ln(ratio now / ratio then), with an interval from the spread of these
 *           differences: what hosts have of their own is in both and goes out. Ratios are to the baseline of the same result, so that a slower
 *           machine changes nothing. Shares are those of now */

/* res_fleet_check - add a finding for each candidate and rule of a fleet; reason is NULL where the interval is to give the outcome. */
void res_fleet_check(struct res_beside *check, const struct res_fleet *fleet,
                     const struct res_budget *budget);

/* res_fleet_compare - add findings of what both have. Returns NULL, or why there is nothing to compare, the caller's to free. */
char *res_fleet_compare(struct res_beside *beside, const struct res_fleet *earlier,
                        const struct res_fleet *fleet);

#endif
