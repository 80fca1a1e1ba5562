/* fidelity.h - how far a replay's prediction is from the real program: the formulas, and nothing
 * else.
 *
 *   total     resident memory of the process, all kinds (VmHWM, VmRSS)
 *   heap      what of it the allocator brought (smaps.h). Its peak is the highest sample, or the
 *             exact peak of anonymous memory less the most that was not the heap's at any sample,
 *             whichever is more: both can only be too low, as far as samples see that most. Of
 *             several runs the highest sample is that of all of them where their exact totals are
 *             within RES_RUNS_ALIKE of each other, else the median of theirs. Where reading the
 *             mappings disturbed the program it is of the runs without
 *   startup   what a process holds because of its allocator before it first calls it. heap: the
 *             heap's part of a program that never calls it. total: that, and what the allocator's
 *             libraries bring (smaps.h). Of a group as often as processes were alive at its peak
 *   replayed  resident memory of the replay, less what stood before its first op
 *   rest      total less heap, from real runs of the baseline; its peak: the highest sample, or the
 *             exact peak of the total less the peak of the heap, whichever is more: both can only
 *             be too low
 *   missed    what highest rest and highest replayed are more than the highest of their sum at one
 *             moment. Rest was seen in a real run and the replay follows the recorded one, which
 *             waited at other places: moments are matched by the heap, which both runs have
 *             (res_fidelity_retimed), else by their shares of the duration. Samples may miss the
 *             moment; for the baseline the exact peaks of the real total and heap say what was missed
 *             at most, and what its samples tell beyond that is taken off for every candidate. 0
 *             where the moments are not known
 *
 *   predicted heap(c)   = startup heap(c) + replayed(c)
 *   predicted total(c)  = rest + startup total(c) + replayed(c), for the peak less missed(c)
 *   error               = predicted / real - 1
 *
 * all of the peak, and of one recording: runs differ, and how far is not told. `rest` is held to be
 * the same under every candidate, but for those libraries: a program does not map other memory or
 * touch other files because malloc is another one. A real process holds the startup, which the replay has subtracted.
 *
 *   disturbed  Reading smaps keeps a program from changing its mappings meanwhile. Of several
 *              threads one waits then and others go on, so that queues between them grow or empty,
 *              and with them the heap that is being measured. Runs that are only sampled
 *              (sampled.h) read counters, which stops nobody. A candidate is disturbed where the
 *              median of the mapped runs' anonymous peaks is apart from that of the sampled runs by
 *              more than RES_DISTURBED_TIMES their median distance from it (one run of five may go
 *              its own way), and by more than RES_RUNS_ALIKE of it; each mapped run has to lie to
 *              that side, as a program that does one thing or another by turns has runs of both on
 *              each. With fewer than RES_DISTURBED_RUNS of either it is taken not to be. Where the
 *              mapped runs held less, the difference has to be above what is apart, too: that is
 *              backed by a file then, which the kernel may keep in smaller pages, and so less of it
 *              in memory
 *   apart      anonymous memory that is not the heap's, at that sample of a mapped run which had the
 *              most of both; of several runs the median. The heap of a disturbed candidate is the
 *              median of its sampled runs' anonymous peaks less apart: a bound from below, as the heap
 *              may have been at its highest at another moment
 *
 * All functions are pure. A figure that cannot be had is NAN, and so is what depends on it. */
#ifndef MALLAB_RESULTS_MEASURE_VALIDATE_FIDELITY_H
#define MALLAB_RESULTS_MEASURE_VALIDATE_FIDELITY_H

#include <stdbool.h>
#include <stddef.h>

#include "results/measure/result/validated.h"

#define RES_BAR_TOTAL   0.03           /* DESIGN.md, section 7: peak resident, of the total */
#define RES_BAR_HEAP    0.10           /* of the heap's part */
#define RES_HEAP_JUDGED (256.0 * 1024) /* bytes: see res_fidelity_is_small */
#define RES_RUNS_ALIKE  0.01

#define RES_DISTURBED_TIMES 2.0
#define RES_DISTURBED_RUNS  3u

/* All in bytes. */
struct res_fidelity_sample {
    double total, heap; /* real */
    double replayed, missed;
    double startup_total, startup_heap;
};

struct res_fidelity {
    double real_total, real_heap, predicted_total, predicted_heap;
    double error_total, error_heap; /* ratios less 1, not bytes */
};

/* res_fidelity_of - rest: in bytes, of the baseline. */
struct res_fidelity res_fidelity_of(double rest, const struct res_fidelity_sample *sample);

/* res_fidelity_is_small - whether the heap is too small to judge: its peak below RES_HEAP_JUDGED,
 * real and predicted. A tenth of that are six pages, and more than that is in the definitions alone
 * (docs/fidelity.md): the stack of a thread, 8 to 100 KiB, counts as heap, an allocator's first
 * pages lie in one mapping or in another, and kernels before 6.2 tell RssAnon within 64 pages a
 * processor, just that bound. False where a peak is not known. */
bool res_fidelity_is_small(const struct res_fidelity *fidelity);

/* A course of memory: bytes at moments that do not decrease. */
struct res_course {
    const double *at, *bytes;
    size_t count;
};

void res_course_release(struct res_course *course);

/* res_fidelity_retimed - rest at the moments of a replay of the baseline: the pairs of moments, both going forward only, in
 * which real and replayed heap, each as a share of its own peak, differ least in all; shares of the duration decide where
 * the heap stays as it is.
 * rest, heap  of the same run at the same moments; replayed  the baseline's, of no more than RES_RETIMED_MAX moments.
 * Returns     a course to be ended with res_course_release; without moments where one of them has none. */
#define RES_RETIMED_MAX 8192u
struct res_course res_fidelity_retimed(const struct res_course *rest, const struct res_course *heap,
                                       const struct res_course *replayed);

/* res_fidelity_missed - see `missed` above. 0 when one of both has no moments, or all at the same
 * time. */
double res_fidelity_missed(const struct res_course *rest, const struct res_course *replayed);

/* res_fidelity_sampled_peak - the peak of what was sampled in several runs: each run may have
 * missed it, and none can have exceeded it. So where the runs were alike, their exact totals within
 * RES_RUNS_ALIKE of each other, it is the highest sample of all; else each had a peak of its own,
 * and it is their median. NAN of no runs; a total of NAN is not alike. */
double res_fidelity_sampled_peak(const double *totals, const double *samples, size_t count);

/* res_fidelity_sign - whether reality shows the difference in time that was predicted.
 * predicted_ns  candidate less baseline. ratio, verdict: of the real runs, over the baseline's. */
enum res_sign res_fidelity_sign(double predicted_ns, double ratio, int verdict);

/* res_disturbed_by - anonymous peaks of the sampled and of the mapped runs, and what is apart at
 * the latter.
 * Returns  the mapped median over the sampled one, less 1; 0: not disturbed, or not known. */
double res_disturbed_by(const double *sampled_bytes, size_t sampled_count, const double *mapped_bytes,
                        size_t mapped_count, double apart_bytes);

#endif
