/* latency.h - percentiles of single calls, medians over the latency passes, which have them.
 *
 * Net of the clock's cost, not of the floor's latency: percentiles of two distributions cannot be subtracted. `max_ns` is the largest of all.
 * Against the baseline's they are judged with the others (figures.h). */
#ifndef MALLAB_RESULTS_MEASURE_FIGURES_LATENCY_H
#define MALLAB_RESULTS_MEASURE_FIGURES_LATENCY_H

#include <jansson.h>

#include "results/measure/result/result.h"

/* res_latency_read - the passes of an entry, without figures. To be freed (and released) as part of a result; NULL when there was none.
 * passes  array of what the runs printed; NULL: there was none
 * failed  why a pass failed, one line; NULL: none did */
struct res_latency_figures *res_latency_read(const json_t *passes, const char *failed);

/* res_latency_measure - the figures of an entry that has passes, anew.
 * floor  what is subtracted of means; NULL: nothing */
void res_latency_measure(struct res_result_entry *entry, const struct res_result_entry *floor);

#endif
