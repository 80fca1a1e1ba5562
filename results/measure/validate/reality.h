/* reality.h - how far real runs are from each other, and whether a prediction lies within what they did.
 *
 *   range    least and highest of one figure over the real runs of one candidate. No interval: there are five runs or three,
 *            and what a sixth would do is not claimed
 *   within   at least two runs are known, and the prediction is in their range, ends included
 *   beyond   0 where it is within; else prediction over the nearest end of the range, less 1
 *
 * An error to the median (fidelity.h) says how far off a prediction is; the range says how much of that reality does itself.
 * All functions are pure. */
#ifndef MALLAB_RESULTS_MEASURE_VALIDATE_REALITY_H
#define MALLAB_RESULTS_MEASURE_VALIDATE_REALITY_H

#include <stddef.h>

#include "results/measure/validate/fidelity.h"

struct res_real_range {
    double low_bytes, high_bytes; /* NAN: of no run */
    size_t runs;
};

struct res_real_ranges {
    struct res_real_range peak, mean, end;
};

/* How far predictions are beyond the ranges; NAN: not known. */
struct res_real_beyond {
    double peak, mean, end;
};

/* res_real_range_of - of one figure's samples, a run each. One that is not finite is as if its run had not been. */
struct res_real_range res_real_range_of(const double *samples, size_t count);

/* res_real_range_beyond - see `beyond` above. NAN with fewer than two runs, or where range or prediction is not known. */
double res_real_range_beyond(const struct res_real_range *range, double predicted_bytes);

/* res_real_beyond_of - the same for every level. */
struct res_real_beyond res_real_beyond_of(const struct res_real_ranges *ranges,
                                          const struct res_levels *predicted);

#endif
