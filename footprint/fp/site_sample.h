/* site_sample.h - a recording in which not every allocation has its call stack, but a sample of them.
 *
 * It is memoryless, by bytes: as if points lay on all bytes that are ever allocated, at random, one in `mean` of them, and an
 * allocation were sampled where one lies on it. So each is for itself, with a probability that its size gives:
 * 1 - exp(-size / mean). Whoever divides by it has an unbiased estimate of all. */
#ifndef MALLAB_FOOTPRINT_FP_SITE_SAMPLE_H
#define MALLAB_FOOTPRINT_FP_SITE_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#define FP_SAMPLE_META        "sites_bytes" /* of a footprint: the mean; absent where all have their stack */
#define FP_SAMPLE_MEAN_LEAST  UINT64_C(1024)
#define FP_SAMPLE_MEAN_MOST   (UINT64_C(1) << 30)
#define FP_SAMPLE_BYTES_LEAST UINT64_C(16) /* no object counts as smaller, however small the request */

/* fp_sample_counted - as how many bytes an allocation counts. */
static inline uint64_t fp_sample_counted(uint64_t bytes)
{
    return bytes > FP_SAMPLE_BYTES_LEAST ? bytes : FP_SAMPLE_BYTES_LEAST;
}

/* fp_sample_parse - what MALLAB_SITES and --sites say: a mean such as 65536, 512K, 1M; or that all stacks are wanted: 1, or
 * anything that does not begin with a digit.
 * ret_mean  0: all.
 * Returns   false: neither, or out of bounds. */
bool fp_sample_parse(const char *text, uint64_t *ret_mean);

/* fp_sample_mean - what meta data say; 0: nothing that holds. text may be NULL. */
uint64_t fp_sample_mean(const char *text);

#endif
