/* sentences.c - every line that is said of a result, a workload, a fleet. How a row is read stands in sentences.h. */
#include "results/report/notes/sentences.h"

#include "results/report/notes/notes.h"

/* A sentence stands on one line, to be found by its words. */
/* clang-format off */
#define ADVICE  RES_NOTE_ADVICE, false
#define WARNING RES_NOTE_WARNING, false
#define INFO    RES_NOTE_INFO, false
#define CAVEAT  RES_NOTE_WARNING, true
#define BASIS   RES_NOTE_INFO, true

/* label, ADVICE or the like, words, and whatever else a row has. */
#define LINE(its_label, how, ...) {its_label, how, .words = __VA_ARGS__}

/* An answer of a kind, in the lines that answer. */
#define TIME(which, ...) LINE(RES_VERDICT_LABEL, ADVICE, __VA_ARGS__, .of = RES_OF_TIME, .kind = RES_ANSWER_##which)
#define PEAK(which, ...) LINE(RES_VERDICT_LABEL, ADVICE, __VA_ARGS__, .of = RES_OF_PEAK, .kind = RES_ANSWER_##which)
#define REST(which, ...) LINE(RES_VERDICT_LABEL, ADVICE, __VA_ARGS__, .of = RES_OF_REST, .kind = RES_ANSWER_##which)

/* What the program itself showed: the same of a program that was replayed, and of one that was not. */
#define CONFIRMED_ROWS \
    LINE("shown", ADVICE, "not confirmed: {not_confirmed}"), \
    LINE("shown", ADVICE, "not confirmed: {baseline} failed in the program itself: {control_run_failed}"), \
    LINE("shown", ADVICE, "{one} failed in the program itself: {one_failed}", .next = res_each_confirmed), \
    LINE("shown", ADVICE, "{one} in the program itself: time {one_time}[; memory {one_peak}]", .next = res_each_confirmed), \
    LINE("decides", INFO, "no number of runs: the program's own spread hides what an allocator could do ({decide_runs} of them resolve {decide_resolution})", .when = res_is_hopeless), \
    LINE("decides", INFO, "{decide_runs} runs of it, {decide_time}[, to resolve {decide_resolution}]", .detail = "{decide_command}", .when = res_is_decidable)

#define RUNS_WORDS \
    "the program ran {confirm_runs}; user and system time by {timed_by}[; {baseline} against itself {control_range}]"

