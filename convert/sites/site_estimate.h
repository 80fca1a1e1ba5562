/* site_estimate.h - figures of call sites where only a sample of allocations has its stack (footprint/fp/fp_sites.h).
 *
 * An object that was sampled with the probability p stands for 1 / p objects (Horvitz and Thompson): each by its own size, and then
 * they are summed. So a figure has no bias, and the sum of (1 - p) / p^2, of bytes times their square, none as its variance. */
#ifndef MALLAB_CONVERT_SITES_SITE_ESTIMATE_H
#define MALLAB_CONVERT_SITES_SITE_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

#define CONV_SAMPLES_LEAST 10 /* fewer tell no more than an upper bound */

/* For how many objects one stands, and what that adds to the variance of their number. */
struct conv_site_weight {
    double objects, variance;
};

/* What a figure rests on. Where all allocations have their stack there is no variance. */
struct conv_site_basis {
    double samples;
    double objects_variance, bytes_variance;
};

/* What a figure is worth. */
struct conv_site_range {
    bool is_told;     /* false: it is not to be shown, but for `high` */
    double low, high; /* 95 of 100 such ranges hold the true figure; high may be infinite */
};

/* conv_site_share - the probability with which an allocation of so many bytes is sampled, above 0, at most 1. */
double conv_site_share(uint64_t bytes, uint64_t mean);

/* conv_site_weight - of an object of so many bytes; mean 0: of itself. */
struct conv_site_weight conv_site_weight(uint64_t bytes, uint64_t mean);

/* conv_site_rest_on - a figure rests on one more object, or, with -1, no longer on it. */
void conv_site_rest_on(struct conv_site_basis *basis, struct conv_site_weight weight, uint64_t bytes,
                       int times);

/* conv_site_range - of a figure that rests on so many samples and has that variance. Without variance it is exact, and one that rests
 * on fewer than CONV_SAMPLES_LEAST is told only where they are so large that hardly any can have been missed. */
struct conv_site_range conv_site_range(double figure, double samples, double variance);

#endif
