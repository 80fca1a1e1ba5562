/* result_history.h - results of many days beside each other: how each candidate moved over time.
 *
 *   series     results of one workload (by its host's label and its digest, never by name: lives.c), one machine (by
 *              name) and one baseline, in the order of their dates
 *   point      one candidate in one result
 *   level      consecutive points of a candidate of which none is distinguishable from the first
 *   moved      a point that is: it begins the next level
 *
 * A point is held against the first of its level as `mallab compare` holds two results against each other (res_compare_figure), and not
 * against the one before, so that what creeps is seen. What moves by less than RES_HISTORY_LEAST is not marked. Another memory limit or
 * number of threads begins a level unmarked. What is other than in the result before is named beside the figures.
 *
 * The document has the schema "mallab-history/1"; text, Markdown and HTML are made of the same struct. */
#ifndef MALLAB_RESULTS_REPORT_BESIDE_RESULT_HISTORY_H
#define MALLAB_RESULTS_REPORT_BESIDE_RESULT_HISTORY_H

#include "results/measure/result/result.h"
#include "results/report/grid/grid.h"

#define RES_HISTORY_SCHEMA "mallab-history/1"
#define RES_HISTORY_LEAST  0.01 /* part by which a figure must differ to be marked */

/* What one figure did since the first of the level. */
struct res_history_move {
    const char *word; /* verdict; NULL: it did not move */
    double change;    /* a ratio; NAN: there is nothing to hold it against */
    double resolves;  /* the least change that would have been marked; NAN: none */
};

/* A candidate in a result; its words are the result's. */
struct res_history_point {
    char *file;
    uint64_t created_unix_ns;
    const char *mallab_version, *baseline_version, *label, *commit, *version; /* label, commit: NULL: none */
    char *machine_text;
    bool failed, shares_minute; /* with the point before or behind it */
    uint64_t rounds;
    struct res_figures figures;
    struct res_history_move time, peak;
    char *library_change;     /* since the point before; NULL: none is known */
    struct res_texts changed; /* what is other than at the point before, which may explain a move */
};

struct res_history_candidate {
    const char *name;
    bool is_baseline;
    struct res_history_point *points;
    size_t point_count;
};

struct res_history_series {
    char *workload, *machine;
    const char *host, *workload_digest, *baseline;
    struct res_history_candidate *candidates;
    size_t candidate_count;
};

/* Zero-initialise; release with res_described_release. */
struct res_history {
    const char *schema, *mallab_version;
    uint64_t results;
    struct res_fleet_left *left_out; /* what could not be read */
    size_t left_out_count;
    struct res_history_series *series; /* by workload, machine and baseline */
    size_t series_count;
    struct res_history_source *sources; /* gathered, until the series are made of them */
    size_t source_count;
};

extern const struct res_described RES_HISTORY;

/* res_history_add - a judged result, borrowed until the history is released. file: its name, for people; copied.
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

/* res_history_date - of a point, with seconds where it shares its minute; "?": it has none.
 * res_history_document - the whole for people, in the form of the style. The caller's to free. */
const char *res_history_date(const struct res_history_point *point, char *room);
char *res_history_document(const struct res_history *history, const struct res_style *style);

#endif
