/* fleet_compare.h - a fleet then and now: what its common line moved by.
 *
 *   pair     a host of both: the same label and the same digest of its file. Others are listed, and in no figure
 *   change   per candidate the share-weighted mean over the pairs of ln(ratio now / ratio then), with an interval from the spread of these
 *            differences: what hosts have of their own is in both and goes out. Ratios are to the baseline of the same result, so that a slower
 *            machine changes nothing
 *   shares   those of now
 *
 * The document has the schema "mallab-fleet-compare/1". Texts are those of the two fleets, which must stay. */
#ifndef MALLAB_RESULTS_REPORT_GATE_FLEET_COMPARE_H
#define MALLAB_RESULTS_REPORT_GATE_FLEET_COMPARE_H

#include "results/measure/base/fields.h"
#include "results/measure/result/fleet_result.h"
#include "results/report/grid/lines.h"

#define RES_FLEET_COMPARE_SCHEMA "mallab-fleet-compare/1"

/* Of time, or of the peak. */
struct res_fleet_move {
    double then, now;        /* the common ratios of the pairs */
    double ratio, low, high; /* now over then; the interval is NAN under RES_FLEET_LEAST_EFFECTIVE */
    double n_eff;
    int verdict; /* enum res_verdict */
    uint64_t pairs;
};

struct res_fleet_compared {
    const char *name;
    struct res_fleet_move time, peak;
};

struct res_fleet_compare {
    const char *schema, *mallab_version, *baseline;
    uint64_t workloads_old, workloads_new, pairs;
    struct res_fleet_compared *candidates; /* those of both, without the baseline */
    size_t candidate_count;
    struct res_texts differences;        /* of version, machines and figures, a line each */
    struct res_texts only_old, only_new; /* "label (workload)" */
};

/* The rows; release with res_described_release. */
extern const struct res_described RES_FLEET_COMPARE;

/* res_fleet_compare - hold one against the other.
 * ret_problem  one line, the caller's to free, where false is returned: another baseline, no pair, or no candidate of both. */
bool res_fleet_compare(const struct res_fleet *earlier, const struct res_fleet *fleet,
                       struct res_fleet_compare *ret_comparison, char **ret_problem);

/* res_fleet_compare_document - the same for people. style NULL: Markdown. The caller's to free. */
char *res_fleet_compare_document(const struct res_fleet_compare *comparison, const struct res_style *style);

#endif
