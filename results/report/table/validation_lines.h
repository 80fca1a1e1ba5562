/* validation_lines.h - the lines below the tables of a validation. Private to results/validation/.
 *
 * result, about, candidates: the result, its `validation`, its `candidates`; all borrowed. None is wider than RES_TABLE_COLUMNS
 * where words allow it. */
#ifndef MALLAB_RESULTS_REPORT_TABLE_VALIDATION_LINES_H
#define MALLAB_RESULTS_REPORT_TABLE_VALIDATION_LINES_H

#include <jansson.h>

#include "results/measure/base/support.h"

/* res_validation_notes - of whom times are, and which processes are compared. */
void res_validation_notes(struct res_text *text, const json_t *result, const json_t *about);

/* res_validation_small - whose heap is too small to judge. */
void res_validation_small(struct res_text *text, const json_t *candidates);

/* res_validation_disturbed - whom reading the mappings disturbed, and by how much. */
void res_validation_disturbed(struct res_text *text, const json_t *candidates);

/* res_validation_spread - how far real runs of one candidate are from each other. */
void res_validation_spread(struct res_text *text, const json_t *candidates);

/* res_validation_failures - which candidates failed, and why. */
void res_validation_failures(struct res_text *text, const json_t *candidates);

/* res_validation_bars - which bars are met, and what to decide by. */
void res_validation_bars(struct res_text *text, const json_t *result);

#endif