const struct res_sentence RES_WORKLOAD_SENTENCES[] = {
    LINE("recorded", WARNING, "[{cut}; ]the recording is not whole: {incomplete}[; {lost} calls were lost][; {removed} calls were in windows that are removed][; {left_out} calls on objects that were made unrecorded are left out]"),
    LINE("recorded", WARNING, "{cut_alone}"),

    /* ---- what pays ---- */
    LINE(RES_VERDICT_LABEL, ADVICE, "{unseen} objects were freed past the recorder: a part of the program calls its C library past any preload (RTLD_DEEPBIND, as php loads extensions), and under a preloaded allocator it may crash"),
    LINE(RES_VERDICT_LABEL, ADVICE, "no candidate survives the limit of {limit}: raise --limit", .when = res_whole_limit),
    LINE(RES_VERDICT_LABEL, ADVICE, "{survivors} the limit of {limit}, {dead} not"),
    LINE(RES_VERDICT_LABEL, ADVICE, "no more: the baseline {baseline} failed; -b names another", .when = res_baseline_failed),
    LINE(RES_VERDICT_LABEL, ADVICE, "it does not matter here: malloc takes {time_share} of the CPU time and {memory_share} of the memory", .when = res_nothing_matters),
    TIME(DOES_NOT_MATTER, "time: does not matter, all calls take {calls_share} of the program"),
    TIME(NOT_TRUSTED, "time: not trustworthy here: {no_trust_time}"),
    TIME(NOTHING_TO_COMPARE, "time: nothing to compare {baseline} with"),
    TIME(TOO_FEW, "time: no verdict from the {rounds} that the time budget holds, it takes {rounds_needed} (--time-budget {budget_needed})", .when = res_out_of_time),
    TIME(TOO_FEW, "time: no verdict, stopped after {rounds_made} of {rounds_asked} rounds: it takes {rounds_needed}", .when = res_stopped_early),
    TIME(TOO_FEW, "time: no verdict from {rounds_wanting}, it takes {rounds_needed} (-n 10)"),
    TIME(ALL_WORSE, "time: stay with {baseline}, every other is slower"),
    TIME(NONE_SHOWN, "time: stay with {baseline}, none is shown to be faster[; up to {may_hide} may hide in the noise][: --resolve {finer_word} takes {finer_time} more]"),
    TIME(NOT_WORTH, "time: do not bother, less than {hidden_little} could be gained"),
    TIME(NOT_WORTH, "time: do not bother, {who} saves {time_saved_share}"),
    TIME(TAKE, "time: {who}, {time_saved} of CPU less, {time_saved_share}[, but {price_bytes} more at the peak][; {looks_faster} is not shown to be faster than {who} and takes {looks_faster_bytes} more]"),
    TIME(UNDECIDED, "time: {who}, {time_saved} of CPU less, {time_saved_share}, by its replays[, but {price_bytes} more at the peak]; the program's own runs do not show it[ (they resolve {resolution})]"),
    TIME(CONFIRMED, "time: {who}, [{time_saved} of CPU less, ]{time_saved_share}, as the program itself shows[, but {price_bytes} more at the peak]"),
    TIME(REFUTED, "time: stay with {baseline}, {who} is slower in the program itself, whatever its replays save"),
    PEAK(DOES_NOT_MATTER, "memory: does not matter, the heap is {heap_share} of the program's"),
    PEAK(NOT_TRUSTED, "memory: not trustworthy here: {no_trust_memory}"),
    PEAK(NOT_KNOWN, "memory: no verdict: {live}"),
    PEAK(TOO_FEW, "memory: no verdict from {memory_rounds}, it takes {memory_rounds_needed}"),
    PEAK(NONE_SHOWN, "memory: stay with {baseline}, none is shown to need less[ ({never_rests})]", .when = res_peak_alone),
    PEAK(NONE_SHOWN, "peak: stay with {baseline}", .when = res_rest_too),
    PEAK(ALL_WORSE, "memory: stay with {baseline}, every other needs more"),
    PEAK(NOT_WORTH, "peak: do not bother, {who} saves {bytes_saved}, {bytes_saved_share}"),
    PEAK(TAKE, "peak: {who}, {bytes_saved} less, {bytes_saved_share}[, but more time, {price_time}]"),
    PEAK(UNDECIDED, "peak: {who}, {bytes_saved} less, {bytes_saved_share}, by its replays[, but more time, {price_time}]; the program's own runs do not show it"),
    PEAK(CONFIRMED, "peak: {who}, [{bytes_saved} less, ]{bytes_saved_share}, as the program itself shows[, but more time, {price_time}]"),
    PEAK(REFUTED, "memory: stay with {baseline}, {who} needs more in the program itself, whatever its replays save"),
    REST(NOT_WORTH, "rest: do not bother, {who} saves {bytes_saved}, {bytes_saved_share}"),
    REST(TAKE, "rest: {who}, {bytes_saved} less, {bytes_saved_share}[, but more time, {price_time}]"),
    LINE(RES_VERDICT_LABEL, ADVICE, "{own_allocator}"),
    LINE(RES_VERDICT_LABEL, ADVICE, "most of its memory, {mapped}, does not come from malloc: the program maps it itself"),
    LINE("try it", ADVICE, "{entry}", .detail = "{deploy}", .next = res_each_tried),
    LINE("try it", ADVICE, "no LD_PRELOAD of {entry} before its modules load without RTLD_DEEPBIND", .next = res_each_crashing),
    LINE("good for", INFO, "no verdict on time, the baseline's second run failed ({control_failed}); {rounds_in_all}[; {disturbed_by}]"),
    LINE("good for", INFO, "[differences of {good_for} and more of malloc's time where none is shown; ][{finer} would take {finer_time} more; ]{rounds_in_all}[; {disturbed_by}]", .when = res_control_held),

    /* ---- the program itself ---- */
    LINE("covers", INFO, "all {processes} processes, of which {compared} compared[; each start costs {start_costs} more]"),
    CONFIRMED_ROWS,
    LINE("runs", BASIS, RUNS_WORDS),

    /* ---- what figures rest on ---- */
    LINE("threads", WARNING, "the calls of {one_thread} threads ran on one (--one-thread), which can reverse a verdict"),
    LINE("noise", BASIS, "not known: {baseline}, which is held against itself for it, failed", .when = res_control_failed),
    LINE("noise", BASIS, "{baseline} against itself: time {noise_time}, peak {noise_peak}[ ({noise_large})]", .when = res_control_held),
    LINE("basis", BASIS, "{rounds} in an order shuffled by seed {seed}[, ended by --resolve {ended_width}][, ended by the time budget of {ended_budget}][, no more than {ended_most} are made (-n)][, stopped before the {stopped_asked} asked for][, stopped in {stopped_behind}][; the widest interval of time is {ended_widest}]; {harness}"),
    LINE("memory", CAVEAT, "resident is of the timed runs, on the machine's clock: {why_timed}"),
    LINE("limit", INFO, "each candidate could hold {limit_held} in memory, as in a container: {limit_by}, without swap, the harness' own added[; ran into it and went on: {pressure}. The kernel found pages to take back each time; next time it may find none]"),
    LINE("limit", INFO, "each candidate could map {limit_mapped} (RLIMIT_DATA: private writable memory, resident or not)[, not hold it as in a container: {limit_why}]"),
    LINE("at end", CAVEAT, "it held {end_live} live of {peak_live} at its peak, as a program does that has freed all before it exits: end and idle are of that, and not of a service at rest"),
    LINE("unpredicted", CAVEAT, "memory of {entry} is not predicted: {unpredicted}", .next = res_each_candidate),
    LINE("live", CAVEAT, "{live}"),
    LINE("group", BASIS, "latency of calls, and what is resident split, are of one process of {group}: --process PID chooses it"),
    LINE("latency", WARNING, "{entry} was not measured: {latency_failed}", .next = res_each_candidate),
    LINE("failed", WARNING, "{entry}: {failed}", .next = res_each_candidate),
    LINE("few calls", WARNING, "{few_calls} calls are few: the allocators' own start may be most of what is measured; record for longer"),
    LINE("unproven", WARNING, "{entry} with {unproven}: nothing tells whether the allocator reads it ('settings = unproven')", .next = res_each_candidate),

    /* ---- what would confirm ---- */
    LINE("confirm", INFO, "runs the service itself", .detail = "{confirm_command}", .when = res_confirm_service),
    LINE("confirm", INFO, "each run to its end[; {or_service}]", .detail = "{confirm_command}", .when = res_confirm_cut),
    LINE("confirm", INFO, "{confirm_pairs}[; {or_service}]", .detail = "{confirm_command}", .when = res_confirm_timed),
    {0},
};

