/* statistics.h - figures computed from the runs of an experiment.
 *
 *   sample    one run's figure; samples of one round belong together (same minutes, same machine state)
 *   ratio     candidate over baseline in the same round; 1.02 is 2 % more than the baseline
 *   interval  95 %, of a ratio: Student's, of its logarithm (statistics.h)
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
#define RES_NO_LOGARITHM ((struct res_logarithm){NAN, NAN, 0})

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

/* res_by_value - compare two doubles, for qsort. */
int res_by_value(const void *left, const void *right);

/* res_quantile - the value below which a part of the samples lies, 0 <= part <= 1, count > 0.
 * Source  R. J. Hyndman, Y. Fan, "Sample quantiles in statistical packages", The American Statistician 50 (1996),
 *         definition 7: linear between the order statistics around (count - 1) * part. */
double res_quantile(const double *samples, size_t count, double part);

/* res_median - res_quantile at one half: the middle sample, or the mean of the middle two. */
double res_median(const double *samples, size_t count);

/* res_student_quantile - the 97.5 % quantile of Student's t; freedom > 0. Above 30 degrees of freedom within 0.0003, by
 * the first terms of its expansion around the normal distribution's.
 * Source  M. Abramowitz, I. A. Stegun, "Handbook of mathematical functions" (1964), 26.7.5. */
double res_student_quantile(size_t freedom);

/* res_trimmed_logarithm - the logarithm of pairs' ratios: a fifth is left out at each end, so that runs which something disturbed count for
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

/* The figures that a verdict is made from. */
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

/* res_judge_many - the verdict that is left of one of many comparisons at once: a difference that their number makes likely is `same` where the
 * interval leaves out differences of `excluded`, else undecided. p_corrected: by res_holm; NAN: there was no test. */
enum res_verdict res_judge_many(enum res_verdict verdict, struct res_interval interval, double excluded,
                                double p_corrected);

/* ---- statistics.c: what follows from a logarithm and its error: interval, p-values at a limit; and of many comparisons.
 *   logarithm  of a ratio, made by one of four procedures: steady.c (time), res_trimmed_logarithm (pairs of passes or rounds),
 *              res_logarithms_difference (two experiments), statistics.c (hosts). Everything else follows from it here
 *   tails      one-sided, at a limit (struct res_tails): whether the ratio is above it, and whether it is not
 *   many       of m comparisons with nothing to find one in 20 would show something: res_holm
 *
 * A logarithm without error leaves no doubt; -INFINITY is the ratio 0. Pure. */

/* res_holm - p-values of `count` comparisons that are made at once, in place: each as large as it has to be so that those below a
 * level are all chance in no more than that share of the families, whatever depends on what. NAN and what is above 1 are left out.
 * Source  S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6 (1979). */
void res_holm(double *p_values, size_t count);

/* res_logarithms_difference - the difference of two logarithms that were measured apart: freedom by Welch and Satterthwaite.
 * Source  B. L. Welch, "The generalization of 'Student's' problem when several different population variances are involved", Biometrika 34 (1947) */
struct res_logarithm res_logarithms_difference(struct res_logarithm one, struct res_logarithm two);

/* res_logarithm_estimate - the ratio with Student's interval; p_value is of whether it is 1. The interval is NAN where there is no error.
 * res_logarithm_tails - Student's one-sided p-values at a limit of the ratio, which is 0 or more; {1, 1} where there is no error. */
struct res_estimate res_logarithm_estimate(struct res_logarithm logarithm);
/* res_logarithm_told - the logarithm back from a ratio with Student's interval, of so many degrees of freedom > 0. */
struct res_logarithm res_logarithm_told(double ratio, struct res_interval interval, size_t freedom);
struct res_tails res_logarithm_tails(struct res_logarithm logarithm, double limit);

/* ---- statistics.c: what many workloads say together: means over them.
 *   y       the logarithm of a workload's ratio; v the square of its standard error
 *   w       its share, not negative; shares need not add up to 1
 *   n_eff   how many workloads of equal share say as much: (sum w)^2 / sum w^2
 *
 * The mean is weighted by share, not by precision: a host does not count more because its node was quiet. Its interval comes from the spread
 * between workloads, which holds the noise of each already. Below some 30 workloads it does not cover a rare class of
 * others: none may be among them (docs/notes/statistics.md has the coverage).
 *
 * All functions are pure: arrays are of `count` finite numbers, and the order of sums is that of the arrays.
 * Sources  n_eff: L. Kish, "Survey sampling" (1965), section 11.7 */

