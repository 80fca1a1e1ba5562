/* removed.c - the rows of a removal. */
#include "results/measure/result/removed.h"

#define OWNER struct res_removed
static const struct res_field REMOVED_FIELDS[] = {
    RES_ROW_AS(TEXT, REQUIRED, "name", name, "of the candidate", .csv = "allocator"),
    RES_ROW_AS(TEXT, OMITTED, "failed", failed, "why nothing is known of it"),
    RES_ROW(WHOLE, "peak.with_bytes", with_bytes, "resident at the peak of the workload as it is",
            .csv = "peak_bytes"),
    RES_ROW(WHOLE, "peak.without_bytes", without_bytes, "likewise without the sites", .csv = "without_bytes"),
    RES_ROW(WHOLE, "peak.saved_bytes", saved_bytes, "the difference", .csv = "saved_bytes"),
    RES_ROW(WHOLE, "peak.spread_bytes", spread_bytes, "by which replays of the same differ",
            .csv = "spread_bytes"),
    RES_ROW(TRUTH, "peak.shown", peak_shown, "whether the difference is more than that"),
    RES_ROW(WHOLE, "peak.held_bytes", held_bytes,
            "what the sites hold: their objects' shares of the resident pages", .csv = "held_bytes"),
    RES_ROW(WHOLE, "time.with_ns", with_ns, "CPU time in all calls of the workload as it is",
            .csv = "time_ns"),
    RES_ROW(WHOLE, "time.without_ns", without_ns, "likewise without the sites", .csv = "time_without_ns"),
    RES_ROW(WHOLE, "time.saved_ns", saved_ns, "the difference, each side less its own floor",
            .csv = "time_saved_ns"),
    RES_ROW(WHOLE, "time.saved_low_ns", saved_low_ns, "low end of its 95 % interval",
            .csv = "time_saved_low_ns"),
    RES_ROW(WHOLE, "time.saved_high_ns", saved_high_ns, "high end", .csv = "time_saved_high_ns"),
    RES_ROW(WHOLE, "time.spread_ns", spread_ns, "what leaving out nothing saves", .csv = "time_spread_ns"),
    RES_ROW(NUMBER, "time.ns_per_allocation", ns_per_allocation,
            "saved, over the sites' allocations: what one takes, and its free", .csv = "ns_per_allocation"),
    RES_ROW(
        NUMBER, "time.of_calls", of_calls,
        "saved, as a share of the time in all calls: what repeats where the machine is faster now and then",
        .csv = "of_calls"),
    RES_ROW(NUMBER, "time.of_process", of_process,
            "saved, as a share of the recorded process' CPU time; `null`: not known, or only a part of it",
            .csv = "of_process"),
    RES_ROW(TRUTH, "time.shown", time_shown,
            "whether the interval leaves out 0 and the difference is more than the spread"),
};
const struct res_described RES_REMOVED = RES_DESCRIBE_WHOLLY("a candidate", REMOVED_FIELDS);
#undef OWNER

#define OWNER struct res_removal
static const struct res_field REMOVAL_FIELDS[] = {
    RES_ROW(TEXT, "words", words, "names by which the sites were chosen, or the site"),
    RES_ROW(COUNT, "allocations", allocations, "and resizes, of those sites"),
    RES_ROW(COUNT, "ops", ops, "fewer without them, frees among them"),
    RES_ROW(WHOLE, "live_peak_bytes", live_peak_bytes, "live at most without them"),
    RES_ROW_AS(TEXT, OMITTED, "time_unavailable", time_unavailable, "why no time is known"),
    RES_ROW_AS(TEXT, OMITTED, "held_unavailable", held_unavailable, "why it is not known what they hold"),
    RES_LIST(LIST, PLAIN, "candidates", candidates, candidate_count, &RES_REMOVED,
             "in the order of the workload's candidates"),
};
const struct res_described RES_REMOVAL = RES_DESCRIBE_WHOLLY("a removal", REMOVAL_FIELDS);
#undef OWNER
