/* advice.c - one sentence that says what to do, and claims nothing that the verdicts do not. */
#include "results/report/notes/advice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/words.h"
#include "results/measure/base/figure_words.h"
#include "results/measure/base/shell_line.h"
#include "results/measure/statistics/statistics.h"
#include "results/report/notes/advice_options.h"
#include "results/report/notes/noting.h"

#define WIDE              0.03 /* of an interval; then it is said what would not have been seen */
#define NARROW            0.02 /* of an interval; then more rounds would decide nothing */
#define IDLE_WORTH_SAYING 0.9  /* of the baseline's least */

/* What a sentence is made of. */
struct sentence {
    struct res_text words;
    const struct res_result *result;
    const struct res_result_workload *workload;
    struct res_advice_options options;
    struct res_more_rounds more;
    struct res_interval noise; /* of the baseline's ratio to itself; NAN where there is no control */
    bool is_noisy;
};

static double percent(double ratio)
{
    return fabs(ratio - 1) * 100;
}

static void say_percent(struct sentence *to, double ratio)
{
    say(to, percent(ratio) < 9.95 ? "%.1f %%" : "%.0f %%", percent(ratio));
}

static bool is_rival(const struct sentence *to, const struct res_advice_option *option)
{
    return option != to->options.baseline;
}

static size_t rivals_with(const struct sentence *to, enum res_verdict verdict)
{
    size_t count = 0;
    for (size_t i = 0; i < to->options.count; i++) {
        const struct res_advice_option *option = &to->options.items[i];
        count += is_rival(to, option) && option->time->verdict == verdict;
    }
    return count;
}

/* Says "jemalloc, mimalloc": the rivals with this verdict on time, or those without it. Returns whether there is any. */
static bool say_rivals(struct sentence *to, enum res_verdict verdict, bool with)
{
    const char *comma = "";
    for (size_t i = 0; i < to->options.count; i++) {
        const struct res_advice_option *option = &to->options.items[i];
        if (!is_rival(to, option) || (option->time->verdict == verdict) != with)
            continue;
        say(to, "%s%s", comma, option->entry->name);
        comma = ", ";
    }
    return *comma != '\0';
}

/* ---- noise, and what to do about it ---------------------------------------------------------- */

static void say_more_rounds(struct sentence *to)
{
    char *words = res_more_rounds_words(&to->more);
    say(to, "%s", words);
    free(words);
}

static void say_remedy(struct sentence *to)
{
    say(to, "repeat it on a quieter machine%s",
        to->more.until > 0 || isnan(to->more.width) ? ", or with " : ": ");
    say_more_rounds(to);
}

/* What to do where the noise may have hidden a difference; nothing where it has not. */
static void say_noise(struct sentence *to)
{
    if (to->is_noisy) {
        say(to, "; the noise is large (%+.0f to %+.0f %%): ", (to->noise.low - 1) * 100,
            (to->noise.high - 1) * 100);
        say_remedy(to);
    } else if (rivals_with(to, RES_UNDECIDED) > 0) {
        say(to, "; ");
        (void)say_rivals(to, RES_UNDECIDED, true);
        say(to, " is undecided: ");
        if (to->more.width < NARROW) {
            say(to, "whole runs say otherwise ('mallab ab --latency' times single calls)");
            return;
        }
        say(to, "%s", to->more.until > 0 ? "more rounds may decide, " : "");
        say_more_rounds(to);
    }
}

/* Who is slower is known under a large noise, too: the table shows it, and a verdict lies beyond the noise. */
static void say_no_verdict(struct sentence *to)
{
    const char *before = "", *behind = " more time in allocator calls)";
    if (rivals_with(to, RES_MORE) == 0) {
        say(to, "No verdict on time");
        return;
    }
    say(to, "Slower than %s: ", to->result->baseline);
    for (size_t i = 0; i < to->options.count; i++) {
        const struct res_advice_option *option = &to->options.items[i];
        if (!is_rival(to, option) || option->time->verdict != RES_MORE)
            continue;
        say(to, "%s%s (", before, option->entry->name);
        say_percent(to, option->time->ratio);
        say(to, "%s", behind);
        before = ", ";
        behind = ")";
    }
    say(to, ". No verdict on the time of ");
    (void)say_rivals(to, RES_MORE, false);
}

/* Nobody is better as far as can be seen: that is a reason to stay only where enough can be seen. */
static void say_nobody(struct sentence *to)
{
    const char *baseline = to->result->baseline;
    const struct res_more_rounds *more = &to->more;
    if (to->is_noisy) {
        say_no_verdict(to);
        say(to, ": the noise (%+.0f to %+.0f %%) hides what is smaller; ", (to->noise.low - 1) * 100,
            (to->noise.high - 1) * 100);
        say_remedy(to);
        if (to->options.memory_known)
            say(to, "; none is shown to need less memory at the peak than %s", baseline);
        return;
    }
    say(to, "Stay with %s: no candidate is faster%s beyond the noise", baseline,
        to->options.memory_known ? " or smaller" : "");
    say_noise(to);
    if (rivals_with(to, RES_UNDECIDED) == 0 && more->width > WIDE && more->until > 0) {
        say(to, "; a difference of less than %.2g %% would not have been seen: ", more->width * 50);
        say_more_rounds(to);
    }
}

