/* space.h - what a search for settings may try: points, each a candidate with values for some of its settings.
 *
 *   base      a candidate as it is, with the settings that its file declares worth trying ([ranges], ranges.h); the first
 *             base is the default that everything is set against
 *   point     a base with values chosen for some settings. A base without any is a point too, but the first: that is
 *             not searched, it runs beside the points
 *   single    a point with one setting: one factor at a time from the base
 *   combined  with several, made of singles that promised something (screen.h)
 *
 * Points are named as in -a (variables.h): jemalloc+narenas=1+tcache=false. */
#ifndef MALLAB_RESULTS_MEASURE_TUNE_SPACE_H
#define MALLAB_RESULTS_MEASURE_TUNE_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "results/measure/base/random.h"
#include "results/measure/candidate/candidates.h"
#include "results/measure/result/tuned.h"

#define RES_TUNE_SETTINGS_MAX 5u   /* of one point */
#define RES_TUNE_POINTS_MAX   200u /* with the files' own candidates below RES_CANDIDATES_MAX */

/* A value for a setting: base->ranges[range].values[value]. */
struct res_tune_choice {
    size_t range, value;
};

struct res_tune_point {
    size_t base; /* index into the space's bases */
    struct res_tune_choice choices[RES_TUNE_SETTINGS_MAX];
    size_t choice_count;
    char *name;
    enum res_tune_state state;
    char *why;        /* it failed; NULL */
    double *times;    /* logarithms of the paired ratios to the default, one for each round of the search */
    double *memories; /* likewise, of the passes for memory */
    size_t time_count, memory_count;
    const struct res_candidate *candidate; /* for tune_result.c; NULL before its first run */
};

struct res_tune_space {
    const struct res_candidate *const *bases; /* borrowed */
    size_t base_count;
    struct res_tune_point **points; /* each stays where it is until the release */
    size_t point_count;
    size_t declared; /* singles that the files declare; more than there are points when they are too many */
};

/* res_tune_space_init - all singles, and the other bases as they are.
 * bases   borrowed; the first is the default.
 * random  draws the order: of each setting the ends of its range come first, then its middle, then what lies between, so that
 *         a short budget sees every setting. */
void res_tune_space_init(struct res_tune_space *space, const struct res_candidate *const *bases,
                         size_t base_count, struct res_random *random);

/* res_tune_space_add - one more point.
 * choices  are put into the order of the ranges; no range twice.
 * Returns  NULL when there is such a point, when its name would be too long, or when there are too many. */
struct res_tune_point *res_tune_space_add(struct res_tune_space *space, size_t base,
                                          const struct res_tune_choice *choices, size_t choice_count);

void res_tune_space_release(struct res_tune_space *space);

/* res_tune_count - points in a state. */
size_t res_tune_count(const struct res_tune_space *space, enum res_tune_state state);

#endif
