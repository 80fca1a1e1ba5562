/* notes.c - which notes there are, in their order, and how they are printed. */
#include "results/report/notes/notes.h"

#include <stdlib.h>
#include <string.h>

#include "footprint/base/words.h"
#include "results/measure/base/figure_words.h"
#include "results/report/grid/escape.h"
#include "results/report/grid/lines.h"
#include "results/report/grid/style.h"
#include "results/report/notes/noting.h"

#define FEW_OPS 20000 /* an allocator's first calls take some 100 us: here 5 ns of each */

/* ---- making ---------------------------------------------------------------------------------- */

void res_note_end_with(struct res_noting *noting, char *detail)
{
    if (noting->words.text != NULL) {
        noting->notes = res_realloc(noting->notes, noting->count + 1, sizeof *noting->notes);
        noting->notes[noting->count++] = (struct res_note){
            .severity = noting->severity,
            .label = res_strdup(noting->label),
            .text = noting->words.text,
            .detail = detail,
            .details = noting->details,
        };
    }
    noting->words = (struct res_text){0};
}

void res_note_end(struct res_noting *noting)
{
    res_note_end_with(noting, NULL);
}

bool res_note_each(struct res_noting *noting,
                   bool (*figure)(const struct res_result_entry *entry, const void *which, double *ret_value),
                   const void *which, const char *(*cell)(double value, char *room))
{
    const char *comma = "";
    bool any = false;
    RES_EACH_CANDIDATE(entry, noting->workload)
    {
        double value = 0;
        if (!figure(entry, which, &value))
            continue;
        res_note_say(noting, "%s%s %s", comma, entry->name, cell(value, RES_WORDS_ROOM));
        any = any || value == value; /* it is no NAN */
        comma = ", ";
    }
    return any;
}

static void note_incomplete(struct res_noting *noting)
{
    const struct res_result_workload *workload = noting->workload;
    if (workload->complete)
        return;
    res_note_say(noting, "the recording is not whole: %s",
                 workload->incomplete_why != NULL ? workload->incomplete_why : "not known why");
    if (workload->removed_calls > 0)
        res_note_say(noting, "; %s calls were in windows that are removed",
                     FP_GROUPED(workload->removed_calls));
    if (workload->left_out_calls > 0)
        res_note_say(noting, "; %s calls on objects that were made unrecorded are left out",
                     FP_GROUPED(workload->left_out_calls));
}

static void note_failed(struct res_noting *noting)
{
    RES_EACH_CANDIDATE(entry, noting->workload)
    {
        if (entry->failed != NULL)
            res_note_say(noting, "%s: %s", entry->name, entry->failed);
        res_note_end(noting);
    }
}

/* Where the baseline failed its second run had no chance either. */
static void note_control(struct res_noting *noting)
{
    const struct res_result_workload *workload = noting->workload;
    if (workload->control.failed != NULL && workload->candidates[0].failed == NULL)
        res_note_say(noting, "%s: %s", workload->control.name, workload->control.failed);
}

static uint64_t timed_ops_of(const struct res_result_workload *workload)
{
    return workload->ops > workload->inherited_ops ? workload->ops - workload->inherited_ops : 0;
}

/* Objects that were there before the begin: a window's, or a parent's. */
static void note_inherited(struct res_noting *noting)
{
    if (noting->workload->inherited_ops > 0)
        res_note_say(noting,
                     "%s ops create the objects that were there before, untimed; all times are of the %s "
                     "after them, memory is of both",
                     FP_GROUPED(noting->workload->inherited_ops), FP_GROUPED(timed_ops_of(noting->workload)));
}

static void note_few(struct res_noting *noting)
{
    const uint64_t ops = timed_ops_of(noting->workload);
    if (ops < FEW_OPS)
        res_note_say(noting,
                     "%s calls are few: the allocators' own start may be most of what is measured; record "
                     "for longer",
                     FP_GROUPED(ops));
}

/* ---- settings and calls that an allocator lacks ---------------------------------------------- */

static const struct res_texts *substituted_of(const struct res_result_entry *entry)
{
    static const struct res_texts NONE;
    return entry->run_count > 0 ? &entry->runs[0].substituted : &NONE;
}

static bool are_same(const struct res_texts *one, const struct res_texts *other)
{
    bool same = one->count == other->count;
    for (size_t i = 0; same && i < one->count; i++)
        same = strcmp(one->items[i], other->items[i]) == 0;
    return same;
}

