/* notes_verdict.c - what the figures mean for the program, in a line each: its time, its memory at the peak and at rest, what to
 * try, and how small a difference could have been seen. Nothing is claimed that no verdict shows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/words.h"
#include "results/measure/base/figure_words.h"
#include "results/measure/base/shell_line.h"
#include "results/measure/candidate/library.h"
#include "results/measure/figures/verdict.h"
#include "results/measure/statistics/statistics.h"
#include "results/report/notes/more_rounds.h"
#include "results/report/notes/notes.h"
#include "results/report/notes/noting.h"

/* Heap over the anonymous memory of the process: with less, and by so much, the program maps memory itself. */
#define MAPPED       0.1
#define MAPPED_BYTES 16e6
/* Of the CPU time: with less in malloc, a program that has an allocator of its own does its work there. */
#define OWN_SHARE 0.05
/* So many objects that were freed unseen are a part of the program, and no accident: each of php's extensions makes some. */
#define UNSEEN 5

static const struct res_result_entry *baseline_of(const struct res_noting *to)
{
    return &to->workload->candidates[0];
}

void res_notes_add_time_share(struct res_text *words, const struct res_result_workload *workload,
                              double share)
{
    const double low = share * workload->share_time_low / workload->share_time,
                 high = share * workload->share_time_high / workload->share_time;
    const char *least = RES_ABOUT(low), *most = RES_ABOUT(high);
    if (!isfinite(low) || !isfinite(high))
        res_text_printf(words, share < 0.0005 ? "%s" : "about %s", RES_ABOUT(share));
    else if (strcmp(least, most) == 0 || low < 0.0005)
        res_text_printf(words, "%s%s", strcmp(least, most) == 0 ? "" : "up to ", most);
    else
        res_text_printf(words, "%.*s-%s", (int)strcspn(least, " "), least, most);
}

/* Of the program, or of the time in malloc where its whole is not known. */
static void say_time_part(struct res_noting *to, double part)
{
    const double share = part * to->workload->share_time;
    if (isfinite(share))
        res_notes_add_time_share(&to->words, to->workload, share);
    else
        say(to, "%s", RES_SHARE(part));
    say(to, " of %s", isfinite(share) ? "the program" : "the time in malloc");
}

static const struct res_result_entry *entry_of(const struct res_noting *to, const struct res_saving *saving)
{
    return saving->candidate != NULL ? res_result_entry_named(to->workload, saving->candidate) : NULL;
}

/* ---- how much -------------------------------------------------------------------------------- */

/* whole  of what the saving is a part where the process is not known. */
static double share_of(const struct res_saving *saving, double whole)
{
    const double share = isfinite(saving->of_process) ? saving->of_process : saving->saved / whole;
    return isfinite(share) ? share : 0;
}

static bool is_worth(const struct res_saving *saving, double whole)
{
    return saving->candidate != NULL && share_of(saving, whole) >= RES_SAVING_WORTH;
}

static bool is_worth_memory(const struct res_noting *to, const struct res_saving *saving)
{
    return is_worth(saving, baseline_of(to)->figures.peak_bytes) &&
           !res_is_little_memory(to->workload, saving->saved);
}

/* ---- time ------------------------------------------------------------------------------------ */

static size_t rivals(const struct res_noting *to, enum res_verdict verdict, bool any)
{
    size_t count = 0;
    RES_EACH_CANDIDATE(entry, to->workload)
    count += entry != baseline_of(to) && entry->failed == NULL &&
             (any || entry->figures.time.verdict == verdict);
    return count;
}

/* What the noise may hide at most, as a share of the time in calls. */
static double hidden_of(const struct res_noting *to)
{
    double hidden = 0;
    RES_EACH_CANDIDATE(entry, to->workload)
    {
        const struct res_difference *time = &entry->figures.time;
        if (entry != baseline_of(to) && entry->failed == NULL && time->verdict != RES_MORE)
            hidden = fmax(hidden, 1 - time->interval.low);
    }
    return hidden;
}

