/* bridge.h - one candidate in two experiments (sessions) of the same workload: what changed, less what the machine did in between.
 *
 *   bridge    what both sessions measured and what is the same in both: what it moved by is the machine's, and is taken out of times (ns) as a ratio.
 *             The baseline, where it has the same bytes, or version and build, and settings; else the first allocator that has; else the
 *             harness (the floor: it calls no allocator, so it knows the processor and nothing of the memory). Memory and faults are no times: a slower machine does not change them, nothing is taken out
 *   figure    with a bridge (own / bridge now) / (own / bridge then); else own now / own then
 *   error     each session's own (metric.h); the two are added, with Welch's degrees of freedom. Two sessions' rounds belong
 *             to no pairs and are not alike: one may have been on a busy machine
 *   noise     of times: Student's of the two A/A controls, whose truth is 1: two samples of what a ratio differs by from session to session,
 *             which no round of a session shows. With the harness as bridge also what it moved by itself, since allocators need not follow it;
 *             with the baseline also what baseline and harness are sure to have moved apart, since a machine that slows both differently
 *             may slow two allocators differently. Of memory and faults the wider control, and what an unchanged baseline moved by
 *   yardstick the allocator that is the bridge, where there are others: what it moved by is the machine's by definition, so its own times have no verdict
 *   untold    times without any bridge: the machine may be slower, and nothing tells. No verdict
 *
 * Pure: the same samples, the same answer. */
#ifndef MALLAB_RESULTS_REPORT_BESIDE_BRIDGE_H
#define MALLAB_RESULTS_REPORT_BESIDE_BRIDGE_H

#include "results/measure/figures/metric.h"

/* RES_BRIDGE_WORDS: their words in JSON, NULL behind the last. */
enum res_bridge { RES_BRIDGE_NONE, RES_BRIDGE_BASELINE, RES_BRIDGE_HARNESS };
extern const char *const RES_BRIDGE_WORDS[];

/* What a session has of one metric; empty series where it has none. */
struct res_session {
    struct res_series own,
        baseline; /* baseline: the bridge's; empty where there is none, or it is the candidate */
    struct res_series control, controlled; /* controlled: the session's own baseline */
    struct res_series harness;             /* time, nothing subtracted */
};

struct res_across {
    struct res_estimate estimate; /* of the figure; NAN where there is none */
    struct res_tails tails;       /* at the limit */
    struct res_interval noise;    /* around 1 */
    enum res_bridge bridge;
    double bridge_ratio;    /* the bridge now over then, where one is taken out; NAN: none */
    double plain_ratio;     /* own now over own then, nothing taken out; NAN: none */
    const char *bridged_by; /* the allocator that is the bridge; NULL: none is. Borrowed from the result */
    bool untold, is_yardstick;
    bool
        is_unchanged; /* a time of the same bytes in both, which nothing else bridges: it moved as the machine did */
    bool moved;    /* noise is mostly what the machine moved by, unevenly or unknown how */
    size_t rounds; /* of the side that has fewer; 0: not measured */
    size_t rounds_needed;
};

/* res_across_sessions - now over then, tested at `limit`, a ratio >= 0. */
struct res_across res_across_sessions(const struct res_session *now, const struct res_session *then,
                                      enum res_metric metric, double limit);

/* Two results of one workload. Borrowed. */
struct res_partners {
    const struct res_result_workload *now, *then;
    const char *baseline, *baseline_then; /* of each result */
};

/* res_partners_yardstick - whether this candidate's metric is what the others' are held against. */
bool res_partners_yardstick(const struct res_partners *partners, const char *candidate,
                            enum res_metric metric);

/* res_across_partners - res_across_sessions of the candidate of this name in both. */
struct res_across res_across_partners(const struct res_partners *partners, const char *candidate,
                                      enum res_metric metric, double limit);

/* res_control_noise - what the baseline and its control in the same experiment differ by, around 1. */
struct res_interval res_control_noise(const struct res_result_workload *workload, const char *baseline,
                                      enum res_metric metric);

#endif