/* Candidates that lack the same calls, as the settings of one library do, are named together. */
static void note_stand_ins(struct res_noting *noting)
{
    const struct res_result_workload *workload = noting->workload;
    RES_EACH_CANDIDATE(entry, workload)
    {
        const struct res_texts *calls = substituted_of(entry);
        bool told = calls->count == 0;
        for (const struct res_result_entry *before = workload->candidates; before < entry && !told; before++)
            told = are_same(substituted_of(before), calls);
        if (told)
            continue;
        res_note_say(noting, "%s%s", noting->words.text != NULL ? "; " : "", entry->name);
        for (const struct res_result_entry *next = entry + 1;
             next < workload->candidates + workload->candidate_count; next++)
            if (are_same(substituted_of(next), calls))
                res_note_say(noting, ", %s", next->name);
        for (size_t i = 0; i < calls->count; i++)
            res_note_say(noting, "%s%s", i > 0 ? ", " : " without ", calls->items[i]);
    }
    if (noting->words.text != NULL)
        res_note_say(noting, ": another function of the library was called instead");
}

/* Settings of which nothing tells whether the allocator heeded them: a row may be that of its default. */
static void note_unproven(struct res_noting *noting)
{
    RES_EACH_CANDIDATE(entry, noting->workload)
    {
        json_t *settings = entry->run_count > 0 ? entry->runs[0].settings : NULL, *setting;
        const char *key;
        size_t listed = 0;
        json_object_foreach(settings, key, setting)
        {
            const char *from = json_string_value(json_object_get(setting, "from"));
            if (from == NULL || strcmp(from, "nobody") != 0)
                continue;
            char *plain = res_text_plain(key);
            if (listed++ == 0)
                res_note_say(noting, "%s%s with ", noting->words.text != NULL ? "; " : "", entry->name);
            res_note_say(noting, "%s%s", listed > 1 ? ", " : "", plain);
            free(plain);
        }
    }
    if (noting->words.text != NULL)
        res_note_say(noting, ": nothing tells whether the allocator reads it ('settings = unproven')");
}

/* Only where it is not what it is by default. */
static void note_binding(struct res_noting *noting)
{
    const struct res_result_entry *first = &noting->workload->candidates[0];
    const struct res_run *run = first->run_count > 0 ? &first->runs[0] : NULL;
    if (run == NULL)
        return;
    if (run->threads_as != NULL && strcmp(run->threads_as, "one") == 0 && noting->workload->threads > 1)
        res_note_say(noting, "the calls of %s threads ran on one (--one-thread), which can reverse a verdict",
                     FP_GROUPED(noting->workload->threads));
    if (run->pin != NULL && strcmp(run->pin, "no") != 0)
        res_note_say(noting, "%sthreads were kept to processors: %s", noting->words.text != NULL ? "; " : "",
                     run->pin);
    if (run->nice != run->nice) /* NAN: not asked for */
        return;
    res_note_say(noting, "%snice %.0f", noting->words.text != NULL ? "; " : "", run->nice);
    if (run->nice_refused != NULL)
        res_note_say(noting, " was refused (%s): the priority is as it was", run->nice_refused);
}

/* ---- on all of a result ---------------------------------------------------------------------- */

/* The same may have been seen before the runs and after: the last one tells it. */
static void note_disturbed(struct res_noting *noting)
{
    const struct res_result *result = noting->result;
    for (size_t i = 0; i < result->disturbance_count; i++) {
        const struct res_disturbance *one = &result->disturbances[i];
        bool told = one->text == NULL;
        for (size_t later = i + 1; later < result->disturbance_count && !told; later++)
            told = one->kind != NULL && result->disturbances[later].kind != NULL &&
                   strcmp(one->kind, result->disturbances[later].kind) == 0;
        if (told)
            continue;
        res_note_say(noting, "%s%s%s", one->text, one->remedy != NULL ? ": " : "",
                     one->remedy != NULL ? one->remedy : "");
        res_note_end(noting);
    }
}

static void note_missing(struct res_noting *noting)
{
    for (size_t i = 0; i < noting->result->missing_count; i++) {
        const struct res_missing_candidate *missing = &noting->result->missing[i];
        res_note_say(noting, "%s: %s", missing->name != NULL ? missing->name : "?",
                     missing->reason != NULL ? missing->reason : "?");
        res_note_end(noting);
    }
}