static void say_nobody_faster(struct res_noting *to)
{
    const struct res_result_workload *workload = to->workload;
    const char *baseline = to->result->baseline;
    const double hidden = hidden_of(to), of_process = hidden * workload->share_time;
    const struct res_more_rounds more = res_more_rounds(workload);
    if (rivals(to, RES_MORE, false) == rivals(to, RES_MORE, true)) {
        say(to, "stay with %s, every other is slower", baseline);
        return;
    }
    if (of_process < RES_SAVING_WORTH) {
        say(to, "do not bother, less than %s of the program could be gained",
            RES_ABOUT(fmax(of_process, 0.001)));
        return;
    }
    say(to, "stay with %s, none is shown to be faster", baseline);
    if (!(hidden >= RES_LARGE_NOISE) && !(of_process >= RES_SAVING_WORTH))
        return;
    char *words = res_more_rounds_words(&more);
    say(to, "; up to %s of %s may hide in the noise: %s",
        isfinite(of_process) ? RES_ABOUT(of_process) : RES_SHARE(hidden),
        isfinite(of_process) ? "the program" : "that time", words);
    free(words);
}

/* What the fastest takes more of memory, where that is shown. */
static void say_price_in_memory(struct res_noting *to, const struct res_result_entry *entry)
{
    const struct res_result_workload *workload = to->workload;
    const struct res_result_entry *baseline = baseline_of(to);
    const double more = entry->figures.peak_bytes - baseline->figures.peak_bytes;
    const struct res_process *process = res_whole_process(workload);
    const double whole = process != NULL && process->rss_peak_bytes > 0 ? process->rss_peak_bytes
                                                                        : baseline->figures.peak_bytes;
    if (workload->live == RES_LIVE_KNOWN && workload->no_trust_memory == NULL &&
        more >= RES_SAVING_WORTH * whole && entry->figures.peak.verdict == RES_MORE)
        say(to, ", but %s more at the peak", FP_BYTES(more));
}

/* Who looks faster than the one that is named, and why it is not. */
static void say_why_not_the_fastest(struct res_noting *to, const struct res_result_entry *named)
{
    const struct res_result_entry *first = named;
    RES_EACH_CANDIDATE(entry, to->workload)
    if (entry->failed == NULL && entry->figures.time.verdict == RES_LESS &&
        entry->figures.time.ratio < first->figures.time.ratio)
        first = entry;
    const struct res_confirmed *confirmed = res_confirmed_named(to->result->confirmed,
                                                                to->result->confirmed_count, first->name);
    const double more = first->figures.peak_bytes - named->figures.peak_bytes;
    if (first == named)
        return;
    if (confirmed != NULL && confirmed->time_verdict == RES_MORE)
        say(to, "; %s is slower in the program itself", first->name);
    else
        say(to, "; %s is not shown to be faster than %s and takes %s more", first->name, named->name,
            FP_BYTES(more));
}

static double two_digits(double ns)
{
    const double unit = pow(10, floor(log10(ns)) - 1);
    return ns > 0 ? round(ns / unit) * unit : ns;
}

static void say_fastest(struct res_noting *to)
{
    const struct res_saving *time = &to->workload->verdict->time;
    const struct res_result_entry *entry = entry_of(to, time);
    const double calls = res_calls_ns(to->workload, baseline_of(to));
    if (entry == NULL)
        return;
    if (is_worth(time, calls))
        say(to, "%s, %s of CPU less, ", time->candidate, RES_DURATION(two_digits(time->saved)));
    else
        say(to, "do not bother, %s saves ", time->candidate);
    say_time_part(to, time->saved / calls);
    if (!is_worth(time, calls))
        return;
    say_price_in_memory(to, entry);
    say_why_not_the_fastest(to, entry);
}

/* A verdict takes more rounds than there are: who asked for enough is told what ended them. */
static void say_few_rounds(struct res_noting *to)
{
    const struct res_result_workload *workload = to->workload;
    const uint64_t rounds = workload->rounds, asked = to->result->rounds_asked;
    const char *by = workload->stopped_by != NULL ? workload->stopped_by : "";
    if (strcmp(by, "time_budget") == 0 && rounds > 0)
        say(to,
            "no verdict from the %s round%s that the time budget holds, it takes %u (--time-budget %.0fs)",
            FP_GROUPED(rounds), rounds == 1 ? "" : "s", RES_ROUNDS_FOR_VERDICT,
            ceil(fmax(workload->stopped_elapsed_ns, 0) / (double)(rounds + 1) * /* with the warm-up */
                 (RES_ROUNDS_FOR_VERDICT + RES_ROUNDS_FOR_MEMORY) / 1e9));
    else if (asked >= RES_ROUNDS_FOR_VERDICT)
        say(to, "no verdict, stopped after %s of %s rounds: it takes %u", FP_GROUPED(rounds),
            FP_GROUPED(asked), RES_ROUNDS_FOR_VERDICT);
    else
        say(to, "no verdict from %s round%s, it takes %u (-n 10)", FP_GROUPED(rounds), rounds == 1 ? "" : "s",
            RES_ROUNDS_FOR_VERDICT);
}

