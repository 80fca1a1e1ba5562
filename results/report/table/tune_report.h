/* tune_report.h - a search for settings (tuned.h) for people. */
#ifndef MALLAB_RESULTS_REPORT_TABLE_TUNE_REPORT_H
#define MALLAB_RESULTS_REPORT_TABLE_TUNE_REPORT_H

#include "results/measure/result/result.h"
#include "results/report/table/table.h"

/* res_tune_text - table, settings to paste, advice and what it rests on; the caller's to free. NULL: the result is of no search. */
char *res_tune_text(const struct res_result *result, const struct res_style *style);

/* res_tune_markdown - the same for documents: a table, what to paste in a block of code, and the lines below as a list. */
char *res_tune_markdown(const struct res_result *result);

#endif
