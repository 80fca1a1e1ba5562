/* verdict.c - the answer for the whole program: time, memory at the peak and at rest; and for a fleet. */
#include <stdlib.h>
#include <string.h>

#include "footprint/base/words.h"
#include "results/measure/figures/figures.h"

#define MEMORY_NEAR 0.05 /* of the least; more weighs against a faster one */

/* ---- how much would have been seen ----------------------------------------------------------- */

double res_resolves(double ratio, struct res_interval interval, struct res_interval noise, double worth)
{
    const double width = (interval.high - interval.low) / ratio;
    const double hidden = fmax(fmax(noise.high, 1 / noise.low) - 1, worth);
    return width >= 0 ? fmax(width, hidden) : NAN;
}

static double width_of(const struct res_difference *time)
{
    return res_resolves(time->ratio, time->interval, (struct res_interval){1, 1}, 0);
}

/* The baseline's second run differs by nothing: what it could have hidden counts, and so does each candidate whose difference is not shown.
 * One that is shown may be as uncertain as it likes. */
static double good_for(const struct res_result_workload *workload)
{
    double good = width_of(&workload->control.figures.time);
    if (workload->rounds < RES_ROUNDS_FOR_VERDICT || workload->control.failed != NULL)
        return NAN;
    for (size_t i = 1; i < workload->candidate_count; i++) {
        const struct res_result_entry *entry = &workload->candidates[i];
        const bool is_shown = entry->figures.time.verdict == RES_LESS ||
                              entry->figures.time.verdict == RES_MORE;
        if (entry->failed == NULL && !is_shown)
            good = fmax(good, width_of(&entry->figures.time));
    }
    return good >= 0 ? good : NAN;
}

/* ---- one figure ------------------------------------------------------------------------------ */

enum res_answer_kind res_answer_kind(double ratio, struct res_interval range, int verdict, double share)
{
    const double part = isfinite(share) ? share : 1;
    if (part < RES_SAVING_WORTH)
        return RES_ANSWER_DOES_NOT_MATTER;
    if (verdict == RES_LESS)
        return (1 - ratio) * part >= RES_SAVING_WORTH ? RES_ANSWER_TAKE : RES_ANSWER_NOT_WORTH;
    if (verdict == RES_MORE)
        return RES_ANSWER_ALL_WORSE;
    return (1 - range.low) * part < RES_SAVING_WORTH ? RES_ANSWER_NOT_WORTH : RES_ANSWER_NONE_SHOWN;
}

double res_answer_share(const struct res_answer *answer)
{
    return isfinite(answer->of_process) ? answer->of_process : answer->of_malloc;
}

/* price    what it takes more, a share of the other figure. */
static bool is_too_dear(double saved, double price)
{
    return price > RES_PRICE_MOST * saved;
}

static const struct res_answer NO_ANSWER = {RES_ANSWER_NONE, NULL, NAN, NAN, NAN, NAN, NAN};

static struct res_answer answer_of(enum res_answer_kind kind)
{
    struct res_answer answer = NO_ANSWER;
    answer.kind = (int)kind;
    return answer;
}

static struct res_answer named(enum res_answer_kind kind, const char *candidate)
{
    struct res_answer answer = answer_of(kind);
    answer.candidate = res_strdup(candidate);
    return answer;
}

static struct res_answer saving_of(const char *candidate, double saved, double of_process, double of_malloc)
{
    struct res_answer answer = {
        RES_ANSWER_TAKE, res_strdup(candidate), saved, of_process, of_malloc, NAN, NAN};
    if (res_answer_share(&answer) < RES_SAVING_WORTH)
        answer.kind = RES_ANSWER_NOT_WORTH;
    return answer;
}

/* other    the whole of the figure that its price is of, in the price's unit. */
static struct res_answer weighed(struct res_answer answer, double other)
{
    const bool is_advised = answer.kind == RES_ANSWER_TAKE || answer.kind == RES_ANSWER_CONFIRMED ||
                            answer.kind == RES_ANSWER_UNDECIDED;
    if (is_advised && is_too_dear(res_answer_share(&answer), answer.price / other))
        answer.kind = RES_ANSWER_TOO_DEAR;
    return answer;
}

/* ---- what the program itself shows ----------------------------------------------------------- */

static int confirmed_verdict(const struct res_confirmed *one, bool memory)
{
    return one->failed != NULL || one->is_control ? RES_UNDECIDED
           : memory                               ? one->peak_verdict
                                                  : one->time_verdict;
}

