/* tuned.c - the fields of a search, a row each, and their check. */
#include "results/measure/result/tuned.h"

#include "results/measure/base/shell_line.h"

#define ROWS_MAX 4u /* the default and the finalists */

static const char *const LIVES[] = {"known", "from_middle", "paused", "left_behind", NULL};
static const char *const MEMORIES[] = {"peak", "mean", "end", "idle", NULL};
static const char *const STATES[] = {
    [RES_TUNE_UNTRIED] = "untried",       [RES_TUNE_ALIVE] = "alive",
    [RES_TUNE_FAILED] = "failed",         [RES_TUNE_DOMINATED] = "dominated",
    [RES_TUNE_OUTRANKED] = "outranked",   [RES_TUNE_FINALIST] = "finalist",
    [RES_TUNE_SIMPLIFIED] = "simplified", [RES_TUNE_STATES] = NULL,
};

#define FIGURE(name, words, p_doc)                                                                           \
    RES_RATIO_ROWS(#name ".", name.difference.ratio, name.difference.interval.low,                           \
                   name.difference.interval.high, "to the default's; `null` of the default",                 \
                   "its interval"),                                                                          \
        RES_WORD(#name ".verdict", name.difference.verdict, words, "as of `ab`, and stricter (tuning.md)"),  \
        RES_ROW(NUMBER, #name ".p", name.p, p_doc)

#define OWNER struct res_tuned_row
static const struct res_field ROW_FIELDS[] = {
    RES_ROW_AS(TEXT, REQUIRED, "name", name, "as for `-a`"),
    RES_ROW(TEXT, "allocator", allocator, "whose settings they are"),
    RES_ROW_AS(TRUTH, REQUIRED, "is_default", is_default, "whether it is what all are held against"),
    RES_ROW(PAIRS, "settings", settings, "values by setting"),
    RES_ROW(PAIRS, "environment", environment, "variables that set them"),
    RES_ROW_AS(TEXT, REQUIRED, "paste", paste, "the same as words for a shell"),
    RES_ROW(TEXT, "library", library, "what to preload; `null` for the C library's malloc"),
    FIGURE(time, RES_TIME_VERDICTS,
           "of the permutation test of steady times; of the signed-rank test where no batches are timed"),
    RES_ROW(NUMBER, "time.typical_ns_per_op", time.value, "median over the rounds"),
    FIGURE(memory, RES_MEMORY_VERDICTS,
           "of Student's test for few passes; of the signed-rank test where the timed runs tell memory"),
    RES_ROW(NUMBER, "memory.bytes", memory.value, "median over the passes"),
};
const struct res_described RES_TUNED_ROW = RES_DESCRIBE("a row of tune", ROW_FIELDS);
#undef OWNER

#define OWNER struct res_tuned_point
static const struct res_field POINT_FIELDS[] = {
    RES_ROW(TEXT, "name", name, "as for `-a`"),
    RES_ROW(TEXT, "allocator", allocator, "whose settings they are"),
    RES_ROW(PAIRS, "settings", settings, "values by setting"),
    RES_WORD("state", state, STATES, "what became of it; `simplified` is of older results"),
    RES_ROW(TEXT, "failed", failed, "why a run of it failed, or `null`"),
    RES_ROW(NUMBER, "time_ratio", time_ratio, "median of `time_ratios`"),
    RES_ROW(NUMBER, "memory_ratio", memory_ratio, "median of `memory_ratios`"),
    RES_LIST(NUMBERS, PLAIN, "time_ratios", time_ratios, time_count, NULL,
             "to the default's run in the same heat"),
    RES_LIST(NUMBERS, PLAIN, "memory_ratios", memory_ratios, memory_count, NULL, "likewise"),
};
const struct res_described RES_TUNED_POINT = RES_DESCRIBE("a point of tune", POINT_FIELDS);
#undef OWNER

#define OWNER struct res_result_workload
static const struct res_field SEARCHED_FIELDS[] = {
    RES_ROW_AS(TEXT, REQUIRED, "name", name, "of the workload's file"),
    RES_ROW(TEXT, "program", program, "what was recorded"),
    RES_ROW(COUNT, "ops", ops, "of the workload's file"),
    RES_ROW(COUNT, "threads", threads, "of the workload"),
    RES_ROW(COUNT, "duration_ns", duration_ns, "recorded time"),
    RES_ROW(COUNT, "live_peak_bytes", live_peak_bytes, "requested and not yet freed, at most"),
    RES_WORD("live", live, LIVES, "as of a workload"),
};
#undef OWNER
static const struct res_described SEARCHED = {"the workload of tune",
                                              SEARCHED_FIELDS,
                                              sizeof SEARCHED_FIELDS / sizeof SEARCHED_FIELDS[0],
                                              sizeof(struct res_result_workload),
                                              offsetof(struct res_result_workload, rest),
                                              &RES_RESULT_WORKLOAD};

#define COUNTED(word, state, ...)                                                                            \
    RES_ROW(COUNT, "counts." word, counts[state], "points in this state", __VA_ARGS__)

#define OWNER struct res_tuned
static const struct res_field TUNED_FIELDS[] = {
    RES_ROW_AS(TRUTH, REQUIRED, "confirmed", confirmed, "whether there were 8 fresh rounds at least"),
    RES_ROW(TRUTH, "stopped", stopped, "whether Ctrl-C ended it"),
    RES_WORD("memory", memory, MEMORIES, "the resident memory that counts beside time"),
    RES_ROW_AS(TEXT, REQUIRED, "default", standard, "what all are held against"),
    RES_ROW(TEXTS, "allocators", allocators, "whose settings were searched"),
    RES_PART(INSIDE, REQUIRED, "workload", workload, &SEARCHED, "what was searched for"),
    RES_ROW(COUNT, "seed", seed, "of order and intervals"),
    RES_ROW(COUNT, "budget_ns", budget_ns, "that was given"),
    RES_ROW(COUNT, "search_ns", search_ns, "that the search took"),
    RES_ROW(COUNT, "confirmation_ns", confirmation_ns, "that the confirmation took"),
    RES_ROW(COUNT, "runs", runs, "of the search"),
    RES_ROW(COUNT, "declared", declared, "values that the allocators' files declare"),
    RES_ROW(COUNT, "confirmation_rounds", confirmation_rounds, "fresh ones"),
    RES_ROW(NUMBER, "p_needed", p_needed, "a verdict takes a `p` below it"),
    RES_ROW(NUMBER, "least_difference", least_difference, "the difference that a verdict takes"),
    RES_ROW(NUMBER, "noise.time", noise_time, "pooled standard deviation of one sample's logarithm"),
    RES_ROW(NUMBER, "noise.memory", noise_memory, "likewise"),
    RES_LIST(LIST, REQUIRED, "front", front, front_count, &RES_TUNED_ROW,
             "the default and the finalists that nothing beats"),
    RES_LIST(LIST, REQUIRED, "beaten", beaten, beaten_count, &RES_TUNED_ROW, "the others of them"),
    COUNTED("untried", RES_TUNE_UNTRIED),
    COUNTED("alive", RES_TUNE_ALIVE),
    COUNTED("failed", RES_TUNE_FAILED),
    COUNTED("dominated", RES_TUNE_DOMINATED),
    COUNTED("outranked", RES_TUNE_OUTRANKED),
    COUNTED("finalist", RES_TUNE_FINALIST),
    RES_ROW_AS(COUNT, READ_ONLY, "counts.simplified", counts[RES_TUNE_SIMPLIFIED], NULL),
    RES_LIST(NUMBERS, PLAIN, "default_ns_per_op", default_ns_per_op, default_time_count, NULL,
             "each run of the default in the search"),
    RES_LIST(NUMBERS, PLAIN, "default_bytes", default_bytes, default_memory_count, NULL, "likewise"),
    RES_LIST(LIST, REQUIRED, "points", points, point_count, &RES_TUNED_POINT,
             "everything that was to be tried, with each sample"),
};
const struct res_described RES_TUNED = RES_DESCRIBE("tune", TUNED_FIELDS);
#undef OWNER

const char *res_tuned_memory(const struct res_tuned *tuned)
{
    return MEMORIES[tuned->memory];
}

/* Somebody may paste it into a shell. */
static bool pastes_are_lines(const struct res_tuned_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!res_shell_is_line(rows[i].paste))
            return false;
    return true;
}

const char *res_tuned_defect(const struct res_tuned *tuned)
{
    if (tuned->front_count > ROWS_MAX || tuned->beaten_count > ROWS_MAX)
        return "tune has too many rows";
    return pastes_are_lines(tuned->front, tuned->front_count) &&
                   pastes_are_lines(tuned->beaten, tuned->beaten_count)
               ? NULL
               : "what a row of tune gives to paste is no line of variables";
}
