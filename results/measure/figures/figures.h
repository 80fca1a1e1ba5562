/* figures.h - from the samples of a trial to the figures of each entry.
 *
 *   net       an entry's ns/op less the floor's: what the allocator takes, the harness' own share gone
 *   paired    of the same round: runs[r] of two entries ran within the same minute
 *   steady    net time without what disturbs (steady.h): time is compared by it, and shown
 *   memory    resident figures are of the memory pass where the trial has one, its intervals Student's: it has few rounds
 * A figure that cannot be had (the entry or the baseline failed) is NAN, its verdict undecided. */
#ifndef MALLAB_RESULTS_MEASURE_FIGURES_FIGURES_H
#define MALLAB_RESULTS_MEASURE_FIGURES_FIGURES_H

#include "results/measure/result/result.h"
#include "results/measure/run/trial.h"

/* res_figures_time - the time of figures_of alone, without a verdict: what is looked at while an experiment runs.
 * res_figures_between - the same of any two entries: `other` over `base`; over the baseline and its control together where base is the baseline. */
struct res_difference res_figures_time(const struct res_trial *trial, const struct res_entry *entry);
struct res_difference res_figures_between(const struct res_trial *trial, const struct res_entry *other,
                                          const struct res_entry *base);

/* res_figures_of - figures of one entry of a trial. The steady figure of a candidate is that of the baseline and control, times its ratio. */
struct res_figures res_figures_of(const struct res_trial *trial, const struct res_entry *entry);

/* res_figures_slower_ns - by how many ns per op an entry is slower than the baseline, below 0 when faster; NAN where one has no figure. */
double res_figures_slower_ns(const struct res_figures *figures, const struct res_figures *baseline);

/* res_figures_family - candidates that are judged at once: the more there are, the sooner one of them looks different by chance. Fills p_corrected:
 * p-values of time corrected for that (res_holm).
 * A verdict that does not hold then is withdrawn, to `same` where the interval leaves out what the trial resolves: of seven equals one was called different in a fifth of the tables
 * without it, in 2 % with it (tests/statistics/family.c).
 * figures  of all candidates of the trial but the baseline; those without a test are left out. */
void res_figures_family(const struct res_trial *trial, struct res_figures *figures);

#endif