const struct res_sentence RES_RESULT_SENTENCES[] = {
    TIME(TOO_FEW, "time: no verdict, it takes {rounds_needed} pairs of runs of each"),
    TIME(ALL_WORSE, "time: stay with {baseline}, every other is slower"),
    TIME(NONE_SHOWN, "time: stay with {baseline}, none is shown to be faster"),
    TIME(NOT_WORTH, "time: do not bother, {who} saves {time_saved_share}"),
    TIME(CONFIRMED, "time: {who}, [{time_saved} of CPU less, ]{time_saved_share}[, but {price_bytes} more at the peak]"),
    PEAK(ALL_WORSE, "memory: stay with {baseline}, every other needs more"),
    PEAK(NONE_SHOWN, "memory: stay with {baseline}, none is shown to need less"),
    PEAK(NOT_WORTH, "peak: do not bother, {who} saves {bytes_saved}, {bytes_saved_share}"),
    PEAK(CONFIRMED, "peak: {who}, [{bytes_saved} less, ]{bytes_saved_share}[, but more time, {price_time}]"),
    CONFIRMED_ROWS,
    LINE("runs", INFO, RUNS_WORDS),
    LINE("machine", BASIS, "{cpu}, {cpus} CPUs, {ram}[, {virtual}]; Linux {kernel}, {libc}; huge pages {huge_pages}, governor {governor}[, load {load}]"),
    LINE("disturbed", CAVEAT, "{disturbance}[: {remedy}]", .next = res_each_disturbance),
    LINE("missing", INFO, "{missing}: {missing_why}", .next = res_each_missing),
    {0},
};

const struct res_sentence RES_FLEET_SENTENCES[] = {
    LINE(RES_VERDICT_LABEL, ADVICE, "none over all: spread unknown, {fleet_workloads}; with 5 of equal share it is told", .of = RES_OF_TIME, .kind = RES_ANSWER_TOO_FEW),
    TIME(ALL_WORSE, "time: stay with {fleet_baseline}, every other takes more {fleet_time} over all"),
    TIME(NONE_SHOWN, "time: stay with {fleet_baseline}, over all none is shown to take less {fleet_time}"),
    TIME(NOT_WORTH, "time: do not bother, less than {hidden_little} could be gained over all"),
    TIME(NOT_WORTH, "time: do not bother, over all {who} takes {fleet_less_time} less {fleet_time} on average"),
    TIME(TAKE, "time: {who} takes {fleet_less_time} less {fleet_time} on average[ ({fleet_range_time})][, {fleet_saved} in all][, but peaks of all hosts are {fleet_price} more][; not told apart from it: {fleet_rivals}]"),
    PEAK(NOT_WORTH, "peak: do not bother, over all {who} holds {fleet_less_peak} less on average"),
    PEAK(TAKE, "peak: {who} holds {fleet_less_peak} less on average[ ({fleet_range_peak})]"),
    LINE("loses", WARNING, "{fleet_candidate} takes over {loser_limit} more {fleet_time} on {losers}", .next = res_each_fleet_candidate),
    LINE("failed", WARNING, "{fleet_candidate} on {failed_on}: {failed_on_why}", .next = res_each_fleet_candidate),
    LINE("missing", WARNING, "{missing_count} of those expected: {missing_names}"),
    LINE("left out", WARNING, "{left_out_count}: {left_out_names}"),
    LINE("mixed", WARNING, "{mixed_what}: {mixed_kinds}", .next = res_each_mixed),
    LINE("basis", WARNING, "{fleet_unrecorded} not recorded of most programs: figures are of malloc alone, larger than what a program shows"),
    LINE("without", WARNING, "time of {without_time} is in no common figure: {without_time_why}"),
    LINE("without", WARNING, "memory of {without_memory} is in no common figure: {without_memory_why}"),
    LINE("range", INFO, "ranges are of these {all_hosts} hosts alone, as --all-hosts says: of others they say nothing"),
    LINE("range", INFO, "among {few_hosts} workloads of equal share there may be none of a rare kind that loses: the range says nothing of those"),
    {0},
};
