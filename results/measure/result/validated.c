/* validated.c - the rows of a validation. */
#include "results/measure/result/validated.h"

const char *const RES_SIGNS[] = {"unknown", "noise", "right", "wrong", NULL};
const char *const RES_TIMED_BY[] = {"hyperfine", "wait4", NULL};
static const char *const TIMES_OF[] = {"command", "process", NULL};
static const char *const HEAPS_BY[] = {"mapping", "name", NULL};

double res_validated_cpu_ns(const struct res_validated *about, const struct res_validated_real *real)
{
    return about->time_of == RES_TIME_OF_PROCESS ? real->process_cpu_ns : real->cpu_ns;
}

/* Peak, mean and end of both parts: "peak_total_bytes" and so on. */
#define LEVELS_OF(kind, before, behind, part, member)                                                        \
    RES_ROW(kind, before "peak_" part behind, member.peak_bytes, "peak, " part),                             \
        RES_ROW(kind, before "mean_" part behind, member.mean_bytes, "mean over time, " part),               \
        RES_ROW(kind, before "end_" part behind, member.end_bytes, "at the end, " part)
#define LEVELS(kind, before, behind, total, heap)                                                            \
    LEVELS_OF(kind, before, behind, "total", total), LEVELS_OF(kind, before, behind, "heap", heap)

#define BAR_ROW(key, member, doc) RES_PART(INSIDE, REQUIRED, "bars." key, bars.member, &BAR, doc)
#define WITHIN_ROW(name, doc)     RES_PART(INSIDE, PLAIN, "within_reality." #name, within.name, &BAR, doc)

#define OWNER struct res_bar
static const struct res_field BAR_FIELDS[] = {
    RES_ROW(COUNT, "checked", checked, "predictions that were judged"),
    RES_ROW(COUNT, "met", met, "of these, those that met it"),
};
static const struct res_described BAR = RES_DESCRIBE_WHOLLY("a bar", BAR_FIELDS);
#undef OWNER

#define OWNER struct res_timed
static const struct res_field TIMED_FIELDS[] = {
    RES_ROW(WHOLE, "wall_ns", wall_ns, "of the whole command"),
    RES_ROW(WHOLE, "user_ns", user_ns, "likewise, with all children that it waited for"),
    RES_ROW(WHOLE, "system_ns", system_ns, "likewise"),
};
static const struct res_described TIMED = RES_DESCRIBE_WHOLLY("a timed run", TIMED_FIELDS);
#undef OWNER

#define OWNER struct res_real_run
static const struct res_field REAL_RUN_FIELDS[] = {
    RES_ROW(WHOLE, "peak_bytes", total.peak_bytes, "resident, as the kernel says"),
    RES_ROW(WHOLE, "mean_bytes", total.mean_bytes, "over time, by the samples"),
    RES_ROW(WHOLE, "end_bytes", total.end_bytes, "when the last instruction was executed"),
    RES_ROW(WHOLE, "anonymous_peak_bytes", anonymous.peak_bytes, "of resident pages that no file backs"),
    RES_ROW(WHOLE, "anonymous_mean_bytes", anonymous.mean_bytes, "likewise"),
    RES_ROW(WHOLE, "anonymous_end_bytes", anonymous.end_bytes, "likewise"),
    RES_ROW(WHOLE, "cpu_ns", cpu_ns,
            "user and system of its own threads since its exec, not of its children"),
    RES_ROW(WHOLE, "duration_ns", duration_ns, "from its exec to its end"),
    RES_ROW_AS(WHOLE, OMITTED, "heap_peak_bytes", heap.peak_bytes,
               "the heap's part, the highest of the samples; mapped runs only, as what follows"),
    RES_ROW_AS(WHOLE, OMITTED, "heap_mean_bytes", heap.mean_bytes, "over time"),
    RES_ROW_AS(WHOLE, OMITTED, "heap_end_bytes", heap.end_bytes, "at the end"),
    RES_ROW_AS(WHOLE, OMITTED, "apart_at_peak_bytes", apart_at_peak_bytes,
               "other anonymous memory at the sample with the most of both"),
    RES_ROW_AS(WHOLE, OMITTED, "apart_peak_bytes", apart_peak_bytes, "the most of it at any sample"),
    RES_ROW_AS(WHOLE, OMITTED, "apart_most_bytes", apart_most_bytes,
               "the most that it can have been between samples, by what the program mapped"),
    RES_ROW_AS(JSON, OMITTED, "series", series, "of the first run: the samples over time"),
};
static const struct res_described REAL_RUN = RES_DESCRIBE("a real run", REAL_RUN_FIELDS);
#undef OWNER

