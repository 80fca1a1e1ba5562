/* disturbed.h - whether reading a program's mappings changed what it holds.
 *
 * While smaps is read a program cannot change its mappings. One thread waits then, and runs on behind it as it would have; of
 * several one waits and others go on, so that queues between them grow or empty, and with them the heap that is being
 * measured. Runs that are only sampled (sampled.h) read counters, which stops nobody.
 *
 *   disturbed  the median of the mapped runs' anonymous peaks is apart from that of the sampled runs by more than
 *              RES_DISTURBED_TIMES their median distance from it, and by more than RES_RUNS_ALIKE (fidelity.h) of it. The
 *              median distance, as one run of five may go its own way. Each mapped run has to lie to that side: a program that
 *              does one thing or another by turns has runs of both on each. With less than RES_DISTURBED_RUNS of either it is
 *              not known, and none is taken to be
 *   apart      anonymous memory that is not the heap's. Of the peak: at that sample of a mapped run which had the most of both;
 *              of mean and end: the run's anonymous memory less its heap. Of several runs the median
 *
 *   heap       of a disturbed candidate, for every level and each sampled run: its anonymous memory less apart. Of the
 *              peak a bound from below, as the heap may have been at its highest at another moment than both together
 *
 * Where the mapped runs held less the difference has to be above what is apart, too: that is backed by a file then, which the
 * kernel may keep in smaller pages, and so less of it in memory.
 * All functions are pure. */
#ifndef MALLAB_RESULTS_MEASURE_VALIDATE_DISTURBED_H
#define MALLAB_RESULTS_MEASURE_VALIDATE_DISTURBED_H

#include <stddef.h>

#define RES_DISTURBED_TIMES 2.0
#define RES_DISTURBED_RUNS  3u

/* res_disturbed_by - anonymous peaks of the sampled and of the mapped runs, and what is apart at the latter.
 * Returns  the mapped median over the sampled one, less 1; 0: not disturbed, or not known. */
double res_disturbed_by(const double *sampled_bytes, size_t sampled_count, const double *mapped_bytes,
                        size_t mapped_count, double apart_bytes);

#endif
