/* beside.h - results beside results: `check` (a result against budgets, or against an earlier one), `compare` (then and now), and results of
 * many days. One document of findings, which text, Markdown, HTML, JSON and JUnit show.
 *
 *   finding    one figure of a candidate on a workload
 *   check      a finding for each candidate that a rule fits, and its outcome: the whole 95 % interval at or below the limit is within, above it
 *              is over; else, with too few rounds, or where the test at the limit or noise do not exclude chance, inconclusive.
 *              What is over has to be so for all findings together (Holm), or one of many would be over by chance. Within is asked without any
 *              correction, since the one that is over has to be missed (R. L. Berger, Technometrics 24 (1982))
 *   compare    a finding for each candidate and metric of both, and its verdict, as at a limit of 1 on both sides, uncorrected
 *   noise      A/A control of the same experiment, in both directions. Against an earlier result: partners.c. A figure whose distance from the
 *              limit is inside the noise says nothing
 *
 * Which candidates a rule for all fits: in one result all but the baseline, or the baseline when it is alone and the limit absolute; against an
 * earlier result all that both have, but times of the one that is the bridge: what it moved by is the machine's (partners.c). A rule that
 * names the baseline fits it. */
#ifndef MALLAB_RESULTS_REPORT_BESIDE_BESIDE_H
#define MALLAB_RESULTS_REPORT_BESIDE_BESIDE_H

#include "results/measure/figures/figures.h"
#include "results/report/grid/grid.h"

/* ---- partners.c: one candidate in two experiments (sessions) of the same workload: what changed, less what the machine did in between.
 *   bridge    what both sessions measured and what is the same in both: what it moved by is the machine's, and is taken out of times (ns) as a ratio.
 *             The baseline, where it has the same bytes, or version and build, and settings; else the first allocator that has. Without one
 *             times have no verdict: the machine may be slower, and nothing tells. Memory and faults are no times: a slower machine does
 *             not change them, nothing is taken out
 *   figure    with a bridge (own / bridge now) / (own / bridge then); else own now / own then
 *   error     each session's own (metric.c); the two are added, with Welch's degrees of freedom. Two sessions' rounds belong
 *             to no pairs and are not alike: one may have been on a busy machine
 *   noise     of times: Student's of the two A/A controls, whose truth is 1: two samples of what a ratio differs by from session to session,
 *             which no round of a session shows: so what their rounds scatter by is taken off.
 *             Added is what the bridge and the harness (the floor, which calls no allocator) are sure to have moved apart, since a machine that slows both differently
 *             may slow two allocators differently. Of memory and faults the wider control, and what an unchanged baseline moved by
 *   yardstick the allocator that is the bridge, where there are others: what it moved by is the machine's by definition, so its own times have no verdict
 *
 * Pure: the same samples, the same answer. */

/* RES_BRIDGE_WORDS: their words in JSON, NULL behind the last. */
enum res_bridge { RES_BRIDGE_NONE, RES_BRIDGE_BASELINE };
extern const char *const RES_BRIDGE_WORDS[];

/* The series of one metric in a session; empty series where it has none. */
struct res_session {
    struct res_series own,
        baseline; /* baseline: the bridge's; empty where there is none, or it is the candidate */
    struct res_series control, controlled; /* controlled: the session's own baseline */
    struct res_series harness;             /* time, nothing subtracted */
};

struct res_finding;

/* Two results, and a workload of both; of one result earlier and then are NULL. Borrowed. */
struct res_partners {
    const struct res_result *result, *earlier;
    const struct res_result_workload *now, *then;
};

/* res_across_sessions - now over then, tested at the finding's limit, a ratio >= 0: fills what figures and bridge say.
 * res_across_partners - likewise of the finding's candidate in both results, which are compared where the finding has no budget. */
void res_across_sessions(const struct res_session *now, const struct res_session *then,
                         struct res_finding *finding);
void res_across_partners(const struct res_partners *partners, struct res_finding *finding);

/* res_partners_yardstick - whether this candidate's metric is what the others' are held against. */
bool res_partners_yardstick(const struct res_partners *partners, const char *candidate,
                            enum res_metric metric);

/* res_control_noise - what the baseline and its control in the same experiment differ by, around 1. */
struct res_interval res_control_noise(const struct res_result_workload *workload, const char *baseline,
                                      enum res_metric metric);

/* ---- budget.c: what figures may be at most: budgets, from a command line or a file.
 *   budget      rules; a result is held against those that fit it (beside.h)
 *   rule        METRIC<=LIMIT, for a candidate or all
 *   relative    LIMIT is a percentage: against the baseline, "+3%" or "-10%"
 *   absolute    LIMIT is a figure: "512MiB", "25ns", "10000"
 *
 * Text: rules with commas between them, on a command line or in the lines of a file, where '#' begins a comment:
 *   time<=+3%,rss-peak<=+5%          all candidates
 *   jemalloc:rss-peak<=512MiB        a candidate
 * Of the rules for the same metric, relative or absolute, the one for a candidate counts before the one for all.
 *
 * Units: B, kB, MB, GB (powers of 1000), KiB, MiB, GiB, and K, M, G as everywhere in mallab (powers of 1024); ns, us, ms, s.
 * Text may be anything: at most RES_BUDGET_BYTES_MAX bytes and RES_RULES_MAX rules are taken. */

