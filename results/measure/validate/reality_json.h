/* reality_json.h - what real runs did (reality.h) as JSON. Keys: docs/results.md. */
#ifndef MALLAB_RESULTS_MEASURE_VALIDATE_REALITY_JSON_H
#define MALLAB_RESULTS_MEASURE_VALIDATE_REALITY_JSON_H

#include <jansson.h>

#include "results/measure/validate/validation.h"

/* res_reality_ranges - of one candidate: `real.ranges`. The caller's. */
json_t *res_reality_ranges(const struct res_validation_figures *figures);

/* res_reality_beyond - of one candidate: `error.beyond_reality`. The caller's. */
json_t *res_reality_beyond(const struct res_validation_figures *figures);

/* res_reality_within - how many predictions of each figure lie within what real runs did: `validation.within_reality`. */
json_t *res_reality_within(const struct res_validation_figures *figures, size_t count);

#endif
