/* slots_answer.c - the words of slots about what pays: shares, savings, prices, what noise may hide, what to set. */
#include <stdlib.h>
#include <string.h>

#include "footprint/base/words.h"
#include "results/report/notes/notes.h"

/* A share of the CPU time: with less in malloc, a program that has an allocator of its own does its work there. */
#define OWN_SHARE 0.05
#define OWN_HEAP  0.1 /* likewise of its resident memory */

/* ---- what survives a limit ------------------------------------------------------------------- */

/* Adds the candidates that died of it, or the ones that did not fail. Returns how many. */
static size_t names_of(const struct res_result_workload *workload, bool died, struct res_text *words)
{
    size_t count = 0, at = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < workload->candidate_count; i++) {
            const struct res_result_entry *entry = &workload->candidates[i];
            const char *cause = entry->failure != NULL ? entry->failure->cause : NULL;
            if (died ? !res_failure_is_death(cause) : entry->failed != NULL)
                continue;
            if (pass == 1)
                res_name_list(words, entry->name, at++, count);
            count += pass == 0;
        }
    return count;
}

static size_t count_of(const struct res_result_workload *workload, bool died)
{
    struct res_text words = {0};
    const size_t count = names_of(workload, died, &words);
    free(words.text);
    return count;
}

bool res_whole_limit(const struct res_about *about)
{
    return about->result->limit_bytes > 0 && count_of(about->workload, true) > 0 &&
           count_of(about->workload, false) == 0;
}

/* No limit did it. */
bool res_all_failed(const struct res_about *about)
{
    return count_of(about->workload, false) == 0 && !res_whole_limit(about);
}

SLOT_IF(limit, about->result->limit_bytes > 0, "%s", FP_BYTES((double)about->result->limit_bytes))

SLOT(survivors)
{
    const size_t count = count_of(about->workload, false);
    if (count == 0 || count_of(about->workload, true) == 0)
        return;
    say(count == 1 ? "only " : "");
    (void)names_of(about->workload, false, words);
    say(count == 1 ? " survives" : " survive");
}

SLOT_DO(dead, say(names_of(about->workload, true, words) == 1 ? " does" : " do"))

static bool is_held(const struct res_result *result)
{
    return result->limit_by != NULL && strncmp(result->limit_by, "cgroup", 6) == 0;
}

SLOT_IF(limit_held, about->result->limit_bytes > 0 && is_held(about->result), "%s",
        FP_BYTES((double)about->result->limit_bytes))
SLOT_IF(limit_mapped, about->result->limit_bytes > 0 && !is_held(about->result), "%s",
        FP_BYTES((double)about->result->limit_bytes))
SLOT_WORD(limit_by, about->result->limit_by)
SLOT_WORD(limit_why, about->result->limit_by_why)

/* "jemalloc in 3 of 13 runs, up to 12 times" */
SLOT(pressure)
{
    const char *comma = "";
    for (size_t i = 0; i < about->workload->candidate_count; i++) {
        const struct res_limited *limited = about->workload->candidates[i].limit;
        if (limited == NULL || limited->runs_at_limit == 0)
            continue;
        say("%s%s in %s of %s runs, up to %s times", comma, about->workload->candidates[i].name,
            FP_GROUPED(limited->runs_at_limit), FP_GROUPED(limited->runs),
            FP_GROUPED(limited->at_limit_count_max));
        comma = ", ";
    }
}

/* ---- shares and savings ---------------------------------------------------------------------- */

void res_notes_add_time_share(struct res_text *words, const struct res_result_workload *workload,
                              double share)
{
    const double low = share * workload->share_time_low / workload->share_time,
                 high = share * workload->share_time_high / workload->share_time;
    const char *least = RES_ABOUT(low), *most = RES_ABOUT(high);
    if (!isfinite(low) || !isfinite(high))
        say(share < 0.0005 ? "%s" : "about %s", RES_ABOUT(share));
    else if (strcmp(least, most) == 0 || low < 0.0005)
        say("%s%s", strcmp(least, most) == 0 ? "" : "up to ", most);
    else
        say("%.*s-%s", (int)strcspn(least, " "), least, most);
}