static void note_time(struct res_noting *to)
{
    const struct res_result_workload *workload = to->workload;
    if (workload->verdict == NULL)
        return;
    if (workload->verdict->matters == 0)
        return;
    say(to, "time: ");
    if (workload->share_time < RES_SHARE_TIME) {
        say(to, "does not matter, all calls take ");
        say_time_part(to, 1);
    } else if (workload->no_trust_time != NULL) {
        say(to, "not trustworthy here: %s", workload->no_trust_time);
    } else if (rivals(to, RES_MORE, true) == 0) {
        say(to, "nothing to compare %s with", to->result->baseline);
    } else if (workload->rounds < RES_ROUNDS_FOR_VERDICT) {
        say_few_rounds(to);
    } else if (workload->verdict->time.candidate == NULL) {
        say_nobody_faster(to);
    } else {
        say_fastest(to);
    }
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void say_price_in_time(struct res_noting *to, const struct res_result_entry *entry)
{
    const struct res_difference *time = &entry->figures.time;
    const double more = time->ratio - 1, of_process = more * to->workload->share_time;
    if (time->verdict != RES_MORE || to->workload->no_trust_time != NULL ||
        (isfinite(of_process) ? of_process : more) < RES_SAVING_WORTH)
        return;
    say(to, ", but more time, ");
    say_time_part(to, more);
}

static void say_saver(struct res_noting *to, const struct res_saving *saving, const char *label)
{
    const struct res_result_entry *entry = entry_of(to, saving);
    const double share = share_of(saving, baseline_of(to)->figures.peak_bytes);
    const bool worth = is_worth_memory(to, saving);
    say(to, "%s: ", label);
    if (entry == NULL) {
        say(to, "stay with %s", to->result->baseline);
        return;
    }
    say(to, worth ? "%s, %s less, " : "do not bother, %s saves %s, ", saving->candidate,
        FP_BYTES(saving->saved));
    say(to, "%s of %s", RES_SHARE(share),
        isfinite(saving->of_process) ? "the program" : "the heap at its peak");
    if (worth)
        say_price_in_time(to, entry);
}

static bool has_memory(const struct res_noting *to)
{
    return isfinite(baseline_of(to)->figures.peak_bytes);
}

static void note_memory(struct res_noting *to)
{
    const struct res_result_workload *workload = to->workload;
    const struct res_program_verdict *verdict = workload->verdict;
    const uint64_t rounds = baseline_of(to)->resident_rounds; /* older results do not tell */
    const unsigned needed = workload->memory_rounds > 0 ? RES_ROUNDS_FOR_MEMORY : RES_ROUNDS_FOR_VERDICT;
    const bool has_rest = verdict != NULL && verdict->idle.candidate != NULL;
    if (verdict == NULL || verdict->matters == 0 || rivals(to, RES_MORE, true) == 0 || !has_memory(to))
        return;
    if (workload->share_memory < RES_SHARE_MEMORY) {
        say(to, "memory: does not matter, the heap is %s of the program's",
            RES_SHARE(workload->share_memory));
    } else if (workload->no_trust_memory != NULL) {
        say(to, "memory: not trustworthy here: %s", workload->no_trust_memory);
    } else if (workload->live != RES_LIVE_KNOWN) {
        say(to, "memory: no verdict: %s", res_notes_live(workload->live));
    } else if (rounds > 0 && rounds < needed) {
        say(to, "memory: no verdict from %s round%s, it takes %u", FP_GROUPED(rounds), rounds == 1 ? "" : "s",
            needed);
    } else if (verdict->peak.candidate == NULL && !has_rest) {
        say(to, "memory: stay with %s, none is shown to need less%s", to->result->baseline,
            res_rest_is_passed_over(workload) ? " (it never rests)" : "");
    } else {
        say_saver(to, &verdict->peak, "peak");
        res_note_end(to);
        if (has_rest)
            say_saver(to, &verdict->idle, "rest");
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

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

static void note_survivors(struct res_noting *to)
{
    struct res_text dead = {0}, left = {0};
    if (to->result->limit_bytes == 0)
        return;
    const size_t dead_count = names_of(to->workload, true, &dead),
                 left_count = names_of(to->workload, false, &left);
    const char *bytes = FP_BYTES((double)to->result->limit_bytes);
    if (dead_count > 0 && left_count == 0)
        say(to, "no candidate survives the limit of %s: raise --limit", bytes);
    else if (dead_count > 0)
        say(to, "%s%s survive%s the limit of %s, %s do%s not", left_count == 1 ? "only " : "", left.text,
            left_count == 1 ? "s" : "", bytes, dead.text, dead_count == 1 ? "es" : "");
    free(dead.text);
    free(left.text);
}

static void note_matters(struct res_noting *to)
{
    const struct res_result_workload *workload = to->workload;
    if (workload->verdict == NULL) {
        say(to, "no more: the baseline %s failed; -b names another", to->result->baseline);
        return;
    }
    if (workload->verdict->matters != 0)
        return;
    say(to, "it does not matter here: malloc takes ");
    res_notes_add_time_share(&to->words, workload, workload->share_time);
    say(to, " of the CPU time and %s of the memory", RES_SHARE(workload->share_memory));
}

/* Programs that bring an allocator of their own for small objects. */
static const struct {
    const char *program, *words;
} OWN[] = {
    {"python", "python keeps small objects in pools of its own; PYTHONMALLOC=malloc takes them to malloc"},
    {"php", "php keeps its objects in a heap of its own; USE_ZEND_ALLOC=0 takes them to malloc"},
    {"memcached", "memcached keeps its items in slabs of its own, which no other malloc changes"},
    {"java", "java keeps its objects in a heap of its own, which no other malloc changes"},
    {"node", "node keeps JavaScript's objects in a heap of its own, which no other malloc changes"},
};

static bool is_small_part(const struct res_result_workload *workload)
{
    const struct res_process *process = res_whole_process(workload);
    return process != NULL && baseline_of(&(struct res_noting){.workload = workload})->figures.peak_bytes <
                                  MAPPED * process->rss_anon_peak_bytes;
}

/* Where malloc matters little: why, and what would change that. */
static void note_own(struct res_noting *to)
{
    const struct res_result_workload *workload = to->workload;
    const char *program = workload->program != NULL ? workload->program : "";
    const bool is_little = workload->share_time < RES_SHARE_TIME ||
                           workload->share_memory < RES_SHARE_MEMORY || is_small_part(workload);
    if (workload->verdict == NULL || !(is_little || workload->share_time < OWN_SHARE))
        return;
    for (size_t i = 0; i < sizeof OWN / sizeof OWN[0]; i++)
        if (strncmp(program, OWN[i].program, strlen(OWN[i].program)) == 0) {
            say(to, "%s", OWN[i].words);
            return;
        }
    const double mapped = is_little && is_small_part(workload)
                              ? workload->process->rss_anon_peak_bytes - baseline_of(to)->figures.peak_bytes
                              : 0;
    if (mapped > MAPPED_BYTES)
        say(to, "most of its memory, %s, does not come from malloc: the program maps it itself",
            FP_BYTES(mapped));
}

/* A part of the program calls its C library past any preload. */
static bool is_past_preloads(const struct res_result_workload *workload)
{
    return workload->complete && res_count_told(workload->unseen_frees) >= UNSEEN;
}

static void note_unseen(struct res_noting *to)
{
    if (is_past_preloads(to->workload))
        say(to,
            "%s objects were freed past the recorder: a part of the program calls its C library past any "
            "preload (RTLD_DEEPBIND, as php loads extensions), and under a preloaded allocator it may crash",
            FP_GROUPED(res_count_told(to->workload->unseen_frees)));
}

/* ---- what is to be pasted -------------------------------------------------------------------- */

static bool is_preloaded(const struct res_result_entry *entry)
{
    return entry->library != NULL && !res_is_c_library(entry->library);
}

char *res_deploy_line(const struct res_result_entry *entry)
{
    struct res_text line = {0};
    if (is_preloaded(entry))
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

size_t res_notes_tried(const struct res_result *result, const struct res_result_workload *workload,
                       const struct res_result_entry *ret_entries[RES_TRIED_MAX])
{
    const struct res_noting to = {.result = result, .workload = workload};
    const struct res_program_verdict *verdict = workload->verdict;
    size_t count = 0;
    if (verdict == NULL || verdict->matters == 0)
        return 0;
    const struct res_saving *savings[] = {&verdict->time, &verdict->peak, &verdict->idle};
    for (size_t i = 0; i < sizeof savings / sizeof savings[0]; i++) {
        const struct res_result_entry *entry = entry_of(&to, savings[i]);
        const bool worth = i == 0 ? is_worth(savings[0], res_calls_ns(workload, baseline_of(&to)))
                                  : is_worth_memory(&to, savings[i]);
        bool told = entry == NULL || !worth;
        for (size_t k = 0; k < count && !told; k++)
            told = ret_entries[k] == entry;
        if (!told)
            ret_entries[count++] = entry;
    }
    return count;
}

/* Once for each candidate that a verdict names as worth it. What would crash is not pasted. */
static void note_try(struct res_noting *to)
{
    const struct res_result_entry *entries[RES_TRIED_MAX];
    const size_t count = res_notes_tried(to->result, to->workload, entries);
    bool crashes = false;
    for (size_t i = 0; i < count; i++) {
        if (is_past_preloads(to->workload) && is_preloaded(entries[i])) {
            crashes = true;
            continue;
        }
        char *line = res_deploy_line(entries[i]);
        if (line == NULL)
            continue;
        say(to, "%s", entries[i]->name);
        res_note_end_with(to, line);
    }
    if (crashes)
        say(to, "no LD_PRELOAD before its modules load without RTLD_DEEPBIND");
}

/* ---- how much could have been seen ----------------------------------------------------------- */

/* What disturbed most: one line of it, the rest is told with details. */
static void say_disturbed(struct res_noting *to)
{
    static const char *const KINDS[] = {"steal", "host", "others", "pressure", "swapping", "memory"};
    for (size_t kind = 0; kind < sizeof KINDS / sizeof KINDS[0]; kind++) {
        for (size_t i = to->result->disturbance_count; i > 0; i--) {
            const struct res_disturbance *one = &to->result->disturbances[i - 1];
            if (one->kind == NULL || one->text == NULL || strcmp(one->kind, KINDS[kind]) != 0)
                continue;
            say(to, "; %s", one->text);
            return;
        }
    }
}

/* The next round size that is out of reach yet, and what it takes: errors shrink as the root of the rounds. */
static void say_more(struct res_noting *to)
{
    static const double SIZES[] = {0.1, 0.05, 0.03, 0.02, 0.01, 0.005};
    const double good = to->workload->good_for, elapsed_ns = to->workload->stopped_elapsed_ns;
    for (size_t i = 0; i < sizeof SIZES / sizeof SIZES[0] && elapsed_ns > 0; i++) {
        if (SIZES[i] > 0.7 * good)
            continue;
        say(to, "%.3g %% would take %s more; ", 100 * SIZES[i],
            RES_DURATION(elapsed_ns * (pow(good / SIZES[i], 2) - 1)));
        return;
    }
}

static void note_good_for(struct res_noting *to)
{
    const struct res_result_workload *workload = to->workload;
    if (workload->good_for > 0)
        say(to, "differences of %.*f %% and more of malloc's time where none is shown; ",
            workload->good_for < 0.0995, 100 * workload->good_for);
    else if (workload->control.failed != NULL && workload->candidates[0].failed == NULL)
        say(to, "no verdict on time, the baseline's second run failed (%s); ", workload->control.failed);
    if (workload->good_for > 0)
        say_more(to);
    say(to, "%s", FP_GROUPED(workload->rounds));
    if (to->result->stopped && to->result->rounds_asked > workload->rounds)
        say(to, " of %s rounds, stopped", FP_GROUPED(to->result->rounds_asked));
    else
        say(to, " round%s", workload->rounds == 1 ? "" : "s");
    say_disturbed(to);
}

const struct res_note_row RES_VERDICT_ROWS[] = {
    {RES_VERDICT_LABEL, RES_NOTE_ADVICE, RES_TOLD_ALWAYS, .make = note_unseen},
    {RES_VERDICT_LABEL, RES_NOTE_ADVICE, RES_TOLD_ALWAYS, .make = note_survivors},
    {RES_VERDICT_LABEL, RES_NOTE_ADVICE, RES_TOLD_ALWAYS, .make = note_matters},
    {RES_VERDICT_LABEL, RES_NOTE_ADVICE, RES_TOLD_ALWAYS, .make = note_time},
    {RES_VERDICT_LABEL, RES_NOTE_ADVICE, RES_TOLD_ALWAYS, .make = note_memory},
    {RES_VERDICT_LABEL, RES_NOTE_ADVICE, RES_TOLD_ALWAYS, .make = note_own},
    {"try it", RES_NOTE_ADVICE, RES_TOLD_ALWAYS, .make = note_try},
    {"good for", RES_NOTE_INFO, RES_TOLD_ALWAYS, .make = note_good_for},
    {0},
};
