/* lives.h - a figure of several processes over recorded time, summed while they live.
 *
 *   life   of one process: the figure at moments; it changes evenly between two of them, and is 0 before the first and
 *          behind the last, as the process is not there
 *
 * Of lives without any recorded time nobody knows which met: all of them are taken to live together. */
#ifndef MALLAB_RESULTS_MEASURE_BASE_LIVES_H
#define MALLAB_RESULTS_MEASURE_BASE_LIVES_H

#include <stdbool.h>
#include <stddef.h>

struct res_life {
    double *time_ns, *value; /* by rising time */
    size_t count;
};

/* res_lives_begin / res_lives_end - the first and the last moment of all; 0 where there is none. */
double res_lives_begin(const struct res_life *lives, size_t count);
double res_lives_end(const struct res_life *lives, size_t count);

/* res_lives_at - the sum at a moment. */
double res_lives_at(const struct res_life *lives, size_t count, double time_ns);

/* res_lives_peak - the highest sum, which stands at a moment of one of them; the first of equal ones.
 * ret_time_ns  when that is; may be NULL. */
double res_lives_peak(const struct res_life *lives, size_t count, double *ret_time_ns);

/* res_life_raise - make the highest moment at least as high as the peak, which may have been between two of them. */
void res_life_raise(struct res_life *life, double peak);

/* res_life_covers - whether the process is there at a moment. */
bool res_life_covers(const struct res_life *life, double time_ns);

/* res_lives_last - whether a process is there at the end, or ended within the last hundredth of the time: what is stopped
 * as a whole ends one after the other. */
bool res_lives_last(const struct res_life *lives, size_t count, const struct res_life *life);

#endif
