/* screen.h - what the samples of a search say of its points: estimates, their noise, who is dominated, who ranks before whom.
 *
 *   estimate   of the logarithm of a ratio to the default: the median of its samples; -0.05 is about 5 % less
 *   noise      standard deviation of one such sample, pooled: over what all points' samples differ within a point, and over
 *              the default's own successive runs. A point alone has two or three samples, too few to tell
 *   interval   estimate -+ 2 noise / sqrt(samples)
 *   dominated  another point's (or the default's) interval lies below the point's by one figure, and by the other not above
 *
 * Nothing here is a verdict: the best of many tries looks better than it is (judge.h). */
#ifndef MALLAB_RESULTS_MEASURE_TUNE_SCREEN_H
#define MALLAB_RESULTS_MEASURE_TUNE_SCREEN_H

#include "results/measure/tune/space.h"

#define RES_TUNE_WORTH 0.01    /* a share of time or memory below which nobody sets a variable */
#define RES_TUNE_BYTES 65536.0 /* likewise of memory; less is some pages */

/* The default's own samples, in the order in which they were taken: logarithms of figures. */
struct res_tune_default {
    double *times, *memories;
    size_t time_count, memory_count;
};

struct res_tune_noise {
    double time, memory; /* INFINITY while nothing is known */
};

/* res_tune_noise_of - pooled; over all points that have samples. */
struct res_tune_noise res_tune_noise_of(const struct res_tune_space *space,
                                        const struct res_tune_default *reference);

/* res_tune_time_of / res_tune_memory_of - estimates; 0 (as the default) without samples.
 * res_tune_error - of an estimate of that many samples: noise / sqrt(count); INFINITY without. */
double res_tune_time_of(const struct res_tune_point *point);
double res_tune_memory_of(const struct res_tune_point *point);
double res_tune_error(double noise, size_t count);

/* res_tune_drop_dominated - points that are alive to RES_TUNE_DOMINATED. */
void res_tune_drop_dominated(const struct res_tune_space *space, const struct res_tune_noise *noise);

/* res_tune_rank - points by estimates, the best first: by layers of the front (nothing in the first layer is beaten by time and
 * memory at once, the second is the first without the first, ...); in a layer its fastest, its smallest, then by the sum.
 * points  count of them, reordered. */
void res_tune_rank(struct res_tune_point **points, size_t count);

/* res_tune_points - those from one on in this state. Returns a list, to be freed; its length in ret_count. */
struct res_tune_point **res_tune_points(const struct res_tune_space *space, size_t from,
                                        enum res_tune_state state, size_t *ret_count);

/* res_tune_simplest - of the points that have a part of these settings and no other, were tried, and are worse neither beyond
 * the noise nor by RES_TUNE_WORTH, the one with the fewest settings; the point itself when there is none. It leaves out what
 * is only lucky along with a setting that helps: who pastes settings into a service has to live with each. */
struct res_tune_point *res_tune_simplest(const struct res_tune_space *space, struct res_tune_point *point,
                                         const struct res_tune_noise *noise);

/* res_tune_combine - add combined points to the space, for each base:
 *   all that save time together, all that save memory together, all that save one without costing the other; then pairs of the
 *   best, those first that promise most.
 * A single promises when its estimate is more than one standard error, and more than RES_TUNE_WORTH, below the default's (or,
 * of other bases, below that base's own). Of each setting the fastest and the smallest value take part.
 * Settings that only help together, and not one of them alone, are not found: that would take a try of every pair.
 * Returns  how many were added. */
size_t res_tune_combine(struct res_tune_space *space, const struct res_tune_noise *noise);

#endif
