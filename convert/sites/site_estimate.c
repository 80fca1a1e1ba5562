/* site_estimate.c - weights and ranges. */
#include "convert/sites/site_estimate.h"

#include <math.h>

#include "footprint/fp/fp_sites.h"

#define WEIGHT_STEPS                                                                                         \
    1024 /* a weight is a multiple of 1 / so many: sums are exact, and nothing is left when all has gone */
#define NEARLY_ALL                                                                                           \
    0.05 /* a spread below this share of a figure says that nearly all objects of it are samples */
#define NORMAL_95 1.96

double conv_site_share(uint64_t bytes, uint64_t mean)
{
    return -expm1(-(double)fp_sample_counted(bytes) / (double)mean);
}

struct conv_site_weight conv_site_weight(uint64_t bytes, uint64_t mean)
{
    if (mean == 0)
        return (struct conv_site_weight){1, 0};
    const double share = conv_site_share(bytes, mean);
    const double objects = round(WEIGHT_STEPS / share) / WEIGHT_STEPS;
    return (struct conv_site_weight){objects, (1 - share) * objects * objects};
}

void conv_site_rest_on(struct conv_site_basis *basis, struct conv_site_weight weight, uint64_t bytes,
                       int times)
{
    basis->samples += times;
    basis->objects_variance += times * weight.variance;
    basis->bytes_variance += times * weight.variance * (double)bytes * (double)bytes;
    if (basis->samples == 0)
        *basis = (struct conv_site_basis){0}; /* what rounding has left */
}

struct conv_site_range conv_site_range(double figure, double samples, double variance)
{
    /* Of a Poisson variable that came out as 0, 1, 2 ...: the mean with which so few have a chance of 1 in 40. */
    static const double most[CONV_SAMPLES_LEAST] = {3.689,  5.572,  7.225,  8.767,  10.242,
                                                    11.668, 13.059, 14.423, 15.763, 17.085};
    const double spread = sqrt(variance > 0 ? variance : 0);
    if (spread == 0 || samples >= CONV_SAMPLES_LEAST || spread <= NEARLY_ALL * figure)
        return (struct conv_site_range){true, fmax(0, figure - NORMAL_95 * spread),
                                        figure + NORMAL_95 * spread};
    return (struct conv_site_range){false, 0,
                                    samples > 0 ? figure / samples * most[(unsigned)samples] : INFINITY};
}
