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

/* ---- lives.c: names for people of workloads that stand side by side, made different where the workloads are.
 * What tells workloads apart is the key of label and digest, never a name: a thousand hosts that record one service all call its
 * workload the same. */

/* One of them. */
struct res_named {
    char **name;        /* its own, replaced where it is not its alone */
    const char *label;  /* of the host; NULL: none */
    const char *digest; /* of the file; NULL: not known */
};

/* res_key_compare - the order of two keys, 0 where they are the same; a label and a digest that are not there come first. */
int res_key_compare(const char *label, const char *digest, const char *other_label, const char *other_digest);

/* res_names_apart - where several with different keys have one name, put the label before it, "web1/x.wl", and where that is not
 * enough the digest's first eight letters behind it. Those with one key keep one name.
 * named  is sorted. */
void res_names_apart(struct res_named *named, size_t count);

#endif
