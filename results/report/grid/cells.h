/* cells.h - single figures of a result (result.h) as text, as table and notes print them.
 *
 * Strings belong to the caller. A figure that is not there is NAN as a number and "-" as text. */
#ifndef MALLAB_RESULTS_REPORT_GRID_CELLS_H
#define MALLAB_RESULTS_REPORT_GRID_CELLS_H

#include "results/measure/base/fields.h"
#include "results/measure/base/figure_words.h"
#include "results/measure/base/json_values.h"
#include "results/measure/statistics/statistics.h"
#include "results/report/grid/grid.h"

/* res_verdict_shown - the verdict on a ratio of time with its interval as it is shown. The verdict `same` says only that no
 * difference was shown: it is called so where the range leaves out every difference of more than RES_CELL_SAME, else RES_CELL_NOT_SHOWN,
 * as undecided.
 * Returns  a word of RES_TIME_VERDICTS, or that one. The JSON keeps `same`. */
#define RES_CELL_NOT_SHOWN "not shown"
#define RES_CELL_SAME      0.05 /* of a ratio */
const char *res_verdict_shown(enum res_verdict verdict, double low, double high);

/* res_cell_role - what a verdict says: faster, less and within are good; slower, more and over bad; undecided and not shown doubt.
 * res_cell_role_large - likewise; none where a difference is shown and too small to act on (RES_COLOUR_LEAST). */
enum res_role res_cell_role(const char *verdict);
enum res_role res_cell_role_large(const char *verdict, double ratio);

#endif