static const struct res_confirmed_figure *confirmed_figure(const struct res_confirmed *one, bool memory)
{
    return memory ? &one->peak : &one->time;
}

/* The candidate takes so much more of the other figure: bytes, or a share of its time. */
static double confirmed_price(const struct res_result *result, const struct res_confirmed *one, bool memory)
{
    const double baseline = res_confirmed_baseline_bytes(result->confirmed, result->confirmed_count);
    if (confirmed_verdict(one, !memory) != RES_MORE)
        return NAN;
    const double share = memory ? one->time.ratio - 1 : one->peak_bytes / baseline - 1;
    return share < RES_SAVING_WORTH ? NAN : memory ? share : one->peak_bytes - baseline;
}

/* The one that is shown to take least; NULL: none is shown to take less. */
static const struct res_confirmed *best_confirmed(const struct res_result *result, bool memory)
{
    const struct res_confirmed *best = NULL;
    for (size_t i = 0; i < result->confirmed_count; i++) {
        const struct res_confirmed *one = &result->confirmed[i];
        if (confirmed_verdict(one, memory) == RES_LESS &&
            (best == NULL || confirmed_figure(one, memory)->ratio < confirmed_figure(best, memory)->ratio))
            best = one;
    }
    return best;
}

static struct res_answer confirmed_answer(const struct res_result *result, const struct res_confirmed *one,
                                          bool memory)
{
    const struct res_confirmed_figure *figure = confirmed_figure(one, memory);
    const double part = 1 - figure->ratio, baseline = figure->baseline_median;
    const double saved = memory ? baseline - one->peak_bytes : one->saved_ns;
    struct res_answer answer = saving_of(one->candidate, isfinite(saved) ? saved : part * baseline, part,
                                         NAN);
    if (answer.kind == RES_ANSWER_TAKE)
        answer.kind = RES_ANSWER_CONFIRMED;
    answer.price = confirmed_price(result, one, memory);
    return answer;
}

/* ---- what replays show ----------------------------------------------------------------------- */

/* Memory that cannot be compared counts as much. */
static double weight_of(const struct res_result_workload *workload, const struct res_result_entry *entry)
{
    return workload->live == RES_LIVE_KNOWN && entry->figures.peak.verdict != RES_UNDECIDED
               ? entry->figures.peak_bytes
               : INFINITY;
}

/* The change of time with what its starts take. */
static void add_starts(const struct res_result_workload *workload, struct res_result_entry *entry)
{
    const double more = res_starts_more_ns(workload, entry) /
                        res_calls_ns(workload, &workload->candidates[0]);
    struct res_difference *time = &entry->figures.with_starts;
    *time = entry->figures.time;
    if (!isfinite(more) || more == 0)
        return;
    time->ratio += more;
    time->interval.low += more;
    time->interval.high += more;
    if (time->interval.low > 1 + RES_TIME_LEAST)
        time->verdict = RES_MORE;
    else if ((time->verdict == RES_LESS && !(time->interval.high < 1)) || time->verdict == RES_MORE)
        time->verdict = RES_UNDECIDED;
}

static bool is_faster(const struct res_result_workload *workload, const struct res_result_entry *entry)
{
    return entry->failed == NULL && entry->figures.with_starts.verdict == RES_LESS &&
           entry->figures.with_starts.ratio >= 0 && !(res_blocked_share(workload, entry) > RES_BLOCKED_SHARE);
}

/* Time alone picks by chance among those that it does not tell apart. This takes of them the fastest whose memory is within 5 % of the
 * least. */
static const struct res_result_entry *fastest_of(const struct res_result_workload *workload)
{
    const struct res_result_entry *fastest = NULL, *best = NULL;
    double least = INFINITY;
    for (int pass = 0; pass < 3; pass++) {
        for (size_t i = 1; i < workload->candidate_count; i++) {
            const struct res_result_entry *entry = &workload->candidates[i];
            const struct res_result_entry *first = pass == 0 ? fastest : best;
            const struct res_difference *time = &entry->figures.with_starts;
            const double weight = weight_of(workload, entry);
            if (!is_faster(workload, entry) ||
                (pass > 0 && time->interval.low > fastest->figures.with_starts.interval.high))
                continue;
            if (pass == 1)
                least = fmin(least, weight);
            else if ((pass == 0 || weight <= (1 + MEMORY_NEAR) * least) &&
                     (first == NULL || time->ratio < first->figures.with_starts.ratio))
                *(pass == 0 ? &fastest : &best) = entry;
        }
    }
    return best;
}

