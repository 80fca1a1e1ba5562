/* figures.h - from the samples of a trial to the figures of each entry.
 *
 *   net       an entry's ns/op less the floor's: what the allocator takes, the harness' own share gone
 *   paired    of the same round: runs[r] of two entries ran within the same minute
 *   steady    net time without what disturbs (steady.h): time is compared by it, and by whole runs where no batches were timed
 *   memory    resident figures are of the memory pass where the trial has one, its intervals Student's: it has few rounds
 * A figure that cannot be had (the entry or the baseline failed) is NAN, its verdict undecided. */
#ifndef MALLAB_RESULTS_MEASURE_FIGURES_FIGURES_H
#define MALLAB_RESULTS_MEASURE_FIGURES_FIGURES_H

#include "results/measure/result/result.h"
#include "results/measure/run/trial.h"

/* res_figures_time - the time of figures_of alone, without a verdict: what is looked at while an experiment runs. */
struct res_difference res_figures_time(const struct res_trial *trial, const struct res_entry *entry,
                                       uint64_t seed);

/* res_figures_between - the same of any two entries, figures and test as there: `other` over `base`. */
struct res_difference res_figures_between(const struct res_trial *trial, const struct res_entry *other,
                                          const struct res_entry *base, uint64_t seed);

/* res_figures_of - figures of one entry of a trial.
 * seed  of the experiment: the bootstrap's draws follow from it. */
struct res_figures res_figures_of(const struct res_trial *trial, const struct res_entry *entry,
                                  uint64_t seed);

/* res_figures_slower_ns - by how many ns per op an entry is slower than the baseline, below 0 when faster: of the figure that
 * `time` compares, steady times, and typical ones where one of both has no batches. NAN where neither can be had. */
double res_figures_slower_ns(const struct res_figures *figures, const struct res_figures *baseline);

/* res_figures_family - candidates that are judged at once: the more there are, the sooner one of them looks different by chance. Fills p_corrected:
 * p-values of time corrected for that (res_holm).
 * Verdicts stay as they are. Since they have to lie outside the control's interval too, one of seven equals was called different in 3 % of
 * the experiments without a correction; with it a difference of 3 % was found in 1 instead of 40 of 100 experiments of ten rounds on a
 * busy machine (tests/statistics/family.c, docs/notes/statistics.md).
 * figures  of all candidates but the baseline; those without a test are left out. */
void res_figures_family(struct res_figures *figures, size_t count);

#endif
