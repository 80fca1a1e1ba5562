/* strata.c - see strata.h. */
#include "results/measure/plan/strata.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/measure/base/random.h"

#define PASSES_MAX 50u /* of moving medoids: they settle in about ten */
#define CANDIDATES                                                                                           \
    1000u /* of a cluster that may become its medoid: the work grows with their number times the members */
#define SIZE_BINS     8u
#define LIFETIME_BINS 7u

/* ---- features -------------------------------------------------------------------------------- */

_Static_assert(SIZE_BINS + LIFETIME_BINS == RES_FEATURES_MIXED, "each bin is a feature");

/* Upper bounds of classes that are told apart: bytes, nanoseconds. What is larger is in the last one. */
static const double SIZE_BOUNDS[SIZE_BINS - 1] = {16, 32, 64, 128, 512, 4096, 131072};
static const double LIFETIME_BOUNDS[LIFETIME_BINS - 1] = {1024, 16384, 262144, 4194304, 67108864, 1073741824};

/* Adds the square root of each bin's share of what the classes count. */
static void take_mix(const json_t *classes, const char *bound_key, const char *count_key,
                     const double *bounds, size_t bins, double *ret_features)
{
    size_t i;
    json_t *class;
    double sum = 0;
    json_array_foreach(classes, i, class)
    {
        const double bound = json_number_value(json_object_get(class, bound_key));
        const double count = fmax(0, json_number_value(json_object_get(class, count_key)));
        size_t bin = 0;
        while (bin < bins - 1 && bound > bounds[bin])
            bin++;
        ret_features[bin] += count;
        sum += count;
    }
    for (size_t bin = 0; bin < bins; bin++)
        ret_features[bin] = sum > 0 ? sqrt(ret_features[bin] / sum) : 0;
}

void res_features_of(const json_t *profile, const struct res_workload *workload,
                     double ret_features[RES_FEATURES])
{
    double *scaled = ret_features + RES_FEATURES_MIXED;
    const double seconds = workload->duration_ns > 0 ? (double)workload->duration_ns / 1e9 : 1;
    memset(ret_features, 0, RES_FEATURES * sizeof *ret_features);
    take_mix(json_object_get(profile, "size_classes"), "size_max_bytes", "requests", SIZE_BOUNDS, SIZE_BINS,
             ret_features);
    take_mix(json_object_get(profile, "lifetimes"), "lifetime_max_ns", "objects", LIFETIME_BOUNDS,
             LIFETIME_BINS, ret_features + SIZE_BINS);
    scaled[0] = log((double)workload->ops / seconds + 1);
    scaled[1] = log((double)workload->live_peak_bytes + 1);
    scaled[2] = log((double)workload->threads + 1);
}

void res_features_scale(struct res_stratum_item *items, size_t count)
{
    for (size_t k = RES_FEATURES_MIXED; k < RES_FEATURES; k++) {
        double mean = 0, variance = 0;
        for (size_t i = 0; i < count; i++)
            mean += items[i].features[k] / (double)count;
        for (size_t i = 0; i < count; i++)
            variance += pow(items[i].features[k] - mean, 2) / (double)count;
        for (size_t i = 0; i < count; i++)
            items[i].features[k] = variance > 1e-12 ? (items[i].features[k] - mean) / sqrt(variance) : 0;
    }
}

/* ---- clusters -------------------------------------------------------------------------------- */

static double distance(const struct res_stratum_item *one, const struct res_stratum_item *other)
{
    double sum = 0;
    for (size_t k = 0; k < RES_FEATURES; k++) {
        const double difference = one->features[k] - other->features[k];
        sum += difference * difference;
    }
    return sqrt(sum);
}

/* Uniform in [0, 1). */
static double fraction(struct res_random *random)
{
    return (double)(res_random_next(random) >> 11) * 0x1p-53;
}

/* An item by chances as weights, none of them negative; SIZE_MAX: all are 0. */
static size_t draw(const double *weights, size_t count, struct res_random *random)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += weights[i];
    double at = fraction(random) * sum;
    size_t last = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        if (!(weights[i] > 0))
            continue;
        last = i;
        at -= weights[i];
        if (at < 0)
            break;
    }
    return last;
}

/* The first by its share, each next one by its share and squared distance to those that there are. */
static size_t first_medoids(const struct res_stratum_item *items, size_t count, size_t clusters,
                            struct res_random *random, size_t *ret_medoids)
{
    double *weights = res_calloc(count, sizeof *weights), *nearest = res_calloc(count, sizeof *nearest);
    size_t made = 0;
    for (size_t i = 0; i < count; i++) {
        weights[i] = items[i].share;
        nearest[i] = INFINITY;
    }
    while (made < clusters) {
        const size_t medoid = draw(weights, count, random);
        if (medoid == SIZE_MAX)
            break; /* all others are like one that there is */
        ret_medoids[made++] = medoid;
        for (size_t i = 0; i < count; i++) {
            nearest[i] = fmin(nearest[i], distance(&items[i], &items[medoid]));
            weights[i] = items[i].share * nearest[i] * nearest[i];
        }
    }
    free(weights);
    free(nearest);
    return made;
}

static void assign(const struct res_stratum_item *items, size_t count, const size_t *medoids, size_t clusters,
                   size_t *ret_cluster)
{
    for (size_t i = 0; i < count; i++) {
        double least = INFINITY;
        for (size_t k = 0; k < clusters; k++) {
            const double far = distance(&items[i], &items[medoids[k]]);
            if (far < least) {
                least = far;
                ret_cluster[i] = k;
            }
        }
    }
}