/* A share is one of it; part: where its whole is not known. A program that was confirmed ran as a whole. */
static const char *whole(const struct res_about *about, bool is_known, const char *part)
{
    const bool lacks = about->workload != NULL && !about->workload->complete &&
                       about->answer->kind != RES_ANSWER_CONFIRMED;
    return !is_known ? part : lacks ? "what was recorded" : "the program";
}

static void add_time_part(const struct res_about *about, struct res_text *words, double share)
{
    const bool is_known = about->workload == NULL || isfinite(about->workload->share_time) ||
                          isfinite(about->answer->of_process);
    if (about->workload != NULL && isfinite(about->workload->share_time) &&
        about->answer->kind != RES_ANSWER_CONFIRMED)
        res_notes_add_time_share(words, about->workload, share);
    else
        say("%s", RES_SHARE(share));
    say(" of %s", whole(about, is_known, "the time in malloc"));
}

static double two_digits(double ns)
{
    const double unit = pow(10, floor(log10(ns)) - 1);
    return ns > 0 ? round(ns / unit) * unit : ns;
}

SLOT_WORD(who, about->answer->candidate)
SLOT(calls_share)
{
    if (!res_nothing_matters(about))
        res_notes_add_time_share(words, about->workload, about->workload->share_time);
}
SLOT_IF(heap_share, !res_nothing_matters(about), "%s", RES_SHARE(about->workload->share_memory))
SLOT_WORD(no_trust_time, about->workload->no_trust_time)
SLOT_WORD(no_trust_memory, about->workload->no_trust_memory)
SLOT_IF(time_saved, isfinite(about->answer->saved), "%s", RES_DURATION(two_digits(about->answer->saved)))
SLOT_IF(time_lost, true, "%s", RES_DURATION(two_digits(-about->answer->saved)))
SLOT_DO(time_saved_share, add_time_part(about, words, res_answer_share(about->answer)))
SLOT_IF(tried, about->result->confirmed_count > 0, "undecided")
SLOT_IF(untried, about->result->confirmed_count == 0 && about->result->asked.not_confirmed == NULL,
        "try --confirm")
SLOT_IF(bytes_saved, isfinite(about->answer->saved), "%s", FP_BYTES(about->answer->saved))
SLOT(bytes_saved_share)
{
    const double share = res_answer_share(about->answer);
    say("%s of %s", RES_SHARE(isfinite(share) ? share : 0),
        whole(about, isfinite(about->answer->of_process), "the heap at its peak"));
}
SLOT_IF(bytes_part, true, "%s", RES_SHARE(res_answer_share(about->answer)))

static bool is_of_program(const struct res_about *about)
{
    return about->workload == NULL || isfinite(about->workload->share_time);
}

/* "30 ms of CPU, about 9 %"; of a program that is not known "35 % of malloc's time". */
SLOT(time_part)
{
    const double share = res_answer_share(about->answer);
    if (!is_of_program(about)) {
        say("%s of malloc's time", RES_SHARE(share));
        return;
    }
    say_time_saved(about, words);
    say(" of CPU, ");
    if (about->workload != NULL && about->answer->kind != RES_ANSWER_CONFIRMED)
        res_notes_add_time_share(words, about->workload, share);
    else
        say("%s", RES_SHARE(share));
}

SLOT_IF(price_bytes, isfinite(about->answer->price), "%s", FP_BYTES(about->answer->price))
SLOT_IF(price_time, isfinite(about->answer->price), "%s more time%s", RES_SHARE(about->answer->price),
        is_of_program(about) ? "" : " in malloc")
SLOT_WORD(rest_who, strcmp(about->workload->verdict->rest.candidate, about->answer->candidate) != 0
                        ? about->workload->verdict->rest.candidate
                        : NULL)
