/* advice.c - one sentence that says what to do, and claims nothing that the verdicts do not. */
#include "results/report/notes/advice.h"

#include <math.h>
#include <stdlib.h>

#include "footprint/base/words.h"
#include "results/measure/base/figure_words.h"
#include "results/measure/statistics/statistics.h"
#include "results/report/notes/advice_options.h"
#include "results/report/notes/advice_rounds.h"
#include "results/report/notes/deploy.h"
#include "results/report/notes/noting.h"

#define WIDE              0.03 /* of an interval; then it is said what would not have been seen */
#define NARROW            0.02 /* of an interval; then more rounds would decide nothing */
#define IDLE_WORTH_SAYING 0.9  /* of the baseline's least */

/* What a sentence is made of. */
struct sentence {
    struct res_text text;
    const struct res_result *result;
    const struct res_result_workload *workload;
    struct res_advice_options options;
    struct res_more_rounds more;
    struct res_interval noise; /* of the baseline's ratio to itself; NAN where there is no control */
    bool is_noisy;
};

#define say(sentence, ...) res_text_printf(&(sentence)->text, __VA_ARGS__)

static double percent(double ratio)
{
    return fabs(ratio - 1) * 100;
}

static void say_percent(struct sentence *sentence, double ratio)
{
    say(sentence, percent(ratio) < 9.95 ? "%.1f %%" : "%.0f %%", percent(ratio));
}

static bool is_rival(const struct sentence *sentence, const struct res_advice_option *option)
{
    return option != sentence->options.baseline;
}

static size_t rivals_with(const struct sentence *sentence, enum res_verdict verdict)
{
    size_t count = 0;
    for (size_t i = 0; i < sentence->options.count; i++) {
        const struct res_advice_option *option = &sentence->options.items[i];
        count += is_rival(sentence, option) && option->time->verdict == verdict;
    }
    return count;
}

/* Says "jemalloc, mimalloc": the rivals with this verdict on time, or those without it. Returns whether there is any. */
static bool say_rivals(struct sentence *sentence, enum res_verdict verdict, bool with)
{
    const char *comma = "";
    for (size_t i = 0; i < sentence->options.count; i++) {
        const struct res_advice_option *option = &sentence->options.items[i];
        if (!is_rival(sentence, option) || (option->time->verdict == verdict) != with)
            continue;
        say(sentence, "%s%s", comma, option->entry->name);
        comma = ", ";
    }
    return *comma != '\0';
}

/* ---- noise, and what to do about it ---------------------------------------------------------- */

static void say_more_rounds(struct sentence *sentence)
{
    char *words = res_more_rounds_words(&sentence->more);
    say(sentence, "%s", words);
    free(words);
}

static void say_remedy(struct sentence *sentence)
{
    say(sentence, "repeat it on a quieter machine%s",
        sentence->more.until > 0 || isnan(sentence->more.width) ? ", or with " : ": ");
    say_more_rounds(sentence);
}

/* What to do where the noise may have hidden a difference; nothing where it has not. */
static void say_noise(struct sentence *sentence)
{
    if (sentence->is_noisy) {
        say(sentence, "; the noise is large (%+.0f to %+.0f %%): ", (sentence->noise.low - 1) * 100,
            (sentence->noise.high - 1) * 100);
        say_remedy(sentence);
    } else if (rivals_with(sentence, RES_UNDECIDED) > 0) {
        say(sentence, "; ");
        (void)say_rivals(sentence, RES_UNDECIDED, true);
        say(sentence, " is undecided: ");
        if (sentence->more.width < NARROW) {
            say(sentence, "whole runs say otherwise ('mallab ab --latency' times single calls)");
            return;
        }
        say(sentence, "%s", sentence->more.until > 0 ? "more rounds may decide, " : "");
        say_more_rounds(sentence);
    }
}

/* Who is slower is known under a large noise, too: the table shows it, and a verdict lies beyond the noise. */
static void say_no_verdict(struct sentence *sentence)
{
    const char *before = "", *behind = " more time in allocator calls)";
    if (rivals_with(sentence, RES_SLOWER) == 0) {
        say(sentence, "No verdict on time");
        return;
    }
    say(sentence, "Slower than %s: ", sentence->result->baseline);
    for (size_t i = 0; i < sentence->options.count; i++) {
        const struct res_advice_option *option = &sentence->options.items[i];
        if (!is_rival(sentence, option) || option->time->verdict != RES_SLOWER)
            continue;
        say(sentence, "%s%s (", before, option->entry->name);
        say_percent(sentence, option->time->ratio);
        say(sentence, "%s", behind);
        before = ", ";
        behind = ")";
    }
    say(sentence, ". No verdict on the time of ");
    (void)say_rivals(sentence, RES_SLOWER, false);
}