/* ---- who is better --------------------------------------------------------------------------- */

static int compare_by_time(const void *left, const void *right)
{
    const struct res_advice_option *const *a = left, *const *b = right;
    return ((*a)->time->ratio > (*b)->time->ratio) - ((*a)->time->ratio < (*b)->time->ratio);
}

/* The others that the intervals do not tell apart from the fastest, the best first. */
static void say_equals(struct sentence *to)
{
    const struct res_advice_options *options = &to->options;
    const struct res_advice_option **equals = res_calloc(options->count, sizeof *equals);
    size_t count = 0;
    for (size_t i = 0; i < options->count; i++)
        if (&options->items[i] != options->best && res_advice_is_equal(&options->items[i], options))
            equals[count++] = &options->items[i];
    qsort(equals, count, sizeof *equals, compare_by_time);
    for (size_t i = 0; i < count; i++) {
        say(to, "%s%s (", i > 0 ? ", " : "; by time not told apart from it: ", equals[i]->entry->name);
        say_percent(to, equals[i]->time->ratio);
        say(to, ")");
    }
    free(equals);
}

static void say_saving(struct sentence *to, const struct res_advice_option *option)
{
    const double duration_ns = (double)to->workload->duration_ns;
    if (!(option->saved_ns > 0) || !(duration_ns > 0))
        return;
    /* Threads save side by side: their sum is no part of the duration. */
    say(to, "%s saved%s in a run recorded over %s", RES_DURATION(option->saved_ns),
        to->workload->threads == 1 ? "" : ", all threads added,", RES_DURATION(duration_ns));
}

/* The fastest of those that are faster by too little to matter; NULL: there is none. */
static const struct res_advice_option *negligible_of(const struct sentence *to)
{
    const struct res_advice_option *best = NULL;
    for (size_t i = 0; i < to->options.count; i++) {
        const struct res_advice_option *option = &to->options.items[i];
        if (is_rival(to, option) && option->time->verdict == RES_LESS && option->is_negligible &&
            (best == NULL || option->time->ratio < best->time->ratio))
            best = option;
    }
    return best;
}

/* told: what the sentence is about already. */
static void say_negligible(struct sentence *to, const struct res_advice_option *told)
{
    const struct res_advice_option *option = negligible_of(to);
    if (option == NULL)
        return;
    if (option != told) {
        say(to, "; %s takes ", option->entry->name);
        say_percent(to, option->time->ratio);
        say(to, " less time in allocator calls");
    }
    say(to, ", which is negligible: ");
    say_saving(to, option);
}

static void say_memory(struct sentence *to, const struct res_advice_option *option)
{
    const struct res_figures *base = &to->options.baseline->entry->figures;
    const double more_bytes = option->entry->figures.start_bytes - base->start_bytes;
    if (option->peak_verdict == RES_SAME) {
        say(to, ", with the same peak of memory");
    } else if (option->peak_verdict != RES_UNDECIDED) {
        const bool less = option->peak_verdict == RES_LESS;
        say(to, less ? " and " : ", but ");
        say_percent(to, option->peak->ratio);
        say(to, " %s memory at the peak", less ? "less" : "more");
    }
    if (more_bytes >= RES_START_MATTERS * base->peak_bytes && more_bytes > 0)
        say(to, ", besides %s more that it holds before the first call", FP_BYTES(more_bytes));
}

static void say_best(struct sentence *to)
{
    const struct res_advice_option *best = to->options.best;
    say(to, "Try %s: ", best->entry->name);
    say_percent(to, best->time->ratio);
    say(to, " less time in allocator calls than %s (%.0f to %.0f %%", to->result->baseline,
        percent(best->time->interval.high), percent(best->time->interval.low));
    if (best->saved_ns > 0 && to->workload->duration_ns > 0) {
        say(to, "; ");
        say_saving(to, best);
    }
    say(to, ")");
    say_memory(to, best);
    say_equals(to);
}

static void say_smallest(struct sentence *to)
{
    const struct res_advice_option *smallest = to->options.smallest;
    say(to, to->options.best != NULL ? "; the smallest is %s: " : "Try %s for its memory: ",
        smallest->entry->name);
    say_percent(to, smallest->peak->ratio);
    say(to, " less at the peak than %s", to->result->baseline);
    if (smallest->time->verdict == RES_SAME) {
        say(to, " at the same speed");
    } else if (smallest->time->verdict == RES_UNDECIDED) {
        say(to, ", its speed undecided");
    } else {
        const bool faster = smallest->time->verdict == RES_LESS;
        say(to, faster ? ", and " : ", but ");
        say_percent(to, smallest->time->ratio);
        say(to, " %s time in allocator calls", faster ? "less" : "more");
    }
}

