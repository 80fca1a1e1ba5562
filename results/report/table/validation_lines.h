/* validation_lines.h - the lines below the tables of a validation.
 *
 * result, about, candidates: the result, its `validation`, its `candidates`; all borrowed. None is wider than RES_TABLE_COLUMNS
 * where words allow it. */
#ifndef MALLAB_RESULTS_REPORT_TABLE_VALIDATION_LINES_H
#define MALLAB_RESULTS_REPORT_TABLE_VALIDATION_LINES_H

#include <jansson.h>

#include "results/measure/base/support.h"

/* res_validation_notes - what the figures are of: times, processes, heaps that are too small to judge, what reading disturbed,
 * and how far real runs of one candidate are from each other. */
void res_validation_notes(struct res_text *text, const json_t *result);

/* res_validation_recordings - of how many recordings predictions are the median, and how far these are from each other. Nothing
 * where only one was asked for, and for results of earlier versions. */
void res_validation_recordings(struct res_text *text, const json_t *about, const json_t *candidates);

/* res_validation_failures - which candidates failed, and why. */
void res_validation_failures(struct res_text *text, const json_t *candidates);

/* res_validation_bars - which bars are met, and what to decide by. */
void res_validation_bars(struct res_text *text, const json_t *result);

#endif
