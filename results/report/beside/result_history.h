/* result_history.h - results of many days side by side: how each candidate moved over time.
 *
 *   series     results of one workload (by its host's label and its digest, never by name: names_apart.h), one machine (by
 *              name) and one baseline, in the order of their dates
 *   point      one candidate in one result
 *   level      consecutive points of a candidate of which none is distinguishable from the first
 *   moved      a point that is: it begins the next level
 *
 * Figures of different days do not compare, ratios to the baseline of the same result do: a slower machine slows both. So a
 * point is held against the first of its level by the quotient of their ratios. Both experiments have noise of their own: the
 * interval of the quotient is that of both, added as squares of logarithms, and so is the noise (their controls); then
 * res_judge decides as it does within one result. What moves by less than RES_HISTORY_LEAST is never marked: memory repeats
 * within 1 %, but its intervals may have no width at all. Other writing into new memory or another memory limit
 * begin a level unmarked. Against the first of a level, not the one before, so that what creeps is seen.
 *
 * The document has the schema "mallab-history/1" (keys: docs/notes/history.md); text is made of the same struct. */
#ifndef MALLAB_RESULTS_REPORT_BESIDE_RESULT_HISTORY_H
#define MALLAB_RESULTS_REPORT_BESIDE_RESULT_HISTORY_H

#include "results/measure/result/result.h"
#include "results/report/table/table.h"

#define RES_HISTORY_SCHEMA "mallab-history/1"
#define RES_HISTORY_LEAST  0.01 /* part by which a quotient of ratios must differ from 1 */

/* A candidate in a result. */
struct res_history_point {
    char *workload, *host, *machine, *baseline,
        *candidate; /* of the series, which tells them once; NULL when it is made */
    char *file;
    uint64_t created_unix_ns;
    char *mallab_version, *workload_digest, *machine_text, *baseline_version;
    double limit_bytes;
    char *limit_by;
    bool one_thread; /* of several */
    char *label, *commit;
    char *version, *settings, *library;
    struct res_build build, baseline_build; /* of the library, and of the baseline's */
    char *other_build; /* than at the point before, in words; NULL: it is not known to be */
    bool failed;
    double rounds, steady_ns_per_op;
    struct res_difference time, control_time;
    double peak_bytes, mean_bytes, resident_rounds;
    struct res_difference peak, control_peak;
    const char *time_moved, *peak_moved; /* verdict; NULL: it did not */
    double time_change, peak_change;
    double time_resolves, peak_resolves; /* the least change that would have been marked; NAN: none */
    struct res_texts changed; /* what is other than at the point before, which may explain a move */
};

struct res_history_candidate {
    char *name;
    bool is_baseline;
    struct res_history_point *points;
    size_t point_count;
};

struct res_history_series {
    char *workload, *host, *workload_digest, *machine, *machine_text, *baseline;
    struct res_history_candidate *candidates;
    size_t candidate_count;
};

struct res_history_left_out {
    char *file, *why;
};

/* Zero-initialise; release with res_described_release. */
struct res_history {
    const char *schema, *mallab_version;
    uint64_t results;
    struct res_history_left_out *left_out; /* what could not be read */
    size_t left_out_count;
    struct res_history_series *series; /* by workload, host, machine and baseline */
    size_t series_count;
    struct res_history_point *points; /* gathered, until the series are made of them */
    size_t point_count;
};

extern const struct res_described RES_HISTORY, RES_HISTORY_POINT;

/* res_history_add - take what is needed of a result. file: its name, for people; copied.
 * res_history_leave_out - a file that could not be read, and why; both copied. */
void res_history_add(struct res_history *history, const char *file, const struct res_result *result);
void res_history_leave_out(struct res_history *history, const char *file, const char *why);

/* res_history_finish - make the series. */
void res_history_finish(struct res_history *history);

/* res_history_name - the name under which a result is kept in a directory: WORKLOAD.MACHINE.DATE.json, where DATE is of UTC
 * (20261121T151558Z), so that names sort by workload, machine and date. What is no letter, digit, '_' or '+' becomes
 * '-', several of them one; several workloads are WORKLOAD+N, N being how many more. number: 1, or more where that name is taken (DATE-2). The
 * caller's to free. */
char *res_history_name(const struct res_result *result, unsigned number);

/* res_history_document - the same for people, in the form of the style. The caller's to free. */
char *res_history_document(const struct res_history *history, const struct res_style *style);

#endif
