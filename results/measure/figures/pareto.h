/* pareto.h - which candidates nothing beats on both time and memory, beyond noise.
 *
 * One candidate beats another when it is shown to be better in one of time per op and peak resident memory, and in the
 * other is shown to be better too, or by its interval at most RES_PARETO_MARGIN worse; a loss within the margin counts for
 * nothing, though shown. Where both would so beat each other (some time for some memory, both within the margin), neither does.
 * What the noise hides beats nobody: on a loud machine all candidates stay unbeaten.
 * Each pair is compared by both ratios to the baseline, whose intervals add as the errors of independent figures do, which is too wide for figures
 * of the same rounds; for pairs with the baseline the verdicts of the result stand.
 * Source  V. Pareto's order of alternatives; the margin is that of a non-inferiority test: G. Piaggio et al., "Reporting
 *         of noninferiority and equivalence randomized trials", JAMA 308 (2012). */
#ifndef MALLAB_RESULTS_MEASURE_FIGURES_PARETO_H
#define MALLAB_RESULTS_MEASURE_FIGURES_PARETO_H

#include <stdbool.h>
#include <stddef.h>

#include "results/measure/result/result.h"

#define RES_PARETO_MARGIN 0.05 /* of a ratio; from here on the advice calls noise large, too */

/* What the mark says below a table. "Surely": by the whole interval, which alone supports a claim that one beats another;
 * by the median it would be made of candidates that may well be 30 % slower. */
#define RES_PARETO_LEGEND                                                                                    \
    "unbeaten: no other is shown better in time or peak and surely at most 5 % worse in the other"

/* More are not compared, whatever a file says: pairs take time. */
#define RES_PARETO_CANDIDATES_MAX 24u

/* res_beaten_by_fill - `beaten_by` of each candidate: the names of those that beat it, in their order; not known where it has
 * no figures or there are too few rounds for any verdict. */
void res_beaten_by_fill(struct res_result_workload *workload);

/* res_is_unbeaten - whether nothing beats a candidate, where at least two were compared. */
bool res_is_unbeaten(const struct res_result_workload *workload, size_t candidate);

/* What an allocator holds in all: with what it had before the first call, which no figure of resident memory has in it. */
struct res_held {
    double bytes;       /* resident, as measured: less start_bytes */
    double start_bytes; /* before the first call; NAN: not known */
};

/* res_held_outweighed - whether less resident memory than the baseline's is no less in all, since it held more from the start: such a saving is no
 * advice. False where a start is not known: comparisons with NAN are false. */
static inline bool res_held_outweighed(struct res_held own, struct res_held baseline)
{
    return own.bytes + own.start_bytes >= baseline.bytes + baseline.start_bytes;
}

#endif