/* Nobody is better as far as can be seen: that is a reason to stay only where enough can be seen. */
static void say_nobody(struct sentence *sentence)
{
    const char *baseline = sentence->result->baseline;
    const struct res_more_rounds *more = &sentence->more;
    if (sentence->is_noisy) {
        say_no_verdict(sentence);
        say(sentence, ": the noise (%+.0f to %+.0f %%) hides what is smaller; ",
            (sentence->noise.low - 1) * 100, (sentence->noise.high - 1) * 100);
        say_remedy(sentence);
        if (sentence->options.memory_known)
            say(sentence, "; none is shown to need less memory at the peak than %s", baseline);
        return;
    }
    say(sentence, "Stay with %s: no candidate is faster%s beyond the noise", baseline,
        sentence->options.memory_known ? " or smaller" : "");
    say_noise(sentence);
    if (rivals_with(sentence, RES_UNDECIDED) == 0 && more->width > WIDE && more->until > 0) {
        say(sentence, "; a difference of less than %.2g %% would not have been seen: ", more->width * 50);
        say_more_rounds(sentence);
    }
}

/* ---- who is better --------------------------------------------------------------------------- */

static int compare_by_time(const void *left, const void *right)
{
    const struct res_advice_option *const *a = left, *const *b = right;
    return ((*a)->time->ratio > (*b)->time->ratio) - ((*a)->time->ratio < (*b)->time->ratio);
}

/* The others that the intervals do not tell apart from the fastest, the best first. */
static void say_equals(struct sentence *sentence)
{
    const struct res_advice_options *options = &sentence->options;
    const struct res_advice_option **equals = res_calloc(options->count, sizeof *equals);
    size_t count = 0;
    for (size_t i = 0; i < options->count; i++)
        if (&options->items[i] != options->best && res_advice_is_equal(&options->items[i], options))
            equals[count++] = &options->items[i];
    qsort(equals, count, sizeof *equals, compare_by_time);
    for (size_t i = 0; i < count; i++) {
        say(sentence, "%s%s (", i > 0 ? ", " : "; by time not told apart from it: ", equals[i]->entry->name);
        say_percent(sentence, equals[i]->time->ratio);
        say(sentence, ")");
    }
    free(equals);
}

static void say_saving(struct sentence *sentence, const struct res_advice_option *option)
{
    const double duration_ns = (double)sentence->workload->duration_ns;
    if (!(option->saved_ns > 0) || !(duration_ns > 0))
        return;
    /* Threads save side by side: their sum is no part of the duration. */
    say(sentence, "%s saved%s in a run recorded over %s", RES_DURATION(option->saved_ns),
        sentence->workload->threads == 1 ? "" : ", all threads added,", RES_DURATION(duration_ns));
}

/* The fastest of those that are faster by too little to matter; NULL: there is none. */
static const struct res_advice_option *negligible_of(const struct sentence *sentence)
{
    const struct res_advice_option *best = NULL;
    for (size_t i = 0; i < sentence->options.count; i++) {
        const struct res_advice_option *option = &sentence->options.items[i];
        if (is_rival(sentence, option) && option->time->verdict == RES_FASTER && option->is_negligible &&
            (best == NULL || option->time->ratio < best->time->ratio))
            best = option;
    }
    return best;
}

/* told: what the sentence is about already. */
static void say_negligible(struct sentence *sentence, const struct res_advice_option *told)
{
    const struct res_advice_option *option = negligible_of(sentence);
    if (option == NULL)
        return;
    if (option != told) {
        say(sentence, "; %s takes ", option->entry->name);
        say_percent(sentence, option->time->ratio);
        say(sentence, " less time in allocator calls");
    }
    say(sentence, ", which is negligible: ");
    say_saving(sentence, option);
}

static void say_memory(struct sentence *sentence, const struct res_advice_option *option)
{
    const struct res_figures *base = &sentence->options.baseline->entry->figures;
    const double more_bytes = option->entry->figures.start_bytes - base->start_bytes;
    if (option->peak_verdict == RES_SAME) {
        say(sentence, ", with the same peak of memory");
    } else if (option->peak_verdict != RES_UNDECIDED) {
        const bool less = option->peak_verdict == RES_FASTER;
        say(sentence, less ? " and " : ", but ");
        say_percent(sentence, option->peak->ratio);
        say(sentence, " %s memory at the peak", less ? "less" : "more");
    }
    if (more_bytes >= RES_START_MATTERS * base->peak_bytes && more_bytes > 0)
        say(sentence, ", besides %s more that it holds before the first call", FP_BYTES(more_bytes));
}

