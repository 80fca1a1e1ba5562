/* fleet_result.c - the rows of a fleet. */

#include "footprint/base/support.h"
#include "results/measure/result/result.h"

const char *const RES_FLEET_OF[] = {"process", "malloc", NULL};

#define HOST_CHANGE(name, member, verdicts)                                                                  \
    RES_RATIO_ROWS(name ".", member.ratio, member.low, member.high, "over the baseline's",                   \
                   "95 % interval of this host alone"),                                                      \
        RES_ROW(NUMBER, name ".error", member.error, "standard error of the logarithm"),                     \
        RES_ROW(NUMBER, name ".freedom", member.freedom, "its degrees of freedom"),                          \
        RES_WORD(name ".verdict", member.verdict, verdicts, "corrected for the number of hosts")

#define OWNER struct res_fleet_entry
static const struct res_field ENTRY_FIELDS[] = {
    RES_ROW_AS(TEXT, OMITTED, "failed", failed, "why it has no figures"),
    HOST_CHANGE("time", time, RES_TIME_VERDICTS),
    HOST_CHANGE("peak", peak, RES_MEMORY_VERDICTS),
    RES_ROW(WHOLE, "cpu_ns", cpu_ns, "of the process under it"),
    RES_ROW(WHOLE, "peak_bytes", peak_bytes, "likewise, resident"),
};
const struct res_described RES_FLEET_ENTRY = RES_DESCRIBE_WHOLLY("a host's candidate", ENTRY_FIELDS);
#undef OWNER

#define OWNER struct res_fleet_host
static const struct res_field HOST_FIELDS[] = {
    RES_ROW_AS(TEXT, REQUIRED, "label", label, "of the host; with `digest` its key"),
    RES_ROW(TEXT, "workload", workload, "name of the file"),
    RES_ROW_AS(TEXT, REQUIRED, "file_digest", file_digest, "as of a workload"),
    RES_ROW_AS(TEXT, OMITTED, "digest", key, "of its calls; where none ran, of the file"),
    RES_ROW(TEXT, "program", program, "that was recorded"),
    RES_ROW(TEXT, "machine", machine, "kind of machine that it was measured on"),
    RES_ROW_AS(NUMBER, REQUIRED, "share", share, "its weight; all add up to 1"),
    RES_ROW(COUNT, "results", results, "of it, of which the newest counts"),
    RES_ROW(NUMBER, "malloc.time", malloc_time, "part of its CPU time that is in malloc"),
    RES_ROW(NUMBER, "malloc.memory", malloc_memory, "part of its resident peak that is heap"),
    RES_WORD("of.time", of_time, RES_FLEET_OF, "what its time is of: `process` or `malloc`"),
    RES_WORD("of.memory", of_memory, RES_FLEET_OF, "likewise memory"),
    RES_ROW_AS(TEXT, OMITTED, "trust.time", no_trust_time, "why its time is in no common figure"),
    RES_ROW_AS(TEXT, OMITTED, "trust.memory", no_trust_memory, "likewise of memory"),
    RES_LIST(LIST, REQUIRED, "entries", entries, entry_count, &RES_FLEET_ENTRY,
             "one for each of the fleet's candidates, in their order"),
};
const struct res_described RES_FLEET_HOST = RES_DESCRIBE_WHOLLY("a host", HOST_FIELDS);
#undef OWNER

#define CHANGE(prefix, member, verdicts, less_word, more_word)                                               \
    RES_RATIO_ROWS(prefix, member.ratio, member.low, member.high,                                            \
                   "share-weighted geometric mean over hosts",                                               \
                   "95 % interval by the spread between hosts; `null` below 5 effective hosts"),             \
        RES_ROW(NUMBER, prefix "p_corrected", member.p_corrected,                                            \
                "of whether it is 1, for all candidates together (Holm)"),                                   \
        RES_ROW(NUMBER, prefix "n_eff", member.n_eff, "hosts of equal share that say as much (Kish)"),       \
        RES_WORD(prefix "verdict", member.verdict, verdicts, "of the mean"),                                 \
        RES_ROW(COUNT, prefix "workloads", member.workloads, "that it is of"),                               \
        RES_ROW(COUNT, prefix less_word, member.less, "hosts by verdict"),                                   \
        RES_ROW(COUNT, prefix more_word, member.more, "likewise"),                                           \
        RES_ROW(COUNT, prefix "same", member.same, "likewise"),                                              \
        RES_ROW(COUNT, prefix "undecided", member.undecided, "likewise")

#define TOTAL(name, unit, member, doc)                                                                       \
    RES_ROW(WHOLE, name ".baseline_" unit, member.baseline, doc " under the baseline"),                      \
        RES_ROW(WHOLE, name ".saved_" unit, member.saved, "that less the same under the candidate"),         \
        RES_ROW(NUMBER, name ".ratio", member.ratio, "of both sums"),                                        \
        RES_ROW(COUNT, name ".workloads", member.workloads, "that are in it")

#define OWNER struct res_fleet_named
static const struct res_field NAMED_FIELDS[] = {
    RES_ROW_AS(TEXT, REQUIRED, "label", label, "of the host"),
    RES_ROW(TEXT, "workload", workload, "name of the file"),
    RES_ROW(TEXT, "file_digest", file_digest, "of the workload's file"),
    RES_RATIO_ROWS("", ratio, low, high, "of time", "95 % interval of this host alone"),
    RES_ROW(NUMBER, "p_value", p_value, "one-sided, of a ratio above the limit, corrected (Holm)"),
};
static const struct res_described NAMED = RES_DESCRIBE_WHOLLY("a named host", NAMED_FIELDS);
#undef OWNER

