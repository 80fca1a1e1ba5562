/* validated.c - the rows of a validation. */
#include "results/measure/result/validated.h"

const char *const RES_SIGNS[] = {"unknown", "noise", "right", "wrong", NULL};
const char *const RES_ADVICE_SHOWN[] = {"none", "not shown", "right", "wrong", NULL};
const char *const RES_TIMED_BY[] = {"hyperfine", "wait4", NULL};
static const char *const TIMES_OF[] = {"command", "process", NULL};
static const char *const HEAPS_BY[] = {"mapping", "name", NULL};

double res_validated_cpu_ns(const struct res_validated *about, const struct res_validated_real *real)
{
    return about->time_of == RES_TIME_OF_PROCESS ? real->process_cpu_ns : real->cpu_ns;
}

#define BAR_ROW(key, member, doc) RES_PART(INSIDE, REQUIRED, "bars." key, bars.member, &BAR, doc)

#define OWNER struct res_bar
static const struct res_field BAR_FIELDS[] = {
    RES_ROW(COUNT, "checked", checked, "predictions that were judged"),
    RES_ROW(COUNT, "met", met, "of these, those that met it"),
};
static const struct res_described BAR = RES_DESCRIBE_WHOLLY("a bar", BAR_FIELDS);
#undef OWNER

#define OWNER struct res_advised
static const struct res_field ADVISED_FIELDS[] = {
    RES_ROW(TEXT, "candidate", candidate, "that the replays alone advise; `null`: none"),
    RES_ROW(NUMBER, "of_process", of_process, "what it was to save, a share of the process"),
    RES_WORD(
        "shown", shown, RES_ADVICE_SHOWN,
        "by the program itself: `right`; `wrong`: it shows the contrary; `not shown`; `none`: no advice"),
};
static const struct res_described ADVISED = RES_DESCRIBE_WHOLLY("an advice", ADVISED_FIELDS);
#undef OWNER

#define OWNER struct res_real_run
static const struct res_field REAL_RUN_FIELDS[] = {
    RES_ROW(WHOLE, "peak_bytes", peak_bytes, "resident, as the kernel says"),
    RES_ROW(WHOLE, "anonymous_peak_bytes", anonymous_peak_bytes, "of resident pages that no file backs"),
    RES_ROW(WHOLE, "cpu_ns", cpu_ns,
            "user and system of its own threads since its exec, not of its children"),
    RES_ROW_AS(WHOLE, OMITTED, "heap_peak_bytes", heap_peak_bytes,
               "the heap's part, the highest of the samples; mapped runs only, as what follows"),
    RES_ROW_AS(WHOLE, OMITTED, "apart_at_peak_bytes", apart_at_peak_bytes,
               "other anonymous memory at the sample with the most of both"),
    RES_ROW_AS(WHOLE, OMITTED, "apart_most_bytes", apart_most_bytes,
               "the most that it can have been between samples, by what the program mapped"),
};
static const struct res_described REAL_RUN = RES_DESCRIBE("a real run", REAL_RUN_FIELDS);
#undef OWNER

#define OWNER struct res_validated_real
static const struct res_field REAL_FIELDS[] = {
    RES_ROW(WHOLE, "peak_total_bytes", total_peak_bytes, "peak, total"),
    RES_ROW(WHOLE, "peak_heap_bytes", heap_peak_bytes, "peak, heap"),
    RES_ROW(
        NUMBER, "disturbed_by", disturbed_by,
        "by how much reading the mappings changed the peak; 0: by no more than runs differ. Otherwise the "
        "heap's figures are of the sampled runs (fidelity.md)"),
    RES_ROW(WHOLE, "cpu_ns", cpu_ns, "processor time of the command; median. `null` where it is not of it"),
    RES_ROW(WHOLE, "process_cpu_ns", process_cpu_ns,
            "of what was recorded, without its children; median. `null` where time is of the command"),
    RES_ROW(WHOLE, "time_difference_ns", time_difference_ns, "processor time less the baseline's"),
    RES_RATIO_ROWS("time_", time_ratio, time_interval.low, time_interval.high,
                   "processor time over the baseline's, as of `confirmed`", "its interval"),
    RES_WORD("time_verdict", time_verdict, RES_TIME_VERDICTS, "`faster`, `slower`, `same` or `undecided`"),
    RES_ROW(WHOLE, "startup_total_bytes", startup_total_bytes,
            "the next one and what the allocator's libraries bring that the program has not by itself"),
    RES_ROW(WHOLE, "startup_heap_bytes", startup_heap_bytes,
            "what the allocator takes in a program that never calls it"),
    RES_LIST(LIST, PLAIN, "sampled_runs", sampled, sampled_count, &REAL_RUN, "for memory"),
    RES_LIST(LIST, PLAIN, "mapped_runs", mapped, mapped_count, &REAL_RUN, "for the heap's part of it"),
};
const struct res_described RES_VALIDATED_REAL = RES_DESCRIBE("what is real of a candidate", REAL_FIELDS);
#undef OWNER

