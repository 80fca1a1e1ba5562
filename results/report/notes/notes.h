/* notes.h - the lines around a table as data: what was replayed, what the figures rest on, what is missing, what to do.
 *
 * A note is made once from the members of a result (result.h), kept in its JSON, and printed alike by table, Markdown
 * and page, in the order in which it stands there. It is worth a line where a reader does something with it; what only
 * explains a figure has `details`. */
#ifndef MALLAB_RESULTS_REPORT_NOTES_NOTES_H
#define MALLAB_RESULTS_REPORT_NOTES_NOTES_H

#include "results/measure/figures/figures.h"
#include "results/report/grid/grid.h"

#define RES_VERDICT_LABEL "verdict" /* of the lines that answer */

/* res_notes_fill - make the notes of a result and of its workloads. Those that it had are dropped: the words follow from
 * the figures, and a file from anywhere is not to put words into our mouth, least of all commands to paste. Its verdicts are filled: res_result_judge, res_confirm_run. */
void res_notes_fill(struct res_result *result);

/* res_notes_fleet - make those of a fleet, likewise. res_notes_fill makes a result's fleet anew, with its notes. */
void res_notes_fleet(struct res_fleet *fleet);

/* res_notes_tried - the candidates that the verdict names as worth it, each once.
 * Of a result with its verdicts (verdict.c). Returns how many. */
#define RES_TRIED_MAX 3u /* the best of time, of the peak, at rest */
size_t res_notes_tried(const struct res_result_workload *workload,
                       const struct res_result_entry *ret_entries[RES_TRIED_MAX]);

/* res_notes_details - a line for each note that is told where details are asked for, none wider than RES_TABLE_COLUMNS where words allow it. */
void res_notes_details(struct res_text *text, const struct res_note *notes, size_t count);

/* res_notes_screen - print the notes without details on the screen that answers (table.h): a label has one line, the verdict two.
 * command  behind what is to be pasted; NULL: not known.
 * details  each has all its lines. */
void res_notes_screen(struct res_text *text, const struct res_note *notes, size_t count, const char *command,
                      bool details);

/* res_notes_lead - print what a page has above its tables: warnings before the verdict, and the verdict. Other forms have it below.
 * res_notes_rest - the others below them, of other forms all: on a screen with all lines, in Markdown without details, what is to be
 * pasted as a block of code. */
void res_notes_lead(struct res_document *document, const struct res_note *notes, size_t count);
void res_notes_rest(struct res_document *document, const struct res_note *notes, size_t count,
                    const char *command);

/* res_notes_recorded - what the recording lacks, which is told above a table; NULL: nothing. Borrowed. */
const char *res_notes_recorded(const struct res_result_workload *workload);

/* res_notes_title - a workload's name, and what was recorded where that does not say it: "3.wl (python3)". The caller's to free. */
char *res_notes_title(const struct res_result_workload *workload);

/* res_deploy_line - "LD_PRELOAD=/usr/lib/libjemalloc.so.2 MALLOC_CONF=narenas:1".
 * how      the program has its allocator now, as fp_runs_on_name has it: the C library's own takes an LD_PRELOAD where the program is
 *          "linked" with another, an empty one where another is "preloaded", else none
 * library, environment   of the candidate
 * Returns  the caller's to free, fit for a terminal; NULL: nothing is to be set. */
char *res_deploy_line(const char *how, const char *library, const struct res_pairs *environment);

/* res_notes_add_time_share - a share of the program's CPU time, in words: "about 7 %" of the one reading of its recording, or "5-8 %" where a
 * confirmation ran it more often. */
void res_notes_add_time_share(struct res_text *words, const struct res_result_workload *workload,
                              double share);

/* ---- sentences.c: what the lines around a table say, as rows, for the files of this folder.
 *   sentence  one row: whole words with slots, and when they are said. Who wants to change a line of the screen finds it in sentences.c
 *   {slot}    a function by its name, which writes words about a workload, a candidate, an answer (slots_replayed.c)
 *   [part]    left out where a slot in it has nothing to say. Where a slot outside of one has nothing to say, so has the sentence
 *   said of   a row is said once, or for each of several things in their order: candidates, disturbances, ...
 *
 * Notes stand in the order of their rows. */