#define OWNER struct res_real_range
static const struct res_field RANGE_FIELDS[] = {
    RES_ROW(WHOLE, "low_bytes", low_bytes, "the least of the real runs"),
    RES_ROW(WHOLE, "high_bytes", high_bytes, "the highest of them"),
    RES_ROW(COUNT, "runs", runs, "how many are known"),
};
static const struct res_described RANGE = RES_DESCRIBE_WHOLLY("a range of real runs", RANGE_FIELDS);
#undef OWNER

#define RANGES_OF(part, member)                                                                              \
    RES_PART(INSIDE, PLAIN, "ranges.peak_" part, member.peak, &RANGE, "of the peak"),                        \
        RES_PART(INSIDE, PLAIN, "ranges.mean_" part, member.mean, &RANGE, "of the mean"),                    \
        RES_PART(INSIDE, PLAIN, "ranges.end_" part, member.end, &RANGE, "of the end")

#define OWNER struct res_validated_real
static const struct res_field REAL_FIELDS[] = {
    LEVELS(WHOLE, "", "_bytes", total, heap),
    RANGES_OF("total", total_range),
    RANGES_OF("heap", heap_range),
    RES_ROW(
        NUMBER, "disturbed_by", disturbed_by,
        "by how much reading the mappings changed the peak; 0: by no more than runs differ. Otherwise the "
        "heap's figures are of the sampled runs (fidelity.md)"),
    RES_ROW(WHOLE, "wall_ns", wall_ns, "of the command; median, as the next two"),
    RES_ROW(WHOLE, "cpu_ns", cpu_ns, "processor time of the command"),
    RES_ROW(WHOLE, "process_cpu_ns", process_cpu_ns,
            "of the process that was recorded, without its children"),
    RES_ROW(WHOLE, "time_difference_ns", time_difference_ns, "processor time less the baseline's"),
    RES_ROW(NUMBER, "time_ratio", time_ratio, "processor time over the baseline's"),
    RES_ROW(NUMBER, "time_ratio_low", time_interval.low, "its interval"),
    RES_ROW(NUMBER, "time_ratio_high", time_interval.high, "likewise"),
    RES_WORD("time_verdict", time_verdict, RES_TIME_VERDICTS, "`faster`, `slower`, `same` or `undecided`"),
    RES_ROW(WHOLE, "startup_total_bytes", startup_total_bytes,
            "the next one and what the allocator's libraries bring that the program has not by itself"),
    RES_ROW(WHOLE, "startup_heap_bytes", startup_heap_bytes,
            "what the allocator takes in a program that never calls it"),
    RES_LIST(LIST, PLAIN, "timed_runs", timed, timed_count, &TIMED, "one for each round"),
    RES_LIST(LIST, PLAIN, "sampled_runs", sampled, sampled_count, &REAL_RUN, "for memory"),
    RES_LIST(LIST, PLAIN, "mapped_runs", mapped, mapped_count, &REAL_RUN, "for the heap's part of it"),
};
const struct res_described RES_VALIDATED_REAL = RES_DESCRIBE("what is real of a candidate", REAL_FIELDS);
#undef OWNER

#define OWNER struct res_levels
static const struct res_field PASS_FIELDS[] = {
    RES_ROW(WHOLE, "peak_bytes", peak_bytes, "resident, the highest"),
    RES_ROW(WHOLE, "mean_bytes", mean_bytes, "over recorded time"),
    RES_ROW(WHOLE, "end_bytes", end_bytes, "behind the last op"),
};
static const struct res_described PASS = RES_DESCRIBE_WHOLLY("a pass", PASS_FIELDS);
#undef OWNER

#define OWNER struct res_recording_prediction
static const struct res_field PREDICTION_FIELDS[] = {
    RES_ROW(COUNT, "number", number, "of the recording; 1 is the experiment's"),
    LEVELS(WHOLE, "", "_bytes", total, heap),
    RES_ROW(TEXT, "failed", failed, "why this candidate did not replay it, or `null`"),
    RES_LIST(LIST, OMITTED, "replays", replays, replay_count, &PASS,
             "resident memory of each pass; those of the first recording are with its runs"),
};
static const struct res_described PREDICTION = RES_DESCRIBE_WHOLLY("a recording's prediction",
                                                                   PREDICTION_FIELDS);
#undef OWNER

