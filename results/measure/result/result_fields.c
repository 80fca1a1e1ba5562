/* result_fields.c - the fields of a result, a row each. A new figure of the result is one row here. */
#include "results/measure/result/result.h"

static const char *const CLOCKS[] = {"real", "recorded", NULL};
const char *const RES_ENDED[] = {"interrupt",   "rounds",     "until", "decided",
                                 "time_budget", "rounds_max", NULL};
static const char *const LIVES[] = {"known", "from_middle", "paused", "left_behind", NULL};

/* Above columns of the table. */
#define TIME_GROUP     "time against {baseline}"
#define CALL_GROUP     "a call, ns"
#define RESIDENT_GROUP "resident with start, {unit}"
#define PEAK_GROUP     "peak against {baseline}"

/* ---- an entry's parts ------------------------------------------------------------------------ */

#define OWNER struct res_failure
static const struct res_field FAILURE_FIELDS[] = {
    RES_ROW(TEXT, "cause", cause,
            "`null` (the allocator returned NULL), `limit`, `oom`, `crash`, `check`, `timeout` or `thread`"),
    RES_ROW_AS(WHOLE, OMITTED, "op", op, "the op, or the first of those that it may have been"),
    RES_ROW_AS(WHOLE, OMITTED, "op_last", op_last, "the last of those"),
    RES_ROW_AS(WHOLE, OMITTED, "thread", thread, "the thread that made the call"),
    RES_ROW(TEXT, "call", call, "the call"),
    RES_ROW(WHOLE, "size_bytes", size_bytes, "the size that was asked for"),
    RES_ROW_AS(WHOLE, OMITTED, "rest_call", rest_call, "in the rest behind the last op: which of its calls"),
    RES_ROW(WHOLE, "live_bytes", live_bytes, "live at that op"),
    RES_ROW(WHOLE, "live_objects", live_objects, "live at that op"),
    RES_ROW_AS(WHOLE, OMITTED, "peak_bytes", peak_bytes, "the kernel's count when it ended the run"),
    RES_ROW(WHOLE, "limit_bytes", limit_bytes, "the limit that held"),
    RES_ROW(WHOLE, "signal", signal, "the signal that ended it"),
    RES_ROW(TEXT, "text", text, "the same in words"),
};
const struct res_described RES_FAILURE = RES_DESCRIBE("a failure", FAILURE_FIELDS);
#undef OWNER

#define OWNER struct res_limited
static const struct res_field LIMITED_FIELDS[] = {
    RES_ROW(COUNT, "runs", runs, "runs with a control group"),
    RES_ROW(COUNT, "runs_at_limit", runs_at_limit, "those that reached the limit"),
    RES_ROW(COUNT, "at_limit_count_max", at_limit_count_max, "how often one of them did, at most"),
    RES_ROW_AS(COUNT, ZERO_IS_NULL, "peak_bytes_max", peak_bytes_max, "the highest that the kernel counted"),
};
static const struct res_described LIMITED = RES_DESCRIBE_WHOLLY("a limit", LIMITED_FIELDS);
#undef OWNER

#define OWNER         struct res_latency_pass
#define OF_PASS(name) RES_ROW_AS(NUMBER, READ_ONLY, #name, all.name, NULL)
static const struct res_field PASS_FIELDS[] = {
    OF_PASS(count),  OF_PASS(mean_ns),  OF_PASS(p50_ns), OF_PASS(p90_ns),
    OF_PASS(p99_ns), OF_PASS(p99_9_ns), OF_PASS(max_ns),
};
static const struct res_described PASS = RES_DESCRIBE_AT("a latency pass", PASS_FIELDS,
                                                         offsetof(OWNER, json));
#undef OWNER