/* ---- the table of notes ---------------------------------------------------------------------- */

static const struct res_note_row WORKLOAD_ROWS[] = {
    {"recorded", RES_NOTE_WARNING, false, note_incomplete},
    {"advice", RES_NOTE_ADVICE, false, res_note_advice}, /* and what is to be pasted */
    {"noise", RES_NOTE_INFO, false, res_note_noise},
    {"basis", RES_NOTE_INFO, false, res_note_basis},
    {"memory", RES_NOTE_WARNING, false, res_note_timed_memory},
    {"memory", RES_NOTE_INFO, true, res_note_clock},
    {"below 1x", RES_NOTE_INFO, true, res_note_below},
    {"idle", RES_NOTE_INFO, true, res_note_idle},
    {"waste", RES_NOTE_INFO, true, res_note_waste},
    {"latency", RES_NOTE_WARNING, false, res_note_latency_failed},
    {"latency", RES_NOTE_INFO, true, res_note_latency},
    {"p99", RES_NOTE_INFO, true, res_note_p99},
    {"p99.9", RES_NOTE_INFO, true, res_note_p99_9},
    {"ns a call", RES_NOTE_INFO, true, res_note_calls},
    {"syscalls", RES_NOTE_INFO, true, res_note_system_calls},
    {"placement", RES_NOTE_INFO, true, res_note_placement},
    {"counters", RES_NOTE_INFO, true, res_note_counters},
    {"processes", RES_NOTE_INFO, true, res_note_processes},
    {"failed", RES_NOTE_WARNING, false, note_failed},
    {"control", RES_NOTE_WARNING, false, note_control},
    {"limit", RES_NOTE_INFO, false, res_note_limit},
    {"at start", RES_NOTE_WARNING, false, res_note_start},
    {"at end", RES_NOTE_WARNING, false, res_note_end_of_run},
    {"unpredicted", RES_NOTE_WARNING, false, res_note_unpredicted},
    {"inherited", RES_NOTE_INFO, true, note_inherited},
    {"live", RES_NOTE_WARNING, false, res_note_live},
    {"few calls", RES_NOTE_WARNING, false, note_few},
    {"unsteady", RES_NOTE_WARNING, false, res_note_unsteady},
    {"drift", RES_NOTE_WARNING, false, res_note_drift},
    {"outliers", RES_NOTE_INFO, true, res_note_outliers},
    {"stand-ins", RES_NOTE_WARNING, false, note_stand_ins},
    {"unproven", RES_NOTE_WARNING, false, note_unproven},
    {"misaligned", RES_NOTE_WARNING, false, res_note_misaligned},
    {"binding", RES_NOTE_INFO, false, note_binding},
};

static const struct res_note_row RESULT_ROWS[] = {
    {"machine", RES_NOTE_INFO, false, res_note_machine},
    {"disturbed", RES_NOTE_WARNING, false, note_disturbed},
    {"missing", RES_NOTE_INFO, false, note_missing},
};

static struct res_note *notes_of(const struct res_note_row *rows, size_t row_count,
                                 const struct res_result *result, const struct res_result_workload *workload,
                                 size_t *ret_count)
{
    struct res_noting noting = {.result = result, .workload = workload};
    for (size_t i = 0; i < row_count; i++) {
        noting.label = rows[i].label;
        noting.severity = rows[i].severity;
        noting.details = rows[i].details;
        rows[i].make(&noting);
        res_note_end(&noting);
    }
    *ret_count = noting.count;
    return noting.notes;
}

static void release(struct res_note *notes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(notes[i].label);
        free(notes[i].text);
        free(notes[i].detail);
    }
    free(notes);
}

void res_notes_fill(struct res_result *result)
{
    for (size_t i = 0; i < result->workload_count; i++) {
        struct res_result_workload *workload = &result->workloads[i];
        release(workload->notes, workload->note_count);
        workload->notes = NULL;
        workload->note_count = 0;
        if (workload->candidate_count > 0)
            workload->notes = notes_of(WORKLOAD_ROWS, sizeof WORKLOAD_ROWS / sizeof WORKLOAD_ROWS[0], result,
                                       workload, &workload->note_count);
    }
    release(result->notes, result->note_count);
    result->notes = notes_of(RESULT_ROWS, sizeof RESULT_ROWS / sizeof RESULT_ROWS[0], result, NULL,
                             &result->note_count);
}