static void say_verdicts(struct sentence *to)
{
    const struct res_advice_options *options = &to->options;
    const bool all_slower = rivals_with(to, RES_MORE) + 1 == options->count;
    const char *baseline = to->result->baseline;
    if (options->best == NULL && options->smallest == NULL) {
        if (all_slower)
            say(to, "Stay with %s: every other candidate is slower%s", baseline,
                options->memory_known ? ", and none is smaller" : "");
        else if (negligible_of(to) != NULL)
            say(to, "Stay with %s%s", baseline, options->memory_known ? ": none is smaller" : "");
        else
            say_nobody(to);
        say_negligible(to, NULL);
        return;
    }
    if (options->best != NULL)
        say_best(to);
    if (options->smallest != NULL && options->smallest != options->best)
        say_smallest(to);
    if (options->best == NULL) {
        say_negligible(to, options->smallest);
        if (!all_slower)
            say_noise(to);
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
static void say_idle(struct sentence *to)
{
    const struct res_result_workload *workload = to->workload;
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
    say(to, "; %s %s keeps least: %s, %s %s",
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
        const char *cause = entry->failure != NULL ? entry->failure->cause : NULL;
        if (died ? !res_failure_is_death(cause) : entry->failed != NULL)
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
static bool say_limit(struct sentence *to)
{
    struct res_text dead = {0}, left = {0};
    if (to->result->limit_bytes == 0)
        return false;
    const size_t dead_count = names_of(to->workload, true, &dead),
                 left_count = names_of(to->workload, false, &left);
    const char *bytes = FP_BYTES((double)to->result->limit_bytes);
    if (dead_count > 0 && left_count == 0)
        say(to, "No candidate survives the limit of %s: raise --limit", bytes);
    else if (dead_count > 0)
        say(to, "%s%s survive%s the limit of %s, %s do%s not", left_count == 1 ? "Only " : "", left.text,
            left_count == 1 ? "s" : "", bytes, dead.text, dead_count == 1 ? "es" : "");
    free(dead.text);
    free(left.text);
    return dead_count > 0;
}

/* ---- the sentence ---------------------------------------------------------------------------- */

/* Returns whether there is enough to compare. */
static bool say_all(struct sentence *to)
{
    const struct res_advice_options *options = &to->options;
    const char *baseline = to->result->baseline;
    const uint64_t rounds = to->workload->rounds;
    const bool limited = say_limit(to);
    if (options->baseline == NULL && limited) {
        if (options->count > 1)
            say(to, "; to compare those that do: -b %s", options->items[0].entry->name);
        return false;
    }
    if (options->baseline == NULL) {
        say(to, "No advice: the baseline %s has no figures", baseline);
        return false;
    }
    if (options->count < 2) {
        if (!limited)
            say(to,
                to->workload->candidate_count > 1 ? "No advice: none but %s has figures, the others failed"
                                                  : "No advice: there is nothing to compare %s with",
                baseline);
        return false;
    }
    say(to, "%s", limited ? ". " : "");
    if (rounds < RES_ROUNDS_FOR_VERDICT) {
        say(to, "No advice from %s round%s: a verdict takes at least %u (-n 10)", FP_GROUPED(rounds),
            rounds == 1 ? "" : "s", RES_ROUNDS_FOR_VERDICT);
        return false;
    }
    say_verdicts(to);
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
    advice.text = sentence.words.text;
    return advice;
}

/* ---- what is to be pasted -------------------------------------------------------------------- */

/* A candidate that is the C library's malloc is linked, and its library is libc.so.6 wherever that lies. */
static bool is_c_library(const char *path)
{
    const char *slash = strrchr(path, '/');
    return strncmp(slash != NULL ? slash + 1 : path, "libc.so", 7) == 0;
}

char *res_deploy_line(const struct res_result_entry *entry)
{
    struct res_text line = {0};
    if (entry->library != NULL && !is_c_library(entry->library))
        res_shell_variable(&line, "LD_PRELOAD", entry->library);
    for (size_t i = 0; i < entry->environment.count; i++) {
        const struct res_pair *pair = &entry->environment.items[i];
        if (res_shell_is_name(pair->name) && pair->value != NULL)
            res_shell_variable(&line, pair->name, pair->value);
    }
    char *plain = line.text != NULL ? res_text_plain(line.text) : NULL;
    free(line.text);
    return plain;
}

static void note_advice(struct res_noting *to)
{
    struct res_advice advice = res_advice_of(to->result, to->workload);
    say(to, "%s", advice.text);
    res_note_end(to);
    to->label = "to paste";
    for (size_t i = 0; i < advice.tried_count; i++) {
        char *line = res_deploy_line(advice.tried[i]);
        if (line == NULL)
            continue;
        say(to, "%s", advice.tried[i]->name);
        res_note_end_with(to, line);
    }
    free(advice.text);
}

const struct res_note_row RES_ADVICE_ROWS[] = {
    {"advice", RES_NOTE_ADVICE, false, .make = note_advice}, /* and what is to be pasted */
    {0},
};