/* The file pages of a candidate beyond the baseline's, which the program has too. The harness has libstdc++ by itself: of a
 * program that has not, that is too little, so no saving is told too small, and no price too high. */
static double files_brought(const struct res_result_entry *entry, const struct res_result_entry *baseline)
{
    const double more = entry->figures.start_file_bytes - baseline->figures.start_file_bytes;
    return more > 0 ? more : 0; /* NAN in older results */
}

/* Bytes that an entry is shown to save at the peak, or at rest; NAN: none. */
static double memory_saved(const struct res_result_workload *workload, const struct res_result_entry *entry,
                           bool rest)
{
    const struct res_result_entry *baseline = res_baseline_of(workload);
    const double saved = rest ? res_rest_saved(workload, entry)
                         : entry->figures.peak.verdict == RES_LESS
                             ? baseline->figures.peak_bytes - entry->figures.peak_bytes
                             : NAN;
    const double left = saved - files_brought(entry, baseline);
    return entry->failed == NULL && left > 0 ? left : NAN;
}

/* ---- time ------------------------------------------------------------------------------------ */

static size_t rivals(const struct res_result_workload *workload, bool slower)
{
    size_t count = 0;
    for (size_t i = 1; i < workload->candidate_count; i++) {
        const struct res_result_entry *entry = &workload->candidates[i];
        count += entry->failed == NULL && (!slower || entry->figures.with_starts.verdict == RES_MORE);
    }
    return count;
}

/* The candidate that is faster in its calls alone, by most; NULL: none is. */
static const struct res_result_entry *faster_but_for_starts(const struct res_result_workload *workload)
{
    const struct res_result_entry *best = NULL;
    for (size_t i = 1; i < workload->candidate_count; i++) {
        const struct res_result_entry *entry = &workload->candidates[i];
        if (entry->failed == NULL && entry->figures.time.verdict == RES_LESS &&
            (best == NULL || entry->figures.time.ratio < best->figures.time.ratio))
            best = entry;
    }
    return best != NULL && best->figures.with_starts.verdict != RES_LESS ? best : NULL;
}

/* Nobody is faster: what the noise may hide at most decides. */
static struct res_answer nobody_faster(const struct res_result_workload *workload, double share)
{
    const struct res_result_entry *but = faster_but_for_starts(workload);
    const double part = isfinite(share) ? share : 1;
    double low = NAN;
    if (but != NULL && but->figures.with_starts.ratio > 1) {
        struct res_answer answer = named(RES_ANSWER_STARTS_COST, but->name);
        answer.saved = res_calls_ns(workload, &workload->candidates[0]) *
                       (1 - but->figures.with_starts.ratio);
        return answer;
    }
    if (rivals(workload, true) == rivals(workload, false))
        return answer_of(RES_ANSWER_ALL_WORSE);
    for (size_t i = 1; i < workload->candidate_count; i++) {
        const struct res_difference *time = &workload->candidates[i].figures.with_starts;
        if (workload->candidates[i].failed == NULL && time->verdict != RES_MORE)
            low = fmin(low, time->interval.low);
    }
    struct res_answer answer = answer_of(
        res_answer_kind(1, (struct res_interval){low, 1}, RES_UNDECIDED, share));
    answer.may_hide = fmax(1 - low, 0) * part;
    return answer;
}

/* Bytes that an entry takes more, where they are shown and worth a word; otherwise NAN. */
static double price_in_memory(const struct res_result_workload *workload,
                              const struct res_result_entry *entry)
{
    const struct res_result_entry *baseline = res_baseline_of(workload);
    const double more = entry->figures.peak_bytes - baseline->figures.peak_bytes +
                        files_brought(entry, baseline),
                 rss = res_rss_peak_of(workload);
    const bool is_worth = more >= RES_SAVING_WORTH * (isfinite(rss) ? rss : baseline->figures.peak_bytes);
    return is_worth && workload->live == RES_LIVE_KNOWN && workload->no_trust_memory == NULL &&
                   entry->figures.peak.verdict == RES_MORE
               ? more
               : NAN;
}