/* The baseline and the floor have none of these. */
#define PERCENTILE(name)                                                                                     \
    RES_ROW_AS(NUMBER, OMITTED, #name "_ratio", name.ratio, "to the baseline's in the same pass"),           \
        RES_ROW_AS(NUMBER, OMITTED, #name "_ratio_low", name.interval.low,                                   \
                   "Student's interval of the ratio"),                                                       \
        RES_ROW_AS(NUMBER, OMITTED, #name "_ratio_high", name.interval.high, "likewise"),                    \
        RES_WORD_AS(OMITTED, #name "_verdict", name.verdict, RES_TIME_VERDICTS,                              \
                    "as for time, with the control's as noise")
#define OF_ALL(name, ...) RES_ROW_AS(NUMBER, OMITTED, #name, all.name, __VA_ARGS__)

#define OWNER struct res_latency_figures
static const struct res_field LATENCY_FIELDS[] = {
    RES_ROW_AS(TEXT, OMITTED, "unavailable", unavailable, "why a pass failed; then there is nothing else"),
    RES_ROW(COUNT, "passes", passes, "how many"),
    OF_ALL(count, "calls"),
    OF_ALL(mean_ns, "of a call"),
    OF_ALL(p50_ns, "percentile"),
    OF_ALL(p90_ns, "percentile"),
    OF_ALL(p99_ns, "99 of 100 calls take no longer", .csv = "latency_p99_ns", .heading = "p99",
           .group = CALL_GROUP, .alone = "a call's p99, ns", .as = RES_AS_NS, .late = true,
           .judged = offsetof(OWNER, p99.verdict)),
    OF_ALL(p99_9_ns, "999 of 1,000 calls take no longer", .csv = "latency_p99_9_ns", .heading = "p99.9",
           .group = CALL_GROUP, .alone = "p99.9, ns", .as = RES_AS_NS, .late = true,
           .judged = offsetof(OWNER, p99_9.verdict)),
    OF_ALL(max_ns, "the largest of all passes"),
    PERCENTILE(p99),
    PERCENTILE(p99_9),
    RES_LIST(LIST, OMITTED, "runs", runs, run_count, &PASS,
             "the passes themselves, as `mallab replay --latency --json` prints them"),
};
const struct res_described RES_LATENCY = RES_DESCRIBE("a latency", LATENCY_FIELDS);
#undef OWNER

/* ---- an entry -------------------------------------------------------------------------------- */

/* The first rows are a floor's too, the last ones only a candidate's. */
#define FLOOR_FIELDS         14u
#define FIELDS_OF_CANDIDATES 2u

#define OWNER struct res_result_entry
static const struct res_field ENTRY_FIELDS[] = {
    RES_ROW_AS(TEXT, REQUIRED, "name", name, "of the candidate", .heading = "candidate", .as = RES_AS_NAME),
    RES_ROW(TEXT, "version", version, "of its library", .heading = "version", .expendable = 1),
    RES_ROW(TEXT, "library", library, "its real path"),
    RES_ROW_AS(TEXT, OMITTED, "build.digest", build.digest, "as of xxh128sum(1)"),
    RES_ROW(PAIRS, "environment", environment, "variables that the candidate sets"),
    RES_ROW(TEXT, "failed", failed, "one line, or `null`", .csv = "failed", .late = true),
    RES_PART(STRUCT, PLAIN, "failure", failure, &RES_FAILURE, "how its run ended"),
    RES_PART(STRUCT, PLAIN, "limit", limit, &LIMITED,
             "what a limit by control groups did, over all its runs"),
    RES_ROW_AS(JSON, PLAIN, "check", check, "of its checking run (`--promises`)"),
    RES_ROW(NUMBER, "time.steady_ns_per_op", figures.steady_ns_per_op,
            "time of an op in malloc (statistics.md); a candidate's is the baseline's times its ratio",
            .csv = "ns_per_op", .heading = "ns/op", .as = RES_AS_NS),
    RES_PART(STRUCT, PLAIN, "latency", latency, &RES_LATENCY, "of the latency passes (`--latency`)"),
    RES_ROW_AS(COUNT, ZERO_IS_NULL, "warmup_ns", warmup_ns, "how long its warm-up took"),
    RES_ROW_AS(TEXT, OMITTED, "said", said, "first words on standard error"),
    RES_LIST(LIST, REQUIRED, "runs", runs, run_count, &RES_RUN,
             "one of each round (below), with `round`, `position`, `elapsed_ns`, every `batch_ns[]`"),

    RES_ROW(NUMBER, "time.ratio", figures.time.ratio, "steady time over that of baseline and control",
            .csv = "ratio", .heading = "change", .group = TIME_GROUP, .alone = TIME_GROUP,
            .as = RES_AS_CHANGE),
    RES_ROW(NUMBER, "time.ratio_low", figures.time.interval.low, "95 % interval (statistics.md)",
            .csv = "ratio_low", .heading = "95 % range", .group = TIME_GROUP, .as = RES_AS_RANGE),
    RES_ROW(NUMBER, "time.ratio_high", figures.time.interval.high, "likewise", .csv = "ratio_high"),
    RES_WORD("time.verdict", figures.time.verdict, RES_TIME_VERDICTS,
             "`faster`, `slower`, `same` or `undecided`", .csv = "verdict", .heading = "verdict",
             .group = TIME_GROUP, .as = RES_AS_VERDICT),
    RES_ROW_AS(NUMBER, ZERO_IS_NULL, "time.p_value", figures.time.p_value, "of no difference"),
    RES_ROW_AS(NUMBER, ZERO_IS_NULL, "time.p_corrected", figures.time.p_corrected,
               "for all candidates together (Holm)"),
    RES_ROW(WHOLE, "resident.start_bytes", figures.start_bytes,
            "held before the first op, by the harness too"),
    RES_ROW_AS(WHOLE, OMITTED, "resident.start_file_bytes", figures.start_file_bytes,
               "pages of files then (of a group one process'); more than the baseline's is no saving"),
    RES_ROW_AS(WHOLE, OMITTED, "resident.own_start_bytes", figures.own_start_bytes,
               "`start_bytes` less the candidates' least: in all below", .csv = "own_start_bytes",
               .late = true),
    RES_ROW(WHOLE, "resident.peak_bytes", figures.peak_bytes, "the highest; median over `resident.rounds`",
            .csv = "peak_bytes", .heading = "peak", .group = RESIDENT_GROUP, .alone = "resident peak, {unit}",
            .as = RES_AS_BYTES, .in_memory = true),
    RES_ROW(WHOLE, "resident.mean_bytes", figures.mean_bytes, "over recorded time", .csv = "mean_bytes",
            .heading = "mean", .group = RESIDENT_GROUP, .as = RES_AS_BYTES, .in_memory = true),
    RES_ROW(WHOLE, "resident.end_bytes", figures.end_bytes, "behind the last op", .csv = "end_bytes",
            .heading = "end", .group = RESIDENT_GROUP, .as = RES_AS_BYTES, .in_memory = true,
            .expendable = 2),
    RES_ROW(WHOLE, "resident.idle_bytes", figures.idle_bytes, "after the rest behind it", .csv = "idle_bytes",
            .heading = "idle", .group = RESIDENT_GROUP, .as = RES_AS_BYTES, .in_memory = true),
    RES_ROW(NUMBER, "resident.peak_ratio", figures.peak.ratio, "peak over the baseline's",
            .csv = "peak_ratio", .heading = "change", .group = PEAK_GROUP, .alone = PEAK_GROUP,
            .as = RES_AS_CHANGE, .in_memory = true),
    RES_ROW(NUMBER, "resident.peak_ratio_low", figures.peak.interval.low, "its interval",
            .csv = "peak_ratio_low", .heading = "95 % range", .group = PEAK_GROUP, .as = RES_AS_RANGE,
            .in_memory = true),
    RES_ROW(NUMBER, "resident.peak_ratio_high", figures.peak.interval.high, "likewise",
            .csv = "peak_ratio_high"),
    RES_WORD("resident.peak_verdict", figures.peak.verdict, RES_MEMORY_VERDICTS,
             "`less`, `more`, `same` or `undecided`", .csv = "peak_verdict", .heading = "verdict",
             .group = PEAK_GROUP, .as = RES_AS_VERDICT, .in_memory = true),
    RES_ROW(NUMBER, "resident.given_back_share", figures.given_back_share,
            "share given back, at the last look, of the peak beyond the live bytes at the end"),
    RES_ROW_AS(NUMBER, OMITTED, "growth.bytes_per_hour", figures.growth.bytes,
               "by which resident memory grows beyond what is live; 0: none is shown",
               .csv = "growth_bytes_per_hour", .heading = "an hour", .group = "grows by, {unit}",
               .alone = "growth an hour, {unit}", .as = RES_AS_BYTES, .in_memory = true, .late = true),
    RES_ROW_AS(NUMBER, OMITTED, "growth.low", figures.growth.low, "95 % interval (statistics.md)"),
    RES_ROW_AS(NUMBER, OMITTED, "growth.high", figures.growth.high, "likewise"),
    RES_ROW_AS(NUMBER, OMITTED, "growth.live_bytes_per_hour", figures.live_growth.bytes,
               "likewise of what is live: a leak"),
    RES_WORD("resident.clock", resident_clock, CLOCKS, "what the allocator was told in these runs"),
    RES_ROW_AS(COUNT, ZERO_IS_NULL, "resident.rounds", resident_rounds, "number of these runs"),
    RES_ROW_AS(TRUTH, TRUE, "resident.predicted", predicted,
               "whether these are what the program would have had (reading.md)"),
    RES_ROW(TEXT, "resident.not_predicted_why", not_predicted_why, "if not"),
    RES_ROW_AS(COUNT, ZERO_IS_NULL, "start.starts", start.starts,
               "of true(1) under it; of a program with libstdc++ true(1) has it"),
    RES_ROW(WHOLE, "start.cpu_ns", start.cpu_ns, "processor time of one, median", .csv = "start_cpu_ns",
            .late = true),
    RES_ROW(WHOLE, "start.more_cpu_ns", start.more_cpu_ns,
            "more than under the baseline: every process image pays it", .csv = "start_more_cpu_ns",
            .late = true),
    RES_ROW(JSON, "waste", waste, "where memory went, in its warm-up"),
    RES_LIST(LIST, PLAIN, "memory_runs", memory_runs, memory_count, &RES_RUN,
             "the same as `runs[]`, of the memory passes"),
    RES_ROW(NUMBER, "blow_up", blow_up, "peak resident over `live_peak_bytes` of the workload",
            .csv = "blow_up", .heading = "live", .group = "peak over", .alone = "peak over live",
            .as = RES_AS_FACTOR, .in_memory = true, .late = true),
    RES_ROW(NUMBER, "faults_minor", faults_minor, "median page faults of a timed run", .csv = "faults_minor",
            .heading = "faults", .group = "page", .alone = "page faults", .as = RES_AS_NUMBER,
            .in_memory = true, .late = true, .expendable = 3),
    RES_ROW(NUMBER, "kernel_share", kernel_share, "the kernel's share of the timed runs' processor time",
            .csv = "kernel_share", .late = true),
};
const struct res_described RES_RESULT_ENTRY = RES_DESCRIBE("a candidate", ENTRY_FIELDS);
#undef OWNER
#define SOME(name, count)                                                                                    \
    {                                                                                                        \
        name, ENTRY_FIELDS, count, sizeof(struct res_result_entry), offsetof(struct res_result_entry, rest), \
            &RES_RESULT_ENTRY                                                                                \
    }
static const struct res_described CONTROL = SOME("a control", sizeof ENTRY_FIELDS / sizeof ENTRY_FIELDS[0] -
                                                                  FIELDS_OF_CANDIDATES);
const struct res_described RES_RESULT_FLOOR = SOME("a floor", FLOOR_FIELDS);

/* ---- a workload ------------------------------------------------------------------------------ */

#define OWNER struct res_note
static const char *const SEVERITIES[] = {"info", "warning", "advice", NULL};
static const struct res_field NOTE_FIELDS[] = {
    RES_WORD("severity", severity, SEVERITIES, "`info`, `warning` or `advice`"),
    RES_ROW(TEXT, "label", label, "a word or two"),
    RES_ROW(TEXT, "text", text, "the line, as table and page print it"),
    RES_ROW_AS(TEXT, OMITTED, "detail", detail, "a command or variable to copy"),
    RES_ROW_AS(TRUTH, OMITTED, "details", details, "it is told with `--details` only"),
};
const struct res_described RES_NOTE = RES_DESCRIBE_WHOLLY("a note", NOTE_FIELDS);
#undef OWNER

#define OWNER struct res_process
static const struct res_field PROCESS_FIELDS[] = {
    RES_ROW_AS(WHOLE, OMITTED, "cpu_user_ns", cpu_user_ns, "processor time, of all its threads"),
    RES_ROW_AS(WHOLE, OMITTED, "cpu_system_ns", cpu_system_ns, "likewise, in the kernel"),
    RES_ROW_AS(WHOLE, OMITTED, "faults_minor", faults_minor, "page faults"),
    RES_ROW_AS(WHOLE, OMITTED, "faults_major", faults_major, "those that waited for a disk"),
    RES_ROW_AS(WHOLE, OMITTED, "rss_peak_bytes", rss_peak_bytes, "resident at most"),
    RES_ROW_AS(WHOLE, OMITTED, "rss_anon_peak_bytes", rss_anon_peak_bytes, "of no file, at most"),
    RES_ROW_AS(WHOLE, OMITTED, "ran_ns", ran_ns, "how long it ran"),
    RES_ROW_AS(TEXT, OMITTED, "ended", ended, "`exit 0`, `signal 15`, `exec` or `running`"),
    RES_ROW_AS(WHOLE, OMITTED, "brief_calls", brief_calls,
               "calls of threads of less than 10 ms of CPU time and 1 s, where three live at once"),
    RES_ROW_AS(NUMBER, OMITTED, "growth.bytes_per_hour", growth.bytes,
               "beyond what was live, where it is shown"),
    RES_ROW_AS(NUMBER, OMITTED, "growth.low", growth.low, "95 % interval"),
    RES_ROW_AS(NUMBER, OMITTED, "growth.high", growth.high, "likewise"),
    RES_ROW_AS(COUNT, OMITTED, "machine.processors", machine.processors, "online where it was recorded"),
    RES_ROW_AS(COUNT, OMITTED, "machine.affinity", machine.affinity, "of them, those that it might use"),
    RES_ROW_AS(COUNT, OMITTED, "machine.quota_milli", machine.quota_milli, "of 1000 a processor: its quota"),
    RES_ROW_AS(COUNT, OMITTED, "machine.page_bytes", machine.page_bytes, "of a page there"),
    RES_ROW_AS(COUNT, OMITTED, "machine.memory_bytes", machine.memory_bytes, "of all memory there"),
    RES_ROW_AS(COUNT, OMITTED, "machine.huge_pages", machine.huge_pages, "0: none; 1: on advice; 2: always"),
    RES_ROW_AS(TEXT, OMITTED, "machine.kernel", kernel, "release, there"),
};
static const struct res_described PROCESS = RES_DESCRIBE_WHOLLY("a process", PROCESS_FIELDS);
#undef OWNER

#define OWNER struct res_runs_on
static const struct res_field RUNS_ON_FIELDS[] = {
    RES_ROW(TEXT, "name", name, "of the allocator"),
    RES_ROW(TEXT, "version", version, "as it tells"),
    RES_ROW(TEXT, "how", how, "`libc`, `linked`, `preloaded` or `deepbind`"),
};
static const struct res_described RUNS_ON = RES_DESCRIBE_WHOLLY("an allocator", RUNS_ON_FIELDS);
#undef OWNER

#define ANSWER(key, member, saved_key, doc, price_doc)                                                       \
    RES_WORD(key ".answer", member.kind, RES_ANSWERS, doc),                                                  \
        RES_ROW(TEXT, key ".candidate", member.candidate, "whom it is about; `null`: nobody"),               \
        RES_ROW(WHOLE, key "." saved_key, member.saved, "how much it saves"),                                \
        RES_ROW(NUMBER, key ".of_process", member.of_process, "as a share of the process"),                  \
        RES_ROW(NUMBER, key ".of_malloc", member.of_malloc, "of the time in malloc, or of the heap"),        \
        RES_ROW(NUMBER, key ".may_hide", member.may_hide, "what noise may hide at most, a share"),           \
        RES_ROW(NUMBER, key ".price", member.price, price_doc)

const char *const RES_ANSWERS[] = {
    "none",      "nothing_to_compare", "does_not_matter", "not_trusted", "not_known", "too_few",
    "all_worse", "none_shown",         "not_worth",       "take",        "confirmed", "refuted",
    "undecided", "too_dear",           "starts_cost",     NULL};

#define OWNER struct res_program_verdict
static const struct res_field VERDICT_FIELDS[] = {
    ANSWER("time", time, "saved_ns", "what CPU time says: `take`, `not_worth`, `none_shown` ... (below)",
           "bytes more at the peak, where that is shown"),
    ANSWER("peak", peak, "saved_bytes", "likewise of memory at the peak",
           "share of time more, where that is shown"),
    ANSWER("rest", rest, "saved_bytes", "likewise at rest behind the last call", "likewise"),
};
const struct res_described RES_PROGRAM_VERDICT = RES_DESCRIBE_WHOLLY("a verdict", VERDICT_FIELDS);
#undef OWNER

#define OWNER struct res_result_workload
static const struct res_field WORKLOAD_FIELDS[] = {
    RES_ROW_AS(TEXT, REQUIRED, "name", name, "of the workload's file"),
    RES_ROW_AS(TEXT, OMITTED, "label", label, "of its host (`record --label`)"),
    RES_ROW(TEXT, "program", program, "what was recorded"),
    RES_ROW_AS(COUNT, ZERO_IS_NULL, "processes", processes, "of the recording, where there are several"),
    RES_ROW(NUMBER, "events_share", events_share, "this one's share of all their events"),
    RES_ROW_AS(COUNT, ZERO_IS_NULL, "group_processes", group_processes,
               "that were replayed one by one and summed"),
    RES_ROW(TEXT, "selection", selection, "what of the recording it is, in words"),
    RES_ROW(TEXT, "digest", digest, "of the calls executed; a run with another one failed"),
    RES_ROW(TEXT, "file_digest", file_digest, "of the workload's file"),
    RES_ROW_AS(COUNT, REQUIRED, "ops", ops, "of the workload's file"),
    RES_ROW(COUNT, "inherited_ops", inherited_ops, "`ops` that create what was there before; **not timed**"),
    RES_ROW_AS(TRUTH, TRUE, "complete", complete, "the recording was whole"),
    RES_ROW(TEXT, "incomplete_why", incomplete_why, "if not"),
    RES_ROW(COUNT, "lost_calls", lost_calls, "calls that it lacks"),
    RES_ROW_AS(TRUTH, TRUE, "lost_known", lost_known, "false: more may be missing"),
    RES_ROW(COUNT, "left_out_calls", left_out_calls,
            "on objects made while nothing was recorded; not replayed"),
    RES_ROW(COUNT, "removed_calls", removed_calls, "in windows that `--keep-windows` removed"),
    RES_WORD("live", live, LIVES,
             "`known`; memory is else `from_middle` (lower bounds), `paused` (inexact), `left_behind` (upper "
             "bounds)"),
    RES_ROW_AS(COUNT, REQUIRED, "threads", threads, "of the workload"),
    RES_ROW_AS(COUNT, REQUIRED, "duration_ns", duration_ns, "recorded time"),
    RES_ROW_AS(COUNT, REQUIRED, "live_peak_bytes", live_peak_bytes, "requested and not yet freed, at most"),
    RES_ROW_AS(COUNT, REQUIRED, "rounds", rounds, "finished"),
    RES_WORD_AS(
        OMITTED, "stopped.by", stopped_by, RES_ENDED,
        "what ended the rounds: `rounds`, `until`, `decided`, `time_budget`, `rounds_max` or `interrupt`"),
    RES_ROW(NUMBER, "stopped.width", stopped_width, "the widest interval of time, as a share of the ratio"),
    RES_ROW(NUMBER, "stopped.until_width", stopped_until_width, "the one asked for"),
    RES_ROW(WHOLE, "stopped.elapsed_ns", stopped_elapsed_ns, "of warm-up and rounds"),
    RES_ROW(WHOLE, "stopped.time_budget_ns", stopped_time_budget_ns, "that was given"),
    RES_ROW_AS(COUNT, ZERO_IS_NULL, "stopped.rounds_max", stopped_rounds_max, "rounds at most"),
    RES_ROW(COUNT, "memory_rounds", memory_rounds,
            "with a memory pass; 0: resident figures are of the timed runs"),
    RES_ROW(JSON, "samples", samples,
            "`time_ns[]` and `live_bytes[]` at each window's end, for all timed runs"),
    RES_ROW(JSON, "memory_samples", memory_samples, "the same of the memory passes"),
    RES_LIST(LIST, REQUIRED, "candidates", candidates, candidate_count, &RES_RESULT_ENTRY,
             "the baseline first, then as given"),
    RES_PART(STRUCT, OMITTED, "process", process, &PROCESS, "what the recorded process took in all"),
    RES_PART(STRUCT, OMITTED, "runs_on", runs_on, &RUNS_ON, "the allocator that the program itself used"),
    RES_ROW_AS(COUNT, OMITTED, "unseen_frees", unseen_frees, "objects that were freed past the recorder"),
    RES_ROW_AS(NUMBER, OMITTED, "share.time", share_time,
               "the baseline's time in calls over the CPU time of the process"),
    RES_ROW_AS(NUMBER, OMITTED, "share.time_low", share_time_low, "over the most of a confirmation's runs"),
    RES_ROW_AS(NUMBER, OMITTED, "share.time_high", share_time_high, "over the least"),
    RES_ROW_AS(NUMBER, OMITTED, "share.memory", share_memory,
               "the baseline's heap at its peak over the resident peak of the process"),
    RES_ROW_AS(TEXT, OMITTED, "trust.time", no_trust_time,
               "why times here are no ground for advice; left out: they are"),
    RES_ROW_AS(TEXT, OMITTED, "trust.memory", no_trust_memory, "likewise of memory"),
    RES_ROW_AS(NUMBER, OMITTED, "good_for", good_for,
               "the least difference of time that would surely be seen"),
    RES_PART(STRUCT, OMITTED, "verdict", verdict, &RES_PROGRAM_VERDICT, "the answer about the program"),
    RES_LIST(LIST, OMITTED, "notes", notes, note_count, &RES_NOTE, "lines on this workload for people"),
    RES_PART(INSIDE, REQUIRED, "control", control, &CONTROL, "the baseline a second time in each round"),
    RES_PART(STRUCT, SOUND, "floor", floor, &RES_RESULT_FLOOR, "`none`; `null`: nothing was subtracted"),
};
const struct res_described RES_RESULT_WORKLOAD = RES_DESCRIBE("a workload", WORKLOAD_FIELDS);
#undef OWNER

/* ---- the result ------------------------------------------------------------------------------ */

#define OWNER struct res_machine
static const struct res_field MACHINE_FIELDS[] = {
    RES_ROW(TEXT, "name", name, "`$MALLAB_MACHINE`; the host's own is not taken"),
    RES_ROW(TEXT, "cpu", cpu, "model"),
    RES_ROW(WHOLE, "cpus", cpus, "usable"),
    RES_ROW(WHOLE, "memory_bytes", memory_bytes, "physical"),
    RES_ROW_AS(WHOLE, OMITTED, "page_bytes", page_bytes, "of a page"),
    RES_ROW(TEXT, "architecture", architecture, "as uname(2) says"),
    RES_ROW(TEXT, "kernel", kernel, "release"),
    RES_ROW(TEXT, "libc", libc, "name and version"),
    RES_ROW_AS(TEXT, OMITTED, "libc_build.digest", libc_build.digest, "as a candidate's `build.digest`"),
    RES_ROW(TEXT, "transparent_huge_pages", transparent_huge_pages, "mode"),
    RES_ROW(TEXT, "governor", governor, "of the first processor"),
    RES_ROW(NUMBER, "load_1_minute", load_1_minute, "before the first run"),
    RES_ROW(MAYBE, "virtual_machine", virtual_machine, "whether the processor says so"),
};
const struct res_described RES_MACHINE = RES_DESCRIBE("a machine", MACHINE_FIELDS);
#undef OWNER

#define OWNER struct res_disturbance
static const struct res_field DISTURBANCE_FIELDS[] = {
    RES_ROW(TEXT, "kind", kind, "see \"What disturbs\""),
    RES_ROW(TEXT, "when", when, "`before`, `during` or `after`"),
    RES_ROW(NUMBER, "value", value, "what was seen"),
    RES_ROW(TEXT, "unit", unit, "of the value"),
    RES_ROW(TEXT, "text", text, "what was seen, in words"),
    RES_ROW(TEXT, "remedy", remedy, "what to do about it"),
};
static const struct res_described DISTURBANCE = RES_DESCRIBE_WHOLLY("a disturbance", DISTURBANCE_FIELDS);
#undef OWNER

#define OWNER struct res_missing
static const struct res_field MISSING_FIELDS[] = {
    RES_ROW(TEXT, "name", name, "of the candidate"),
    RES_ROW(TEXT, "reason", reason, "why it is missing"),
};
static const struct res_described MISSING = RES_DESCRIBE_WHOLLY("a missing candidate", MISSING_FIELDS);
#undef OWNER

#define OWNER struct res_result
static const struct res_field RESULT_FIELDS[] = {
    RES_ROW_AS(TEXT, REQUIRED, "schema", schema, "`mallab-experiment/1`; a higher number is refused"),
    RES_ROW(TEXT, "mallab_version", mallab_version, "what wrote it"),
    RES_ROW_AS(COUNT, ZERO_IS_NULL, "created_unix_ns", created_unix_ns, "when"),
    RES_ROW_AS(TEXT, OMITTED, "label", label, "what `--title` said"),
    RES_ROW_AS(TEXT, OMITTED, "commit", commit, "git's here; `-dirty`: changed"),
    RES_ROW_AS(TRUTH, TRUE, "complete", complete, "it ran to its end, on whole recordings"),
    RES_ROW(TEXT, "incomplete_why", incomplete_why, "if not"),
    RES_ROW_AS(TEXT, REQUIRED, "baseline", baseline, "what the others are compared with"),
    RES_ROW_AS(COUNT, REQUIRED, "rounds", rounds, "finished by every workload"),
    RES_ROW_AS(COUNT, ZERO_IS_NULL, "rounds_asked", rounds_asked, "asked for"),
    RES_ROW_AS(COUNT, OMITTED, "memory_rounds_asked", memory_rounds_asked,
               "of them, with a memory pass (reading.md)"),
    RES_ROW_AS(COUNT, OMITTED, "memory_idle_ms", memory_idle_ms,
               "recorded time that its runs rest at their end"),
    RES_ROW(TRUTH, "stopped", stopped, "Ctrl-C ended it"),
    RES_ROW_AS(WHOLE, OMITTED | RES_FIELD_ZERO_IS_NULL, "command_ns", asked.run_ns,
               "what the recorded command took"),
    RES_ROW_AS(COUNT, REQUIRED, "seed", seed, "of the order of runs"),
    RES_ROW(TRUTH, "check", check, "promises were looked at before (`--promises`)"),
    RES_ROW(TRUTH, "one_thread", one_thread, "all threads ran as one"),
    RES_ROW_AS(COUNT, OMITTED, "processors_asked", processors_asked,
               "told to each allocator (`--processors`); else each recording's"),
    RES_ROW_AS(COUNT, ZERO_IS_NULL, "limit_bytes", limit_bytes, "of each candidate (`--limit`)"),
    RES_ROW(TEXT, "limit_by", limit_by, "`cgroup v1`, `cgroup v2` or `RLIMIT_DATA`"),
    RES_ROW(TEXT, "limit_by_why", limit_by_why, "why not by control groups, where nobody chose"),
    RES_PART(INSIDE, REQUIRED, "machine", machine, &RES_MACHINE, "what it ran on"),
    RES_LIST(LIST, PLAIN, "disturbances", disturbances, disturbance_count, &DISTURBANCE,
             "what disturbed the measurement"),
    RES_LIST(LIST, REQUIRED, "missing", missing, missing_count, &MISSING,
             "default candidates, or the floor, that are not here"),
    RES_LIST(LIST, REQUIRED, "workloads", workloads, workload_count, &RES_RESULT_WORKLOAD, "below"),
    RES_PART(STRUCT, OMITTED, "verdict", verdict, &RES_PROGRAM_VERDICT, "that of the workload, of one"),
    RES_LIST(LIST, OMITTED, "notes", notes, note_count, &RES_NOTE, "lines on all workloads for people"),
    RES_PART(STRUCT, OMITTED | RES_FIELD_SOUND, "confirmation", confirmation, &RES_CONFIRMATION,
             "how the program itself was run (`--confirm`)"),
    RES_LIST(LIST, OMITTED, "confirmed", confirmed, confirmed_count, &RES_CONFIRMED,
             "what it showed of each candidate; the control last"),
    RES_PART(STRUCT, OMITTED, "fleet", fleet, &RES_FLEET, "what several workloads say together"),
};
const struct res_described RES_RESULT = RES_DESCRIBE("a result", RESULT_FIELDS);
#undef OWNER