#define RES_BUDGET_BYTES_MAX (64u * 1024u) /* of a file */
#define RES_RULES_MAX        1024u
#define RES_RULE_NAME_MAX    128u /* bytes of a candidate's name */
#define RES_RULE_LIMIT_MAX   1e18 /* of a figure in base units */
#define RES_RULE_PERCENT_MAX 1e6

struct res_rule {
    enum res_metric metric;
    bool relative;
    double limit;    /* base units; relative: as a ratio, 1.03 */
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

/* res_budget_find - the rule for a metric, relative or absolute, that counts for a candidate; NULL when there is none. */
const struct res_rule *res_budget_find(const struct res_budget *budget, enum res_metric metric, bool relative,
                                       const char *candidate);

void res_budget_release(struct res_budget *budget);

#define RES_CHECK_SCHEMA   "mallab-check/1"
#define RES_COMPARE_SCHEMA "mallab-compare/1"
#define RES_FINDINGS_MAX   100000u

enum res_outcome { RES_WITHIN, RES_OVER, RES_INCONCLUSIVE };
#define RES_OUTCOME_COUNT 3

/* The meaning of inconclusive findings. */
enum res_doubt { RES_DOUBT_TOLD, RES_DOUBT_PASSES, RES_DOUBT_FAILS };

struct res_finding {
    struct res_rule rule;      /* its texts are the budget's; of a comparison a limit of 1, without texts */
    const char *metric, *unit; /* the rule's, in words */
    const char *workload, *candidate; /* the result's */
    enum res_outcome outcome;         /* of a check */
    const char *word;                 /* the outcome, or the verdict of a comparison */
    double value, then;               /* what is shown, base units. NAN: none */
    struct res_estimate estimate;     /* ratio of a relative rule, else the figure */
    struct res_interval noise;        /* around 1; within a result the interval of a time has it in itself */
    struct res_tails tails;           /* of tests at the limit; 1 where there was none */
    double above_corrected;           /* tails.above for all findings together */
    double
        resolves; /* the least change that would have been shown; NAN: none, of a check, and where a reason decides */
    uint64_t rounds;        /* of the side that has fewer; 0: not measured */
    uint64_t rounds_needed; /* for a verdict */
    enum res_bridge bridge; /* against an earlier result: what the machine's shift was taken out by */
    double bridge_ratio;    /* that shift, the bridge now over then; NAN: none was taken out */
    const char *bridged_by; /* the allocator that it was read off; NULL: none. The result's */
    bool machine_moved;     /* noise is mostly what the machine moved by unevenly */
    bool is_yardstick;
    bool is_unchanged; /* the same bytes in both, which called the same: what it moved by is not its own */
    char *reason;      /* in words, plain text; NULL: the figures give the outcome */
};

/* A setting of the experiment or a part of the machine that differs; values as JSON in one line. */
struct res_differing {
    const char *what, *key;
    char *then, *now;
};

struct res_beside {
    const char *schema, *mallab_version;
    const char *baseline;     /* the result's */
    const char *against;      /* of a check's percentages: "baseline", "earlier result"; NULL: a comparison */
    enum res_outcome outcome; /* over when a finding is, else inconclusive when one is, else within */
    const char *word;         /* the same in words; NULL: it is a comparison */
    uint64_t exit_code;       /* of `mallab check`, set by it */
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
 * res_compare_run - hold a result against an earlier one, likewise. */
bool res_check_run(const struct res_result *result, const struct res_result *earlier,
                   const struct res_budget *budget, struct res_beside *ret_check, char **ret_problem);
void res_compare_run(const struct res_result *earlier, const struct res_result *result,
                     struct res_beside *ret_comparison);

/* res_compare_figure - one figure of a candidate of both, judged as res_compare_run does. `then` has a candidate of the entry's name.
 * The reason is the caller's to free. */
struct res_finding res_compare_figure(const struct res_partners *partners,
                                      const struct res_result_entry *entry, enum res_metric metric);

/* res_outcome_name - "within", "over", "inconclusive". */
const char *res_outcome_name(enum res_outcome outcome);

/* res_judge_limit - the outcome of an estimate against a limit, noise around 1; too few rounds are the caller's.
 * limit  > 0, or 0 for an absolute one: then only 0 is within.
 * tails  of the test at the limit, `above` corrected for other findings. */
enum res_outcome res_judge_limit(const struct res_estimate *estimate, double limit, struct res_interval noise,
                                 struct res_tails tails, const char **ret_why);

/* res_beside_document - the document for people, in the form of the style: what changed since then, a table for each workload, what a check comes to.
 * res_check_junit - XML that GitLab, Jenkins and others show as tests: one suite a workload, one case a finding. Over is a failure; inconclusive
 *     is skipped, or a failure or passes, as `doubt` says; the reason is always there.
 * Names may hold anything: every form escapes them. The same input, the same bytes; the caller's to free. */
char *res_beside_document(const struct res_beside *beside, const struct res_style *style);
char *res_check_junit(const struct res_beside *check, enum res_doubt doubt);

/* ---- partners.c: two results of the same workloads: which belong together, and what else differs.
 *   partner     the workload of the earlier result with the same res_workload_key, recorded on the same host
 *   comparable  a difference that forbids comparing: other workloads, another machine; others are only told */

/* res_partner - the workload of `earlier` that is the same as `workload` of `result`; by digest and the host's label,
 * where both have one, and where none fits by name, for callers that allow it (res_workloads_problem). NULL: none. Borrowed. */
const struct res_result_workload *res_partner(const struct res_result *earlier,
                                              const struct res_result *result,
                                              const struct res_result_workload *workload);

/* res_workloads_problem - why the workloads cannot be compared: there is none, or no digest of one is in the other. NULL when they can.
 * res_machine_problem - likewise when processor, their number or architecture differ.
 * One line, the caller's to free. */
char *res_workloads_problem(const struct res_result *earlier, const struct res_result *result);
char *res_machine_problem(const struct res_result *earlier, const struct res_result *result);

/* res_changed_libraries - which libraries are not those of the earlier result, a line each, or that it does not say: of the candidates
 * that both have, and the C library that all of them call.
 * res_library_change - the change of one candidate: "jemalloc: version 5.2 then, 5.3 now", or as res_build_change; NULL: none. The caller's to free.
 * res_differences_add - settings and parts of the machine that differ. res_lone_add - workloads that only one of both has. */
struct res_texts res_changed_libraries(const struct res_result *earlier, const struct res_result *result);
char *res_library_change(const struct res_result_entry *then, const struct res_result_entry *now);
void res_differences_add(struct res_beside *beside, const struct res_result *earlier,
                         const struct res_result *result);
void res_lone_add(struct res_beside *beside, const struct res_result *earlier,
                  const struct res_result *result);

/* ---- history.c: results of many days beside each other: how each candidate moved over time.
 *   series     results of one workload (by its host's label and res_workload_key, never by name), one machine (by
 *              name) and one baseline
 *   point      one candidate in one result: by series, candidate (the baseline first) and date
 *   level      consecutive points of a candidate of which none is distinguishable from the first
 *   moved      a point that is: it begins the next level
 *
 * A point is held against the first of its level as `mallab compare` holds two results against each other (res_compare_figure), and not
 * against the one before, so that what creeps is seen. What moves by less than RES_HISTORY_LEAST is not marked. Another memory limit or
 * number of threads begins a level unmarked. What is other than in the result before is named beside the figures. */
#define RES_HISTORY_SCHEMA "mallab-history/1"
#define RES_HISTORY_LEAST  0.01 /* part by which a figure must differ to be marked */

/* The move of one figure since the first of the level. */
struct res_history_move {
    const char *word; /* verdict; NULL: it did not move */
    double change;    /* a ratio; NAN: there is nothing to hold it against */
    double resolves;  /* the least change that would have been marked; NAN: none */
};

/* Words without a note on whose they are are the result's. */
struct res_history_point {
    const struct res_result *result; /* all borrowed */
    const struct res_result_workload *of;
    const struct res_result_entry *entry;
    char *workload, *machine, *file; /* its own */
    const char *host, *workload_digest, *baseline, *candidate;
    bool is_baseline, failed;
    uint64_t created_unix_ns, rounds;
    const char *mallab_version, *baseline_version, *label, *commit, *version; /* label, commit: NULL: none */
    struct res_figures figures;
    struct res_history_move time, peak;
    struct res_texts changed; /* what is other than at the point before, which may explain a move */
};

/* Zero-initialise; release with res_described_release. */
struct res_history {
    const char *schema, *mallab_version;
    uint64_t results;
    struct res_fleet_left *left_out; /* what could not be read */
    size_t left_out_count;
    struct res_history_point *points;
    size_t point_count;
};

extern const struct res_described RES_HISTORY;

/* res_history_add - a judged result, borrowed until the history is released. file: its name, for people; copied.
 * res_history_leave_out - a file that could not be read, and why; both copied. */
void res_history_add(struct res_history *history, const char *file, const struct res_result *result);
void res_history_leave_out(struct res_history *history, const char *file, const char *why);

/* res_history_finish - put the points into their order, and hold each against its level; once, when all are there.
 * res_history_end - the place behind the last point of the same candidate, or series, as this one. */
void res_history_finish(struct res_history *history);
size_t res_history_end(const struct res_history *history, size_t first, bool of_series);

/* res_history_name - the name under which a result is kept in a directory: WORKLOAD.MACHINE.DATE.json, where DATE is of UTC
 * (20261121T151558Z), so that names sort by workload, machine and date. What is no letter, digit, '_' or '+' becomes
 * '-', several of them one; several workloads are WORKLOAD+N, N being how many more. number: 1, or more where that name is taken (DATE-2). The
 * caller's to free. */
char *res_history_name(const struct res_result *result, unsigned number);

/* res_history_document - the whole for people, in the form of the style. The caller's to free. */
char *res_history_document(const struct res_history *history, const struct res_style *style);

#endif