/* A row is said about these; a thing that it has nothing to do with is NULL. */
struct res_about {
    const struct res_result *result;
    const struct res_result_workload *workload; /* NULL: it is said about all of the result */
    const struct res_fleet *fleet;              /* instead of both */
    const struct res_answer *answer;            /* that the row is about */
    const struct res_result_entry *entry;       /* of a row for each candidate */
    const struct res_confirmed *one;            /* of a row for each candidate of a confirmation */
    size_t at;                                  /* of a row for each of any things: which */
};

enum res_of { RES_OF_ANY, RES_OF_TIME, RES_OF_PEAK, RES_OF_REST };

struct res_sentence {
    const char *label;
    enum res_severity severity;
    bool details; /* told on the page, and where details are asked for */
    const char *words;
    const char *detail; /* a slot: what is to be copied; NULL: nothing */
    enum res_of of;     /* an answer, and of which kind it is; any: it is said of no answer */
    enum res_answer_kind kind;
    bool (*when)(const struct res_about *about); /* NULL: always */
    bool (*next)(struct res_about *about); /* sets what `at` is, if there is such a one; NULL: said once */
};

/* Up to one without words. */
extern const struct res_sentence RES_WORKLOAD_SENTENCES[], RES_RESULT_SENTENCES[], RES_FLEET_SENTENCES[];

/* A slot adds its words, or none. */
typedef void res_slot_fn(const struct res_about *about, struct res_text *words);
struct res_slot {
    const char *name;
    res_slot_fn *add;
};

/* SLOT - "{name}" of a sentence is the body behind SLOT(name). The linker puts all slots into one array, which it bounds with these names. */
#define SLOT(name)                                                                                           \
    static res_slot_fn say_##name;                                                                           \
    static const struct res_slot slot_##name                                                                 \
        __attribute__((used, section("res_slots"), aligned(sizeof(void *)))) = {#name, say_##name};          \
    static void say_##name(const struct res_about *about, struct res_text *words)
#define say(...) res_text_printf(words, __VA_ARGS__)
extern const struct res_slot __start_res_slots[], __stop_res_slots[];

/* Addresses as numbers: to C they are two arrays. */
#define RES_SLOT_COUNT                                                                                       \
    (((uintptr_t)__stop_res_slots - (uintptr_t)__start_res_slots) / sizeof(struct res_slot))

/* SLOT_DO - a slot that is one statement. */
#define SLOT_DO(name, statement)                                                                             \
    SLOT(name)                                                                                               \
    {                                                                                                        \
        statement;                                                                                           \
    }

/* SLOT_WORD - a slot that is a text, or NULL: nothing. SLOT_IF - that is a format with its values, or nothing. */
#define SLOT_WORD(name, word)                                                                                \
    SLOT(name)                                                                                               \
    {                                                                                                        \
        const char *text = (word);                                                                           \
        if (text != NULL)                                                                                    \
            say("%s", text);                                                                                 \
    }
#define SLOT_IF(name, condition, ...)                                                                        \
    SLOT(name)                                                                                               \
    {                                                                                                        \
        if (condition)                                                                                       \
            say(__VA_ARGS__);                                                                                \
    }

/* Conditions and things in turn, for the rows. */
typedef bool res_when_fn(const struct res_about *about);
typedef bool res_next_fn(struct res_about *about);
extern res_when_fn res_baseline_failed, res_nothing_matters, res_few_rounds, res_is_free, res_peak_alone,
    res_peak_is_free, res_rest_alone, res_rest_too, res_parts_differ, res_whole_limit, res_all_failed,
    res_control_held;
extern res_next_fn res_each_candidate, res_each_tried, res_each_crashing, res_each_disturbance,
    res_each_missing, res_each_confirmed, res_each_confirmed_tried, res_each_fleet_candidate, res_each_mixed;

/* res_name_list - add a name to a list: "a, b and c", of which this is number `at` of `count`. */
void res_name_list(struct res_text *words, const char *name, size_t at, size_t count);

/* res_baseline_entry - the first candidate. */
static inline const struct res_result_entry *res_baseline_entry(const struct res_about *about)
{
    return &about->workload->candidates[0];
}

/* res_is_past_preloads - whether a part of the program calls its C library past any preload. */
bool res_is_past_preloads(const struct res_result_workload *workload);

#endif
