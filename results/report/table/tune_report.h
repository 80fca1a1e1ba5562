/* tune_report.h - a search for settings as JSON, and that JSON for people.
 *
 * Its result is an experiment's (result_json.h: the confirmation, with every sample; no workloads where none was made) with one key
 * more, `tune`: what was tried, with its samples, and the front. So `mallab report` and all other readers of results take it.
 * Keys: docs/results.md. */
#ifndef MALLAB_RESULTS_REPORT_TABLE_TUNE_REPORT_H
#define MALLAB_RESULTS_REPORT_TABLE_TUNE_REPORT_H

#include "results/measure/experiment/result_making.h"
#include "results/measure/result/result.h"
#include "results/measure/tune/replays.h"
#include "results/report/table/table.h"

/* res_tune_result - the whole, in `tune` of a result. Release with res_result_release.
 * search   ended confirmed or stopped.
 * missing  as in res_result_of_experiment. */
void res_tune_result(const struct res_tune_search *search, struct res_tune_replays *replays,
                     const struct res_missing *missing, size_t missing_count, struct res_result *ret_result);

/* res_tune_check - whether the key of a result can be shown. NULL: it can, or is not there; else the defect. */
const char *res_tune_check(const json_t *result);

/* res_tune_text - table, settings to paste, advice and what it rests on; the caller's to free. NULL: the result is of no search. */
char *res_tune_text(const struct res_result *result, const struct res_style *style);

/* res_tune_markdown - the same for documents: a table, what to paste in a block of code, and the lines below as a list. */
char *res_tune_markdown(const struct res_result *result);

/* res_tune_paste - a candidate's settings as words for a shell: "MALLOC_CONF=narenas:1", several with blanks between, quoted where
 * a shell needs it; "" without settings. The caller's to free. */
char *res_tune_paste(const struct res_candidate *candidate);

#endif
