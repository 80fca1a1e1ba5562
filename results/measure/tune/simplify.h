/* simplify.h - settings that do nothing, taken off a finalist again.
 *
 * The best of many combinations carries settings that were only lucky along with it. Who pastes them into a service has to
 * live with each. So each is left out in turn, beside the finalist in the same heats; while the best of these variants is not worse
 * than the finalist beyond one standard error, by time and by memory, it takes its place, and so on. A setting whose effect cannot be
 * seen within the noise goes; the confirmation could not have seen it either. Without time for that, the search's own estimates of
 * variants that it has tried decide. */
#ifndef MALLAB_RESULTS_MEASURE_TUNE_SIMPLIFY_H
#define MALLAB_RESULTS_MEASURE_TUNE_SIMPLIFY_H

#include "results/measure/tune/tune_round.h"

#define RES_TUNE_SIMPLIFY_ROUNDS 4u

/* res_tune_simplify - a finalist.
 * Returns  the point that takes its place: itself, or one with fewer settings; then the finalist's state is
 *          RES_TUNE_SIMPLIFIED. The default itself never does: a finalist keeps one setting at least. */
struct res_tune_point *res_tune_simplify(struct res_tune_course *course, struct res_tune_point *finalist);

#endif