#define OWNER struct res_validated_prediction
static const struct res_field PREDICTED_FIELDS[] = {
    LEVELS(WHOLE, "", "_bytes", total, heap),
    RES_ROW(WHOLE, "time_difference_ns", time_difference_ns, "the sum over calls less the baseline's"),
    RES_LIST(LIST, PLAIN, "recordings", recordings, recording_count, &PREDICTION,
             "From each recording by itself; the passes of the first are `memory_runs` of `workloads`."),
};
static const struct res_described PREDICTED = RES_DESCRIBE("what is predicted of a candidate",
                                                           PREDICTED_FIELDS);
#undef OWNER

#define OWNER struct res_validated_error
static const struct res_field ERROR_FIELDS[] = {
    LEVELS(NUMBER, "", "", total, heap),
    RES_ROW(TRUTH, "heap_is_small", heap_is_small, "below 256 KiB: its errors are left out"),
    LEVELS(NUMBER, "beyond_reality.", "", total_beyond, heap_beyond),
    RES_WORD("time_sign", time_sign, RES_SIGNS, "`right` or `wrong`; `noise`: reality shows no difference"),
    RES_ROW(NUMBER, "time_size", time_size, "predicted difference over the real one, less 1, where shown"),
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

#define OWNER struct res_validated_recording
static const struct res_field RECORDING_FIELDS[] = {
    RES_ROW(COUNT, "number", number, "from 1"),
    RES_ROW(TEXT, "left_out", left_out, "why it predicts nothing, or `null`"),
    RES_ROW(COUNT, "ops", ops, "of its workload"),
    RES_ROW(COUNT, "duration_ns", duration_ns, "likewise"),
    RES_ROW(COUNT, "live_peak_bytes", live_peak_bytes, "likewise"),
};
static const struct res_described RECORDING = RES_DESCRIBE_WHOLLY("a recording", RECORDING_FIELDS);
#undef OWNER

#define OWNER struct res_validated
static const struct res_field VALIDATED_FIELDS[] = {
    RES_ROW(TEXTS, "command", command, "what ran"),
    RES_ROW(TEXT, "process", process, "that was recorded and compared"),
    RES_ROW(COUNT, "processes_alike", processes_alike,
            "went by that name and were seen at their end; of more than one no bar is judged"),
    RES_ROW(COUNT, "exit_code", exit_code, "of the recorded run; 128 + a signal"),
    RES_ROW(COUNT, "rounds", rounds, "of real runs that were finished"),
    RES_ROW(TRUTH, "stopped", stopped, "whether Ctrl-C ended them"),
    RES_WORD("timed_by", timed_by, RES_TIMED_BY, "`hyperfine` or `wait4`"),
    RES_WORD("time_of", time_of, TIMES_OF,
             "`command`, or `process` where the recorded one was one of several: then by the sampled runs"),
    RES_WORD("heap_told_by", heap_told_by, HEAPS_BY,
             "`mapping`; `name` where libmallab-apart.so was missing: then own mappings count as heap"),
    RES_ROW(COUNT, "step_ns", step_ns, "between samples"),
    BAR_ROW("peak_total", peak_total, "peak within 3 % in total"),
    BAR_ROW("peak_heap", peak_heap, "peak within 10 % in the heap's part"),
    BAR_ROW("memory_order", memory_order, "pairs of candidates whose real peaks differ by more than 5 %"),
    BAR_ROW("time_sign", time_sign, "candidates whose real time differs beyond noise"),
    WITHIN_ROW(peak_total, "the peak, in total"),
    WITHIN_ROW(mean_total, "the mean, in total"),
    WITHIN_ROW(end_total, "the end, in total"),
    WITHIN_ROW(peak_heap, "the heap's peak"),
    WITHIN_ROW(mean_heap, "the heap's mean"),
    WITHIN_ROW(end_heap, "the heap's end"),
    RES_ROW(COUNT, "recordings", recordings,
            "How many predict, the first among them: what is predicted of memory is their median."),
    RES_ROW_AS(COUNT, ZERO_IS_NULL, "recordings_asked", recordings_asked, "by `--recordings`"),
    RES_ROW(COUNT, "recordings_left_out", recordings_left_out, "failed, or were no run like the first"),
    RES_ROW(TRUTH, "recordings_stopped", recordings_stopped, "whether Ctrl-C ended them"),
    RES_ROW(COUNT, "ops_difference_max", ops_difference_max, "Of the recordings that predict, to the first."),
    RES_LIST(LIST, PLAIN, "recording_list", recording_list, recording_count, &RECORDING,
             "each that was made, in order"),
    RES_LIST(LIST, PLAIN, "control_timed_runs", control_timed, control_timed_count, &TIMED,
             "of the baseline a second time"),
};
const struct res_described RES_VALIDATED = RES_DESCRIBE("its validation", VALIDATED_FIELDS);
#undef OWNER