/* Members of a cluster, by number. Returns how many. */
static size_t members_of(const size_t *cluster, size_t count, size_t wanted, size_t *ret_members)
{
    size_t members = 0;
    for (size_t i = 0; i < count; i++)
        if (cluster[i] == wanted)
            ret_members[members++] = i;
    return members;
}

static size_t best_medoid(const struct res_stratum_item *items, const size_t *members, size_t count)
{
    const size_t step = (count + CANDIDATES - 1) / CANDIDATES;
    double least = INFINITY;
    size_t best = members[0];
    for (size_t i = 0; i < count; i += step) {
        double sum = 0;
        for (size_t k = 0; k < count && sum < least; k++)
            sum += items[members[k]].share * distance(&items[members[i]], &items[members[k]]);
        if (sum < least) {
            least = sum;
            best = members[i];
        }
    }
    return best;
}

size_t res_strata_cluster(const struct res_stratum_item *items, size_t count, size_t clusters, uint64_t seed,
                          size_t *ret_cluster, size_t *ret_medoids)
{
    struct res_random random = res_random_from(seed);
    size_t *members = res_calloc(count + 1, sizeof *members);
    bool moved = true;
    clusters = first_medoids(items, count, clusters < count ? clusters : count, &random, ret_medoids);
    for (unsigned pass = 0; moved && pass < PASSES_MAX; pass++) {
        moved = false;
        assign(items, count, ret_medoids, clusters, ret_cluster);
        for (size_t k = 0; k < clusters; k++) {
            /* Never empty: a medoid has no distance to itself, and no other one has none to it. */
            const size_t best = best_medoid(items, members, members_of(ret_cluster, count, k, members));
            moved = moved || best != ret_medoids[k];
            ret_medoids[k] = best;
        }
    }
    assign(items, count, ret_medoids, clusters, ret_cluster);
    free(members);
    return clusters;
}

/* ---- who stands for all ------------------------------------------------------------------------ */

static double share_of(const struct res_stratum_item *items, const size_t *members, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += items[members[i]].share;
    return sum;
}

/* One for all of these, with chances as their shares. Returns which of them; SIZE_MAX: there is none. */
static size_t draw_one(struct res_stratum_item *items, const size_t *members, size_t count, double share,
                       struct res_random *random)
{
    double *weights = res_calloc(count + 1, sizeof *weights);
    for (size_t i = 0; i < count; i++)
        weights[i] = items[members[i]].drawn > 0 ? 0 : items[members[i]].share;
    const size_t one = draw(weights, count, random);
    free(weights);
    if (one != SIZE_MAX)
        items[members[one]].drawn = share;
    return one;
}

/* Two of a cluster, each with a chance of twice its part. Along a line as long as the whole, on which each has a piece as long as its part, two points half
 * the whole apart fall on two different pieces, unless one is longer than half: that one is taken for itself, and one of the others for
 * the others. */
static void draw_two(struct res_stratum_item *items, size_t *members, size_t count, struct res_random *random)
{
    const double whole = share_of(items, members, count);
    for (size_t i = 0; i < count; i++) {
        if (items[members[i]].share < whole / 2)
            continue;
        items[members[i]].drawn = items[members[i]].share;
        (void)draw_one(items, members, count, whole - items[members[i]].share,
                       random); /* none: it is alone */
        return;
    }
    res_shuffle(random, members, count);
    double at = fraction(random) * whole / 2, end = 0;
    size_t drawn = 0;
    for (size_t i = 0; i < count && drawn < 2; i++) {
        end += items[members[i]].share;
        if (at < end) {
            items[members[i]].drawn = whole / 2;
            at += whole / 2;
            drawn++;
        }
    }
}

/* Rounding leaves the sum near 1. */
static size_t settle(struct res_stratum_item *items, size_t count)
{
    double sum = 0;
    size_t drawn = 0;
    for (size_t i = 0; i < count; i++)
        sum += items[i].drawn;
    for (size_t i = 0; i < count; i++) {
        items[i].drawn /= sum;
        drawn += items[i].drawn > 0;
    }
    return drawn;
}

static size_t choose(struct res_stratum_item *items, size_t count, size_t budget, uint64_t seed,
                     bool represent)
{
    struct res_random random = res_random_from(seed + 1); /* not what the clusters were begun with */
    const size_t wanted = represent ? budget : (budget + 1) / 2;
    size_t *cluster = res_calloc(count + 1, sizeof *cluster);
    size_t *medoids = res_calloc(wanted + 1, sizeof *medoids);
    size_t *members = res_calloc(count + 1, sizeof *members);
    const size_t clusters = res_strata_cluster(items, count, wanted, seed, cluster, medoids);
    for (size_t i = 0; i < count; i++)
        items[i].drawn = 0;
    for (size_t k = 0; k < clusters; k++) {
        const size_t member_count = members_of(cluster, count, k, members);
        const double share = share_of(items, members, member_count);
        if (represent)
            items[medoids[k]].drawn = share;
        else if (2 * k + 1 < budget)
            draw_two(items, members, member_count, &random);
        else /* an odd budget has one place for its last cluster */
            (void)draw_one(items, members, member_count, share, &random);
    }
    free(members);
    free(medoids);
    free(cluster);
    return settle(items, count);
}

size_t res_strata_draw(struct res_stratum_item *items, size_t count, size_t budget, uint64_t seed)
{
    return choose(items, count, budget, seed, false);
}

size_t res_strata_represent(struct res_stratum_item *items, size_t count, size_t budget, uint64_t seed)
{
    return choose(items, count, budget, seed, true);
}
