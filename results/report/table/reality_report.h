/* reality_report.h - what real runs did (reality.h) as JSON, and that JSON for people. Keys: docs/results.md. */
#ifndef MALLAB_RESULTS_REPORT_TABLE_REALITY_REPORT_H
#define MALLAB_RESULTS_REPORT_TABLE_REALITY_REPORT_H

#include <jansson.h>

#include "results/measure/base/support.h"
#include "results/measure/validate/validation.h"

/* res_reality_ranges - of one candidate: `real.ranges`. The caller's. */
json_t *res_reality_ranges(const struct res_validation_figures *figures);

/* res_reality_beyond - of one candidate: `error.beyond_reality`. The caller's. */
json_t *res_reality_beyond(const struct res_validation_figures *figures);

/* res_reality_within - how many predictions of each figure lie within what real runs did: `validation.within_reality`. */
json_t *res_reality_within(const struct res_validation_figures *figures, size_t count);

/* res_reality_text - the ranges of all candidates, and which predictions lie within, as a table. Nothing where a result of an
 * earlier version has none.
 * candidates  of the result. */
void res_reality_text(struct res_text *text, const json_t *candidates);

/* res_reality_words - `12 of 16 predictions`, of the figures that the table shows, or NULL where nothing is known.
 * within  `validation.within_reality`.
 * The caller's to free. */
char *res_reality_words(const json_t *within);

#endif