SLOT_IF(rest_saved, true, "%s", FP_BYTES(about->workload->verdict->rest.saved))
SLOT_IF(hidden_little, about->answer->candidate == NULL, "%s of %s",
        RES_ABOUT(fmax(about->answer->may_hide, 0.001)),
        about->fleet != NULL ? "it" : whole(about, is_of_program(about), "the time in malloc"))

SLOT(starts) /* the calls of one are faster, and its start takes what they save */
{
    for (size_t i = 1; i < about->workload->candidate_count; i++)
        if (about->workload->candidates[i].figures.time.verdict == RES_LESS) {
            say("their starts");
            return;
        }
}

/* ---- conditions on answers ------------------------------------------------------------------- */

bool res_baseline_failed(const struct res_about *about)
{
    return about->workload->verdict == NULL && count_of(about->workload, false) > 0;
}

bool res_nothing_matters(const struct res_about *about)
{
    const struct res_program_verdict *verdict = about->workload->verdict;
    return verdict != NULL && verdict->time.kind == RES_ANSWER_DOES_NOT_MATTER &&
           verdict->peak.kind == RES_ANSWER_DOES_NOT_MATTER;
}

bool res_is_free(const struct res_about *about)
{
    return !isfinite(about->answer->price);
}

bool res_rest_too(const struct res_about *about)
{
    return about->workload->verdict->rest.kind == RES_ANSWER_TAKE;
}

bool res_peak_alone(const struct res_about *about)
{
    return !res_rest_too(about);
}

bool res_peak_is_free(const struct res_about *about)
{
    return res_peak_alone(about) && res_is_free(about);
}

/* Nothing else is said of memory. */
bool res_rest_alone(const struct res_about *about)
{
    const int kind = about->workload->verdict->peak.kind;
    return kind == RES_ANSWER_NONE_SHOWN || kind == RES_ANSWER_ALL_WORSE || kind == RES_ANSWER_NOT_WORTH ||
           kind == RES_ANSWER_TOO_DEAR;
}

/* Figures of memory that look like any others, and are not. */
static const char *live_words(int live)
{
    static const char *const WORDS[] = {
        [RES_LIVE_FROM_MIDDLE] = "the program had memory before recording began",
        [RES_LIVE_PAUSED] = "calls in pauses were not recorded",
        [RES_LIVE_LEFT_BEHIND] = "what merged processes left behind stays live",
    };
    return live > 0 && (size_t)live < sizeof WORDS / sizeof WORDS[0] ? WORDS[live] : NULL;
}

SLOT_WORD(live, live_words(about->workload->live))

/* ---- memory ---------------------------------------------------------------------------------- */

SLOT_WORD(why_timed, about->workload->memory_rounds > 0  ? NULL
                     : about->workload->duration_ns == 0 ? "the workload has no recorded time"
                                                         : "no pass on the recorded one was finished")
SLOT_WORD(unpredicted, about->workload->memory_rounds > 0 ? about->entry->not_predicted_why : NULL)

/* It tells why malloc matters little, and what would change that. */
SLOT(own_allocator)
{
    static const struct {
        const char *program, *sentence;
    } OWN[] = {
        {"python", "python has pools of its own: PYTHONMALLOC=malloc turns them off"},
        {"php", "php has a heap of its own: USE_ZEND_ALLOC=0 turns it off"},
        {"memcached", "memcached has slabs of its own, which no other malloc changes"},
        {"java", "java has a heap of its own, which no other malloc changes"},
        {"node", "node has a heap of its own, which no other malloc changes"},
    };
    const struct res_result_workload *workload = about->workload;
    const char *program = workload->program != NULL ? workload->program : "";
    const bool is_little = workload->share_time < OWN_SHARE || workload->share_memory < OWN_HEAP;
    if (workload->verdict == NULL || !is_little)
        return;
    for (size_t i = 0; i < sizeof OWN / sizeof OWN[0]; i++)
        if (strncmp(program, OWN[i].program, strlen(OWN[i].program)) == 0)
            say("%s", OWN[i].sentence);
}

