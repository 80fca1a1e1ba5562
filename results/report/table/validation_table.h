/* validation_table.h - a validation for people. */
#ifndef MALLAB_RESULTS_REPORT_TABLE_VALIDATION_TABLE_H
#define MALLAB_RESULTS_REPORT_TABLE_VALIDATION_TABLE_H

#include "footprint/base/support.h"
#include "results/measure/result/result.h"
#include "results/report/grid/lines.h"

/* res_validation_text - tables, bars and a line in words; the caller's to free. NULL: the result
 * holds no validation. */
char *res_validation_text(const struct res_result *result, const struct res_style *style);

/* res_validation_summary - how far predictions are off, and what to make of it; the caller's to free. Of a result that
 * holds a validation. */
char *res_validation_summary(const struct res_result *result);

#endif