#define OWNER struct res_fleet_candidate
static const struct res_field CANDIDATE_FIELDS[] = {
    RES_ROW_AS(TEXT, REQUIRED, "name", name, "of the candidate"),
    CHANGE("", time, RES_TIME_VERDICTS, "faster", "slower"),
    CHANGE("peak.", peak, RES_MEMORY_VERDICTS, "less", "more"),
    TOTAL("cpu", "ns", cpu, "sum of CPU time"),
    TOTAL("peaks", "bytes", peaks, "sum of peaks"),
    RES_ROW(WHOLE, "largest_bytes", largest_bytes, "the largest peak of a host"),
    RES_LIST(LIST, OMITTED, "losers", losers, loser_count, &NAMED,
             "hosts proven slower by more than `loser_limit`, the worst first"),
    RES_ROW_AS(TEXTS, OMITTED, "failed", failed, "labels of hosts on which it failed"),
};
const struct res_described RES_FLEET_CANDIDATE = RES_DESCRIBE_WHOLLY("a fleet's candidate", CANDIDATE_FIELDS);
#undef OWNER

#define OWNER struct res_fleet_missing
static const struct res_field MISSING_FIELDS[] = {
    RES_ROW_AS(TEXT, REQUIRED, "label", label, "of a host, or a workload's name, as --expect has it"),
};
static const struct res_described MISSING = RES_DESCRIBE_WHOLLY("a missing workload", MISSING_FIELDS);
#undef OWNER

#define OWNER struct res_fleet_kind
static const struct res_field KIND_FIELDS[] = {
    RES_ROW(TEXT, "value", value, "a version, a machine, a setting"),
    RES_ROW(COUNT, "results", results, "that have it"),
    RES_ROW(TEXT, "file", file, "the first of them"),
};
static const struct res_described KIND = RES_DESCRIBE_WHOLLY("a kind", KIND_FIELDS);
#undef OWNER

#define OWNER struct res_fleet_mixed
static const struct res_field MIXED_FIELDS[] = {
    RES_ROW_AS(TEXT, REQUIRED, "what", what, "`mallab`, `machine`, `candidates`, a setting, or a candidate"),
    RES_LIST(LIST, PLAIN, "kinds", kinds, kind_count, &KIND, "the most frequent first"),
};
static const struct res_described MIXED = RES_DESCRIBE_WHOLLY("what is mixed", MIXED_FIELDS);
#undef OWNER

#define OWNER struct res_fleet_left
static const struct res_field LEFT_FIELDS[] = {
    RES_ROW(TEXT, "file", file, "its name"),
    RES_ROW(TEXT, "why", why, "why it is in no figure"),
};
const struct res_described RES_FLEET_LEFT = RES_DESCRIBE_WHOLLY("a file that is left out", LEFT_FIELDS);
#undef OWNER

#define OWNER struct res_fleet
static const struct res_field FLEET_FIELDS[] = {
    RES_ROW_AS(TEXT, REQUIRED, "baseline", baseline, "the candidate that the others are compared with"),
    RES_ROW(TEXTS, "machines", machines, "kinds that results are of"),
    RES_WORD("of.time", of_time, RES_FLEET_OF, "what common times are of: `process` or `malloc`"),
    RES_WORD("of.memory", of_memory, RES_FLEET_OF, "likewise memory"),
    RES_ROW(NUMBER, "loser_limit", loser_limit, "a host that is slower by more loses"),
    RES_ROW(COUNT, "workloads", workloads, "hosts in all"),
    RES_ROW(NUMBER, "n_eff", n_eff, "hosts of equal share that say as much (Kish)"),
    RES_LIST(LIST, REQUIRED, "candidates", candidates, candidate_count, &RES_FLEET_CANDIDATE,
             "the baseline first"),
    RES_LIST(LIST, REQUIRED, "hosts", hosts, host_count, &RES_FLEET_HOST, "by label, then digest"),
    RES_PART(STRUCT, OMITTED, "verdict", verdict, &RES_PROGRAM_VERDICT, "the answer about all of it"),
    RES_LIST(LIST, OMITTED, "notes", notes, note_count, &RES_NOTE, "lines on it for people"),
};
const struct res_described RES_FLEET = RES_DESCRIBE("a fleet", FLEET_FIELDS);

/* The fleet itself is the last, as it is all of the struct that the others are of. */
static const struct res_field DOCUMENT_FIELDS[] = {
    RES_ROW(TEXT, "schema", schema, "`mallab-fleet/1`"),
    RES_ROW(TEXT, "mallab_version", mallab_version, "what wrote it"),
    RES_LIST(LIST, PLAIN, "missing", missing, missing_count, &MISSING,
             "what was expected and is in no result"),
    RES_LIST(LIST, PLAIN, "mixed", mixed, mixed_count, &MIXED, "what results differ in"),
    RES_LIST(LIST, PLAIN, "left_out", left_out, left_out_count, &RES_FLEET_LEFT, "files that were not taken"),
    {.key = "fleet", .kind = RES_FIELD_INSIDE, .of = &RES_FLEET, .doc = "what all say together"},
};
const struct res_described RES_FLEET_DOCUMENT = RES_DESCRIBE_WHOLLY("a fleet", DOCUMENT_FIELDS);
#undef OWNER

json_t *res_fleet_write(const struct res_fleet *fleet)
{
    return res_described_write(&RES_FLEET_DOCUMENT, fleet);
}

void res_fleet_release(struct res_fleet *fleet)
{
    res_described_release(&RES_FLEET_DOCUMENT, fleet);
}