static void say_best(struct sentence *sentence)
{
    const struct res_advice_option *best = sentence->options.best;
    say(sentence, "Try %s: ", best->entry->name);
    say_percent(sentence, best->time->ratio);
    say(sentence, " less time in allocator calls than %s (%.0f to %.0f %%", sentence->result->baseline,
        percent(best->time->interval.high), percent(best->time->interval.low));
    if (best->saved_ns > 0 && sentence->workload->duration_ns > 0) {
        say(sentence, "; ");
        say_saving(sentence, best);
    }
    say(sentence, ")");
    say_memory(sentence, best);
    say_equals(sentence);
}

static void say_smallest(struct sentence *sentence)
{
    const struct res_advice_option *smallest = sentence->options.smallest;
    say(sentence, sentence->options.best != NULL ? "; the smallest is %s: " : "Try %s for its memory: ",
        smallest->entry->name);
    say_percent(sentence, smallest->peak->ratio);
    say(sentence, " less at the peak than %s", sentence->result->baseline);
    if (smallest->time->verdict == RES_SAME) {
        say(sentence, " at the same speed");
    } else if (smallest->time->verdict == RES_UNDECIDED) {
        say(sentence, ", its speed undecided");
    } else {
        const bool faster = smallest->time->verdict == RES_FASTER;
        say(sentence, faster ? ", and " : ", but ");
        say_percent(sentence, smallest->time->ratio);
        say(sentence, " %s time in allocator calls", faster ? "less" : "more");
    }
}

static void say_verdicts(struct sentence *sentence)
{
    const struct res_advice_options *options = &sentence->options;
    const bool all_slower = rivals_with(sentence, RES_SLOWER) + 1 == options->count;
    const char *baseline = sentence->result->baseline;
    if (options->best == NULL && options->smallest == NULL) {
        if (all_slower)
            say(sentence, "Stay with %s: every other candidate is slower%s", baseline,
                options->memory_known ? ", and none is smaller" : "");
        else if (negligible_of(sentence) != NULL)
            say(sentence, "Stay with %s%s", baseline, options->memory_known ? ": none is smaller" : "");
        else
            say_nobody(sentence);
        say_negligible(sentence, NULL);
        return;
    }
    if (options->best != NULL)
        say_best(sentence);
    if (options->smallest != NULL && options->smallest != options->best)
        say_smallest(sentence);
    if (options->best == NULL) {
        say_negligible(sentence, options->smallest);
        if (!all_slower)
            say_noise(sentence);
    }
}

/* ---- at rest, and within a limit ------------------------------------------------------------- */

struct extremes {
    double least, most;
};

/* Over the runs of the memory pass; NAN with fewer than a verdict on memory takes, or where one has no figure. */
static struct extremes idle_of(const struct res_result_entry *entry)
{
    struct extremes found = {INFINITY, -INFINITY};
    for (size_t i = 0; i < entry->memory_count; i++) {
        const double idle = entry->memory_runs[i].resident_idle_bytes;
        if (!isfinite(idle))
            return (struct extremes){NAN, NAN};
        found.least = fmin(found.least, idle);
        found.most = fmax(found.most, idle);
    }
    return entry->memory_count < RES_ROUNDS_FOR_MEMORY ? (struct extremes){NAN, NAN} : found;
}

/* Who gives memory back when the program rests. */
static void say_idle(struct sentence *sentence)
{
    const struct res_result_workload *workload = sentence->workload;
    const struct res_result_entry *base = &workload->candidates[0], *best = NULL;
    double least = idle_of(base).least * IDLE_WORTH_SAYING;
    RES_EACH_CANDIDATE(entry, workload)
    {
        const double most = idle_of(entry).most;
        if (entry == base || entry->failed != NULL || !entry->predicted || !(most < least))
            continue;
        best = entry;
        least = most;
    }
    if (best == NULL || !isfinite(best->figures.idle_bytes) || !isfinite(base->figures.idle_bytes) ||
        !base->predicted)
        return;
    say(sentence, "; %s %s keeps least: %s, %s %s",
        res_is_torn_down(workload) ? "when all is freed again" : "at rest", best->name,
        FP_BYTES(best->figures.idle_bytes), base->name, FP_BYTES(base->figures.idle_bytes));
}

