/* latency_figures.h - from the latency passes of an entry to its figures.
 *
 *   percentiles       medians over the passes; `max_ns` is the largest. Net of the clock's cost, not of the floor's
 *                     latency: percentiles of two distributions cannot be subtracted
 *   typical_ns        median over the passes of the mean time of such calls, less the same of the floor
 *   quiet_ns          least mean over the passes, less the same of the floor
 * Both not below 0; a group of calls that the floor lacks is not netted. */
#ifndef MALLAB_RESULTS_MEASURE_FIGURES_LATENCY_FIGURES_H
#define MALLAB_RESULTS_MEASURE_FIGURES_LATENCY_FIGURES_H

#include <jansson.h>

#include "results/measure/experiment/passes.h"

/* res_latency_object - the `latency` object of an entry (docs/results.md), with every pass in it. New reference; JSON
 * null when there was no pass.
 * floor  the floor's passes; NULL: nothing is subtracted, as for the floor itself. */
json_t *res_latency_object(const struct res_passes *passes, const struct res_passes *floor);

#endif
