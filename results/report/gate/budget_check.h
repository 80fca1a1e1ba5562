/* budget_check.h - a result held against budgets: within, over or inconclusive, and why.
 *
 *   finding   one rule (budget.h) that fits one candidate of one workload, and its outcome
 *   within    the whole 95 % interval is at most the limit, and the test at the limit (metric.h) says so at RES_P_VALUE_MOST
 *   over      the whole interval is above the limit, and the test says so for all findings together; also a candidate that failed
 *   inconclusive  the interval crosses the limit; or the test does not exclude chance; or there are too few rounds; or the figure is
 *             nearer to the limit than two measurements of the same thing are to each other (noise); or there is no figure
 *   together  one finding that is over makes the whole check over, so with many of them chance would do it soon: p-values of `over` are
 *             corrected for all findings of a check (res_holm), and where no figure is above its limit a check is over in 5 % of the cases at most.
 *             A check is within only when all findings are: wrong in 5 % at most without any correction, since the one that is over has
 *             to be missed (R. L. Berger, "Multiparameter hypothesis testing and acceptance sampling", Technometrics 24 (1982))
 *   noise     A/A control of the same experiment, in both directions. Against an earlier result: bridge.h
 *   noise floor of a figure: `figure / limit` strictly inside the noise says nothing
 *
 * Which candidates a rule for all fits: in one result all but the baseline, or the baseline when it is alone and the
 * limit absolute; against an earlier result all that both have, but times of a baseline that did not change: what it moved by is the machine's
 * (bridge.h). A rule that names the baseline fits it. */
#ifndef MALLAB_RESULTS_REPORT_GATE_BUDGET_CHECK_H
#define MALLAB_RESULTS_REPORT_GATE_BUDGET_CHECK_H

#include "results/measure/figures/metric.h"
#include "results/measure/result/result.h"
#include "results/report/gate/bridge.h"
#include "results/report/gate/budget.h"

#define RES_CHECK_SCHEMA "mallab-check/1"
#define RES_FINDINGS_MAX 100000u

enum res_outcome { RES_WITHIN, RES_OVER, RES_INCONCLUSIVE };
#define RES_OUTCOME_COUNT 3

struct res_finding {
    struct res_rule rule;             /* its texts are the budget's */
    const char *metric, *unit;        /* the rule's, in words */
    const char *workload, *candidate; /* the result's */
    enum res_outcome outcome;
    struct res_estimate estimate; /* ratio of a relative rule, else the figure */
    double value;              /* the figure itself, base units: median, or steady time of a relative rule */
    struct res_interval noise; /* around 1; within a result the interval of a time has it in itself */
    struct res_tails tails;    /* of tests at the limit; 1 where there was none */
    double above_corrected;    /* tails.above for all findings together */
    uint64_t rounds;
    double round_ns;        /* that one takes; NAN: not known */
    enum res_bridge bridge; /* against an earlier result: what the machine's shift was taken out by */
    double bridge_ratio;    /* that shift; NAN: none was taken out */
    bool machine_moved, untold, is_yardstick; /* as in struct res_across */
    char *reason;                             /* in words, plain text */
};

struct res_check {
    const char *schema, *mallab_version;
    enum res_outcome
        outcome;          /* of all findings: over when one is, else inconclusive when one is, else within */
    uint64_t exit_code;   /* of `mallab check`, set by it */
    const char *baseline; /* the result's */
    bool earlier;         /* held against an earlier result */
    const struct res_result *of, *base; /* borrowed; base: that earlier result, NULL: there is none */
    struct res_texts changed_libraries; /* since then, a line each (compare_results.h) */
    const char *against;                /* the same in words */
    uint64_t counts[RES_OUTCOME_COUNT];
    struct res_finding *findings; /* by workload, candidate, metric */
    size_t finding_count;
};

/* The rows: what `check --json` prints. Release with res_described_release. */
extern const struct res_described RES_CHECK;

/* res_check_run - hold `result` against `budget`.
 * result   it and the budget are borrowed until the check is released.
 * earlier  the same for an earlier result that relative rules are held against; NULL: against the baseline of the same run.
 *          Both must be comparable (compare_results.h).
 * Returns  true; false with ret_problem (the caller's to free) when a rule fits nothing, or its metric was not measured:
 *          a budget that was not held against anything must not pass. */
bool res_check_run(const struct res_result *result, const struct res_result *earlier,
                   const struct res_budget *budget, struct res_check *ret_check, char **ret_problem);

/* res_outcome_name - "within", "over", "inconclusive". */
const char *res_outcome_name(enum res_outcome outcome);

/* res_judge_limit - the outcome of an estimate against a limit, noise around 1; too few rounds are the caller's.
 * limit  > 0, or 0 for an absolute one: then only 0 is within.
 * tails  of the test at the limit, `above` corrected for other findings. */
enum res_outcome res_judge_limit(const struct res_estimate *estimate, double limit, struct res_interval noise,
                                 struct res_tails tails, const char **ret_why);

#endif
