/* sentences.c - every line that is said of a result, a workload, a fleet. How a row is read stands in notes.h. */
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

/* Rows for what the program itself showed, where it was replayed too: a table tells it of one that was not. */
#define FAILED_ROWS \
    LINE("confirmed", ADVICE, "no: {not_confirmed}"), \
    LINE("confirmed", ADVICE, "no: the program failed under {baseline}: {control_run_failed}"), \
    LINE("confirmed", ADVICE, "no: the program failed under {one}: {one_failed}", .next = res_each_confirmed)
#define RUNS_ROW \
    LINE("runs", BASIS, "the program ran {confirm_runs}; {timed_by} measured its user and system time[; {baseline} against itself {control_range}]")

const struct res_sentence RES_WORKLOAD_SENTENCES[] = {
    LINE("recorded", WARNING, "the recording is not whole: [{cut}; ]{incomplete}[; {lost} calls were lost][; {removed} calls were in windows that are removed][; {left_out} calls on objects that were made unrecorded are left out]"),
    LINE("recorded", WARNING, "the recording goes {cut_alone}"),

    /* ---- what pays: on the screen a line of 66 columns each ---- */
    LINE(RES_VERDICT_LABEL, ADVICE, "no candidate survives the limit of {limit}: raise --limit", .when = res_whole_limit),
    LINE(RES_VERDICT_LABEL, ADVICE, "there is none: every candidate failed", .when = res_all_failed),
    LINE(RES_VERDICT_LABEL, ADVICE, "{survivors} the limit of {limit}, {dead} not"),
    LINE(RES_VERDICT_LABEL, ADVICE, "there is none: the baseline {baseline} failed; -b names another", .when = res_baseline_failed),
    LINE(RES_VERDICT_LABEL, ADVICE, "malloc does not matter: no allocator can save 1 % of the program", .when = res_nothing_matters),
    TIME(DOES_NOT_MATTER, "time: it does not matter, malloc takes {calls_share} of the program"),
    TIME(NOT_TRUSTED, "time: no verdict, {no_trust_time}"),
    TIME(NOTHING_TO_COMPARE, "time: there is nothing to compare {baseline} with"),
    TIME(TOO_FEW, "time: no verdict from {rounds}, it takes {rounds_needed}[: --time-budget {budget_needed}]"),
    TIME(STARTS_COST, "time: stay with {baseline}, {who} takes {time_lost} more with its start"),
    TIME(ALL_WORSE, "time: stay with {baseline}, every other is slower"),
    TIME(NONE_SHOWN, "time: stay with {baseline}, no other is shown to be faster"),
    TIME(TOO_DEAR, "time: stay with {baseline}, a faster one costs too much"),
    TIME(NOT_WORTH, "time: do not bother, less than {hidden_little} could be gained[, {starts} counted]"),
    TIME(NOT_WORTH, "time: do not bother, {who} saves {time_saved_share}"),
    TIME(TAKE, "time: {who} saves {time_part}, for {price_bytes} more"),
    TIME(TAKE, "time: {who} saves [{time_saved} of CPU, ]{time_saved_share}", .when = res_is_free),
    TIME(UNDECIDED, "time: [{tried}, ]{who} may save {time_saved_share}[: {untried}]"),
    TIME(CONFIRMED, "time: {who} saves {time_part}, for {price_bytes} more"),
    TIME(CONFIRMED, "time: {who} saves [{time_saved} of CPU, ]{time_saved_share}", .when = res_is_free),
    TIME(REFUTED, "{who} saves in malloc, but the program itself takes [{refuted_time} ]more"),
    PEAK(DOES_NOT_MATTER, "memory: it does not matter, the heap is {heap_share} of the program's"),
    PEAK(NOT_TRUSTED, "memory: no verdict, {no_trust_memory}"),
    PEAK(NOT_KNOWN, "memory: not known, {live}"),
    PEAK(TOO_FEW, "memory: no verdict from {memory_rounds}, it takes {memory_rounds_needed}"),
    PEAK(NONE_SHOWN, "memory: stay with {baseline}, no other is shown to need less", .when = res_peak_alone),
    PEAK(TOO_DEAR, "memory: stay with {baseline}, a smaller one costs too much", .when = res_peak_alone),
    PEAK(ALL_WORSE, "memory: stay with {baseline}, every other needs more", .when = res_peak_alone),
    PEAK(NOT_WORTH, "memory: do not bother, {who} saves {bytes_saved}, {bytes_saved_share}", .when = res_peak_alone),
    REST(TAKE, "memory: {who} saves {bytes_saved} at rest, {bytes_saved_share}", .when = res_rest_alone),
    PEAK(TAKE, "memory: {who} saves {bytes_saved} at the peak, [{rest_who} ]{rest_saved} at rest", .when = res_rest_too),
    PEAK(TAKE, "memory: {who} saves {bytes_saved}, {bytes_part}, for {price_time}", .when = res_peak_alone),
    PEAK(TAKE, "memory: {who} saves {bytes_saved}, {bytes_saved_share}", .when = res_peak_is_free),
    PEAK(UNDECIDED, "memory: undecided, {who} may save {bytes_saved}, [{rest_who} ]{rest_saved} at rest", .when = res_rest_too),
    PEAK(UNDECIDED, "memory: undecided, {who} may save {bytes_saved}, {bytes_saved_share}", .when = res_peak_alone),
    PEAK(CONFIRMED, "memory: {who} saves {bytes_saved}, {bytes_part}, for {price_time}"),
    PEAK(CONFIRMED, "memory: {who} saves [{bytes_saved}, ]{bytes_saved_share}", .when = res_is_free),
    PEAK(REFUTED, "{who} saves in malloc, but the program itself needs [{refuted_peak} ]more"),
    LINE(RES_VERDICT_LABEL, ADVICE, "{own_allocator}", .when = res_nothing_matters),
    LINE("growth", INFO, "beyond what is live, MB an hour: [as recorded {grew}; ]{growing}"),
    LINE("leak", WARNING, "what is live grows {leaking} an hour under any: see 'mallab leaks'"),
    LINE("try it", ADVICE, "{entry}", .detail = "{deploy}", .next = res_each_tried),
    LINE("try it", ADVICE, "do not preload {entry}: {unseen} frees went past any (RTLD_DEEPBIND)", .next = res_each_crashing),

    /* ---- how far to trust it: the first that is so ---- */
    LINE("resolution", INFO, "no time is judged: the baseline's second run failed ({control_failed})"),
    LINE("resolution", WARNING, "the calls of {one_thread} threads ran on one, which can reverse a verdict"),
    LINE("resolution", WARNING, "{few_calls} too few for small differences: the allocators' own start may be most of it"),
    LINE("resolution", INFO, "too noisy: only changes above {good_for_much} would show[; {interrupted}][; {disturbed_by}]"),
    LINE("resolution", INFO, "changes above {good_for} would show[; {interrupted}][; {disturbed_by}][; --decide time<=+{finer} takes {finer_time} more]"),
    LINE("resolution", INFO, "{rounds_few} show only large changes of time; smaller ones take {rounds_needed}[; {interrupted}][; {disturbed_by}]"),
    LINE("resolution", INFO, "unknown: {rounds} ran, a verdict takes {rounds_needed}[; {interrupted}][; {disturbed_by}]", .when = res_few_rounds),
    LINE("machine", INFO, "allocators size themselves for {cpus_asked} CPUs[, recorded with {cpus_there}]"),
    LINE("machine", BASIS, "allocators size themselves for the {cpus_other} CPUs of the recording, not for the {cpus} here"),
    LINE("machine", BASIS, "not recorded: allocators size themselves for the {cpus_unknown} CPUs here"),
    FAILED_ROWS,
    LINE("confirmed", ADVICE, "undecided: {few_pairs}[; {one} takes {one_peak}]", .next = res_each_confirmed),
    LINE("confirmed", ADVICE, "{one} takes {one_time}, calls alone {calls_alone}; the rest is the program's own code, e.g. where objects lie[; it takes {one_peak}]", .next = res_each_confirmed),
    LINE("confirmed", ADVICE, "{one} takes {one_time_alike}[ and {one_peak}]", .next = res_each_confirmed),
    LINE("confirmed", ADVICE, "undecided: only changes of {one} above {one_resolves} would show[; it takes {one_peak}]", .next = res_each_confirmed),
    RUNS_ROW,

    /* ---- what figures rest on ---- */
    LINE("growth", BASIS, "as recorded by {grew_range} MB an hour"),
    LINE("preload", CAVEAT, "{unseen} frees go past any preload: a part of the program calls its C library by itself (RTLD_DEEPBIND, as php loads extensions), and under a preloaded allocator it may crash"),
    LINE("heap", BASIS, "{own_allocator}"),
    LINE("noise", BASIS, "{baseline} against itself differs in time by {noise_time}, at the peak by {noise_peak}[ ({noise_large})]", .when = res_control_held),
    LINE("basis", BASIS, "{rounds} ran in an order shuffled by seed {seed}[, stopped before the {stopped_asked} asked for]; {harness}"),
    LINE("memory", CAVEAT, "resident memory is that of the timed runs, on the machine's clock: {why_timed}"),
    LINE("limit", BASIS, "each candidate could hold {limit_held} in memory, as in a container: {limit_by}, without swap, the harness' own added[; ran into it and went on: {pressure}. The kernel found pages to take back each time; next time it may find none]"),
    LINE("limit", BASIS, "each candidate could map {limit_mapped} (RLIMIT_DATA: private writable memory, resident or not)[, not hold it as in a container: {limit_why}]"),
    LINE("unpredicted", CAVEAT, "memory of {entry} is not predicted: {unpredicted}", .next = res_each_candidate),
    LINE("live", CAVEAT, "live bytes and resident memory are not exact: {live}"),
    LINE("group", BASIS, "latency of calls, and what is resident split, are of one process of {group}: --process PID chooses it"),
    LINE("latency", CAVEAT, "{entry} was not measured: {latency_failed}", .next = res_each_candidate),
    LINE("failed", CAVEAT, "{entry}: {failed}", .next = res_each_candidate),
    LINE("unproven", CAVEAT, "{entry} with {unproven}: nothing tells whether the allocator reads it ('settings = unproven')", .next = res_each_candidate),
    LINE("confirm", BASIS, "{confirm_how}", .detail = "{confirm_command}"),
    {0},
};

