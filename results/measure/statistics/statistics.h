/* statistics.h - what is computed from the runs of an experiment, and how.
 *
 *   sample    one run's figure; samples of one round belong together (same minutes, same machine state)
 *   ratio     candidate over baseline in the same round; 1.02 is 2 % more than the baseline
 *   interval  95 %, of a ratio: Student's, of its logarithm (significance.h)
 *
 * All functions are pure: same samples, same figures. Nothing prints. Samples are finite doubles. */
#ifndef MALLAB_RESULTS_MEASURE_STATISTICS_STATISTICS_H
#define MALLAB_RESULTS_MEASURE_STATISTICS_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RES_ROUNDS_FOR_VERDICT 8u /* DESIGN.md, section 5: fewer rounds print no verdict */
/* Below, an interval of rounds is shown to nobody: a quarter of them is not two. */
#define RES_ROUNDS_FOR_INTERVAL 6u
#define RES_ROUNDS_FOR_MEMORY   3u /* memory repeats within some per cent: its interval needs no more */
#define RES_MEMORY_WORTH                                                                                     \
    0.001 /* of a ratio of memory: it repeats so well that a single page would be a verdict, printed as +0.0 % */
#define RES_COLOUR_LEAST                                                                                     \
    0.01 /* part by which a shown difference has to differ from 1 for a colour: less is known, and no reason to act (docs/notes/statistics.md) */

struct res_interval {
    double low;
    double high;
};

/* A figure or ratio with its 95 % interval; all NAN where it cannot be had. */
struct res_estimate {
    double value;
    struct res_interval interval;
    double p_value; /* of a test whether a ratio is 1; 0 where there is no test beside the interval */
};

/* The logarithm of a ratio with its standard error, which itself is known with so many degrees of freedom; value NAN where there is no ratio. */
struct res_logarithm {
    double value, error, freedom;
};

/* One-sided p-values at a limit: how often chance alone would lead as far above it as the figure lies, were it not above; and as far below. 1 where
 * there is no test. */
struct res_tails {
    double above, below;
};

enum res_verdict {
    RES_UNDECIDED = 0,
    RES_SAME = 1,
    RES_LESS = 2, /* of time: faster */
    RES_MORE = 3, /* of time: slower */
};

/* The words of the JSON by verdict, NULL at the end: "undecided", "same", "faster", "slower"; of memory "less" and "more". */
extern const char *const RES_TIME_VERDICTS[], *const RES_MEMORY_VERDICTS[];

/* res_by_value - for qsort, of doubles. */
int res_by_value(const void *left, const void *right);

/* res_quantile - the value below which a part of the samples lies, 0 <= part <= 1, count > 0.
 * Source  R. J. Hyndman, Y. Fan, "Sample quantiles in statistical packages", The American Statistician 50 (1996),
 *         definition 7: linear between the order statistics around (count - 1) * part. */
double res_quantile(const double *samples, size_t count, double part);

/* res_median - res_quantile at one half: the middle sample, or the mean of the middle two. */
double res_median(const double *samples, size_t count);

/* res_median_deviation - median of the distances from the median, not scaled to a normal distribution's sigma.
 * Source  F. R. Hampel, "The influence curve and its role in robust estimation", JASA 69 (1974). */
double res_median_deviation(const double *samples, size_t count);

/* res_student_quantile - the 97.5 % quantile of Student's t; freedom > 0. Above 30 degrees of freedom within 0.0003, by
 * the first terms of its expansion around the normal distribution's.
 * Source  M. Abramowitz, I. A. Stegun, "Handbook of mathematical functions" (1964), 26.7.5. */
double res_student_quantile(size_t freedom);

/* res_trimmed_logarithm - of ratios of pairs: of their logarithms a fifth is left out at each end, so that runs which something disturbed count for
 * nothing; what is left out widens the error. Under 5 ratios nothing is left out, and it is Student's of their mean.
 * ratios    0 and more. Where all that are kept are 0 the logarithm is -INFINITY, without error
 * Returns   value NAN without ratios, where one is negative or no number, and where only some that are kept are 0; error NAN of one.
 * Source    K. K. Yuen, "The two-sample trimmed t for unequal population variances", Biometrika 61 (1974): the trimmed mean of
 *           one sample with the standard error of its winsorized variance; W. S. Gosset ("Student"), "The probable error of a mean",
 *           Biometrika 6 (1908). */
struct res_logarithm res_trimmed_logarithm(const double *ratios, size_t count);

/* res_noise - what two measurements of the same differ by: an interval around 1 that holds `aa` (an A/A ratio with its interval) in both directions,
 * since noise of +3 % would as well have been -3 %. {1, 1} when there is none. */
struct res_interval res_noise(const struct res_interval *aa);

/* What a verdict is made from. */
struct res_comparison {
    double ratio;                 /* to the baseline */
    struct res_interval interval; /* of that ratio */
    size_t rounds;
    size_t rounds_needed; /* for a verdict; 0: RES_ROUNDS_FOR_VERDICT */
    double worth;         /* of the ratio: less is `same` whatever is sure of it; 0: everything counts */
    double least;    /* `less` and `more` take an interval that leaves out all below; 0: everything counts */
    double excluded; /* `same` takes an interval that leaves out differences of so much; 0: that 1 is in it */
    bool has_control; /* control is set: the baseline against itself */
    struct res_interval control;
};

#define RES_RESOLVE                                                                                          \
    0.03 /* of the time in malloc: the least difference that is looked for, unless another is asked for */
static inline double res_resolve(double asked)
{
    return asked > 0 ? asked : RES_RESOLVE;
}

#define RES_TIME_LEAST                                                                                       \
    0.005 /* a smaller difference of time is no verdict: where a library happens to lie makes as much */

#define RES_P_VALUE_MOST 0.05 /* with more a difference may be chance */

/* res_judge - the verdict.
 * undecided  under the rounds needed, or the figures are not numbers; or the interval reaches to 1 or `least`, and to differences that matter
 * same       the interval reaches to 1 and to none of those; or the ratio is nearer to 1 than what is worth a verdict, or inside the control's interval
 *            taken in both directions (noise of +3 % in A/A would as well have been -3 %)
 * less, more  otherwise, ratio below or above 1 */
enum res_verdict res_judge(const struct res_comparison *comparison);

#endif
