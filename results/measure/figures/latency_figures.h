/* latency_figures.h - from the latency passes of an entry to its figures.
 *
 *   percentiles       medians over the passes; `max_ns` is the largest. Net of the clock's cost, not of the floor's
 *                     latency: percentiles of two distributions cannot be subtracted
 *   typical_ns        median over the passes of the mean time of such calls, less the same of the floor
 *   quiet_ns          least mean over the passes, less the same of the floor
 * Both not below 0; a group of calls that the floor lacks is not netted. */
#ifndef MALLAB_RESULTS_MEASURE_FIGURES_LATENCY_FIGURES_H
#define MALLAB_RESULTS_MEASURE_FIGURES_LATENCY_FIGURES_H

#include "results/measure/result/result.h"

/* res_latency_of - the figures, with every pass in them. To be freed (and released) as part of a result; NULL when there was no
 * pass.
 * passes  array of what the runs printed; NULL: there was none
 * failed  why a pass failed, one line; NULL: none did
 * floor   the floor's passes; NULL: nothing is subtracted, as for the floor itself. */
struct res_latency_figures *res_latency_of(const json_t *passes, const char *failed, const json_t *floor);

#endif