const struct res_sentence RES_RESULT_SENTENCES[] = {
    LINE(RES_VERDICT_LABEL, ADVICE, "stay with {baseline}: {all_worse} more time and memory"),
    TIME(TOO_FEW, "time: no verdict, {least_pairs}"),
    TIME(ALL_WORSE, "time: stay with {baseline}, every other is slower", .when = res_parts_differ),
    TIME(NONE_SHOWN, "time: stay with {baseline}, no other is shown to be faster"),
    TIME(TOO_DEAR, "time: stay with {baseline}, a faster one costs too much"),
    TIME(NOT_WORTH, "time: do not bother, {who} saves {time_saved_share}"),
    TIME(CONFIRMED, "time: {who} saves {time_part}, for {price_bytes} more"),
    TIME(CONFIRMED, "time: {who} saves [{time_saved} of CPU, ]{time_saved_share}", .when = res_is_free),
    PEAK(TOO_FEW, "memory: no verdict, {least_looks}"),
    PEAK(ALL_WORSE, "memory: stay with {baseline}, every other needs more", .when = res_parts_differ),
    PEAK(NONE_SHOWN, "memory: stay with {baseline}, no other is shown to need less"),
    PEAK(TOO_DEAR, "memory: stay with {baseline}, a smaller one costs too much"),
    PEAK(NOT_WORTH, "memory: do not bother, {who} saves {bytes_saved}, {bytes_saved_share}"),
    PEAK(CONFIRMED, "memory: {who} saves {bytes_saved}, {bytes_part}, for {price_time}"),
    PEAK(CONFIRMED, "memory: {who} saves [{bytes_saved}, ]{bytes_saved_share}", .when = res_is_free),
    LINE("try it", ADVICE, "{one}", .detail = "{deploy}", .next = res_each_confirmed_tried),
    LINE("resolution", INFO, "{pairs_resolve}"),
    FAILED_ROWS,
    RUNS_ROW,
    LINE("machine", BASIS, "{cpu}, {cpus} CPUs, {ram}[, {virtual}]; Linux {kernel}, {libc}; huge pages {huge_pages}, governor {governor}[, load {load}]"),
    LINE("disturbed", CAVEAT, "{disturbance}[: {remedy}]", .next = res_each_disturbance),
    LINE("missing", INFO, "{missing}: {missing_why}", .next = res_each_missing),
    {0},
};

