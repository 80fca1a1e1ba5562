/* latency_verdicts.h - percentiles of single calls against the baseline's, with the control's as noise.
 *
 * Of the latency passes, of which there are three: each pass holds every entry once, so that ratios are paired, and the interval is
 * Student's (metric.h). A verdict takes RES_ROUNDS_OF_PASSES of both sides and of the control: without noise of its own there is none. */
#ifndef MALLAB_RESULTS_MEASURE_FIGURES_LATENCY_VERDICTS_H
#define MALLAB_RESULTS_MEASURE_FIGURES_LATENCY_VERDICTS_H

#include <jansson.h>
#include <stdint.h>

/* res_latency_verdicts_add - to the `latency` of each candidate of a workload's JSON, and of its control, p99_ratio, _low and _high and the verdict,
 * likewise of p99.9 (docs/results.md). The control's verdict is against no noise. Objects without figures are left as they are; the
 * baseline's gets none. */
void res_latency_verdicts_add(json_t *workload, uint64_t seed);

#endif
