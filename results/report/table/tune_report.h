/* tune_report.h - a search for settings (tuned.h) for people. */
#ifndef MALLAB_RESULTS_REPORT_TABLE_TUNE_REPORT_H
#define MALLAB_RESULTS_REPORT_TABLE_TUNE_REPORT_H

#include <stdbool.h>

#include "results/measure/result/result.h"
#include "results/measure/result/tuned.h"
#include "results/report/table/table.h"

/* res_tune_text - table, settings to paste, advice and what it rests on; the caller's to free. NULL: the result is of no search.
 * style  NULL: in Markdown, where what is to be pasted stands in a block of code, and the lines below are a list. */
char *res_tune_text(const struct res_result *result, const struct res_style *style);

/* res_tune_advice - what to do, and the doubt. Claims nothing that the verdicts do not.
 * res_tune_tried - how many were tried, dropped and why.
 * res_tune_basis - on which rounds the figures rest, the noise, and the time spent.
 * Sentences, the caller's to free; not yet plain. */
char *res_tune_advice(const struct res_result *result);
char *res_tune_tried(const struct res_tuned *tune);
char *res_tune_basis(const struct res_result *result);

/* res_tune_is_bounded - whether a row of the front may be deployed: its time is shown to differ, which a reader can weigh, or by its
 * interval is at most RES_PARETO_MARGIN (pareto.h) more. "Same" alone says only that the noise hid what there is. True for the
 * default. Only such rows are printed to paste. */
bool res_tune_is_bounded(const struct res_tuned_row *row);

#endif