const struct res_sentence RES_FLEET_SENTENCES[] = {
    LINE(RES_VERDICT_LABEL, ADVICE, "there is none over all: {fleet_workloads} tell no spread, 5 of equal share do", .of = RES_OF_TIME, .kind = RES_ANSWER_TOO_FEW),
    TIME(ALL_WORSE, "time: stay with {fleet_baseline}, every other takes more {fleet_time} over all"),
    TIME(NONE_SHOWN, "time: stay with {fleet_baseline}, over all none is shown to take less {fleet_time}"),
    TIME(NOT_WORTH, "time: do not bother, less than {hidden_little} could be gained over all"),
    TIME(NOT_WORTH, "time: do not bother, over all {who} takes {fleet_less_time} less {fleet_time} on average"),
    TIME(TAKE, "time: {who} takes {fleet_less_time} less {fleet_time} on average[ ({fleet_range_time})][, {fleet_saved} in all][, but peaks of all hosts are {fleet_price} more][; not told apart from it: {fleet_rivals}]"),
    PEAK(NOT_WORTH, "memory: do not bother, over all {who} holds {fleet_less_peak} less on average"),
    PEAK(TAKE, "memory: {who} holds {fleet_less_peak} less on average[ ({fleet_range_peak})]"),
    LINE("loses", WARNING, "{fleet_candidate} takes over {loser_limit} more {fleet_time} on {losers}", .next = res_each_fleet_candidate),
    LINE("failed", WARNING, "{fleet_candidate} on {failed_on}: {failed_on_why}", .next = res_each_fleet_candidate),
    LINE("missing", WARNING, "{missing_count} of those expected: {missing_names}"),
    LINE("left out", WARNING, "{left_out_count}: {left_out_names}"),
    LINE("mixed", WARNING, "{mixed_what}: {mixed_kinds}", .next = res_each_mixed),
    LINE("basis", WARNING, "{fleet_unrecorded} not recorded of most programs: figures are of malloc alone, larger than what a program shows"),
    LINE("without", WARNING, "time of {without_time} is in no common figure: {without_time_why}"),
    LINE("without", WARNING, "memory of {without_memory} is in no common figure: {without_memory_why}"),
    {0},
};