/* ---- printing -------------------------------------------------------------------------------- */

void res_notes_text(struct res_text *text, const struct res_note *notes, size_t count, bool details,
                    const char *label)
{
    for (size_t i = 0; i < count; i++) {
        const struct res_note *note = &notes[i];
        if ((note->details && !details) || (label != NULL && strcmp(label, note->label) != 0))
            continue;
        if (note->detail != NULL) /* never broken: it is to be taken with the mouse */
            res_text_printf(text, "%-*s%s: %s\n", RES_LABEL_COLUMNS, note->label, note->text, note->detail);
        else
            res_lines_add(text, note->label, note->text);
    }
}

/* Whether a note before the i-th of a workload has its label, and is left out as well. */
static bool is_named_before(const struct res_result_workload *workload, size_t i)
{
    for (size_t before = 0; before < i; before++)
        if (workload->notes[before].details &&
            strcmp(workload->notes[before].label, workload->notes[i].label) == 0)
            return true;
    return false;
}

void res_notes_more(struct res_text *text, const struct res_result *result)
{
    struct res_text words = {0};
    if (result->workload_count == 0)
        return;
    const struct res_result_workload *last = &result->workloads[result->workload_count - 1];
    for (size_t i = 0; i < last->note_count; i++)
        if (last->notes[i].details && !is_named_before(last, i))
            res_text_printf(&words, "%s%s", words.text != NULL ? ", " : "ab and report with --details tell: ",
                            last->notes[i].label);
    if (words.text != NULL)
        res_lines_add(text, "more", words.text);
    free(words.text);
}

void res_notes_markdown(struct res_text *text, const struct res_note *notes, size_t count)
{
    bool is_list = false;
    for (size_t i = 0; i < count; i++) {
        const struct res_note *note = &notes[i];
        if (note->details)
            continue;
        if (note->detail != NULL) {
            /* No mark of Markdown counts in a block of code, and a line of it begins with a variable's name. */
            res_text_printf(text, "\nTo paste, ");
            res_markdown_add(text, note->text);
            res_text_printf(text, ":\n\n```sh\n%s\n```\n", note->detail);
            is_list = false;
            continue;
        }
        if (note->severity == RES_NOTE_ADVICE) {
            res_text_printf(text, "%s", is_list ? "\n" : "");
        } else {
            res_text_printf(text, "%s- ", is_list ? "" : "\n");
            res_markdown_add(text, note->label);
            res_text_printf(text, ": ");
        }
        is_list = note->severity != RES_NOTE_ADVICE;
        res_markdown_add(text, note->text);
        res_text_printf(text, "\n");
    }
}

/* ---- the line above a table ------------------------------------------------------------------ */

char *res_notes_program(const struct res_result_workload *workload)
{
    const char *program = workload->program != NULL ? workload->program : "";
    const size_t length = strlen(program);
    const bool says_nothing = length == 0 ||
                              (strncmp(workload->name, program, length) == 0 &&
                               (workload->name[length] == '.' || workload->name[length] == '\0'));
    struct res_text words = {0};
    if (says_nothing && workload->processes < 2 && workload->selection == NULL)
        return NULL;
    res_text_printf(&words, "%s", length > 0 ? program : "a program without name");
    if (workload->processes > 1)
        res_text_printf(&words, ", %s of %s processes, %.0f %% of the events",
                        FP_GROUPED(workload->merged_processes > 0 ? workload->merged_processes : 1),
                        FP_GROUPED(workload->processes), 100 * workload->events_share);
    if (workload->selection != NULL)
        res_text_printf(&words, "; %s", workload->selection);
    return words.text;
}

void res_notes_head(struct res_text *text, const struct res_result_workload *workload)
{
    char *program = res_notes_program(workload);
    res_text_printf(text, "%s%s%s%s: %s ops, %s thread%s, %s%s, live peak %s\n\n", workload->name,
                    program != NULL ? " (" : "", program != NULL ? program : "", program != NULL ? ")" : "",
                    FP_GROUPED(workload->ops), FP_GROUPED(workload->threads),
                    workload->threads == 1 ? "" : "s",
                    workload->duration_ns > 0 ? "recorded over " : "without recorded time",
                    workload->duration_ns > 0 ? RES_DURATION((double)workload->duration_ns) : "",
                    FP_BYTES((double)workload->live_peak_bytes));
    free(program);
}