/* "glibc, jemalloc and mimalloc": those that died of it, or those that did not fail. Returns how many. */
static size_t names_of(const struct res_result_workload *workload, bool died, struct res_text *names)
{
    const char *last = NULL;
    size_t count = 0;
    RES_EACH_CANDIDATE(entry, workload)
    {
        if (died ? !res_entry_died(entry) : entry->failed != NULL)
            continue;
        if (last != NULL)
            res_text_printf(names, "%s%s", count > 1 ? ", " : "", last);
        last = entry->name;
        count++;
    }
    if (last != NULL)
        res_text_printf(names, "%s%s", count > 1 ? " and " : "", last);
    return count;
}

/* Returns whether somebody died of the limit. */
static bool say_limit(struct sentence *sentence)
{
    struct res_text dead = {0}, left = {0};
    if (sentence->result->limit_bytes == 0)
        return false;
    const size_t dead_count = names_of(sentence->workload, true, &dead),
                 left_count = names_of(sentence->workload, false, &left);
    const char *bytes = FP_BYTES((double)sentence->result->limit_bytes);
    if (dead_count > 0 && left_count == 0)
        say(sentence, "No candidate survives the limit of %s: raise --limit", bytes);
    else if (dead_count > 0)
        say(sentence, "%s%s survive%s the limit of %s, %s do%s not", left_count == 1 ? "Only " : "",
            left.text, left_count == 1 ? "s" : "", bytes, dead.text, dead_count == 1 ? "es" : "");
    free(dead.text);
    free(left.text);
    return dead_count > 0;
}

/* ---- the sentence ---------------------------------------------------------------------------- */

/* Returns whether there is enough to compare. */
static bool say_all(struct sentence *sentence)
{
    const struct res_advice_options *options = &sentence->options;
    const char *baseline = sentence->result->baseline;
    const uint64_t rounds = sentence->workload->rounds;
    const bool limited = say_limit(sentence);
    if (options->baseline == NULL && limited) {
        if (options->count > 1)
            say(sentence, "; to compare those that do: -b %s", options->items[0].entry->name);
        return false;
    }
    if (options->baseline == NULL) {
        say(sentence, "No advice: the baseline %s has no figures", baseline);
        return false;
    }
    if (options->count < 2) {
        if (!limited)
            say(sentence,
                sentence->workload->candidate_count > 1
                    ? "No advice: none but %s has figures, the others failed"
                    : "No advice: there is nothing to compare %s with",
                baseline);
        return false;
    }
    say(sentence, "%s", limited ? ". " : "");
    if (rounds < RES_ROUNDS_FOR_VERDICT) {
        say(sentence, "No advice from %s round%s: a verdict takes at least %u (-n 10)", FP_GROUPED(rounds),
            rounds == 1 ? "" : "s", RES_ROUNDS_FOR_VERDICT);
        return false;
    }
    say_verdicts(sentence);
    return true;
}

struct res_advice res_advice_of(const struct res_result *result, const struct res_result_workload *workload)
{
    struct sentence sentence = {
        .result = result,
        .workload = workload,
        .options = res_advice_options_of(result->baseline, workload),
        .more = res_more_rounds(workload),
        .noise = workload->control.figures.time.interval,
    };
    struct res_advice advice = {.text = NULL};
    const struct res_advice_options *options = &sentence.options;
    sentence.is_noisy = sentence.noise.high - 1 > RES_LARGE_NOISE || 1 - sentence.noise.low > RES_LARGE_NOISE;
    if (say_all(&sentence)) {
        if (options->memory_known)
            say_idle(&sentence);
        else
            say(&sentence, "; no verdict on memory: not all that was live is known");
        if (options->best != NULL)
            advice.tried[advice.tried_count++] = options->best->entry;
        if (options->smallest != NULL && options->smallest != options->best)
            advice.tried[advice.tried_count++] = options->smallest->entry;
    }
    if (!workload->complete)
        say(&sentence, "; the recording is not whole");
    say(&sentence, ".");
    res_advice_options_release(&sentence.options);
    advice.text = sentence.text.text;
    return advice;
}

void res_note_advice(struct res_noting *noting)
{
    struct res_advice advice = res_advice_of(noting->result, noting->workload);
    res_note_say(noting, "%s", advice.text);
    res_note_end(noting);
    noting->label = "to paste";
    for (size_t i = 0; i < advice.tried_count; i++) {
        char *line = res_deploy_line(advice.tried[i]);
        if (line == NULL)
            continue;
        res_note_say(noting, "%s", advice.tried[i]->name);
        res_note_end_with(noting, line);
    }
    free(advice.text);
}