static struct res_answer time_by_replays(const struct res_result *result,
                                         const struct res_result_workload *workload)
{
    const struct res_result_entry *entry = fastest_of(workload);
    const double share = res_part_of_time(result, workload);
    if (fmax(workload->share_time, share) < RES_SAVING_WORTH)
        return answer_of(RES_ANSWER_DOES_NOT_MATTER);
    if (workload->no_trust_time != NULL)
        return answer_of(RES_ANSWER_NOT_TRUSTED);
    if (rivals(workload, false) == 0)
        return answer_of(RES_ANSWER_NOTHING_TO_COMPARE);
    if (workload->rounds < RES_ROUNDS_FOR_VERDICT && entry == NULL &&
        rivals(workload, true) < rivals(workload, false))
        return answer_of(RES_ANSWER_TOO_FEW);
    if (entry == NULL)
        return nobody_faster(workload, share);
    const double part = 1 - entry->figures.with_starts.ratio;
    const double calls_ns = res_calls_ns(workload, &workload->candidates[0]);
    struct res_answer answer = saving_of(entry->name, calls_ns * part, share * part, part);
    answer.price = price_in_memory(workload, entry);
    if (answer.kind == RES_ANSWER_TAKE && answer.of_process < RES_TIME_PROMISED)
        answer.kind = RES_ANSWER_UNDECIDED;
    return answer;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static double price_in_time(const struct res_result *result, const struct res_result_workload *workload,
                            const struct res_result_entry *entry)
{
    const struct res_difference *time = &entry->figures.with_starts;
    const double share = res_part_of_time(result, workload);
    const double more = (time->ratio - 1) * (isfinite(share) ? share : 1);
    return time->verdict == RES_MORE && workload->no_trust_time == NULL && more >= RES_SAVING_WORTH ? more
                                                                                                    : NAN;
}

static struct res_answer memory_by_replays(const struct res_result *result,
                                           const struct res_result_workload *workload, bool rest)
{
    const struct res_result_entry *baseline = res_baseline_of(workload), *best = NULL;
    const double whole = res_baseline_rss_bytes(workload),
                 of = isfinite(whole) ? whole : baseline->figures.peak_bytes;
    const uint64_t rounds = baseline->resident_rounds; /* older results do not tell */
    bool best_dear = false;
    if (rivals(workload, false) == 0 || !isfinite(baseline->figures.peak_bytes))
        return NO_ANSWER;
    if (workload->live != RES_LIVE_KNOWN)
        return answer_of(RES_ANSWER_NOT_KNOWN);
    if (fmax(workload->share_memory, baseline->figures.peak_bytes / whole) < RES_SAVING_WORTH)
        return answer_of(RES_ANSWER_DOES_NOT_MATTER);
    if (workload->no_trust_memory != NULL)
        return answer_of(RES_ANSWER_NOT_TRUSTED);
    if (rounds > 0 && rounds < res_rounds_for_memory(workload))
        return answer_of(RES_ANSWER_TOO_FEW);
    for (size_t i = 1; i < workload->candidate_count; i++) {
        const struct res_result_entry *entry = &workload->candidates[i];
        const double saved = memory_saved(workload, entry, rest);
        const bool too_dear = is_too_dear(saved / of, price_in_time(result, workload, entry));
        if (isfinite(saved) && (best == NULL || too_dear < best_dear ||
                                (too_dear == best_dear && saved > memory_saved(workload, best, rest)))) {
            best = entry;
            best_dear = too_dear;
        }
    }
    if (best == NULL)
        return answer_of(RES_ANSWER_NONE_SHOWN);
    const double saved = memory_saved(workload, best, rest);
    struct res_answer answer = saving_of(best->name, saved, saved / whole,
                                         saved / baseline->figures.peak_bytes);
    if (res_is_little_memory(workload, saved))
        answer.kind = RES_ANSWER_NOT_WORTH;
    answer.price = price_in_time(result, workload, best);
    return answer;
}

unsigned res_rounds_for_memory(const struct res_result_workload *workload)
{
    return workload->memory_rounds > 0 ? RES_ROUNDS_FOR_MEMORY : RES_ROUNDS_FOR_VERDICT;
}

/* ---- the program has the last word ----------------------------------------------------------- */

/* Tells whether replays say that a candidate saves, which the program shows the contrary of. */
static bool is_contradicted(const struct res_result_workload *workload, const struct res_confirmed *one,
                            bool memory)
{
    const struct res_result_entry *entry = res_result_entry_named(workload, one->candidate);
    return entry != NULL && confirmed_verdict(one, memory) == RES_MORE &&
           (memory ? memory_saved(workload, entry, false) > 0 || memory_saved(workload, entry, true) > 0
                   : is_faster(workload, entry));
}

/* A candidate is not advised if the program shows the contrary, or only takes more of the other, nor is one in its place that was not tried in the program. */
static struct res_answer by_the_program(const struct res_result *result,
                                        const struct res_result_workload *workload,
                                        struct res_answer replayed, bool memory, bool rest)
{
    const struct res_confirmed *best = rest ? NULL : best_confirmed(result, memory);
    const struct res_confirmed *own = replayed.candidate != NULL
                                          ? res_confirmed_named(result->confirmed, result->confirmed_count,
                                                                replayed.candidate)
                                          : NULL;
    struct res_answer answer = replayed;
    if (best != NULL)
        answer = confirmed_answer(result, best, memory);
    else if (own != NULL && confirmed_verdict(own, memory) == RES_MORE)
        answer = named(RES_ANSWER_REFUTED, own->candidate);
    else if (own != NULL && own->failed == NULL && !rest &&
             (replayed.kind == RES_ANSWER_TAKE || replayed.kind == RES_ANSWER_UNDECIDED)) {
        answer.kind = RES_ANSWER_UNDECIDED;
        if (confirmed_verdict(own, !memory) == RES_MORE)
            answer = answer_of(RES_ANSWER_NONE_SHOWN);
    }
    for (size_t i = 0; own == NULL && best == NULL && i < result->confirmed_count; i++)
        if (is_contradicted(workload, &result->confirmed[i], memory) && answer.kind != RES_ANSWER_REFUTED)
            answer = named(RES_ANSWER_REFUTED, result->confirmed[i].candidate);
    if (answer.candidate != replayed.candidate)
        free(replayed.candidate);
    return answer;
}

/* The program was not replayed. */
static struct res_answer by_the_program_alone(const struct res_result *result, bool memory)
{
    const struct res_confirmed *best = best_confirmed(result, memory);
    size_t count = 0, worse = 0, few = 0;
    for (size_t i = 0; i < result->confirmed_count; i++) {
        const struct res_confirmed *one = &result->confirmed[i];
        if (one->is_control || one->failed != NULL)
            continue;
        count++;
        worse += confirmed_verdict(one, memory) == RES_MORE;
        few += confirmed_figure(one, memory)->own_count < RES_ROUNDS_FOR_VERDICT;
    }
    return best != NULL                      ? confirmed_answer(result, best, memory)
           : count == 0                      ? NO_ANSWER
           : worse == count                  ? answer_of(RES_ANSWER_ALL_WORSE)
           : few > 0 && worse + few == count ? answer_of(RES_ANSWER_TOO_FEW)
                                             : answer_of(RES_ANSWER_NONE_SHOWN);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void drop_verdict(struct res_program_verdict **verdict)
{
    if (*verdict != NULL)
        res_described_release(&RES_PROGRAM_VERDICT, *verdict);
    free(*verdict);
    *verdict = NULL;
}

static struct res_program_verdict *verdict_of(struct res_answer time, struct res_answer peak,
                                              struct res_answer rest)
{
    struct res_program_verdict *verdict = res_calloc(1, sizeof *verdict);
    *verdict = (struct res_program_verdict){time, peak, rest};
    return verdict;
}

/* A confirmation is of the first workload. */
static void judge(const struct res_result *result, struct res_result_workload *workload)
{
    struct res_answer time = time_by_replays(result, workload),
                      peak = memory_by_replays(result, workload, false),
                      rest = memory_by_replays(result, workload, true);
    if (workload == result->workloads && result->confirmed_count > 0) {
        time = by_the_program(result, workload, time, false, false);
        peak = by_the_program(result, workload, peak, true, false);
        rest = by_the_program(result, workload, rest, true, true);
    }
    const double of = isfinite(time.of_process) ? res_baseline_rss_bytes(workload)
                                                : res_baseline_of(workload)->figures.peak_bytes;
    workload->verdict = verdict_of(weighed(time, of), weighed(peak, 1), weighed(rest, 1));
}

/* Shares belong to the recording, whatever the baseline is. */
static void fill_shares(const struct res_result *result, struct res_result_workload *workload)
{
    const struct res_result_entry *recorded = res_recorded_entry(workload);
    const struct res_cpu cpu = res_process_cpu(result, workload);
    workload->no_trust_time = res_doubt_of_calls(workload);
    workload->no_trust_memory = res_doubt_of_calls(workload);
    if (workload->no_trust_memory == NULL)
        workload->no_trust_memory = res_doubt_of_pages(&result->machine, workload->process);
    if (workload->no_trust_memory == NULL)
        workload->no_trust_memory = res_doubt_of_memory(workload, recorded);
    if (recorded == NULL)
        return;
    if (workload->no_trust_time == NULL)
        workload->no_trust_time = res_doubt_of_time(result, workload, recorded);
    workload->share_time = res_calls_ns(workload, recorded) / cpu.ns;
    workload->share_time_low = res_calls_ns(workload, recorded) / cpu.most_ns;
    workload->share_time_high = res_calls_ns(workload, recorded) / cpu.least_ns;
    if (workload->live != RES_LIVE_FROM_MIDDLE)
        workload->share_memory = recorded->figures.peak_bytes / res_rss_peak_of(workload);
}

static void fill(const struct res_result *result, struct res_result_workload *workload)
{
    drop_verdict(&workload->verdict);
    free(workload->no_trust_time);
    free(workload->no_trust_memory);
    workload->no_trust_time = workload->no_trust_memory = NULL;
    workload->share_time = workload->share_memory = workload->good_for = NAN;
    workload->share_time_low = workload->share_time_high = NAN;
    if (res_baseline_of(workload) == NULL)
        return;
    workload->good_for = good_for(workload);
    for (size_t i = 0; i < workload->candidate_count; i++)
        add_starts(workload, &workload->candidates[i]);
    fill_shares(result, workload);
    judge(result, workload);
}

static struct res_answer copy_of(struct res_answer answer)
{
    answer.candidate = res_strdup(answer.candidate);
    return answer;
}

void res_verdicts_fill(struct res_result *result)
{
    for (size_t i = 0; i < result->workload_count; i++)
        fill(result, &result->workloads[i]);
    drop_verdict(&result->verdict);
    const struct res_program_verdict *only = result->workload_count == 1 ? result->workloads[0].verdict
                                                                         : NULL;
    if (only != NULL)
        result->verdict = verdict_of(copy_of(only->time), copy_of(only->peak), copy_of(only->rest));
    else if (result->workload_count == 0 && result->confirmed_count > 0)
        result->verdict = verdict_of(
            weighed(by_the_program_alone(result, false),
                    res_confirmed_baseline_bytes(result->confirmed, result->confirmed_count)),
            weighed(by_the_program_alone(result, true), 1), NO_ANSWER);
}

/* ---- a fleet --------------------------------------------------------------------------------- */

static struct res_answer fleet_answer(const struct res_fleet *fleet, bool memory)
{
    const struct res_fleet_candidate *best = NULL;
    size_t worse = 0;
    double low = NAN;
    if (fleet->candidate_count < 2)
        return answer_of(RES_ANSWER_NOTHING_TO_COMPARE);
    if (!(fleet->n_eff >= RES_FLEET_LEAST_EFFECTIVE))
        return answer_of(RES_ANSWER_TOO_FEW);
    for (size_t i = 1; i < fleet->candidate_count; i++) {
        const struct res_fleet_candidate *candidate = &fleet->candidates[i];
        const struct res_fleet_change *change = memory ? &candidate->peak : &candidate->time;
        if (change->verdict == RES_LESS &&
            (best == NULL || change->ratio < (memory ? best->peak : best->time).ratio))
            best = candidate;
        worse += change->verdict == RES_MORE;
        low = fmin(low, change->low);
    }
    if (best == NULL && worse + 1 == fleet->candidate_count)
        return answer_of(RES_ANSWER_ALL_WORSE);
    const struct res_fleet_change *change = best == NULL ? NULL : memory ? &best->peak : &best->time;
    struct res_answer answer = answer_of(
        best != NULL
            ? res_answer_kind(change->ratio, (struct res_interval){change->low, change->high}, RES_LESS, NAN)
            : res_answer_kind(1, (struct res_interval){low, 1}, RES_UNDECIDED, NAN));
    answer.may_hide = best == NULL ? fmax(1 - low, 0) : NAN;
    if (best == NULL)
        return answer;
    const bool of_process = (memory ? fleet->of_memory : fleet->of_time) == RES_FLEET_OF_PROCESS;
    answer.candidate = res_strdup(best->name);
    answer.saved = memory ? best->peaks.saved : best->cpu.saved;
    *(of_process ? &answer.of_process : &answer.of_malloc) = 1 - change->ratio;
    if (!memory && best->peak.low > 1)
        answer.price = best->peak.ratio - 1;
    return answer;
}

void res_fleet_verdict_fill(struct res_fleet *fleet)
{
    drop_verdict(&fleet->verdict);
    fleet->verdict = verdict_of(fleet_answer(fleet, false), fleet_answer(fleet, true), NO_ANSWER);
}