/* res_many_effective - n_eff; 0 where no share is above 0. */
double res_many_effective(const double *shares, size_t count);

/* res_many_mean - the share-weighted mean; its squared error is n_eff / (n_eff - 1) * sum w^2 (y - mean)^2, w adding up to 1, with n_eff - 1
 * degrees of freedom. Of equal shares that is Student's. Error NAN with n_eff of 1, value NAN without shares. */
struct res_logarithm res_many_mean(const double *values, const double *shares, size_t count);

/* ---- steady.c: the time of a workload with what disturbs the machine left out, and how sure a ratio of two such times is.
 *   batch    a fixed piece of the op sequence, some hundred microseconds long: the same ops in every run. A run without batches is one
 *   part     of the rounds, the fastest: a quarter; of a ratio a half, quarter, eighth or sixteenth, the one whose interval is the
 *            narrowest (parts of less than 4 rounds are not tried, but for the quarter). A machine that is fast now and then is met in its fast
 *            state by few rounds; one that drifts wants many
 *   steady   for each batch the mean of the fastest part of the rounds, added up over the batches
 *   floor    what the harness takes itself, in the same sum: subtracted of all sides of a ratio
 *   share    of a round in a steady time: over the batches the sum of q - (q - t)+ / part, t being the round's time and q the slowest of
 *            the part. Their mean over the rounds is the steady time, so that each round gives one number
 *
 * A ratio is that of other to base, or to the geometric mean of base and control, which are the same allocator: half of the baseline's own
 * error goes out. The logarithm's error is that of the mean of what the rounds say of it: (share of other - mean) / time, less the same of base
 * and control. So what a round did to all of them goes out, and nothing inside a round is taken for independent. Degrees of freedom: one less
 * than the rounds that the fastest parts really rest on (Kish's effective number); the variance is divided by the rounds less 1 / part, as that of a
 * trimmed mean is (Yuen). One test: Student's, for verdicts and limits alike.
 *
 * Sources: expectation of a tail by its quantile: R. T. Rockafellar, S. Uryasev, "Optimization of conditional value-at-risk", Journal of Risk 2
 * (2000); errors by each sample's influence: F. R. Hampel, "The influence curve and its role in robust estimation", JASA 69 (1974); effective
 * number: L. Kish, "Survey sampling" (1965), section 11.7; trimmed means: K. K. Yuen, Biometrika 61 (1974).
 *
 * All functions are pure. Times are in ns. */

/* The batch times of one entry. rounds[r] points at batch_count times. */
struct res_batches {
    const uint64_t *const *rounds;
    size_t round_count, batch_count;
    const struct res_steady *steady; /* of it, where several ratios share it; NULL: each makes its own */
};

/* res_steady_of - steady times of all rounds, by each part that they are enough for; NULL where there are none. Freed by res_steady_free. */
struct res_steady *res_steady_of(const struct res_batches *batches);
void res_steady_free(struct res_steady *steady);

/* The two sides of a ratio. Base's rounds belong to other's, those of as many as all have; NULL or without rounds: there is none. */
struct res_steady_sides {
    const struct res_batches *other, *base;
    const struct res_batches *control; /* the base once more; may be NULL */
    const struct res_batches *floor;   /* its rounds are as many as it has; may be NULL */
};

/* res_steady_net_ns - the steady time of the whole less the floor's, where that has the same batches; NAN where nothing is left, or there are no rounds.
 * floor may be NULL. */
double res_steady_net_ns(const struct res_batches *batches, const struct res_batches *floor);

/* res_steady_logarithm - the logarithm of the net ratio, or of other's own net time where base is NULL; with its error. Value NAN where a side has no rounds, batches differ, or
 * a time is not above its floor. Intervals, p-values and tests at a limit follow from it: statistics.h. */
struct res_logarithm res_steady_logarithm(const struct res_steady_sides *sides);

#endif
