/* strata.h - some of many workloads that stand for all: clusters by profile, and who is drawn in them.
 *
 *   features   of a workload's profile, so that their distances mean something: square roots of the shares of requests by
 *              size class and of objects by lifetime (two such vectors differ by the square root of 2 at most: Hellinger's
 *              distance), and logarithms of rate, peak and threads, of which one standard deviation of the fleet is 1
 *   medoid     the member of a cluster that has the least distance to all others of it, each counted by its share
 *   drawn      two in each cluster, without replacement, with chances as their shares: a chance is then known for each
 *              workload, and those drawn count for those that were not
 *
 * Drawn ones have an error of their own, which an interval over them tells; medoids have none, and stand for a fleet only as far
 * as profiles explain what is measured. Everything follows from the seed.
 * Source  L. Kaufman, P. J. Rousseeuw, Finding Groups in Data, 1990 (medoids); D. Arthur, S. Vassilvitskii, SODA 2007 (the
 *         first ones); D. G. Horvitz, D. J. Thompson, JASA 47, 1952 (drawing by unequal chances). */
#ifndef MALLAB_RESULTS_MEASURE_PLAN_STRATA_H
#define MALLAB_RESULTS_MEASURE_PLAN_STRATA_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "results/measure/run/trial.h"

#define RES_FEATURES_MIXED  15u /* size classes and lifetimes */
#define RES_FEATURES_SCALED 3u  /* rate, peak, threads */
#define RES_FEATURES        (RES_FEATURES_MIXED + RES_FEATURES_SCALED)

struct res_stratum_item {
    double features[RES_FEATURES];
    double share; /* > 0; all sum to 1 */
    double drawn; /* the share that it has among those drawn; 0: it is not */
};

/* res_features_of - of a profile (results/measure/experiment/profile.h; one that is unavailable has no mix), and what is known without one. */
void res_features_of(const json_t *profile, const struct res_workload *workload,
                     double ret_features[RES_FEATURES]);

/* res_features_scale - bring the scaled ones of all items to standard deviation 1. */
void res_features_scale(struct res_stratum_item *items, size_t count);

/* res_strata_cluster - `clusters` of them, at most count.
 * ret_cluster   of each item, from 0. ret_medoids: of each cluster, an item's number; room for `clusters`.
 * Returns       how many there are: fewer where items are alike. */
size_t res_strata_cluster(const struct res_stratum_item *items, size_t count, size_t clusters, uint64_t seed,
                          size_t *ret_cluster, size_t *ret_medoids);

/* res_strata_draw - `budget` items, two in each of budget/2 clusters: sets `drawn` of all. A budget of one or less than the
 * clusters' sum leaves some clusters with one.
 * res_strata_represent - the medoids of `budget` clusters instead, each for its cluster.
 * Both return how many items have a share. */
size_t res_strata_draw(struct res_stratum_item *items, size_t count, size_t budget, uint64_t seed);
size_t res_strata_represent(struct res_stratum_item *items, size_t count, size_t budget, uint64_t seed);

#endif