#define OWNER struct res_validated_prediction
static const struct res_field PREDICTED_FIELDS[] = {
    RES_ROW(WHOLE, "peak_total_bytes", total_peak_bytes, "peak, total"),
    RES_ROW(WHOLE, "peak_heap_bytes", heap_peak_bytes, "peak, heap"),
    RES_ROW(WHOLE, "time_difference_ns", time_difference_ns, "the sum over calls less the baseline's"),
};
static const struct res_described PREDICTED = RES_DESCRIBE("what is predicted of a candidate",
                                                           PREDICTED_FIELDS);
#undef OWNER

#define OWNER struct res_validated_error
static const struct res_field ERROR_FIELDS[] = {
    RES_ROW(NUMBER, "peak_total", total_peak, "peak, total"),
    RES_ROW(NUMBER, "peak_heap", heap_peak, "peak, heap"),
    RES_ROW(TRUTH, "heap_is_small", heap_is_small, "below 256 KiB: its error is left out"),
    RES_WORD("time_sign", time_sign, RES_SIGNS, "`right` or `wrong`; `noise`: reality shows no difference"),
};
static const struct res_described ERROR = RES_DESCRIBE("the error of a prediction", ERROR_FIELDS);
#undef OWNER

#define OWNER struct res_validated_candidate
static const struct res_field CANDIDATE_FIELDS[] = {
    RES_ROW_AS(TEXT, REQUIRED, "name", name, "of the candidate"),
    RES_ROW(TEXT, "failed", failed, "why, in its real runs, else in its replays"),
    RES_PART(INSIDE, REQUIRED, "real", real, &RES_VALIDATED_REAL, "the real program under it"),
    RES_PART(INSIDE, REQUIRED, "predicted", predicted, &PREDICTED, "by its replays"),
    RES_PART(INSIDE, REQUIRED, "error", error, &ERROR, "Predicted over real, less 1."),
};
const struct res_described RES_VALIDATED_CANDIDATE = RES_DESCRIBE("a candidate of its validation",
                                                                  CANDIDATE_FIELDS);
#undef OWNER

#define OWNER struct res_validated
static const struct res_field VALIDATED_FIELDS[] = {
    RES_ROW(TEXTS, "command", command, "what ran"),
    RES_ROW(TEXT, "process", process, "that was recorded and compared"),
    RES_ROW(COUNT, "group_processes", group_processes,
            "that were recorded of it, predicted and compared together; 0: one"),
    RES_ROW(
        COUNT, "processes_alike", processes_alike,
        "went by that name and were seen at their end; of more than one that are no group no bar is judged"),
    RES_ROW(COUNT, "exit_code", exit_code, "of the recorded run; 128 + a signal"),
    RES_ROW(COUNT, "rounds", rounds, "of pairs of runs for time that were finished"),
    RES_ROW(TRUTH, "stopped", stopped, "whether Ctrl-C ended them"),
    RES_WORD("timed_by", timed_by, RES_TIMED_BY, "`hyperfine` or `wait4`"),
    RES_WORD("time_of", time_of, TIMES_OF,
             "`command`, or `process` where what was recorded is only a part of it: then by watched runs"),
    RES_WORD("heap_told_by", heap_told_by, HEAPS_BY,
             "`mapping`; `name` where libmallab-apart.so was missing: then own mappings count as heap"),
    RES_ROW(COUNT, "step_ns", step_ns, "between samples"),
    BAR_ROW("peak_total", peak_total, "peak within 3 % in total"),
    BAR_ROW("peak_heap", peak_heap, "peak within 10 % in the heap's part"),
    BAR_ROW("time_sign", time_sign, "candidates whose real time differs beyond noise"),
    RES_PART(INSIDE, PLAIN, "advice.time", advice.time, &ADVISED, "on time"),
    RES_PART(INSIDE, PLAIN, "advice.peak", advice.peak, &ADVISED, "on the peak of memory"),
};
const struct res_described RES_VALIDATED = RES_DESCRIBE("its validation", VALIDATED_FIELDS);
#undef OWNER
