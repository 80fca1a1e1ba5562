/* tune_words.h - what a search found, in sentences: for the lines below its table. The caller's to free; not yet plain. */
#ifndef MALLAB_RESULTS_REPORT_TABLE_TUNE_WORDS_H
#define MALLAB_RESULTS_REPORT_TABLE_TUNE_WORDS_H

#include <stdbool.h>

#include "results/measure/result/tuned.h"

/* res_tune_advice - what to do, and the doubt. Claims nothing that the verdicts do not.
 * res_tune_marks - what the mark before a row means.
 * res_tune_tried - how many were tried, dropped and why.
 * res_tune_basis - on which rounds the figures rest, the noise, and the time spent. */
char *res_tune_advice(const struct res_result *result);
char *res_tune_marks(const struct res_tuned *tune);
char *res_tune_tried(const struct res_tuned *tune);
char *res_tune_basis(const struct res_result *result);

/* res_tune_is_bounded - whether a row of the front may be deployed: its time is shown to differ, which a reader can weigh, or by its
 * interval is at most RES_PARETO_MARGIN (pareto.h) more. "Same" alone says only that the noise hid what there is. True for the
 * default. Only such rows are printed to paste. */
bool res_tune_is_bounded(const struct res_tuned_row *row);

/* res_tune_preload - "LD_PRELOAD=..." of a row's library, as a shell takes it and fit for a terminal; "" where it has none.
 * The caller's to free. */
char *res_tune_preload(const struct res_tuned_row *row);

#endif