/* ---- what is to be pasted -------------------------------------------------------------------- */

static bool is_preloaded(const char *library)
{
    return library != NULL && !res_is_c_library(library);
}

char *res_deploy_line(const char *how, const char *library, const struct res_pairs *environment)
{
    struct res_text line = {0};
    if (is_preloaded(library) || (library != NULL && strcmp(how, "linked") == 0))
        res_shell_variable(&line, "LD_PRELOAD", library);
    else if (strcmp(how, "preloaded") == 0)
        res_shell_variable(&line, "LD_PRELOAD", "");
    for (size_t i = 0; i < environment->count; i++) {
        const struct res_pair *pair = &environment->items[i];
        if (res_shell_is_name(pair->name) && pair->value != NULL)
            res_shell_variable(&line, pair->name, pair->value);
    }
    char *plain = line.text != NULL ? res_text_plain(line.text) : NULL;
    free(line.text);
    return plain;
}

/* The library that a program ran on before, which was not replayed. */
static const char *control_library(const struct res_about *about)
{
    return about->result->confirmed[about->result->confirmed_count - 1].library;
}

SLOT(deploy)
{
    const struct res_runs_on *runs_on = about->workload != NULL ? about->workload->runs_on : NULL;
    const char *how = runs_on != NULL && runs_on->how != NULL ? runs_on->how : "";
    char *line = about->entry != NULL
                     ? res_deploy_line(how, about->entry->library, &about->entry->environment)
                     : res_deploy_line(is_preloaded(control_library(about)) ? "linked" : "",
                                       about->one->library, &about->one->environment);
    if (line != NULL)
        say("%s", line);
    free(line);
}

static bool is_advised(const struct res_answer *answer)
{
    return answer->kind == RES_ANSWER_TAKE || answer->kind == RES_ANSWER_CONFIRMED ||
           answer->kind == RES_ANSWER_UNDECIDED;
}

/* Each of a program that was not replayed. */
bool res_each_confirmed_tried(struct res_about *about)
{
    const struct res_program_verdict *verdict = about->result->verdict;
    for (; res_each_confirmed(about); about->at++)
        if (verdict != NULL && about->result->workload_count == 0 &&
            ((is_advised(&verdict->time) && strcmp(verdict->time.candidate, about->one->candidate) == 0) ||
             (is_advised(&verdict->peak) && strcmp(verdict->peak.candidate, about->one->candidate) == 0)))
            return true;
    return false;
}

size_t res_notes_tried(const struct res_result_workload *workload,
                       const struct res_result_entry *ret_entries[RES_TRIED_MAX])
{
    const struct res_program_verdict *verdict = workload->verdict;
    size_t count = 0;
    if (verdict == NULL)
        return 0;
    const struct res_answer *answers[] = {&verdict->time, &verdict->peak, &verdict->rest};
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        const struct res_result_entry *entry = is_advised(answers[i])
                                                   ? res_result_entry_named(workload, answers[i]->candidate)
                                                   : NULL;
        bool told = entry == NULL;
        for (size_t k = 0; k < count && !told; k++)
            told = ret_entries[k] == entry;
        if (!told)
            ret_entries[count++] = entry;
    }
    return count;
}

/* Each candidate once that an answer names as worth it. What would crash is not pasted. */
static bool next_tried(struct res_about *about, bool crashes)
{
    const struct res_result_entry *entries[RES_TRIED_MAX];
    const size_t count = res_notes_tried(about->workload, entries);
    for (; about->at < count; about->at++)
        if ((res_is_past_preloads(about->workload) && is_preloaded(entries[about->at]->library)) == crashes) {
            about->entry = entries[about->at];
            return true;
        }
    return false;
}

bool res_each_tried(struct res_about *about)
{
    return next_tried(about, false);
}

bool res_each_crashing(struct res_about *about)
{
    return next_tried(about, true);
}
